//! Does a number of the usual loops of programs with a server in another process, for
//! `scripts/gates` to count the instructions of the client.
//!
//! `client_gates serve` is the server: it prints its address, and ends with its input.
//! `client_gates OPERATION COUNT ADDRESS [--twice EACH]`: what a run with a count takes beyond one
//! with the count 0 is what the loops take. With `--twice` each EACHth of them is done twice, as if
//! the build were slower: the gates must notice it.

use std::error::Error;
use std::hint::black_box;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use tavola::Table;
use tavola_client::{Batch, Client, GetOptions, Outcome, Sink, StoreOptions};
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options};

/// Requests of a batch.
const BATCH: usize = 100;

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (operation, count, address, twice) = match arguments[..] {
        ["serve"] => return serve(),
        [operation, count, address] => (operation, count.parse()?, address, usize::MAX),
        [operation, count, address, "--twice", each] => {
            (operation, count.parse()?, address, each.parse()?)
        }
        _ => {
            return Err(
                "client_gates serve | client_gates OPERATION COUNT ADDRESS [--twice EACH]".into(),
            );
        }
    };
    let client = Client::builder()
        .server(address, 1.0)
        .multi_key_gets(operation == "mget_line")
        .io_timeout(Duration::from_secs(60))
        .connect_timeout(Duration::from_secs(60))
        .build()?;
    loops(&client, operation, count, twice)
}

fn serve() -> Done {
    let table = Table::options()
        .max_size(64 << 20)
        .versions(true)
        .private()?;
    let listen = Listen::Tcp("127.0.0.1:0".parse()?);
    let options = Options::new().threads(1).listen(listen);
    let server = options.start(Memcached::new(Arc::new(table)))?;
    if let Address::Tcp(address) = &server.addresses()[0] {
        println!("{address}");
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    server.stop();
    Ok(())
}

fn loops(client: &Client, operation: &str, count: usize, twice: usize) -> Done {
    let keys: Vec<String> = (0..BATCH).map(|number| format!("key:{number}")).collect();
    let (value, options) = (&[b'v'; 100], StoreOptions::default());
    let [mut gets, mut sets] = [Batch::new(), Batch::new()];
    for key in &keys {
        gets.get(key.as_bytes(), GetOptions::default());
        sets.set(key.as_bytes(), value, options);
    }
    let mut taken = Taken {
        done: 0,
        bytes: [0; 100],
    };
    // All keys are there, and the connection is made.
    taken.run(client, &mut sets)?;
    let one = |key: &String, options: StoreOptions| -> Done {
        client.set(black_box(key.as_bytes()), black_box(value), options)?;
        let found = client.get(black_box(key.as_bytes()))?;
        demand(found.is_some_and(|found| found.data == value))
    };
    let keys = keys.iter().cycle();
    match operation {
        "set_get" => each(count, twice, keys, |key| one(key, options)),
        "joined" => each(count, twice, keys, |key| one(key, options.without_reply())),
        "mget" | "mget_line" => each(count / BATCH, twice, keys, |_| taken.run(client, &mut gets)),
        "sets" => each(count / BATCH, twice, keys, |_| taken.run(client, &mut sets)),
        other => Err(format!("no operation: {other}").into()),
    }
}

/// Takes values into its own memory, and counts what was found or stored.
struct Taken {
    done: usize,
    bytes: [u8; 100],
}

impl Taken {
    fn run(&mut self, client: &Client, batch: &mut Batch<'_>) -> Done {
        self.done = 0;
        client.execute(black_box(batch), self);
        demand(self.done == BATCH)
    }
}

impl Sink for Taken {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        Some(&mut self.bytes)
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        let is_done = matches!(outcome, Outcome::Hit { .. } | Outcome::Stored);
        self.done += usize::from(is_done);
    }
}

fn demand(kept: bool) -> Done {
    kept.then_some(())
        .ok_or_else(|| "another answer than was expected".into())
}

/// Does something so many times, each `twice`th time once more.
fn each<'k>(
    count: usize,
    twice: usize,
    keys: impl Iterator<Item = &'k String>,
    mut operation: impl FnMut(&'k String) -> Done,
) -> Done {
    for (number, key) in (1..=count).zip(keys) {
        operation(key)?;
        if number % twice == 0 {
            operation(key)?;
        }
    }
    Ok(())
}
