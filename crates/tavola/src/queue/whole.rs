//! Operations on a whole pool: finding elements that dead participants held, check, repair.
//!
//! They need every end of every queue in a defined state, so they first lock each end once, which
//! undoes what a dead lock owner had begun (QUEUE-1).

use super::ends::Ends;
use super::pool::named;
use crate::error::Result;
use crate::layout::{QueueGeometry, QueueJournal};
use crate::lock::{ABANDONED, AllEnds, Me, is_alive};
use crate::recover::CheckReport;
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use std::collections::HashMap;

/// How many times to try to lock all ends together.
const TRIES: u32 = 3;

/// Iterates over all queues that there is room for, so that one that is added meanwhile is
/// included.
fn queues<'a>(
    region: &'a Region,
    base: u64,
    pool: &'a QueueGeometry,
) -> impl Iterator<Item = Ends<'a>> + 'a {
    (0..pool.queues).map(move |queue| Ends::of(region, base, pool, queue))
}

fn owners<'a>(region: &'a Region, base: u64, pool: &QueueGeometry) -> &'a [W32] {
    region.words(base + pool.owners_off, pool.elements)
}

/// Locks and unlocks each end once: this cleans up after every dead lock owner (QUEUE-1).
fn pass_all_ends(region: &Region, me: Me, base: u64, pool: &QueueGeometry) -> Result<()> {
    for ends in queues(region, base, pool) {
        drop(ends.lock_pop(me)?);
        drop(ends.lock_push(me)?);
    }
    Ok(())
}

/// A cache of which holders are dead: asks the system once about each.
struct Holders<'a> {
    region: &'a Region,
    me: Me,
    are_dead: HashMap<u32, bool>,
}

impl Holders<'_> {
    fn is_dead(&mut self, owner: u32) -> bool {
        let (region, me) = (self.region, self.me);
        owner != 0
            && *self
                .are_dead
                .entry(owner)
                .or_insert_with(|| !is_alive(region, owner, me))
    }
}

/// Returns the elements whose holders are dead, with these holders.
///
/// All ends are locked once before the holders are examined, and once after. The first pass gives
/// the elements of an interrupted push back to the dead pusher, so that their words name it. The
/// second pass is what QUEUE-3 requires: each end was locked after the death, so no push or pop of
/// a process found dead is half-way any more.
fn lost_with_holders(
    region: &Region,
    me: Me,
    base: u64,
    pool: &QueueGeometry,
) -> Result<Vec<(u32, u32)>> {
    let mut holders = Holders {
        region,
        me,
        are_dead: HashMap::new(),
    };
    pass_all_ends(region, me, base, pool)?;
    let words = owners(region, base, pool);
    for word in words {
        holders.is_dead(word.load(Ordering::Relaxed));
    }
    pass_all_ends(region, me, base, pool)?;
    let dead = holders.are_dead;
    let all = (0..).zip(words.iter().map(|word| word.load(Ordering::Relaxed)));
    Ok(all
        .filter(|(_, owner)| dead.get(owner) == Some(&true))
        .collect())
}

/// Returns the elements whose holders are dead.
pub(crate) fn lost(region: &Region, me: Me, base: u64, pool: &QueueGeometry) -> Result<Vec<u32>> {
    let lost = lost_with_holders(region, me, base, pool)?;
    Ok(lost.into_iter().map(|(element, _)| element).collect())
}

/// Takes the elements whose holders are dead, and returns them: this participant holds them now.
/// Other processes may be reclaiming too; each element goes to one of them.
pub(crate) fn reclaim(
    region: &Region,
    me: Me,
    base: u64,
    pool: &QueueGeometry,
) -> Result<Vec<u32>> {
    let words = owners(region, base, pool);
    let mut taken = Vec::new();
    for (element, owner) in lost_with_holders(region, me, base, pool)? {
        let word = &words[element as usize];
        if word.cas(owner, me.id(), Ordering::Relaxed).is_ok() {
            taken.push(element);
        }
    }
    Ok(taken)
}

/// Locks all ends of a pool, or returns `None` if one stayed locked, because its owner is stopped.
fn lock_all<'a>(
    region: &'a Region,
    me: Me,
    base: u64,
    pool: &'a QueueGeometry,
) -> Result<Option<AllEnds<'a>>> {
    let words: Vec<&W32> = queues(region, base, pool)
        .flat_map(|ends| [&ends.head.pop_lock, &ends.head.push_lock])
        .collect();
    for _ in 0..TRIES {
        // Removes the locks of dead owners.
        pass_all_ends(region, me, base, pool)?;
        if let Some(all) = AllEnds::acquire(&words, me) {
            return Ok(Some(all));
        }
    }
    Ok(None)
}

