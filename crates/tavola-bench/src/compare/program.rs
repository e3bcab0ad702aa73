//! A peer program while it runs: started on its CPU, heard with a limit of time, ended for certain.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::job::{Job, Said, parse};
use super::peers::Found;
use crate::duty::{stay_on_all, usable_cpus};
use crate::{Error, Result};

/// A process of a peer.
pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: std::path::PathBuf,
}

impl Program {
    /// Starts it on the CPU that the job names. What it writes to standard error goes to `errors`.
    pub(super) fn start(found: &Found, job: &Job, errors: &Path) -> Result<Self> {
        let text = serde_json::to_string(job).expect("a job has a JSON form");
        let errors_file = File::create(errors).map_err(Error::io("making a file for errors"))?;
        let mut command = Command::new(&found.program);
        command
            .args(&found.args)
            .arg(text)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors_file);
        let mut child = on_cpus(job.cpu.as_slice(), || command.spawn())?;
        let output = child.stdout.take().expect("its output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            errors: errors.to_owned(),
        })
    }

    /// What it says next; an error names why there is nothing.
    pub(super) fn hear(&mut self, until: Instant) -> std::result::Result<Said, String> {
        let left = until.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => match parse(&line) {
                Some(Said::Failed { error }) => Err(error),
                Some(said) => Ok(said),
                None => Err(format!("it said what is no result: {}", shortened(&line))),
            },
            Err(RecvTimeoutError::Timeout) => Err("it was not done within its time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err(self.why_it_ended()),
        }
    }

    /// Lets it begin its next phase at this instant of the monotonic clock.
    pub(super) fn begin_at(&mut self, start_at_ns: u64) -> std::result::Result<(), String> {
        let input = self.input.as_mut().expect("its input is open");
        let sent = writeln!(input, "{{\"start_at_ns\":{start_at_ns}}}");
        sent.and_then(|()| input.flush())
            .map_err(|error| format!("it does not listen any more ({error})"))
    }

    fn why_it_ended(&mut self) -> String {
        let said = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        match last {
            Some(line) => format!("it ended with {status}: {}", shortened(line)),
            None => format!("it ended with {status}"),
        }
    }

    /// Gives it a moment to end by itself.
    pub(super) fn end(mut self) {
        self.input = None;
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(200).collect()
}

/// Does something that starts a process while this thread is on some CPUs, if there are any: the
/// process stays there.
pub(super) fn on_cpus<T>(cpus: &[usize], start: impl FnOnce() -> std::io::Result<T>) -> Result<T> {
    let before = usable_cpus()?;
    if !cpus.is_empty() {
        stay_on_all(cpus)?;
    }
    let started = start();
    stay_on_all(&before)?;
    started.map_err(Error::io("starting a peer"))
}

/// Where a program is that `PATH` has, if it has it.
pub(super) fn in_path(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Servers of Debian's packages stand where the path of few people leads.
    let more = ["/usr/sbin", "/usr/local/sbin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path)
        .chain(more)
        .map(|folder| folder.join(OsStr::new(name)))
        .find(|file| file.is_file())
}
