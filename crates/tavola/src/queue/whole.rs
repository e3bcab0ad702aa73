//! All of a pool at once: what was lost with a dead participant, check, repair.

use super::ends::Ends;
use super::pool::named;
use crate::error::Result;
use crate::layout::{Journal, QueueGeometry};
use crate::lock::{ABANDONED, AllEnds, Me, is_alive};
use crate::recover::CheckReport;
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use std::collections::HashMap;

/// How often all ends are tried to be locked.
const TRIES: u32 = 3;

/// All that there is room for: a queue that is added meanwhile is among them.
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

/// Settles whatever the dead left at an end (QUEUE-1).
fn pass_all_ends(region: &Region, me: Me, base: u64, pool: &QueueGeometry) -> Result<()> {
    for ends in queues(region, base, pool) {
        drop(ends.lock_pop(me)?);
        drop(ends.lock_push(me)?);
    }
    Ok(())
}

/// Whether the holder of an element is no more; asks once about each.
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

/// The elements whose holders are no more, with these. All ends are passed twice: first, so that
/// the words of what somebody was pushing who died name it; then because who was found dead has no
/// part in any of them any more (QUEUE-3).
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

/// The elements whose holders are no more.
pub(crate) fn lost(region: &Region, me: Me, base: u64, pool: &QueueGeometry) -> Result<Vec<u32>> {
    let lost = lost_with_holders(region, me, base, pool)?;
    Ok(lost.into_iter().map(|(element, _)| element).collect())
}

/// Takes them: they are this participant's now. Others may be reclaiming, too.
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

/// All ends of a pool, locked; `None`: one stayed locked, by a process that is stopped.
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
        // Of the dead none keeps its lock.
        pass_all_ends(region, me, base, pool)?;
        if let Some(all) = AllEnds::acquire(&words, me) {
            return Ok(Some(all));
        }
    }
    Ok(None)
}

/// Checks a pool. Without a participant (`me` is `None`), nothing is locked, and what others move
/// meanwhile may look wrong.
pub(crate) fn check(
    region: &Region,
    me: Option<Me>,
    name: &str,
    (base, pool): (u64, &QueueGeometry),
    report: &mut CheckReport,
) -> Result<()> {
    let mut seen = vec![false; pool.elements as usize];
    let all = me.map(|me| lock_all(region, me, base, pool)).transpose()?;
    if let Some(None) = all {
        report.problem(|| format!("queue pool {name:?}: a process that is stopped holds a lock"));
        return Ok(());
    }
    // Behind the locks: a queue that holds something has its name by now.
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

/// Makes a damaged pool whole: numbers that are no elements', or stand there twice, or in a queue
/// without a name, go, elements that are nowhere can be reclaimed. Says how many numbers went;
/// `None`: some end stayed locked.
///
/// A death on the way leaves elements nowhere, and nobody's: the next repair finds them.
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
    /// Whether `seen_tail` and the journals agree with the positions, while nobody moves anything.
    fn is_consistent(&self) -> bool {
        let queue = self.head;
        let head = queue.head.load(Ordering::Relaxed);
        let tail = queue.tail.load(Ordering::Relaxed);
        let seen = queue.seen_tail.load(Ordering::Relaxed);
        let is_over = |journal: &W64, position: u32| {
            let told = Journal::decode(journal.load(Ordering::Relaxed));
            told.position != position || told.count == 0
        };
        tail.wrapping_sub(head) <= self.owners.len() as u32
            && seen.wrapping_sub(head) <= tail.wrapping_sub(head)
            && is_over(&queue.push_journal, tail)
            && is_over(&queue.pop_journal, head)
    }

    /// Writes the ring anew from a position on.
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
