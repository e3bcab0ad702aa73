//! `tavola compute`: one process of all that miss a value runs the command.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use tavola::{LeaseOptions, Leased, Table};

use crate::shell::{Shell, wait_until};

/// A shell with files that commands leave for the test.
struct Scene {
    shell: Shell,
}

impl Scene {
    fn new() -> Scene {
        let shell = Shell::new();
        Scene { shell }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.shell.path().join(format!(".{name}"))
    }

    /// A script that notes its parent, waits for permission to continue, and then does the rest; it
    /// ends with the test, too.
    fn waiting(&self, rest: &str) -> String {
        let (runs, go) = (self.path("runs"), self.path("go"));
        let (runs, go) = (runs.display(), go.display());
        let waits = format!("while test -e {runs} && ! test -e {go}; do sleep 0.01; done");
        format!("echo $PPID >> {runs}; {waits}; {rest}")
    }

    /// The processes that ran the script so far, in order.
    fn runs(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.path("runs")).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        whole.lines().map(|line| line.parse().unwrap()).collect()
    }

    fn let_go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }

    /// Whether a process has come so far that it uses the table.
    fn is_mapped_by(&self, child: &Child) -> bool {
        let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
        let table = self.shell.path().join("t").display().to_string();
        maps.lines().any(|line| line.ends_with(&table))
    }

    fn spawn(&self, options: &[&str], script: &str) -> Child {
        let args = ["compute", "t", "k", "--lease", "1h"];
        let command = ["--", "sh", "-c", script];
        self.shell.spawn([&args, options, &command].concat())
    }
}

fn text(child: Child) -> (Option<i32>, String, String) {
    let ran = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

const VALUE: (Option<i32>, &str) = (Some(0), "value\n");

fn is_value(child: Child) {
    let (code, out, err) = text(child);
    assert_eq!((code, &out[..]), VALUE, "{err}");
    assert_eq!(err, "");
}

#[test]
fn the_command_runs_where_the_value_is_missing_and_not_again() {
    let shell = Shell::new();
    let count = "tavola=$0; $tavola incr counts runs >&2; printf 'a\\0b\\n'";
    let tavola = env!("CARGO_BIN_EXE_tavola");
    let args = ["compute", "t", "k", "--", "sh", "-c", count, tavola];
    let first = shell.run(args);
    // What the command says on standard error is shown.
    assert_eq!((first.code, first.err.as_str()), (0, "1\n"));
    assert_eq!(first.out, b"a\0b\n");
    assert_eq!(shell.run(args).ok(), b"a\0b\n");
    assert_eq!(shell.run(["get", "counts", "runs"]).ok(), b"1");
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"a\0b\n");
    // Nothing is a value, too.
    for _ in 0..2 {
        let ran = shell.run(["compute", "t", "none", "--", "true"]);
        assert!(ran.ok().is_empty());
    }
    let other = ["compute", "t", "--hex", "ff", "--", "echo", "x"];
    assert_eq!(shell.run(other).ok(), b"x\n");
    let left: f64 = shell.run(["ttl", "t", "k"]).text().trim().parse().unwrap();
    assert!(left > 0.0 && left <= 60.0);
}

#[test]
fn of_eight_that_miss_it_at_once_one_runs_the_command() {
    let scene = Scene::new();
    // A process that creates a table maps it before it has its name.
    scene.shell.run(["create", "t"]).ok();
    let script = scene.waiting("echo value");
    let children: Vec<Child> = (0..8).map(|_| scene.spawn(&[], &script)).collect();
    // All are there, and those that do not run it wait.
    wait_until(|| children.iter().all(|child| scene.is_mapped_by(child)));
    wait_until(|| scene.runs().len() == 1);
    scene.let_go();
    children.into_iter().for_each(is_value);
    assert_eq!(scene.runs().len(), 1);
}

#[test]
fn when_the_one_is_killed_another_runs_the_command() {
    let scene = Scene::new();
    let script = scene.waiting("echo value");
    let mut children: Vec<Child> = (0..4).map(|_| scene.spawn(&[], &script)).collect();
    wait_until(|| scene.runs().len() == 1);
    let first = scene.runs()[0];
    let at = children.iter().position(|child| child.id() == first);
    let mut victim = children.remove(at.unwrap());
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until(|| scene.runs().len() == 2);
    scene.let_go();
    children.into_iter().for_each(is_value);
    assert_eq!(scene.runs().len(), 2);
}

#[test]
fn a_stale_value_is_printed_while_another_process_computes_it() {
    let scene = Scene::new();
    let stale = ["--fresh", "0", "--stale", "1h"];
    assert_eq!(text(scene.spawn(&stale, "echo old")).1, "old\n");
    let other = scene.spawn(&stale, &scene.waiting("echo value"));
    wait_until(|| scene.runs().len() == 1);
    assert_eq!(text(scene.spawn(&stale, "echo not run")).1, "old\n");
    scene.let_go();
    is_value(other);
}

#[test]
fn a_value_is_made_early_the_more_probably_the_greater_beta_is() {
    let scene = Scene::new();
    let made = |early: &[&str], script: &str| text(scene.spawn(early, script)).1;
    assert_eq!(made(&["--early", "1"], "sleep 0.01; echo first"), "first\n");
    // It took so long that it is made again, but with the least chance.
    assert_eq!(made(&["--early", "1e12"], "echo second"), "second\n");
    assert_eq!(made(&["--early", "0"], "echo not run"), "second\n");
    assert_eq!(made(&[], "echo not run"), "second\n");
    for wrong in ["-1", "inf", "soon"] {
        let (code, ..) = text(scene.spawn(&[&format!("--early={wrong}")], "echo not run"));
        assert_eq!(code, Some(2), "{wrong}");
    }
}

