//! How many system calls the usual loops of programs take.

use crate::batch::{Batch, GetOptions, Outcome, Sink, StoreOptions};
use crate::client::Client;
use crate::conn::calls;
use std::sync::Arc;
use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Server};

pub(super) fn start() -> (Server, Client) {
    start_on(Listen::Tcp("127.0.0.1:0".parse().expect("an address")))
}

pub(super) fn start_on(listen: Listen) -> (Server, Client) {
    let table = Table::options().max_size(64 << 20).versions(true);
    let service = Memcached::new(Arc::new(table.private().expect("a table")));
    let server = Options::new().threads(1).listen(listen).start(service);
    let server = server.expect("a server");
    let name = name_of(&server);
    let time = std::time::Duration::from_secs(60);
    let builder = Client::builder().server(&name, 1.0).io_timeout(time);
    (server, builder.build().expect("a client"))
}

/// The name by which a client finds a server.
pub(super) fn name_of(server: &Server) -> String {
    match &server.addresses()[0] {
        Address::Tcp(address) => address.to_string(),
        Address::Unix(path) => format!("unix:{}", path.display()),
    }
}

/// The fewest calls of a few rounds: a server that is interrupted sends its answers in parts.
fn fewest(mut round: impl FnMut()) -> u32 {
    let count = |_| {
        let before = calls();
        round();
        calls() - before
    };
    // Before a client spins.
    (0..10).map(count).min().unwrap_or_default()
}

struct Counting(usize);

impl Sink for Counting {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        self.0 += usize::from(matches!(outcome, Outcome::Hit { .. } | Outcome::Stored));
    }
}

#[test]
fn loops_take_no_more_system_calls_than_they_need() {
    let (server, client) = start();
    let options = StoreOptions::default();
    let both_wait = fewest(|| {
        client.set(b"key", b"value", options).expect("stored");
        client.get(b"key").expect("an answer").expect("a value");
    });
    assert_eq!(both_wait, 4);
    let joined = fewest(|| {
        client
            .set(b"key", b"value", options.without_reply())
            .expect("queued");
        client.get(b"key").expect("an answer").expect("a value");
    });
    assert_eq!(joined, 2);
    let keys: Vec<String> = (0..100).map(|number| format!("key:{number}")).collect();
    let mut sets = Batch::new();
    let mut gets = Batch::new();
    for key in &keys {
        sets.set(key.as_bytes(), b"value", options);
        gets.get(key.as_bytes(), GetOptions::default());
    }
    let mut counting = Counting(0);
    assert!(fewest(|| client.execute(&mut sets, &mut counting)) <= 3);
    assert_eq!(fewest(|| client.execute(&mut gets, &mut counting)), 2);
    assert_eq!(counting.0, 2000);
    server.stop();
}

#[test]
fn a_large_value_is_received_in_few_calls() {
    let (server, client) = start();
    let value = vec![b'v'; 1 << 19];
    client
        .set(b"key", &value, StoreOptions::default())
        .expect("stored");
    let calls = fewest(|| {
        let found = client.get(b"key").expect("an answer").expect("a value");
        assert!(found.data == value);
    });
    // By the 16 KiB of a connection's buffer they would be 32 at least.
    assert!(calls < 24, "{calls}");
    server.stop();
}
