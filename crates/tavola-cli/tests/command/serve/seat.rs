//! A server at a port of its own, and clients of it.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::shell::{Shell, wait_until};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server; it ends with the value, and so do those that took over from it.
pub struct Seat {
    pub child: Child,
    out: BufReader<ChildStdout>,
    pid_file: PathBuf,
}

impl Seat {
    /// Starts `tavola serve` with these arguments behind it, at a port that is free.
    pub fn serve(shell: &Shell, args: &[&str]) -> Seat {
        let free = ["serve", "--listen", "127.0.0.1:0"];
        let mut command = shell.command([&free, args].concat());
        let pid_file = shell.path().join(".pid");
        command.arg("--pid-file").arg(&pid_file);
        Seat::start(command, pid_file)
    }

    /// Starts a server that writes its number to a file.
    pub fn start(mut command: Command, pid_file: PathBuf) -> Seat {
        let started = command.stdout(Stdio::piped()).spawn();
        let mut child = started.expect("the command starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Seat {
            child,
            out,
            pid_file,
        }
    }

    /// Where it says that it listens, once it does.
    pub fn addresses(&mut self) -> Vec<String> {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        let list = line.trim().split_once(" on ");
        let (_, list) = list.unwrap_or_else(|| panic!("{line}"));
        list.split(", ").map(str::to_string).collect()
    }

    pub fn address(&mut self) -> String {
        self.addresses().swap_remove(0)
    }

    /// The process that serves now, by its file.
    pub fn number(&self) -> Option<i32> {
        fs::read_to_string(&self.pid_file).ok()?.trim().parse().ok()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = self.number().and_then(Pid::from_raw);
        kill_process(pid.expect("it wrote its number"), signal).expect("it runs");
    }

    /// Waits for the end of the process that was started first; its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let mut ended = None;
        wait_until(|| {
            ended = self.child.try_wait().expect("a child of ours");
            ended.is_some()
        });
        ended.and_then(|status| status.code())
    }
}

/// A test that failed leaves nothing running.
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(pid) = self.number().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A connection.
pub trait Line: Read + Write {}
impl<T: Read + Write> Line for T {}

pub fn connect(address: &str) -> Box<dyn Line> {
    match address.strip_prefix("unix:") {
        Some(path) => {
            let line = UnixStream::connect(path).expect("it listens");
            line.set_read_timeout(Some(PATIENCE)).expect("a time");
            Box::new(line)
        }
        None => {
            let line = TcpStream::connect(address).expect("it listens");
            line.set_read_timeout(Some(PATIENCE)).expect("a time");
            Box::new(line)
        }
    }
}

/// Whether exactly this comes back: not if the server has closed the connection.
pub fn is_answered(line: &mut dyn Line, request: &str, answer: &str) -> bool {
    let mut found = vec![0; answer.len()];
    let sent = line.write_all(request.as_bytes());
    let read = sent.and_then(|()| line.read_exact(&mut found));
    read.is_ok() && found == answer.as_bytes()
}

/// Tries until it goes well. An attempt that did not proves nothing if it took a second: so long a
/// server that is to end waits for what a client that has just come says first.
#[track_caller]
pub fn unless_late(mut attempt: impl FnMut() -> bool) {
    wait_until(|| {
        let begun = Instant::now();
        let went_well = attempt();
        let is_late = begun.elapsed() >= Duration::from_secs(1);
        assert!(went_well || is_late, "it did not go well");
        went_well
    });
}

/// Sends a request; exactly this must come back.
#[track_caller]
pub fn ask(line: &mut dyn Line, request: impl AsRef<[u8]>, answer: impl AsRef<[u8]>) {
    let answer = answer.as_ref();
    line.write_all(request.as_ref()).expect("it reads");
    let mut found = vec![0; answer.len()];
    let read = line.read_exact(&mut found);
    assert!(
        read.is_ok(),
        "{read:?}: {}",
        String::from_utf8_lossy(&found)
    );
    assert_eq!(
        String::from_utf8_lossy(&found),
        String::from_utf8_lossy(answer)
    );
}

/// The figures of `stats` by their names.
#[track_caller]
pub fn figures(line: &mut dyn Line, request: &str) -> HashMap<String, String> {
    line.write_all(format!("{request}\r\n").as_bytes())
        .expect("it reads");
    let mut answer = Vec::new();
    while !answer.ends_with(b"END\r\n") {
        let mut byte = [0; 1];
        line.read_exact(&mut byte).expect("an end");
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).expect("text");
    let facts = answer.lines().filter_map(|line| line.strip_prefix("STAT "));
    let facts = facts.filter_map(|fact| fact.split_once(' '));
    facts
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Nothing more comes.
#[track_caller]
pub fn closed(mut line: Box<dyn Line>) {
    let mut rest = Vec::new();
    // A reset is an end as well.
    let _ = line.read_to_end(&mut rest);
    assert_eq!(String::from_utf8_lossy(&rest), "");
}

pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
