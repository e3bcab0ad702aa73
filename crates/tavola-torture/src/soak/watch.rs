//! The hand of the supervisor: starting, stopping, killing, and looking who makes no progress.

use super::seat::{Seat, Word};
use super::worker::Worker;
use super::{Outcome, STOPPED_NS, Soak, WRITERS};
use crate::system::{Ended, fork, kill, now_ns, poll, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};
use std::error::Error;

/// Without progress for so long, a worker is hung.
const HUNG_NS: u64 = 5_000_000_000;
/// A worker as its supervisor sees it.
pub(super) struct Seen {
    pub(super) seat: Seat,
    pub(super) pid: Pid,
    /// When a stopped one continues.
    stopped_until: Option<u64>,
    beat: u64,
    pub(super) beat_at: u64,
}

impl Seen {
    pub(super) fn new(seat: Seat, pid: Pid) -> Self {
        Self {
            seat,
            pid,
            stopped_until: None,
            beat: 0,
            beat_at: now_ns(),
        }
    }

    pub(super) fn start_again(&mut self) -> Outcome {
        if self.stopped_until.take().is_some() {
            kill(self.pid, Signal::CONT)?;
            self.beat_at = now_ns();
        }
        Ok(())
    }
}

impl Soak<'_> {
    pub(super) fn start(&mut self, seat: Seat) -> Result<Pid, Box<dyn Error>> {
        let worker = Worker {
            board: self.board,
            seat,
            path: &self.path,
            audit: self.audit,
            only_reads: seat.number >= WRITERS,
            numbers: Numbers::new(self.numbers.next()),
        };
        Ok(fork(|| worker.run())?)
    }

    /// Kills a worker, notes what it was about to do, and starts it again.
    pub(super) fn kill_one(&mut self) -> Outcome {
        let at = self.numbers.below(self.workers.len() as u64) as usize;
        let pid = self.workers[at].pid;
        kill(pid, Signal::KILL)?;
        let ended = wait(pid)?;
        if ended.was_killed() {
            self.kills += 1;
        } else {
            self.ended(at, ended);
        }
        self.restart(at)
    }

    fn ended(&self, at: usize, ended: Ended) {
        if ended != Ended::Exited(1) {
            self.board
                .fault(&format!("soak: worker {at} ended by itself: {ended:?}"));
        }
    }

    fn restart(&mut self, at: usize) -> Outcome {
        let seat = self.workers[at].seat;
        self.doubt.note(&seat);
        let pid = self.start(seat)?;
        self.workers[at] = Seen::new(seat, pid);
        Ok(())
    }

    pub(super) fn stop_one(&mut self) -> Outcome {
        let at = self.numbers.below(self.workers.len() as u64) as usize;
        let until = now_ns() + self.numbers.below(STOPPED_NS);
        let worker = &mut self.workers[at];
        if worker.stopped_until.is_none() {
            kill(worker.pid, Signal::STOP)?;
            worker.stopped_until = Some(until);
            self.stops += 1;
        }
        Ok(())
    }

    /// Continues those whose time has come; looks for those that ended or hang.
    pub(super) fn collect_ended(&mut self) -> Outcome {
        for at in 0..self.workers.len() {
            let now = now_ns();
            let worker = &mut self.workers[at];
            if worker.stopped_until.is_some_and(|until| until <= now) {
                worker.start_again()?;
            }
            let beat = worker.seat.get(Word::Heartbeat);
            if beat != worker.beat || worker.stopped_until.is_some() {
                (worker.beat, worker.beat_at) = (beat, now);
            }
            let (pid, quiet) = (worker.pid, now.saturating_sub(worker.beat_at));
            if let Some(ended) = poll(pid)? {
                self.ended(at, ended);
                self.restart(at)?;
            } else if quiet > HUNG_NS {
                self.board.fault(&format!(
                    "soak: HUNG: worker {at} for {} ms",
                    quiet / 1_000_000
                ));
                kill(pid, Signal::KILL)?;
                wait(pid)?;
                self.restart(at)?;
            }
        }
        Ok(())
    }
}
