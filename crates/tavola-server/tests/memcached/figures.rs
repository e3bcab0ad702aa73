//! `stats`.

use std::collections::HashMap;

use super::script::{Client, Ours};

/// Names and values.
fn figures(client: &mut Client, request: &str) -> HashMap<String, String> {
    let answer = client.ask_until_version(format!("{request}\r\nversion\r\n").as_bytes());
    let answer = String::from_utf8(answer).expect("text");
    let lines = answer.strip_suffix("END\r\n").expect("an end");
    let figure = |line: &str| {
        let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let lines = lines.lines();
    lines.map(|line| figure(line).expect("a figure")).collect()
}

#[test]
fn commands_are_counted_until_a_reset() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.ask_until_version(
        b"set a 0 0 1\r\n1\r\nget a b\r\ngets a\r\nincr a 1\r\nincr b 1\r\ndecr a 1\r\n\
          cas a 0 0 1 1\r\nx\r\ncas b 0 0 1 1\r\nx\r\ntouch a 0\r\ntouch b 0\r\n\
          delete b\r\ndelete a\r\nmn\r\nset c 0 0 1\r\nx\r\nversion\r\n",
    );
    let stats = figures(&mut client, "stats");
    for (name, value) in [
        ("cmd_get", "3"),
        ("get_hits", "2"),
        ("get_misses", "1"),
        ("cmd_set", "4"),
        ("cmd_touch", "2"),
        ("cmd_meta", "1"),
        ("cmd_flush", "0"),
        ("incr_hits", "1"),
        ("incr_misses", "1"),
        ("decr_hits", "1"),
        ("cas_badval", "1"),
        ("cas_misses", "1"),
        ("touch_hits", "1"),
        ("touch_misses", "1"),
        ("delete_hits", "1"),
        ("delete_misses", "1"),
        ("curr_connections", "1"),
        ("total_connections", "1"),
        ("threads", "2"),
        ("curr_items", "1"),
        ("bytes", "2"),
        ("evictions", "0"),
        ("limit_maxbytes", "268435456"),
    ] {
        assert_eq!(stats.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(stats["pid"], std::process::id().to_string());
    assert!(stats["bytes_read"].parse::<u64>().expect("a number") > 100);

    client.expect(b"stats reset\r\n", b"RESET\r\n");
    let stats = figures(&mut client, "stats");
    assert_eq!(stats["cmd_get"], "0");
    assert_eq!(stats["curr_items"], "1");
}

#[test]
fn settings_and_memory_are_told() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
    let settings = figures(&mut client, "stats settings");
    assert_eq!(settings["item_size_max"], "1048576");
    assert_eq!(settings["evictions"], "off");
    let items = figures(&mut client, "stats items");
    assert!(items.values().any(|number| number == "1"));
    let slabs = figures(&mut client, "stats slabs");
    let used = slabs
        .iter()
        .filter(|(name, _)| name.ends_with("used_chunks"));
    let used: u64 = used
        .map(|(_, used)| used.parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(used, 1);
    client.expect(b"stats nonsense\r\n", b"ERROR\r\n");
}
