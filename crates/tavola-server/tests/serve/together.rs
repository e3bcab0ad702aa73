//! Clients that ask at the same time, with and without an io_uring.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use tavola_server::{Error, Io, Listen, Server};

use crate::lines::{
    LONG, Lines, ask, connect, eventually, exactly, line, options, start, to_the_end,
};

/// Starts one server by each of the calls there are.
fn each(test: impl Fn(Server, &Lines, Io)) {
    let lines = Lines::default();
    let epoll = options().io(Io::Epoll).start(lines.clone());
    test(epoll.expect("starts"), &lines, Io::Epoll);
    match options().io(Io::Uring).start(lines.clone()) {
        Ok(server) => test(server, &lines, Io::Uring),
        Err(Error::System { source, .. }) => eprintln!("no io_uring here ({source})"),
        Err(error) => panic!("{error}"),
    }
}

/// Has the one thread do nothing until the value is dropped, so that it hears of all requests of
/// that time at once. Then it answers `hold`.
fn hold<'a>(lines: &'a Lines, client: &mut TcpStream) -> MutexGuard<'a, ()> {
    let gate = lines.gate.lock().expect("no panic");
    let before = lines.held.load(Relaxed);
    client.write_all(b"hold\n").expect("sent");
    eventually("held", || lines.held.load(Relaxed) > before);
    gate
}

#[test]
fn each_gets_its_own_answer() {
    each(|server, lines, io| {
        let mut first = connect(&server);
        let mut clients: Vec<_> = (0..75).map(|_| connect(&server)).collect();
        for round in 0..10 {
            let held = hold(lines, &mut first);
            for (number, client) in clients.iter_mut().enumerate() {
                let request = format!("client {number} round {round}\n");
                client.write_all(request.as_bytes()).expect("sent");
            }
            drop(held);
            for (number, client) in clients.iter_mut().enumerate() {
                assert_eq!(line(client), format!("client {number} round {round}"));
            }
            assert_eq!(line(&mut first), "hold");
        }
        // An answer is counted when it was sent, and may be read before that.
        eventually("counted", || {
            let counters = server.counters();
            counters.bytes_written == counters.bytes_read
        });
        let together = server.counters().sent_together;
        match io {
            // Nearly all 750.
            Io::Uring => assert!(together > 200, "{together}"),
            _ => assert_eq!(together, 0),
        }
    });
}

#[test]
fn a_client_that_does_not_fetch_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for io in [Io::Epoll, Io::Auto] {
        let path = folder.path().join(format!("{io:?}"));
        let unix = Listen::Unix {
            path: path.clone(),
            mode: 0o700,
        };
        let server = start(options().listen(unix).io(io));
        let mut first = connect(&server);
        let mut deaf: Vec<_> = (0..4)
            .map(|_| UnixStream::connect(&path).expect("connects"))
            .collect();
        // Three times what a socket holds.
        for _ in 0..40 {
            first.write_all(b"pause 3\n").expect("sent");
            for _ in 0..4 {
                for client in &mut deaf {
                    client.write_all(b"big 3900\n").expect("sent");
                }
            }
            assert_eq!(line(&mut first), "pause 3");
        }
        for client in &mut deaf {
            client.set_read_timeout(Some(LONG)).expect("set");
            let answers = exactly(client, 160 * 3901);
            assert!(answers.chunks(3901).all(|one| one.ends_with(b"b\n")));
            assert_eq!(ask(client, "more"), "more");
        }
        assert_eq!(ask(&mut first, "alone"), "alone");
    }
}

#[test]
fn the_end_of_some_is_no_matter_to_others() {
    each(|server, lines, _| {
        let mut first = connect(&server);
        let mut clients: Vec<_> = (0..30).map(|_| connect(&server)).collect();
        let held = hold(lines, &mut first);
        for (number, client) in clients.iter_mut().enumerate() {
            let request: &[u8] = match number % 6 {
                0 => b"close\n",
                1 => b"panic\n",
                2 => b"big 100000\n",
                _ => b"one\n",
            };
            client.write_all(request).expect("sent");
        }
        // They are gone before they are answered.
        let gone: Vec<_> = (3..30).step_by(6).collect();
        for &number in gone.iter().rev() {
            drop(clients.remove(number));
        }
        drop(held);
        for (number, mut client) in clients.into_iter().enumerate() {
            match number % 5 {
                0 => assert_eq!(to_the_end(&mut client), b"bye\n"),
                1 => assert_eq!(to_the_end(&mut client), b""),
                2 => assert_eq!(exactly(&mut client, 100_001).len(), 100_001),
                _ => assert_eq!(line(&mut client), "one"),
            }
        }
        assert_eq!(line(&mut first), "hold");
        eventually("closed", || server.counters().current_connections == 1);
        assert_eq!(server.counters().panics, 5);
    });
}
