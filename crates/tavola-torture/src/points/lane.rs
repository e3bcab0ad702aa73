//! One lane: of several processes that take the points of a case one by one, each with a file of
//! its own.

use super::case::Case;
use super::survivor::{Style, before_recovery};
use super::{reader, survivor, uids, victim};
use crate::board::{Board, Count, Of};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::{Ended, fork, until_next_second, wait};
use crate::value::Numbers;
use rustix::process::Pid;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use tavola_model::Op;

/// How often a victim that waits is sent again, if it had fewer stores than the longest wait makes.
const AGAIN: u32 = 20;

/// A lane's place.
pub(crate) struct Lane<'a> {
    pub(crate) board: &'a Board,
    pub(crate) number: usize,
    path: PathBuf,
    /// Every so many points a reader runs beside.
    reader_every: u64,
    keep: Option<&'a Path>,
}

/// What became of a victim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Killed,
    /// It had fewer stores than that.
    Lived {
        stores: u64,
    },
    /// It ended in another way, which was reported.
    Failed,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(
        board: &'a Board,
        scratch: &Scratch,
        number: usize,
        reader_every: u64,
        keep: Option<&'a Path>,
    ) -> Self {
        Self {
            board,
            number,
            path: scratch.path(&format!("lane-{number}")),
            reader_every,
            keep,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn word(&self, word: Of) -> u64 {
        self.board.lane(self.number, word).load(Relaxed)
    }

    /// A fresh file, a victim that dies at `k`, a survivor. Says what became of the victim. `turn`:
    /// the number of the point among those that are killed at.
    pub(crate) fn point(&self, case: &Case, k: u64, turn: u64) -> io::Result<Outcome> {
        case.image.store(&self.path)?;
        self.board.lane(self.number, Of::Stop).store(0, Relaxed);
        let reader = match k % self.reader_every {
            1 => Some(self.reader(case, k)?),
            _ => None,
        };
        let outcome = self.victim(case, k)?;
        if outcome != Outcome::Failed {
            // A victim that lived left nothing.
            let left = outcome == Outcome::Killed && !case.is_aftermath;
            let watched_point = left.then_some(turn);
            self.survivor(
                case,
                k,
                Style {
                    watched_point,
                    ..Style::drawn(k)
                },
            )?;
        }
        self.board.lane(self.number, Of::Stop).store(1, Relaxed);
        if let Some(pid) = reader {
            self.expect_success(pid, &format!("{}: point {k}: the reader", case.name))?;
        }
        Ok(outcome)
    }

    /// As [`Self::point`], where the point is there and the case waits: until it fires.
    pub(crate) fn insist(&self, case: &Case, k: u64, turn: u64) -> io::Result<Outcome> {
        let mut outcome = self.point(case, k, turn)?;
        for _ in 0..AGAIN {
            if !matches!(outcome, Outcome::Lived { .. }) {
                break;
            }
            until_next_second();
            outcome = self.point(case, k, turn)?;
        }
        Ok(outcome)
    }

    /// A fresh file, and a victim that dies at `k`; where the case waits, until it does.
    pub(crate) fn kill(&self, case: &Case, k: u64) -> io::Result<Outcome> {
        let mut tries = if case.waits { AGAIN } else { 0 };
        loop {
            case.image.store(&self.path)?;
            let outcome = self.victim(case, k)?;
            if tries == 0 || !matches!(outcome, Outcome::Lived { .. }) {
                return Ok(outcome);
            }
            tries -= 1;
            until_next_second();
        }
    }

    /// How many stores a victim makes, where it waits longest.
    pub(crate) fn stores(&self, case: &Case) -> io::Result<u64> {
        case.image.store(&self.path)?;
        if case.waits {
            until_next_second();
        }
        match self.victim(case, 0)? {
            Outcome::Lived { stores } => Ok(stores),
            outcome => {
                let name = &case.name;
                let what = format!("{name}: nobody was to die, and the victim {outcome:?}");
                self.board.fault(&what);
                Ok(0)
            }
        }
    }

    fn reader(&self, case: &Case, k: u64) -> io::Result<Pid> {
        fork(|| {
            let outcome = reader::run(case, &self.path, self.board, self.number);
            self.report_outcome(outcome, || format!("{}: point {k}: the reader", case.name))
        })
    }

    /// Runs a victim on the file as it is; 0: it lives.
    pub(crate) fn victim(&self, case: &Case, k: u64) -> io::Result<Outcome> {
        // Once for all victims of this process.
        case.answers();
        let pid = fork(|| victim::run(case, &self.path, self.board, self.number, k))?;
        let ended = wait(pid)?;
        if ended.was_killed() {
            self.board.add(Count::Killed, 1);
            return Ok(Outcome::Killed);
        }
        if ended == Ended::Exited(0) {
            let stores = self.word(Of::Passed);
            return Ok(Outcome::Lived { stores });
        }
        if ended != Ended::Exited(1) {
            let how = describe_end(ended);
            self.board
                .fault(&format!("{}: the victim of point {k} {how}", case.name));
        }
        Ok(Outcome::Failed)
    }

    pub(crate) fn survivor(&self, case: &Case, k: u64, style: Style) -> io::Result<()> {
        if let Some(dir) = self.keep {
            std::fs::copy(&self.path, dir.join(format!("lane-{}", self.number)))?;
        }
        let done = self.word(Of::Acknowledged) as usize;
        let name = || format!("{}: point {k}, beginning {}", case.name, style.beginning);
        let faults = self.board.faults();
        let pid = fork(|| {
            let outcome = survivor::run(case, &self.path, self.board, self.number, done, style);
            self.report_outcome(outcome, name)
        })?;
        self.expect_success(pid, &name())?;
        self.board.add(Count::Survived, 1);
        if let (Some(dir), true) = (self.keep, self.board.faults() > faults) {
            let (from, number) = (format!("lane-{}", self.number), self.board.faults());
            std::fs::rename(dir.join(from), dir.join(format!("fault-{number}")))?;
        }
        Ok(())
    }

    fn report_outcome(&self, outcome: Result<(), String>, name: impl Fn() -> String) -> i32 {
        match outcome {
            Ok(()) => 0,
            Err(why) => {
                self.board.fault(&format!("{}: {why}", name()));
                1
            }
        }
    }

    fn expect_success(&self, pid: Pid, name: &str) -> io::Result<()> {
        match wait(pid)? {
            Ended::Exited(0 | 1) => {}
            ended => self
                .board
                .fault(&format!("{name}: {}", describe_end(ended))),
        }
        Ok(())
    }

    /// Returns the case of the finders of what a victim of point `k` leaves, or `None` after a
    /// fault, which was reported.
    pub(crate) fn aftermath(&self, case: &Case, k: u64) -> io::Result<Option<Case>> {
        let outcome = self.kill(case, k)?;
        if outcome != Outcome::Killed {
            let what = format!(
                "{}: point {k}, to be recovered from: {outcome:?}",
                case.name
            );
            self.board.fault(&what);
            return Ok(None);
        }
        let Some(mut found) = self.found(case, k, k)? else {
            return Ok(None);
        };
        found.image = Image::load(&self.path)?;
        Ok(Some(found))
    }

    /// The same on the file as it is, of which no copy is made; what they do is `drawn`.
    pub(crate) fn found(&self, case: &Case, k: u64, drawn: u64) -> io::Result<Option<Case>> {
        let done = self.word(Of::Acknowledged) as usize;
        let model = match before_recovery(case, &self.path, done) {
            Ok(model) => model,
            Err(why) => {
                self.board
                    .fault(&format!("{}: point {k}: {why}", case.name));
                return Ok(None);
            }
        };
        let name = format!("{} > {k}", case.name);
        let ops = vec![notice(case, drawn)];
        let mut found = Case::new(&name, (case.image.clone(), Rc::new(model)), ops)
            .armed_from_start()
            .growth(case.growth);
        found.is_aftermath = true;
        found.is_full = case.is_full;
        found.is_fixed = case.is_fixed;
        (found.is_cache, found.shrinks) = (case.is_cache, case.shrinks);
        found.few = case.few;
        found.expires = case.expires;
        found.versions = case.versions.clone();
        found.hints = uids::known(case, done, self.word(Of::Hint)).map(Rc::new);
        Ok(Some(found))
    }
}

/// What the one who finds a dead process's shard locked was about to do.
fn notice(case: &Case, drawn: u64) -> Op {
    let set = |len| {
        let (key, value) = case.pair(b"finder", 1, len);
        Op::Set(key, value)
    };
    match Numbers::new(drawn).below(4) {
        _ if case.is_full => Op::Check,
        0 => set(30),
        1 => Op::Check,
        2 => set(40_000),
        _ => Op::Reclaim,
    }
}

fn describe_end(ended: Ended) -> String {
    match ended {
        ended if ended.was_too_slow() => "hung".to_owned(),
        Ended::Exited(code) => format!("ended with code {code}"),
        Ended::Signalled(signal) => format!("was ended by signal {signal}"),
    }
}
