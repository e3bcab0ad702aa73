//! A server whose table starts warm: `--snapshot`, and `-e` of memcached.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use super::flags::{command, memcached_seat};
use super::seat::{Line, Seat, ask, closed, connect, figures};
use crate::shell::{Shell, wait_until};

const FILE: &str = ".saved";

/// Removes the memory of a table, as a restart of the machine does.
fn lose(shell: &Shell, table: &str) {
    fs::remove_file(shell.path().join(table)).expect("it is there");
}

fn file(shell: &Shell) -> PathBuf {
    shell.path().join(FILE)
}

fn end(mut seat: Seat, line: Box<dyn Line>, signal: Signal) {
    seat.signal(signal);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
}

/// Returns the unique number of a key.
fn cas(line: &mut dyn Line, key: &str, before: &str, after: &str) -> u64 {
    let request = format!("gets {key}\r\n");
    line.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    while !text.ends_with("END\r\n") {
        let mut byte = [0];
        line.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    let rest = text
        .strip_prefix(before)
        .unwrap_or_else(|| panic!("{text}"));
    let digits = rest.strip_suffix(after).unwrap_or_else(|| panic!("{text}"));
    digits.trim().parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn items_survive_the_loss_of_memory_with_flags_ttl_and_unique_numbers() {
    let shell = Shell::new();
    let path = file(&shell);
    let flags = ["-e", path.to_str().unwrap()];
    let (seat, address) = memcached_seat(&shell, &flags);
    let mut line = connect(&address);
    ask(&mut *line, "set a 7 3600 2\r\nav\r\n", "STORED\r\n");
    ask(&mut *line, "set b 0 0 1\r\n1\r\n", "STORED\r\n");
    ask(&mut *line, "incr b 41\r\n", "42\r\n");
    ask(
        &mut *line,
        "set gone 0 0 1\r\n1\r\ndelete gone\r\n",
        "STORED\r\nDELETED\r\n",
    );
    let settings = figures(&mut *line, "stats settings");
    assert_eq!(settings["memory_file"], path.to_str().unwrap());
    let a = cas(&mut *line, "a", "VALUE a 7 2 ", "\r\nav\r\nEND\r\n");
    end(seat, line, Signal::TERM);
    lose(&shell, "m");
    let (mut seat, address) = memcached_seat(&shell, &flags);
    let mut line = connect(&address);
    assert_eq!(cas(&mut *line, "a", "VALUE a 7 2 ", "\r\nav\r\nEND\r\n"), a);
    ask(&mut *line, "incr b 1\r\n", "43\r\n");
    ask(&mut *line, "get gone\r\n", "END\r\n");
    let left = shell.run(["ttl", "m", "a"]).text();
    let left: f64 = left.trim().trim_end_matches('s').parse().expect(&left);
    assert!((3000.0..=3600.0).contains(&left), "{left}");
    // No later item has a number that one had before.
    ask(&mut *line, "set c 0 0 1\r\n1\r\n", "STORED\r\n");
    assert!(cas(&mut *line, "c", "VALUE c 0 1 ", "\r\n1\r\nEND\r\n") > a + 1000);
    ask(
        &mut *line,
        format!("cas a 0 0 1 {a}\r\n2\r\n"),
        "STORED\r\n",
    );
    ask(
        &mut *line,
        format!("cas a 0 0 1 {a}\r\n3\r\n"),
        "EXISTS\r\n",
    );
    seat.signal(Signal::KILL);
    assert_eq!(seat.ended(), None);
}

#[test]
fn the_table_that_is_still_there_is_not_restored() {
    let shell = Shell::new();
    let path = file(&shell);
    let args = [
        "t",
        "--capacity",
        "8M",
        "--snapshot",
        path.to_str().unwrap(),
    ];
    let mut seat = Seat::serve(&shell, &args);
    let mut line = connect(&seat.address());
    ask(
        &mut *line,
        "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n1\r\n",
        "STORED\r\nSTORED\r\n",
    );
    end(seat, line, Signal::INT);
    shell.run(["del", "t", "a"]).ok();
    let mut seat = Seat::serve(&shell, &args);
    let mut line = connect(&seat.address());
    ask(
        &mut *line,
        "get a\r\nget b\r\n",
        "END\r\nVALUE b 0 1\r\n1\r\nEND\r\n",
    );
    seat.signal(Signal::KILL);
    assert_eq!(seat.ended(), None);
    // A table of that name that others have made meanwhile keeps its keys and gets the rest.
    lose(&shell, "t");
    shell.run(["set", "t", "b", "newer"]).ok();
    let mut seat = Seat::serve(&shell, &args);
    let mut line = connect(&seat.address());
    ask(
        &mut *line,
        "get a\r\nget b\r\n",
        "VALUE a 0 1\r\n1\r\nEND\r\nVALUE b 0 5\r\nnewer\r\nEND\r\n",
    );
    // It is saved at once: what is removed now does not come back.
    wait_until(|| figures(&mut *line, "stats")["tavola_save_items"] == "2");
    ask(&mut *line, "delete a\r\n", "DELETED\r\n");
    seat.signal(Signal::KILL);
    assert_eq!(seat.ended(), None);
    let mut seat = Seat::serve(&shell, &args);
    ask(&mut *connect(&seat.address()), "get a\r\n", "END\r\n");
}

#[test]
fn it_is_saved_now_and_then_and_by_a_server_that_another_succeeds() {
    let shell = Shell::new();
    let path = file(&shell);
    let args = ["t", "--snapshot", path.to_str().unwrap(), "--every", "1s"];
    let mut seat = Seat::serve(&shell, &args);
    let mut line = connect(&seat.address());
    let none = figures(&mut *line, "stats");
    assert_eq!(
        (&*none["tavola_save_time"], &*none["tavola_save_failures"]),
        ("0", "0")
    );
    ask(&mut *line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    wait_until(|| {
        let now = figures(&mut *line, "stats");
        now["tavola_save_items"] == "1" && now["tavola_save_time"] != "0"
    });
    let report = shell
        .run(["journal", path.to_str().unwrap(), "--json"])
        .json();
    assert_eq!(report["keys"], 1);
    // A file that cannot be written is counted, and tried again.
    fs::create_dir(shell.path().join(".saved.new")).expect("a directory");
    wait_until(|| figures(&mut *line, "stats")["tavola_save_failures"] != "0");
    fs::remove_dir(shell.path().join(".saved.new")).expect("a directory");
    let first = seat.number();
    fs::remove_file(&path).expect("it is there");
    seat.signal(Signal::USR1);
    wait_until(|| seat.number() != first);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
    wait_until(|| path.exists());
    seat.signal(Signal::TERM);
    wait_until(|| seat.number().is_none());
}

#[test]
fn a_damaged_file_is_set_aside() {
    let shell = Shell::new();
    let path = shell.file(
        "saved",
        "nothing that was saved, and longer than a head of 64 bytes is",
    );
    for number in ["", "-2"] {
        let (seat, address) = memcached_seat(&shell, &["-e", path.to_str().unwrap()]);
        let mut line = connect(&address);
        ask(&mut *line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
        end(seat, line, Signal::TERM);
        let aside = shell.path().join(format!(".saved.damaged{number}"));
        assert!(
            fs::read(&aside)
                .expect("it is there")
                .starts_with(b"nothing")
        );
        let report = shell
            .run(["journal", path.to_str().unwrap(), "--json"])
            .json();
        assert_eq!(report["keys"], 1);
        shell.file("saved", fs::read(&aside).expect("it is there"));
        lose(&shell, "m");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let shell = Shell::new();
    let home = shell.path().join(".home");
    let home = home.to_str().unwrap();
    // It warns that this directory is in memory.
    assert_eq!(shell.run(["create", "--durable", home]).code, 0);
    let durable = shell.run(["serve", home, "--listen", "127.0.0.1:0", "--snapshot", "f"]);
    let error = durable.error();
    assert!(error.contains("durable"), "{error}");
    for wrong in [&["--every", "5m"][..], &["--snapshot", "f", "--every", "0"]] {
        let ran = shell.run([&["serve", "t"][..], wrong].concat());
        assert_eq!(ran.code, 2);
    }
    let output = command(&shell, &["--every", "5m"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(shell.run(["drop", home]).code, 0);
}
