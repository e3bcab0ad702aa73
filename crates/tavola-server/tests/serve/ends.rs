//! How connections and servers end.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::lines::{
    LONG, Lines, WAITS, ask, connect, eventually, exactly, is_answered, line, options, port, start,
    to_the_end, unless_late,
};

/// How long a drain waits for what clients of idle connections have sent.
const LINGERS: Duration = Duration::from_millis(250);

#[test]
fn half_closed_connections_get_their_answers() {
    let server = start(options());
    for requests in ["one\ntwo\n", "big 3000000\nend\n", "stream 100000\n"] {
        let mut client = connect(&server);
        client.write_all(requests.as_bytes()).expect("sent");
        client.shutdown(Shutdown::Write).expect("half closed");
        let answers = to_the_end(&mut client);
        match requests {
            "one\ntwo\n" => assert_eq!(answers, b"one\ntwo\n"),
            "big 3000000\nend\n" => assert_eq!(answers.len(), 3_000_005),
            _ => assert!(answers.ends_with(b"\n1\n0\n") && answers.len() == 588_890),
        }
    }
    eventually("closed", || server.counters().current_connections == 0);
}

#[test]
fn a_drain_finishes_what_was_asked() {
    let service = Lines::default();
    let server = options().threads(2).start(service.clone()).expect("starts");
    let address = port(&server);
    let mut idle = connect(&server);
    assert_eq!(ask(&mut idle, "idle"), "idle");
    // More than the sockets hold: it is still under way when the drain begins.
    let mut large = connect(&server);
    large.write_all(b"big 20000000\nend\n").expect("sent");
    let mut half = connect(&server);
    half.write_all(b"asked\nvalue 5\nab").expect("sent");
    assert_eq!(line(&mut half), "asked");
    // Served in many turns, in between which nothing is read.
    let mut stream = connect(&server);
    stream.write_all(b"stream 1000000\n").expect("sent");
    eventually("all four", || server.counters().current_connections == 4);

    let draining = std::thread::spawn(move || server.drain(LONG));
    assert_eq!(to_the_end(&mut idle), b"");
    eventually("refused", || TcpStream::connect(address).is_err());
    stream.write_all(b"asked meanwhile\n").expect("sent");
    half.write_all(b"cde\n").expect("sent");
    assert_eq!(line(&mut half), "5 495");
    assert_eq!(to_the_end(&mut half), b"");
    exactly(&mut large, 20_000_000);
    assert_eq!(to_the_end(&mut large), b"\nend\n");
    exactly(&mut stream, 6_888_890);
    assert_eq!(to_the_end(&mut stream), b"asked meanwhile\n");
    let drained = draining.join().expect("no panic");
    assert!(drained.complete);
    assert_eq!(drained.counters.current_connections, 0);
    assert_eq!(drained.counters.total_connections, 4);
    assert_eq!(*service.closed.lock().expect("no panic"), 4);
}

#[test]
fn connections_in_the_queue_are_served_before_the_end() {
    for _ in 0..20 {
        let server = start(options());
        let mut client = connect(&server);
        client.write_all(b"asked\n").expect("sent");
        assert!(server.drain(LONG).complete);
        assert_eq!(to_the_end(&mut client), b"asked\n");
    }
}

#[test]
fn a_drain_ends_in_time_whatever_clients_do() {
    let server = start(options());
    let mut half = connect(&server);
    half.write_all(b"asked\nvalue 100\nab").expect("sent");
    assert_eq!(line(&mut half), "asked");
    let mut deaf = connect(&server);
    deaf.write_all(b"big 20000000\n").expect("sent");
    eventually("under way", || server.counters().bytes_written > 1000);
    let start = Instant::now();
    let drained = server.drain(Duration::from_millis(200));
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert!(start.elapsed() < LONG);
    assert!(!drained.complete);
    assert_eq!(drained.counters.cut_off, 2);
}

#[test]
fn a_new_client_may_ask_though_a_drain_begins() {
    let asks_in_time = || {
        let server = start(options());
        let mut client = connect(&server);
        eventually("accepted", || server.counters().total_connections == 1);
        let draining = std::thread::spawn(move || server.drain(LONG));
        let is_answered = is_answered(&mut client, "asked");
        if is_answered {
            assert_eq!(to_the_end(&mut client), b"");
        }
        assert!(draining.join().expect("no panic").complete);
        is_answered
    };
    for _ in 0..20 {
        unless_late(WAITS, asks_in_time);
    }
    // It need not ask, and nobody waits for long.
    for within in [LONG, Duration::from_millis(10)] {
        let server = start(options());
        let mut client = connect(&server);
        eventually("accepted", || server.counters().total_connections == 1);
        assert!(server.drain(within).complete);
        assert_eq!(to_the_end(&mut client), b"");
    }
}

/// A request that crosses the end of an idle connection is not answered by a reset.
#[test]
fn an_idle_connection_ends_in_good_order() {
    let ends_well = || {
        let server = start(options());
        let mut client = connect(&server);
        assert_eq!(ask(&mut client, "one"), "one");
        let draining = std::thread::spawn(move || server.drain(LONG));
        assert_eq!(client.read(&mut [0]).expect("an end, and no reset"), 0);
        let sent = client.write_all(b"crossed\n");
        let drained = draining.join().expect("no panic");
        assert!(drained.complete);
        sent.is_ok() && matches!(client.read(&mut [0]), Ok(0))
    };
    unless_late(LINGERS, ends_well);
}

#[test]
fn a_stop_closes_all_at_once() {
    let service = Lines::default();
    let server = options().start(service.clone()).expect("starts");
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, "one"), "one");
    server.stop();
    assert_eq!(to_the_end(&mut client), b"");
    assert_eq!(*service.closed.lock().expect("no panic"), 1);
}

/// The kernel interrupts anyone who made an io_uring when that goes.
#[test]
fn a_thread_that_starts_a_server_is_not_interrupted_by_its_end() {
    let (mut asker, mut other) = UnixStream::pair().expect("a pair");
    asker.set_read_timeout(Some(LONG)).expect("set");
    for _ in 0..5 {
        let server = start(options());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                server.stop();
                // The kernel takes its time, as well.
                std::thread::sleep(Duration::from_millis(100));
                other.write_all(b"1").expect("sent");
            });
            assert_eq!(asker.read(&mut [0]).expect("no interruption"), 1);
        });
    }
}
