//! The processes of a way: who writes, and who carries lines on.

use super::game::Score;
use super::job::{Answer, Carried, Go, Over, Plan, Setup, Target, Task, Wrote};
use super::{Config, Way};
use crate::clock::monotonic_ns;
use crate::latency::Merged;
use crate::member::{Member, out_of_turn};
use crate::{Error, Result};

/// Between the last word to the writers and the common start: threads are begun meanwhile.
const LEAD_NS: u64 = 5_000_000;

pub(super) struct Crew<'a> {
    config: &'a Config,
    /// A drain or a receiver, if the way has one.
    carrier: Option<Member>,
    writers: Vec<Member>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self {
            config,
            carrier: None,
            writers: Vec::new(),
        }
    }

    /// Starts who carries lines on; returns when it is ready for them.
    pub(super) fn have_carried(&mut self, task: Task) -> Result<()> {
        let mut carrier = self.started(task)?;
        is_ready(&mut carrier, 0)?;
        self.carrier = Some(carrier);
        Ok(())
    }

    /// Starts the writers; returns when all have opened what they write to.
    pub(super) fn start_writers(&mut self, way: Way, to: &Target) -> Result<()> {
        for process in 0..self.config.procs {
            let writer = self.started(Task::Write {
                way,
                to: to.clone(),
                first: process * self.config.threads,
            })?;
            self.writers.push(writer);
        }
        let mut writers = self.writers.iter_mut().enumerate();
        writers.try_for_each(|(at, writer)| is_ready(writer, at))
    }

    fn started(&self, task: Task) -> Result<Member> {
        let mut member = Member::start(&self.config.worker)?;
        member.send(&Setup {
            leader_pid: std::process::id(),
            cpu: self.config.cpu,
            plan: Plan {
                share: self.config.share(),
                text_bytes: self.config.text_bytes,
                threads: self.config.threads,
            },
            task,
        })?;
        Ok(member)
    }

    /// Has all lines logged, and carried on.
    pub(super) fn play(mut self, has_file: bool) -> Result<Score> {
        let start_ns = monotonic_ns() + LEAD_NS;
        for writer in &mut self.writers {
            writer.send(&Go { start_ns })?;
        }
        let mut wrote = Vec::new();
        for (at, writer) in self.writers.iter_mut().enumerate() {
            match hear(writer, at)? {
                Answer::Wrote(one) => wrote.push(one),
                _ => return Err(out_of_turn()),
            }
        }
        let carried = match &mut self.carrier {
            Some(carrier) => {
                carrier.send(&Over {})?;
                match hear(carrier, 0)? {
                    Answer::Carried(carried) => Some(carried),
                    _ => return Err(out_of_turn()),
                }
            }
            None => None,
        };
        let mut members = self.writers.into_iter().chain(self.carrier);
        members.try_for_each(Member::dismiss)?;
        let mut score = score(start_ns, self.config.share(), &wrote, carried);
        if !has_file {
            score.all_seconds = None;
        }
        Ok(score)
    }
}

fn is_ready(member: &mut Member, at: usize) -> Result<()> {
    match hear(member, at)? {
        Answer::Ready => Ok(()),
        _ => Err(out_of_turn()),
    }
}

fn hear(member: &mut Member, at: usize) -> Result<Answer> {
    match member.hear(at, "log")? {
        Answer::Failed { wrong, what } => Err(Error::told(wrong, "log", what)),
        answer => Ok(answer),
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
