//! A server in a process of its own, which can be stopped.

use super::counts::{name_of, start};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, stdin};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Set for a process that is to be a server.
const IS_SERVER: &str = "TAVOLA_CLIENT_IS_SERVER";
/// What comes before the name of the server in its output.
const MARK: &str = "server: ";
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves until its input ends, if this process was started for it.
#[test]
fn child() {
    if std::env::var_os(IS_SERVER).is_none() {
        return;
    }
    let (server, _) = start();
    println!("\n{MARK}{}", name_of(&server));
    stdin().read_to_end(&mut Vec::new()).expect("an end");
    server.stop();
}

/// A server, killed with the value.
pub(super) struct Apart {
    child: Child,
    pub(super) name: String,
}

impl Apart {
    pub(super) fn start() -> Self {
        let program = std::env::current_exe().expect("this program");
        let child = Command::new(program)
            .args(["--exact", "exec::apart::child", "--nocapture"])
            .env(IS_SERVER, "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = output.lines().map(|line| line.expect("a line"));
        let name = lines.find_map(|line| line.strip_prefix(MARK).map(str::to_string));
        let name = name.expect("a name");
        Self { child, name }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a number"));
        kill_process(pid.expect("a process"), signal).expect("it is a child");
    }

    /// Stops it, and returns when it is stopped.
    pub(super) fn stop(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.child.id());
        wait_until("it is stopped", || {
            std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") T"))
        });
    }

    pub(super) fn resume(&self) {
        self.signal(Signal::CONT);
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(1));
    }
}
