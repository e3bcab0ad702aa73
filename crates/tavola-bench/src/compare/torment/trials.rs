//! Trials of lengths beyond limits, of a reader that stays, and of counters.

use std::time::Duration;

use super::ground::Ground;
use super::job::{Job, Role};
use super::processes::wait_until;
use super::stores::Company;
use super::{Outcome, Stop, Trying, Verdict};
use crate::Result;

const KEY_BYTES: &[u64] = &[
    1,
    0,
    100,
    250,
    251,
    511,
    512,
    1 << 10,
    65_535,
    65_536,
    1 << 20,
];
const VALUE_BYTES: &[u64] = &[
    1,
    0,
    1 << 16,
    1 << 20,
    (1 << 20) + 1,
    1 << 24,
    (1 << 24) + 1,
    1 << 26,
];

/// What became of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Same,
    Refused(String),
    Missing,
    Other,
    Died(String),
    Hung,
}

impl Seen {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Hung => Outcome::Hangs,
            Self::Died(_) => Outcome::Dies,
            Self::Missing | Self::Other => Outcome::Loses,
            Self::Refused(_) => Outcome::Refuses,
            Self::Same => Outcome::Holds,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Refused(why) if why.is_empty() => "refused".to_owned(),
            Self::Refused(why) => format!("refused ({why})"),
            Self::Missing => "taken and not there".to_owned(),
            Self::Other => "come back as others".to_owned(),
            Self::Died(why) => format!("end the process ({why})"),
            Self::Hung | Self::Same => "never answered".to_owned(),
        }
    }
}

/// Keys and values of lengths that stores have their limits at: taken, refused, or worse?
pub(super) fn limits(ground: &mut Ground<'_>) -> Trying<Verdict> {
    let keys = tried(ground, KEY_BYTES, |bytes| (bytes, 8))?;
    let values = tried(ground, VALUE_BYTES, |bytes| (8, bytes))?;
    Ok(judge_limits(&keys, &values, ground.subject.limits))
}

fn tried(
    ground: &mut Ground<'_>,
    lengths: &[u64],
    sizes: impl Fn(u64) -> (u64, u64),
) -> Result<Vec<(u64, Seen)>> {
    let mut tried = Vec::new();
    for &length in lengths {
        let (key_bytes, value_bytes) = sizes(length);
        let (_board, job) = ground.round()?;
        let job = Job {
            role: Role::Probe,
            key_bytes,
            value_bytes,
            ..job
        };
        let seen = match ground.starter.run(&job, ground.extent.bound * 2)? {
            None => Seen::Hung,
            Some(ended) => match (&ended.answer, ended.fault()) {
                (Some(answer), None) => match answer.seen.as_str() {
                    "same" => Seen::Same,
                    "refused" => Seen::Refused(answer.means.clone()),
                    "missing" => Seen::Missing,
                    _ => Seen::Other,
                },
                (Some(answer), Some(why)) if answer.opened => Seen::Refused(why),
                (_, why) => Seen::Died(why.unwrap_or_default()),
            },
        };
        let broken = !matches!(seen, Seen::Same | Seen::Refused(_));
        tried.push((length, seen));
        if broken {
            ground.renew()?;
        }
    }
    // The next trial begins with an empty store.
    ground.renew()?;
    Ok(tried)
}

fn judge_limits(keys: &[(u64, Seen)], values: &[(u64, Seen)], documented: &str) -> Verdict {
    let worst = [
        Outcome::Hangs,
        Outcome::Dies,
        Outcome::Loses,
        Outcome::Refuses,
    ];
    let has = |outcome: &Outcome| {
        let mut all = keys.iter().chain(values);
        all.any(|(_, seen)| seen.outcome() == *outcome)
    };
    let outcome = worst.into_iter().find(has).unwrap_or(Outcome::Holds);
    let mut said = vec![lengths("key", keys), lengths("value", values)];
    if !documented.is_empty() {
        said.push(documented.to_owned());
    }
    Verdict::new(outcome, said.join("; "), (keys.len() + values.len()) as u32)
}

