//! A process of the measurement: its share of the keys, in ascending order, phase by phase.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tavola::Table;

use super::Phase;
use crate::clock::{monotonic_ns, wait_until};
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};
use crate::order::share;
use crate::{Error, Result};

/// Operations between two writes of the count.
pub(super) const EACH: u64 = 1024;

/// The first line of a process: who it is. Answered by `Ready` when the store is open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) part: u32,
    pub(super) parts: u32,
    pub(super) keys: u64,
    /// Per cent of the mixed phase that are deleted and put again.
    pub(super) mix: u32,
    pub(super) counts: PathBuf,
    pub(super) path: PathBuf,
}

/// Each further line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) phase: Phase,
    /// The instant of the monotonic clock at which all begin.
    pub(super) start_ns: u64,
}

/// What a process did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) end_ns: u64,
    pub(super) ops: u64,
}

/// The keys are deleted and put again whose number has a remainder by 100 below the percentage.
fn is_mixed(index: u64, mix: u32) -> bool {
    index % 100 < u64::from(mix)
}

/// Returns how many keys are deleted and put again by all processes.
pub(super) fn mixed(keys: u64, procs: u32, mix: u32) -> u64 {
    let below = |end: u64| end / 100 * u64::from(mix) + (end % 100).min(u64::from(mix));
    let shares = (0..procs).map(|part| share(keys, part, procs));
    shares
        .map(|share| below(share.end) - below(share.start))
        .sum()
}

/// Does what the leader at the other end of standard input says, until that end is closed.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, lines| {
        follow(setup.leader_pid, None)?;
        // Its name is taken away on purpose.
        tavola::on_notice(|_| ());
        let table = Table::options().open_existing(&setup.path)?;
        let counts = OpenOptions::new().write(true).open(&setup.counts);
        let counts = counts.map_err(Error::io("opening the counts"))?;
        let share = share(setup.keys, setup.part, setup.parts);
        let mut worker = Worker {
            table,
            counts,
            setup,
            ops: 0,
        };
        answer(&Answer::<Done>::Ready)?;
        worker.serve(share, lines)
    })
}

struct Worker {
    table: Table,
    counts: File,
    setup: Setup,
    /// Operations of all phases.
    ops: u64,
}

impl Worker {
    fn serve(&mut self, share: Range<u64>, lines: &mut Lines) -> Result<()> {
        while let Some(job) = lines.next::<Job>()? {
            wait_until(job.start_ns);
            let before = self.ops;
            for index in share.clone() {
                self.step(job.phase, index)?;
                self.ops += 1;
                if self.ops.is_multiple_of(EACH) {
                    self.count()?;
                }
            }
            let end_ns = monotonic_ns();
            self.count()?;
            let ops = self.ops - before;
            answer(&Answer::Done(Done { end_ns, ops }))?;
        }
        Ok(())
    }

    #[inline]
    fn step(&self, phase: Phase, index: u64) -> Result<()> {
        let key = (index as u32).to_le_bytes();
        let value = (!(index as u32)).to_le_bytes();
        match phase {
            // What is put at first is another value than what is read later.
            Phase::Put => self.table.set(key, key)?,
            Phase::Upd => self.table.set(key, value)?,
            Phase::Mix if is_mixed(index, self.setup.mix) => {
                if !self.table.remove(key)? {
                    return Err(Error::wrong("MIX", "a key was missing"));
                }
                self.table.set(key, value)?;
            }
            Phase::Mix | Phase::Get => {
                let mut found = [0; 4];
                if self.table.get_to_slice(key, &mut found)? != Some(4) || found != value {
                    let what = format!("the key {index} has another value, or none");
                    return Err(Error::wrong(phase.name(), what));
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> Result<()> {
        let at = 8 * u64::from(self.setup.part);
        let written = self.counts.write_all_at(&self.ops.to_le_bytes(), at);
        written.map_err(Error::io("counting"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_mixed_keys_is_that_of_the_loop() {
        for (keys, procs, mix) in [
            (1, 1, 2),
            (100, 1, 2),
            (20_017, 3, 2),
            (999, 4, 100),
            (50, 2, 0),
        ] {
            let counted = (0..keys).filter(|index| is_mixed(*index, mix)).count() as u64;
            assert_eq!(mixed(keys, procs, mix), counted);
        }
    }
}
