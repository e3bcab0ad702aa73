//! What connections by TLS cost: a process of its own, as memory is counted by process.
#![cfg(feature = "tls")]

mod tls_peer;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Tls, TlsFiles, raise_file_limit};
use tls_peer::{Authority, connect};

/// Of each kind.
const COUNT: usize = 500;
const LONG: Duration = Duration::from_secs(60);

/// Memory of this process that is not shared with files, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("is there");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.expect("a number").parse::<u64>().expect("a number") * 1024
}

/// The beginning of a first message of 60 KB, which never comes whole: records of 5 KB.
fn records(count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..count {
        bytes.extend(b"\x16\x03\x01\x13\x88");
        let head: &[u8] = if number == 0 { b"\x01\0\xea\x60" } else { b"" };
        bytes.extend(head);
        bytes.resize(bytes.len() + 5000 - head.len(), 7);
    }
    bytes
}

/// Clients that send so many records; the handshake of none comes to an end.
fn unfinished(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let bytes = records(count);
    let all = (0..COUNT).map(|_| {
        let mut client = TcpStream::connect(address).expect("connects");
        client.set_read_timeout(Some(LONG)).expect("set");
        client.write_all(&bytes).expect("sent");
        client
    });
    all.collect()
}

#[test]
fn handshakes_that_never_end_and_idle_clients_cost_little() {
    raise_file_limit(4 * COUNT).expect("below the hard limit");
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new();
    let (certificate, key) = authority.issue_files(folder.path(), "server");
    let tls = Tls::read(TlsFiles::new(certificate, key)).expect("certificates");
    let table = tavola::Table::options().max_size(1 << 20).private();
    let service = Memcached::new(Arc::new(table.expect("a table")));
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let options = Options::new().threads(2).max_connections(2000);
    let options = options.handshake_timeout(10 * LONG);
    let server = options
        .listen_tls(listen, &Arc::new(tls))
        .start(service)
        .expect("starts");
    let Address::Tcp(address) = server.addresses()[0] else {
        panic!("an address of TCP");
    };
    let config = authority.client(None);
    let served = || {
        let mut client = connect(address, &config).expect("let in");
        client.write_all(b"version\r\n").expect("sent");
        let mut word = [0; 8];
        client.read_exact(&mut word).expect("an answer");
        assert_eq!(&word, b"VERSION ");
        client
    };
    served();
    let before = memory();
    let idle: Vec<TcpStream> = (0..COUNT).map(|_| served().into_parts().1).collect();
    let idle_bytes = memory().saturating_sub(before) / COUNT as u64;
    let before = memory();
    let stalled = unfinished(address, 5);
    served();
    let stalled_bytes = memory().saturating_sub(before) / COUNT as u64;
    println!("bytes a connection: {idle_bytes} idle, {stalled_bytes} in a handshake of 25 KB");
    assert!(
        idle_bytes < 32 * 1024,
        "an idle client costs {idle_bytes} bytes"
    );
    assert!(
        stalled_bytes < 64 * 1024,
        "a handshake costs {stalled_bytes} bytes"
    );
    // A client that sends more is closed.
    for client in &mut unfinished(address, 8) {
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
    let start = Instant::now();
    while server.counters().current_connections > 2 * COUNT as u64 {
        assert!(start.elapsed() < LONG, "{:?}", server.counters());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.counters().tls_handshake_errors, COUNT as u64);
    served();
    drop((idle, stalled));
}