/// "keys up to 511 bytes taken, of 0, 512 bytes refused (too long)".
fn lengths(what: &str, tried: &[(u64, Seen)]) -> String {
    let taken = tried.iter().filter(|(_, seen)| *seen == Seen::Same);
    let mut said = vec![match taken.map(|(bytes, _)| *bytes).max() {
        Some(bytes) => format!("{what}s up to {bytes} bytes taken"),
        None => format!("no {what} taken"),
    }];
    let mut others: Vec<_> = tried
        .iter()
        .filter(|(_, seen)| *seen != Seen::Same)
        .collect();
    others.sort_by_key(|(bytes, _)| *bytes);
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (bytes, seen) in others {
        let words = seen.words();
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, group)) => group.push(bytes.to_string()),
            None => groups.push((words, vec![bytes.to_string()])),
        }
    }
    let of =
        |(words, group): &(String, Vec<String>)| format!("of {} bytes {words}", group.join(", "));
    said.extend(groups.iter().map(of));
    said.join(", ")
}

/// Growth that does not count: first pages, a log that is begun again from time to time.
const LARGER: u64 = 4;
const HOLDER: u64 = 2;
/// Part of the puts that come before the reader: what files are like without one.
const FIRST_PART: u64 = 8;

/// A reader stays while a few keys are written over and over: do the files grow without end?
pub(super) fn old_reader(ground: &mut Ground<'_>) -> Trying<Verdict> {
    if ground.subject.company == Company::Alone {
        let why = "one process has it for itself: there is no reader beside a writer";
        return Ok(Verdict::not_applicable(why));
    }
    let (board, job) = ground.round()?;
    let (bound, time) = (ground.extent.bound, ground.extent.churn_time);
    // A writer ends by itself when its time is over, however few its puts; otherwise it hangs.
    let longest = time + bound;
    let churn = Job {
        ops: ground.extent.churn / ground.subject.slowness,
        millis: time.as_millis() as u64,
        ..job.clone()
    };
    let first = Job {
        ops: churn.ops / FIRST_PART,
        ..churn.clone()
    };
    ground.answer(&first, longest, "writing before a reader came")?;
    let (before, _) = ground.size();
    let hold = Job {
        role: Role::Hold,
        slot: HOLDER,
        millis: longest.as_millis() as u64 * 2,
        ..job
    };
    let mut holder = ground.starter.start(&hold)?;
    let held = wait_until(bound, || {
        let holds = board.notes(HOLDER)?.ops > 0;
        Ok((holds || holder.ended()?.is_some()).then_some(holds))
    })?;
    let next = Job {
        from: first.ops + 1,
        ..churn
    };
    let ended = match held {
        Some(true) => ground.starter.run(&next, longest)?,
        _ => None,
    };
    let (during, what) = ground.size();
    board.ask_to_stop()?;
    let rest = ground.answer_of(&mut holder, bound, "a reader could not begin");
    if held != Some(true) {
        let hung = Verdict::new(Outcome::Hangs, "a reader could not begin", 1);
        return Err(rest.err().unwrap_or(Stop::Verdict(hung)));
    }
    let means = rest.map(|answer| answer.means).unwrap_or_default();
    let doing = format!("writing beside {means}");
    if let Some(verdict) = Verdict::of_fault(ended.as_ref(), &doing) {
        return Ok(verdict);
    }
    let done = ended
        .and_then(|ended| ended.answer)
        .unwrap_or_default()
        .done;
    Ok(judge_growth(what, before, during, done, &means))
}

