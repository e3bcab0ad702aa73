//! Making a pool of queues, finding one, adding queues to it.

use super::Ends;
use crate::alloc::{build_extent, find_extent, lock_pool};
use crate::error::{Error, Result, corrupt};
use crate::layout::{ExtentKind, QueueGeometry, QueueName};
use crate::lock::Me;
use crate::region::Region;
use crate::sync::Ordering;
use std::ops::Range;

/// Makes a pool with queues of these names, in the first of which all elements stand. Those that
/// are added later need no more than a name.
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
    // Last: who finds it whole without an entry that says so holds it to be there (`mend`).
    let named = names.len() as u32;
    region.queue_pool_head(base).init(geometry, named);
    building.publish();
    Ok(())
}

/// Where a pool begins, and its geometry; `None`: there is none of that name.
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

/// How many of a pool's queues have names.
pub(crate) fn named(region: &Region, base: u64, pool: &QueueGeometry) -> Result<u32> {
    match region.queue_pool_head(base).named(pool) {
        Some(named) => Ok(named),
        None => corrupt("how many queues of a queue pool have names"),
    }
}

/// The first of some queues that has that name.
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

/// Adds a queue; says its number. `None`: there is one of that name. The first `seen` are known to
/// have others: names stay, so that under the lock only those are looked at that have just come.
/// Call without any lock.
///
/// # Errors
/// [`Error::Full`] when each place has a name; [`Error::Corrupt`].
pub(crate) fn add(
    region: &Region,
    me: Me,
    (base, pool): (u64, &QueueGeometry),
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
    // Half a name, of one who died here, is written over.
    region
        .queue_head(base + pool.queue_off(queue))
        .name
        .set(name);
    region.queue_pool_head(base).set_named(queue + 1);
    Ok(Some(queue))
}

/// As [`open`], for repair: where it was damaged, how many queues have names is told by these.
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
