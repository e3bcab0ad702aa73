//! Pipelines, requests in pieces, large values, tables that are full.

use std::net::Shutdown;
use std::thread;

use tavola::Table;

use super::script::{Ours, text};

#[test]
fn a_pipeline_is_answered_in_order() {
    const KEYS: usize = 2000;
    let ours = Ours::start();
    let (mut sent, mut expected) = (Vec::new(), Vec::new());
    for number in 0..KEYS {
        let key = format!("key-{number}");
        sent.extend(format!("set {key} {number} 0 3\r\nabc\r\n").into_bytes());
        expected.extend(b"STORED\r\n");
    }
    for number in 0..KEYS {
        // Gets in a row are read together, a touch between them in its turn.
        let key = format!("key-{number}");
        sent.extend(format!("get {key} no-{number}\r\n").into_bytes());
        expected.extend(format!("VALUE {key} {number} 3\r\nabc\r\nEND\r\n").into_bytes());
        if number % 7 == 0 {
            sent.extend(format!("delete no-{number}\r\n").into_bytes());
            expected.extend(b"NOT_FOUND\r\n");
        }
    }
    let mut client = ours.connect();
    client.send(&sent);
    client.0.shutdown(Shutdown::Write).expect("shut down");
    assert!(client.rest() == expected);
}

/// Sets and meta gets that arrive together are kept for a moment, so that their memory is fetched
/// at once; gets, deletes and quiet requests between them have to find them done.
#[test]
fn a_pipeline_of_many_kinds_is_carried_out_in_its_order() {
    let ours = Ours::start();
    let (mut sent, mut expected) = (String::new(), String::new());
    for number in 0..1000 {
        let (key, other) = (format!("k{}", number % 7), format!("o{}", number % 50));
        let quiet = if number % 3 == 0 { " noreply" } else { "" };
        sent += &format!("set {key} 0 0 3{quiet}\r\n{:03}\r\n", number % 1000);
        if quiet.is_empty() {
            expected += "STORED\r\n";
        }
        sent += &format!("mg {key} v\r\nms {other} 4 q\r\nv{number:03}\r\nmg {other} k v\r\n");
        expected += &format!("VA 3\r\n{number:03}\r\nVA 4 k{other}\r\nv{number:03}\r\n");
        if number % 5 == 0 {
            sent += &format!("get {key} {other}\r\n");
            expected += &format!("VALUE {key} 0 3\r\n{number:03}\r\n");
            expected += &format!("VALUE {other} 0 4\r\nv{number:03}\r\nEND\r\n");
        }
        if number % 11 == 0 {
            sent += &format!("delete {key}\r\nmg {key} v\r\nmg {key} v q\r\nmg {other} s\r\n");
            expected += "DELETED\r\nEN\r\nHD s4\r\n";
        }
    }
    let mut client = ours.connect();
    client.send(sent.as_bytes());
    client.0.shutdown(Shutdown::Write).expect("shut down");
    assert_eq!(text(&client.rest()), text(expected.as_bytes()));
}

#[test]
fn requests_may_come_byte_by_byte() {
    let ours = Ours::start();
    let mut client = ours.connect();
    for byte in b"set a 1 0 2\r\nxy\r\nget a\r\nmg a v\r\nincr b 1\r\n" {
        client.send(&[*byte]);
    }
    let expected = b"STORED\r\nVALUE a 1 2\r\nxy\r\nEND\r\nVA 2\r\nxy\r\nNOT_FOUND\r\n";
    client.expect(b"", expected);
}

#[test]
fn large_values_come_back_whole_and_larger_ones_are_refused() {
    const LARGEST: usize = 1 << 20;
    let ours = Ours::start();
    let mut client = ours.connect();
    let value: Vec<u8> = (0..LARGEST).map(|at| (at % 251) as u8).collect();
    let set = |size: usize| format!("set a 0 0 {size}\r\n").into_bytes();
    client.expect(
        &[&set(LARGEST)[..], &value, b"\r\n"].concat(),
        b"STORED\r\n",
    );
    let head = format!("VALUE a 0 {LARGEST}\r\n");
    let expected = [head.as_bytes(), &value, b"\r\nEND\r\n"].concat();
    let found = client.ask(b"get a\r\n", expected.len());
    assert!(found == expected);

    client.expect(
        b"append a 0 0 1\r\nx\r\nmg a s\r\n",
        b"NOT_STORED\r\nHD s1048576\r\n",
    );
    let larger = [&set(LARGEST + 1)[..], &value, b"x\r\nget a\r\n"].concat();
    client.expect(
        &larger,
        b"SERVER_ERROR object too large for cache\r\nEND\r\n",
    );
}

