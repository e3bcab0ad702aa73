//! Clients that mean harm, and others beside them.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::lines::{
    LONG, ask, connect, eventually, is_answered, line, options, reads_of_others, start, to_the_end,
};

#[test]
fn a_client_that_never_reads_is_not_read_from_and_others_are_served() {
    let server = start(options().output_bound(100_000));
    let mut deaf = connect(&server);
    deaf.set_write_timeout(Some(Duration::from_millis(300)))
        .expect("set");
    // Answers are 25 times as long; what the sockets hold is a few megabytes.
    let requests = "big 200\n".repeat(1000);
    let mut sent = 0;
    let mut other = connect(&server);
    // A server that stood still for a while has not stopped to read.
    let start = Instant::now();
    loop {
        match deaf.write(&requests.as_bytes()[sent % requests.len()..]) {
            Ok(size) => sent += size,
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut));
                if !reads_of_others(&server, &mut other) {
                    break;
                }
            }
        }
        let is_bounded = sent < 1 << 30 && start.elapsed() < 3 * LONG;
        assert!(is_bounded, "read without end");
    }
    // Nothing is lost if it reads at last.
    let whole = sent / 8;
    deaf.shutdown(Shutdown::Write).expect("half closed");
    assert_eq!(to_the_end(&mut deaf).len(), whole * 201);
}

#[test]
fn an_endless_pipeline_does_not_starve_others() {
    let server = start(options());
    let mut hog = connect(&server);
    let mut sender = hog.try_clone().expect("a second handle");
    let sending = std::thread::spawn(move || {
        let requests = "request\n".repeat(8192);
        while sender.write_all(requests.as_bytes()).is_ok() {}
    });
    let mut reader = hog.try_clone().expect("a second handle");
    let reading = std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while reader.read(&mut bytes).is_ok_and(|size| size > 0) {}
    });
    let mut other = connect(&server);
    eventually("under way", || server.counters().bytes_read > 1 << 20);
    for _ in 0..200 {
        assert_eq!(ask(&mut other, "hello"), "hello");
    }
    hog.flush().expect("open still");
    hog.shutdown(Shutdown::Both).expect("open still");
    sending.join().expect("no panic");
    reading.join().expect("no panic");
}

#[test]
fn an_endless_answer_does_not_starve_others() {
    let server = start(options());
    let mut hog = connect(&server);
    hog.write_all(b"stream 10000000000\n").expect("sent");
    let mut reader = hog.try_clone().expect("a second handle");
    let reading = std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while reader.read(&mut bytes).is_ok_and(|size| size > 0) {}
    });
    eventually("under way", || server.counters().bytes_written > 1 << 20);
    let mut other = connect(&server);
    for _ in 0..200 {
        assert_eq!(ask(&mut other, "hello"), "hello");
    }
    hog.shutdown(Shutdown::Both).expect("open still");
    reading.join().expect("no panic");
    eventually("closed", || server.counters().current_connections == 1);
}

#[test]
fn a_connection_that_holds_much_is_closed_when_all_hold_too_much() {
    let server = start(options().memory_bound(8 << 20));
    let mut small = connect(&server);
    small.write_all(b"value 5\nab").expect("sent");
    // Twelve clients that send all but the last byte of 1 MiB: some of them are too many.
    let mut clients: Vec<_> = (0..12).map(|_| connect(&server)).collect();
    for client in &mut clients {
        client.write_all(b"value 1048576\n").expect("sent");
        // Fails when the connection is closed.
        let _ = client.write_all(&vec![1; 1 << 20]);
    }
    eventually("too many", || server.counters().memory_closed >= 4);
    let mut answered = 0;
    for client in &mut clients {
        let _ = client.write_all(b"\n");
        let mut answer = Vec::new();
        let _ = client.shutdown(Shutdown::Write);
        let _ = client.read_to_end(&mut answer);
        answered += u64::from(answer == b"1048576 1048576\n");
    }
    let closed = server.counters().memory_closed;
    assert!((4..=8).contains(&closed), "{closed} closed");
    assert_eq!(answered + closed, 12);
    assert_eq!(ask(&mut small, "cde"), "5 495");
    // What they held is free again.
    assert_eq!(ask(&mut connect(&server), "in"), "in");
    let mut late = connect(&server);
    late.write_all(b"value 6000000\n").expect("sent");
    late.write_all(&vec![1; 6_000_000]).expect("sent");
    assert_eq!(ask(&mut late, ""), "6000000 6000000");
    assert_eq!(server.counters().memory_closed, closed);
}

