//! One table, many who use it.

use std::thread;

use tavola::{Attributes, Expiry, Table};

use super::script::Ours;

#[test]
fn no_count_is_lost() {
    const CLIENTS: usize = 8;
    const ROUNDS: usize = 500;
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"set n 0 0 1\r\n0\r\n", b"STORED\r\n");
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = ours.connect();
                for _ in 0..ROUNDS / 10 {
                    client.send(&b"incr n 1 noreply\r\n".repeat(10));
                }
                client.ask_until_version(b"version\r\n");
            });
        }
    });
    client.expect(b"get n\r\n", b"VALUE n 0 4\r\n4000\r\nEND\r\n");
}

#[test]
fn clients_and_processes_see_the_same_keys() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t");
    let ours = Ours::over(Table::open(&path).expect("made"));
    let other = Table::open(&path).expect("opened");
    let mut client = ours.connect();

    client.expect(b"set a 7 0 5\r\nhello\r\n", b"STORED\r\n");
    let entry = other.get_entry(b"a").expect("read").expect("there");
    assert_eq!(entry.value, b"hello");
    assert_eq!(entry.attributes.flags, 7);
    assert_eq!(entry.attributes.expiry, Expiry::Never);
    client.expect(b"touch a 100\r\n", b"TOUCHED\r\n");
    let expiry = other.ttl(b"a").expect("read").expect("there");
    assert!(matches!(expiry, Expiry::After(left) if left.as_secs() >= 90));

    let attributes = Attributes::default().with_flags(9);
    other.set_with(b"b", b"41", attributes).expect("set");
    client.expect(b"incr b 1\r\n", b"42\r\n");
    assert_eq!(other.incr(b"b", 1).expect("counted"), 43);
    client.expect(b"get b\r\n", b"VALUE b 9 2\r\n43\r\nEND\r\n");
    // A number that became shorter is filled up with spaces, and counted on anyway.
    client.expect(b"set b 0 0 2\r\n10\r\ndecr b 1\r\n", b"STORED\r\n9\r\n");
    client.expect(b"get b\r\n", b"VALUE b 0 2\r\n9 \r\nEND\r\n");
    assert_eq!(other.incr(b"b", 1).expect("counted"), 10);
    client.expect(b"delete a\r\n", b"DELETED\r\n");
    assert_eq!(other.get(b"a").expect("read"), None);
    assert_eq!(ours.table.len().expect("read"), 1);
}

#[test]
fn one_of_many_wins_by_a_unique_number() {
    const CLIENTS: usize = 6;
    const WINS: usize = 30;
    let ours = Ours::start();
    ours.connect()
        .expect(b"set n 0 0 1\r\n0\r\n", b"STORED\r\n");
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = ours.connect();
                let mut wins = 0;
                while wins < WINS {
                    let answer = client.ask_until_version(b"gets n\r\nversion\r\n");
                    let answer = String::from_utf8(answer).expect("text");
                    let words: Vec<&str> = answer.split_whitespace().collect();
                    let number: usize = words[5].parse().expect("a number");
                    let next = (number + 1).to_string();
                    let size = next.len();
                    let cas = words[4];
                    let line = format!("cas n 0 0 {size} {cas}\r\n{next}\r\nversion\r\n");
                    let answer = client.ask_until_version(line.as_bytes());
                    wins += usize::from(answer == b"STORED\r\n");
                }
            });
        }
    });
    let last = ours.table.get(b"n").expect("read");
    assert_eq!(last.as_deref(), Some(&b"180"[..]));
}

#[test]
fn concurrent_writers_of_the_same_keys_leave_whole_values() {
    const CLIENTS: usize = 6;
    const ROUNDS: usize = 300;
    let ours = Ours::start();
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let ours = &ours;
            scope.spawn(move || {
                let mut client = ours.connect();
                let value = [b'a' + number as u8].repeat(100 * (number + 1));
                for round in 0..ROUNDS {
                    let key = round % 5;
                    let head = format!("set k{key} {number} 0 {}\r\n", value.len());
                    let line = [head.as_bytes(), &value, b"\r\n"].concat();
                    client.expect(&line, b"STORED\r\n");
                    let line = format!("get k{key}\r\nversion\r\n");
                    let answer = client.ask_until_version(line.as_bytes());
                    let answer = String::from_utf8(answer).expect("text");
                    let words: Vec<&str> = answer.split_whitespace().collect();
                    let writer: usize = words[2].parse().expect("the flags");
                    assert_eq!(words[4].len(), 100 * (writer + 1));
                    let letter = char::from(b'a' + writer as u8);
                    assert!(words[4].chars().all(|found| found == letter));
                }
            });
        }
    });
    assert_eq!(ours.table.len().expect("read"), 5);
}
