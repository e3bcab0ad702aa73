//! `stats`.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use tavola_server::Address;

use super::script::{Client, Ours, Theirs};

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
fn settings_and_memory_are_reported() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
    let settings = figures(&mut client, "stats settings");
    assert_eq!(settings["item_size_max"], "1048576");
    assert_eq!(settings["evictions"], "off");
    assert_eq!(settings["maxconns"], "1024");
    assert_eq!(settings["inter"], "127.0.0.1");
    let Address::Tcp(address) = ours.server.addresses()[0] else {
        panic!("it listens on TCP");
    };
    assert_eq!(settings["tcpport"], address.port().to_string());
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

/// In their order.
fn names(client: &mut Client, request: &str) -> Vec<String> {
    let answer = client.ask_until_version(format!("{request}\r\nversion\r\n").as_bytes());
    let answer = String::from_utf8(answer).expect("text");
    let lines = answer.lines().filter_map(|line| line.strip_prefix("STAT "));
    let names = lines.map(|line| line.split(' ').next().unwrap_or(line));
    // Of classes and connections the numbers differ.
    let names = names.map(
        |name| match name.split_once(|symbol: char| symbol.is_ascii_digit()) {
            Some((topic, rest)) => {
                topic.to_owned() + rest.split_once(':').map_or("", |(_, name)| name)
            }
            None => name.to_owned(),
        },
    );
    names.collect()
}

/// What memcached reports if it has a disk or TLS.
fn is_of_a_part(name: &str) -> bool {
    let parts = [
        "ext_",
        "ssl_",
        "proxy_",
        "slab_automove_freeratio",
        "time_since_server_cert",
    ];
    parts.iter().any(|part| name.starts_with(part)) || name.contains("extstore")
}

/// The figures of the kinds of sockets, which come in the order of their numbers; of either server
/// there may be one more, on its way out.
fn kinds(names: &[String]) -> BTreeSet<&[String]> {
    let is_of_one = |_: &String, next: &String| next != "addr";
    names.chunk_by(is_of_one).collect()
}

#[test]
fn figures_have_the_names_and_the_order_of_memcached() {
    const ONLY_OF_OLD_ONES: [&str; 1] = ["slab_reassign_evictions_nomem"];
    let ours = Ours::start();
    let theirs = Theirs::start();
    for topic in ["", " settings", " items", " slabs", " conns"] {
        let request = format!("stats{topic}");
        let mut all = Vec::new();
        for address in [
            Some(ours.address),
            theirs.as_ref().map(|theirs| theirs.address),
        ] {
            let mut client = Client::connect(address.unwrap_or(ours.address));
            client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
            let mut names = names(&mut client, &request);
            names.retain(|name| !is_of_a_part(name));
            assert!(names.len() > 5, "{request}");
            all.push(names);
        }
        let [mine, other] = [&all[0], &all[1]];
        if theirs.as_ref().is_none_or(|theirs| theirs.patch() >= 40) {
            let is_same = match topic {
                " conns" => kinds(mine) == kinds(other),
                _ => mine == other,
            };
            assert!(is_same, "{request}: {mine:?} for {other:?}");
            continue;
        }
        let mine: BTreeSet<&str> = mine.iter().map(String::as_str).collect();
        for name in other {
            let is_known = mine.contains(&name[..]) || ONLY_OF_OLD_ONES.contains(&&name[..]);
            assert!(is_known, "{request}: {name}");
        }
    }
}

#[test]
fn connections_are_reported_by_their_numbers() {
    let start = Instant::now();
    let ours = Ours::start();
    let mut client = ours.connect();
    let mut other = ours.connect();
    other.expect(b"watch\r\n", b"OK\r\n");
    let figures = figures(&mut client, "stats conns");
    let server = format!("tcp:{}", ours.address);
    for (one, state) in [(&client, "conn_parse_cmd"), (&other, "conn_watch")] {
        let address = format!("tcp:{}", one.0.local_addr().expect("an address"));
        let found = figures.iter().find(|(_, value)| **value == address);
        let (number, _) = found.expect("a line").0.split_once(':').expect("a number");
        assert_eq!(figures[&format!("{number}:listen_addr")], server);
        assert_eq!(figures[&format!("{number}:state")], state);
        let idle_s: u64 = figures[&format!("{number}:secs_since_last_cmd")]
            .parse()
            .expect("a number");
        // 0, unless this took long.
        assert!(idle_s <= start.elapsed().as_secs(), "{idle_s}");
    }
    let listens = figures.values().filter(|value| *value == "conn_listening");
    assert_eq!(listens.count(), 1);
    assert_eq!(figures.len(), 3 + 2 * 4);
}

/// What one client has sent when another asks, and the state that is reported of it.
const STATES: [(&[u8], &str); 7] = [
    (b"", "conn_read"),
    (b"get a\r\nget ", "conn_read"),
    (b"set a 0 0 5\r\n", "conn_nread"),
    (b"get a\r\nms a 5\r\nhello\r", "conn_nread"),
    (b"set a 0 0 5\r\nhello\r\n", "conn_read"),
    (b"set a 0 0 2000000\r\nhello", "conn_swallow"),
    // A header of a binary set, with its extras and key.
    (
        b"\x80\x01\0\x01\x08\0\0\0\0\0\0\x0e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a",
        "conn_nread",
    ),
];

#[test]
fn a_connection_that_waits_for_a_value_says_so() {
    let ours = Ours::start();
    let theirs = Theirs::start().filter(|theirs| theirs.patch() >= 40);
    let addresses = [
        Some(ours.address),
        theirs.as_ref().map(|theirs| theirs.address),
    ];
    for address in addresses.into_iter().flatten() {
        let mut client = Client::connect(address);
        for (sent, state) in STATES {
            let mut other = Client::connect(address);
            other.send(sent);
            let mine = format!("tcp:{}", other.0.local_addr().expect("an address"));
            let mut found = String::new();
            // Until its thread has read what was sent.
            let is_reported = (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                let figures = figures(&mut client, "stats conns");
                let one = figures.iter().find(|(_, value)| **value == mine);
                let Some((number, _)) = one.and_then(|(name, _)| name.split_once(':')) else {
                    return false;
                };
                found.clone_from(&figures[&format!("{number}:state")]);
                found == state
            });
            assert!(is_reported, "{found} for {state}: {sent:?}");
        }
    }
}

#[test]
fn values_that_are_too_large_are_counted() {
    let ours = Ours::start();
    let mut client = ours.connect();
    let value = vec![b'x'; (1 << 20) + 1];
    let set = [b"set a 0 0 1048577\r\n", &value[..], b"\r\n"].concat();
    client.expect(&set, b"SERVER_ERROR object too large for cache\r\n");
    let stats = figures(&mut client, "stats");
    assert_eq!(stats["store_too_large"], "1");
    assert_eq!(stats["total_items"], "0");
}
