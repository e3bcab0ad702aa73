//! Large requests and answers.

use std::io::Write;

use crate::lines::{ask, connect, eventually, exactly, line, options, start, to_the_end};

#[test]
fn a_value_of_many_megabytes_is_collected_first() {
    let server = start(options());
    let mut client = connect(&server);
    let size = 48 << 20;
    let value: Vec<u8> = (0..size).map(|place| (place % 251) as u8).collect();
    let sum: usize = value.iter().map(|&byte| usize::from(byte)).sum();
    client
        .write_all(format!("value {size}\n").as_bytes())
        .expect("sent");
    client.write_all(&value).expect("sent");
    assert_eq!(ask(&mut client, ""), format!("{size} {sum}"));
    // When the line came, perhaps with some of the value; when all was there; and for this line.
    let calls: usize = ask(&mut client, "calls").parse().expect("a number");
    assert!(calls <= 4, "{calls} calls");
}

#[test]
fn large_answers_come_whole() {
    let server = start(options());
    let mut client = connect(&server);
    client
        .write_all(b"big 30000000\nsmall\nbig 5000000\nend\n")
        .expect("sent");
    assert!(
        exactly(&mut client, 30_000_000)
            .iter()
            .all(|&byte| byte == b'b')
    );
    assert_eq!(line(&mut client), "");
    assert_eq!(line(&mut client), "small");
    assert!(
        exactly(&mut client, 5_000_000)
            .iter()
            .all(|&byte| byte == b'b')
    );
    assert_eq!(line(&mut client), "");
    assert_eq!(line(&mut client), "end");
}

#[test]
fn what_is_written_without_new_input_comes_whole() {
    let server = start(options().output_bound(10_000));
    let mut client = connect(&server);
    client.write_all(b"stream 200000\nafter\n").expect("sent");
    let mut expected: String = (0..200_000)
        .rev()
        .map(|number| format!("{number}\n"))
        .collect();
    expected += "after\n";
    assert!(exactly(&mut client, expected.len()) == expected.as_bytes());
}

#[test]
fn a_line_without_an_end_ends_the_connection() {
    let server = start(options());
    let mut client = connect(&server);
    // Fails when the connection is closed.
    let _ = client.write_all(&vec![b'a'; 1 << 20]);
    eventually("closed", || server.counters().overlong_closed == 1);
    assert!(server.counters().bytes_read <= 2 * 64 * 1024);
}

#[test]
fn a_value_above_the_bound_ends_the_connection() {
    let server = start(options().input_bound(100_000));
    let mut client = connect(&server);
    client.write_all(b"value 90000\n").expect("sent");
    client.write_all(&vec![1; 90_000]).expect("sent");
    assert_eq!(ask(&mut client, ""), "90000 90000");
    client.write_all(b"value 100000\n").expect("sent");
    assert_eq!(to_the_end(&mut client), b"");
    assert_eq!(server.counters().overlong_closed, 1);
}
