//! The replays of `tavola-bench trace`.

use std::path::PathBuf;

use serde_json::Value;

use super::{Desk, number, words};

const RATIOS: [&str; 4] = ["hit", "lru", "s3fifo", "byte_hit"];

/// A folder with a trace in it.
struct Shelf {
    dir: tempfile::TempDir,
}

impl Shelf {
    fn new(name: &str, ids: &[u32]) -> Self {
        let shelf = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        std::fs::write(shelf.path(name), bytes).unwrap();
        shelf
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().unwrap()
    }
}

/// The lines of replays that must succeed and leave nothing behind.
fn replays(desk: &Desk, args: &[&str]) -> Vec<Value> {
    let small = ["trace", "--json", "--max-size", "256M", "--shards", "1"];
    desk.lines(&[&small, args].concat())
}

fn ratios(line: &Value) -> [f64; 4] {
    RATIOS.map(|name| number(line, name))
}

#[test]
fn a_table_with_room_for_all_finds_all_that_came_before_and_so_do_the_simulations() {
    // Three items, six requests: half of them find theirs.
    let shelf = Shelf::new("few.first.u32", &[70, 9, 70, 70, 5, 9]);
    let lines = replays(
        &Desk::new(),
        &[&shelf.text("few.first.u32"), "--items", "10"],
    );
    let [line] = &lines[..] else {
        panic!("not one line: {lines:?}");
    };
    assert_eq!(line["trace"], "few");
    for (name, wanted) in [
        ("requests", 6.0),
        ("keys", 3.0),
        ("items_wanted", 10.0),
        ("items_mean", 3.0),
        ("evicted_new", 0.0),
        ("evicted_old", 0.0),
        ("ghost_hits", 0.0),
    ] {
        assert_eq!(number(line, name), wanted, "{name} of {line}");
    }
    assert!(number(line, "capacity_bytes") >= 1080.0, "{line}");
    assert_eq!(ratios(line), [50.0; 4], "{line}");
}

#[test]
fn each_trace_has_a_line_a_number_of_items_and_the_last_line_has_the_means() {
    let made = words("--zipf 0.9 --scan 0.9 --keys 20K --requests 100K");
    let lines = replays(
        &Desk::new(),
        &[&made[..], &["--items", "5%,2K", "--items", "25%"]].concat(),
    );
    let names: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["trace"].as_str())
        .collect();
    assert_eq!(
        names,
        ["zipf", "zipf", "zipf", "scan", "scan", "scan", "mean"]
    );
    let (end, lines) = lines.split_last().unwrap();
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(number(line, "requests"), 100_000.0);
        let keys = number(line, "keys");
        let wanted = [(keys * 0.05).floor(), 2000.0, (keys * 0.25).floor()][at % 3];
        assert_eq!(number(line, "items_wanted"), wanted, "{line}");
        let held = number(line, "items_mean");
        assert!(held > wanted * 0.5 && held <= keys, "{line}");
        let ratios = ratios(line);
        assert!(
            ratios.iter().all(|ratio| (10.0..100.0).contains(ratio)),
            "{line}"
        );
        assert_eq!(ratios[0], ratios[3], "all values have as many bytes");
    }
    assert_eq!(number(end, "replays"), 6.0);
    for name in RATIOS {
        let sum: f64 = lines.iter().map(|line| number(line, name)).sum();
        assert!((number(end, name) - sum / 6.0).abs() < 0.02, "{name}");
    }
}

#[test]
fn a_table_that_is_too_small_evicts() {
    // 30,000 items that come once each, 7 of them again and again.
    let ids: Vec<u32> = (0..30_000).flat_map(|id| [id, id % 7]).collect();
    let shelf = Shelf::new("long.u32", &ids);
    let lines = replays(&Desk::new(), &[&shelf.text("long.u32"), "--items", "10%"]);
    let line = &lines[0];
    assert!(number(line, "items_mean") < 20_000.0, "{line}");
    let evicted = number(line, "evicted_new") + number(line, "evicted_old");
    assert!(evicted >= 10_000.0, "{line}");
    // The table and LRU find what comes again and again: half of the requests.
    assert!((49.0..50.1).contains(&number(line, "hit")), "{line}");
    assert!((49.9..50.1).contains(&number(line, "lru")), "{line}");
}

#[test]
fn values_of_many_sizes_have_a_ratio_of_their_bytes() {
    let made = ["--zipf", "0.8", "--keys", "20K", "--requests", "60K"];
    let sizes = ["--items", "10%", "--value-bytes", "20-2000"];
    let lines = replays(&Desk::new(), &[&made[..], &sizes].concat());
    let line = &lines[0];
    let (hit, byte_hit) = (number(line, "hit"), number(line, "byte_hit"));
    assert!((10.0..100.0).contains(&byte_hit), "{line}");
    assert_ne!(hit, byte_hit);
}

#[test]
fn what_cannot_be_replayed_is_refused_and_the_reason_told() {
    let desk = Desk::new();
    let shelf = Shelf::new("good.u32", &[1, 2]);
    std::fs::write(shelf.path("odd.u32"), b"12345").unwrap();
    std::fs::write(shelf.path("empty.u32"), b"").unwrap();
    std::fs::write(shelf.path("torn.u32.xz"), b"\xfd7zXZ\0\0\x04").unwrap();
    let good = shelf.text("good.u32");
    let refused = |args: &[&str], why: &str| {
        let output = desk.run(&[&["trace"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(why), "{args:?}: {told}");
        assert!(output.stdout.is_empty(), "{args:?}");
    };
    for (name, why) in [
        ("odd.u32", "multiple of 4"),
        ("empty.u32", "is empty"),
        ("torn.u32.xz", "xz -t"),
        ("none.u32", "none.u32"),
    ] {
        refused(&[&shelf.text(name), "--items", "5"], why);
    }
    refused(&[&good], "--items");
    refused(&["--items", "5"], "name a file");
    for (items, why) in [
        ("0", "one item at least"),
        ("0%", "above 0 %"),
        ("101%", "at most 100 %"),
        ("NaN%", "above 0 %"),
        ("some", "not a number of items"),
    ] {
        refused(&[&good, "--items", items], why);
    }
    for bytes in ["0-10", "10-5", "many"] {
        refused(&[&good, "--items", "5", "--value-bytes", bytes], "50-5000");
    }
    refused(&["--zipf", "-1", "--items", "5"], "");
    refused(&["--zipf", "11", "--items", "5"], "0 to 10");
    refused(&["--scan", "1", "--keys", "0", "--items", "5"], "--keys");
    refused(
        &["--scan", "1", "--requests", "0", "--items", "5"],
        "--requests",
    );
    assert_eq!(desk.tables(), 0);
}
