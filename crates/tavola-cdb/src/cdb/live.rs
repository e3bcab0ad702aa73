//! The records that a file which is being written has: by table in the order of the puts, by hash
//! for puts that look for a key, and what was removed.

use std::collections::HashMap;

use super::{TABLES, table_of};

/// A record that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    /// Where the record begins; 0 if it was removed.
    pub(crate) at: u64,
}

/// Bytes of a removed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// No older record of the same hash.
const NONE: u32 = u32::MAX;

/// The records of a file.
#[derive(Debug)]
pub(crate) struct Live {
    tables: Vec<Vec<Entry>>,
    count: u64,
    gaps: Vec<Gap>,
    gap_bytes: u64,
    by_hash: Option<ByHash>,
}

/// For each hash its newest record, and for each record the one before it with the same hash.
#[derive(Debug, Default)]
struct ByHash {
    newest: HashMap<u64, u32>,
    older: Vec<Vec<u32>>,
}

impl ByHash {
    fn push(&mut self, hash: u64, index: usize) {
        let older = self.newest.insert(hash, index as u32).unwrap_or(NONE);
        self.older[table_of(hash)].push(older);
    }
}

impl Live {
    pub(crate) fn new() -> Live {
        Live {
            tables: vec![Vec::new(); TABLES],
            count: 0,
            gaps: Vec::new(),
            gap_bytes: 0,
            by_hash: None,
        }
    }

    /// Returns the number of records.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn gap_bytes(&self) -> u64 {
        self.gap_bytes
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        let table = &mut self.tables[table_of(entry.hash)];
        if let Some(by_hash) = &mut self.by_hash {
            by_hash.push(entry.hash, table.len());
        }
        table.push(entry);
        self.count += 1;
    }

    /// Returns the records of a hash, the newest first, with their numbers in the table.
    pub(crate) fn of_hash(&mut self, hash: u64) -> Vec<(usize, Entry)> {
        let tables = &self.tables;
        let by_hash = self.by_hash.get_or_insert_with(|| {
            let mut by_hash = ByHash {
                older: vec![Vec::new(); TABLES],
                ..ByHash::default()
            };
            for table in tables {
                for (index, entry) in table.iter().enumerate() {
                    by_hash.push(entry.hash, index);
                }
            }
            by_hash
        });
        let table = table_of(hash);
        let mut found = Vec::new();
        let mut next = by_hash.newest.get(&hash).copied().unwrap_or(NONE);
        while next != NONE {
            let index = next as usize;
            let entry = self.tables[table][index];
            if entry.at != 0 {
                found.push((index, entry));
            }
            next = by_hash.older[table][index];
        }
        found
    }

    /// Removes a record from its table. Its bytes stay.
    pub(crate) fn remove(&mut self, hash: u64, index: usize) {
        self.tables[table_of(hash)][index].at = 0;
        self.count -= 1;
    }

    /// Notes that bytes are not used any more.
    pub(crate) fn leave_gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
        self.gap_bytes += gap.bytes;
    }

    /// Returns the gaps in the order of their places.
    pub(crate) fn sort_gaps(&mut self) -> &[Gap] {
        self.gaps.sort_unstable_by_key(|gap| gap.start);
        &self.gaps
    }

    /// Notes that all bytes behind gaps were moved to the front, and the gaps are gone. They are
    /// sorted.
    pub(crate) fn close_gaps(&mut self) {
        let mut before = Vec::with_capacity(self.gaps.len() + 1);
        let mut sum = 0;
        for gap in &self.gaps {
            before.push(sum);
            sum += gap.bytes;
        }
        before.push(sum);
        for entry in self
            .tables
            .iter_mut()
            .flatten()
            .filter(|entry| entry.at != 0)
        {
            let behind = self.gaps.partition_point(|gap| gap.start < entry.at);
            entry.at -= before[behind];
        }
        self.gaps.clear();
        self.gap_bytes = 0;
    }

    /// Returns the records of a table, in the order of the puts.
    pub(crate) fn table(&self, index: usize) -> impl Iterator<Item = Entry> + Clone + '_ {
        self.tables[index]
            .iter()
            .copied()
            .filter(|entry| entry.at != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: u64, at: u64) -> Entry {
        Entry { hash, at }
    }

    #[test]
    fn records_are_found_by_hash_the_newest_first() {
        let mut live = Live::new();
        live.push(entry(5, 100));
        live.push(entry(261, 200));
        live.push(entry(5, 300));
        let found = live.of_hash(5);
        assert_eq!(found, [(2, entry(5, 300)), (0, entry(5, 100))]);
        live.push(entry(5, 400));
        live.remove(5, 2);
        assert_eq!(live.of_hash(5), [(3, entry(5, 400)), (0, entry(5, 100))]);
        assert!(live.of_hash(6).is_empty());
        assert_eq!(live.count(), 3);
        let kept: Vec<Entry> = live.table(5).collect();
        assert_eq!(kept, [entry(5, 100), entry(261, 200), entry(5, 400)]);
    }

    #[test]
    fn gaps_close() {
        let mut live = Live::new();
        for at in [10, 30, 60, 100] {
            live.push(entry(at, at));
        }
        live.remove(30, 0);
        live.leave_gap(Gap {
            start: 70,
            bytes: 5,
        });
        live.leave_gap(Gap {
            start: 30,
            bytes: 20,
        });
        assert_eq!(live.sort_gaps()[0].start, 30);
        assert_eq!(live.gap_bytes(), 25);
        live.close_gaps();
        let at = |hash: u64| live.table(hash as usize).next().map(|entry| entry.at);
        assert_eq!(
            [at(10), at(30), at(60), at(100)],
            [Some(10), None, Some(40), Some(75)]
        );
        assert_eq!(live.gap_bytes(), 0);
    }
}
