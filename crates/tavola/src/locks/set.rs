//! Finding the record of a name, and adding one.

use crate::alloc::{build_extent, find_extent, lock_pool};
use crate::error::{Error, Result, corrupt};
use crate::layout::{
    ExtentKind, LOCK_EXTENTS, LockName, LockRecord, locks_len, record_off, records_of,
};
use crate::lock::Me;
use crate::region::Region;

/// An extent of locks.
pub(super) struct Set {
    pub(super) base: u64,
    pub(super) records: u32,
}

/// Returns the name of an extent.
fn extent_name(extent: u32) -> [u8; 1] {
    [b'0' + extent as u8]
}

/// Iterates over the extents of locks that there are.
pub(super) fn sets(region: &Region) -> impl Iterator<Item = Result<Set>> + '_ {
    let mut is_over = false;
    (0..LOCK_EXTENTS).map_while(move |extent| {
        let found = find_extent(region, ExtentKind::Locks, &extent_name(extent));
        let set = found.and_then(|found| match found {
            None => Ok(None),
            Some((base, len)) => {
                let records = region.locks_head(base).verify();
                match records.filter(|records| record_off(*records) <= len) {
                    Some(records) => Ok(Some(Set { base, records })),
                    None => corrupt("the head of a set of locks"),
                }
            }
        });
        is_over |= matches!(set, Ok(None));
        (!is_over).then(|| set.map(|set| set.expect("one that is there")))
    })
}

impl Set {
    /// Returns how many records have names, or `None` if the number is damaged.
    pub(super) fn named(&self, region: &Region) -> Option<u32> {
        region.locks_head(self.base).named(self.records)
    }

    pub(super) fn record<'a>(&self, region: &'a Region, number: u32) -> &'a LockRecord {
        region.lock_record(self.base + record_off(number))
    }

    /// Returns the offset of the record with that name.
    fn find(&self, region: &Region, named: u32, name: &[u8]) -> Option<u64> {
        let name = LockName::words_of(name)?;
        let found = (0..named).find(|n| self.record(region, *n).name.has(&name))?;
        Some(self.base + record_off(found))
    }
}

/// What a search of all extents found.
enum Found {
    At(u64),
    /// No lock has the name; this extent, if there is one, has room for it.
    Missing {
        set: Option<Set>,
        /// Records of it that have names.
        named: u32,
        extents: u32,
    },
}

fn search(region: &Region, name: &[u8]) -> Result<Found> {
    let mut extents = 0;
    for set in sets(region) {
        let set = set?;
        let Some(named) = set.named(region) else {
            return corrupt("how many locks have names");
        };
        if let Some(record) = set.find(region, named, name) {
            return Ok(Found::At(record));
        }
        extents += 1;
        // Each extent is full before there is a next one.
        if named < set.records {
            let set = Some(set);
            return Ok(Found::Missing {
                set,
                named,
                extents,
            });
        }
    }
    Ok(Found::Missing {
        set: None,
        named: 0,
        extents,
    })
}

/// Returns the names of all locks and semaphores.
pub(crate) fn names(region: &Region) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for set in sets(region) {
        let set = set?;
        let named = 0..set.named(region).unwrap_or(0);
        all.extend(named.map(|number| set.record(region, number).name.get()));
    }
    Ok(all)
}

/// Returns the offset of the record of that name, which is added if there is none. Must be called
/// without any lock.
///
/// # Errors
/// [`Error::Full`]; [`Error::Corrupt`].
pub(crate) fn open(region: &Region, me: Me, name: &[u8], permits: u32) -> Result<u64> {
    loop {
        let found = search(region, name)?;
        if let Found::At(record) = found {
            return Ok(record);
        }
        match add(region, me, name, permits)? {
            Found::At(record) => return Ok(record),
            Found::Missing { extents, .. } if extents < LOCK_EXTENTS => {
                create(region, me, extents)?;
            }
            Found::Missing { .. } => {
                return Err(Error::Full {
                    reason: "the table has 18,716 named locks, the maximum; use another table",
                });
            }
        }
    }
}

/// Adds a record, if an extent has room for one.
fn add(region: &Region, me: Me, name: &[u8], permits: u32) -> Result<Found> {
    let _lock = lock_pool(region, me)?;
    match search(region, name)? {
        Found::Missing {
            set: Some(set),
            named,
            ..
        } => {
            // A process that died here may have left a record half filled: it is filled again.
            set.record(region, named).init(name, permits);
            region.locks_head(set.base).set_named(named + 1);
            Ok(Found::At(set.base + record_off(named)))
        }
        found => Ok(found),
    }
}

/// Creates an extent without locks, unless another process is doing so.
fn create(region: &Region, me: Me, extent: u32) -> Result<()> {
    let len = locks_len(extent);
    let building = match build_extent(region, me, ExtentKind::Locks, &extent_name(extent), len) {
        Err(Error::AlreadyThere { .. }) => {
            std::thread::yield_now();
            return Ok(());
        }
        building => building?,
    };
    let (base, _) = region.span_of(building.run);
    // This comes last: a repair that finds a valid head, but no extent entry that names it, takes
    // the extent for complete.
    region.locks_head(base).init(records_of(extent));
    building.publish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_maximum() {
        assert_eq!((0..LOCK_EXTENTS).map(records_of).sum::<u32>(), 18_716);
    }
}
