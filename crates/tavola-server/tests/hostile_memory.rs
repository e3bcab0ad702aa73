//! What clients that mean harm cost in memory, many of a kind at once, while one that does not is
//! served beside them: a process of its own, as memory is counted by process.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Server};

/// How many of a kind come at once.
const CLIENTS: usize = 500;
/// What one of them may cost that holds less than that itself.
const EACH: u64 = 8 << 10;
/// What all connections may hold together (`Options::memory_bound`).
const ALL: u64 = 32 << 20;
/// What the allocator keeps beside, and the clients have here themselves.
const SPARE: u64 = 32 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, a client of good will, and the memory there was before anybody else came.
struct Seat {
    server: Server,
    address: SocketAddr,
    good: TcpStream,
    before: u64,
}

impl Seat {
    fn new() -> Self {
        let table = Table::options().max_size(16 << 20).private().expect("made");
        table.set(b"large", vec![b'x'; 500_000]).expect("set");
        let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
        let options = Options::new().threads(2).max_connections(CLIENTS + 1);
        let options = options.memory_bound(ALL as usize).listen(listen);
        let server = options.start(Memcached::new(Arc::new(table)));
        let server = server.expect("starts");
        let Address::Tcp(address) = server.addresses()[0] else {
            panic!("an address of TCP");
        };
        let mut good = connect(address);
        is_served(&mut good);
        Self {
            server,
            address,
            good,
            before: memory(),
        }
    }

    /// The most memory that was taken while `count` clients came and sent what they do; then they
    /// go. The other one is served meanwhile.
    fn peak(&mut self, count: usize, harm: impl Fn(usize, &mut TcpStream)) -> u64 {
        let (mut peak, mut clients) = (0, Vec::with_capacity(count));
        for number in 0..count {
            let mut client = connect(self.address);
            harm(number, &mut client);
            clients.push(client);
            is_served(&mut self.good);
            peak = peak.max(memory());
        }
        // Until it reads and writes no more than what the other one asks for.
        let mut moved = self.moved();
        loop {
            is_served(&mut self.good);
            std::thread::sleep(Duration::from_millis(20));
            peak = peak.max(memory());
            let since = moved;
            moved = self.moved();
            if moved - since <= ASKED {
                break;
            }
        }
        drop(clients);
        let start = Instant::now();
        while self.server.counters().current_connections > 1 {
            assert!(start.elapsed() < PATIENCE, "connections of clients gone");
            is_served(&mut self.good);
        }
        peak.saturating_sub(self.before)
    }

    fn moved(&self) -> u64 {
        let counters = self.server.counters();
        counters.bytes_read + counters.bytes_written
    }
}

/// The bytes of a question and its answer.
const ASKED: u64 = 15;

fn is_served(client: &mut TcpStream) {
    client.write_all(b"get none\r\n").expect("sent");
    let mut answer = [0; 5];
    client.read_exact(&mut answer).expect("answered");
    assert_eq!(&answer, b"END\r\n");
}

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).expect("connects");
    client.set_read_timeout(Some(PATIENCE)).expect("set");
    let patience = Some(Duration::from_millis(50));
    client.set_write_timeout(patience).expect("set");
    client
}

/// Memory of this process that is not shared with files, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("is there");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse::<u64>().expect("a number") * 1024
}

/// A header of the binary protocol.
fn header(opcode: u8, key: u16, extras: u8, body: u32) -> Vec<u8> {
    let mut header = vec![0x80, opcode];
    header.extend_from_slice(&key.to_be_bytes());
    header.extend_from_slice(&[extras, 0, 0, 0]);
    header.extend_from_slice(&body.to_be_bytes());
    header.extend_from_slice(&[0; 12]);
    header
}

/// Half a request each, with a length that is announced and does not come.
fn half_requests() -> Vec<Vec<u8>> {
    vec![
        b"set a 0 0 1000000\r\nxxxxxxxxxxxxxxxxxxxx".to_vec(),
        b"set a 0 0 2147483645\r\nxxxxxxxxxxxxxxxxxxxx".to_vec(),
        b"ms a 1000000\r\nx".to_vec(),
        b"ms a 2147483645\r\nx".to_vec(),
        [header(0x01, 1, 8, 1_000_000), vec![0; 20]].concat(),
        b"get a b c d e".to_vec(),
        b"\x80".to_vec(),
    ]
}

/// Headers that no client sends, with what could be their bodies.
fn bad_headers() -> Vec<Vec<u8>> {
    let headers = [
        header(0x01, 1, 8, u32::MAX),
        header(0x01, u16::MAX, 8, 70_000),
        header(0x01, 10, 8, 5),
        header(0x00, 0, 0, 0),
        header(0x00, 1, 255, 256),
        header(0xff, 0, 0, u32::MAX),
        header(0x21, 300, 0, 1 << 30),
        vec![0x80; 24],
        vec![0x81; 24],
    ];
    let body = vec![0x7f; 2000];
    headers.map(|header| [header, body.clone()].concat()).into()
}

#[test]
fn what_many_clients_of_ill_will_cost_is_bounded() {
    let mut seat = Seat::new();
    let mut reports = Vec::new();
    let mut report = |kind: &'static str, most: u64, took: u64| {
        println!("{kind}: {took} bytes of {most}");
        reports.push((kind, most, took));
    };
    let few = CLIENTS as u64 * EACH;

    // Slow ones, and lengths that are announced.
    let requests = half_requests();
    let took = seat.peak(CLIENTS, |number, client| {
        let request = &requests[number % requests.len()];
        client.write_all(request).expect("sent");
    });
    report("half a request", few, took);

    let headers = bad_headers();
    let took = seat.peak(CLIENTS, |number, client| {
        let _ = client.write_all(&headers[number % headers.len()]);
    });
    report("bad binary headers", few, took);

    // Closed on their side in the middle of a request; some have an answer that they do not read.
    let took = seat.peak(CLIENTS, |number, client| {
        let whole: &[u8] = [&b""[..], b"get none\r\n"][number % 2];
        client
            .write_all(&[whole, b"set a 0 0 9\r\nhalf"].concat())
            .expect("sent");
        client.shutdown(Shutdown::Write).expect("half closed");
    });
    report("half closed", few, took);

    let took = seat.peak(CLIENTS, |number, client| {
        let line: &[u8] = [&b"a"[..], b"mg ", b"set "][number % 3];
        let _ = client.write_all(line);
        let _ = client.write_all(&vec![b'k'; 50_000]);
    });
    report("endless lines", few, took);

    // These may be as long as 1 MiB each, and answers 256 KiB: all of them together are bounded.
    let took = seat.peak(CLIENTS / 4, |_, client| {
        let _ = client.write_all(b"get ");
        let _ = client.write_all(&b"key ".repeat(250_000));
    });
    report("endless gets", ALL + SPARE, took);
    assert!(seat.server.counters().memory_closed > 0, "none was closed");

    let took = seat.peak(CLIENTS / 4, |_, client| {
        let _ = client.write_all(&b"get large large large large\r\n".repeat(1000));
    });
    report("who never reads", ALL + SPARE, took);

    for (kind, most, took) in reports {
        assert!(took <= most, "{kind}: {took} bytes, more than {most}");
    }
}
