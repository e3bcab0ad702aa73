//! The games of `tavola-bench queue`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tavola::QueueOptions;

use super::{Shell, number};

const PEERS: [&str; 4] = ["tavola", "array-queue", "socket", "iceoryx2"];

/// The lines of small games that must succeed and leave nothing behind.
fn games(shell: &Shell, args: &[&str]) -> Vec<Value> {
    let small = ["queue", "--json", "--moves", "2K", "--repeat", "1"];
    shell.lines(&[&small, args].concat())
}

fn check_game(line: &Value) {
    assert_eq!(line["phase"], "queue");
    let (moves, seconds) = (number(line, "moves"), number(line, "seconds"));
    assert!(moves > 0.0 && moves <= 2000.0 && seconds > 0.0, "{line}");
    let mops = number(line, "mops_each_way");
    let is_rate = (mops - moves / seconds / 1e6).abs() < 1e-6;
    assert!(mops > 0.0 && is_rate, "{line}");
}

#[test]
fn each_peer_has_a_line_a_run_and_touch_or_says_why_it_was_left_out() {
    let sizes = ["--elements", "300", "--runs", "1000,7,1"];
    let lines = games(&Shell::new(), &sizes);
    for peer in PEERS {
        let its = lines.iter().filter(|line| line["peer"] == peer);
        let its: Vec<&Value> = its.collect();
        if !cfg!(feature = "peers") && ["array-queue", "iceoryx2"].contains(&peer) {
            assert_eq!(its.len(), 1, "{peer}");
            let why = its[0]["left_out"].as_str().unwrap();
            assert!(why.contains("--features peers"), "{peer}: {why}");
            continue;
        }
        assert_eq!(its.len(), 6, "{peer}");
        for (at, line) in its.into_iter().enumerate() {
            check_game(line);
            assert_eq!(number(line, "run"), [1000.0, 7.0, 1.0][at % 3]);
            assert_eq!(line["touched"], at >= 3, "{line}");
            assert_eq!(number(line, "elements"), 300.0);
            assert_eq!(number(line, "element_bytes"), 64.0);
        }
    }
    let known = |line: &Value| PEERS.contains(&line["peer"].as_str().unwrap());
    assert!(lines.iter().all(known), "{lines:?}");
}

#[test]
fn elements_of_other_sizes_move_and_more_or_fewer_than_there_are_moves() {
    let shell = Shell::new();
    let peers = PEERS.join(",");
    for (elements, bytes) in [("1", "8"), ("5K", "136")] {
        let sizes = ["--elements", elements, "--element-bytes", bytes];
        let lines = games(
            &shell,
            &[&sizes[..], &["--runs", "3", "--peers", &peers]].concat(),
        );
        let cases = lines.iter().filter(|line| line.get("run").is_some());
        let cases: Vec<&Value> = cases.collect();
        assert!(cases.len() >= 4, "{lines:?}");
        for line in cases {
            check_game(line);
            assert_eq!(number(line, "moves"), 2000.0, "{line}");
        }
    }
}

#[test]
fn games_end_in_time_also_on_one_cpu_and_report_the_median() {
    let shell = Shell::new();
    let cpu = super::a_cpu().to_string();
    let limits = ["--moves", "2G", "--seconds", "0.05", "--cpu", &cpu];
    let only = ["--runs", "100", "--peers", "socket,tavola", "--repeat", "3"];
    let lines = shell.lines(&[&["queue", "--json"], &limits[..], &only].concat());
    let peers: Vec<&Value> = lines.iter().map(|line| &line["peer"]).collect();
    assert_eq!(peers, ["tavola", "socket", "tavola", "socket"]);
    for line in &lines {
        let moves = number(line, "moves");
        assert!(moves > 0.0 && moves < 2e9, "{line}");
        let runs = line["runs"].as_array().unwrap().iter();
        let mut runs: Vec<f64> = runs.map(|run| run.as_f64().unwrap()).collect();
        runs.sort_by(f64::total_cmp);
        assert_eq!(runs.len(), 3);
        assert_eq!(number(line, "mops_each_way"), runs[1]);
    }
}

#[test]
fn games_that_are_not_known_or_cannot_be_are_refused() {
    let shell = Shell::new();
    for wrong in [
        ["--elements", "0"],
        ["--elements", "5G"],
        ["--element-bytes", "0"],
        ["--element-bytes", "60"],
        ["--runs", "0"],
        ["--runs", "10,many"],
        ["--peers", "pigeon"],
        ["--moves", "0"],
        ["--moves", "9G"],
        ["--seconds", "0"],
        ["--seconds", "NaN"],
        ["--repeat", "0"],
    ] {
        let output = shell.run(&[&["queue"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
    assert_eq!(shell.tables(), 0);
}

/// Speaks the leader's part to a starter, and plays a returner that changes what it must not.
#[test]
fn elements_that_come_back_with_other_bytes_are_noticed() {
    let shell = Shell::new();
    let path = shell.dir.path().join("pool");
    let options = QueueOptions::new(11, 16).queues(["free", "a2b", "b2a"]);
    let pool = options.create(&path).unwrap();
    let mut player = shell.command(&["player"]);
    let player = player.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = player.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let plan = json!({
        "elements": 10, "element_bytes": 16, "run": 4, "touched": true, "moves": 100,
        "limit_ns": 60_000_000_000_u64,
    });
    let setup = json!({
        "leader_pid": std::process::id(), "cpu": null, "side": "Starter",
        "peer": "tavola", "at": path, "plan": plan,
    });
    writeln!(input, "{setup}").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), r#""Ready""#);
    writeln!(input, "0").unwrap();
    let came = pool.queue("a2b").unwrap();
    let came = came.pop_wait(Duration::from_secs(60)).unwrap();
    let element = came.expect("the starter sends");
    pool.write(element, 8, b"nonsense").unwrap();
    pool.queue("b2a").unwrap().push(element).unwrap();
    let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer["Failed"]["wrong"], true, "{answer}");
    let what = answer["Failed"]["what"].as_str().unwrap();
    assert!(what.contains("other bytes"), "{answer}");
    child.wait().unwrap();
}
