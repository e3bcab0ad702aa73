//! The trial of a full disk: a file system of 16 MiB is filled by puts. An error, a death, or ruin?

use super::ground::Ground;
use super::job::{Job, Role};
use super::processes::{Ended, signal_name};
use super::{Outcome, Trying, Verdict, count};

const ROOM_MIB: u64 = 16;
pub(super) const SCRIPT: &str =
    "mount -t tmpfs -o size=16m,mode=0777 torment \"$1\" && shift && exec \"$@\"";
const FULL_VALUE_BYTES: u64 = 32_000;
/// Puts before the file system is filled: a store that is made again has been made once.
const FIRST: u64 = 64;
/// Four times what fits.
const PUTS: u64 = 2 << 10;
/// More than there are puts: every put has its own key.
const MANY_KEYS: u64 = 1 << 30;
/// A put may pass over all data.
const PASSES: u32 = 2;

/// Fills it, which is mounted where the store is.
pub(super) fn fill(ground: &mut Ground<'_>) -> Trying<Verdict> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound * PASSES;
    let slowness = ground.subject.slowness;
    let first = Job {
        keys: MANY_KEYS,
        value_bytes: FULL_VALUE_BYTES * slowness,
        ops: FIRST / slowness,
        millis: bound.as_millis() as u64 * 2,
        ..job
    };
    ground.answer(&first, bound, "the first puts")?;
    let job = Job {
        from: first.ops + 1,
        ops: PUTS / slowness,
        slot: 2,
        ..first.clone()
    };
    let filled = ground.starter.run(&job, bound)?;
    let acked = board.notes(2)?.acked.max(first.ops);
    let mut after = |role, slot| {
        let job = Job {
            from: acked,
            role,
            slot,
            ..job.clone()
        };
        ground.starter.run(&job, bound)
    };
    let (verified, removed) = (after(Role::VerifyFull, 3)?, after(Role::Remove, 4)?);
    Ok(judge_full(
        acked,
        filled,
        verified,
        removed,
        ground.subject.cache,
    ))
}

fn judge_full(
    acked: u64,
    filled: Option<Ended>,
    verified: Option<Ended>,
    removed: Option<Ended>,
    cache: bool,
) -> Verdict {
    let values = count(acked, "value");
    let Some(filled) = filled else {
        let what = format!("after {values} a put did not return");
        return Verdict::new(Outcome::Hangs, what, 1);
    };
    let (filling, end) = match (filled.signal, filled.fault()) {
        (Some(signal), _) => {
            let signal = signal_name(signal);
            (
                format!("after {values} the writer died of {signal}"),
                Outcome::Dies,
            )
        }
        (None, Some(why)) => (format!("after {values} an error: {why}"), Outcome::Refuses),
        (None, None) => (format!("all {values} taken"), Outcome::Holds),
    };
    let (state, sentence) = after_full(verified, cache);
    let mut said = vec![format!("{ROOM_MIB} MiB"), filling, sentence];
    if state != Outcome::Ruined {
        let answer = removed.as_ref().and_then(|ended| ended.answer.as_ref());
        let works = answer.is_some_and(|answer| answer.works && answer.error.is_none());
        let fault = removed.as_ref().and_then(Ended::fault);
        said.push(match (works, fault) {
            (true, _) => "it worked after half was removed".to_owned(),
            (false, Some(why)) => format!("it did not work after half was removed: {why}"),
            (false, None) => "it did not work after half was removed".to_owned(),
        });
    }
    let outcome = match (state, end) {
        (Outcome::Ruined, _) => Outcome::Ruined,
        (_, Outcome::Dies) => Outcome::Dies,
        (Outcome::Loses, _) => Outcome::Loses,
        (_, end) => end,
    };
    Verdict::new(outcome, said.join("; "), 1)
}

/// What the store is like once it was full.
fn after_full(verified: Option<Ended>, cache: bool) -> (Outcome, String) {
    let Some(verified) = verified else {
        return (
            Outcome::Ruined,
            "a process that opens it afterwards hangs".to_owned(),
        );
    };
    let (answer, fault) = (verified.answer.as_ref(), verified.fault());
    let (Some(answer), None) = (answer, &fault) else {
        let why = fault.unwrap_or_default();
        return (
            Outcome::Ruined,
            format!("it cannot be read afterwards: {why}"),
        );
    };
    let (good, lost, torn) = (answer.good, answer.lost, answer.torn);
    match (torn, lost) {
        (0, 0) => (Outcome::Holds, "all are there".to_owned()),
        (0, lost) if cache => (
            Outcome::Holds,
            format!("{lost} were evicted, {good} are there"),
        ),
        (0, lost) => (Outcome::Loses, format!("{lost} are lost, {good} are there")),
        (torn, lost) => {
            let sentence = format!("{torn} are cut short or mixed, {lost} lost, {good} there");
            (Outcome::Ruined, sentence)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::torment::job::Answer;

    fn answered(error: Option<&str>, good: u64, lost: u64) -> Option<Ended> {
        Some(Ended {
            answer: Some(Answer {
                opened: true,
                error: error.map(str::to_owned),
                good,
                lost,
                works: true,
                ..Answer::default()
            }),
            ..Ended::default()
        })
    }

    #[test]
    fn an_error_is_no_death_and_ruin_is_worse() {
        let (refused, whole) = (answered(Some("no space"), 0, 0), answered(None, 9, 0));
        let less = answered(None, 5, 4);
        let bus = Some(Ended {
            signal: Some(7),
            ..Ended::default()
        });
        let outcome = |filled: &Option<Ended>, verified: &Option<Ended>, cache| {
            judge_full(9, filled.clone(), verified.clone(), whole.clone(), cache).outcome
        };
        for (filled, verified, cache, expected) in [
            (&refused, &whole, false, Outcome::Refuses),
            (&whole, &whole, false, Outcome::Holds),
            (&bus, &whole, false, Outcome::Dies),
            (&bus, &bus, false, Outcome::Ruined),
            (&refused, &less, false, Outcome::Loses),
            (&whole, &less, true, Outcome::Holds),
            (&None, &whole, false, Outcome::Hangs),
        ] {
            assert_eq!(outcome(filled, verified, cache), expected);
        }
    }
}
