//! The tour: it shows what it promises, its checks have teeth, and it cleans up after itself.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A directory of tables, and the command that works in it.
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_tavola"));
        command
            .args(args)
            .env("TAVOLA_DIR", self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the command starts")
    }

    /// Starts a tour, and returns when its processes are at work, with their pids.
    fn start(&self, args: &[&str]) -> Started {
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("the output is piped"));
        let pids = pids_when_at_work(&mut lines);
        Started { child, lines, pids }
    }

    fn tables(&self) -> usize {
        std::fs::read_dir(self.dir.path()).unwrap().count()
    }
}

struct Started {
    child: Child,
    lines: BufReader<ChildStdout>,
    pids: Vec<i32>,
}

fn pids_when_at_work(lines: &mut impl BufRead) -> Vec<i32> {
    let mut pids = Vec::new();
    loop {
        let mut line = String::new();
        assert_ne!(
            lines.read_line(&mut line).unwrap(),
            0,
            "the tour ended early"
        );
        if let Some(list) = line.strip_prefix("pids ") {
            pids = list
                .trim()
                .split(", ")
                .map(|pid| pid.parse().unwrap())
                .collect();
        }
        if line.trim_start().starts_with("second") {
            return pids;
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the tour writes UTF-8")
}

/// Gone, or a zombie that its new parent has not taken in yet.
fn has_ended(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z'),
        Err(_) => true,
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

#[test]
fn two_processes_are_killed_and_everything_holds() {
    let shell = Shell::new();
    let output = shell.run(&["tour", "--seconds", "3", "--procs", "3", "--kills", "2"]);
    let shown = text(&output);
    assert!(
        output.status.success(),
        "{shown}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!shown.contains('\x1b'), "no colours in a pipe");
    assert_eq!(shown.matches("kill -9 ").count(), 2, "{shown}");
    assert_eq!(shown.matches("all present").count(), 2, "{shown}");
    assert!(shown.matches("  ok  ").count() >= 8, "{shown}");
    assert!(!shown.contains("FAILED"), "{shown}");
    let a_row = |line: &&str| line.contains(" MiB") && line.contains('+');
    let rows = shown.lines().filter(a_row).count();
    assert!(rows >= 2, "a line a second:\n{shown}");
}

#[test]
fn the_five_commands_work_as_printed() {
    let shell = Shell::new();
    let tavola = Path::new(env!("CARGO_BIN_EXE_tavola"));
    let path = std::env::join_paths(
        [tavola.parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let args = ["tour", "--seconds", "1", "--procs", "2", "--kills", "0"];
    let output = shell.command(&args).env("PATH", &path).output().unwrap();
    let shown = text(&output);
    assert!(output.status.success(), "{shown}");
    let (_, tail) = shown
        .split_once("Try next")
        .expect("there are commands to try");
    let commands: Vec<&str> = tail
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split("   ").next())
        .collect();
    assert_eq!(commands.len(), 5, "{tail}");
    for (at, command) in commands.iter().enumerate() {
        assert!(command.starts_with("tavola "), "{command}");
        let mut sh = Command::new("sh");
        sh.args(["-c", command])
            .env("TAVOLA_DIR", shell.dir.path())
            .env("PATH", &path);
        let done = sh.output().unwrap();
        assert!(
            done.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert!(at == 4 || !done.stdout.is_empty(), "{command} says nothing");
        if at == 0 {
            assert_eq!(done.stdout, b"SPIRAL SHELL;So;0;ON;;;;;N;;;;;");
        }
    }
    assert_eq!(shell.tables(), 0, "the last command drops the table");
}

#[test]
fn a_tour_replaces_the_table_of_another_and_drops_it_if_asked() {
    let shell = Shell::new();
    let short = ["tour", "--seconds", "1", "--procs", "2", "--kills", "0"];
    assert!(shell.run(&short).status.success());
    assert_eq!(shell.tables(), 1);
    let second = shell.run(&[&short[..], &["--drop"]].concat());
    assert!(second.status.success(), "{}", text(&second));
    assert_eq!(shell.tables(), 0);
    assert!(!text(&second).contains("Try next"));
}

#[test]
fn a_table_that_no_tour_made_is_left_alone() {
    let shell = Shell::new();
    assert!(
        shell
            .run(&["set", "tour", "mine", "precious"])
            .status
            .success()
    );
    let output = shell.run(&["tour", "--seconds", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--table"));
    assert_eq!(shell.run(&["get", "tour", "mine"]).stdout, b"precious");
}

/// Where the format version is in a table, and the fingerprint of its structures.
const FORMAT: u64 = 12;
const FINGERPRINT: u64 = 16;

fn flip(shell: &Shell, name: &str, at: u64) {
    let path = shell.dir.path().join(name);
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0xff], at).unwrap();
}

#[test]
fn a_tour_replaces_the_table_of_a_tour_of_another_layout() {
    let shell = Shell::new();
    let short = ["tour", "--seconds", "1", "--procs", "2", "--kills", "0"];
    assert!(shell.run(&short).status.success());
    for at in [FORMAT, FINGERPRINT] {
        flip(&shell, "tour", at);
        assert!(!shell.run(&["stat", "tour"]).status.success(), "byte {at}");
        let next = shell.run(&short);
        assert!(next.status.success(), "byte {at}: {next:?}");
        assert!(shell.run(&["stat", "tour"]).status.success());
    }
}

#[test]
fn another_table_of_another_layout_is_left_alone_as_is_one_in_use() {
    let shell = Shell::new();
    // The marker is a value here, but not that of the key of a tour.
    let marker = "made by 'tavola tour', which replaces it when it runs again";
    assert!(shell.run(&["set", "tour", "mine", marker]).status.success());
    flip(&shell, "tour", FORMAT);
    let refused = shell.run(&["tour", "--seconds", "1"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("version"), "{message}");
    flip(&shell, "tour", FORMAT);
    let kept = shell.run(&["get", "tour", "mine"]);
    assert_eq!(kept.stdout, marker.as_bytes());
    assert!(shell.run(&["drop", "tour"]).status.success());

    let Started {
        mut child,
        lines: _lines,
        ..
    } = shell.start(&["tour", "--seconds", "60", "--procs", "2"]);
    flip(&shell, "tour", FORMAT);
    let refused = shell.run(&["tour", "--seconds", "1"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("in use"), "{message}");
    flip(&shell, "tour", FORMAT);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(shell.tables(), 0);
}

#[test]
fn a_write_taken_away_behind_its_back_is_noticed() {
    let shell = Shell::new();
    let args = ["tour", "--seconds", "5", "--procs", "2", "--kills", "0"];
    let Started {
        mut child,
        mut lines,
        ..
    } = shell.start(&args);
    // Its first edit comes soon after the start.
    wait_until("there is an edit to take away", || {
        shell.run(&["del", "tour", "edit/p1/1"]).status.success()
    });
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("FAILED"), "{rest}");
    assert_eq!(shell.tables(), 1, "the evidence is kept");
}

#[test]
fn a_damaged_value_is_noticed_by_the_readers() {
    let shell = Shell::new();
    let args = ["tour", "--seconds", "5", "--procs", "2", "--kills", "0"];
    let Started {
        mut child,
        mut lines,
        pids,
    } = shell.start(&args);
    // Nobody edits all records in so short a time that none of these is read first.
    for code in ["0041", "0042", "0043", "0044"] {
        let key = format!("U+{code}");
        assert!(shell.run(&["set", "tour", &key, "torn"]).status.success());
    }
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{rest}");
    assert_eq!(shell.tables(), 1, "the evidence is kept");
    assert!(pids.iter().all(|&pid| has_ended(pid)));
}

#[test]
fn ctrl_c_ends_it_in_good_order() {
    let shell = Shell::new();
    let Started {
        mut child,
        lines: _lines,
        pids,
    } = shell.start(&["tour", "--seconds", "60", "--procs", "3"]);
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|&pid| !has_ended(pid)));
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_until("the processes of the tour end", || {
        pids.iter().all(|&pid| has_ended(pid))
    });
    assert_eq!(shell.tables(), 0);
}

#[test]
fn its_processes_end_when_it_is_killed() {
    let shell = Shell::new();
    let Started {
        mut child,
        lines: _lines,
        pids,
    } = shell.start(&["tour", "--seconds", "60", "--procs", "2"]);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("the processes of the tour end", || {
        pids.iter().all(|&pid| has_ended(pid))
    });
    // What it left is a tour's table: the next tour takes its place.
    let next = shell.run(&[
        "tour",
        "--seconds",
        "1",
        "--procs",
        "2",
        "--kills",
        "0",
        "--drop",
    ]);
    assert!(next.status.success(), "{}", text(&next));
    assert_eq!(shell.tables(), 0);
}

#[test]
fn a_kill_needs_a_survivor() {
    let output = Shell::new().run(&["tour", "--procs", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--kills 0"));
}

#[test]
fn the_data_is_the_file_its_readme_names() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let sum = Command::new("sha256sum")
        .arg(data.join("UnicodeData.txt"))
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let readme = std::fs::read_to_string(data.join("README.md")).unwrap();
    let sum = sum
        .split_whitespace()
        .next()
        .expect("sha256sum prints a sum");
    assert!(readme.contains(sum), "data/README.md does not name {sum}");
    let licence = std::fs::read_to_string(data.join("LICENSE-UNICODE")).unwrap();
    assert!(licence.contains("UNICODE LICENSE V3"));
}
