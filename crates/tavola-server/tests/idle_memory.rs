//! What an idle connection costs: a process of its own, as memory is counted by process.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use tavola_server::{
    Address, Listen, Options, Output, Peer, Served, Service, Thread, Worker, raise_file_limit,
};

/// Echoes whole lines.
struct Lines;

impl Service for Lines {
    type Worker = Lines;

    fn worker(&self, _thread: &Thread) -> Lines {
        Lines
    }
}

impl Worker for Lines {
    type Session = u64;

    fn open(&mut self, _peer: &Peer) -> u64 {
        0
    }

    fn serve(&mut self, session: &mut u64, input: &[u8], output: &mut Output) -> Served {
        *session += 1;
        let end = input.iter().rposition(|&byte| byte == b'\n');
        let whole = end.map_or(0, |end| end + 1);
        output.extend(&input[..whole]);
        Served::some(whole)
    }
}

/// Memory of this process that is not shared with files, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("is there");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse::<u64>().expect("a number") * 1024
}

#[test]
fn idle_connections_cost_little() {
    // Two files a connection here, as the clients are in this process as well.
    let allowed = getrlimit(Resource::Nofile).maximum.unwrap_or(20_000);
    let count = (allowed.saturating_sub(200) / 2).min(8000) as usize;
    assert!(
        count >= 1000,
        "a hard limit of {allowed} open files is too low for this test"
    );
    raise_file_limit(2 * count).expect("below the hard limit");
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let options = Options::new().threads(2).max_connections(count);
    let server = options.listen(listen).start(Lines).expect("starts");
    let Address::Tcp(address) = server.addresses()[0] else {
        panic!("an address of TCP");
    };
    let request = [vec![b'a'; 20_000], b"\n".to_vec()].concat();
    let mut answer = vec![0; request.len()];
    let mut clients = Vec::with_capacity(count);
    let mut before = 0;
    for number in 0..count {
        let mut client = TcpStream::connect(address).expect("connects");
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("set");
        client.write_all(&request).expect("sent");
        client.read_exact(&mut answer).expect("answered");
        clients.push(client);
        if number == 99 {
            before = memory();
        }
    }
    // Half a request each: what a slow client holds for long.
    let idle = (memory().saturating_sub(before)) / (count as u64 - 100);
    for client in &mut clients {
        client.write_all(b"half a request").expect("sent");
    }
    let sent = (count * (request.len() + 14)) as u64;
    let start = Instant::now();
    while server.counters().bytes_read < sent {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "not all was read"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let slow = (memory().saturating_sub(before)) / (count as u64 - 100);
    println!("{count} connections: {idle} bytes each idle, {slow} with half a request");
    assert!(idle < 1024, "an idle connection costs {idle} bytes");
    assert!(slow < 2048, "a slow connection costs {slow} bytes");
    assert_eq!(server.counters().current_connections, count as u64);
}
