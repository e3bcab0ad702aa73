//! Trials in which a process gets SIGKILL, again and again: a busy writer beside a reader and
//! another writer, or the server under two writers and a reader.
//!
//! Afterwards the others must continue, or notice that their server is gone; the store must open,
//! and every put that had returned be there, whole. A store that broke is taken away, and the next
//! kill is done on a new one.

use std::thread;
use std::time::{Duration, Instant};

use super::ground::{Ground, KEYS};
use super::job::{Board, Job, Role};
use super::processes::{Member, signal_name, wait_until};
use super::stores::{Company, Subject};
use super::{Outcome, Stop, Trying, Verdict, count};
use crate::Result;

/// After so many stores that broke, the trial ends: more would say no more.
const ENOUGH: u32 = 3;
/// Places on the board.
pub(super) const VICTIM: u64 = 1;
const READER: u64 = 2;
const OTHER: u64 = 3;
const VERIFYING: u64 = 4;
/// A writer lives so many milliseconds at most, after its first put.
const LIFE_MS: u64 = 60;
/// A server lives so many milliseconds at least, once all are at work, and as many more at most.
const SERVER_LIFE_MS: u64 = 150;

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) kills: u32,
    pub(super) hung: u32,
    pub(super) unopened: u32,
    pub(super) unusable: u32,
    pub(super) died: u32,
    /// Puts that had returned.
    pub(super) puts: u64,
    pub(super) good: u64,
    pub(super) lost: u64,
    pub(super) torn: u64,
    /// Bad reads beside the writers, and how many reads there were.
    pub(super) wrong: u64,
    pub(super) reads: u64,
    /// The longest time from a kill of the server until it served.
    pub(super) away: Duration,
    pub(super) first_broken: Option<u32>,
    pub(super) why: Option<String>,
}

impl Tally {
    pub(super) fn broken(&self) -> u32 {
        self.hung + self.unopened + self.unusable + self.died
    }

    fn because(&mut self, why: impl FnOnce() -> String) {
        self.why.get_or_insert_with(why);
    }

    pub(super) fn loses(&self) -> bool {
        self.lost + self.torn + self.wrong > 0
    }
}

/// Kills writers.
pub(super) fn of_writers(ground: &mut Ground<'_>) -> Trying<Verdict> {
    let mut tally = Tally::default();
    let mut last = [0, 0];
    while tally.kills < ground.extent.kills && tally.broken() < ENOUGH {
        let before = (tally.broken(), tally.lost + tally.torn);
        kill_a_writer(ground, &mut tally, &mut last)?;
        if (tally.broken(), tally.lost + tally.torn) != before {
            tally.first_broken.get_or_insert(tally.kills);
            ground.renew()?;
            last = [0, 0];
        }
    }
    Ok(judge_writers(&tally, &ground.subject))
}

fn kill_a_writer(ground: &mut Ground<'_>, tally: &mut Tally, last: &mut [u64; 2]) -> Trying<()> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound;
    let mut victim = ground.starter.start(&Job {
        from: last[0] + 1,
        ..job.clone()
    })?;
    if !is_busy(&board, VICTIM, 1, &mut victim, bound)? {
        return cannot_begin(ground, &mut victim, tally, "a writer could not begin");
    }
    let mut others = start_others(ground, &job, last[1])?;
    for (slot, member) in &mut others {
        if !is_busy(&board, *slot, 1, member, bound)? && member.ended()?.is_none() {
            tally.because(|| "before a kill a process did nothing".to_owned());
        }
    }
    let life_ms = 1 + job.seed.wrapping_mul(0x9E37_79B9) % LIFE_MS;
    thread::sleep(Duration::from_millis(life_ms));
    ground.starter.kill(&mut victim)?;
    tally.kills += 1;
    let before = tally.hung;
    watch_others(ground, &board, &mut others, tally)?;
    let view = board.notes(READER)?;
    tally.wrong += view.wrong + view.vanished;
    tally.reads += view.ops;
    last[0] = board.notes(VICTIM)?.acked.max(last[0]);
    last[1] = board.notes(OTHER)?.acked.max(last[1]);
    drop(others);
    for (prefixes, from) in [("a", last[0]), ("b", last[1])] {
        if !verify(ground, &job, prefixes, from, ground.extent.mourning, tally)? {
            break;
        }
    }
    // A process that opens a store at which another hangs most often hangs as well.
    tally.hung = tally.hung.min(before + 1);
    Ok(())
}

