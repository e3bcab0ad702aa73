//! A key of a cache that is read again: no lock is taken, and nothing changes in the region but
//! what its participant counts.

use crate::support::Dir;
use crate::support::process::Mapped;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tavola::{Attributes, Table};

/// Enough that the participants begin with a page of memory.
const SHARDS: u32 = 8;
/// As docs/internals/format.md has them.
const PARTICIPANTS: usize = 4096 + 1536 * SHARDS as usize;
const SAMPLES: usize = PARTICIPANTS + (128 << 10);
/// Behind the samples and the times.
const PAGE_TABLE: usize = SAMPLES + 2 * 4096;
/// In the superblock: the last sample.
const SAMPLED: usize = 192;
/// A sample is taken no sooner than that after the last.
const SAMPLE_AFTER: Duration = Duration::from_millis(1100);

const KEYS: [&[u8]; 6] = [
    b"short",
    b"a word..",
    b"of a large value",
    b"with a time",
    b"with a tag",
    b"with a uid",
];

fn cache(path: &Path) -> Table {
    let options = Table::options().capacity(4 << 20).max_size(16 << 20);
    let table = options.shards(SHARDS).create(path).unwrap();
    let [short, word, large, timed, tagged, named] = KEYS;
    table.set(short, b"value").unwrap();
    table.set(word, b"12345678").unwrap();
    table.set(large, [1; 40_000]).unwrap();
    let hour = Attributes::ttl(Duration::from_secs(3600));
    table.set_with(timed, b"value", hour).unwrap();
    let tags = table.fetch_tags(&["tag"]).unwrap();
    table.set_tagged(tagged, b"value", hour, &tags).unwrap();
    table.set_uid(named, b"value").unwrap();
    table
}

/// Where the one participant counts its hits.
fn hits_at(table: &Table) -> usize {
    let participants = table.participants().unwrap();
    assert_eq!(participants.len(), 1);
    PARTICIPANTS + 128 * participants[0].slot as usize + 64
}

/// The words that changed: what they were, and are.
fn changes(before: &[u8], after: &[u8]) -> BTreeMap<usize, (u64, u64)> {
    let words = |bytes: &[u8]| -> Vec<u64> {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        bytes.chunks_exact(8).map(word).collect()
    };
    let pairs = words(before).into_iter().zip(words(after)).enumerate();
    pairs
        .filter(|(_, (before, after))| before != after)
        .map(|(number, pair)| (8 * number, pair))
        .collect()
}

/// Samples are taken about once a second, and times of calls now and then.
fn is_of_samples(at: usize) -> bool {
    at == SAMPLED || (SAMPLES..PAGE_TABLE).contains(&at)
}

/// Reads a key in each way that counts.
fn read(table: &Table, key: &[u8]) -> u64 {
    let (mut into, mut slice) = (Vec::new(), [0; 64]);
    assert!(table.get(key).unwrap().is_some());
    assert!(table.get_into(key, &mut into).unwrap());
    assert!(table.get_to_slice(key, &mut slice).unwrap().is_some());
    assert!(table.get_entry(key).unwrap().is_some());
    assert!(table.get_with_token(key).unwrap().is_some());
    let each = |_, value: Option<&[u8]>| assert!(value.is_some());
    table.get_many(&[key], each).unwrap();
    6
}

/// All memory of the table may only be read meanwhile, except the slots of participants: a lock
/// that is taken, or any other word that is written, ends the process by a signal.
#[test]
fn it_takes_no_lock_and_writes_to_nothing_but_a_counter() {
    let dir = Dir::new();
    let path = dir.table("cache");
    let table = cache(&path);
    let bytes = || std::fs::read(&path).unwrap();
    let first = KEYS.len() as u64;
    let before = bytes();
    for key in KEYS {
        assert!(table.get(key).unwrap().is_some());
    }
    let after = bytes();
    let notes = changes(&before, &after);
    assert!(notes.len() > KEYS.len(), "what is noted is seen: {notes:?}");
    let whole = Mapped::of(&path);
    let parts = [0..PARTICIPANTS, SAMPLES..whole.len()];
    // A call takes a sample if one is due: just now, so that none is for a second.
    std::thread::sleep(SAMPLE_AFTER);
    table.stats().unwrap();
    parts.iter().for_each(|part| whole.protect(part, true));
    let again: u64 = KEYS.iter().map(|key| read(&table, key)).sum();
    parts.iter().for_each(|part| whole.protect(part, false));
    let mut changes = changes(&after, &bytes());
    changes.retain(|at, _| !is_of_samples(*at));
    let counted: Vec<_> = changes.into_iter().collect();
    assert_eq!(counted, [(hits_at(&table), (first, first + again))]);
}

/// However often: except the samples that are taken about once a second, and times of calls.
#[test]
fn however_often_nothing_but_counters_changes() {
    let dir = Dir::new();
    let path = dir.table("cache");
    let table = cache(&path);
    for key in KEYS {
        assert!(table.get(key).unwrap().is_some());
    }
    let before = std::fs::read(&path).unwrap();
    let hits: u64 = (0..2000)
        .map(|round| read(&table, KEYS[round % KEYS.len()]))
        .sum();
    let mut changes = changes(&before, &std::fs::read(&path).unwrap());
    let first = KEYS.len() as u64;
    let counted = changes.remove(&(hits_at(&table)));
    assert_eq!(counted, Some((first, first + hits)));
    changes.retain(|at, _| !is_of_samples(*at));
    assert!(changes.is_empty(), "{changes:?}");
}
