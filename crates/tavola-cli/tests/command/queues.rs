//! Queues of jobs, and locks that end with their holders.

use std::fs;
use std::process::Child;

use crate::shell::{Shell, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

#[test]
fn jobs_come_out_in_their_order() {
    let shell = Shell::new();
    shell
        .run(["queue", "create", "q", "--places", "4", "--size", "100"])
        .ok();
    assert_eq!(shell.run(["queue", "create", "q"]).code, 2);
    shell.run(["queue", "push", "q", "one", "two"]).ok();
    shell
        .feed(["queue", "push", "q", "--lines"], b"\xff\n\n")
        .ok();
    assert_eq!(shell.run(["queue", "len", "q"]).text(), "4\n");
    let full = shell.run(["queue", "push", "q", "more"]);
    assert!(
        full.code == 1 && full.err.contains("is full (4 places)"),
        "{full:?}"
    );
    for job in [&b"one\n"[..], b"two\n", b"\xff\n", b"\n"] {
        assert_eq!(shell.run(["queue", "pop", "q"]).ok(), job);
    }
    assert!(shell.run(["queue", "pop", "q"]).missing().is_empty());
    let long = "x".repeat(101);
    let sentence = shell.run(["queue", "push", "q", &long]).error();
    assert!(sentence.contains("101 bytes"), "{sentence}");
    shell.run(["queue", "push", "q", &long[..100]]).ok();
    let shown = shell.run(["queue", "ls", "q", "--json"]).json();
    let expected = json!({"jobs": 1, "held": 0, "free": 3, "places": 4, "job_bytes": 100});
    assert_eq!(shown, expected);
    assert!(shell.run(["check", "q"]).code == 0);
    let sentence = shell.run(["get", "q", "k"]).error();
    assert!(sentence.contains("tavola queue"), "{sentence}");
    shell.run(["set", "t", "k", "v"]).ok();
    let sentence = shell.run(["queue", "pop", "t"]).error();
    assert!(sentence.contains("tavola queue create"), "{sentence}");
}

#[test]
fn depths_are_reported() {
    let shell = Shell::new();
    shell.run(["queue", "create", "q"]).ok();
    shell.run(["queue", "push", "q", "a", "b", "c"]).ok();
    let stat = shell.run(["stat", "q", "--json"]).json();
    let expected = json!([{"pool": "", "name": "jobs", "elements": 3}]);
    assert_eq!(stat["queues"], expected);
    for args in [&["stat", "q"][..], &["top", "q", "--once"]] {
        let text = shell.run(args).text();
        assert!(
            text.contains("queue 'jobs'") && text.contains("3 elements"),
            "{text}"
        );
    }
}

#[test]
fn a_waiting_pop_gets_the_job_that_comes() {
    let shell = Shell::new();
    shell.run(["queue", "create", "q"]).ok();
    let pop = shell.spawn(["queue", "pop", "q", "--wait", "60s"]);
    wait_until(|| participants(&shell, "q") == 1);
    shell.run(["queue", "push", "q", "job"]).ok();
    assert_eq!(pop.wait_with_output().unwrap().stdout, b"job\n");
}

#[test]
fn a_job_goes_back_if_its_command_fails_or_is_killed() {
    let shell = Shell::new();
    shell.run(["queue", "create", "q"]).ok();
    shell.run(["queue", "push", "q", "first", "second"]).ok();
    let work = |script: &str| shell.run(["queue", "pop", "q", "--", "sh", "-c", script]);
    let failed = work("cat; exit 3");
    assert_eq!((failed.code, &failed.out[..]), (3, &b"first"[..]));
    assert!(failed.err.contains("back in the queue"), "{failed:?}");
    assert_eq!(work("cat").ok(), b"second");
    assert_eq!(shell.run(["queue", "len", "q"]).text(), "1\n");

    let started = shell.path().join(".started");
    let script = format!("cat > {}; exec sleep 60", started.display());
    let mut worker = shell.spawn(["queue", "pop", "q", "--", "sh", "-c", &script]);
    wait_until(|| fs::read(&started).is_ok_and(|job| job == b"first"));
    let held = shell.run(["queue", "ls", "q", "--json"]).json();
    assert_eq!((&held["jobs"], &held["held"]), (&json!(0), &json!(1)));
    assert_eq!(shell.run(["queue", "pop", "q"]).code, 1);
    end(&mut worker);
    assert_eq!(
        shell.run(["queue", "pop", "q", "--wait", "30s"]).ok(),
        b"first\n"
    );
    let said = shell.run(["queue", "reclaim", "q"]).text();
    assert!(said.starts_with("0 jobs"), "{said}");
}

#[test]
fn a_lock_is_held_by_one_and_passes_the_exit_code_on() {
    let shell = Shell::new();
    shell.run(["lock", "t", "l", "--", "true"]).ok();
    assert_eq!(
        shell
            .run(["lock", "t", "l", "--", "sh", "-c", "exit 42"])
            .code,
        42
    );
    // Each adds a line and takes it away: with two at once, one would see two.
    let file = shell.path().join(".lines");
    let file = file.display();
    let script =
        format!("echo x >> {file}; sleep 0.02; [ $(wc -l < {file}) = 1 ] || exit 9; : > {file}");
    let all: Vec<Child> = (0..6)
        .map(|_| shell.spawn(["lock", "t", "l", "--", "sh", "-c", &script]))
        .collect();
    for mut one in all {
        assert!(one.wait().unwrap().success());
    }
    // A lock is no key, and a cache does not evict it.
    assert_eq!(shell.run(["count", "t"]).text(), "0\n");
    shell.run(["create", "cache", "--capacity", "4M"]).ok();
    shell.run(["lock", "cache", "l", "--", "true"]).ok();
    let sentence = shell.run(["lock", "t", "", "--", "true"]).error();
    assert!(sentence.contains("1 to 56 bytes"), "{sentence}");
}

#[test]
fn a_lock_is_shared_by_those_who_ask_for_that() {
    let shell = Shell::new();
    let started = shell.path().join(".started");
    let script = format!("touch {}; exec sleep 60", started.display());
    let mut holder = shell.spawn(["lock", "t", "l", "--shared", "--", "sh", "-c", &script]);
    wait_until(|| started.exists());
    shell.run(["lock", "t", "l", "--shared", "--", "true"]).ok();
    let held = shell.run(["lock", "t", "l", "--timeout", "0", "--", "true"]);
    let pid = format!("l is held by pid {}", holder.id());
    assert!(held.code == 1 && held.err.contains(&pid), "{held:?}");
    end(&mut holder);
    let ran = shell.run(["lock", "t", "l", "--timeout", "30s", "--", "true"]);
    // Who shares a lock changes nothing, so there is nothing to be told.
    assert!(ran.code == 0 && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn a_killed_holder_frees_its_lock_and_a_living_one_does_not() {
    let shell = Shell::new();
    let started = shell.path().join(".started");
    let script = format!("touch {}; exec sleep 60", started.display());
    let mut holder = shell.spawn(["lock", "t", "l", "--", "sh", "-c", &script]);
    wait_until(|| started.exists());
    let held = shell.run(["lock", "t", "l", "--timeout", "50ms", "--", "true"]);
    let pid = format!("l is held by pid {}", holder.id());
    assert!(held.code == 1 && held.err.contains(&pid), "{held:?}");
    end(&mut holder);
    let next = shell.run(["lock", "t", "l", "--timeout", "30s", "--", "true"]);
    assert!(
        next.code == 0 && next.err.contains("was killed"),
        "{next:?}"
    );
    // A signal goes to the command, and the lock is freed when that has ended.
    fs::remove_file(&started).unwrap();
    let mut holder = shell.spawn(["lock", "t", "l", "--", "sh", "-c", &script]);
    wait_until(|| started.exists());
    kill_process(Pid::from_child(&holder), Signal::TERM).unwrap();
    assert_eq!(holder.wait().unwrap().code(), Some(128 + 15));
    let next = shell.run(["lock", "t", "l", "--timeout", "0", "--", "true"]);
    assert!(next.code == 0 && next.err.is_empty(), "{next:?}");
}

/// Kills a process and waits for its end.
fn end(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The processes that are attached to a table.
fn participants(shell: &Shell, table: &str) -> usize {
    let stat = shell.run(["stat", table, "--json"]).json();
    stat["participants"].as_array().map_or(0, Vec::len)
}
