//! Results that nobody measured, for trying out the page: figures follow from a peer's place in a
//! list and from what grows. `sample` is set in them, and the page says so on top.

use serde_json::{Value, json};

/// Name, title, language, and how fast it is made up to be.
const PEERS: [(&str, &str, &str, f64); 16] = [
    ("tavola", "Tavola", "C", 60.0),
    ("tavola", "Tavola", "Rust", 64.0),
    ("lmdb", "LMDB", "C", 11.0),
    ("tinycdb", "TinyCDB", "C", 80.0),
    ("qdbm-depot", "QDBM Depot", "C", 7.0),
    ("qdbm-villa", "QDBM Villa", "C", 0.6),
    ("tkrzw", "Tkrzw hash", "C", 14.0),
    ("kyoto", "Kyoto Cabinet", "C", 24.0),
    ("bdb", "Berkeley DB", "C", 8.0),
    ("gdbm", "GDBM", "C", 10.0),
    ("sqlite", "SQLite", "C", 1.6),
    ("memcached-unix", "memcached, Unix socket", "C", 0.4),
    ("redis-tcp", "Redis, TCP", "C", 0.3),
    ("papaya", "papaya (in one process)", "Rust", 90.0),
    ("moka", "moka (in one process)", "Rust", 12.0),
    ("std-map", "std map under a lock", "Rust", 63.0),
];
const SCRIPTS: [(&str, &str, &str, f64); 6] = [
    ("tavola", "Tavola", "PHP", 30.0),
    ("apcu", "APCu", "PHP", 35.0),
    ("files-shm", "plain files in /dev/shm", "PHP", 1.7),
    ("files-disk", "plain files on disk", "PHP", 0.5),
    ("memcached-unix", "memcached, Unix socket", "PHP", 0.15),
    ("postgres-unix", "PostgreSQL, Unix socket", "PHP", 0.05),
];

/// Numbers between 0 and 1 that follow from a seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// A whole run of schema 2.
pub fn results() -> Value {
    let mut chance = Chance(7);
    let mut rows = Vec::new();
    for (keys, title) in [
        (100_000, "100 K keys, 1 process"),
        (1_000_000, "1 M keys, 1 process"),
    ] {
        for (phase, ease) in [("put", 0.6), ("get", 1.0), ("mix", 0.8), ("miss", 1.4)] {
            add(
                &mut rows,
                &mut chance,
                "e",
                title,
                phase,
                ease,
                json!({"keys": keys, "procs": 1, "slice_ms": 200}),
            );
        }
    }
    let case = json!({"keys": 1_000_000, "procs": 8, "slice_ms": 200});
    let title = "1 M keys, 8 processes";
    add(&mut rows, &mut chance, "e", title, "mix", 0.9, case);
    grown(&mut rows, &mut chance);
    scripts(&mut rows, &mut chance);
    latencies(&mut rows, &mut chance);
    json!({
        "schema": 2, "sample": true, "tavola": "0.1.0", "quick": true,
        "started": "2026-11-24T06:00:00Z", "seconds": 171.5,
        "machine": {"cpu": "Sample processor", "cpus": 2, "memory_bytes": 25769803776u64,
            "kernel": "6.18.0", "os": "Debian GNU/Linux 12", "virtual": true, "clock": "tsc"},
        "noise": {"trusted": false, "spin_spread": 0.21, "walk_spread": 0.34, "samples": 60,
            "why": "A loop without memory varied by 21.0 % between the runs."},
        "peers": peers(), "rows": rows, "torment": torment(),
        "left_out": [{"workload": "e", "title": "1 M keys, 1 process", "peer": "qdbm-villa",
            "phase": "mix", "why": "it took longer than its share of the run"}],
    })
}

fn peers() -> Value {
    let mut peers: Vec<Value> = Vec::new();
    for (name, title, language, _) in PEERS.iter().chain(&SCRIPTS) {
        if peers.iter().all(|peer| peer["name"] != *name) {
            peers.push(json!({"name": name, "title": title, "version": "1.2.3",
                "language": language, "configuration": "as a sample is"}));
        }
    }
    peers.push(json!({"name": "valkey", "title": "Valkey",
        "skipped": "valkey-server is not installed"}));
    Value::Array(peers)
}

