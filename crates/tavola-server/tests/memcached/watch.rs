//! `watch`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;

use tavola::Table;
use tavola::serving::ServeTable;

use super::script::{Client, Ours, Theirs};

/// One that watches.
struct Watcher(BufReader<std::net::TcpStream>);

impl Watcher {
    fn new(address: SocketAddr, events: &str) -> Self {
        let mut client = Client::connect(address);
        client.expect(format!("watch {events}\r\n").as_bytes(), b"OK\r\n");
        Self(BufReader::new(client.0))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        assert!(line.ends_with('\n'), "cut off: {line:?}");
        line.trim_end().to_owned()
    }

    /// The next line of an event; those that were left out before are added.
    fn kept(&mut self, missing: &mut u64) -> String {
        loop {
            let line = self.line();
            match line.strip_prefix("skipped=") {
                Some(number) => *missing += number.parse::<u64>().expect("a number"),
                None => return line,
            }
        }
    }

    /// Names and values, in their order, without those that are never the same.
    fn facts(&mut self) -> Vec<(String, String)> {
        let line = self.line();
        let facts = line.split(' ').map(|word| {
            let (name, value) = word.split_once('=').expect("a fact");
            let is_any = matches!(name, "ts" | "gid" | "clsid" | "cfd");
            let value = if is_any { "#" } else { value };
            (name.to_owned(), value.to_owned())
        });
        facts.collect()
    }
}

/// The events, what is sent before anybody watches, what is sent then, and the lines of that.
type Case = (
    &'static str,
    &'static [u8],
    &'static [u8],
    &'static [&'static str],
);

/// The lines that watchers of these events get while a client sends this.
fn watched(address: SocketAddr, events: &str, sent: &[u8], count: usize) -> Vec<String> {
    let mut watcher = Watcher::new(address, events);
    let mut client = Client::connect(address);
    let port = client.0.local_addr().expect("an address").port();
    if sent.ends_with(b"HTTP/1.1\r\n") {
        client.send(sent);
        client.rest();
    } else {
        client.ask_until_version(&[sent, b"version\r\n"].concat());
        drop(client);
    }
    let mut lines = Vec::new();
    while lines.len() < count {
        let facts = watcher.facts();
        // Earlier connections may be logged as well.
        let is_other =
            |(name, value): &(String, String)| name == "rport" && *value != port.to_string();
        if !facts.iter().any(is_other) {
            let words = facts.iter().map(|(name, value)| {
                // Of what is left a second may have passed.
                let is_any = name == "ttl" && value != "0";
                format!("{name}={}", if is_any { "#" } else { value })
            });
            lines.push(words.collect::<Vec<_>>().join(" "));
        }
    }
    let port = format!("rport={port} ");
    lines
        .iter()
        .map(|line| line.replace(&port, "rport=# "))
        .collect()
}