fn judge_growth(what: &str, before: u64, during: u64, puts: u64, means: &str) -> Verdict {
    let grew = during > before.max(1 << 18) * LARGER;
    let outcome = if grew { Outcome::Grows } else { Outcome::Holds };
    let kib = |bytes: u64| bytes.div_ceil(1024);
    let sentence = match during {
        0 => "it has no files that could grow".to_owned(),
        during => format!("{what} from {} KiB to {} KiB", kib(before), kib(during)),
    };
    let detail = format!("{puts} puts to the same keys beside {means}: {sentence}");
    Verdict::new(outcome, detail, 1)
}

const PROCESSES: u64 = 4;
/// 40,000 increments may be as many openings of a file.
const BOUNDS: u32 = 8;

/// Four processes add one to the same counter, by the best means that the store has.
pub(super) fn counters(ground: &mut Ground<'_>) -> Trying<Verdict> {
    if ground.subject.built {
        let why = "it is made once from all its keys: there is nothing to add to";
        return Ok(Verdict::not_applicable(why));
    }
    let (_board, job) = ground.round()?;
    let bound = ground.extent.bound * BOUNDS;
    let total = Job {
        role: Role::Total,
        ops: ground.extent.increments,
        millis: bound.as_millis() as u64,
        ..job
    };
    ground.answer(&total, bound, "making a counter")?;
    let mut members = Vec::new();
    for slot in 1..=PROCESSES {
        members.push(ground.starter.start(&Job {
            role: Role::Count,
            slot,
            seed: slot,
            ..total.clone()
        })?);
    }
    let (mut done, mut means) = (0, String::new());
    for member in &mut members {
        let bound = bound + Duration::from_secs(1);
        let answer = ground.answer_of(member, bound, "an increment")?;
        done += answer.done;
        means = answer.means;
    }
    let total = ground.answer(&total, bound, "reading the counter")?.total;
    let asked = ground.extent.increments * PROCESSES;
    Ok(judge_counters(done, total, asked, &means))
}

fn judge_counters(done: u64, total: u64, asked: u64, means: &str) -> Verdict {
    let slow = match done < asked {
        true => format!(" of {asked} that there was no time for"),
        false => String::new(),
    };
    let (outcome, said) = match total {
        _ if done == 0 => (Outcome::Hangs, "none was done in time".to_owned()),
        total if total == done => (
            Outcome::Holds,
            format!("all {done} increments{slow} counted"),
        ),
        total => (
            Outcome::Loses,
            format!("{done} increments{slow} came to {total}"),
        ),
    };
    Verdict::new(
        outcome,
        format!("{PROCESSES} processes, by {means}: {said}"),
        1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_length_counts_and_all_are_reported() {
        let long = || Seen::Refused("too long".to_owned());
        let keys = [(1, Seen::Same), (512, long()), (1024, long())];
        let verdict = judge_limits(&keys, &[(1, Seen::Same)], "");
        assert_eq!(verdict.outcome, Outcome::Refuses);
        let words = "keys up to 1 bytes taken, of 512, 1024 bytes refused (too long)";
        assert!(verdict.detail.starts_with(words), "{}", verdict.detail);
        let outcome = |seen| judge_limits(&keys, &[(1, seen)], "").outcome;
        assert_eq!(outcome(Seen::Missing), Outcome::Loses);
        assert_eq!(outcome(Seen::Died(String::new())), Outcome::Dies);
    }

    #[test]
    fn growth_and_lost_increments_are_seen() {
        let growth = |before, during| judge_growth("", before, during, 9, "").outcome;
        assert_eq!(growth(1 << 20, 1 << 24), Outcome::Grows);
        assert_eq!(growth(1 << 20, 3 << 20), Outcome::Holds);
        assert_eq!(growth(0, 1 << 19), Outcome::Holds);
        let counted = |done, total| judge_counters(done, total, 40, "a lock").outcome;
        assert_eq!(counted(40, 40), Outcome::Holds);
        assert_eq!(counted(30, 30), Outcome::Holds);
        assert_eq!(counted(40, 39), Outcome::Loses);
        assert_eq!(counted(0, 0), Outcome::Hangs);
    }
}