fn grown(rows: &mut Vec<Value>, chance: &mut Chance) {
    for keys in [10_000u64, 100_000, 1_000_000, 10_000_000] {
        let ease = 2.0 / (keys as f64).log10();
        for phase in ["put", "get"] {
            add(
                rows,
                chance,
                "g",
                &format!("{} K keys", keys / 1000),
                phase,
                ease,
                json!({"keys": keys, "procs": 1}),
            );
        }
    }
    for bytes in [16u64, 128, 1024, 8192, 65_536, 1_048_576] {
        let ease = 30.0 / (30.0 + bytes as f64 / 40.0);
        let case = json!({"keys": 10_000, "value_bytes": bytes, "procs": 1});
        add(
            rows,
            chance,
            "h",
            &format!("{bytes} bytes"),
            "get",
            ease,
            case,
        );
    }
    for procs in [1u32, 2, 3, 4] {
        let ease = f64::from(procs.min(2));
        for phase in ["get", "mix"] {
            let case = json!({"keys": 1_000_000, "procs": procs, "slice_ms": 200});
            let title = format!("{procs} processes");
            add(rows, chance, "i", &title, phase, ease, case);
        }
    }
}

/// As many as there are processes, the first of them with a little more.
fn shares(case: &Value) -> Vec<f64> {
    let procs = case["procs"].as_u64().unwrap_or(1);
    let each = |proc| if proc == 0 { 1.0 + 0.2 } else { 1.0 };
    let all: f64 = (0..procs).map(each).sum();
    (0..procs).map(|proc| each(proc) / all).collect()
}

/// Rates of slices of 200 ms, in which some stores rest.
fn per_second(phase: &str, case: &Value, median: f64, chance: &mut Chance) -> Vec<Vec<u64>> {
    if phase != "mix" {
        return Vec::new();
    }
    let shares = shares(case);
    let slices: Vec<f64> = (0..15)
        .map(|at| median * (0.9 + 0.2 * chance.next()) * if at % 7 == 6 { 0.5 } else { 1.0 })
        .collect();
    let of = |share: &f64| slices.iter().map(|all| (all * share) as u64).collect();
    shares.iter().map(of).collect()
}

/// One row a peer of those that C and Rust programs use.
fn add(
    rows: &mut Vec<Value>,
    chance: &mut Chance,
    workload: &str,
    title: &str,
    phase: &str,
    ease: f64,
    case: Value,
) {
    for (place, (peer, _, language, speed)) in PEERS.iter().enumerate() {
        if phase == "put" && *peer == "tinycdb" && workload != "e" {
            continue;
        }
        let median = 1e5 * speed * ease * (0.85 + 0.3 * chance.next());
        let spread = 0.02 + 0.05 * chance.next();
        rows.push(json!({
            "workload": workload, "title": title, "phase": phase, "unit": "ops/s", "case": case,
            "peer": peer, "language": language, "median": median,
            "least": median * (1.0 - spread), "most": median * (1.0 + spread),
            "runs": [median * (1.0 - spread), median, median * (1.0 + spread)],
            "cpu_us_per_op": 1e6 / median, "bytes_per_key": 30.0 + 3.0 * place as f64,
            "verified": *peer != "gdbm" || phase != "miss",
            "shares": shares(&case), "per_second": per_second(phase, &case, median, chance),
            "note": (*peer == "tavola" && phase == "mix")
                .then_some("behind papaya, as a sample is"),
        }));
    }
}

fn scripts(rows: &mut Vec<Value>, chance: &mut Chance) {
    for (title, ease) in [("1 byte", 1.0), ("4 KB", 0.5)] {
        for phase in ["write", "read"] {
            for (peer, _, language, speed) in SCRIPTS {
                let median = 30.0 / (speed * ease) * (0.9 + 0.2 * chance.next());
                let served = peer.ends_with("-unix");
                rows.push(json!({
                    "workload": "c", "title": title, "phase": phase, "unit": "us/op",
                    "case": {"keys": 10_000, "procs": 1}, "peer": peer, "language": language,
                    "placement": served.then_some("one CPU"),
                    "transport": served.then_some("unix"), "median": median,
                    "least": median * 0.95, "most": median * 1.2,
                    "runs": [median], "verified": true,
                }));
            }
        }
    }
    for (placement, slow) in [("one CPU", 1.0), ("two CPUs", 9.0)] {
        for (peer, language, speed) in [("tavola", "C", 1.2), ("memcached-unix", "C", 1.0)] {
            let median = 0.39 * slow / speed;
            rows.push(json!({
                "workload": "d", "title": "30,000 pairs over Unix", "phase": "set and get",
                "unit": "s", "placement": placement, "reply": "waits",
                "case": {"procs": 1, "placement": placement, "reply": "waits"},
                "peer": peer, "language": language, "median": median,
                "least": median * 0.9, "most": median * 1.3, "runs": [median], "verified": true,
                "cpu_us_per_op": 9.5, "peak_rss_bytes": 5 << 20,
                "server_cpu_us_per_op": (peer != "tavola").then_some(7.25),
                "server_bytes": (peer != "tavola").then_some(64 << 20),
            }));
        }
    }
}

