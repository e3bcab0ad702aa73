//! The replays of `tavola-bench trace`.

use serde_json::Value;
use tempfile::TempDir;

use super::{Shell, number};

/// A folder with traces in it, and the name of one.
fn trace(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn packed(ids: impl IntoIterator<Item = u32>) -> Vec<u8> {
    ids.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The lines of replays that must succeed and leave nothing behind.
fn replays(args: &[&str]) -> Vec<Value> {
    let small = ["trace", "--json", "--max-size", "256M", "--shards", "1"];
    Shell::new().lines(&[&small, args].concat())
}

#[test]
fn a_table_with_room_for_all_finds_all_that_came_before_and_so_do_the_simulations() {
    let folder = tempfile::tempdir().unwrap();
    // Three items, six requests: half of them find theirs.
    let few = trace(&folder, "few.first.u32", packed([70, 9, 70, 70, 5, 9]));
    let lines = replays(&[&few, "--items", "10"]);
    assert_eq!((lines.len(), &lines[0]["trace"]), (1, &"few".into()));
    for (name, wanted) in [
        ("requests", 6.0),
        ("keys", 3.0),
        ("items_wanted", 10.0),
        ("items_mean", 3.0),
        ("evicted_new", 0.0),
        ("evicted_old", 0.0),
        ("ghost_hits", 0.0),
        ("hit", 50.0),
        ("lru", 50.0),
        ("s3fifo", 50.0),
    ] {
        assert_eq!(number(&lines[0], name), wanted, "{name} of {}", lines[0]);
    }
    assert!(
        number(&lines[0], "capacity_bytes") >= 1080.0,
        "{}",
        lines[0]
    );
}

#[test]
fn each_trace_has_a_line_a_number_of_items_and_the_last_line_has_the_means() {
    let folder = tempfile::tempdir().unwrap();
    // 30,000 items that come once each, 7 of them again and again.
    let long = trace(
        &folder,
        "long.u32",
        packed((0..30_000).flat_map(|id| [id, id % 7])),
    );
    let few = trace(&folder, "few.u32", packed([1, 2, 1]));
    let lines = replays(&[&long, &few, "--items", "10%,2K"]);
    let names: Vec<_> = lines.iter().map(|line| &line["trace"]).collect();
    assert_eq!(names, ["long", "long", "few", "few", "mean"]);
    let wanted: Vec<f64> = lines[..4]
        .iter()
        .map(|line| number(line, "items_wanted"))
        .collect();
    assert_eq!(wanted, [3000.0, 2000.0, 1.0, 2000.0]);
    for line in &lines[..2] {
        assert!(number(line, "items_mean") < 20_000.0, "{line}");
        let evicted = number(line, "evicted_new") + number(line, "evicted_old");
        assert!(evicted >= 10_000.0, "{line}");
        // The table and LRU find what comes again and again: half of the requests.
        assert!((49.0..50.1).contains(&number(line, "hit")), "{line}");
        assert!((49.9..50.1).contains(&number(line, "lru")), "{line}");
    }
    for name in ["hit", "lru", "s3fifo"] {
        let sum: f64 = lines[..4].iter().map(|line| number(line, name)).sum();
        assert!((number(&lines[4], name) - sum / 4.0).abs() < 0.02, "{name}");
    }
}

#[test]
fn traces_that_cannot_be_replayed_are_refused_with_the_reason() {
    let (shell, folder) = (Shell::new(), tempfile::tempdir().unwrap());
    let refused = |args: &[&str], why: &str| {
        let output = shell.run(&[&["trace"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(why), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
    };
    let good = trace(&folder, "good.u32", packed([1, 2]));
    let odd = trace(&folder, "odd.u32", b"12345");
    let empty = trace(&folder, "empty.u32", b"");
    refused(&[&odd, "--items", "5"], "multiple of 4");
    refused(&[&empty, "--items", "5"], "is empty");
    refused(&["/no/such/trace", "--items", "5"], "/no/such/trace");
    refused(&[&good], "--items");
    refused(&["--items", "5"], "FILE");
    refused(&[&good, "--items", "0"], "one item at least");
    refused(&[&good, "--items", "101%"], "at most 100 %");
    refused(&[&good, "--items", "some"], "not a number of items");
    assert_eq!(shell.tables(), 0);
}
