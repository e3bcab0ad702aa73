//! `tavola exporter`: what it says is of its format and agrees with the tables, and no visitor
//! keeps others from it.

mod format;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use crate::shell::{Shell, wait_until};
use format::Page;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tavola::{Attributes, Table};

/// An exporter at a port of its own.
struct Exporter {
    child: Child,
    address: String,
}

impl Exporter {
    fn start(shell: &Shell, names: &[&str]) -> Exporter {
        let args = [&["exporter", "--listen", "127.0.0.1:0"], names].concat();
        let mut child = shell.spawn(args);
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("serving http://");
        let address = address.and_then(|rest| rest.strip_suffix("/metrics"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_string();
        Exporter { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a time");
        stream
    }

    /// What is answered to these bytes: the head, and the body.
    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("it reads");
        answer(stream)
    }

    fn get(&self, path: &str) -> (String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
    }

    #[track_caller]
    fn page(&self) -> Page {
        let (head, body) = self.get("/metrics");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert!(
            head.contains(&format!("\r\nContent-Type: {kind}\r\n")),
            "{head}"
        );
        format::read(&body).unwrap_or_else(|why| panic!("{why}\n{body}"))
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
        let mut ended = None;
        wait_until(|| {
            ended = self.child.try_wait().expect("a child of ours");
            ended.is_some()
        });
        ended.and_then(|status| status.code())
    }
}

/// A test that failed leaves nothing running.
impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that comes, as head and body. The length in the head must be the body's.
fn answer(mut stream: TcpStream) -> (String, String) {
    let mut all = String::new();
    stream.read_to_string(&mut all).expect("an answer");
    let (head, body) = all.split_once("\r\n\r\n").expect("a head and a body");
    let length = format!("\r\nContent-Length: {}\r\n", body.len());
    assert!(head.contains(&length), "{head}");
    (format!("{head}\r\n"), body.to_string())
}

fn open(shell: &Shell, name: &str) -> Table {
    Table::options()
        .open_existing(shell.path().join(name))
        .unwrap()
}

/// A cache that was used: hits, misses, evictions, keys that expired, two tags, all latencies.
fn used_cache(shell: &Shell) -> Table {
    shell.run(["create", "c", "--capacity", "2M"]).ok();
    let table = open(shell, "c");
    let soon = Attributes::ttl(Duration::from_millis(1));
    for n in 0..10_u32 {
        table
            .set_with(format!("short{n}").as_bytes(), b"x", soon)
            .unwrap();
    }
    wait_until(|| table.get(b"short9").unwrap().is_none());
    table.remove_expired().unwrap();
    let value = [7; 500];
    for n in 0..8_000_u32 {
        table.set(n.to_le_bytes(), value).unwrap();
        table.get(n.to_le_bytes()).unwrap();
        table.get((n / 2).to_le_bytes()).unwrap();
    }
    for key in ["none", "neither"] {
        assert!(!table.remove(key.as_bytes()).unwrap());
    }
    table.take(7_999_u32.to_le_bytes()).unwrap();
    table.fetch_tags(&["x", "y"]).unwrap();
    table
}

#[test]
fn the_numbers_are_those_of_the_table() {
    let shell = Shell::new();
    let table = used_cache(&shell);
    let mut victim = shell.attach("c");
    victim.kill().unwrap();
    victim.wait().unwrap();
    let exporter = Exporter::start(&shell, &["c"]);
    let page = exporter.page();
    let stats = table.stats().unwrap();
    assert!(stats.hits > 0 && stats.misses > 0 && stats.evicted_new > 0 && stats.expired > 0);
    let is = |name: &str, labels: &[&str], expected: u64| {
        let labels = [&["table=c"], labels].concat();
        assert_eq!(
            page.value(name, &labels),
            expected as f64,
            "{name} {labels:?}"
        );
    };
    is("tavola_up", &[], 1);
    is("tavola_keys", &[], stats.keys);
    is("tavola_uids", &[], stats.uids);
    is("tavola_tags", &[], 2);
    is("tavola_payload_bytes", &[], stats.payload_bytes);
    is("tavola_resident_bytes", &[], stats.resident_bytes);
    is("tavola_limit_bytes", &[], stats.max_size);
    is("tavola_capacity_bytes", &[], 2 << 20);
    is("tavola_probationary_bytes", &[], stats.probationary_bytes);
    is("tavola_hits_total", &[], stats.hits);
    is("tavola_misses_total", &[], stats.misses);
    is("tavola_writes_total", &[], stats.writes);
    is("tavola_sets_total", &[], stats.writes - 3);
    is("tavola_removes_total", &[], 3);
    is(
        "tavola_evicted_total",
        &["kind=probationary"],
        stats.evicted_new,
    );
    is(
        "tavola_evicted_total",
        &["kind=protected"],
        stats.evicted_old,
    );
    is("tavola_returned_total", &[], stats.ghost_hits);
    is("tavola_expired_total", &[], stats.expired);
    is("tavola_recoveries_total", &[], stats.recoveries);
    is("tavola_memory_bytes", &["kind=index"], stats.index_bytes);
    is("tavola_memory_bytes", &["kind=small"], stats.slab_bytes);
    is("tavola_memory_bytes", &["kind=spare"], stats.free_bytes);
    is("tavola_participants", &["state=alive"], 1);
    is("tavola_participants", &["state=dead"], 1);
    let mut small = 0.0;
    for class in &stats.classes {
        let block = format!("block_bytes={}", class.block_bytes);
        is("tavola_class_blocks", &[&block], class.blocks);
        is("tavola_class_used_blocks", &[&block], class.used);
        small += page.value("tavola_class_bytes", &["table=c", &block]);
    }
    assert_eq!(small, stats.slab_bytes as f64);
    let writes = table
        .shard_stats()
        .unwrap()
        .iter()
        .map(|shard| shard.writes)
        .sum();
    is("tavola_shard_writes_total", &[], writes);
    latencies_are_those_of(&table, &page);
    assert_eq!(exporter.end(Signal::TERM), Some(0));
}

/// The histograms of a page, cumulative from bucket to bucket.
fn latencies_are_those_of(table: &Table, page: &Page) {
    let is = |labels: &[&str], expected: u64| {
        let labels = [&["table=c"], labels].concat();
        let value = page.value("tavola_latency_seconds_bucket", &labels);
        assert_eq!(value, expected as f64, "{labels:?}");
    };
    let latencies = table.latencies().unwrap();
    for (name, buckets) in [("read", latencies.reads), ("write", latencies.writes)] {
        let all: u64 = buckets.iter().map(|(_, count)| count).sum();
        let operation = format!("operation={name}");
        assert!(all > 0, "no {name} was timed");
        is(&[&operation, "le=+Inf"], all);
        let (first_ns, first) = buckets[0];
        let end = format!("le={}", first_ns as f64 / 1e9);
        is(&[&operation, &end], first);
    }
}

#[test]
fn tables_that_are_no_caches_have_no_hits() {
    let shell = Shell::new();
    let name = "it's \"t\\";
    shell.run(["set", name, "k", "v"]).ok();
    let exporter = Exporter::start(&shell, &[]);
    let page = exporter.page();
    let table = format!("table={name}");
    assert_eq!(page.value("tavola_keys", &[&table]), 1.0);
    assert_eq!(page.value("tavola_shard_writes_total", &[&table]), 1.0);
    for family in [
        "tavola_hits",
        "tavola_sets",
        "tavola_removes",
        "tavola_evicted",
        "tavola_latency_seconds",
    ] {
        assert!(!page.families.contains_key(family), "{family}");
    }
    let version = concat!("version=", env!("CARGO_PKG_VERSION"));
    assert_eq!(page.value("tavola_build_info", &[version]), 1.0);
    assert_eq!(exporter.end(Signal::INT), Some(0));
}

#[test]
fn tables_come_and_go() {
    let shell = Shell::new();
    shell.run(["set", "a", "k", "v"]).ok();
    let all = Exporter::start(&shell, &[]);
    let named = Exporter::start(&shell, &["a", "later", "a"]);
    let up = |exporter: &Exporter, name: &str| {
        let page = exporter.page();
        let label = format!("table={name}");
        let keys = page.get("tavola_keys", &[&label]);
        let up = page.get("tavola_up", &[&label]);
        assert_eq!(keys.is_some(), up == Some(1.0), "{page:#?}");
        up
    };
    assert_eq!(["a", "later"].map(|name| up(&all, name)), [Some(1.0), None]);
    assert_eq!(
        ["a", "later"].map(|name| up(&named, name)),
        [Some(1.0), Some(0.0)]
    );
    shell.run(["set", "later", "k", "v"]).ok();
    shell.run(["drop", "a"]).ok();
    for exporter in [&all, &named] {
        assert_eq!(
            ["a", "later"].map(|name| up(exporter, name)),
            [Some(0.0), Some(1.0)]
        );
    }
    shell.run(["set", "a", "k", "v"]).ok();
    assert_eq!(
        [&all, &named].map(|exporter| up(exporter, "a")),
        [Some(1.0); 2]
    );
    // A file that is not a table is reported, too.
    std::fs::write(shell.path().join("later"), "no table").unwrap();
    assert_eq!(
        [&all, &named].map(|exporter| up(exporter, "later")),
        [Some(0.0); 2]
    );
}

/// A table that cannot be read, as its file is cut off.
fn make_damaged(shell: &Shell, name: &str) {
    shell.run(["set", name, "k", "v"]).ok();
    let file = std::fs::File::options()
        .write(true)
        .open(shell.path().join(name));
    file.unwrap().set_len(100).unwrap();
}

#[test]
fn tables_that_cannot_be_read_are_there_with_the_reason() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    make_damaged(&shell, "cut");
    let exporter = Exporter::start(&shell, &[]);
    let is = |name: &str, reason: &str| {
        let labels = [format!("table={name}"), format!("reason={reason}")];
        let page = exporter.page();
        assert_eq!(page.get("tavola_up", &[&labels[0]]), Some(0.0), "{page:#?}");
        let labels = labels.each_ref().map(String::as_str);
        page.get("tavola_unreadable_info", &labels) == Some(1.0)
    };
    assert!(is("cut", "damaged"));
    shell.run(["drop", "cut"]).ok();
    assert!(is("cut", "gone"));
    // Another user's, in a directory where everybody may make files.
    shell.chmod("", 0o777);
    if std::os::unix::fs::chown(shell.path().join("t"), Some(65_533), None).is_ok() {
        assert!(is("t", "permission"));
    }
}

#[test]
fn only_two_pages_are_there() {
    let shell = Shell::new();
    let exporter = Exporter::start(&shell, &[]);
    let status = |request: &str| {
        let (head, _) = exporter.ask(request);
        head.split_once(' ').unwrap().1[..3].to_string()
    };
    assert_eq!(status("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "200");
    assert_eq!(status("GET /metrics?a=b HTTP/1.0\r\n\r\n"), "200");
    assert_eq!(status("GET /metrics/ HTTP/1.1\r\nHost: x\r\n\r\n"), "404");
    assert_eq!(
        status("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
        "405"
    );
    assert_eq!(status("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"), "405");
    assert_eq!(status("\x16\x03\x01\r\n\r\n"), "400");
    let endless = format!("GET / HTTP/1.1\r\n{}", "x: y\r\n".repeat(10_000));
    assert_eq!(status(&endless), "431");
    assert_eq!(exporter.page().families.len(), 1);
}

#[test]
fn no_visitor_keeps_others_out() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    let exporter = Exporter::start(&shell, &["t"]);
    // Many that say nothing, or the beginning of a request.
    let silent: Vec<TcpStream> = (0..300).map(|_| exporter.connect()).collect();
    for (n, mut stream) in silent.iter().enumerate() {
        if n % 2 == 0 {
            // Those that came first had to go.
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n");
        }
    }
    assert_eq!(exporter.page().value("tavola_up", &["table=t"]), 1.0);
    let mut gone = 0;
    for mut stream in &silent {
        stream.set_nonblocking(true).unwrap();
        match stream.read(&mut [0; 1]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => gone += 1,
            Ok(_) => panic!("an answer to nothing"),
        }
    }
    assert!(gone >= 300 - 64, "{gone}");
    // Ones that have gone before the answer came.
    for _ in 0..100 {
        let mut stream = exporter.connect();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    }
    // One that sends its request letter by letter, and ends its side.
    let mut slow = exporter.connect();
    for (number, letter) in b"GET / HTTP/1.1\r\n\r\n".iter().enumerate() {
        slow.write_all(&[*letter]).unwrap();
        // Seldom enough for a slow machine: who takes 10 seconds for a request is sent away.
        if number % 4 == 0 {
            exporter.page();
        }
    }
    slow.shutdown(Shutdown::Write).unwrap();
    assert!(answer(slow).0.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(exporter.end(Signal::TERM), Some(0));
}

#[test]
fn where_it_cannot_listen_it_says_so() {
    let shell = Shell::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = shell.run(["exporter", "--listen", &address]).error();
    assert!(
        said.starts_with(&format!("cannot listen on {address} (")),
        "{said}"
    );
    assert!(
        said.contains("in use") && said.contains("--listen"),
        "{said}"
    );
    shell.run(["exporter", "--listen", "nowhere"]).error();
    shell.run(["exporter", ""]).error();
}

/// The names in an expression of PromQL that are ours.
fn names(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let ours = words.filter(|word| word.starts_with("tavola_"));
    ours.map(ToString::to_string).collect()
}

/// All values of that name, at any depth.
fn each<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(name));
            fields.values().for_each(|value| each(value, name, found));
        }
        Value::Array(all) => all.iter().for_each(|value| each(value, name, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_asks_for_what_is_there() {
    let shell = Shell::new();
    let _table = used_cache(&shell);
    shell.run(["log", "create", "events"]).ok();
    shell.run(["queue", "create", "jobs"]).ok();
    make_damaged(&shell, "broken");
    let home = shell.path().join("home").into_os_string();
    // There is a warning, as the directory is in memory.
    shell.run(["create".as_ref(), "--durable".as_ref(), home.as_os_str()]);
    shell.run(["snapshot".as_ref(), home.as_os_str()]).text();
    let page = Exporter::start(&shell, &[]).page();
    let there: BTreeSet<&String> = page.samples.keys().map(|(name, _)| name).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/grafana/tavola.json");
    let text = std::fs::read_to_string(file).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut asked = Vec::new();
    each(&dashboard["panels"], "expr", &mut asked);
    assert!(asked.len() > 15);
    for expression in asked {
        let expression = expression.as_str().unwrap();
        let is_of_tables = expression.contains("{table=~\"$table\"");
        assert!(
            is_of_tables || expression == "tavola_build_info",
            "{expression}"
        );
        let names = names(expression);
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            assert!(there.contains(&name), "{name}: {expression}");
        }
    }
    let mut sources = Vec::new();
    each(&dashboard, "datasource", &mut sources);
    for source in sources {
        assert_eq!(source["uid"], "${DS_PROMETHEUS}", "{source}");
    }
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let kinds: Vec<_> = variables
        .iter()
        .map(|one| (&one["name"], &one["type"]))
        .collect();
    assert_eq!(kinds[0], (&"DS_PROMETHEUS".into(), &"datasource".into()));
    assert_eq!(kinds[1], (&"table".into(), &"query".into()));
    assert_eq!(
        variables[1]["query"]["query"],
        "label_values(tavola_up, table)"
    );
}

#[test]
fn an_address_that_others_reach_is_refused_unless_that_is_meant() {
    let shell = Shell::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let ran = shell.run(["exporter", "--listen", address]);
        // A machine without IPv6 refuses the second for that.
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("--insecure") || address.starts_with('['));
    }
    let mut child = shell.spawn(["exporter", "--listen", "0.0.0.0:0", "--insecure"]);
    let mut line = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let _ = child.kill();
    let _ = child.wait();
    assert!(line.starts_with("serving http://0.0.0.0:"), "{line}");
}

#[test]
fn the_depth_of_queues_is_there() {
    let shell = Shell::new();
    shell.run(["queue", "create", "q"]).ok();
    shell.run(["queue", "push", "q", "a", "b"]).ok();
    let exporter = Exporter::start(&shell, &["q"]);
    let (_, page) = exporter.get("/metrics");
    let line = "tavola_queue_elements{table=\"q\",pool=\"\",queue=\"jobs\"} 2\n";
    assert!(page.contains(line), "{page}");
}