/// Before the first kill the store cannot be tried like this at all; later it is broken.
pub(super) fn cannot_begin(
    ground: &mut Ground<'_>,
    member: &mut Member,
    tally: &mut Tally,
    doing: &str,
) -> Trying<()> {
    let ended = member.ended()?;
    ground.starter.kill(member)?;
    if tally.kills == 0 {
        let verdict = Verdict::of_fault(ended.as_ref(), doing);
        let silent = || Verdict::new(Outcome::Refuses, doing, 1);
        return Err(Stop::Verdict(verdict.unwrap_or_else(silent)));
    }
    tally.kills += 1;
    match ended {
        None => {
            tally.hung += 1;
            tally.because(|| "the next writer hung".to_owned());
        }
        Some(ended) => {
            tally.unopened += 1;
            tally.because(|| format!("the next writer: {}", ended.fault().unwrap_or_default()));
        }
    }
    Ok(())
}

fn start_others(ground: &mut Ground<'_>, job: &Job, last: u64) -> Result<Vec<(u64, Member)>> {
    let reader = Job {
        role: Role::Read,
        slot: READER,
        prefixes: "ab".to_owned(),
        ..job.clone()
    };
    let other = Job {
        slot: OTHER,
        prefixes: "b".to_owned(),
        from: last + 1,
        ..job.clone()
    };
    let jobs = match ground.subject.company {
        Company::Alone => vec![],
        Company::OneWriter => vec![reader],
        Company::Many => vec![reader, other],
    };
    let start = |job: &Job| Ok((job.slot, ground.starter.start(job)?));
    jobs.iter().map(start).collect()
}

/// Whether a process has come to do so many operations.
pub(super) fn is_busy(
    board: &Board,
    slot: u64,
    ops: u64,
    member: &mut Member,
    bound: Duration,
) -> Result<bool> {
    let busy = wait_until(bound, || {
        let has_ended = member.ended()?.is_some();
        let is_busy = board.notes(slot)?.ops >= ops;
        Ok((is_busy || has_ended).then_some(is_busy))
    })?;
    Ok(busy == Some(true))
}

/// Checks that the survivors continue, and end when they are asked to.
fn watch_others(
    ground: &mut Ground<'_>,
    board: &Board,
    others: &mut [(u64, Member)],
    tally: &mut Tally,
) -> Result<()> {
    let bound = ground.extent.mourning;
    let mut hung = false;
    for (slot, member) in others.iter_mut() {
        let before = board.notes(*slot)?.ops;
        let continued = wait_until(bound, || {
            let moved = board.notes(*slot)?.ops > before;
            Ok((moved || member.ended()?.is_some()).then_some(()))
        })?;
        hung |= continued.is_none();
    }
    board.ask_to_stop()?;
    for (slot, member) in others.iter_mut() {
        let which = match *slot {
            READER => "the reader",
            _ => "the other writer",
        };
        let ended = member.wait(if hung { Duration::ZERO } else { bound })?;
        if let Some(fault) = ended.as_ref().and_then(|ended| ended.fault()) {
            tally.died += 1;
            tally.because(|| format!("{which}: {fault}"));
        }
        if ended.is_none() {
            hung = true;
            ground.starter.kill(member)?;
            tally.because(|| format!("{which} hung"));
        }
    }
    tally.hung += u32::from(hung);
    Ok(())
}