#[test]
fn one_of_many_threads_may_hold_nearly_all() {
    let server = start(options().threads(16).memory_bound(8 << 20));
    let mut client = connect(&server);
    client.write_all(b"value 6000000\n").expect("sent");
    client.write_all(&vec![1; 6_000_000]).expect("sent");
    assert_eq!(ask(&mut client, ""), "6000000 6000000");
    assert_eq!(server.counters().memory_closed, 0);
}

#[test]
fn a_client_that_fetches_its_answers_late_holds_nothing_afterwards() {
    let server = start(options().memory_bound(200_000).output_bound(60_000));
    let mut clients: Vec<_> = (0..12).map(|_| connect(&server)).collect();
    for client in &mut clients {
        let written = server.counters().bytes_written;
        client.write_all(b"stream 1000000\n").expect("sent");
        eventually("as far as it goes", || {
            let before = server.counters().bytes_written;
            std::thread::sleep(Duration::from_millis(10));
            before > written && server.counters().bytes_written == before
        });
        assert!(server.counters().bytes_written - written < 6_888_890);
        crate::lines::exactly(client, 6_888_890);
    }
    // There would be no room for this one if each of them held a chunk.
    let mut late = connect(&server);
    late.write_all(b"value 80000\n").expect("sent");
    late.write_all(&vec![1; 80_000]).expect("sent");
    assert_eq!(ask(&mut late, ""), "80000 80000");
    assert_eq!(server.counters().memory_closed, 0);
}

/// Of two clients one is idle, and is closed alone. If both are, an error: how long the other one
/// came not to its turn at most.
fn the_idle_one_is_closed(timeout: Duration) -> Result<(), Duration> {
    let begun = Instant::now();
    let server = start(options().idle_timeout(timeout));
    let mut idle = connect(&server);
    let mut busy = connect(&server);
    let (mut asked, mut longest) = (begun, Duration::ZERO);
    let mut is_served = |client: &mut TcpStream, request: &str| {
        let now = Instant::now();
        let is_served = is_answered(client, request);
        longest = longest.max(asked.elapsed());
        asked = now;
        is_served.then_some(()).ok_or(longest)
    };
    let idle_since = Instant::now();
    is_served(&mut idle, "one")?;
    while server.counters().idle_closed == 0 {
        is_served(&mut busy, "still here")?;
        std::thread::sleep(Duration::from_millis(20));
        assert!(begun.elapsed() < LONG, "it is not closed");
    }
    assert!(idle_since.elapsed() >= timeout / 2, "closed too soon");
    is_served(&mut busy, "still here")?;
    assert_eq!(to_the_end(&mut idle), b"");
    assert_eq!(server.counters().idle_closed, 1);
    Ok(())
}

#[test]
fn idle_connections_are_closed_and_busy_ones_are_not() {
    let timeout = Duration::from_secs(1);
    let start = Instant::now();
    while let Err(longest) = the_idle_one_is_closed(timeout) {
        // A machine that stands still makes anybody idle.
        let is_late = longest >= timeout / 2 && start.elapsed() < 3 * LONG;
        assert!(is_late, "closed after {longest:?}");
    }
}

#[test]
fn a_slow_client_gets_its_answer() {
    let server = start(options());
    let mut slow = connect(&server);
    slow.set_nodelay(true).expect("set");
    for byte in b"value 20\n01234567890123456789\n" {
        slow.write_all(&[*byte]).expect("sent");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(line(&mut slow), "20 1050");
}
