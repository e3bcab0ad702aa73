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
    client.expect(b"delete a\r\n", b"DELETED\r\n");
    assert_eq!(other.get(b"a").expect("read"), None);
    assert_eq!(ours.table.len().expect("read"), 1);
}
