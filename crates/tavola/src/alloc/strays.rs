//! Pages that are nobody's: what the dead had in hand, and what repair finds astray. They go back
//! to the system, so that what counts as no memory is none.
//!
//! | step | others find | a survivor finds, if we die after it |
//! |---|---|---|
//! | pool lock: pages side by side become `Claimed` of us | pages in hand | claims of a dead one |
//! | *no lock:* they are punched | the same | the same |
//! | pool lock: `Hole` | holes | holes |

use super::extent::{Extents, forget_extents_of, mend};
use super::pool::{lock, push_free, push_hole, rebuild};
use super::{capacity, max_size};
use crate::error::Result;
use crate::layout::{PAGE, PageWord};
use crate::lock::{Me, is_alive};
use crate::region::Region;
use crate::sync::Ordering;
use crate::sys::clock;

/// Pages that go in one go: 64 MiB.
const MOST: u32 = 4096;

/// Brings a dead participant's pages home: those of an extent it was building, those it was backing
/// or punching, and, every shard it had locked being recovered, those of large items it had not
/// published.
///
/// False: there is so much of it that some is left for another time.
pub(crate) fn release_claims(region: &Region, me: Me, dead: u32) -> Result<bool> {
    if !forget_extents_of(region, me, dead)? {
        return Ok(false);
    }
    // It may have backed them already, or not punched them yet.
    make_holes(region, me, |_, state| {
        state == PageWord::Claimed { owner: dead }
    })?;
    let lock = lock(region, me)?;
    let now = clock::monotonic_s() as u32;
    for page in region.geometry().first_page..region.high_water() {
        match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
            PageWord::Build { owner, .. } if owner == dead => push_free(&lock, page, now),
            _ => {}
        }
    }
    Ok(true)
}

/// Gives the pages back that `is_one` says are nobody's. Several may do so at once: each page goes
/// through one of their hands.
fn make_holes(region: &Region, me: Me, is_one: impl Fn(u32, PageWord) -> bool) -> Result<()> {
    let mut first = region.geometry().first_page;
    loop {
        let taken = lock(region, me)?;
        let end = region.high_water();
        let is_one = |page: &u32| {
            let word = region.page_word(*page).load(Ordering::Relaxed);
            is_one(*page, PageWord::decode(word))
        };
        let Some(from) = (first..end).find(is_one) else {
            return Ok(());
        };
        let run = (from..end.min(from + MOST)).take_while(is_one);
        let until = run.last().map_or(from, |last| last + 1);
        let claimed = PageWord::Claimed { owner: me.id() }.encode();
        (from..until).for_each(|page| region.page_word(page).store(claimed, Ordering::Relaxed));
        drop(taken);
        // Where the file system cannot do it, they are holes that memory stands behind.
        let _ = region.punch(u64::from(from) * PAGE, u64::from(until - from) * PAGE);
        let taken = lock(region, me)?;
        (from..until).for_each(|page| push_hole(&taken, page));
        first = until;
    }
}

/// Repair: pages that are nobody's, by a word that says nothing or names an owner who is no more,
/// are holes from now on. `is_stray` judges the other states. Says how many extents were lost.
pub(crate) fn adopt_strays(
    region: &Region,
    me: Me,
    is_stray: impl Fn(PageWord) -> bool,
) -> Result<u64> {
    let lost = mend(&lock(region, me)?);
    make_holes(region, me, |page, state| match state {
        PageWord::Claimed { owner } | PageWord::Build { owner, .. } => !is_alive(region, owner, me),
        PageWord::Extent { number } => !Extents::of(region, me).has(number, page),
        other => is_stray(other),
    })?;
    let lock = lock(region, me)?;
    max_size::mend(region);
    rebuild(&lock);
    Ok(lost + capacity::mend(region))
}
