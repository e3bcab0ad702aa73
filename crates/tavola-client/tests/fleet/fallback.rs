//! Servers that end the connection at the first meta command, as proxies do: a client that finds
//! out the protocol speaks text to them, and one that was told to speak meta does not.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use tavola_client::{Client, Error, FailureCause, Protocol, StoreOptions};

/// A proxy of one connection after the other that knows one value, and reports each line.
fn proxy(stored: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    let (lines, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            serve(stream.expect("a connection"), stored, &lines);
        }
    });
    (name, received)
}

fn serve(stream: TcpStream, stored: &str, lines: &Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
        let text = line.trim_end().to_string();
        line.clear();
        // The test may be over.
        let _ = lines.send(text.clone());
        let answer = match text.split(' ').next() {
            Some("version") => "VERSION 1.2\r\n",
            Some("get") => "VALUE key 0 5\r\nvalue\r\nEND\r\n",
            Some("set") => {
                reader.read_line(&mut String::new()).expect("a value");
                stored
            }
            _ => return,
        };
        (&stream).write_all(answer.as_bytes()).expect("sent");
    }
}

#[test]
fn the_protocol_that_a_proxy_knows_is_found_out() {
    let (name, lines) = proxy("STORED\r\n");
    let client = Client::builder().server(&name, 1.0).build();
    let client = client.expect("a client");
    let stored = client.set(b"key", b"value", StoreOptions::default());
    stored.expect("stored by text");
    let found = client.get(b"key").expect("an answer").expect("a value");
    assert_eq!(found.data, b"value");
    let lines: Vec<String> = lines.try_iter().collect();
    assert_eq!(lines, ["mn", "version", "set key 0 0 5", "get key"]);
}

#[test]
fn a_protocol_that_was_chosen_stays() {
    let (name, lines) = proxy("STORED\r\n");
    let client = Client::builder().server(&name, 1.0);
    let client = client.protocol(Protocol::Meta).build().expect("a client");
    match client.get(b"key") {
        Err(Error::Unsent { cause, why, .. }) => {
            assert_eq!(cause, FailureCause::Closed);
            assert!(why.contains("proxy"), "{why}");
        }
        other => panic!("it does not speak meta: {other:?}"),
    }
    let lines: Vec<String> = lines.try_iter().collect();
    assert!(lines.iter().all(|line| line == "mn"), "{lines:?}");
}

#[test]
fn a_refusal_of_memcached_itself_is_not_a_lost_server() {
    let text = |stored| {
        let (name, _lines) = proxy(stored);
        let client = Client::builder().server(&name, 1.0);
        let client = client.protocol(Protocol::Text).build().expect("a client");
        client.set(b"key", b"value", StoreOptions::default())
    };
    for own in [
        "SERVER_ERROR out of memory storing object\r\n",
        "SERVER_ERROR object too large for cache\r\n",
    ] {
        let result = text(own);
        assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    }
    match text("SERVER_ERROR Host is down\r\n") {
        Err(Error::Unknown { cause, .. }) => assert_eq!(cause, FailureCause::Proxy),
        other => panic!("it may be stored: {other:?}"),
    }
}