/// Looks whether the store opens, what is in it, and whether a put works. Returns whether it does.
pub(super) fn verify(
    ground: &mut Ground<'_>,
    job: &Job,
    prefixes: &str,
    from: u64,
    bound: Duration,
    tally: &mut Tally,
) -> Result<bool> {
    let job = Job {
        role: Role::Verify,
        slot: VERIFYING,
        prefixes: prefixes.to_owned(),
        from,
        keys: KEYS,
        address: ground.address().to_owned(),
        ..job.clone()
    };
    let Some(ended) = ground.starter.run(&job, bound)? else {
        tally.hung += 1;
        tally.because(|| "a process that opened it afterwards hung".to_owned());
        return Ok(false);
    };
    match ended.answer {
        Some(answer) if answer.opened && answer.error.is_none() => {
            tally.good += answer.good;
            tally.lost += answer.lost;
            tally.torn += answer.torn;
            if !answer.works {
                tally.unusable += 1;
                tally.because(|| format!("a put afterwards did not work: {}", answer.means));
            }
            Ok(answer.works)
        }
        _ => {
            tally.unopened += 1;
            tally.because(|| {
                format!(
                    "opening it afterwards: {}",
                    ended.fault().unwrap_or_default()
                )
            });
            Ok(false)
        }
    }
}

/// Kills servers, each new and empty.
pub(super) fn of_servers(ground: &mut Ground<'_>) -> Trying<Verdict> {
    if !ground.subject.served {
        let why = "it has no server: its processes use it themselves";
        return Ok(Verdict::not_applicable(why));
    }
    let mut tally = Tally::default();
    while tally.kills < ground.extent.server_kills && tally.unopened + tally.unusable == 0 {
        ground.renew()?;
        kill_a_server(ground, &mut tally)?;
    }
    // The next trial begins with an empty store.
    ground.renew()?;
    Ok(judge_servers(&tally, ground.subject.as_run))
}

fn kill_a_server(ground: &mut Ground<'_>, tally: &mut Tally) -> Trying<()> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound;
    let mut clients = Vec::new();
    // A writer has put each of its keys once, so that all can be looked for.
    for (slot, role, prefixes, ops) in [
        (VICTIM, Role::Write, "a", KEYS),
        (OTHER, Role::Write, "b", KEYS),
        (READER, Role::Read, "ab", 1),
    ] {
        let mut client = ground.starter.start(&Job {
            slot,
            role,
            prefixes: prefixes.to_owned(),
            ..job.clone()
        })?;
        if !is_busy(&board, slot, ops, &mut client, bound)? {
            let none = &mut Tally::default();
            return cannot_begin(ground, &mut client, none, "a client could not begin");
        }
        clients.push(client);
    }
    let more = job.seed.wrapping_mul(0x9E37_79B9) % SERVER_LIFE_MS;
    thread::sleep(Duration::from_millis(SERVER_LIFE_MS + more));
    ground.kill_server()?;
    let begun = Instant::now();
    tally.kills += 1;
    watch_clients(ground, &mut clients, tally)?;
    board.ask_to_stop()?;
    if let Err(why) = ground.start_server_again() {
        tally.unopened += 1;
        tally.because(|| why);
        return Ok(());
    }
    tally.away = tally.away.max(begun.elapsed());
    let hung = tally.hung;
    for (slot, prefixes) in [(VICTIM, "a"), (OTHER, "b")] {
        let acked = board.notes(slot)?.acked;
        tally.puts += acked;
        verify(ground, &job, prefixes, acked, bound * 2, tally)?;
    }
    // A server that nobody can ask does not serve.
    tally.unopened += tally.hung - hung;
    tally.hung = hung;
    Ok(())
}

/// The clients of a dead server must notice, though they are never asked to stop.
fn watch_clients(ground: &mut Ground<'_>, clients: &mut [Member], tally: &mut Tally) -> Result<()> {
    // All have as long, and have had it when one has.
    let mut bound = ground.extent.mourning;
    for client in clients {
        let Some(ended) = client.wait(bound)? else {
            tally.hung += 1;
            bound = Duration::ZERO;
            tally.because(|| "a client waited for its dead server".to_owned());
            ground.starter.kill(client)?;
            continue;
        };
        if let Some(signal) = ended.signal {
            tally.died += 1;
            tally.because(|| format!("a client died of {}", signal_name(signal)));
        }
    }
    Ok(())
}