#[test]
fn a_value_that_is_too_large_is_refused_when_all_of_it_has_come() {
    const SIZE: usize = 3 << 20;
    let refused = b"SERVER_ERROR object too large for cache\r\n";
    for line in ["set a 0 0", "ms a"] {
        let ours = Ours::start();
        let mut client = ours.connect();
        client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
        // What was asked before is answered at once.
        let head = format!("get a\r\n{line} {SIZE}\r\n");
        client.expect(head.as_bytes(), b"VALUE a 0 1\r\nx\r\nEND\r\n");
        // The old value goes at once, so that it does not outlive the new one.
        let mut other = ours.connect();
        while ours.table.get(b"a").expect("read").is_some() {
            other.expect(b"mn\r\n", b"MN\r\n");
        }
        // The data comes in pieces; nothing answers it, however long it takes.
        let mut left = SIZE + 2;
        while left > 0 {
            assert!(!client.has_answer(), "an answer with {left} bytes to come");
            let piece = left.min(50_000);
            client.send(&vec![b'x'; piece]);
            left -= piece;
            other.expect(b"mn\r\n", b"MN\r\n");
        }
        client.expect(b"", refused);
        client.expect(b"get a\r\n", b"END\r\n");
    }
}

/// The answer is hundreds of times as large as what may wait for the client.
#[test]
fn a_get_of_many_large_values_goes_out_in_parts() {
    const KEYS: usize = 800;
    const BYTES: usize = 100_000;
    let ours = Ours::start();
    ours.table.set(b"a", [b'x'; BYTES]).expect("set");
    let mut expected = Vec::new();
    for _ in 0..KEYS {
        expected.extend(format!("VALUE a 0 {BYTES}\r\n").into_bytes());
        expected.extend([b'x'; BYTES]);
        expected.extend(b"\r\n");
    }
    expected.extend(b"END\r\n");
    for verb in ["get", "gat 0"] {
        let line = format!("{verb}{}\r\n", " a".repeat(KEYS));
        let mut client = ours.connect();
        // Others are served meanwhile.
        client.send(line.as_bytes());
        ours.connect().expect(b"get b\r\n", b"END\r\n");
        let found = client.ask(b"", expected.len());
        assert!(found == expected, "{verb}");
        client.expect(b"get b\r\n", b"END\r\n");
    }
    let mut client = ours.connect();
    client.send(&b"mg a v\r\n".repeat(KEYS));
    let head = format!("VA {BYTES}\r\n").into_bytes();
    let each = [&head[..], &[b'x'; BYTES], b"\r\n"].concat();
    for _ in 0..KEYS {
        assert!(client.ask(b"", each.len()) == each, "meta");
    }
}

#[test]
fn a_full_table_is_reported_and_keeps_no_stale_value() {
    let table = Table::options().max_size(1 << 20).private();
    let ours = Ours::over(table.expect("a table"));
    let mut client = ours.connect();
    client.expect(b"set a 0 0 3\r\nold\r\n", b"STORED\r\n");
    let value = vec![b'x'; 1 << 20];
    let full = b"SERVER_ERROR out of memory storing object\r\n";
    let request = |verb: &str| [verb.as_bytes(), b" 0 0 1048576\r\n", &value, b"\r\n"].concat();
    client.expect(&request("add b"), full);
    client.expect(&request("replace a"), full);
    client.expect(b"get a\r\n", b"VALUE a 0 3\r\nold\r\nEND\r\n");
    client.expect(&request("set a"), full);
    client.expect(b"get a\r\n", b"END\r\n");
    client.expect(b"set a 0 0 3\r\nnew\r\n", b"STORED\r\n");
}

#[test]
fn an_error_of_the_table_is_a_sentence() {
    let table = Table::options().max_size(1 << 20).fixed(1, 3).private();
    let ours = Ours::over(table.expect("a table"));
    let mut client = ours.connect();
    client.send(b"set a 7 0 3\r\nabc\r\nset a 0 0 3\r\nabc\r\n");
    let answer = client.ask_until_version(b"get a\r\nversion\r\n");
    let answer = text(&answer);
    let (error, rest) = answer.split_once(r"\r\n").expect("a line");
    assert!(error.starts_with("SERVER_ERROR "), "{error}");
    assert_eq!(rest, r"STORED\r\nVALUE a 0 3\r\nabc\r\nEND\r\n");
}

#[test]
fn a_connection_that_breaks_off_leaves_the_others_alone() {
    let ours = Ours::start();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut client = ours.connect();
                    client.send(b"set a 0 0 100\r\nhalf");
                    drop(client);
                }
            });
        }
        let mut client = ours.connect();
        for _ in 0..200 {
            client.expect(b"get b\r\n", b"END\r\n");
        }
    });
}
