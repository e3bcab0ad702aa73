//! Dumps of the keys: whole, in parts as their clients read, a few at a time.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::net::Shutdown;

use tavola::{Attributes, Expiry};

use super::script::{Client, Ours, Theirs, text};

const KEYS: usize = 3000;

/// Keys of many sizes, some of which no line can have.
fn fill(ours: &Ours) -> BTreeSet<Vec<u8>> {
    let key = |number: usize| {
        let mut key = format!("key-{number}-{}", "x".repeat(number % 150)).into_bytes();
        if number.is_multiple_of(10) {
            key.extend_from_slice(b" \xff\n");
        }
        key
    };
    let keys: BTreeSet<_> = (0..KEYS).map(key).collect();
    for (number, key) in keys.iter().enumerate() {
        let value = vec![b'v'; number * 7 % 2000];
        ours.table.set(key, &value).expect("set");
    }
    keys
}

/// What a request is answered, up to a line that is the end.
fn until(client: &mut Client, request: &str, end: &str) -> Vec<String> {
    client.send(format!("{request}\r\n").as_bytes());
    rest(client, end)
}

fn rest(client: &mut Client, end: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut reader = BufReader::new(&client.0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        assert!(!line.is_empty(), "the connection ended after {lines:?}");
        let line = line.trim_end_matches(['\r', '\n']).to_owned();
        if line == end {
            return lines;
        }
        lines.push(line);
    }
}

fn decoded(key: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = key.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = str::from_utf8(&rest[..2]).expect("digits");
            bytes.push(u8::from_str_radix(digits, 16).expect("digits"));
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    bytes
}

#[test]
fn a_dump_lists_each_key() {
    let ours = Ours::start();
    let keys = fill(&ours);
    let mut client = ours.connect();
    for classes in ["all", "hash"] {
        let request = format!("lru_crawler metadump {classes}");
        let lines = until(&mut client, &request, "END");
        assert_eq!(lines[0], "OK");
        let key = |line: &String| {
            let (key, _) = line.strip_prefix("key=")?.split_once(' ')?;
            Some(decoded(key))
        };
        let listed: BTreeSet<_> = lines[1..]
            .iter()
            .map(|line| key(line).expect("a key"))
            .collect();
        assert!(listed == keys && lines.len() == KEYS + 1);
    }
    client.expect(b"get none\r\n", b"END\r\n");
}

#[test]
fn a_line_has_the_attributes_of_a_key() {
    let ours = Ours::start();
    let attributes = Attributes::default().with_flags(7);
    ours.table
        .set_with(b"a b", b"12345", attributes)
        .expect("set");
    let mut client = ours.connect();
    let lines = until(&mut client, "lru_crawler metadump all", "END");
    let words: Vec<&str> = lines[1].split(' ').collect();
    let named = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    assert_eq!(words[..3], ["key=a%20b", "exp=-1", "la=0"]);
    assert_eq!(named("fetch="), Some("no"));
    assert_eq!(named("size="), Some("8"));
    assert_eq!(named("flags="), Some("7"));
    let debug = client.ask_until_version(b"me YSBi b\r\nversion\r\n");
    let cas = format!("cas={}", named("cas=").expect("a unique number"));
    assert!(
        text(&debug).contains(&cas),
        "{} without {cas}",
        text(&debug)
    );

    let soon = Attributes {
        expiry: Expiry::After(std::time::Duration::from_secs(1000)),
        flags: 0,
    };
    ours.table.set_with(b"a b", b"1", soon).expect("set");
    let lines = until(&mut client, "lru_crawler metadump all", "END");
    let expires: u64 = lines[1].split(' ').nth(1).expect("a time")[4..]
        .parse()
        .expect("a number");
    let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
    assert!(
        (now + 900..now + 1010).contains(&expires),
        "{expires} at {now}"
    );
}

