//! What kind of failure a client reports: by a value, not by words.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tavola_client::{
    Batch, Builder, Client, Error, FailureCause, GetOptions, Outcome, Protocol, Sink, StoreOptions,
    Value,
};

use crate::servers::{Ours, patient};

fn builder(name: &str) -> Builder {
    Client::builder().server(name, 1.0)
}

/// The cause of a get that fails, and whether the request was sent.
fn cause_of(builder: Builder) -> (FailureCause, bool) {
    let client = builder.build().expect("a client");
    match client.get(b"key") {
        Err(Error::Unsent { cause, .. }) => (cause, false),
        Err(Error::Unknown { cause, .. }) => (cause, true),
        other => panic!("a get that fails: {other:?}"),
    }
}

/// A server whose connections are handled by a function, as long as the test runs.
fn server(each: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            each(stream.expect("a connection"));
        }
    });
    name
}

/// Reads some bytes and answers the first request as a server that speaks the meta commands.
fn greet(stream: &mut TcpStream) {
    read(stream);
    stream.write_all(b"MN\r\n").expect("sent");
}

fn read(stream: &mut TcpStream) {
    let count = stream.read(&mut [0; 1000]).expect("a request");
    assert!(count > 0, "a request");
}

#[test]
fn a_server_that_cannot_be_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    drop(listener);
    assert_eq!(cause_of(builder(&name)), (FailureCause::Refused, false));
    let missing = "unix:/nonexistent/tavola/socket";
    assert_eq!(cause_of(builder(missing)), (FailureCause::Refused, false));
    // No connection goes to all machines at once.
    let everybody = cause_of(builder("255.255.255.255:11211"));
    assert_eq!(everybody, (FailureCause::Unreachable, false));
    // Names that end so never have addresses.
    let unknown = cause_of(builder("tavola.invalid:11211"));
    assert_eq!(unknown, (FailureCause::Unresolved, false));
}

#[test]
fn a_server_that_does_not_answer() {
    let time = Duration::from_millis(100);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = silent.local_addr().expect("an address").to_string();
    let quick = builder(&name).connect_timeout(time).io_timeout(time);
    assert_eq!(cause_of(quick), (FailureCause::TimedOut, false));
    let name = server(|mut stream| {
        greet(&mut stream);
        // It stays open, and nobody reads from it.
        std::mem::forget(stream);
    });
    let quick = builder(&name).io_timeout(time);
    assert_eq!(cause_of(quick), (FailureCause::TimedOut, true));
}

#[test]
fn a_server_that_ends_the_connection() {
    let name = server(|mut stream| {
        greet(&mut stream);
        read(&mut stream);
    });
    assert_eq!(cause_of(builder(&name)), (FailureCause::Closed, true));
    let name = server(|mut stream| {
        greet(&mut stream);
        // What was received and not read makes the end a reset.
        let received = stream.peek(&mut [0; 1]).expect("a request");
        assert_eq!(received, 1);
    });
    assert_eq!(cause_of(builder(&name)), (FailureCause::Reset, true));
}

#[test]
fn a_server_that_answers_otherwise_than_it_should() {
    let name = server(|mut stream| {
        greet(&mut stream);
        read(&mut stream);
        stream.write_all(b"HD O999\r\n").expect("sent");
        let _ = stream.read(&mut [0; 1]);
    });
    assert_eq!(cause_of(builder(&name)), (FailureCause::Protocol, true));
    let name = server(|mut stream| {
        read(&mut stream);
        stream.write_all(b"220 mail ready\r\n").expect("sent");
        let _ = stream.read(&mut [0; 1]);
    });
    assert_eq!(cause_of(builder(&name)), (FailureCause::Protocol, false));
    let name = server(|mut stream| {
        read(&mut stream);
        let full = b"ERROR Too many open connections\r\n";
        stream.write_all(full).expect("sent");
        let _ = stream.read(&mut [0; 1]);
    });
    let meta = builder(&name).protocol(Protocol::Meta);
    assert_eq!(cause_of(meta), (FailureCause::Rejected, false));
}

#[test]
fn a_proxy_that_lost_its_server() {
    let name = server(|mut stream| {
        read(&mut stream);
        stream.write_all(b"VERSION 1\r\n").expect("sent");
        read(&mut stream);
        let lost = b"SERVER_ERROR Connection refused\r\n";
        stream.write_all(lost).expect("sent");
        let _ = stream.read(&mut [0; 1]);
    });
    let client = builder(&name).protocol(Protocol::Text);
    let client = client.build().expect("a client");
    match client.delete(b"key") {
        Err(Error::Unknown { cause, why, .. }) => {
            assert_eq!(cause, FailureCause::Proxy);
            assert_eq!(why, cause.to_string());
        }
        other => panic!("it may have been carried out: {other:?}"),
    }
}

/// A sink that asks for another key while its connection, the only one, is in use.
struct Asking<'c> {
    client: &'c Client,
    inner: Option<Result<Option<Value>, Error>>,
}

impl Sink for Asking<'_> {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        self.inner = Some(self.client.get(b"other"));
        None
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        assert!(matches!(outcome, Outcome::Hit { .. }), "{outcome:?}");
    }
}

#[test]
fn connections_that_are_all_in_use() {
    let ours = Ours::start();
    let setup = patient(ours.client());
    setup
        .set(b"key", b"value", StoreOptions::default())
        .expect("stored");
    // The batch has its answer, so the time is that of the inner call.
    let client = ours.client().pool(1).build().expect("a client");
    let mut asking = Asking {
        client: &client,
        inner: None,
    };
    let mut batch = Batch::new();
    batch.get(b"key", GetOptions::default());
    client.execute(&mut batch, &mut asking);
    match asking.inner.expect("it asked") {
        Err(Error::Unsent { cause, .. }) => assert_eq!(cause, FailureCause::Busy),
        other => panic!("there is no second connection: {other:?}"),
    }
}
