//! Caches: create --capacity, set-capacity, and what stat prints of them.

use crate::shell::{Ran, Shell};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// A cache of 4 MiB, and about 16 MB of keys that were written to it.
fn full() -> Shell {
    let shell = Shell::new();
    shell.run(["create", "c", "--capacity", "4M"]).ok();
    load(&shell, 0);
    shell
}

fn load(shell: &Shell, from: u32) {
    let value = "x".repeat(1000);
    let lines: String = (from..from + 16_000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"{value}\"}}\n"))
        .collect();
    shell.feed(["load", "c"], lines.as_bytes()).ok();
}

fn stat(shell: &Shell) -> Value {
    shell.run(["stat", "c", "--json"]).json()
}

fn number(document: &Value, name: &str) -> u64 {
    document[name].as_u64().expect(name)
}

fn assert_clean(shell: &Shell) {
    let checked: Ran = shell.run(["check", "c"]);
    assert!(checked.text().contains("no problems"));
}

#[test]
fn a_cache_stays_within_its_capacity_and_reports_evictions() {
    let shell = full();
    let stat = stat(&shell);
    assert_eq!(number(&stat, "capacity"), 4 * MIB);
    assert!(number(&stat, "resident_bytes") <= 4 * MIB, "{stat}");
    let used = stat["capacity_used"].as_f64().unwrap();
    assert!(used > 0.8 && used <= 1.0, "{used}");
    let evicted = number(&stat, "evicted_new") + number(&stat, "evicted_old");
    assert_eq!(evicted + number(&stat, "keys"), 16_000);
    assert!(number(&stat, "probationary_bytes") <= number(&stat, "payload_bytes"));
    assert!(stat["ghost_hits"].is_u64());
    assert_eq!((number(&stat, "hits"), number(&stat, "misses")), (0, 0));
    assert!(stat["hit_ratio"].is_null() && number(&stat, "writes") >= 16_000);
    assert_clean(&shell);
}