fn judge_writers(tally: &Tally, subject: &Subject) -> Verdict {
    let outcome = match tally {
        Tally { hung: 1.., .. } => Outcome::Hangs,
        Tally { unopened: 1.., .. } | Tally { unusable: 1.., .. } => Outcome::Ruined,
        Tally { died: 1.., .. } => Outcome::Dies,
        tally if tally.loses() => Outcome::Loses,
        _ => Outcome::Holds,
    };
    let beside = match subject.company {
        _ if subject.served => "of a client, a reader and another writer beside it",
        Company::Many => "with a reader and another writer beside it",
        Company::OneWriter => "with a reader beside it",
        Company::Alone => "with nobody beside it, as one process has it for itself",
    };
    let mut said = vec![format!("{} {beside}", count(tally.kills.into(), "kill"))];
    for (number, text) in [
        (tally.hung.into(), "after # a process hung"),
        (tally.unopened.into(), "after # it did not open"),
        (tally.unusable.into(), "after # nothing could be put"),
        (tally.died.into(), "others died or were refused: #"),
        (
            tally.lost,
            "# values that had been written were lost or older",
        ),
        (tally.torn, "# values were cut short or mixed"),
    ] {
        if number > 0 {
            said.push(text.replace('#', &number.to_string()));
        }
    }
    if tally.wrong > 0 {
        let (all, share) = (
            tally.reads,
            100.0 * tally.wrong as f64 / tally.reads.max(1) as f64,
        );
        said.push(format!(
            "{share:.2} % of {all} reads beside the writers were wrong"
        ));
    }
    if outcome == Outcome::Holds {
        let good = tally.good;
        said.push(format!(
            "no process hung, {good} values looked at, none lost or cut short"
        ));
    }
    said.extend(
        tally
            .first_broken
            .map(|first| format!("the first after kill {first}")),
    );
    said.extend(tally.why.clone());
    Verdict::new(outcome, said.join("; "), tally.kills)
}

fn judge_servers(tally: &Tally, as_run: &str) -> Verdict {
    let is_down = tally.unopened + tally.unusable > 0;
    let outcome = match tally {
        _ if is_down => Outcome::Ruined,
        Tally { hung: 1.., .. } => Outcome::Hangs,
        Tally { died: 1.., .. } => Outcome::Dies,
        tally if tally.loses() => Outcome::Loses,
        _ => Outcome::Holds,
    };
    let kills = count(tally.kills.into(), "kill");
    let mut said = vec![format!("{kills} of the server under load")];
    if is_down {
        said.push("it did not serve again".to_owned());
    } else {
        let away = tally.away.as_millis();
        said.push(format!("each time it served again, within {away} ms"));
        said.push(kept(tally));
    }
    if tally.hung > 0 {
        said.push(format!("{} hung", count(tally.hung.into(), "client")));
    }
    if !as_run.is_empty() {
        said.push(format!("as it is run here: {as_run}"));
    }
    said.extend(tally.why.clone());
    Verdict::new(outcome, said.join("; "), tally.kills)
}

/// What has become of the values of the keys that were written, over and over.
pub(super) fn kept(tally: &Tally) -> String {
    let Tally {
        puts, lost, torn, ..
    } = *tally;
    let all = tally.good + lost + torn;
    let torn = match torn {
        0 => String::new(),
        torn => format!(", {torn} cut short or mixed"),
    };
    let fate = match lost {
        0 => format!("none of {all} values was lost{torn}"),
        lost if lost == all => format!("all {all} values were lost"),
        lost => format!("{lost} of {all} values were lost or older{torn}"),
    };
    format!("{fate}, of {puts} puts that had returned")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts_and_is_reported() {
        let tally = || Tally {
            kills: 3,
            puts: 900,
            good: 96,
            ..Tally::default()
        };
        let judged = |tally: &Tally| judge_servers(tally, "no log");
        let none = judged(&tally());
        assert_eq!(none.outcome, Outcome::Holds);
        let words = "none of 96 values was lost, of 900 puts that had returned; \
                     as it is run here: no log";
        assert!(none.detail.ends_with(words), "{none:?}");
        let lost = Tally { lost: 4, ..tally() };
        assert_eq!(judged(&lost).outcome, Outcome::Loses);
        assert!(
            judged(&lost)
                .detail
                .contains("4 of 100 values were lost or older")
        );
        let hung = Tally { hung: 1, ..lost };
        assert_eq!(judged(&hung).outcome, Outcome::Hangs);
        let down = Tally {
            unusable: 1,
            ..hung
        };
        assert_eq!(judged(&down).outcome, Outcome::Ruined);
    }
}
