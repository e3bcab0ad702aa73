//! A client that has not authenticated gets nothing.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::seat::{Line, Seat, ask, closed, connect, figures};
use crate::shell::{Shell, wait_until};

const UNKNOWN: &str = "CLIENT_ERROR unauthenticated\r\n";
const WRONG: &str = "CLIENT_ERROR authentication failure\r\n";

/// A binary request with no extras.
fn binary(opcode: u8, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = vec![0x80, opcode, 0, key.len() as u8, 0, 0, 0, 0];
    out.extend([0, 0, 0, (key.len() + value.len()) as u8]);
    out.extend([0; 12]);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
    out
}

/// The status of the answer to a binary request, and its text.
fn status(line: &mut dyn Line, request: &[u8]) -> (u16, String) {
    line.write_all(request).expect("it reads");
    let mut head = [0; 24];
    line.read_exact(&mut head).expect("an answer");
    let mut body = vec![0; head[11].into()];
    line.read_exact(&mut body).expect("all of it");
    let status = u16::from_be_bytes([head[6], head[7]]);
    (status, String::from_utf8(body).expect("text"))
}

fn secret(shell: &Shell) -> String {
    let file = shell.file("users", "ann:secret\nbob:two words:x\n");
    file.to_str().unwrap().to_string()
}

#[test]
fn a_client_of_the_text_protocol_authenticates_first() {
    let shell = Shell::new();
    let users = secret(&shell);
    let mut seat = Seat::serve(&shell, &["t", "--users", &users]);
    let address = seat.address();
    let mut line = connect(&address);
    for request in ["get a\r\n", "version\r\n", "mg a v\r\n", "flush_all\r\n"] {
        ask(&mut *line, request, UNKNOWN);
    }
    ask(&mut *line, "set x 0 0 9\r\nann wrong\r\n", WRONG);
    ask(&mut *line, "set x 0 0 10\r\nann secrex\r\n", WRONG);
    ask(&mut *line, "get a\r\n", UNKNOWN);
    ask(&mut *line, "set x 0 0 10\r\nann secret\r\n", "STORED\r\n");
    ask(
        &mut *line,
        "set a 0 0 1\r\n1\r\nget a\r\n",
        "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n",
    );
    // The name and password were no key.
    ask(&mut *line, "get x\r\n", "END\r\n");
    let stats = figures(&mut *line, "stats");
    assert_eq!([&stats["auth_cmds"], &stats["auth_errors"]], ["3", "2"]);
    assert_eq!(stats["auth_closed"], "0");
    let mut line = connect(&address);
    ask(
        &mut *line,
        "set x 0 0 15\r\nbob two words:x\r\nget a\r\n",
        "STORED\r\nVALUE a",
    );
}

#[test]
fn a_client_of_the_binary_protocol_authenticates_by_sasl() {
    let shell = Shell::new();
    let users = secret(&shell);
    let mut seat = Seat::serve(&shell, &["t", "--users", &users]);
    let address = seat.address();
    let mut line = connect(&address);
    let get = binary(0x00, b"a", b"");
    let is_refused = |line: &mut dyn Line| status(line, &get).0 == 0x20;
    let list = status(&mut *line, &binary(0x20, b"", b""));
    assert_eq!(list, (0, "PLAIN".to_string()));
    for wrong in [&b"\0ann\0wrong"[..], b"\0ann", b"", b"\0dan\0secret"] {
        let mut line = connect(&address);
        assert_eq!(status(&mut *line, &binary(0x21, b"PLAIN", wrong)).0, 0x20);
    }
    let right = b"\0ann\0secret";
    assert_eq!(
        status(&mut *line, &binary(0x21, b"CRAM-MD5", right)).0,
        0x20
    );
    assert_eq!(status(&mut *line, &binary(0x22, b"PLAIN", right)).0, 0x20);
    assert!(is_refused(&mut *line));
    let mut line = connect(&address);
    assert_eq!(status(&mut *line, &binary(0x21, b"PLAIN", right)).0, 0);
    assert_eq!(status(&mut *line, &get).0, 1, "a miss");
    // A client that then gives a wrong password is unknown again.
    assert_eq!(
        status(&mut *line, &binary(0x21, b"PLAIN", b"\0ann\0x")).0,
        0x20
    );
    let mut line = connect(&address);
    assert!(is_refused(&mut *line));
}

/// The third wrong password is answered late, and ends the connection.
#[test]
fn guesses_take_time_and_end_the_connection() {
    let shell = Shell::new();
    let users = secret(&shell);
    let said = shell.path().join(".said");
    let pid = shell.path().join(".pid");
    let mut command = shell.command(["serve", "t", "--users", &users]);
    command
        .args(["--listen", "127.0.0.1:0", "--pid-file"])
        .arg(&pid);
    command.stderr(std::fs::File::create(&said).expect("a file"));
    let mut seat = Seat::start(command, pid);
    let address = seat.address();
    let guess = "set x 0 0 9\r\nann wrong\r\n";
    let mut line = connect(&address);
    ask(&mut *line, guess, WRONG);
    ask(&mut *line, guess, WRONG);
    let start = Instant::now();
    // What follows in the same packet is thrown away.
    ask(&mut *line, format!("{guess}{guess}version\r\n"), WRONG);
    assert!(start.elapsed() >= Duration::from_millis(900));
    closed(line);
    let plain = binary(0x21, b"PLAIN", b"\0ann\0wrong");
    let mut line = connect(&address);
    for _ in 0..2 {
        assert_eq!(status(&mut *line, &plain).0, 0x20);
    }
    let start = Instant::now();
    assert_eq!(status(&mut *line, &plain).0, 0x20);
    assert!(start.elapsed() >= Duration::from_millis(900));
    closed(line);
    let mut line = connect(&address);
    ask(&mut *line, "set x 0 0 10\r\nann secret\r\n", "STORED\r\n");
    let stats = figures(&mut *line, "stats");
    assert_eq!([&stats["auth_errors"], &stats["auth_closed"]], ["6", "2"]);
    let said = std::fs::read_to_string(said).expect("text");
    assert!(said.contains("from 127.0.0.1:"), "{said}");
    assert!(said.contains("several wrong passwords"), "{said}");
}

#[test]
fn users_are_read_again_on_request() {
    let shell = Shell::new();
    let users = secret(&shell);
    let mut seat = Seat::serve(&shell, &["t", "--users", &users]);
    let address = seat.address();
    let known = |user: &str| {
        let mut line = connect(&address);
        let set = format!("set x 0 0 {}\r\n{user}\r\n", user.len());
        line.write_all(set.as_bytes()).expect("it reads");
        let mut first = [0; 1];
        line.read_exact(&mut first).expect("an answer");
        first == *b"S"
    };
    assert!(known("ann secret") && !known("cat new"));
    shell.file("users", "cat:new\n");
    seat.signal(Signal::HUP);
    wait_until(|| known("cat new"));
    assert!(!known("ann secret"));
}