#[test]
fn cache_figures_are_shown_for_caches_only() {
    let shell = full();
    let text = shell.run(["stat", "c"]).text();
    for part in [
        "capacity      4 MiB, ",
        "used by       0 reads, ",
        "probationary  ",
        "evicted       ",
        "came back     ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    shell.run(["create", "t"]).ok();
    let text = shell.run(["stat", "t"]).text();
    for name in ["capacity", "probationary", "evicted", "came back"] {
        assert!(!text.contains(name), "{name}: {text}");
    }
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(
        (&stat["capacity"], &stat["capacity_used"]),
        (&json!(null), &json!(null))
    );
}

#[test]
fn a_smaller_capacity_gives_memory_back_and_a_larger_one_is_used() {
    let shell = full();
    let now = shell.run(["set-capacity", "c", "2M", "--json"]).json();
    assert_eq!(number(&now, "capacity"), 2 * MIB);
    assert!(number(&now, "resident_bytes") <= 2 * MIB, "{now}");
    assert!(number(&now, "keys") > 0);
    let after = stat(&shell);
    assert_eq!(number(&after, "keys"), number(&now, "keys"));
    assert!(number(&after, "resident_bytes") <= 2 * MIB, "{after}");
    assert_clean(&shell);

    let text = shell.run(["set-capacity", "c", "8M"]).text();
    assert!(
        text.starts_with("uses ") && text.contains(" of 8 MiB, "),
        "{text}"
    );
    load(&shell, 16_000);
    let grown = stat(&shell);
    let resident = number(&grown, "resident_bytes");
    assert!(resident > 4 * MIB && resident <= 8 * MIB, "{grown}");
    assert_clean(&shell);
}

#[test]
fn capacities_out_of_bounds_and_other_tables_are_refused() {
    let shell = full();
    for size in ["1K", "65G"] {
        let refused = shell.run(["set-capacity", "c", size]).error();
        assert!(refused.contains("capacity"), "{refused}");
    }
    assert_eq!(shell.run(["set-capacity", "c", "much"]).code, 2);
    assert_eq!(shell.run(["set-capacity", "c"]).code, 2);
    shell.run(["set-capacity", "missing", "4M"]).error();
    assert_eq!(number(&stat(&shell), "capacity"), 4 * MIB);
    shell.run(["create", "t"]).ok();
    let refused = shell.run(["set-capacity", "t", "4M"]).error();
    assert!(refused.contains("is not a cache"), "{refused}");
    let refused = shell.run(["create", "u", "--capacity", "1K"]).error();
    assert!(refused.contains("capacity"), "{refused}");
    assert_eq!(shell.run(["create", "u", "--capacity", "much"]).code, 2);
    assert!(!shell.path().join("u").exists());
}

#[test]
fn recent_rates_are_reported() {
    let shell = Shell::new();
    shell.run(["create", "c", "--capacity", "4M"]).ok();
    let young = shell.run(["stat", "c"]).text();
    assert!(
        !young.contains("lately") && !young.contains("takes"),
        "{young}"
    );
    let table = tavola::Table::open(shell.path().join("c")).unwrap();
    table.set(b"key", b"value").unwrap();
    for _ in 0..1100 {
        table.get(b"key").unwrap();
    }
    for _ in 0..10 {
        table.get(b"none").unwrap();
    }
    table.remove(b"none").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    let stat = stat(&shell);
    let recent = stat["recent"].as_array().unwrap();
    let wanted: Vec<f64> = recent
        .iter()
        .map(|one| one["wanted_s"].as_f64().unwrap())
        .collect();
    assert_eq!(wanted, [1.0, 10.0, 60.0]);
    assert!(recent[0]["spanned_s"].as_f64().unwrap() > 0.5, "{stat}");
    // A sample may have been taken meanwhile, where this takes long.
    let hits = number(&recent[0], "hits");
    assert!(
        hits <= 1100 && recent[0]["hit_ratio"].is_f64() == (hits > 0),
        "{stat}"
    );
    let reads = &stat["latencies"]["reads"];
    let buckets = reads["buckets"].as_array().unwrap();
    let timed: u64 = buckets.iter().map(|bucket| number(bucket, "count")).sum();
    assert_eq!(timed, 1);
    assert!(number(reads, "p50_ns") <= number(reads, "p99_ns"), "{stat}");
    assert!(stat["latencies"]["writes"]["p50_ns"].is_null());
    let shards = stat["each_shard"].as_array().unwrap();
    assert_eq!(shards.len() as u64, number(&stat, "shards"));
    let sum = |name: &str| shards.iter().map(|shard| number(shard, name)).sum::<u64>();
    assert_eq!((sum("keys"), sum("writes"), sum("recoveries")), (1, 1, 0));
    let one = &stat["participants"][0];
    for document in [one, &stat] {
        let names = ["hits", "misses", "writes", "sets", "removes"];
        let counts = names.map(|name| number(document, name));
        assert_eq!(counts, [1100, 10, 2, 1, 1]);
    }
    let text = shell.run(["stat", "c"]).text();
    let used = "used by       1,110 reads, 1 set, 1 remove, 99.10 % hits\n";
    assert!(text.contains(used), "{text}");
    assert!(text.contains("takes         half of reads in "), "{text}");
    assert!(hits == 0 || text.contains("lately        hits "), "{text}");
}

#[test]
fn shards_are_listed_if_asked_for() {
    let shell = Shell::new();
    shell.run(["create", "t", "--shards", "4"]).ok();
    let lines: String = (0..5000).map(|n| format!("key {n}\tvalue\n")).collect();
    let loaded = shell.feed(["load", "t", "--format", "tsv"], lines.as_bytes());
    assert_eq!(loaded.code, 0);
    shell.run(["del", "t", "key 7"]).ok();
    let plain = shell.run(["stat", "t"]).text();
    assert!(!plain.contains("recoveries"), "{plain}");
    let text = shell.run(["stat", "t", "--shards"]).text();
    let lines = text.lines().skip_while(|line| !line.contains("recoveries"));
    let mut rows = lines.map(|line| {
        let words = line.split("  ").map(str::trim);
        let words = words.filter(|word| !word.is_empty());
        words.map(|word| word.replace(',', "")).collect::<Vec<_>>()
    });
    let names = [
        "shard",
        "keys",
        "payload bytes",
        "writes",
        "evicted",
        "recoveries",
    ];
    assert_eq!(rows.next().unwrap(), names);
    let stat = shell.run(["stat", "t", "--json"]).json();
    let shards = stat["each_shard"].as_array().unwrap();
    let names = [
        "number",
        "keys",
        "payload_bytes",
        "writes",
        "evicted",
        "recoveries",
    ];
    let expected = shards
        .iter()
        .map(|shard| names.map(|name| shard[name].to_string()));
    let rows: Vec<_> = rows.collect();
    assert!(
        rows.iter().eq(&expected.collect::<Vec<_>>()),
        "{text}{stat}"
    );
    let keys: u64 = shards.iter().map(|shard| number(shard, "keys")).sum();
    assert_eq!((shards.len(), keys), (4, 4999));
}
