//! A scan of the keys alone, a segment of the index at a time, whose position is a number.

use crate::alloc::Item;
use crate::engine::Core;
use crate::error::Result;
use crate::index::locate::{ScanPosition, ScanTarget, is_over};
use crate::lock::ShardLock;
use crate::region::Pinned;

/// The keys of a segment, one after the other, and where each ends.
struct Keys<'a> {
    core: &'a Core,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    damaged: Option<&'static str>,
}

/// The bytes and the number of keys.
#[derive(Clone, Copy)]
struct KeysMark {
    bytes: usize,
    keys: usize,
}

/// Implements [`ServeTable::scan_keys`](crate::serving::ServeTable::scan_keys).
pub(crate) fn scan_segment(
    core: &Core,
    position: u64,
    each: &mut dyn FnMut(&[u8]),
) -> Result<Option<u64>> {
    let mut keys = Keys {
        core,
        bytes: Vec::new(),
        ends: Vec::new(),
        damaged: None,
    };
    let mut at = ScanPosition::at(position);
    let next = loop {
        if !at.fill(core.region(), &mut keys) {
            break None;
        }
        // A position within a segment is not a number. One that is the same as before comes from a
        // segment that is gone: its keys are in the one that took its place.
        if let Some(next) = at.number().filter(|next| *next != position) {
            break Some(next).filter(|_| !at.is_end(core.region()));
        }
    };
    let mut start = 0;
    for end in keys.ends {
        each(&keys.bytes[start..end]);
        start = end;
    }
    match keys.damaged {
        None => Ok(next),
        Some(what) => core.region().damaged(what),
    }
}

impl<'a> ScanTarget<'a> for Keys<'a> {
    type Mark = KeysMark;

    fn lock(&self, shard: u32) -> Option<ShardLock<'a>> {
        self.core.writer().ok()?;
        self.core.lock_to_read(shard)
    }

    fn pin(&self, first_page: u32) -> Option<Pinned<'a>> {
        self.core.pin(first_page)
    }

    fn copy(&mut self, item: &Item<'_>, _state: u32) -> Option<()> {
        if item.is_tag() || is_over(item)? {
            return Some(());
        }
        let begin = self.bytes.len();
        if !item.copy_key(&mut self.bytes) {
            self.bytes.truncate(begin);
            return None;
        }
        self.ends.push(self.bytes.len());
        Some(())
    }

    fn mark(&self) -> KeysMark {
        KeysMark {
            bytes: self.bytes.len(),
            keys: self.ends.len(),
        }
    }

    fn cut_back(&mut self, mark: KeysMark) {
        self.bytes.truncate(mark.bytes);
        self.ends.truncate(mark.keys);
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A segment is read whole.
    fn is_full(&self) -> bool {
        false
    }

    fn note_damage(&mut self, what: &'static str) {
        self.damaged = Some(what);
    }
}

#[cfg(test)]
mod tests {
    use crate::Table;
    use crate::serving::ServeTable;
    use std::collections::BTreeSet;

    /// Scans, and calls `between` after each call.
    fn scanned(table: &Table, mut between: impl FnMut(u64)) -> Vec<Vec<u8>> {
        let (mut keys, mut position, mut calls) = (Vec::new(), Some(0), 0);
        while let Some(at) = position {
            assert!(calls == 0 || at != 0, "0 is the first position alone");
            position = table
                .scan_keys(at, &mut |key| keys.push(key.to_vec()))
                .unwrap();
            calls += 1;
            assert!(calls < 100_000, "a scan without an end");
            between(calls);
        }
        keys
    }

    fn table(keys: u32) -> Table {
        let table = Table::options().max_size(256 << 20).private().unwrap();
        for number in 0..keys {
            table.set(number.to_le_bytes(), "v").unwrap();
        }
        table
    }

    #[test]
    fn each_key_of_a_table_at_rest_is_met_once() {
        for count in [0, 1, 100, 30_000] {
            let table = table(count);
            let keys = scanned(&table, |_| {});
            assert_eq!(keys.len(), count as usize);
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        }
    }

    /// While the table grows fourfold and while it shrinks, no key that stays is missed.
    #[test]
    fn keys_that_stay_are_met_while_the_table_grows_and_shrinks() {
        const STAY: u32 = 20_000;
        let all: BTreeSet<_> = (0..STAY).map(|n| n.to_le_bytes().to_vec()).collect();
        let table = table(STAY);
        let more = |call: u64| (0..4000).map(move |n| (1 << 31) + call as u32 * 4000 + n);
        let mut grown = 0;
        let keys = scanned(&table, |call| {
            if call <= 15 {
                grown = call;
                for number in more(call) {
                    table.set(number.to_le_bytes(), "v").unwrap();
                }
            }
        });
        assert!(grown > 5, "the table grew {grown} times");
        assert!(all.is_subset(&keys.into_iter().collect()));
        let keys = scanned(&table, |call| {
            for number in more(call).filter(|_| call <= grown) {
                assert!(table.remove(number.to_le_bytes()).unwrap());
            }
        });
        assert!(all.is_subset(&keys.into_iter().collect()));
    }

    #[test]
    fn any_number_is_a_position() {
        let table = table(30_000);
        for high in [0, 1, 7, u64::from(u32::MAX)] {
            for low in [0, 1, 0x8000_0000, u64::from(u32::MAX)] {
                table.scan_keys(high << 32 | low, &mut |_| {}).unwrap();
            }
        }
    }

    #[test]
    fn keys_without_a_value_of_their_own_are_left_out() {
        let table = table(10);
        table
            .touch(0_u32.to_le_bytes(), crate::Expiry::PAST)
            .unwrap();
        let large = vec![1; 1 << 20];
        table.set("large", &large).unwrap();
        let keys = scanned(&table, |_| {});
        assert_eq!(keys.len(), 10);
        assert!(keys.contains(&b"large".to_vec()));
    }
}
