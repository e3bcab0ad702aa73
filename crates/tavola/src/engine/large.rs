//! What readers of large values need from their process: a pin, or, if a copy is spoiled again and
//! again, the shard's lock.

use super::core::Core;
use crate::alloc::Stop;
use crate::error::Result;
use crate::index::locate::{Hash, ReadingProcess, Take, find};
use crate::lock::ShardLock;
use crate::region::Pinned;
use std::time::Duration;

/// How often to try the lock, and the pause in between: its owner may be stopped.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_micros(100);

impl ReadingProcess for Core {
    /// Attaches, since pins belong to participants. A process that cannot attach reads without
    /// pins.
    fn attach(&self) {
        let _ = self.writer();
    }

    fn read_locked(&self, key: &[u8], hash: Hash, take: Take<'_>) -> Result<Option<bool>> {
        let Some(lock) = self.lock_to_read(hash.shard()) else {
            return Ok(None);
        };
        let item = find(&lock, hash, key).and_then(|spot| match spot.found() {
            Some(found) => found.item(&lock).map(Some),
            None => Ok(None),
        });
        match item {
            Ok(Some(item)) => Ok(take(&item).then_some(true)),
            Ok(None) => Ok(Some(false)),
            Err(Stop::Fail(error)) => Err(error),
            Err(Stop::Need(_)) => Ok(None),
        }
    }
}

impl Core {
    /// Locks a shard whose writers spoil every copy. Returns `None` if this process may not lock,
    /// or if the lock is never free: then its owner is stopped or dead, and spoils nothing.
    pub(crate) fn lock_to_read(&self, shard: u32) -> Option<ShardLock<'_>> {
        let me = self.participant();
        if !me.is_attached() {
            return None;
        }
        (0..ATTEMPTS).find_map(|_| {
            let lock = ShardLock::try_acquire(self.region(), shard, me);
            if lock.is_none() {
                std::thread::sleep(PAUSE);
            }
            lock
        })
    }

    /// Pins the chain that begins with a page; attaches to do so.
    pub(crate) fn pin(&self, first: u32) -> Option<Pinned<'_>> {
        if self.region().pin_slot().is_none() {
            self.attach();
        }
        self.region().pin(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;
    use crate::alloc::Item;
    use crate::index::locate::Want;
    use crate::sys::disk::simulated::count_of;
    use std::sync::atomic::{AtomicBool, Ordering};

    const LEN: usize = 15 << 20;

    /// A value, and how many times a read copied one.
    #[derive(Default)]
    struct CountedCopies {
        value: Vec<u8>,
        copies: u32,
    }

    impl Want for CountedCopies {
        fn take(&mut self, item: &Item<'_>) -> bool {
            self.copies += 1;
            self.value.take(item)
        }
    }

    /// Returns the most copies that a read took while a writer wrote without a pause.
    fn most_copies(table: &Table, reads: usize) -> u32 {
        let core = table.core().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut value = vec![0; LEN];
                for version in (1..=u8::MAX).cycle() {
                    value.fill(version);
                    table.set(b"large", &value).unwrap();
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let most = (0..reads).map(|_| {
                let mut found = CountedCopies::default();
                let hash = Hash::of(core.region(), b"large");
                assert!(core.read(b"large", hash, &mut found).unwrap());
                let value = found.value;
                assert_eq!(value.len(), LEN);
                assert!(value.iter().all(|byte| *byte == value[0]), "a torn value");
                found.copies
            });
            let most = most.max().unwrap();
            is_over.store(true, Ordering::Relaxed);
            most
        })
    }

    fn table() -> Table {
        let table = Table::options().max_size(128 << 20).private().unwrap();
        table.set(b"large", vec![1; LEN]).unwrap();
        table
    }

    /// The slot of a dead process may be given out before its resources are reclaimed.
    #[test]
    fn a_slot_is_given_out_without_pins() {
        let table = Table::options().max_size(1 << 20).private().unwrap();
        let region = table.core().unwrap().region();
        let first = region.geometry().first_page;
        let held = crate::layout::PinWord::Held { first }.encode();
        let pins = &region.participant(1).pins;
        pins.iter()
            .for_each(|pin| pin.store(held, Ordering::Relaxed));
        table.set(b"attaches", b"").unwrap();
        assert_eq!(region.pin_slot(), Some(1));
        assert!(pins.iter().all(|pin| pin.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn a_large_value_is_copied_once_beside_its_writer() {
        let table = table();
        assert_eq!(most_copies(&table, count_of(50, 4)), 1);
        assert!(table.check().unwrap().is_clean());
    }

    #[test]
    fn without_a_pin_copies_are_bounded() {
        let table = table();
        let region = table.core().unwrap().region();
        let pins = (0..crate::layout::PINS).map(|_| region.pin(region.geometry().first_page));
        let pins = pins.collect::<Option<Vec<_>>>().expect("all are free");
        assert!(region.pin(region.geometry().first_page).is_none());
        // Some spoiled copies, and the one made under the lock.
        assert!(most_copies(&table, count_of(10, 2)) <= 8);
        drop(pins);
        assert!(table.check().unwrap().is_clean());
    }
}
