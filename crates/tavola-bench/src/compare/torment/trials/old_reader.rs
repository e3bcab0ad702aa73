//! A reader stays while a few keys are written over and over: do the files grow without end?

use super::Verdict;
use crate::Result;
use crate::compare::torment::Outcome;
use crate::compare::torment::ground::Ground;
use crate::compare::torment::job::{Job, Role};
use crate::compare::torment::program::wait_until;
use crate::compare::torment::subject::Company;

/// Growth that is none: first pages, a log that is begun anew from time to time.
const LARGER: u64 = 4;
const HOLDER: u64 = 2;
/// Puts before the reader comes: what files are like without one.
const FIRST_PART: u64 = 8;

pub(in crate::compare::torment) fn run(ground: &mut Ground<'_>) -> Result<Verdict> {
    if ground.subject.company == Company::Alone {
        let why = "one process has it for itself: there is no reader beside a writer";
        return Ok(Verdict::new(Outcome::NotApplicable, why, 0));
    }
    let (board, job) = ground.round()?;
    let (bound, time) = (ground.extent.bound, ground.extent.churn_time);
    // A writer ends by itself when its time is over, however few its puts: who does not, hangs.
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
    let ended = ground.starter.run(&first, longest)?;
    if let Some(verdict) = Verdict::of_fault(ended.as_ref(), "writing before a reader came") {
        return Ok(verdict);
    }
    let (before, _) = ground.size();
    let millis = longest.as_millis() as u64 * 2;
    let hold = Job {
        role: Role::Hold,
        slot: HOLDER,
        millis,
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
    board.tell_to_stop()?;
    let rest = holder.wait(bound)?;
    if rest.is_none() {
        ground.starter.kill(&mut holder)?;
    }
    if held != Some(true) {
        let fault = Verdict::of_fault(rest.as_ref(), "a reader could not begin");
        return Ok(fault.unwrap_or(Verdict::new(Outcome::Hangs, "a reader could not begin", 1)));
    }
    let means = rest.and_then(|rest| rest.answer).unwrap_or_default().means;
    let doing = format!("writing beside {means}");
    if let Some(verdict) = Verdict::of_fault(ended.as_ref(), &doing) {
        return Ok(verdict);
    }
    let done = ended
        .and_then(|ended| ended.answer)
        .unwrap_or_default()
        .done;
    Ok(judge(what, before, during, done, &means))
}

fn judge(what: &str, before: u64, during: u64, puts: u64, means: &str) -> Verdict {
    let grew = during > before.max(1 << 18) * LARGER;
    let outcome = if grew { Outcome::Grows } else { Outcome::Holds };
    let kib = |bytes: u64| bytes.div_ceil(1024);
    let told = match during {
        0 => "it has no files that could grow".to_owned(),
        during => format!("{what} from {} KiB to {} KiB", kib(before), kib(during)),
    };
    let detail = format!("{puts} puts to the same keys beside {means}: {told}");
    Verdict::new(outcome, detail, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_seen_and_a_few_pages_are_none() {
        assert_eq!(
            judge("its files", 1 << 20, 1 << 24, 9, "a snapshot").outcome,
            Outcome::Grows
        );
        assert_eq!(
            judge("its files", 1 << 20, 3 << 20, 9, "a snapshot").outcome,
            Outcome::Holds
        );
        assert_eq!(
            judge("its files", 0, 1 << 19, 9, "a snapshot").outcome,
            Outcome::Holds
        );
    }
}
