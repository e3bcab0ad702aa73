//! A worker process's bond to its leader: its life, its CPU, its jobs and its answers.

use std::io::{BufRead, Stdin, Write as _};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// Ties this process's life to the leader's, and puts it on its CPU.
pub(crate) fn follow(leader_pid: u32, cpu: Option<usize>) -> Result<()> {
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    tied.map_err(refused("following the leader"))?;
    if getppid() != Pid::from_raw(leader_pid as i32) {
        return Err(Error::Worker {
            what: "its leader is gone".to_owned(),
        });
    }
    stay_on(cpu)
}

/// Puts the calling thread on its CPU, if there is one for it.
pub(crate) fn stay_on(cpu: Option<usize>) -> Result<()> {
    cpu.map_or(Ok(()), |cpu| stay_on_all(&[cpu]))
}

/// Puts the calling thread, and what it starts, on these CPUs.
pub(crate) fn stay_on_all(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).map_err(refused("choosing the CPU"))
}

fn refused(doing: &'static str) -> impl FnOnce(Errno) -> Error {
    move |error| Error::Io {
        doing,
        source: error.into(),
    }
}

/// One JSON value a line.
pub(crate) fn answer(answer: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(answer).expect("answers have a JSON form");
    line.push('\n');
    let sent = std::io::stdout().write_all(line.as_bytes());
    sent.map_err(Error::io("answering the leader"))
}

/// What the leader says.
pub(crate) struct Lines {
    input: Stdin,
    line: String,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self {
            input: std::io::stdin(),
            line: String::new(),
        }
    }

    /// `None`: the leader has no more jobs.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        self.line.clear();
        let len = self.input.lock().read_line(&mut self.line);
        if len.map_err(Error::io("hearing the leader"))? == 0 {
            return Ok(None);
        }
        let parsed = serde_json::from_str(&self.line);
        let source = match parsed {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error.into(),
        };
        Err(Error::Io {
            doing: "understanding the leader",
            source,
        })
    }
}
