//! A busy writer is killed again and again, beside a reader and another writer where there may be.
//!
//! Afterwards the others must go on, the store must open, and every put that had returned be there,
//! whole. What breaks is noted, the store taken away, and the next kill done on a new one.

use std::thread;
use std::time::Duration;

use super::{Verdict, count};
use crate::Result;
use crate::compare::torment::Outcome;
use crate::compare::torment::board::{Board, Notes};
use crate::compare::torment::ground::{Ground, KEYS};
use crate::compare::torment::job::{Job, Role};
use crate::compare::torment::program::{Member, signal_name, wait_until};
use crate::compare::torment::subject::{Company, Subject};

/// After so many stores that broke, the trial ends: more would say no more.
const ENOUGH: u32 = 3;
pub(super) const VICTIM: u64 = 1;
pub(super) const READER: u64 = 2;
pub(super) const OTHER: u64 = 3;
/// The victim lives so many milliseconds at most, after its first put.
const LIFE_MS: u64 = 60;

/// What happened so far.
#[derive(Debug, Default)]
struct Tally {
    kills: u32,
    hangs: u32,
    unopened: u32,
    unusable: u32,
    deaths: u32,
    lost: u64,
    torn: u64,
    good: u64,
    /// Bad reads beside the writers, and how many reads there were.
    wrong: u64,
    vanished: u64,
    reads: u64,
    first_broken: Option<u32>,
    why: Option<String>,
}

impl Tally {
    fn broken(&self) -> u32 {
        self.hangs + self.unopened + self.unusable + self.deaths
    }

    fn because(&mut self, why: impl FnOnce() -> String) {
        self.why.get_or_insert_with(why);
    }
}

pub(in crate::compare::torment) fn run(ground: &mut Ground<'_>) -> Result<Verdict> {
    let mut tally = Tally::default();
    let mut last = [0, 0];
    while tally.kills < ground.extent.kills && tally.broken() < ENOUGH {
        let before = (tally.broken(), tally.lost + tally.torn);
        if let Some(verdict) = once(ground, &mut tally, &mut last)? {
            return Ok(verdict);
        }
        if (tally.broken(), tally.lost + tally.torn) != before {
            tally.first_broken.get_or_insert(tally.kills);
            ground.renew()?;
            last = [0, 0];
        }
    }
    Ok(judge(&tally, &ground.subject))
}

/// One kill. A verdict: the store cannot be tried like this at all.
fn once(
    ground: &mut Ground<'_>,
    tally: &mut Tally,
    last: &mut [u64; 2],
) -> Result<Option<Verdict>> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound;
    let mut victim = ground.starter.start(&Job {
        from: last[0] + 1,
        ..job.clone()
    })?;
    if !is_busy(&board, VICTIM, 1, &mut victim, bound)? {
        let ended = victim.ended()?;
        ground.starter.kill(&mut victim)?;
        if tally.kills == 0 {
            return Ok(Verdict::of_fault(
                ended.as_ref(),
                "a writer could not begin",
            ));
        }
        tally.kills += 1;
        note_no_start(tally, ended);
        return Ok(None);
    }
    let mut others = start_others(ground, &job, last[1])?;
    for (slot, member) in &mut others {
        if !is_busy(&board, *slot, 1, member, bound)? && member.ended()?.is_none() {
            tally.because(|| "before a kill somebody did nothing".to_owned());
        }
    }
    thread::sleep(Duration::from_millis(
        1 + job.seed.wrapping_mul(0x9E37_79B9) % LIFE_MS,
    ));
    ground.starter.kill(&mut victim)?;
    tally.kills += 1;
    let before = tally.hangs;
    watch(ground, &board, &mut others, tally)?;
    let readers_view = board.notes(READER)?;
    tally.wrong += readers_view.wrong;
    tally.vanished += readers_view.vanished;
    tally.reads += readers_view.ops;
    last[0] = board.notes(VICTIM)?.acked.max(last[0]);
    last[1] = board.notes(OTHER)?.acked.max(last[1]);
    drop(others);
    look(ground, &job, tally, last)?;
    // Whoever opens a store at which somebody hangs most often hangs as well.
    tally.hangs = tally.hangs.min(before + 1);
    Ok(None)
}

fn start_others(ground: &mut Ground<'_>, job: &Job, last: u64) -> Result<Vec<(u64, Member)>> {
    let company = ground.subject.company;
    let mut others = Vec::new();
    if company != Company::Alone {
        let reader = Job {
            role: Role::Read,
            slot: READER,
            prefixes: "ab".to_owned(),
            ..job.clone()
        };
        others.push((READER, ground.starter.start(&reader)?));
    }
    if company == Company::Many {
        let other = Job {
            slot: OTHER,
            prefixes: "b".to_owned(),
            from: last + 1,
            ..job.clone()
        };
        others.push((OTHER, ground.starter.start(&other)?));
    }
    Ok(others)
}

/// Whether it has come to do so many operations.
pub(super) fn is_busy(
    board: &Board,
    slot: u64,
    ops: u64,
    member: &mut Member,
    bound: Duration,
) -> Result<bool> {
    let busy = wait_until(bound, || {
        if board.notes(slot)?.ops >= ops {
            return Ok(Some(true));
        }
        Ok(member
            .ended()?
            .map(|_| board.notes(slot).is_ok_and(|notes| notes.ops >= ops)))
    })?;
    Ok(busy == Some(true))
}

