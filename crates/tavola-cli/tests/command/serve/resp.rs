//! Clients of Redis are served where they are to be, alone or beside those of memcached.

use rustix::process::Signal;

use super::seat::{Seat, ask, closed, connect, is_answered, unless_late};
use crate::shell::{Shell, wait_until};

/// The addresses for clients of Redis, and the others.
fn places(seat: &mut Seat) -> (Vec<String>, Vec<String>) {
    let (mut redis, mut memcached) = (Vec::new(), Vec::new());
    for address in seat.addresses() {
        match address.strip_suffix(" (RESP)") {
            Some(address) => redis.push(address.to_string()),
            None => memcached.push(address),
        }
    }
    (redis, memcached)
}

#[test]
fn a_table_is_served_to_clients_of_redis_alone() {
    let shell = Shell::new();
    let pid_file = shell.path().join(".pid");
    let mut command = shell.command(["serve", "t", "--resp", "127.0.0.1:0", "--pid-file"]);
    command.arg(&pid_file);
    let mut seat = Seat::start(command, pid_file);
    let (redis, memcached) = places(&mut seat);
    assert_eq!((redis.len(), memcached.len()), (1, 0));
    let mut line = connect(&redis[0]);
    ask(
        &mut *line,
        "SET a 1 EX 1000\r\nGET a\r\n",
        "+OK\r\n$1\r\n1\r\n",
    );
    assert_eq!(shell.run(["get", "t", "a"]).text(), "1");
    shell.run(["set", "t", "b", "2"]).ok();
    ask(&mut *line, "MGET a b\r\n", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
    seat.signal(Signal::TERM);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
}

/// After another process has taken over, each socket is for the same clients as before.
#[test]
fn both_kinds_of_clients_share_a_table_and_a_successor() {
    let shell = Shell::new();
    let unix = |name: &str| format!("unix:{}", shell.path().join(name).display());
    let (redis_unix, memcached_unix) = (unix(".redis"), unix(".memcached"));
    let mut seat = Seat::serve(
        &shell,
        &[
            "t",
            "--listen",
            &memcached_unix,
            "--resp",
            "127.0.0.1:0",
            "--resp",
            &redis_unix,
            "--threads",
            "2",
        ],
    );
    let (redis, memcached) = places(&mut seat);
    assert_eq!(redis[1], redis_unix);
    assert_eq!(memcached[1], memcached_unix);
    ask(&mut *connect(&redis[0]), "SET a 1\r\n", "+OK\r\n");
    let value = "VALUE a 0 1\r\n1\r\nEND\r\n";
    ask(&mut *connect(&memcached[0]), "get a\r\n", value);
    let first = seat.number();
    seat.signal(Signal::USR1);
    wait_until(|| {
        unless_late(|| is_answered(&mut *connect(&redis[0]), "GET a\r\n", "$1\r\n1\r\n"));
        seat.number() != first
    });
    assert_eq!(seat.ended(), Some(0));
    assert_eq!(places(&mut seat), (redis.clone(), memcached.clone()));
    for place in &redis {
        ask(&mut *connect(place), "GET a\r\n", "$1\r\n1\r\n");
    }
    for place in &memcached {
        ask(&mut *connect(place), "get a\r\n", value);
    }
    seat.signal(Signal::TERM);
    wait_until(|| seat.number().is_none());
}

#[test]
fn clients_of_redis_have_the_same_users_and_limits() {
    let shell = Shell::new();
    let users = shell.file("users", "ann:secret\n");
    let users = users.to_str().expect("text");
    let flags = [
        "--users",
        users,
        "--no-flush",
        "--no-dumps",
        "--largest-value",
        "1K",
    ];
    let mut seat = Seat::serve(
        &shell,
        &[&["t", "--resp", "127.0.0.1:0"][..], &flags].concat(),
    );
    let (redis, memcached) = places(&mut seat);
    let mut line = connect(&redis[0]);
    ask(
        &mut *line,
        "GET a\r\n",
        "-NOAUTH Authentication required.\r\n",
    );
    ask(&mut *line, "AUTH ann secret\r\nGET a\r\n", "+OK\r\n$-1\r\n");
    let denied = "-NOPERM this user has no permissions to run the 'keys' command\r\n";
    ask(&mut *line, "KEYS *\r\n", denied);
    let denied = "-NOPERM this user has no permissions to run the 'flushall' command\r\n";
    ask(&mut *line, "FLUSHALL\r\n", denied);
    ask(
        &mut *line,
        "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1025\r\n",
        "-ERR Protocol error: invalid bulk length\r\n",
    );
    closed(line);
    let unknown = "CLIENT_ERROR unauthenticated\r\n";
    ask(&mut *connect(&memcached[0]), "get a\r\n", unknown);
    let refused = shell.run(["serve", "u", "--resp", "0.0.0.0:0"]).error();
    assert!(refused.contains("--insecure"), "{refused}");
}
