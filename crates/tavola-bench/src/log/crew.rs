//! The processes of a way: who writes, and who carries lines on.

use super::game::Score;
use super::job::{Came, Carried, Job, Plan, Setup, Target, Task, Wrote};
use super::{Config, Way};
use crate::Result;
use crate::crew::Crew;
use crate::latency::Merged;

/// More time before the common start.
const LEAD_NS: u64 = 2_000_000;

pub(super) struct Loggers<'a> {
    config: &'a Config,
    /// The writers, and behind them a drain or a receiver, if the way has one.
    writers: Crew<Job, Came>,
    carrier: Crew<Job, Came>,
}

impl<'a> Loggers<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self {
            config,
            writers: Crew::new("log"),
            carrier: Crew::new("log"),
        }
    }

    /// Starts the process that carries lines on, and returns when it is ready for them.
    pub(super) fn have_carried(&mut self, task: Task) -> Result<()> {
        self.carrier.hire("logger", &self.setup(task))?;
        self.carrier.ready(0)
    }

    /// Starts the writers; returns when all have opened what they write to.
    pub(super) fn start_writers(&mut self, way: Way, to: &Target) -> Result<()> {
        for process in 0..self.config.procs {
            let setup = self.setup(Task::Write {
                way,
                to: to.clone(),
                first: process * self.config.threads,
            });
            self.writers.hire("logger", &setup)?;
        }
        (0..self.writers.len()).try_for_each(|at| self.writers.ready(at))
    }

    fn setup(&self, task: Task) -> Setup {
        Setup {
            leader_pid: std::process::id(),
            cpu: self.config.cpu,
            plan: Plan {
                share: self.config.share(),
                text_bytes: self.config.text_bytes,
                threads: self.config.threads,
            },
            task,
        }
    }

    /// Has all lines logged, and carried on.
    pub(super) fn play(mut self, has_file: bool) -> Result<Score> {
        // Threads are begun meanwhile.
        let start_ns = self.writers.start_ns() + LEAD_NS;
        let came = self
            .writers
            .run_all(self.writers.len(), &Job { start_ns })?;
        let wrote: Vec<Wrote> = came.into_iter().filter_map(Came::wrote).collect();
        let mut carried = None;
        if self.carrier.len() > 0 {
            let over = Job { start_ns: 0 };
            carried = self.carrier.run(0, &over)?.carried();
        }
        self.writers.end()?;
        self.carrier.end()?;
        let mut score = score(start_ns, self.config.share(), &wrote, carried);
        if !has_file {
            score.all_seconds = None;
        }
        Ok(score)
    }
}

/// Lines are at their place when the last was carried there, if somebody carries them, and its
/// writer knows that it has written it.
fn score(start_ns: u64, share: u64, wrote: &[Wrote], carried: Option<Carried>) -> Score {
    let seconds = |end_ns: u64| end_ns.saturating_sub(start_ns).max(1) as f64 / 1e9;
    let threads = || wrote.iter().flat_map(|process| &process.threads);
    let own_ns = threads().map(|one| one.end_ns - one.begin_ns).sum::<u64>();
    let written_ns = threads().map(|one| one.end_ns).max().unwrap_or(start_ns);
    let handed_ns = wrote.iter().map(|process| process.handed_ns).max();
    let placed_ns = carried.map_or(handed_ns, |carried| Some(carried.end_ns));
    let mut latency = Merged::new();
    threads().for_each(|one| latency.add(&one.latency));
    Score {
        writer_ns: own_ns as f64 / (share * threads().count() as u64) as f64,
        writer_seconds: seconds(written_ns),
        all_seconds: placed_ns.map(|placed_ns| seconds(placed_ns.max(written_ns))),
        carried: carried.map(|carried| carried.lines),
        kept: 0,
        latency,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;
    use crate::log::job::Written;

    fn process(threads: &[(u64, u64)], handed_ns: u64) -> Wrote {
        let written = |&(begin_ns, end_ns)| {
            let mut latency = Latency::new();
            latency.record(end_ns - begin_ns);
            Written {
                begin_ns,
                end_ns,
                latency: latency.summary(),
            }
        };
        let threads = threads.iter().map(written).collect();
        Wrote { threads, handed_ns }
    }

    #[test]
    fn writers_have_their_own_time_and_all_count_from_the_start() {
        let two = [
            process(&[(1_100, 2_100), (1_000, 4_000)], 4_500),
            process(&[(1_200, 3_200), (1_000, 3_000)], 3_500),
        ];
        let told = score(1_000, 10, &two, None);
        assert_eq!(told.writer_ns, 200.0);
        assert_eq!(told.writer_seconds, 3e-6);
        assert_eq!((told.all_seconds, told.carried), (Some(3.5e-6), None));
        assert_eq!(told.latency.count(), 4);
        let carried = Carried {
            lines: 40,
            end_ns: 9_000,
        };
        let told = score(1_000, 10, &two, Some(carried));
        assert_eq!((told.all_seconds, told.carried), (Some(8e-6), Some(40)));
        let early = Carried {
            lines: 40,
            end_ns: 3_900,
        };
        let told = score(1_000, 10, &two, Some(early));
        assert_eq!((told.all_seconds, told.writer_seconds), (Some(3e-6), 3e-6));
    }
}
