//! The leader's side of its workers: starting them, telling, hearing, ending them.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::job::{Answer, Done, Job, Run, Setup};
use super::{Config, Placement};
use crate::clock::monotonic_ns;
use crate::member::{Member, out_of_turn};
use crate::{Error, Result};

/// Between sending the job and the common start.
const LEAD_NS: u64 = 3_000_000;
/// More of it for each worker.
const LEAD_EACH_NS: u64 = 300_000;

/// All workers of a run, the hot writer last if there is one.
pub(super) struct Crew {
    members: Vec<Member>,
    procs: usize,
}

impl Crew {
    pub(super) fn start(config: &Config) -> Result<Self> {
        let procs = config.procs as usize;
        let mut crew = Self {
            members: Vec::new(),
            procs,
        };
        for at in 0..procs + usize::from(config.hot_writer) {
            crew.members.push(start(config, at)?);
        }
        Ok(crew)
    }

    /// Has all of them attach to the table.
    pub(super) fn attach(&mut self, table: &OsStr) -> Result<()> {
        for at in 0..self.members.len() {
            self.tell(at, &Job::Attach(PathBuf::from(table)))?;
            self.hear(at, "attach")?;
        }
        Ok(())
    }

    /// Has all of them run a phase, beginning together; `run.start_ns` is set here.
    pub(super) fn run(&mut self, mut run: Run) -> Result<(u64, Vec<Done>)> {
        run.start_ns = monotonic_ns() + LEAD_NS + LEAD_EACH_NS * self.procs as u64;
        for at in 0..self.procs {
            self.tell(at, &Job::Run(run.clone()))?;
        }
        let mut all = Vec::with_capacity(self.procs);
        for at in 0..self.procs {
            all.push(self.done(at, run.phase.name())?);
        }
        Ok((run.start_ns, all))
    }

    /// Has the hot writer, if there is one, write until [`Self::hot_writer_stops`].
    pub(super) fn hot_writer_starts(&mut self, generation: u64) -> Result<()> {
        self.tell(self.procs, &Job::Hammer { generation })
    }

    pub(super) fn hot_writer_stops(&mut self) -> Result<Done> {
        self.tell(self.procs, &Job::Stop)?;
        self.done(self.procs, "hot writer")
    }

    /// Has one after the other call `maintain`; returns bytes collapsed, and whether it can be.
    pub(super) fn maintain(&mut self) -> Result<(u64, bool)> {
        let mut total = (0, true);
        for at in 0..self.procs {
            self.tell(at, &Job::Maintain)?;
            match self.hear(at, "collapse")? {
                Answer::Maintained {
                    collapsed_bytes,
                    supported,
                } => {
                    // All have the same table.
                    total = (total.0.max(collapsed_bytes), total.1 && supported);
                }
                _ => return Err(out_of_turn()),
            }
        }
        Ok(total)
    }

    /// Nanoseconds an operation that the loop around the table costs, over `keys` keys.
    pub(super) fn harness_ns(&mut self, keys: u64) -> Result<f64> {
        // Fewer, but as far from the next power of two, which is what the order's cost depends on.
        let bits = 64 - keys.leading_zeros();
        self.tell(
            0,
            &Job::Dry {
                ops: keys >> bits.saturating_sub(16),
            },
        )?;
        let done = self.done(0, "dry run")?;
        Ok((done.end_ns - done.begin_ns) as f64 / done.ops as f64)
    }

    /// Waits until all have ended.
    pub(super) fn end(self) -> Result<()> {
        self.members.into_iter().try_for_each(Member::dismiss)
    }

    fn done(&mut self, at: usize, phase: &str) -> Result<Done> {
        match self.hear(at, phase)? {
            Answer::Done(done) => Ok(done),
            _ => Err(out_of_turn()),
        }
    }

    fn tell(&mut self, at: usize, job: &Job) -> Result<()> {
        let told = self.members[at].send(job);
        if told.is_err() {
            // It said why before it ended, if it could.
            self.hear(at, "start")?;
        }
        told
    }

    fn hear(&mut self, at: usize, phase: &str) -> Result<Answer> {
        match self.members[at].hear(at, phase)? {
            Answer::Failed { wrong, what } => Err(Error::told(wrong, phase, what)),
            answer => Ok(answer),
        }
    }
}

fn start(config: &Config, at: usize) -> Result<Member> {
    let mut member = Member::start(&config.worker)?;
    member.send(&Setup {
        leader_pid: std::process::id(),
        part: (at as u32).min(config.procs - 1),
        parts: config.procs,
        keys: config.keys,
        key_bytes: config.key_bytes,
        value_bytes: config.value_bytes,
        distribution: config.distribution,
        cpu: cpu_of(config.placement, at),
    })?;
    Ok(member)
}

fn cpu_of(placement: Placement, at: usize) -> Option<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    match placement {
        Placement::Free => None,
        Placement::Spread => Some(at % cpus),
        Placement::One(cpu) => Some(cpu),
    }
}
