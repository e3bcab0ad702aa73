//! The measurements: every line is there, its numbers fit together, wrong answers are noticed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

mod cdb;
mod clients;
mod command;
mod compare;
mod given;
mod logs;
mod postgres;
mod queues;
mod serves;
mod shf;
mod traces;

struct Shell {
    dir: TempDir,
}

impl Shell {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir_in("/dev/shm").expect("/dev/shm is writable"),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tavola-bench"));
        command
            .args(args)
            .env("TAVOLA_DIR", self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the command starts")
    }

    /// The lines of a small measurement that must succeed and leave nothing behind.
    fn kv(&self, args: &[&str]) -> Vec<Value> {
        let small = ["kv", "--json", "--keys", "3000", "--min-ops", "6000"];
        self.lines(&[&small, args].concat())
    }

    /// The lines of small comparisons, in the same way.
    fn scale(&self, args: &[&str]) -> Vec<Value> {
        let small = ["scale", "--json", "--keys", "3000", "--min-ops", "6000"];
        self.lines(&[&small, args].concat())
    }

    fn lines(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(self.tables(), 0, "the table is gone");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    fn tables(&self) -> usize {
        std::fs::read_dir(self.dir.path()).unwrap().count()
    }
}

/// The words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn number(line: &Value, name: &str) -> f64 {
    line[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no number {name} in {line}"))
}

fn phases(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .filter_map(|line| line["phase"].as_str())
        .collect()
}

fn check_phase(line: &Value, procs: usize) {
    let (ops, seconds) = (number(line, "ops"), number(line, "seconds"));
    assert!(seconds > 0.0);
    assert!(
        (number(line, "mops") - ops / seconds / 1e6).abs() < 1e-6,
        "{line}"
    );
    let percentiles = ["p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns"];
    let values: Vec<f64> = percentiles.iter().map(|name| number(line, name)).collect();
    assert!(values[0] > 0.0 && values.is_sorted(), "{line}");
    assert!(number(line, "max_less_wait_ns") <= values[4], "{line}");
    assert_eq!(line["share"].as_array().unwrap().len(), procs);
    assert_eq!(number(line, "procs") as usize, procs);
}

#[test]
fn each_phase_has_a_line_and_the_last_line_reports_the_memory() {
    let lines = Shell::new().kv(&[]);
    assert_eq!(phases(&lines), ["put", "over", "mix", "get", "miss"]);
    lines[..5].iter().for_each(|line| check_phase(line, 1));
    assert_eq!(number(&lines[0], "ops"), 3000.0, "each key is put once");
    assert!(lines[1..5].iter().all(|line| number(line, "ops") >= 6000.0));
    let end = &lines[5];
    let each = number(end, "resident_bytes") / 3000.0;
    assert!((number(end, "bytes_per_key") - each).abs() < 0.01, "{end}");
    assert!(
        each >= 16.0,
        "less than the keys and values themselves: {end}"
    );
    assert!(number(end, "harness_ns") > 0.0 && number(end, "timer_ns") > 0.0);
}

#[test]
fn a_cache_is_put_into_beyond_its_capacity() {
    let sizes = ["--value-bytes", "1000", "--procs", "2"];
    let cache = ["--capacity", "1M", "--phases", "put"];
    let lines = Shell::new().kv(&sizes);
    assert!(number(&lines[5], "resident_bytes") > 3e6);
    let lines = Shell::new().kv(&[&sizes[..], &cache].concat());
    check_phase(&lines[0], 2);
    assert_eq!(number(&lines[0], "ops"), 3000.0);
    assert!(number(&lines[1], "resident_bytes") <= (1 << 20) as f64);
}

#[test]
fn a_cache_that_all_keys_fit_in_has_every_phase() {
    let lines = Shell::new().kv(&["--capacity", "8M", "--procs", "2"]);
    for line in &lines[..5] {
        check_phase(line, 2);
    }
    assert!(number(&lines[5], "resident_bytes") <= (8 << 20) as f64);
}

#[test]
fn batches_and_several_processes_and_other_sizes() {
    let shell = Shell::new();
    for (procs, sizes) in [(2, ["8", "100"]), (3, ["5", "1"]), (1, ["20", "0"])] {
        let count = procs.to_string();
        let [key, value] = sizes;
        let sizes = ["--key-bytes", key, "--value-bytes", value, "--batch", "32"];
        let lines = shell.kv(&[&sizes[..], &["--procs", &count]].concat());
        lines[..5].iter().for_each(|line| check_phase(line, procs));
        let batches: Vec<f64> = lines[..5]
            .iter()
            .map(|line| number(line, "batch"))
            .collect();
        assert_eq!(batches, [32.0, 32.0, 1.0, 32.0, 32.0], "mix is not batched");
    }
}

#[test]
fn only_the_phases_asked_for_are_reported() {
    let lines = Shell::new().kv(&["--phases", "get,miss", "--no-latency", "--pin"]);
    assert_eq!(phases(&lines), ["get", "miss"]);
    assert!(lines[0].get("p50_ns").is_none());
}

/// One that this process may run on: not everywhere the first.
fn a_cpu() -> usize {
    let allowed = rustix::thread::sched_getaffinity(None).expect("its CPUs");
    (0..rustix::thread::CpuSet::MAX_CPU)
        .find(|&cpu| allowed.is_set(cpu))
        .expect("a CPU")
}

#[test]
fn repetitions_report_their_median_and_all_of_them() {
    let cpu = a_cpu().to_string();
    let lines = Shell::new().kv(&["--repeat", "3", "--cpu", &cpu, "--phases", "put,get"]);
    for line in &lines[..2] {
        let mut runs: Vec<f64> = line["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run.as_f64().unwrap())
            .collect();
        runs.sort_by(f64::total_cmp);
        assert_eq!(runs.len(), 3);
        assert_eq!(number(line, "mops"), runs[1]);
    }
}

#[test]
fn a_hot_key_is_read_while_another_process_writes_it() {
    let shell = Shell::new();
    let lines = shell.kv(&[
        "--dist",
        "hot",
        "--hot-writer",
        "--procs",
        "2",
        "--shards",
        "1",
    ]);
    assert_eq!(phases(&lines), ["put", "over", "mix", "get", "miss"]);
    assert!(number(&lines[3], "writer_mops") > 0.0);
    assert!(lines[2].get("writer_mops").is_none());
    assert_eq!(number(&lines[5], "shards"), 1.0);
}

#[test]
fn huge_pages_are_asked_for_before_the_reading_phases() {
    let lines = Shell::new().kv(&["--collapse"]);
    assert_eq!(
        phases(&lines),
        ["put", "over", "collapse", "mix", "get", "miss"]
    );
    assert!(lines[2]["collapsed_bytes"].is_u64());
}

#[test]
fn people_get_a_table() {
    let shell = Shell::new();
    let output = shell.run(&["kv", "--keys", "2K", "--min-ops", "2K", "--procs", "2"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["p999_ns", "put", "miss", "bytes_per_key: "] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

#[test]
fn open_iter_and_uid_report_what_they_measured() {
    let shell = Shell::new();
    let output = shell.run(&["open", "--repeat", "200", "--json"]);
    let open: Value = serde_json::from_slice(&output.stdout).unwrap();
    let parts = number(&open, "open_us") + number(&open, "get_us") + number(&open, "close_us");
    assert!((number(&open, "us_each") - parts).abs() < 0.01, "{open}");
    assert_eq!(number(&open, "count"), 200.0);
    let output = shell.run(&["iter", "--keys", "5K", "--json", "--repeat", "3"]);
    let iter: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(number(&iter, "mops") > 0.0);
    assert_eq!(iter["runs"].as_array().unwrap().len(), 3);
    let output = shell.run(&["uid", "--keys", "5K", "--json", "--repeat", "3"]);
    let uid: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(number(&uid, "uid_get_mops") > 0.0 && number(&uid, "set_ratio") > 0.0);
    assert!(number(&uid, "bytes_per_key") > number(&uid, "plain_bytes_per_key"));
    let output = shell.run(&["uid", "--keys", "5K", "--repeat", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("uid_get_mops: ") && text.contains("keys: 5,000"),
        "{text}"
    );
    assert_eq!(shell.tables(), 0);
}

#[test]
fn each_kind_of_lock_is_measured_for_each_number_of_threads() {
    let shell = Shell::new();
    let lines = shell.lines(&words("locks --json --repeat 2 --millis 5 --threads 1,2,6"));
    let runs: Vec<(&str, f64)> = lines
        .iter()
        .map(|line| (line["kind"].as_str().unwrap(), number(line, "threads")))
        .collect();
    let kinds = ["lock", "shared", "semaphore", "mutex"];
    let wanted = kinds.map(|kind| [1.0, 2.0, 6.0].map(|threads| (kind, threads)));
    assert_eq!(runs, wanted.concat());
    for line in &lines {
        assert!(number(line, "mops") > 0.0 && number(line, "cpu_mops") > 0.0);
        assert!(number(line, "threads") != 2.0 || number(line, "scale") == 1.0);
    }
    assert_eq!(shell.tables(), 0);
}

#[test]
fn tags_are_compared_with_none() {
    let shell = Shell::new();
    let run = |args: &[&str]| {
        let args = [&["tags", "--keys", "3K", "--repeat", "1"], args].concat();
        String::from_utf8(shell.run(&args).stdout).unwrap()
    };
    let text = run(&["--json"]);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let tags: Vec<f64> = lines.iter().map(|line| number(line, "tags")).collect();
    assert_eq!(tags, [0.0, 1.0, 2.0, 4.0, 16.0]);
    assert!(lines[0]["invalidate_us"].is_null() && number(&lines[0], "get_ratio") == 1.0);
    for pair in lines.windows(2) {
        assert!(number(&pair[1], "bytes_per_key") > number(&pair[0], "bytes_per_key"));
        assert!(number(&pair[1], "invalidate_us") > 0.0 && number(&pair[1], "set_mops") > 0.0);
    }
    let text = run(&[]);
    assert!(
        text.contains("get_ratio") && text.contains("3,000"),
        "{text}"
    );
    let lines = shell.lines(&words("copy --json --repeat 2"));
    let sizes: Vec<f64> = lines
        .iter()
        .map(|line| number(line, "value_bytes"))
        .collect();
    assert_eq!(sizes, [8192.0, 65_536.0, 1_048_576.0]);
    assert!(lines.iter().all(|line| number(line, "get_ratio") > 0.0));
    assert_eq!(shell.tables(), 0);
}

const COMPARISONS: [&str; 5] = ["one-cpu", "crowd", "readers", "hot-readers", "hot-writer"];

/// Of one or two pairs, the ratio of the medians lies between the ratios, too.
fn check_ratio(line: &Value, pairs: usize) {
    assert_eq!(number(line, "pairs") as usize, pairs);
    let (least, most) = (number(line, "least"), number(line, "most"));
    assert!(
        0.0 < least && least <= number(line, "ratio") && number(line, "ratio") <= most,
        "{line}"
    );
    let sides = number(line, "mops") / number(line, "base_mops");
    assert!(least - 1e-9 <= sides && sides <= most + 1e-9, "{line}");
}

#[test]
fn each_comparison_has_a_line_a_phase_or_says_why_it_was_left_out() {
    let lines = Shell::new().scale(&["--repeat", "1"]);
    for name in COMPARISONS {
        let its = lines.iter().filter(|line| line["compare"] == name);
        let its: Vec<Value> = its.cloned().collect();
        if its.len() == 1 && its[0].get("left_out").is_some() {
            let why = its[0]["left_out"].as_str().unwrap();
            assert!(
                why.contains("two CPUs") && !["one-cpu", "crowd"].contains(&name),
                "{name}: {why}"
            );
            continue;
        }
        its.iter().for_each(|line| check_ratio(line, 1));
        match name {
            "one-cpu" | "crowd" => assert_eq!(phases(&its), ["put", "over", "mix", "get", "miss"]),
            _ => assert_eq!(phases(&its), ["get"], "{name}"),
        }
    }
    let known = |line: &Value| COMPARISONS.contains(&line["compare"].as_str().unwrap());
    assert!(lines.iter().all(known), "{lines:?}");
}

#[test]
fn only_the_comparisons_and_phases_asked_for_are_made() {
    let shell = Shell::new();
    let only = ["--only", "readers", "--only", "one-cpu"];
    let lines = shell.scale(&[&only[..], &["--phases", "miss,put", "--repeat", "2"]].concat());
    let names: Vec<&Value> = lines.iter().map(|line| &line["compare"]).collect();
    assert_eq!(names, ["one-cpu", "one-cpu", "readers"]);
    assert_eq!(phases(&lines), ["put", "miss"]);
    lines[..2].iter().for_each(|line| check_ratio(line, 2));
    assert!(lines[2]["left_out"].is_string(), "it has no phase of these");
}

#[test]
fn comparisons_that_are_not_known_or_cannot_be_are_refused() {
    let shell = Shell::new();
    let output = shell.run(&["scale", "--only", "flock"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    for name in COMPARISONS {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
    for wrong in [["--repeat", "0"], ["--keys", "3"], ["--phases", "fly"]] {
        let output = shell.run(&[&["scale"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
    assert_eq!(shell.tables(), 0);
}

#[test]
fn options_out_of_bounds_are_refused() {
    let shell = Shell::new();
    for wrong in [
        &["--keys", "0"][..],
        &["--keys", "300", "--key-bytes", "1"],
        &["--keys", "2", "--procs", "3"],
        &["--batch", "0"],
        &["--phases", "fly"],
        &["--pin", "--cpu", "0"],
        &["--capacity", "1M", "--value-bytes", "1000"],
        &["--capacity", "1K", "--phases", "put"],
    ] {
        let output = shell.run(&[&["kv"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
    assert_eq!(shell.tables(), 0);
}

/// Speaks the leader's part to a worker, over a table whose value of one key is wrong.
#[test]
fn a_wrong_or_missing_answer_is_noticed() {
    let shell = Shell::new();
    let path = shell.dir.path().join("wrong");
    let table = tavola::Table::options().open(&path).unwrap();
    table.set(b"nothing", b"that is asked for").unwrap();
    let mut worker = shell.command(&["worker"]);
    let mut child = worker
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let setup = serde_json::json!({
        "leader_pid": std::process::id(), "part": 0, "parts": 1, "keys": 10, "key_bytes": 8,
        "value_bytes": 8, "distribution": "uniform", "cpu": null,
    });
    writeln!(input, "{setup}").unwrap();
    writeln!(input, "{}", serde_json::json!({"Attach": path})).unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), r#""Ready""#);
    let run = serde_json::json!({"Run": {
        "phase": "get", "start_ns": 0, "batch": 1, "rounds": 1, "limit": 10, "timed": false,
        "oldest": 0, "newest": 0, "writes": 1, "seed": 1,
    }});
    writeln!(input, "{run}").unwrap();
    let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer["Failed"]["wrong"], true, "{answer}");
    assert!(
        answer["Failed"]["what"]
            .as_str()
            .unwrap()
            .contains("missing"),
        "{answer}"
    );
    child.wait().unwrap();
}

#[test]
fn nothing_is_left_when_it_is_killed_in_the_middle() {
    let shell = Shell::new();
    let args = words("kv --keys 50K --min-ops 1000M --no-latency --json");
    let mut child = shell.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.next().unwrap().unwrap().contains("put"),
        "the first phase is over"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(shell.tables(), 0);
    let mine = shell.dir.path().as_os_str().as_encoded_bytes();
    let until = Instant::now() + Duration::from_secs(60);
    while mappings_of(mine) {
        assert!(
            Instant::now() < until,
            "a worker goes on without its leader"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether any process has a file of this directory mapped.
fn mappings_of(dir: &[u8]) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut maps = processes.filter_map(|entry| std::fs::read(entry.path().join("maps")).ok());
    maps.any(|maps| maps.windows(dir.len()).any(|some| some == dir))
}
