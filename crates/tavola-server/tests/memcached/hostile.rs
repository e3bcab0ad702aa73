//! Clients that mean harm to a table's server, and one beside them that does not.

use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::script::{Client, Ours, PATIENCE, text};

/// Another client is served, and the table is as it was.
fn is_well(ours: &Ours) {
    let mut client = ours.connect();
    client.expect(b"set well 0 0 1\r\nx\r\n", b"STORED\r\n");
    client.expect(b"get well\r\n", b"VALUE well 0 1\r\nx\r\nEND\r\n");
    client.expect(b"delete well\r\n", b"DELETED\r\n");
    assert_eq!(ours.table.len().expect("read"), 0);
}

#[test]
fn lengths_that_are_announced_take_no_memory_and_no_value_takes_too_much() {
    let ours = Ours::start();
    for (line, answer) in [
        (
            "set a 0 0 2147483645",
            "SERVER_ERROR object too large for cache",
        ),
        (
            "set a 0 0 2147483646",
            "CLIENT_ERROR bad command line format",
        ),
        (
            "set a 0 0 99999999999999999999",
            "CLIENT_ERROR bad command line format",
        ),
        ("set a 0 0 -1", "CLIENT_ERROR bad command line format"),
        ("ms a 2147483645", "SERVER_ERROR object too large for cache"),
        ("ms a 4294967296", "CLIENT_ERROR bad command line format"),
    ] {
        let mut client = ours.connect();
        let answer = format!("{answer}\r\n");
        client.expect(format!("{line}\r\n").as_bytes(), answer.as_bytes());
        // Whatever comes then belongs to the value, or is a request of its own, whose end is not
        // waited for: the connection may be closed before all is sent.
        let _ = client.try_send(&vec![b'x'; 100_000]);
        let _ = client.0.shutdown(Shutdown::Write);
        is_well(&ours);
    }
    assert!(ours.server.counters().memory_closed == 0);
}

#[test]
fn lines_without_an_end_end_their_connection() {
    let ours = Ours::start();
    let too_long = "CLIENT_ERROR line too long\r\n";
    for (line, most, answer) in [
        (&b"a"[..], 70_000, ""),
        (b"get ", 1_200_000, too_long),
        (b"gats 0 ", 1_200_000, too_long),
        (b"mg ", 70_000, ""),
    ] {
        let mut client = ours.connect();
        client.send(line);
        // Fails when the connection is closed.
        for _ in 0..most / 1000 {
            let _ = client.try_send(&[b'k'; 2000]);
        }
        assert_eq!(text(&client.rest_if_open()), text(answer.as_bytes()));
        is_well(&ours);
    }
}

#[test]
fn binary_headers_that_make_no_sense_end_their_connection_or_are_answered() {
    let ours = Ours::start();
    let header = |opcode: u8, key: u16, extras: u8, body: u32| {
        let mut header = vec![0x80, opcode];
        header.extend_from_slice(&key.to_be_bytes());
        header.extend_from_slice(&[extras, 0, 0, 0]);
        header.extend_from_slice(&body.to_be_bytes());
        header.extend_from_slice(&[0; 12]);
        header
    };
    for bytes in [
        header(0x01, 1, 8, u32::MAX),
        header(0x01, u16::MAX, 8, 70_000),
        header(0x01, 10, 8, 5),
        header(0x00, 0, 0, 0),
        header(0x00, 1, 255, 256),
        header(0xff, 0, 0, u32::MAX),
        header(0x21, 300, 0, 1 << 30),
        header(0x05, 1, 20, 20),
        vec![0x80; 24],
        vec![0x81; 24],
        [header(0x0a, 0, 0, 0), vec![0x7f; 100]].concat(),
        (0..=255).cycle().skip(128).take(5000).collect(),
    ] {
        let mut client = ours.connect();
        let _ = client.try_send(&bytes);
        let _ = client.0.shutdown(Shutdown::Write);
        let answers = client.rest_if_open();
        let whole = answers
            .chunks(24)
            .next()
            .is_none_or(|first| first[0] == 0x81);
        assert!(whole && answers.len() < 4096, "{}", text(&answers));
        is_well(&ours);
    }
}

#[test]
fn slow_clients_are_many_and_others_do_not_feel_it() {
    const CLIENTS: usize = 200;
    let ours = Ours::start();
    let mut slow: Vec<Client> = (0..CLIENTS).map(|_| ours.connect()).collect();
    let mut other = ours.connect();
    let request = b"set a 0 0 1000000\r\nxxxxxxxxxxxxxxxxxxxx";
    for byte in request {
        for client in &mut slow {
            client.send(&[*byte]);
        }
        other.expect(b"get b\r\n", b"END\r\n");
    }
    assert_eq!(
        ours.server.counters().current_connections,
        CLIENTS as u64 + 1
    );
    // Half of them hang up in the middle, and nothing of it is stored.
    slow.truncate(CLIENTS / 2);
    other.expect(b"get a\r\n", b"END\r\n");
    for client in &mut slow {
        client.0.shutdown(Shutdown::Both).expect("shut down");
    }
    is_well(&ours);
}

#[test]
fn a_client_that_closes_one_side_gets_the_answers_to_whole_requests() {
    let ours = Ours::start();
    for (sent, answered) in [
        (&b"get a\r\nget b"[..], &b"END\r\n"[..]),
        (b"set a 0 0 5\r\nhal", b""),
        (b"ms a 5\r\nhello\r\nmd a\r\nmn", b"HD\r\nHD\r\n"),
        (b"\x80", b""),
        (b"", b""),
    ] {
        let mut client = ours.connect();
        client.send(sent);
        client.0.shutdown(Shutdown::Write).expect("half closed");
        assert_eq!(text(&client.rest()), text(answered), "{}", text(sent));
    }
    is_well(&ours);
}

#[test]
fn a_client_that_never_reads_gets_a_bounded_part() {
    const BYTES: usize = 500_000;
    let ours = Ours::start();
    ours.table.set(b"large", vec![b'x'; BYTES]).expect("set");
    let mut deaf = ours.connect();
    let patience = Some(Duration::from_millis(300));
    deaf.0.set_write_timeout(patience).expect("set");
    // Answers are hundreds of times as long, so that requests are not read for long.
    let requests = b"get large large large large large large large\r\n".repeat(1000);
    let mut sent = 0;
    // One on each of the two threads, one of which is that of the deaf one.
    let mut others = [ours.connect(), ours.connect()];
    let mut can_continue = || {
        let before = ours.server.counters();
        for _ in 0..100 {
            for other in &mut others {
                other.expect(b"get none\r\n", b"END\r\n");
            }
        }
        let after = ours.server.counters();
        // Of each thread the last answer may not be counted yet, and the one before may be.
        let written = after.bytes_written - before.bytes_written;
        after.bytes_read != before.bytes_read + 2000 || !(990..=1010).contains(&written)
    };
    // A server that stood still for a while has not stopped to read.
    let start = Instant::now();
    loop {
        match deaf.0.write(&requests[sent % requests.len()..]) {
            Ok(size) => sent += size,
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut));
                if !can_continue() {
                    break;
                }
            }
        }
        let is_bounded = sent < 256 << 20 && start.elapsed() < 3 * PATIENCE;
        assert!(is_bounded, "read without end");
    }
    // What went to the deaf one is in its sockets, and nothing more does.
    let written = ours.server.counters().bytes_written;
    assert!(written < 64 << 20, "{written} bytes were written");
    drop((deaf, others));
    ours.table.remove(b"large").expect("removed");
    is_well(&ours);
}
