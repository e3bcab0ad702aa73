//! Many commands in one process: `batch`, `shell`, and what completion finds.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::shell::{Ran, Shell, wait_until};
use tavola::Table;

/// The commands of a long batch.
const COMMANDS: u32 = 20_000;

#[test]
fn a_batch_runs_lines_and_keeps_tables_open() {
    let shell = Shell::new();
    let lines = b"# a comment\n\nset t k 'a b'\nappend t k \"!\"\nget t k j\nincr t n -- -3\n";
    let ran = shell.feed(["batch"], lines);
    assert_eq!(
        (ran.code, &ran.out[..]),
        (1, &b"a b!\n(missing)\n0\n"[..]),
        "{ran:?}"
    );
    let file = shell.file("commands", "set k v\nrename t u\nget k\n");
    let file = file.to_str().unwrap();
    // The table that the handle leads to has another name then: it does not exist for the next
    // line.
    let ran = shell.run(["batch", file, "--table", "t"]);
    assert!(ran.code == 2 && ran.err.contains(", line 3: "), "{ran:?}");
    assert_eq!(shell.run(["get", "u", "k"]).ok(), b"v");
}

#[test]
fn errors_of_a_batch_have_line_numbers() {
    let shell = Shell::new();
    let lines = b"set t a 1\nset t\nget t a\nset t b 'x\nserve t\nset t c\nnonsense\nget t a\n";
    let stopped = shell.feed(["batch"], lines).error();
    assert!(stopped.starts_with("standard input, line 2: "), "{stopped}");
    let ran = shell.feed(["batch", "--keep-going"], lines);
    assert_eq!((ran.code, &ran.out[..]), (2, &b"1\n1\n"[..]));
    let starts = [2, 2, 4, 5, 6, 7].map(|n| format!("tavola: standard input, line {n}: "));
    let numbers: Vec<_> = ran
        .err
        .lines()
        .map(|line| line.split(": ").nth(1).unwrap())
        .collect();
    assert_eq!(numbers.len(), 5, "{}", ran.err);
    assert!(
        ran.err
            .lines()
            .all(|line| starts.iter().any(|start| line.starts_with(start)))
    );
    assert!(
        ran.err.contains("run 'tavola serve' separately"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("line 6: the value is missing"),
        "{}",
        ran.err
    );
}

/// The counts do not depend on how fast the machine is: a batch that started processes, or opened
/// the table for each line, would have several writers, or ever more descriptors.
#[test]
fn thousands_of_commands_are_one_process_that_opens_its_table_once() {
    let shell = Shell::new();
    let mut lines = String::new();
    for n in 0..COMMANDS {
        writeln!(lines, "set t key{n} value{n}").unwrap();
    }
    // Its input stays open, so that the process is there to be looked at.
    let mut batch = shell.spawn(["batch"]);
    let mut input = batch.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    input.flush().unwrap();
    let path = shell.path().join("t");
    wait_until(|| path.exists());
    let table = Table::open(&path).unwrap();
    wait_until(|| table.len().unwrap() == u64::from(COMMANDS));
    let participants = table.participants().unwrap();
    let pids = participants.iter().map(|one| one.pid);
    let writers: Vec<_> = pids.filter(|pid| *pid != std::process::id()).collect();
    assert_eq!(writers, [batch.id()]);
    let descriptors = fs::read_dir(format!("/proc/{}/fd", batch.id())).unwrap();
    let open = descriptors.count();
    assert!(open < 20, "{open} descriptors");
    drop(input);
    Ran::of(batch.wait_with_output().unwrap()).ok();
}

#[test]
fn a_shell_runs_commands_on_its_table() {
    let shell = Shell::new();
    let mut command = shell.command(["shell", "t"]);
    command
        .env("XDG_STATE_HOME", shell.path().join(".state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = "set k v\nget k none\nls\nuse u\nset x y\nls\nwrong\nexit\nset never v\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8(ran.stdout).unwrap(),
        String::from_utf8(ran.stderr).unwrap(),
    );
    assert!(ran.status.success(), "{err}");
    assert_eq!(out, "v\n(missing)\nk\nx\n", "{err}");
    assert!(err.starts_with("exit code 1\n"), "{err}");
    assert!(err.contains("unrecognized subcommand 'wrong'"), "{err}");
    assert_eq!(shell.run(["exists", "u", "never"]).code, 1);
    assert!(!shell.path().join(".state").exists());
}

#[test]
fn commands_tables_and_keys_are_completed() {
    let shell = Shell::new();
    for key in ["user:1", "user:2", "page"] {
        shell.run(["set", "sessions", key, "v"]).ok();
    }
    shell.run(["set", "other", "k", "v"]).ok();
    let complete = |words: &[&str]| {
        let args = ["__complete", "--"].iter().chain(words);
        shell.run(args).text()
    };
    assert_eq!(complete(&["coun"]), "count\n");
    assert_eq!(complete(&["get", "se"]), "sessions\n");
    assert_eq!(complete(&["get", "sessions", "us"]), "user:1\nuser:2\n");
    assert_eq!(complete(&["del", "sessions", "page", "user:2"]), "user:2\n");
    assert_eq!(complete(&["set", "sessions", "page", ""]), "");
    assert_eq!(complete(&["drop", "other", ""]), "other\nsessions\n");
    assert_eq!(complete(&["log", "sh"]), "show\n");
    assert_eq!(complete(&["get", "none", ""]), "");
    assert!(!shell.run(["--help"]).text().contains("__complete"));
    for name in ["bash", "zsh", "fish"] {
        let script = shell.run(["completions", name]).text();
        assert!(script.contains("tavola __complete"), "{name}");
    }
    let zsh = shell.run(["completions", "zsh"]).text();
    assert!(zsh.matches(":_tavola_names'").count() > 20, "{zsh}");
}
