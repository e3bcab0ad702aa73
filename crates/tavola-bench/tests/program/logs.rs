//! The ways of `tavola-bench log`.

use serde_json::Value;

use super::{Shell, number};

const METHODS: [&str; 6] = [
    "tavola-flight",
    "tavola-block",
    "tavola-drop",
    "write",
    "tracing-appender",
    "tracing",
];

/// The lines of a small measurement that must succeed and leave nothing behind.
fn methods(shell: &Shell, args: &[&str]) -> Vec<Value> {
    shell.lines(&[&["log", "--json"], args].concat())
}

fn check_method(line: &Value) {
    assert_eq!(line["phase"], "log");
    let (lines, kept) = (number(line, "lines"), number(line, "kept"));
    assert_eq!(lines, kept + number(line, "dropped"), "{line}");
    assert!(kept > 0.0, "{line}");
    let percentiles = ["p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns"];
    let values: Vec<f64> = percentiles.iter().map(|name| number(line, name)).collect();
    assert!(values[0] > 0.0 && values.is_sorted(), "{line}");
    let writers = number(line, "procs") * number(line, "threads");
    let turns = line["runs_writer_ns"].as_array().unwrap().len() as f64;
    let timed = (lines / writers / 61.0).floor() * writers * turns;
    assert_eq!(number(line, "timed"), timed, "{line}");
    assert!(number(line, "timer_ns") > 0.0, "{line}");
    // The writers' own time is no more than that from the common start to the end of the last.
    let most_mlps = 1e3 / number(line, "writer_ns") * writers;
    let mlps = number(line, "writer_mlps");
    assert!(mlps > 0.0 && mlps <= most_mlps * 1.001, "{line}");
    match line["method"].as_str().unwrap() {
        "tavola-flight" => assert!(line["all_mlps"].is_null(), "{line}"),
        method => {
            let all = number(line, "all_mlps");
            assert!(all > 0.0 && all <= mlps * 1.001, "{line}");
            assert!(method == "tavola-drop" || kept == lines, "{line}");
        }
    }
}

#[test]
fn each_method_has_a_line_or_says_why_it_was_left_out() {
    let lines = methods(&Shell::new(), &["--lines", "20K", "--repeat", "1"]);
    for method in METHODS {
        let its = lines.iter().filter(|line| line["method"] == method);
        let its: Vec<&Value> = its.collect();
        assert_eq!(its.len(), 1, "{method}");
        if !cfg!(feature = "peers") && method.starts_with("tracing") {
            let why = its[0]["left_out"].as_str().unwrap();
            assert!(why.contains("--features peers"), "{method}: {why}");
            continue;
        }
        check_method(its[0]);
        assert_eq!(number(its[0], "lines"), 20_000.0);
        assert_eq!(number(its[0], "text_bytes"), 72.0);
        let has_log = !its[0]["log_bytes"].is_null();
        assert_eq!(has_log, method.starts_with("tavola"), "{method}");
    }
    assert_eq!(lines.len(), METHODS.len());
}

#[test]
fn several_processes_and_threads_log_texts_of_other_lengths() {
    let shell = Shell::new();
    for (procs, threads, bytes) in [("2", "1", "8"), ("2", "2", "333"), ("1", "3", "16360")] {
        let crew = ["--procs", procs, "--threads", threads];
        let sizes = ["--text-bytes", bytes, "--lines", "4001", "--repeat", "1"];
        let lines = methods(&shell, &[&crew[..], &sizes].concat());
        let measured = lines.iter().filter(|line| line.get("left_out").is_none());
        let measured: Vec<&Value> = measured.collect();
        assert!(measured.len() >= 4, "{lines:?}");
        for line in measured {
            check_method(line);
            let writers = number(line, "procs") * number(line, "threads");
            let share = (4001.0 / writers).ceil();
            assert_eq!(number(line, "lines"), share * writers, "{line}");
        }
    }
}

#[test]
fn a_small_log_makes_writers_wait_or_drops_and_a_recorder_keeps_what_it_has_room_for() {
    let shell = Shell::new();
    let only = ["--methods", "tavola-drop,tavola-block,tavola-flight"];
    let cpu = super::a_cpu().to_string();
    let few = ["--lines", "20K", "--log-bytes", "64K", "--cpu", &cpu];
    let lines = methods(&shell, &[&only[..], &few].concat());
    let order: Vec<&Value> = lines.iter().map(|line| &line["method"]).collect();
    assert_eq!(order, ["tavola-flight", "tavola-block", "tavola-drop"]);
    for line in &lines {
        check_method(line);
        assert_eq!(number(line, "log_bytes"), 65_536.0);
        let runs = line["runs_writer_ns"].as_array().unwrap().iter();
        let mut runs: Vec<f64> = runs.map(|run| run.as_f64().unwrap()).collect();
        runs.sort_by(f64::total_cmp);
        assert_eq!((runs.len(), number(line, "writer_ns")), (3, runs[1]));
    }
    let room = 65_536.0 / 72.0;
    let kept = number(&lines[0], "kept");
    assert!(kept <= room && kept >= room / 4.0, "{}", lines[0]);
}

#[test]
fn what_cannot_be_logged_is_refused() {
    let shell = Shell::new();
    for wrong in [
        ["--lines", "0"],
        ["--lines", "9G"],
        ["--text-bytes", "7"],
        ["--text-bytes", "16361"],
        ["--procs", "0"],
        ["--threads", "0"],
        ["--threads", "257"],
        ["--procs", "4294967295"],
        ["--methods", "pigeon"],
        ["--repeat", "0"],
        ["--log-bytes", "48K"],
    ] {
        let output = shell.run(&[&["log"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
    assert_eq!(shell.tables(), 0);
}
