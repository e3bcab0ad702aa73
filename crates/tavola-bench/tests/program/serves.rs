//! Clients of memcached, asking this program and another.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::command::tavola;
use super::{Shell, number, words};

const LOADS: [&str; 10] = [
    "get",
    "get-50",
    "pipe-10",
    "pipe-100",
    "multiget",
    "meta",
    "binary",
    "set",
    "set-pipe",
    "set-noreply",
];

/// The lines of short runs that must succeed and leave nothing behind.
fn runs(shell: &Shell, args: &[&str]) -> Vec<Value> {
    tavola();
    shell.lines(&[&["serve", "--json", "--quick"], args].concat())
}

fn check_rate(rate: &Value) {
    let rates = ["least_kops", "kops", "most_kops"];
    let latencies = ["p50_us", "p99_us", "p999_us"];
    for names in [rates, latencies] {
        let values = names.map(|name| number(rate, name));
        assert!(values[0] > 0.0 && values.is_sorted(), "{rate}");
    }
    assert!(number(rate, "cpu_us") >= 0.0, "{rate}");
}

#[test]
fn each_load_has_a_line_over_each_transport() {
    let lines = runs(&Shell::new(), &["--cpus", "one"]);
    let loads: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("load").is_some())
        .collect();
    assert_eq!(loads.len(), 2 * LOADS.len());
    for (at, line) in loads.into_iter().enumerate() {
        assert_eq!(line["load"], LOADS[at % LOADS.len()]);
        assert_eq!(line["transport"], ["tcp", "unix"][at / LOADS.len()]);
        assert_eq!(line["cpus"], "one");
        check_rate(&line["tavola"]);
        assert!(
            line["memcached"].is_null() && line["ratio"].is_null(),
            "{line}"
        );
    }
    let part = |name: &str| {
        lines
            .iter()
            .find(|line| line["part"] == name)
            .expect("a line")
    };
    let memory = &part("memory")["tavola"];
    let full_bytes = number(memory, "full_bytes");
    assert!(full_bytes > 20_000.0 * 116.0, "{memory}");
    assert!(full_bytes > number(memory, "empty_bytes"), "{memory}");
    assert_eq!(lines.len(), 2 * LOADS.len() + 1);
}

#[test]
fn another_server_is_asked_the_same_or_is_left_out() {
    let only = ["--only", "multiget,set,memory", "--transports", "unix"];
    let one = [&only[..], &["--cpus", "one", "--against", "memcached"]].concat();
    let lines = runs(&Shell::new(), &one);
    if let Some(why) = lines[0]["left_out"].as_str() {
        assert_eq!(why, "there is no memcached here");
        assert_eq!(lines.len(), 4);
        return;
    }
    assert_eq!(lines.len(), 3, "{lines:?}");
    for line in &lines[..2] {
        check_rate(&line["tavola"]);
        check_rate(&line["memcached"]);
        let ratio = number(&line["tavola"], "kops") / number(&line["memcached"], "kops");
        assert!((number(line, "ratio") - ratio).abs() < 1e-6, "{line}");
    }
    assert!(number(&lines[2], "ratio") > 0.0);
}

#[test]
fn a_server_that_is_not_there_is_left_out() {
    let only = ["--only", "get", "--transports", "tcp", "--cpus", "one"];
    let against = ["--against", "/nowhere/memcached"];
    let lines = runs(&Shell::new(), &[&only[..], &against].concat());
    assert_eq!(lines[0]["left_out"], "there is no /nowhere/memcached here");
    assert_eq!(lines.len(), 2);
}

#[test]
fn the_command_to_measure_is_named_or_found_or_missed() {
    // Alone in a folder, the program has nothing beside it.
    let alone = tempfile::tempdir().expect("a folder");
    let program = alone.path().join("tavola-bench");
    fs::copy(env!("CARGO_BIN_EXE_tavola-bench"), &program).expect("a copy");
    let run = |args: &[&str]| {
        let small = ["serve", "--quick", "--only", "get", "--cpus", "one"];
        let mut command = Command::new(&program);
        command
            .args(small)
            .args(args)
            .env("TAVOLA_DIR", alone.path());
        command.env("PATH", "/nowhere").output().expect("it starts")
    };
    let missed = run(&[]);
    assert_eq!(missed.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missed.stderr);
    assert!(said.contains("there is no program tavola"), "{said}");
    assert!(said.contains("--tavola"), "{said}");
    assert!(missed.stdout.is_empty());
    let refused = run(&["--tavola", "/nowhere/tavola"]);
    assert_eq!(refused.status.code(), Some(2));
    let named = run(&["--tavola", tavola().to_str().expect("a name in ASCII")]);
    let said = String::from_utf8_lossy(&named.stderr);
    assert!(named.status.success(), "{said}");
}

/// The command with memcached's flags, but that it takes only short values.
fn short_server(dir: &Path) -> String {
    let (alias, script) = (dir.join("tavola-memcached"), dir.join("short"));
    symlink(tavola(), &alias).expect("linked");
    let (alias, dir) = (alias.display(), dir.display());
    let text = format!("#!/bin/sh\nTAVOLA_DIR='{dir}' exec '{alias}' \"$@\" -I 1k\n");
    fs::write(&script, text).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("made a program");
    script.to_str().expect("a name in ASCII").to_owned()
}

#[test]
fn a_wrong_answer_ends_it_with_exit_code_2() {
    // Programs may not run from where tables are.
    let (shell, programs) = (Shell::new(), tempfile::tempdir().expect("a folder"));
    let against = short_server(programs.path());
    let only = ["--only", "get", "--transports", "tcp", "--cpus", "one"];
    let run = |bytes: &str| {
        let args = ["serve", "--quick", "--against", &against];
        shell.run(&[&args[..], &only, &["--value-bytes", bytes]].concat())
    };
    let short = run("900");
    assert!(
        short.status.success(),
        "{}",
        String::from_utf8_lossy(&short.stderr)
    );
    let long = run("2000");
    assert_eq!(long.status.code(), Some(2));
    let said = String::from_utf8_lossy(&long.stderr);
    assert!(
        said.contains("wrong answer") && said.contains("too large"),
        "{said}"
    );
    assert_eq!(shell.tables(), 0, "nothing is left");
}

/// The numbers of the processes that work in the folder of a desk, except one.
fn processes(shell: &Shell, but: u32) -> Vec<u32> {
    let path = shell
        .dir
        .path()
        .to_str()
        .expect("a name in ASCII")
        .as_bytes();
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_of_it = |number: &u32| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.windows(path.len()).any(|window| window == path)
    };
    numbers
        .filter(|number| *number != but)
        .filter(is_of_it)
        .collect()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

struct Leader(Child);

impl Drop for Leader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn servers_and_clients_end_with_their_leader() {
    tavola();
    let shell = Shell::new();
    let args = words("serve --only get --cpus one --seconds 500");
    let mut command = shell.command(&args);
    let leader = command.stdout(Stdio::null()).spawn().expect("starts");
    let leader = Leader(leader);
    let number = leader.0.id();
    // The folder is removed when clients are connected; a server and a client are there then.
    until("it does not begin", || processes(&shell, number).len() >= 2);
    until("the folder stays", || shell.tables() == 0);
    drop(leader);
    until("they go on", || processes(&shell, number).is_empty());
}
