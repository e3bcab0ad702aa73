//! Creating a pool of queues, opening one, adding queues to it.
//!
//! A pool is an extent, so its name and its pages are published by `alloc`. The names of its queues
//! are published by one counter, `named`: a queue exists when the counter includes it.

use super::Ends;
use crate::alloc::{build_extent, find_extent, lock_pool};
use crate::error::{Error, Result, corrupt};
use crate::layout::{ExtentKind, QueueGeometry, QueueName};
use crate::lock::Me;
use crate::region::Region;
use crate::sync::Ordering;
use std::ops::Range;

/// Creates a pool with queues of these names; the first of them holds all elements. Queues that are
/// added later need only a name, as everything else of them is initialised here.
pub(crate) fn create(
    region: &Region,
    me: Me,
    name: &[u8],
    geometry: &QueueGeometry,
    names: &[impl AsRef<[u8]>],
) -> Result<()> {
    let building = build_extent(region, me, ExtentKind::QueuePool, name, geometry.len)?;
    let (base, _) = region.span_of(building.run);
    for queue in 0..geometry.queues {
        let ends = Ends::of(region, base, geometry, queue);
        let name = names.get(queue as usize);
        ends.head.init(name.map_or(b"", AsRef::as_ref));
        if queue == 0 {
            for element in 0..geometry.elements {
                ends.slot(element).store(element, Ordering::Relaxed);
                ends.owners[element as usize].store(0, Ordering::Relaxed);
            }
            ends.head.tail.store(geometry.elements, Ordering::Relaxed);
        }
    }
    // This comes last: a repair that finds a valid head, but no extent entry that names it, takes
    // the pool for complete (`mend`, in `alloc/extent.rs`).
    let named = names.len() as u32;
    region.queue_pool_head(base).init(geometry, named);
    building.publish();
    Ok(())
}

/// Returns where a pool begins, and its geometry, or `None` if no pool has that name.
pub(crate) fn open(region: &Region, name: &[u8]) -> Result<Option<(u64, QueueGeometry)>> {
    let found = find(region, name)?;
    if let Some((base, pool)) = &found {
        named(region, *base, pool)?;
    }
    Ok(found)
}

fn find(region: &Region, name: &[u8]) -> Result<Option<(u64, QueueGeometry)>> {
    let Some((base, len)) = find_extent(region, ExtentKind::QueuePool, name)? else {
        return Ok(None);
    };
    match region.queue_pool_head(base).verify() {
        Some(geometry) if geometry.len <= len => Ok(Some((base, geometry))),
        _ => corrupt("the head of a queue pool"),
    }
}

/// Returns how many of a pool's queues have names.
pub(crate) fn named(region: &Region, base: u64, pool: &QueueGeometry) -> Result<u32> {
    match region.queue_pool_head(base).named(pool) {
        Some(named) => Ok(named),
        None => corrupt("how many queues of a queue pool have names"),
    }
}

/// Returns the first queue in the range `among` that has this name.
fn find_queue(
    region: &Region,
    base: u64,
    pool: &QueueGeometry,
    name: &[u8],
    mut among: Range<u32>,
) -> Option<u32> {
    let head = |queue| region.queue_head(base + pool.queue_off(queue));
    let name = QueueName::words_of(name)?;
    among.find(|queue| head(*queue).name.has(&name))
}

/// Adds a queue and returns its number, or `None` if a queue has that name already.
///
/// The caller has compared the first `seen` names. Names never change, so only the queues that were
/// added since then are compared under the lock. Must be called without any lock.
///
/// # Errors
/// [`Error::Full`] if every queue that there is room for has a name; [`Error::Corrupt`].
pub(crate) fn add(
    region: &Region,
    me: Me,
    base: u64,
    pool: &QueueGeometry,
    name: &[u8],
    seen: u32,
) -> Result<Option<u32>> {
    let _lock = lock_pool(region, me)?;
    let queue = named(region, base, pool)?;
    if find_queue(region, base, pool, name, seen..queue).is_some() {
        return Ok(None);
    }
    if queue == pool.queues {
        return Err(Error::Full {
            reason: "all queues of the pool have a name; create a pool with more queue_room",
        });
    }
    // A process that died here may have left half a name: it is overwritten.
    region
        .queue_head(base + pool.queue_off(queue))
        .name
        .set(name);
    region.queue_pool_head(base).set_named(queue + 1);
    Ok(Some(queue))
}

/// Opens a pool for repair: like [`open`], but restores a damaged count of names from the names
/// themselves.
pub(crate) fn mend(region: &Region, me: Me, name: &[u8]) -> Result<Option<(u64, QueueGeometry)>> {
    let found = find(region, name)?;
    if let Some((base, pool)) = &found {
        let _lock = lock_pool(region, me)?;
        if named(region, *base, pool).is_err() {
            let nameless = find_queue(region, *base, pool, b"", 1..pool.queues);
            let head = region.queue_pool_head(*base);
            head.set_named(nameless.unwrap_or(pool.queues));
        }
    }
    Ok(found)
}
