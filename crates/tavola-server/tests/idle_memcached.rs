//! What ten thousand idle clients of memcached's protocol cost: a process of its own, as memory is
//! counted by process.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, raise_file_limit};

const CLIENTS: usize = 10_000;

/// Memory of this process that is not shared with files, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("is there");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse::<u64>().expect("a number") * 1024
}

fn ask(client: &mut TcpStream, request: &[u8], expected: &[u8]) {
    client.write_all(request).expect("sent");
    let mut answer = vec![0; expected.len()];
    client.read_exact(&mut answer).expect("answered");
    assert_eq!(answer, expected);
}

#[test]
fn ten_thousand_idle_clients_cost_little() {
    // Two files a connection here, as the clients are in this process as well.
    let allowed = getrlimit(Resource::Nofile).maximum.unwrap_or(1 << 20);
    let count = (allowed.saturating_sub(200) / 2).min(CLIENTS as u64) as usize;
    assert!(
        count >= 1000,
        "a hard limit of {allowed} open files is too low for this test"
    );
    raise_file_limit(2 * count).expect("below the hard limit");
    let table = Table::options().max_size(16 << 20).private().expect("made");
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let options = Options::new().threads(2).max_connections(count);
    let server = options
        .listen(listen)
        .start(Memcached::new(Arc::new(table)));
    let server = server.expect("starts");
    let Address::Tcp(address) = server.addresses()[0] else {
        panic!("an address of TCP");
    };
    let (mut clients, mut before) = (Vec::with_capacity(count), 0);
    for number in 0..count {
        let mut client = TcpStream::connect(address).expect("connects");
        let patience = Some(Duration::from_secs(60));
        client.set_read_timeout(patience).expect("set");
        ask(&mut client, b"get a\r\n", b"END\r\n");
        clients.push(client);
        if number == 99 {
            before = memory();
        }
    }
    let idle = memory().saturating_sub(before) / (count as u64 - 100);
    println!("{count} connections: {idle} bytes each");
    assert!(idle < 1536, "an idle connection costs {idle} bytes");
    assert_eq!(server.counters().current_connections, count as u64);
    for client in clients.iter_mut().step_by(97) {
        ask(client, b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
    }
}
