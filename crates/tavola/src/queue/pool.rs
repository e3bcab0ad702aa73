//! Making a pool of queues, and finding one.

use super::Ends;
use crate::alloc::{build_extent, find_extent};
use crate::error::{Result, corrupt};
use crate::layout::{ExtentKind, QueueGeometry};
use crate::region::Region;
use crate::sync::Ordering;

/// Makes a pool whose elements all stand in its first queue.
pub(crate) fn create(
    region: &Region,
    me: u32,
    name: &[u8],
    geometry: &QueueGeometry,
    queues: &[impl AsRef<[u8]>],
) -> Result<()> {
    let building = build_extent(region, me, ExtentKind::QueuePool, name, geometry.len)?;
    let (base, _) = region.span_of(building.run);
    for (queue, name) in (0..).zip(queues) {
        let ends = Ends::of(region, base, geometry, queue);
        ends.head.init(name.as_ref());
        if queue == 0 {
            for element in 0..geometry.elements {
                ends.slot(element).store(element, Ordering::Relaxed);
                ends.owners[element as usize].store(0, Ordering::Relaxed);
            }
            ends.head.tail.store(geometry.elements, Ordering::Relaxed);
        }
    }
    // Last: who finds it whole without an entry that says so holds it to be there (`mend`).
    region.queue_pool_head(base).init(geometry);
    building.publish();
    Ok(())
}

/// Where a pool begins, and its geometry; `None`: there is none of that name.
pub(crate) fn open(region: &Region, name: &[u8]) -> Result<Option<(u64, QueueGeometry)>> {
    let Some((base, len)) = find_extent(region, ExtentKind::QueuePool, name)? else {
        return Ok(None);
    };
    match region.queue_pool_head(base).verify() {
        Some(geometry) if geometry.len <= len => Ok(Some((base, geometry))),
        _ => corrupt("the head of a queue pool"),
    }
}
