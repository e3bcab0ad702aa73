//! A get that fetches its value before a write, and fills the table after it. The lease, which the
//! write ends, must refuse the older value. A client that takes its lease only when it fills shows
//! that the test finds that out.

use super::{Lease, TableAnswer, whole};
use crate::batch::StoreOptions;
use crate::client::Client;
use crate::fleet::Fleet;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

thread_local! {
    /// Whether this thread takes its leases when it fills.
    static IS_LEASE_LATE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the lease to fill by: the given one, or one of this moment if the thread is mistaken.
pub(super) fn exchange(fleet: &Fleet, key: &[u8], lease: Lease) -> Lease {
    if !IS_LEASE_LATE.get() {
        return lease;
    }
    let near = fleet.settings.near.as_ref().expect("a table");
    match near.find(&whole(fleet, key)) {
        Some(TableAnswer::Lease(late)) => late,
        _ => lease,
    }
}

/// A server of one key, which says that it was asked for it, and waits before it answers.
struct Slow {
    name: String,
    asked: Receiver<()>,
    answer: Sender<()>,
}

impl Slow {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let name = listener.local_addr().expect("an address").to_string();
        let [(tell_asked, asked), (answer, may_answer)] = [(); 2].map(|()| mpsc::channel());
        // The first get waits, the later ones do not.
        let gate = Arc::new(Mutex::new(Some((tell_asked, may_answer))));
        let value = Arc::new(Mutex::new("old".to_string()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (gate, value) = (Arc::clone(&gate), Arc::clone(&value));
                thread::spawn(move || serve(stream, &gate, &value));
            }
        });
        Self {
            name,
            asked,
            answer,
        }
    }
}

type Gate = Mutex<Option<(Sender<()>, Receiver<()>)>>;

fn serve(mut stream: TcpStream, gate: &Gate, value: &Mutex<String>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    while let Some(Ok(line)) = lines.next() {
        let words: Vec<&str> = line.split(' ').collect();
        let opaque = words.iter().find(|word| word.starts_with('O'));
        let tail = format!("k{} {}", words.get(1).unwrap_or(&""), opaque.unwrap_or(&""));
        let answer = match words[0] {
            "mg" => {
                let found = value.lock().expect("a value").clone();
                if let Some((tell_asked, may_answer)) = gate.lock().expect("a gate").take() {
                    tell_asked.send(()).expect("the test waits");
                    may_answer.recv().expect("the test answers");
                }
                format!("VA {} f0 {tail}\r\n{found}\r\n", found.len())
            }
            "ms" => {
                let stored = lines.next().expect("a value").expect("a value");
                *value.lock().expect("a value") = stored;
                format!("HD {tail}\r\n")
            }
            _ => "MN\r\n".to_string(),
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// What a get returns after a write, if the value of before it was on its way to the table.
fn value_after_a_write(is_lease_late: bool) -> Vec<u8> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let table = directory.path().join("near").display().to_string();
    let server = Slow::start();
    let client = || {
        let builder = Client::builder().server(&server.name, 1.0);
        let builder = builder.io_timeout(Duration::from_secs(60));
        let near = builder.near(&table, Duration::from_secs(600));
        near.build().expect("a client")
    };
    let (reader, writer) = (client(), client());
    let get = move || {
        IS_LEASE_LATE.set(is_lease_late);
        reader.get(b"key").expect("an answer").expect("a value")
    };
    let reading = thread::spawn(get);
    server.asked.recv().expect("it is asked");
    let stored = writer.set(b"key", b"new", StoreOptions::default());
    stored.expect("stored");
    server.answer.send(()).expect("it answers");
    // It began before the write, so it may return either.
    assert_eq!(reading.join().expect("a value").data, b"old");
    let found = writer.get(b"key").expect("an answer");
    found.expect("a value").data
}

#[test]
fn a_value_of_before_a_write_does_not_fill_the_table_after_it() {
    assert_eq!(value_after_a_write(false), b"new");
}

#[test]
fn a_client_that_takes_its_lease_when_it_fills_is_found_out() {
    assert_eq!(value_after_a_write(true), b"old");
}
