//! Four processes add one to the same counter, by the best means that the store has.

use std::time::Duration;

use super::Verdict;
use crate::Result;
use crate::compare::torment::Outcome;
use crate::compare::torment::ground::Ground;
use crate::compare::torment::job::{Job, Role};

const PROCESSES: u64 = 4;
/// 40,000 increments may be as many openings of a file.
const BOUNDS: u32 = 8;

pub(in crate::compare::torment) fn run(ground: &mut Ground<'_>) -> Result<Verdict> {
    if ground.subject.built {
        let why = "it is made once from all its keys: there is nothing to add to";
        return Ok(Verdict::new(Outcome::NotApplicable, why, 0));
    }
    let (_board, job) = ground.round()?;
    let bound = ground.extent.bound * BOUNDS;
    let job = Job {
        role: Role::Count,
        ops: ground.extent.increments,
        millis: bound.as_millis() as u64,
        ..job
    };
    // Makes the store.
    let ended = ground.starter.run(
        &Job {
            role: Role::Total,
            ..job.clone()
        },
        bound,
    )?;
    if let Some(verdict) = Verdict::of_fault(ended.as_ref(), "making a counter") {
        return Ok(verdict);
    }
    let mut members = Vec::new();
    for slot in 1..=PROCESSES {
        members.push(ground.starter.start(&Job {
            slot,
            seed: slot,
            ..job.clone()
        })?);
    }
    let (mut done, mut means) = (0, String::new());
    for member in &mut members {
        let ended = member.wait(bound + Duration::from_secs(1))?;
        if ended.is_none() {
            ground.starter.kill(member)?;
        }
        if let Some(verdict) = Verdict::of_fault(ended.as_ref(), "an increment") {
            return Ok(verdict);
        }
        let answer = ended.and_then(|ended| ended.answer).unwrap_or_default();
        done += answer.done;
        means = answer.means;
    }
    let ended = ground.starter.run(
        &Job {
            role: Role::Total,
            ..job
        },
        bound,
    )?;
    if let Some(verdict) = Verdict::of_fault(ended.as_ref(), "reading the counter") {
        return Ok(verdict);
    }
    let total = ended
        .and_then(|ended| ended.answer)
        .unwrap_or_default()
        .total;
    Ok(judge(
        done,
        total,
        ground.extent.increments * PROCESSES,
        &means,
    ))
}

fn judge(done: u64, total: u64, asked: u64, means: &str) -> Verdict {
    let by = format!("{PROCESSES} processes, by {means}");
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
        total => {
            let said = format!("{done} increments{slow} came to {total}");
            (Outcome::Loses, said)
        }
    };
    Verdict::new(outcome, format!("{by}: {said}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_increment_is_seen() {
        assert_eq!(judge(40, 40, 40, "a lock").outcome, Outcome::Holds);
        assert_eq!(judge(40, 39, 40, "a lock").outcome, Outcome::Loses);
        assert_eq!(judge(0, 0, 40, "a lock").outcome, Outcome::Hangs);
        let slow = judge(30, 30, 40, "a lock");
        assert_eq!(slow.outcome, Outcome::Holds);
        assert!(slow.detail.contains("no time"), "{}", slow.detail);
    }
}
