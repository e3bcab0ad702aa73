//! Clients that send or read what no client should.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tavola::Table;
use tavola_server::resp::{self, Resp};
use tavola_server::{Address, Listen, Options, Server};

use crate::script::Seat;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn what_is_no_command_ends_the_connection() {
    for (sent, reply) in [
        (
            &b"*x\r\n"[..],
            "-ERR Protocol error: invalid multibulk length\\r\\n",
        ),
        (
            b"ping\r\n*1\r\n:1\r\n",
            "+PONG\\r\\n-ERR Protocol error: expected '$', got ':'\\r\\n",
        ),
        (
            b"get a\r\n'\r\n",
            "$-1\\r\\n-ERR Protocol error: unbalanced quotes in request\\r\\n",
        ),
        (
            b"*1\r\n$9999999\r\n",
            "-ERR Protocol error: invalid bulk length\\r\\n",
        ),
        (b"POST / HTTP/1.1\r\nset a 1\r\n", ""),
        (b"host: x\r\nset a 1\r\n", ""),
    ] {
        let mut seat = Seat::new();
        assert_eq!(seat.send(sent), reply);
        assert!(seat.line.is_closed(), "{}", sent.escape_ascii());
        assert!(seat.table.is_empty().expect("counted"));
    }
}

#[test]
fn large_replies_are_refused_and_the_next_is_right() {
    let mut seat = Seat::new();
    seat.table.set("a", vec![b'x'; 1 << 20]).expect("set");
    let many = format!("mget{}\r\nping\r\n", " a".repeat(65));
    let reply = seat.send(many.as_bytes());
    let expected = "-ERR the reply would be larger than 64 MiB: ask for fewer keys at once\\r\\n\
                    +PONG\\r\\n";
    assert_eq!(reply, expected);
}

fn server() -> (Server, SocketAddr) {
    let table = Table::options()
        .max_size(64 << 20)
        .private()
        .expect("a table");
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let options = Options::new()
        .listen(listen)
        .output_bound_there(1 << 20)
        .threads(1);
    let server = options.start(Resp::new(Arc::new(table))).expect("a server");
    let Address::Tcp(address) = server.addresses()[0] else {
        panic!("it listens on TCP");
    };
    (server, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.set_write_timeout(Some(PATIENCE)).expect("set");
    stream
}

fn read(stream: &mut TcpStream, expected: &[u8]) {
    let mut found = vec![0; expected.len()];
    stream.read_exact(&mut found).expect("a reply");
    assert_eq!(
        found.escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
}

/// A client that sends a pipeline of 20 MB of replies before it reads is served no further than the
/// bound, does not hold up others, and gets all replies in the end.
#[test]
fn a_client_that_does_not_read_waits_and_loses_nothing() {
    const GETS: usize = 200;
    let (server, address) = server();
    let value = vec![b'v'; 100_000];
    let mut slow = connect(address);
    let set = [
        &b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$100000\r\n"[..],
        &value,
        b"\r\n",
    ]
    .concat();
    slow.write_all(&set).expect("sent");
    read(&mut slow, b"+OK\r\n");
    slow.write_all(&b"get a\r\n".repeat(GETS)).expect("sent");
    let mut quick = connect(address);
    quick.write_all(b"ping\r\n").expect("sent");
    read(&mut quick, b"+PONG\r\n");
    let reply = [&b"$100000\r\n"[..], &value, b"\r\n"].concat();
    for _ in 0..GETS {
        let mut found = vec![0; reply.len()];
        slow.read_exact(&mut found).expect("a reply");
        assert!(found == reply);
    }
    server.stop();
}

/// Commands that come a byte at a time are answered like others.
#[test]
fn a_slow_client_is_answered() {
    let (server, address) = server();
    let mut client = connect(address);
    client.set_nodelay(true).expect("set");
    for byte in
        b"*3\r\n$3\r\nset\r\n$1\r\na\r\n$2\r\nxy\r\nget a\r\n*2\r\n$6\r\nstrlen\r\n$1\r\na\r\n"
    {
        client.write_all(&[*byte]).expect("sent");
    }
    read(&mut client, b"+OK\r\n$2\r\nxy\r\n:2\r\n");
    server.stop();
}

/// A client that sends a whole pipeline before it reads, as those of Redis do, gets all replies,
/// although neither fits into the buffers of the kernel.
#[test]
fn a_pipeline_may_be_sent_before_its_replies_are_read() {
    const ECHOES: usize = 80;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let table = Table::options()
        .max_size(1 << 20)
        .private()
        .expect("a table");
    let listen = Listen::Unix {
        path: path.clone(),
        mode: 0o700,
    };
    let options = Options::new().listen(listen).threads(1);
    let options = options.output_bound_there(resp::OUTPUT_BYTES);
    let server = options.start(Resp::new(Arc::new(table))).expect("a server");
    let mut client = UnixStream::connect(&path).expect("connected");
    client.set_read_timeout(Some(PATIENCE)).expect("set");
    client.set_write_timeout(Some(PATIENCE)).expect("set");
    let word = vec![b'w'; 50_000];
    let echo = [&b"*2\r\n$4\r\nECHO\r\n$50000\r\n"[..], &word, b"\r\n"].concat();
    client.write_all(&echo.repeat(ECHOES)).expect("it is read");
    let mut found = vec![0; (word.len() + 10) * ECHOES];
    client.read_exact(&mut found).expect("all replies");
    assert!(found.starts_with(b"$50000\r\nww") && found.ends_with(b"ww\r\n"));
    server.stop();
}