#[test]
fn a_failed_command_is_reported_to_all_and_tried_again_after_the_back_off() {
    let scene = Scene::new();
    let back_off = ["--back-off", "1h"];
    let fails = scene.spawn(&back_off, &scene.waiting("echo half; exit 7"));
    wait_until(|| scene.runs().len() == 1);
    let other = scene.spawn(&back_off, "echo not run");
    scene.let_go();
    for (exit, (code, out, err)) in [
        (7, text(fails)),
        (2, text(other)),
        (2, text(scene.spawn(&[], "echo not run"))),
    ] {
        assert_eq!((code, &out[..]), (Some(exit), ""), "{err}");
        assert!(err.starts_with("tavola: ") && err.contains("sh: exit status: 7"));
    }
    scene.shell.run(["get", "t", "k"]).missing();
    // Removing the key lets it be tried again.
    scene.shell.run(["del", "t", "k"]).missing();
    let (code, ..) = text(scene.spawn(&["--back-off", "0"], "kill $$"));
    assert_eq!(code, Some(128 + 15));
    is_value(scene.spawn(&[], "echo value"));
}

/// A value that is stale is there for the others, whatever became of the command.
#[test]
fn a_command_that_fails_leaves_the_others_the_stale_value() {
    let scene = Scene::new();
    let stale = ["--fresh", "0", "--stale", "1h", "--back-off", "1h"];
    is_value(scene.spawn(&stale, "echo value"));
    let (code, out, err) = text(scene.spawn(&stale, "exit 7"));
    assert_eq!((code, &out[..]), (Some(7), ""), "{err}");
    is_value(scene.spawn(&stale, "echo not run"));
    // As the help says.
    let help = scene.shell.run(["compute", "--help"]).text();
    let said = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected =
        "other processes print the stale value, or fail with exit code 2 if there is none";
    assert!(said.contains(expected), "{said}");
}

/// More leases at once than a shard has records for.
#[test]
fn stat_reports_leases_without_a_record() {
    let shell = Shell::new();
    let options = Table::options().max_size(1 << 20).shards(1);
    let table = options.create(shell.path().join("t")).unwrap();
    let stat = || shell.run(["stat", "t"]).text();
    let counted = || shell.run(["stat", "t", "--json"]).json()["leases_unrecorded"].clone();
    assert!(!stat().contains("leases") && counted() == 0);
    let minute = LeaseOptions::new(Duration::from_secs(60));
    let keys = (0..18u8).map(|number| [number]);
    let held: Vec<Leased> = keys
        .map(|key| table.get_or_lease(key, minute).unwrap())
        .collect();
    assert_eq!((held.len(), counted()), (18, 2.into()));
    assert!(stat().contains("leases        2 leases granted without a record"));
}

/// Of a cache: who looks for the value reads, who stores it writes, and a lease is neither.
#[test]
fn one_that_stores_a_value_writes_once() {
    let shell = Shell::new();
    shell.run(["create", "t", "--capacity", "4M"]).ok();
    for _ in 0..3 {
        let ran = shell.run(["compute", "t", "k", "--", "echo", "value"]);
        assert_eq!(ran.ok(), b"value\n");
    }
    let failed = shell.run(["compute", "t", "other", "--", "false"]);
    assert_eq!(failed.code, 1);
    let stat = shell.run(["stat", "t", "--json"]).json();
    let counts = ["hits", "misses", "writes"].map(|name| stat[name].as_u64().unwrap());
    assert_eq!(counts, [2, 2, 1]);
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let shell = Shell::new();
    let missing = shell.run(["compute", "t", "k", "--", "/no/such/command"]);
    assert_eq!(missing.code, 127);
    assert!(missing.err.contains("command: No such file"), "{missing:?}");
    for wrong in [
        &["compute", "t", "k"][..],
        &["compute", "t", "k", "--"],
        &["compute", "t", "k", "echo"],
        &["compute", "t", "k", "--fresh", "soon", "--", "echo"],
        &["compute", "t", "k", "--lease", "2h", "--", "echo"],
    ] {
        let ran = shell.run(wrong);
        assert_eq!((ran.code, ran.out.len()), (2, 0), "{wrong:?}");
        assert!(ran.err.starts_with("tavola: "), "{}", ran.err);
    }
}

/// What was made from what was before is printed, but not stored.
#[test]
fn a_key_that_is_removed_meanwhile_stays_away() {
    let shell = Shell::new();
    let script = "$0 del t k; echo late";
    let tavola = env!("CARGO_BIN_EXE_tavola");
    let ran = shell.run(["compute", "t", "k", "--", "sh", "-c", script, tavola]);
    assert_eq!((ran.code, &ran.out[..]), (0, &b"late\n"[..]));
    assert!(ran.err.contains("not stored"), "{}", ran.err);
    shell.run(["get", "t", "k"]).missing();
}

/// A table that is full to the last byte has no room for it.
#[test]
fn a_value_without_room_is_printed() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "1M"]).ok();
    let zeros = "head -c 2000000 /dev/zero";
    let ran = shell.run(["compute", "t", "k", "--", "sh", "-c", zeros]);
    assert_eq!((ran.code, ran.out.len()), (0, 2_000_000));
    assert!(ran.err.contains("not stored"), "{}", ran.err);
    let read = Command::new("sh").args(["-c", zeros]).output().unwrap();
    assert!(ran.out == read.stdout);
}