/// What happens, and how it is logged.
const CASES: [Case; 6] = [
    (
        "fetchers",
        b"set a%b 0 0 2\r\nxy\r\n",
        b"get a%b c\r\nmg a%b v\r\n",
        &[
            "type=item_get key=a%25b status=found clsid=# cfd=# size=2",
            "type=item_get key=c status=not_found clsid=# cfd=# size=0",
            "type=item_get key=a%25b status=found clsid=# cfd=# size=2",
        ],
    ),
    (
        // Each command that changes a key looks it up first.
        "fetchers mutations",
        b"set a 0 0 2\r\n12\r\n",
        b"set b 0 0 3\r\nxyz\r\nappend a 0 0 1\r\n3\r\nincr a 1\r\ntouch b 0\r\n\
          delete b\r\ndelete b\r\nma n N0 J12\r\nmd a x\r\nmd a\r\nme n\r\nme m\r\n",
        &[
            "type=item_get key=b status=not_found clsid=# cfd=# size=0",
            "type=item_store key=b status=stored cmd=set ttl=0 clsid=# cfd=# size=3",
            "type=item_get key=a status=found clsid=# cfd=# size=2",
            "type=item_store key=a status=stored cmd=append ttl=0 clsid=# cfd=# size=",
            "type=item_get key=a status=found clsid=# cfd=# size=3",
            "type=item_get key=b status=found clsid=# cfd=# size=3",
            "type=item_get key=b status=found clsid=# cfd=# size=3",
            "type=item_get key=b status=not_found clsid=# cfd=# size=0",
            "type=item_get key=n status=not_found clsid=# cfd=# size=0",
            "type=item_get key=n status=not_found clsid=# cfd=# size=0",
            "type=item_store key=n status=stored cmd=add ttl=0 clsid=# cfd=# size=2",
            "type=item_get key=a status=found clsid=# cfd=# size=3",
            "type=item_get key=a status=found clsid=# cfd=# size=3",
            "type=item_store key=a status=stored cmd=set ttl=0 clsid=# cfd=# size=0",
            "type=item_get key=a status=found clsid=# cfd=# size=0",
            "type=item_get key=n status=found clsid=# cfd=# size=2",
            "type=item_get key=m status=not_found clsid=# cfd=# size=0",
        ],
    ),
    (
        "mutations",
        b"set t 0 1000 1\r\nx\r\n",
        b"append t 0 0 0\r\n\r\nset a 0 0 1\r\nx\r\nadd a 0 0 1\r\nx\r\nappend a 0 0 2\r\nyz\r\n\
          cas b 0 0 1 9\r\nx\r\nms a 3 MR\r\nabc\r\nma n N0 J12\r\nmd a x\r\n",
        &[
            "type=item_store key=t status=stored cmd=append ttl=# clsid=# cfd=# size=",
            "type=item_store key=a status=stored cmd=set ttl=0 clsid=# cfd=# size=1",
            "type=item_store key=a status=not_stored cmd=add ttl=0 clsid=# cfd=# size=1",
            // Of joined values the size is that of the whole here, of the part there.
            "type=item_store key=a status=stored cmd=append ttl=0 clsid=# cfd=# size=",
            "type=item_store key=b status=not_found cmd=cas ttl=0 clsid=# cfd=# size=1",
            "type=item_store key=a status=stored cmd=replace ttl=0 clsid=# cfd=# size=3",
            "type=item_store key=n status=stored cmd=add ttl=0 clsid=# cfd=# size=2",
            "type=item_store key=a status=stored cmd=set ttl=0 clsid=# cfd=# size=0",
        ],
    ),
    (
        "deletions",
        b"set a 0 0 2\r\nxy\r\n",
        b"delete a\r\ndelete a\r\nset a 0 0 1\r\nx\r\nmd a x\r\nmd a I\r\nmd a\r\n",
        &[
            "type=deleted key=a cmd=delete clsid=# size=2",
            "type=deleted key=a cmd=md clsid=# size=0",
            "type=deleted key=a cmd=md clsid=# size=0",
        ],
    ),
    (
        "connevents",
        b"",
        b"get a\r\n",
        &[
            "type=conn_new rip=127.0.0.1 rport=# transport=tcp cfd=#",
            "type=conn_close rip=127.0.0.1 rport=# transport=tcp reason=normal cfd=#",
        ],
    ),
    (
        "connevents",
        b"",
        b"GET / HTTP/1.1\r\n",
        &[
            "type=conn_new rip=127.0.0.1 rport=# transport=tcp cfd=#",
            "type=conn_close rip=127.0.0.1 rport=# transport=tcp reason=error cfd=#",
        ],
    ),
];

#[test]
fn events_are_logged_as_memcached_logs_them() {
    let ours = Ours::start();
    let theirs = Theirs::start().filter(|theirs| theirs.patch() >= 40);
    let addresses = [
        Some(ours.address),
        theirs.as_ref().map(|theirs| theirs.address),
    ];
    for address in addresses.into_iter().flatten() {
        for (events, before, sent, expected) in CASES {
            let before = [b"flush_all\r\n", before, b"version\r\n"].concat();
            Client::connect(address).ask_until_version(&before);
            let lines = watched(address, events, sent, expected.len());
            for (line, expected) in lines.iter().zip(expected) {
                let end = format!("ts=# gid=# {expected}");
                assert!(line.starts_with(&end), "{line:?} for {end:?}");
            }
        }
    }
}

#[test]
fn a_watcher_gets_the_events_it_asked_for_and_no_others() {
    let ours = Ours::start();
    let mut all = Watcher::new(ours.address, "evictions fetchers mutations sysevents");
    let mut some = Watcher::new(ours.address, "deletions");
    let mut client = ours.connect();
    client.expect(
        b"get a\r\nset a 0 0 1\r\nx\r\ndelete a\r\n",
        b"END\r\nSTORED\r\nDELETED\r\n",
    );
    let kinds = [all.facts(), all.facts(), all.facts(), some.facts()];
    let kinds = kinds.map(|facts| facts[2].1.clone());
    assert_eq!(kinds, ["item_get", "item_get", "item_store", "deleted"]);
    // What a watcher sends is thrown away.
    let mut sender = some.0.get_ref().try_clone().expect("a second handle");
    std::io::Write::write_all(&mut sender, b"get a\r\n").expect("sent");
    client.expect(
        b"set a 0 0 1\r\nx\r\ndelete a\r\n",
        b"STORED\r\nDELETED\r\n",
    );
    assert_eq!(some.facts()[2].1, "deleted");
}

