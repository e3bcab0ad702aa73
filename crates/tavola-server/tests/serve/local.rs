//! Clients on Unix sockets that ask one after the other: what they sent may be left in the socket
//! for a while after it was read.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tavola_server::{Listen, Server};
use tempfile::TempDir;

use crate::lines::{LONG, ask, connect, eventually, exactly, options, start};

struct Local {
    server: Server,
    folder: TempDir,
}

impl Local {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listen = Listen::Unix { path, mode: 0o700 };
        Self {
            server: start(options().listen(listen)),
            folder,
        }
    }

    fn connect(&self) -> UnixStream {
        let client = UnixStream::connect(self.folder.path().join("socket"));
        let client = client.expect("connects");
        client.set_read_timeout(Some(LONG)).expect("set");
        client
    }
}

#[test]
fn requests_of_any_size_are_answered_one_after_the_other() {
    let local = Local::start();
    let mut client = local.connect();
    let mut sent = 0;
    for number in 0..2_000_usize {
        // Mostly small, and now and then more than is left.
        let size = match number % 100 {
            40 => 5_000,
            60..62 => 60_000,
            size => size,
        };
        let line = format!("{number} {}", "x".repeat(size));
        assert!(ask(&mut client, &line) == line, "{number}");
        sent += line.len() as u64 + 1;
    }
    assert_eq!(local.server.counters().bytes_read, sent);
}

#[test]
fn halves_of_requests_are_put_together() {
    let local = Local::start();
    let mut client = local.connect();
    for number in 0..500 {
        let line = format!("request {number}\nvalue 3\nabc\n");
        let (half, rest) = line.split_at(number % line.len());
        client.write_all(half.as_bytes()).expect("sent");
        if number % 3 == 0 {
            std::thread::yield_now();
        }
        client.write_all(rest.as_bytes()).expect("sent");
        let answer = format!("request {number}\n3 294\n");
        assert_eq!(exactly(&mut client, answer.len()), answer.as_bytes());
    }
}

#[test]
fn the_end_of_a_connection_is_no_reset() {
    let local = Local::start();
    for asked in 0..40 {
        let mut client = local.connect();
        for number in 0..asked {
            let line = format!("{number}");
            assert_eq!(ask(&mut client, &line), line);
        }
        let mut rest = Vec::new();
        if asked % 2 == 0 {
            client.write_all(b"last\n").expect("sent");
            client.shutdown(Shutdown::Write).expect("half closed");
            client.read_to_end(&mut rest).expect("no reset");
            assert_eq!(rest, b"last\n");
        } else {
            client.write_all(b"close\n").expect("sent");
            client.read_to_end(&mut rest).expect("no reset");
            assert_eq!(rest, b"bye\n");
        }
    }
    eventually("closed", || {
        local.server.counters().current_connections == 0
    });
}

#[test]
fn a_server_that_stops_resets_nobody() {
    let local = Local::start();
    let mut clients: Vec<_> = (0..3).map(|_| local.connect()).collect();
    for client in &mut clients {
        for number in 0..50 {
            let line = format!("{number}");
            assert_eq!(ask(client, &line), line);
        }
    }
    local.server.stop();
    for client in &mut clients {
        assert_eq!(client.read(&mut [0]).expect("no reset"), 0);
    }
}

/// Tells threads to end, also where a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn others_have_their_turn() {
    let local = Local::start();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = local.connect();
                while !done.load(Relaxed) {
                    assert_eq!(ask(&mut client, "often"), "often");
                }
            });
        }
        let _stop = Stop(&done);
        let mut other = connect(&local.server);
        for number in 0..200 {
            let line = format!("{number}");
            assert_eq!(ask(&mut other, &line), line);
        }
    });
}

#[test]
fn what_is_left_does_not_fill_a_small_socket_for_good() {
    let local = Local::start();
    let mut client = local.connect();
    rustix::net::sockopt::set_socket_send_buffer_size(&client, 1).expect("set");
    for size in [1, 100, 1_000, 4_000] {
        let line = "x".repeat(size);
        for _ in 0..100 {
            assert!(ask(&mut client, &line) == line);
        }
    }
}
