//! A worker process's bond to its leader: its life, its CPU, its jobs and its answers.

use std::io::{BufRead, Write as _};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::crew::Answer;
use crate::{Error, Result};

/// Ties this process's life to the leader's, and puts it on its CPU.
pub(crate) fn follow(leader_pid: u32, cpu: Option<usize>) -> Result<()> {
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    tied.map_err(Error::io("following the leader"))?;
    if getppid() != Pid::from_raw(leader_pid as i32) {
        return Err(Error::worker("its leader is gone"));
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
    sched_setaffinity(None, &set).map_err(Error::io("choosing the CPU"))
}

/// The CPUs that this process may use.
pub(crate) fn usable_cpus() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).map_err(Error::io("asking for the CPUs"))?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Does what the leader at the other end of standard input says, until that end is closed: `serve`
/// gets the first line. What fails is asked to the leader.
pub(crate) fn work<S: DeserializeOwned>(
    serve: impl FnOnce(S, &mut Lines) -> Result<()>,
) -> Result<()> {
    let mut lines = Lines::default();
    let Some(setup) = lines.next()? else {
        return Ok(());
    };
    let (wrong, what) = match serve(setup, &mut lines) {
        Ok(()) => return Ok(()),
        Err(Error::WrongAnswer { what, .. }) => (true, what),
        Err(error) => (false, error.to_string()),
    };
    answer(&Answer::<()>::Failed { wrong, what })
}

/// One JSON value a line.
pub(crate) fn answer(answer: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(answer).expect("answers have a JSON form");
    line.push('\n');
    let sent = std::io::stdout().write_all(line.as_bytes());
    sent.map_err(Error::io("answering the leader"))
}

/// What the leader says.
#[derive(Default)]
pub(crate) struct Lines {
    line: String,
}

impl Lines {
    /// Returns the next job, or `None` if the leader has no more.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        self.line.clear();
        let len = std::io::stdin().lock().read_line(&mut self.line);
        if len.map_err(Error::io("hearing the leader"))? == 0 {
            return Ok(None);
        }
        let parsed = serde_json::from_str(&self.line);
        parsed
            .map(Some)
            .map_err(Error::io("understanding the leader"))
    }
}