/// Checks a pool. If `me` is `None`, nothing is locked, and elements that others move meanwhile may
/// be reported as problems.
pub(crate) fn check(
    region: &Region,
    me: Option<Me>,
    name: &str,
    base: u64,
    pool: &QueueGeometry,
    report: &mut CheckReport,
) -> Result<()> {
    let mut seen = vec![false; pool.elements as usize];
    let all = me.map(|me| lock_all(region, me, base, pool)).transpose()?;
    if let Some(None) = all {
        report.problem(|| format!("queue pool {name:?}: a process that is stopped holds a lock"));
        return Ok(());
    }
    // Read after the locks were taken: every queue that holds an element has its name by now.
    let named = named(region, base, pool)?;
    let mut problem = |what: String| report.problem(|| format!("queue pool {name:?}: {what}"));
    for (queue, ends) in (0..).zip(queues(region, base, pool)) {
        let head = ends.head.head.load(Ordering::Relaxed);
        let count = ends.head.tail.load(Ordering::Relaxed).wrapping_sub(head);
        if count > pool.elements {
            problem(format!("{count} elements in queue {queue}"));
            continue;
        }
        if count > 0 && queue >= named {
            problem(format!(
                "{count} elements in queue {queue}, which has no name"
            ));
        }
        if me.is_some() && !ends.is_consistent() {
            problem(format!("positions of queue {queue} contradict each other"));
        }
        for at in 0..count {
            let element = ends.slot(head.wrapping_add(at)).load(Ordering::Relaxed);
            match seen.get_mut(element as usize) {
                None => problem(format!("an element {element} in queue {queue}")),
                Some(true) => problem(format!("element {element} is in queues twice")),
                Some(first) => {
                    *first = true;
                    if ends.owners[element as usize].load(Ordering::Relaxed) != 0 {
                        problem(format!("element {element} is in queue {queue} and held"));
                    }
                }
            }
        }
    }
    for (element, word) in owners(region, base, pool).iter().enumerate() {
        if !seen[element] && word.load(Ordering::Relaxed) == 0 {
            problem(format!("element {element} is in no queue and nobody's"));
        }
    }
    Ok(())
}

/// Repairs a damaged pool. Removes numbers from the rings that name no element, that occur twice,
/// or that are in a queue without a name; an element that is then in no ring can be reclaimed.
/// Returns how many numbers were removed, or `None` if an end stayed locked.
///
/// A process that dies in here may leave elements that are in no ring and have no holder: the next
/// repair finds them.
pub(crate) fn repair(
    region: &Region,
    me: Me,
    base: u64,
    pool: &QueueGeometry,
) -> Result<Option<u64>> {
    let mut seen = vec![false; pool.elements as usize];
    let mut kept = Vec::with_capacity(pool.elements as usize);
    let Some(_all) = lock_all(region, me, base, pool)? else {
        return Ok(None);
    };
    let named = named(region, base, pool)?;
    let mut gone = 0;
    for (queue, ends) in (0..).zip(queues(region, base, pool)) {
        let from = ends.head.head.load(Ordering::Relaxed);
        let count = ends.head.tail.load(Ordering::Relaxed).wrapping_sub(from);
        let count = if count > pool.elements { 0 } else { count };
        let readable = if queue < named { count } else { 0 };
        kept.clear();
        let mut are_free = true;
        for at in 0..readable {
            let element = ends.slot(from.wrapping_add(at)).load(Ordering::Relaxed);
            if let Some(first @ false) = seen.get_mut(element as usize) {
                *first = true;
                are_free &= ends.owners[element as usize].load(Ordering::Relaxed) == 0;
                kept.push(element);
            }
        }
        gone += u64::from(count) - kept.len() as u64;
        if !are_free || kept.len() as u32 != count || !ends.is_consistent() {
            ends.rewrite(from, &kept);
        }
    }
    for (element, word) in owners(region, base, pool).iter().enumerate() {
        if !seen[element] && word.load(Ordering::Relaxed) == 0 {
            word.store(ABANDONED, Ordering::Relaxed);
        }
    }
    Ok(Some(gone))
}

impl Ends<'_> {
    /// Returns whether `seen_tail` and the journals agree with the positions. All ends are locked.
    fn is_consistent(&self) -> bool {
        let queue = self.head;
        let head = queue.head.load(Ordering::Relaxed);
        let tail = queue.tail.load(Ordering::Relaxed);
        let seen = queue.seen_tail.load(Ordering::Relaxed);
        let is_over = |journal: &W64, position: u32| {
            let entry = QueueJournal::decode(journal.load(Ordering::Relaxed));
            entry.position != position || entry.count == 0
        };
        tail.wrapping_sub(head) <= self.owners.len() as u32
            && seen.wrapping_sub(head) <= tail.wrapping_sub(head)
            && is_over(&queue.push_journal, tail)
            && is_over(&queue.pop_journal, head)
    }

    /// Rewrites the ring with these elements, from the position `from` on.
    fn rewrite(&self, from: u32, elements: &[u32]) {
        let queue = self.head;
        queue.push_journal.store(0, Ordering::Relaxed);
        queue.pop_journal.store(0, Ordering::Relaxed);
        queue.seen_tail.store(from, Ordering::Relaxed);
        queue.tail.store(from, Ordering::Relaxed);
        for (at, element) in (0..).zip(elements) {
            self.slot(from.wrapping_add(at))
                .store(*element, Ordering::Relaxed);
            self.owners[*element as usize].store(0, Ordering::Relaxed);
        }
        let until = from.wrapping_add(elements.len() as u32);
        queue.tail.store(until, Ordering::Release);
    }
}
