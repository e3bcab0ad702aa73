//! Requests and answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tavola_server::{Address, Listen};

use crate::lines::{
    Lines, WAITS, ask, connect, eventually, exactly, line, options, port, start, to_the_end,
    unless_late,
};

#[test]
fn tcp_and_unix_are_served_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let unix = Listen::Unix {
        path: path.clone(),
        mode: 0o700,
    };
    let mut options = options().listen(unix);
    let six: SocketAddr = "[::1]:0".parse().expect("an address");
    // Some containers have no such address.
    let has_six = TcpListener::bind(six).is_ok();
    if has_six {
        options = options.listen(Listen::Tcp(six));
    }
    let server = start(options);
    assert_eq!(server.addresses()[1], Address::Unix(path.clone()));
    assert_ne!(port(&server).port(), 0);

    let mut tcp = connect(&server);
    let mut unix = UnixStream::connect(&path).expect("connects");
    assert_eq!(ask(&mut tcp, "peer"), "0 Some(\"127.0.0.1\") 0");
    assert_eq!(ask(&mut unix, "peer"), "1 None 0");
    let six = has_six.then(|| {
        let Address::Tcp(six) = server.addresses()[2] else {
            panic!("the third address is of TCP");
        };
        let mut six = TcpStream::connect(six).expect("connects");
        assert_eq!(ask(&mut six, "peer"), "2 Some(\"::1\") 0");
        six
    });
    let (count, size) = if has_six { (3, 5) } else { (2, 0) };
    assert_eq!(ask(&mut tcp, "one"), "one");
    assert_eq!(ask(&mut unix, "two"), "two");

    let counters = server.counters();
    assert_eq!(counters.current_connections, count);
    assert_eq!(counters.total_connections, count);
    assert_eq!(counters.bytes_read, 5 + 5 + size + 4 + 4);
    drop((tcp, unix, six));
    eventually("closed", || server.counters().current_connections == 0);
    assert_eq!(server.counters().total_connections, count);
}

#[test]
fn pipelines_split_anywhere_are_answered_in_order() {
    let server = start(options());
    let requests: String = (0..40)
        .map(|number| format!("request {number}\n{}", "value 3\nabc\n".repeat(number % 2)))
        .collect();
    let answers: String = (0..40)
        .map(|number| format!("request {number}\n{}", "3 294\n".repeat(number % 2)))
        .collect();
    for step in [1, 2, 3, 5, 7, 11, 64, 333, requests.len()] {
        let mut client = connect(&server);
        client.set_nodelay(true).expect("set");
        for (number, part) in requests.as_bytes().chunks(step).enumerate() {
            client.write_all(part).expect("sent");
            if number % 16 == 0 {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        assert_eq!(exactly(&mut client, answers.len()), answers.as_bytes());
    }
}

#[test]
fn a_long_pipeline_is_served_whole() {
    let server = start(options());
    let mut client = connect(&server);
    let mut sender = client.try_clone().expect("a second handle");
    let requests = "x".repeat(98) + "y\n";
    let all = requests.repeat(40_000);
    let expected = all.clone();
    let sending = std::thread::spawn(move || sender.write_all(all.as_bytes()));
    let answers = exactly(&mut client, expected.len());
    assert!(answers == expected.as_bytes());
    sending.join().expect("no panic").expect("sent");
    // Served in batches, not byte by byte or line by line.
    let calls: usize = ask(&mut client, "calls").parse().expect("a number");
    assert!(calls < 3 * 40_000 / 20, "{calls} calls");
}

#[test]
fn a_service_closes_after_its_answers() {
    unless_late(WAITS, || {
        let server = start(options());
        let mut client = connect(&server);
        // What comes behind is not read, and must not take the answers with it.
        let behind = vec![b'z'; 3_000_000];
        client.write_all(b"big 1000000\nclose\nz\n").expect("sent");
        let mut sender = client.try_clone().expect("a second handle");
        let sending = std::thread::spawn(move || sender.write_all(&behind));
        let mut answers = Vec::new();
        // It is cut off for who reads slower than the server waits.
        let _ = client.read_to_end(&mut answers);
        let _ = sending.join().expect("no panic");
        drop(client);
        eventually("closed", || server.counters().current_connections == 0);
        answers.len() == 1_000_001 + 4 && answers.ends_with(b"b\nbye\n")
    });
}

#[test]
fn a_client_that_does_not_close_is_closed() {
    let server = start(options());
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, "close"), "bye");
    assert_eq!(to_the_end(&mut client), b"");
    eventually("closed", || server.counters().current_connections == 0);
}

#[test]
fn a_panic_ends_one_connection() {
    let server = start(options());
    let mut other = connect(&server);
    assert_eq!(ask(&mut other, "before"), "before");
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, "panic"), "");
    assert_eq!(ask(&mut other, "after"), "after");
    eventually("counted", || server.counters().panics == 1);
    assert_eq!(server.counters().current_connections, 1);
}

#[test]
fn a_waker_has_a_connection_served() {
    let service = Lines::default();
    let server = options().start(service.clone()).expect("starts");
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, "subscribe"), "subscribed");
    let waker = service.wakers.lock().expect("no panic").remove(0);
    for _ in 0..3 {
        waker.wake();
        assert_eq!(line(&mut client), "woken");
    }
    drop(client);
    eventually("closed", || server.counters().current_connections == 0);
    waker.wake();
    // Its place is another's now, which is not woken for it.
    let mut next = connect(&server);
    assert_eq!(ask(&mut next, "subscribe"), "subscribed");
    waker.wake();
    assert_eq!(ask(&mut next, "next"), "next");
}

#[test]
fn spinning_changes_no_answer() {
    let server = start(options().spin(Duration::from_micros(50)));
    let mut client = connect(&server);
    for number in 0..1000 {
        let request = format!("request {number}");
        assert_eq!(ask(&mut client, &request), request);
    }
}

#[test]
fn connections_are_spread_evenly() {
    let server = start(options().threads(4));
    let mut clients: Vec<_> = (0..40).map(|_| connect(&server)).collect();
    let mut counts = [0; 4];
    for client in &mut clients {
        let peer = ask(client, "peer");
        let thread: usize = peer[peer.len() - 1..].parse().expect("a number");
        counts[thread] += 1;
    }
    assert_eq!(counts, [10; 4]);
    let threads = server.meter().threads();
    assert!(threads.iter().all(|one| one.current_connections == 10));
}
