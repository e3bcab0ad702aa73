//! A shell of its own for each test: the real command, over a directory of tables of its own.
//!
//! Not every test file uses all of it.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

/// How long a test waits for what must come soon.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory of tables and the command that works in it.
pub struct Shell {
    directory: TempDir,
}

impl Shell {
    pub fn new() -> Shell {
        let directory = tempfile::tempdir_in("/dev/shm").expect("a directory in /dev/shm");
        Shell { directory }
    }

    /// The directory of tables.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file beside the tables' names, hidden from the listing of tables.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(format!(".{name}"));
        fs::write(&path, bytes).expect("a file for the test");
        path
    }

    pub fn command<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tavola"));
        command
            .args(args)
            .env("TAVOLA_DIR", self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the command with nothing to read.
    pub fn run<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Ran {
        Ran::of(self.command(args).output().expect("the command runs"))
    }

    /// Runs the command with bytes to read.
    pub fn feed<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>, input: &[u8]) -> Ran {
        let mut child = self.spawn(args);
        let mut stdin = child.stdin.take().expect("a pipe");
        thread::scope(|scope| {
            // A command that needs no more input closes the pipe early.
            scope.spawn(move || drop(stdin.write_all(input)));
            Ran::of(child.wait_with_output().expect("the command ends"))
        })
    }

    /// Starts the command with pipes to all of its ends.
    pub fn spawn<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Child {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("the command starts")
    }

    /// Starts a process that stays attached to a table until its input ends, or it is killed.
    ///
    /// It attaches with its first write, so it gets enough for one. Then it waits for more: who is
    /// killed later is not killed amid a write, which others would make whole.
    pub fn attach(&self, table: &str) -> Child {
        let mut child = self.spawn(["load", table, "-"]);
        let stdin = child.stdin.as_mut().expect("a pipe");
        for n in 0..2000 {
            writeln!(stdin, "{{\"key\":\"k{n}\",\"value\":\"v\"}}").expect("a reader");
        }
        let pid = u64::from(child.id());
        let attached = || {
            let stat = self.run(["stat", table, "--json"]);
            stat.code == 0
                && stat.json()["participants"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one["pid"] == pid))
        };
        wait_until(attached);
        wait_until(|| waits_for_input(&child));
        child
    }

    /// Runs the command as somebody who has no right to anything of ours.
    ///
    /// Root may do everything, so root becomes nobody; others are somebody enough.
    pub fn run_as_stranger<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Ran {
        let args: Vec<I> = args.into_iter().collect();
        if !rustix::process::geteuid().is_root() {
            return self.run(args);
        }
        // Where the command was built, nobody may not even look.
        let public = tempfile::tempdir().expect("a public directory");
        fs::set_permissions(public.path(), fs::Permissions::from_mode(0o755)).expect("rights");
        let program = public.path().join("tavola");
        fs::copy(env!("CARGO_BIN_EXE_tavola"), &program).expect("a public copy");
        let mut command = Command::new(program);
        command
            .args(args)
            .env("TAVOLA_DIR", self.path())
            .stdin(Stdio::null());
        command.uid(65534).gid(65534).current_dir("/");
        // A child that another thread has just forked has the copy open until it runs its program.
        let busy = |ran: &std::io::Result<_>| {
            let error = ran.as_ref().err();
            error.is_some_and(|e| e.kind() == std::io::ErrorKind::ExecutableFileBusy)
        };
        let mut ran = command.output();
        for _ in 0..100 {
            if !busy(&ran) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            ran = command.output();
        }
        Ran::of(ran.expect("the command runs"))
    }

    /// Sets the rights on a table, or on the directory when the name is empty.
    pub fn chmod(&self, table: &str, mode: u32) {
        let path = if table.is_empty() {
            self.path().into()
        } else {
            self.path().join(table)
        };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("rights");
    }
}

/// What a run of the command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let code = output
            .status
            .code()
            .expect("an end of its own, not by a signal");
        let err = String::from_utf8(output.stderr).expect("messages are text");
        Ran {
            code,
            out: output.stdout,
            err,
        }
    }

    fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Found or done, and nothing to complain about; gives the output.
    #[track_caller]
    pub fn ok(self) -> Vec<u8> {
        let ran = self.expect(0);
        assert_eq!(ran.err, "");
        ran.out
    }

    /// The output as text.
    #[track_caller]
    pub fn text(self) -> String {
        String::from_utf8(self.ok()).expect("text")
    }

    /// Missing: exit code 1 without a complaint; gives the output.
    #[track_caller]
    pub fn missing(self) -> Vec<u8> {
        let ran = self.expect(1);
        assert_eq!(ran.err, "");
        ran.out
    }

    /// An error: exit code 2 and one sentence, which is given.
    #[track_caller]
    pub fn error(self) -> String {
        let ran = self.expect(2);
        let sentence = ran
            .err
            .strip_prefix("tavola: ")
            .expect("a message of ours")
            .to_string();
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
        sentence
    }

    /// The output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }
}

/// Whether a process has read all that is in its pipe, and sleeps.
fn waits_for_input(child: &Child) -> bool {
    let pipe = child.stdin.as_ref().expect("a pipe");
    let left = rustix::io::ioctl_fionread(pipe).expect("a pipe reports its length");
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it lives");
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    left == 0 && state == Some('S')
}

/// Waits for what another process is about to do.
#[track_caller]
pub fn wait_until(mut come: impl FnMut() -> bool) {
    let start = Instant::now();
    while !come() {
        assert!(start.elapsed() < PATIENCE, "it did not come");
        thread::sleep(Duration::from_millis(5));
    }
}
