//! The limit of connections.

use std::io::Write;
use std::time::Duration;

use crate::lines::{ask, connect, eventually, line, options, start, to_the_end};

#[test]
fn at_the_limit_clients_wait_until_one_closes() {
    let server = start(options().threads(2).max_connections(3));
    let mut clients: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    for client in &mut clients {
        assert_eq!(ask(client, "in"), "in");
    }
    let mut waiting = connect(&server);
    waiting.write_all(b"waited\n").expect("sent");
    eventually("stopped", || server.counters().accept_stops == 1);
    waiting
        .set_read_timeout(Some(Duration::from_millis(50)))
        .expect("set");
    let nothing = std::io::Read::read(&mut waiting, &mut [0]);
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(server.counters().current_connections, 3);

    waiting
        .set_read_timeout(Some(crate::lines::LONG))
        .expect("set");
    drop(clients.pop());
    assert_eq!(line(&mut waiting), "waited");
    assert_eq!(server.counters().total_connections, 4);
    assert_eq!(server.counters().rejected_connections, 0);
}

#[test]
fn the_limit_holds_however_often_connections_come_and_go() {
    let server = start(options().threads(2).max_connections(4));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(ask(&mut connect(&server), "in"), "in");
                    assert!(server.counters().current_connections <= 4);
                }
            });
        }
    });
    assert_eq!(server.counters().total_connections, 800);
}

#[test]
fn clients_above_the_limit_get_an_error_and_are_closed() {
    let answer = b"ERROR Too many open connections\r\n";
    let server = start(options().max_connections(2).refuse_with(answer));
    let mut clients: Vec<_> = (0..2).map(|_| connect(&server)).collect();
    for client in &mut clients {
        assert_eq!(ask(client, "in"), "in");
    }
    for count in 1..=5 {
        assert_eq!(to_the_end(&mut connect(&server)), answer);
        eventually("counted", || {
            server.counters().rejected_connections == count
        });
    }
    drop(clients.pop());
    eventually("closed", || server.counters().current_connections == 1);
    assert_eq!(ask(&mut connect(&server), "in"), "in");
    assert_eq!(server.counters().accept_stops, 0);
}