/// Those who live must go on, and end when they are told to.
fn watch(
    ground: &mut Ground<'_>,
    board: &Board,
    others: &mut [(u64, Member)],
    tally: &mut Tally,
) -> Result<()> {
    let bound = ground.extent.mourning;
    let mut hung = false;
    for (slot, member) in others.iter_mut() {
        let Notes { ops: before, .. } = board.notes(*slot)?;
        let goes_on = wait_until(bound, || {
            let moved = board.notes(*slot)?.ops > before;
            Ok((moved || member.ended()?.is_some()).then_some(()))
        })?;
        hung |= goes_on.is_none();
    }
    board.tell_to_stop()?;
    for (slot, member) in others.iter_mut() {
        let who = if *slot == READER {
            "the reader"
        } else {
            "the other writer"
        };
        match member.wait(if hung { Duration::ZERO } else { bound })? {
            None => {
                hung = true;
                ground.starter.kill(member)?;
                tally.because(|| format!("{who} hung"));
            }
            Some(ended) => {
                if let Some(fault) = ended.fault() {
                    tally.deaths += 1;
                    tally.because(|| format!("{who}: {fault}"));
                }
            }
        }
    }
    tally.hangs += u32::from(hung);
    Ok(())
}

/// Looks whether the store opens and what is in it.
fn look(ground: &mut Ground<'_>, job: &Job, tally: &mut Tally, last: &[u64; 2]) -> Result<()> {
    let bound = ground.extent.mourning;
    for (prefix, last) in [("a", last[0]), ("b", last[1])] {
        let job = Job {
            role: Role::Verify,
            slot: 4,
            prefixes: prefix.to_owned(),
            from: last,
            keys: KEYS,
            ..job.clone()
        };
        let Some(ended) = ground.starter.run(&job, bound)? else {
            tally.hangs += 1;
            tally.because(|| "who opened it afterwards hung".to_owned());
            return Ok(());
        };
        match ended.answer {
            Some(answer) if answer.opened && answer.error.is_none() => {
                tally.good += answer.good;
                tally.lost += answer.lost;
                tally.torn += answer.torn;
                if !answer.works {
                    tally.unusable += 1;
                    tally.because(|| format!("a put afterwards did not work: {}", answer.means));
                    return Ok(());
                }
            }
            _ => {
                tally.unopened += 1;
                let fault = ended.fault().unwrap_or_default();
                tally.because(|| format!("opening it afterwards: {fault}"));
                return Ok(());
            }
        }
    }
    Ok(())
}

fn note_no_start(tally: &mut Tally, ended: Option<crate::compare::torment::program::Ended>) {
    match ended {
        None => {
            tally.hangs += 1;
            tally.because(|| "the next writer hung".to_owned());
        }
        Some(ended) => {
            tally.unopened += 1;
            let fault = ended
                .fault()
                .or(ended.signal.map(signal_name))
                .unwrap_or_default();
            tally.because(|| format!("the next writer: {fault}"));
        }
    }
}

fn judge(tally: &Tally, subject: &Subject) -> Verdict {
    let outcome = match tally {
        Tally { hangs: 1.., .. } => Outcome::Hangs,
        Tally { unopened: 1.., .. } | Tally { unusable: 1.., .. } => Outcome::Ruined,
        Tally { deaths: 1.., .. } => Outcome::Dies,
        Tally { lost: 1.., .. } | Tally { torn: 1.., .. } => Outcome::Loses,
        Tally { wrong: 1.., .. } | Tally { vanished: 1.., .. } => Outcome::Loses,
        _ => Outcome::Holds,
    };
    let beside = match subject.company {
        _ if subject.served => "of a client, a reader and another writer beside it",
        Company::Many => "with a reader and another writer beside it",
        Company::OneWriter => "with a reader beside it",
        Company::Alone => "with nobody beside it, as one process has it for itself",
    };
    let mut said = vec![format!("{} {beside}", count(tally.kills.into(), "kill"))];
    let mut say = |number: u64, text: &str| {
        if number > 0 {
            said.push(text.replace('#', &number.to_string()));
        }
    };
    say(tally.hangs.into(), "after # somebody hung");
    say(tally.unopened.into(), "after # it did not open");
    say(tally.unusable.into(), "after # nothing could be put");
    say(tally.deaths.into(), "others died or were refused: #");
    say(
        tally.lost,
        "# values that had been written were lost or older",
    );
    say(tally.torn, "# values were cut short or mixed");
    if tally.wrong + tally.vanished > 0 {
        let (bad, all) = (tally.wrong + tally.vanished, tally.reads);
        let share = 100.0 * bad as f64 / all.max(1) as f64;
        said.push(format!(
            "{share:.2} % of {all} reads beside the writers were wrong"
        ));
    }
    if outcome == Outcome::Holds {
        let good = tally.good;
        said.push(format!(
            "nobody hung, {good} values looked at, none lost or cut short"
        ));
    }
    if let Some(first) = tally.first_broken {
        said.push(format!("the first after kill {first}"));
    }
    if let Some(why) = &tally.why {
        said.push(why.clone());
    }
    Verdict::new(outcome, said.join("; "), tally.kills)
}