#[test]
fn there_are_no_more_watchers_than_may_be() {
    let ours = Ours::start();
    let mut watchers: Vec<_> = (0..20).map(|_| Watcher::new(ours.address, "")).collect();
    let mut client = ours.connect();
    let refused = b"WATCHER_TOO_MANY log watcher limit reached\r\n";
    client.expect(b"watch\r\n", refused);
    client.expect(b"watch nonsense\r\n", b"ERROR\r\n");
    drop(watchers.pop());
    // Its place is free as soon as its thread has seen that it is gone.
    for _ in 0..10_000 {
        if client
            .ask_until_version(b"stats\r\nversion\r\n")
            .windows(21)
            .any(|part| part.starts_with(b"STAT log_watchers 19"))
        {
            client.expect(b"watch\r\n", b"OK\r\n");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("its place was not given up");
}

#[test]
fn a_watcher_that_does_not_read_loses_lines_and_holds_nobody_up() {
    let ours = Ours::start();
    let mut deaf = Watcher::new(ours.address, "fetchers");
    let mut client = ours.connect();
    // A line has three times the bytes of its key.
    let key = "%".repeat(250);
    let request = format!("get {}\r\n", vec![&key[..]; 200].join(" "));
    let figure = |client: &mut Client, name: &str| -> u64 {
        let stats = client.ask_until_version(b"stats\r\nversion\r\n");
        let stats = String::from_utf8(stats).expect("text");
        let figures: BTreeMap<_, _> = stats
            .lines()
            .filter_map(|line| line.strip_prefix("STAT ")?.split_once(' '))
            .collect();
        figures[name].parse().expect("a number")
    };
    let mut asked = 0;
    while figure(&mut client, "log_watcher_skipped") < 1000 {
        client.expect(request.as_bytes(), b"END\r\n");
        asked += 200;
        assert!(asked < 1_000_000, "lines are held without a bound");
    }
    let (sent, skipped) = (
        figure(&mut client, "log_watcher_sent"),
        figure(&mut client, "log_watcher_skipped"),
    );
    assert_eq!(sent + skipped, asked);
    assert_eq!(figure(&mut client, "log_worker_written"), asked);
    // It reads at last: all that was kept, and how many are missing before the lines behind them.
    let mut missing = 0;
    for _ in 0..sent {
        let line = deaf.kept(&mut missing);
        assert!(line.contains(" type=item_get key=%25"), "{line}");
    }
    // By then there is room for one more.
    client.expect(b"get last\r\n", b"END\r\n");
    let line = deaf.kept(&mut missing);
    assert!(line.contains(" key=last "), "{line}");
    assert_eq!(missing, skipped);
}

#[test]
fn evictions_are_logged_as_memcached_logs_them() {
    let cache = Table::options().capacity(8 << 20).max_size(64 << 20);
    let ours = Ours::over(cache.versions(true).private().expect("a table"));
    let theirs = Theirs::start().filter(|theirs| theirs.patch() >= 40);
    let addresses = [
        Some(ours.address),
        theirs.as_ref().map(|theirs| theirs.address),
    ];
    for address in addresses.into_iter().flatten() {
        let mut watcher = Watcher::new(address, "evictions");
        let mut client = Client::connect(address);
        let value = "v".repeat(500_000);
        // More than memcached has room for, unless it is set otherwise.
        for number in 0..200 {
            let time = 1000 * (number % 2);
            let set = format!("set k{number} 0 {time} 500000 noreply\r\n{value}\r\n");
            client.send(set.as_bytes());
        }
        client.ask_until_version(b"version\r\n");
        for _ in 0..10 {
            let facts = watcher.facts();
            let names: Vec<&str> = facts.iter().map(|(name, _)| &name[..]).collect();
            let expected = "ts gid type key fetch ttl la clsid size";
            assert_eq!(names.join(" "), expected);
            let [kind, key, fetch, ttl, size] = [2, 3, 4, 5, 8].map(|at| &facts[at].1[..]);
            assert_eq!([kind, fetch, size], ["eviction", "no", "500000"]);
            let number: u32 = key[1..].parse().expect("a number");
            let left: i32 = ttl.parse().expect("a number");
            let is_right = match number % 2 {
                0 => left == -1,
                _ => (900..=1000).contains(&left),
            };
            assert!(is_right, "{key} with {left} s");
        }
    }
}

#[test]
fn a_closed_watcher_costs_nothing() {
    let cache = Table::options().capacity(4 << 20).max_size(16 << 20);
    let ours = Ours::over(cache.private().expect("a table"));
    let fill = |client: &mut Client| {
        for number in 0..40 {
            let set = format!("set k{number} 0 0 200000\r\n{}\r\n", "v".repeat(200_000));
            client.expect(set.as_bytes(), b"STORED\r\n");
        }
    };
    let mut client = ours.connect();
    let mut watchers = [(); 2].map(|()| Watcher::new(ours.address, "evictions mutations"));
    fill(&mut client);
    for watcher in &mut watchers {
        while !watcher.line().contains(" type=eviction ") {}
    }
    drop(watchers);
    let mut is_off = || {
        client.ask_until_version(b"flush_all\r\nversion\r\n");
        fill(&mut client);
        let mut noted = 0;
        let lost = ours
            .table
            .take_evictions(&mut |_| noted += 1)
            .expect("taken");
        noted + lost == 0
    };
    // As soon as their threads have seen that they are gone.
    assert!((0..200).any(|_| is_off()), "they are noted on and on");
}