/// All lines. memcached's crawler may be busy with the dump before, whose end it has sent.
fn dump(client: &mut Client, classes: &str) -> Vec<String> {
    let request = format!("lru_crawler metadump {classes}\r\n");
    for _ in 0..10_000 {
        let begin = client.ask(request.as_bytes(), 2);
        if begin != b"BU" {
            let mut lines = rest(client, "END");
            lines[0].insert_str(0, &text(&begin));
            return lines;
        }
        client.ask_until_version(b"version\r\n");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it is busy all the time");
}

/// `la` is in seconds since 1970 there.
#[test]
fn a_line_says_whether_and_when_an_item_was_used() {
    let ours = Ours::start();
    let theirs = Theirs::start();
    let theirs = theirs.iter().map(|theirs| theirs.address);
    for address in [ours.address].into_iter().chain(theirs) {
        let mut client = Client::connect(address);
        let started = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
        client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
        for fetch in [" fetch=no ", " fetch=yes "] {
            let lines = dump(&mut client, "hash");
            let line = lines.iter().find(|line| line.starts_with("key=a "));
            let line = line.expect("a line");
            assert!(line.contains(fetch), "{line}");
            let (_, used) = line.split_once(" la=").expect("a time");
            let used: u64 = used[..used.find(' ').expect("a word")]
                .parse()
                .expect("a number");
            let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
            // memcached's clock may be a second behind, and more where it was kept from looking.
            assert!((started - 60..=now + 1).contains(&used), "{line} at {now}");
            client.expect(b"get a\r\n", b"VALUE a 0 1\r\nx\r\nEND\r\n");
        }
    }
}

/// What one dump lists a client can ask for, be it here or there.
#[test]
fn keys_come_as_requests() {
    let ours = Ours::start();
    let keys = fill(&ours);
    let mut client = ours.connect();
    let lines = until(&mut client, "lru_crawler mgdump all", "EN");
    assert_eq!(lines[0], "OK");
    assert_eq!(lines.len(), keys.len() + 1);
    let requests = lines[1..].join("\r\n") + "\r\nmn\r\n";
    let answers = client.ask(requests.as_bytes(), 4 * KEYS + 4);
    assert!(answers == [b"HD\r\n".repeat(KEYS), b"MN\r\n".to_vec()].concat());
}

/// As tools do that look for all keys: the classes first, then the keys of each.
#[test]
fn the_classes_together_have_each_key_once() {
    let ours = Ours::start();
    let keys = fill(&ours);
    let mut client = ours.connect();
    let items = until(&mut client, "stats items", "END");
    let classes = items.iter().filter_map(|line| {
        let (class, count) = line.strip_prefix("STAT items:")?.split_once(":number ")?;
        Some((class.to_owned(), count.parse::<usize>().expect("a number")))
    });
    let (mut listed, mut dumped) = (0, 0);
    for (class, count) in classes {
        let lines = until(&mut client, &format!("stats cachedump {class} 0"), "END");
        assert!(lines.iter().all(|line| line.starts_with("ITEM key-")));
        listed += lines.len();
        let some = until(&mut client, &format!("stats cachedump {class} 1"), "END");
        assert_eq!(some.len(), lines.len().min(1));
        let request = format!("lru_crawler metadump {class}");
        let lines = until(&mut client, &request, "END");
        assert_eq!(lines.len(), count + 1, "class {class}");
        dumped += count;
    }
    assert_eq!(dumped, keys.len());
    // Those that no line can have are left out, as memcached leaves them out.
    assert_eq!(listed, keys.len() - KEYS / 10);
}

#[test]
fn a_client_that_does_not_read_its_dump_holds_nobody_up() {
    let ours = Ours::start();
    // Lines of some 700 bytes: more than sockets hold.
    for number in 0..40_000_u32 {
        let mut key = vec![0xff; 220];
        key.extend_from_slice(&number.to_be_bytes());
        ours.table.set(&key, b"").expect("set");
    }
    let mut deaf: Vec<Client> = (0..4).map(|_| ours.connect()).collect();
    for client in &mut deaf {
        client.expect(b"lru_crawler metadump all\r\nmn\r\n", b"OK\r\n");
    }
    let mut other = ours.connect();
    other.expect(
        b"lru_crawler metadump all\r\n",
        b"BUSY currently processing crawler request\r\n",
    );
    for _ in 0..50 {
        other.expect(b"get a\r\n", b"END\r\n");
    }
    // One goes, one reads at last, and has its next answer behind the dump.
    drop(deaf.pop());
    let mut one = deaf.pop().expect("four of them");
    one.0.shutdown(Shutdown::Write).expect("half closed");
    let mut all = Vec::new();
    one.0.read_to_end(&mut all).expect("an end");
    assert_eq!(
        all.iter().filter(|byte| **byte == b'\n').count(),
        40_000 + 2
    );
    assert!(all.ends_with(b"\nEND\r\nMN\r\n"));
    let lines = until(&mut other, "lru_crawler metadump 1", "END");
    assert_eq!(lines, ["OK"]);
}

/// Names of the words of a line, in their order.
fn names(line: &str) -> Vec<&str> {
    let words = line.split(' ');
    words
        .map(|word| word.split('=').next().unwrap_or(word))
        .collect()
}

#[test]
fn lines_have_the_shape_of_memcached() {
    let Some(theirs) = Theirs::start().filter(|theirs| theirs.patch() >= 40) else {
        return a_dump_lists_each_key();
    };
    let ours = Ours::start();
    let mut shapes = Vec::new();
    for address in [ours.address, theirs.address] {
        let mut client = Client::connect(address);
        client.expect(
            b"set a 0 0 1\r\nx\r\nset b 1 100 1\r\nx\r\n",
            b"STORED\r\nSTORED\r\n",
        );
        let lines = dump(&mut client, "all");
        let shape: Vec<Vec<String>> = lines
            .iter()
            .map(|line| names(line).into_iter().map(String::from).collect())
            .collect();
        shapes.push(shape);
    }
    assert_eq!(shapes[0], shapes[1]);
}