fn latencies(rows: &mut Vec<Value>, chance: &mut Chance) {
    for phase in ["put", "get"] {
        for (peer, _, language, speed) in PEERS {
            let half = 9000.0 / speed * (0.9 + 0.2 * chance.next());
            let cdf: Vec<Value> = (1..=40)
                .map(|step| {
                    let nines = f64::from(step) / 8.0;
                    let ns = half * (1.0 + 0.3 * nines + (nines - 1.0).max(0.0).powi(3));
                    json!([ns as u64 + 1, 1.0 - 10f64.powf(-nines)])
                })
                .collect();
            rows.push(json!({
                "workload": "f", "title": "1 M keys", "phase": phase, "unit": "ops/s",
                "case": {"keys": 1_000_000, "procs": 1, "timed": true}, "peer": peer,
                "language": language, "median": 1e9 / half, "least": 0.95e9 / half,
                "most": 1.02e9 / half,
                "runs": [1e9 / half], "verified": true, "cdf": cdf, "p50_ns": half as u64,
                "latency_least": {"p99_ns": (2.5 * half) as u64},
                "latency_most": {"p99_ns": (2.9 * half) as u64},
                "p99_ns": (2.6 * half) as u64, "p999_ns": (10.0 * half) as u64,
                "max_ns": (700.0 * half) as u64,
            }));
        }
    }
}

/// Peer, trial, outcome, whether it is promised, and a sentence.
const TORMENT: &str = "\
tavola|kill|holds|yes|20 writers were killed; no reader waited longer than 31 ms.
tavola|full|refuses|yes|An error at 15.9 MiB; all 201,117 keys were there.
tavola|counters|holds|yes|400,000 of 400,000 increments are there.
tavola|old-reader|holds|yes|It did not grow.
lmdb|kill|holds|yes|It opened each time.
lmdb|full|dies|no|SIGBUS at 15.7 MiB: its map is sparse.
lmdb|counters|holds|yes|400,000 of 400,000 increments are there.
lmdb|old-reader|grows|no|From 9.1 MiB to 212 MiB.
apcu|kill|hangs|no|After the third kill no process could read.
apcu|full|loses|yes|It threw away all 81,220 entries.
gdbm|kill|refuses|no|It did not open 17 times.
gdbm|counters|not applicable|no|One writer at a time.
qdbm-depot|limits|ruined|no|Past 2 GiB nothing could be read.
files-shm|counters|loses|no|251,202 of 400,000 increments are there.
tavola|server-kill|not applicable|yes|It has no server.
memcached-unix|server-kill|loses|no|All 96 values were lost.
redis-tcp|server-kill|ruined|no|It did not serve again.";

fn torment() -> Value {
    let rows = TORMENT.lines().map(|line| {
        let [peer, trial, outcome, promised, detail] = line.split('|').collect::<Vec<_>>()[..]
        else {
            panic!("five fields: {line}");
        };
        json!({"peer": peer, "trial": trial, "outcome": outcome, "promised": promised == "yes",
            "detail": detail, "trials": 20})
    });
    rows.collect()
}

/// The same with texts that try to break out of the page wherever a text may stand.
pub fn hostile() -> Value {
    let mut results = results();
    for (place, text) in HOSTILE.iter().enumerate() {
        results["peers"][place]["title"] = json!(text);
        results["peers"][place]["configuration"] = json!(text);
        results["torment"][place]["detail"] = json!(text);
        results["left_out"][0]["why"] = json!(text);
    }
    let whole: String = HOSTILE.concat();
    for word in [
        "title", "phase", "peer", "language", "workload", "unit", "note",
    ] {
        let mut row = results["rows"][0].clone();
        row[word] = json!(whole);
        results["rows"]
            .as_array_mut()
            .expect("rows are a list")
            .push(row);
    }
    for word in ["cpu", "kernel", "os", "clock"] {
        results["machine"][word] = json!(whole);
    }
    results["noise"]["why"] = json!(whole);
    results["started"] = json!(whole);
    results
}

pub const HOSTILE: [&str; 7] = [
    "</script><script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 2'>",
    "\" onfocus=\"window.hit = 3\" autofocus x=\"",
    "<!-- <script> ",
    "]]>\u{2028}\u{2029}\u{0}",
    "&lt;b&gt; &amp; ' \" ` ${window.hit = 4}",
    "__proto__",
];
