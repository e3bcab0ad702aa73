//! A line a second: every operation is in a line, every store has every phase, and TAP is right.

use serde_json::Value;

use super::{Shell, number};

const PHASES: [&str; 4] = ["PUT", "UPD", "MIX", "GET"];

fn of<'a>(lines: &'a [Value], store: &str, field: &str) -> Vec<&'a Value> {
    let is_of = |line: &&Value| line["store"] == store && line.get(field).is_some();
    lines.iter().filter(is_of).collect()
}

/// Checks the lines of a store with 20,000 keys.
fn check(lines: &[Value], store: &str) {
    let sums = of(lines, store, "sum");
    assert_eq!(sums.len(), PHASES.len(), "{store}");
    let mut total = 0.0;
    for (sum, phase) in sums.iter().zip(PHASES) {
        assert_eq!(sum["sum"], phase);
        assert_eq!(number(sum, "ops"), 20_000.0, "{sum}");
        assert!(number(sum, "seconds") > 0.0 && number(sum, "mops") > 0.0);
        let of_phase = of(lines, store, "phase");
        let of_phase = of_phase.into_iter().filter(|line| line["phase"] == phase);
        let mut ops = 0.0;
        for line in of_phase {
            ops += number(line, "ops");
            let percent = line["percent"].as_array().unwrap();
            let all: f64 = percent.iter().map(|one| one.as_f64().unwrap()).sum();
            let is_idle = number(line, "ops") == 0.0;
            assert!(
                percent.len() == 2 && (is_idle || (all - 100.0).abs() <= 1.0),
                "{line}"
            );
            total += number(line, "ops");
            assert_eq!(number(line, "total_ops"), total, "{line}");
        }
        assert_eq!(
            ops, 20_000.0,
            "every operation of {store} in {phase} is in a line"
        );
    }
    let end = of(lines, store, "db_bytes")[0];
    assert_eq!(
        (number(end, "del_put"), number(end, "get")),
        (400.0, 19_600.0)
    );
    let least = if store == "fixed" { 8.0 } else { 16.0 };
    assert!(number(end, "db_bytes") > least * 20_000.0, "{end}");
}

#[test]
fn every_store_has_every_phase_and_every_operation_is_in_a_line() {
    let stores = ["tavola", "fixed", "uids", "cache", "lmdb"];
    let all = stores.join(",");
    let args = ["--json", "--keys", "20K", "--procs", "2", "--every", "10ms"];
    let lines = Shell::new().lines(&[&["shf", "--stores", &all][..], &args].concat());
    for store in stores {
        match of(&lines, store, "skipped").first() {
            Some(line) => println!("skipped: {line}"),
            None => check(&lines, store),
        }
    }
}

#[test]
fn people_get_the_table_that_they_know() {
    let output = Shell::new().run(&["shf", "--keys", "20K", "--procs", "3", "--mix", "10"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let head = "-OP MAPPED  FREED SPLIT TOTAL-----PERCENT  -OPS\n\
        --- -MiB/s -MiB/s   -/s M-OPS  00  01  02  -M/s\n";
    assert!(text.contains(head), "{text}");
    for phase in PHASES {
        assert!(text.contains(&format!("\n{phase} ")), "{phase} in {text}");
    }
    assert!(
        text.contains("* MIX is 10% (2000) del/put, 90% (18000) get\nDB size: "),
        "{text}"
    );
}

#[test]
fn closing_lines_are_tap_and_count_what_has_happened() {
    let shell = Shell::new();
    let args = ["shf", "--keys", "20K", "--fixed", "--tap"];
    let text = String::from_utf8(shell.run(&args).stdout).unwrap();
    let (_, tap) = text.split_once("1..14\n").expect("a plan");
    let lines: Vec<&str> = tap.lines().collect();
    assert_eq!(lines.len(), 14, "{tap}");
    for (at, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("ok {} - ", at + 1)), "{line}");
    }
    assert!(lines[1].contains("keys // estimate ") && lines[1].ends_with(" keys per second"));
    assert_eq!(shell.tables(), 0, "nothing stays");
    let lines = shell.lines(&[&args[..], &["--json"]].concat());
    let tap: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("tap").is_some())
        .collect();
    assert!(
        tap.len() == 14 && tap.iter().all(|line| line["ok"] == true),
        "{tap:?}"
    );
}

#[test]
fn the_variables_of_the_other_test_are_taken() {
    let shell = Shell::new();
    let variables = [
        ("KEYS", "3000"),
        ("CPUS", "1"),
        ("FIXED", "1"),
        ("MIX", "50"),
    ];
    let mut command = shell.command(&["shf", "--json"]);
    command.envs(variables.map(|(name, value)| (format!("SHF_PERFORMANCE_TEST_{name}"), value)));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let end = of(&lines, "fixed", "db_bytes")[0];
    assert_eq!(
        (number(end, "del_put"), number(end, "get")),
        (1500.0, 1500.0)
    );
    for wrong in [
        ["--keys", "0"],
        ["--keys", "5G"],
        ["--procs", "0"],
        ["--mix", "101"],
    ] {
        let output = shell.run(&[&["shf"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
