//! `tavola serve`: real servers on free ports of this machine, from their start to their end.

mod flags;
mod handed;
mod passwords;
mod resp;
pub mod seat;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
#[path = "../../../tavola-server/tests/tls_peer/mod.rs"]
pub mod tls_peer;
mod warm;

use std::fs::{self, File};

use crate::shell::{Shell, wait_until};
use rustix::process::Signal;
use seat::{Seat, ask, closed, connect, exists, is_answered, unless_late};

#[test]
fn clients_and_the_table_see_the_same_values() {
    let shell = Shell::new();
    let mut seat = Seat::serve(&shell, &["t"]);
    let mut line = connect(&seat.address());
    ask(&mut *line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    assert_eq!(shell.run(["get", "t", "a"]).text(), "1");
    shell.run(["set", "t", "b", "2"]).ok();
    ask(&mut *line, "get b\r\n", "VALUE b 0 1\r\n2\r\nEND\r\n");
    ask(&mut *line, "mg a v\r\n", "VA 1\r\n1\r\n");
    seat.signal(Signal::TERM);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
    assert_eq!(seat.number(), None);
}

#[test]
fn tcp_and_unix_sockets_are_served_at_once() {
    let shell = Shell::new();
    let path = shell.path().join(".socket");
    let unix = format!("unix:{}", path.display());
    let mut seat = Seat::serve(&shell, &["t", "--listen", &unix, "--threads", "2"]);
    let addresses = seat.addresses();
    assert_eq!(addresses.len(), 2);
    assert_eq!(addresses[1], unix);
    ask(&mut *connect(&unix), "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    let all = "VALUE a 0 1\r\n1\r\nEND\r\n";
    ask(&mut *connect(&addresses[0]), "get a\r\n", all);
    seat.signal(Signal::INT);
    assert_eq!(seat.ended(), Some(0));
    assert!(!exists(&path));
}

/// The keys that clients have set are there after a kill and the loss of the memory.
#[test]
fn a_durable_table_is_served_as_others_are() {
    let shell = Shell::new();
    let disk = tempfile::tempdir().expect("a directory");
    let home = disk.path().join("home").display().to_string();
    let create = ["create", "--durable", &home, "--sync", "commit"];
    shell.run([&create[..], &["--max-size", "64M"]].concat());
    let mut seat = Seat::serve(&shell, &[&home]);
    let mut line = connect(&seat.address());
    ask(&mut *line, "set a 7 0 1\r\n1\r\n", "STORED\r\n");
    ask(&mut *line, "incr a 4\r\n", "5\r\n");
    seat.signal(Signal::KILL);
    seat.ended();
    let memory = fs::read_dir(shell.path()).expect("the directory of tables");
    for entry in memory.map(|entry| entry.expect("an entry")) {
        if entry.file_name().to_string_lossy().starts_with("durable-") {
            fs::remove_file(entry.path()).expect("the memory goes");
        }
    }
    let mut seat = Seat::serve(&shell, &[&home]);
    let mut line = connect(&seat.address());
    ask(&mut *line, "get a\r\n", "VALUE a 7 1\r\n5\r\nEND\r\n");
    seat.signal(Signal::TERM);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
    for of in ["queue", "log"] {
        let refused = shell.run([of, "create", &home]);
        assert!(refused.err.contains("directory"), "{refused:?}");
    }
}

#[test]
fn stat_reports_servers_and_their_clients() {
    let shell = Shell::new();
    let mut seats = [".first", ".second"].map(|pid_file| {
        let pid_file = shell.path().join(pid_file);
        let mut command = shell.command(["serve", "t", "--listen", "127.0.0.1:0"]);
        command.arg("--pid-file").arg(&pid_file);
        Seat::start(command, pid_file)
    });
    let addresses: Vec<String> = seats.iter_mut().map(Seat::address).collect();
    let mut lines = Vec::from([0, 1, 1].map(|at: usize| connect(&addresses[at])));
    for line in &mut lines {
        ask(&mut **line, "get a\r\n", "END\r\n");
    }
    // They report it once a second.
    wait_until(|| {
        let text = shell.run(["stat", "t"]).text();
        text.contains("2 processes, 3 connections now, 3 in total")
    });
    drop(lines.pop());
    let figure_of = |name: &str| {
        let stat = shell.run(["stat", "t", "--json"]).json();
        let all = stat["participants"].as_array().expect("a list").clone();
        let mut numbers: Vec<_> = all.iter().map(|one| one[name].as_u64()).collect();
        numbers.sort_unstable();
        numbers
    };
    wait_until(|| figure_of("connections") == [Some(1), Some(1)]);
    assert_eq!(figure_of("connections_accepted"), [Some(1), Some(2)]);
    for seat in &mut seats {
        seat.signal(Signal::TERM);
        assert_eq!(seat.ended(), Some(0));
    }
    let text = shell.run(["stat", "t"]).text();
    assert!(!text.contains("served by"), "{text}");
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let shell = Shell::new();
    let mut seat = Seat::serve(&shell, &["t", "--capacity", "8M"]);
    let mut line = connect(&seat.address());
    for number in 0..1000 {
        let set = format!("set key{number} 7 0 4\r\n{number:04}\r\n");
        ask(&mut *line, set, "STORED\r\n");
    }
    seat.signal(Signal::KILL);
    assert_eq!(seat.ended(), None);
    let mut seat = Seat::serve(&shell, &["t"]);
    let mut line = connect(&seat.address());
    for number in 0..1000 {
        let get = format!("get key{number}\r\n");
        let found = format!("VALUE key{number} 7 4\r\n{number:04}\r\nEND\r\n");
        ask(&mut *line, get, found);
    }
    assert_eq!(shell.run(["check", "t"]).code, 0);
}

#[test]
fn another_process_takes_over_and_nobody_is_turned_away() {
    let shell = Shell::new();
    let path = shell.path().join(".socket");
    let unix = format!("unix:{}", path.display());
    let mut seat = Seat::serve(&shell, &["t", "--listen", &unix]);
    let address = seat.address();
    let first = seat.number();
    let mut line = connect(&address);
    ask(&mut *line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    let all = "VALUE a 0 1\r\n1\r\nEND\r\n";
    seat.signal(Signal::USR1);
    // Anyone who of the two accepts it, each connection is served, if it asks within a second.
    wait_until(|| {
        unless_late(|| is_answered(&mut *connect(&address), "get a\r\n", all));
        seat.number() != first
    });
    closed(line);
    assert_eq!(seat.ended(), Some(0));
    assert_eq!(seat.address(), address);
    let mut line = connect(&address);
    ask(&mut *line, "get a\r\n", all);
    ask(&mut *connect(&unix), "get a\r\n", all);
    seat.signal(Signal::TERM);
    closed(line);
    wait_until(|| seat.number().is_none());
    wait_until(|| !exists(&path));
}

#[test]
fn other_machines_are_not_let_in_unasked() {
    let shell = Shell::new();
    let listen = |more: &[&str]| {
        let args = ["serve", "t", "--listen", "0.0.0.0:0"];
        shell.run([&args[..], more].concat())
    };
    let refused = listen(&[]).error();
    assert!(refused.contains("--insecure"), "{refused}");
    assert!(refused.contains("--users FILE"), "{refused}");
    let bare = listen(&["--users", "/nowhere/users"]).error();
    assert!(bare.contains("--tls-cert FILE"), "{bare}");
    for (file, more) in [
        ("/nowhere/users", &["--tls-cert", "/nowhere/cert"][..]),
        ("/nowhere/users", &["--insecure"]),
    ] {
        let missing = listen(&[&["--users", file], more].concat());
        assert_eq!(missing.code, 2);
        assert!(missing.err.contains(file), "{}", missing.err);
    }
    assert!(!shell.path().join("t").exists());
}

#[test]
fn an_address_in_use_is_reported() {
    let shell = Shell::new();
    let mut seat = Seat::serve(&shell, &["t"]);
    let address = seat.address();
    let refused = shell.run(["serve", "t", "--listen", &address]).error();
    assert!(refused.contains(&address), "{refused}");
    let refused = shell.run(["serve", "t", "--listen", "nonsense:x"]).error();
    assert!(refused.contains("nonsense:x"), "{refused}");
}

/// What a server of a table says on standard error until it serves.
fn said_by(shell: &Shell, args: &[&str]) -> String {
    let mut command = shell.command([&["serve", "--listen", "127.0.0.1:0"], args].concat());
    let said = shell.path().join(".said");
    command.stderr(File::create(&said).expect("a file"));
    let pid_file = shell.path().join(".pid");
    command.arg("--pid-file").arg(&pid_file);
    let mut seat = Seat::start(command, pid_file);
    ask(&mut *connect(&seat.address()), "get a\r\n", "END\r\n");
    fs::read_to_string(&said).expect("text")
}

#[test]
fn values_of_more_than_half_of_the_table_are_warned_of() {
    let shell = Shell::new();
    shell.run(["create", "old", "--capacity", "8M"]).ok();
    for (args, expected) in [
        (
            &["a", "--capacity", "8M", "--largest-value", "4M"][..],
            None,
        ),
        (
            &["b", "--capacity", "8M", "--largest-value", "5M"],
            Some("the 8 MiB of the table"),
        ),
        (
            &["old", "--largest-value", "5M"],
            Some("the 8 MiB of the table"),
        ),
        (
            &["c", "--max-size", "16M", "--largest-value", "9M"],
            Some("the 16 MiB of the table"),
        ),
        (&["d", "--max-size", "16M"], None),
    ] {
        let said = said_by(&shell, args);
        assert_eq!(
            said.lines().count(),
            expected.iter().count(),
            "{args:?}: {said}"
        );
        let is =
            expected.is_none_or(|expected| said.contains("values of ") && said.contains(expected));
        assert!(is, "{args:?}: {said}");
    }
}

#[test]
fn a_size_without_effect_is_reported() {
    let shell = Shell::new();
    shell.run(["create", "t", "--capacity", "8M"]).ok();
    shell.run(["create", "u", "--max-size", "16M"]).ok();
    let cache = Some("it is a cache of 8 MiB; the requested size has no effect");
    let table = "it is not a cache, and may grow to 16 MiB; the requested size has no effect";
    for (name, flag, size, expected) in [
        ("t", "--capacity", "8M", None),
        ("t", "--capacity", "9M", cache),
        ("t", "--max-size", "32M", cache),
        ("u", "--max-size", "16M", None),
        ("u", "--max-size", "32M", Some(table)),
        ("u", "--capacity", "8M", Some(table)),
        ("new", "--max-size", "32M", None),
        ("newer", "--capacity", "9M", None),
    ] {
        let said = said_by(&shell, &[name, flag, size]);
        assert_eq!(said.lines().count(), expected.iter().count(), "{said}");
        let is = expected.is_none_or(|expected| said.contains(expected));
        assert!(is, "{name} {flag} {size}: {said}");
    }
}

#[test]
fn the_spin_time_is_bounded() {
    let shell = Shell::new();
    for long in ["50", "11ms"] {
        let refused = shell.run(["serve", "t", "--spin", long]);
        assert_eq!(refused.code, 2, "{long}: {refused:?}");
        let is_reported = refused.err.contains("more than 10ms");
        assert!(is_reported, "{long}: {refused:?}");
    }
    let mut most = Seat::serve(&shell, &["t", "--spin", "10ms"]);
    ask(&mut *connect(&most.address()), "get a\r\n", "END\r\n");
}

#[test]
fn answers_go_out_by_the_calls_that_were_asked_for() {
    let shell = Shell::new();
    let refused = shell.run(["serve", "t", "--io", "select"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    for calls in ["epoll", "auto"] {
        let mut seat = Seat::serve(&shell, &["t", "--io", calls]);
        ask(&mut *connect(&seat.address()), "get a\r\n", "END\r\n");
    }
}
