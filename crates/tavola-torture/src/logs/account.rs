//! The account of a case: what became of each line.
//!
//! A line whose call returned was written out, or was counted as dropped; a case without deaths
//! comes out to the line. A death leaves these over (LOG-4 in `log`):
//!
//! - the line under way may be counted or not;
//! - the lines of a pass under way may be written again, or counted though they were written;
//! - where the oldest are dropped, those of one sheet may be counted once too often;
//! - of a sheet that was being repaired the whole lines may be written again.

use super::Found;
use super::cases::{A_SHEET, Case};
use super::is::Turn;
use super::slate::{BEGUN, LineId, Noted, RETURNED, Slate};
use super::survivor::{Death, There};
use std::sync::atomic::Ordering::Relaxed;

/// Whole lines of the sheet that is damaged.
const ON_DAMAGED: u64 = 1;

/// What the lines of all came to.
#[derive(Default)]
struct Sum {
    /// Not written out.
    gone: Vec<LineId>,
    unfinished_calls: u64,
    /// Lines that were written out again.
    twice: u64,
}

/// Whether each line is accounted for, when all was drained.
pub(super) fn check_counts(
    case: &Case,
    slate: Slate,
    there: &There,
    death: Death,
    dropped: u64,
) -> Found<()> {
    let all: Vec<_> = slate.all().filter(|noted| noted.state >= BEGUN).collect();
    let sum = summed(&all);
    if case.is.turn == Turn::Unharmed && !case.is.damaged && death.j == 0 {
        all_there(&all, there)?;
    }
    let gone = sum.gone.len() as u64;
    let unfinished = slate.unfinished().load(Relaxed);
    let (sheets, repaired) = (
        u64::from(case.is.turn == Turn::Dropped) * death.count(),
        u64::from(case.is.damaged && death.count() > 0),
    );
    let again = unfinished + repaired * ON_DAMAGED;
    let most = gone + sum.unfinished_calls + sheets * A_SHEET as u64 + again;
    if dropped < gone || dropped + sum.twice > most {
        return Err(format!(
            "{dropped} lines were counted, of {gone} that were not written out, {} written again; \
             {most} would be right at most: {:?}",
            sum.twice, sum.gone
        ));
    }
    if sum.twice > again {
        return Err(format!(
            "{} lines were written out again, not {again} at most",
            sum.twice
        ));
    }
    // Each drain that died may have reported and not noted it.
    let reported = slate.reported().load(Relaxed);
    match reported >= dropped && reported <= dropped * (1 + death.count()) + again {
        true => Ok(()),
        false => Err(format!(
            "{reported} dropped lines were reported to drains, not {dropped}"
        )),
    }
}

fn summed(all: &[Noted]) -> Sum {
    let mut sum = Sum::default();
    for noted in all {
        sum.twice += noted.written.saturating_sub(1);
        match (noted.written, noted.state) {
            (0, BEGUN) => sum.unfinished_calls += 1,
            (0, _) => sum.gone.push(noted.line),
            _ => {}
        }
    }
    sum
}

/// As long as no sheet's turn comes, what was written out is there, too.
fn all_there(all: &[Noted], there: &There) -> Found<()> {
    let mut returned = all.iter().filter(|noted| noted.state >= RETURNED);
    match returned.find(|noted| !there.contains(&noted.line)) {
        Some(noted) => Err(format!("line {:?} is not there to be read", noted.line)),
        None => Ok(()),
    }
}
