//! Pages without an owner: those that a dead participant claimed, and those that repair finds to be
//! unreachable. They become unbacked, so that they do not occupy memory that is not counted.
//!
//! | step | others find | a survivor finds, if we die after it |
//! |---|---|---|
//! | pool lock: adjacent pages become `Claimed` by us | claimed pages | claims of a dead one |
//! | *no lock:* they are punched | the same | the same |
//! | pool lock: `Unbacked` | unbacked pages | unbacked pages |

use super::extent::{Extents, forget_extents_of, mend};
use super::pool::{lock, push_free, push_unbacked, rebuild};
use super::{capacity, max_size};
use crate::error::Result;
use crate::layout::{PAGE, PageWord};
use crate::lock::{Me, is_alive};
use crate::region::Region;
use crate::sync::Ordering;
use crate::sys::clock;

/// Pages that one call punches at most: 64 MiB.
const MOST: u32 = 4096;

/// Reclaims a dead participant's pages: those of an extent that it was building, those that it was
/// backing or punching, and those of large items that it had not published. For the last ones,
/// every shard that it had locked must have been recovered.
///
/// Returns false if some pages are left for another call, as there are many.
pub(crate) fn release_claims(region: &Region, me: Me, dead: u32) -> Result<bool> {
    if !forget_extents_of(region, me, dead)? {
        return Ok(false);
    }
    // It may have backed them already, or not punched them yet.
    make_unbacked_pages(region, me, |_, state| {
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

/// Gives back the memory of the pages for which `is_one` is true. Several processes may do so at
/// once, as each page is claimed by one of them.
fn make_unbacked_pages(
    region: &Region,
    me: Me,
    is_one: impl Fn(u32, PageWord) -> bool,
) -> Result<()> {
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
        // If the file system cannot punch, they are unbacked pages that still occupy memory.
        let _ = region.punch(u64::from(from) * PAGE, u64::from(until - from) * PAGE);
        let taken = lock(region, me)?;
        (from..until).for_each(|page| push_unbacked(&taken, page));
        first = until;
    }
}

/// Gives back, for repair, the memory of the pages without an owner: those whose owner is dead, and
/// those in a state that `is_stray` rejects. Returns how many extents were lost.
pub(crate) fn adopt_strays(
    region: &Region,
    me: Me,
    is_stray: impl Fn(PageWord) -> bool,
) -> Result<u64> {
    let lost = mend(&lock(region, me)?);
    make_unbacked_pages(region, me, |page, state| match state {
        PageWord::Claimed { owner } | PageWord::Build { owner, .. } => !is_alive(region, owner, me),
        PageWord::Extent { number } => !Extents::of(region, me).has(number, page),
        other => is_stray(other),
    })?;
    let lock = lock(region, me)?;
    max_size::mend(region);
    rebuild(&lock);
    Ok(lost + capacity::mend(region))
}
