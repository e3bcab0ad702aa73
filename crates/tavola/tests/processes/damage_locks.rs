//! Flipped bits in the set of named locks and semaphores: clear errors, nobody waits forever, and
//! after a repair what is there can be used.

#![cfg(not(miri))]

use crate::support::patience::{MINUTE, Watch};
use crate::support::{Dir, Random, assert_clean};
use std::path::Path;
use std::time::Duration;
use tavola::{Error, NamedLock, Semaphore, Table};

const PERMITS: u32 = 3;
/// Bytes before the first record, and of a record; `docs/internals/format.md` has them.
const RECORDS: usize = 512;
const RECORD: usize = 512;
/// Of the head: what is checked by its sum, with the sum, and how many records have names.
const SUMMED: [std::ops::Range<usize>; 2] = [0..12, 16..24];
const NAMED: std::ops::Range<usize> = 24..28;
/// Of a record: its numbers, and its name.
const NUMBERS: std::ops::Range<usize> = 0..20;
const NAME: std::ops::Range<usize> = 64..120;
/// Two of the numbers, and the most that they can be.
const REACH: usize = 4;
const PERMITS_AT: usize = 16;
const MOST_SHARING: u32 = 96;
/// Waits that are in vain.
const SHORT: Duration = Duration::from_millis(2);

/// A table with a lock and a semaphore, which a process had that is gone.
fn template(dir: &Dir) -> (Vec<u8>, usize) {
    let path = dir.table("template");
    let table = Table::options().max_size(1 << 20).create(&path).unwrap();
    table.set(b"key", b"value").unwrap();
    let lock = lock(&table).unwrap();
    let semaphore = semaphore(&table).unwrap();
    drop((lock.lock().unwrap(), semaphore.acquire().unwrap()));
    drop((lock.share().unwrap(), lock.share().unwrap()));
    drop((lock, semaphore, table));
    let bytes = std::fs::read(&path).unwrap();
    let head = bytes.windows(8).position(|word| word == b"TavolaLK");
    (bytes, head.unwrap())
}

fn lock(table: &Table) -> Result<NamedLock, Error> {
    table.named_lock("a lock")
}

fn semaphore(table: &Table) -> Result<Semaphore, Error> {
    table.semaphore("a semaphore", PERMITS)
}

/// Uses what can be opened. Returns an error that says that something is damaged, if one came.
fn use_all(table: &Table) -> Option<Error> {
    let mut found = None;
    let mut note = |error: Error| {
        let is_clear = matches!(error, Error::Corrupt { .. })
            || matches!(
                &error,
                Error::BadOption {
                    option: "permits",
                    ..
                }
            );
        assert!(is_clear, "{error}");
        found = Some(error);
    };
    match lock(table) {
        Ok(lock) => {
            drop(lock.try_lock().unwrap());
            drop(lock.lock_within(SHORT).unwrap());
            drop(lock.share_within(SHORT).unwrap());
            lock.holders();
        }
        Err(error) => note(error),
    }
    match semaphore(table) {
        Ok(semaphore) => {
            drop(
                (0..PERMITS + 1)
                    .map(|_| semaphore.acquire_within(SHORT).unwrap())
                    .collect::<Vec<_>>(),
            );
            semaphore.holders();
        }
        Err(error) => note(error),
    }
    match table.named_lock("a new one") {
        Ok(lock) => drop(lock.lock_within(SHORT).unwrap()),
        Err(error) => note(error),
    }
    let _ = table.lock_names();
    found
}

/// What can be opened can be had, however it was damaged.
fn assert_usable(table: &Table, about: &str) {
    if let Ok(lock) = lock(table) {
        drop(lock.lock_within(MINUTE).unwrap().expect(about));
        let shared = lock.share_within(MINUTE).unwrap().expect(about);
        assert!(lock.try_share().unwrap().is_some(), "{about}");
        drop(shared);
    }
    if let Ok(semaphore) = semaphore(table) {
        for _ in 0..2 {
            let all = (0..PERMITS).map(|_| semaphore.acquire_within(MINUTE).unwrap().expect(about));
            drop(all.collect::<Vec<_>>());
        }
    }
    assert_eq!(
        table.get(b"key").unwrap().as_deref(),
        Some(&b"value"[..]),
        "{about}"
    );
}

/// Tries a damaged file; `is_head`: what says that there is a set at all.
fn try_damaged(path: &Path, bytes: &[u8], is_head: bool, about: &str) -> (bool, bool) {
    std::fs::write(path, bytes).unwrap();
    let table = Table::options().open_existing(path).unwrap();
    let reported = !table.check().unwrap().is_clean();
    let refused = use_all(&table).is_some();
    assert!(
        !is_head || reported && refused,
        "{about}: it is not noticed"
    );
    table.repair().unwrap();
    if !is_head {
        assert_clean(&table);
        assert_usable(&table, about);
    }
    (reported, refused)
}

#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let _watch = Watch::begin();
    let dir = Dir::new();
    let (bytes, head) = template(&dir);
    let path = dir.table("flipped");
    let in_records = |of: std::ops::Range<usize>| {
        (0..2).flat_map(move |number| of.clone().map(move |at| RECORDS + number * RECORD + at))
    };
    let sharing = (0..2)
        .flat_map(|number| (0..4).map(move |place| RECORDS + number * RECORD + 128 + 4 * place));
    let summed = || SUMMED.into_iter().flatten();
    let places = summed()
        .chain(NAMED)
        .chain(in_records(NUMBERS))
        .chain(in_records(NAME));
    let (mut reported, mut refused) = (0, 0);
    let mut random = Random::new(3);
    for at in places.chain(sharing) {
        let bit = random.below(8);
        let mut damaged = bytes.clone();
        damaged[head + at] ^= 1 << bit;
        let about = format!("byte {at} bit {bit}");
        let (one, other) = try_damaged(&path, &damaged, summed().any(|one| one == at), &about);
        (reported, refused) = (reported + u32::from(one), refused + u32::from(other));
    }
    assert!(
        reported > 20 && refused > 20,
        "{reported} reported, {refused} refused"
    );
}

#[test]
fn numbers_that_cannot_be_are_reported_and_mended() {
    let _watch = Watch::begin();
    let dir = Dir::new();
    let (bytes, head) = template(&dir);
    let path = dir.table("numbers");
    for (place, what) in [(REACH, "reach"), (PERMITS_AT, "permits")] {
        for (number, name) in ["a lock", "a semaphore"].into_iter().enumerate() {
            for wrong in [MOST_SHARING + 1, 1 << 31, u32::MAX] {
                let mut damaged = bytes.clone();
                let at = head + RECORDS + number * RECORD + place;
                damaged[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
                let about = format!("{what} of {name}: {wrong}");
                std::fs::write(&path, &damaged).unwrap();
                let table = Table::options().open_existing(&path).unwrap();
                let problems = table.check().unwrap().problems;
                let is_named = problems.iter().any(|problem| problem.contains(name));
                assert!(is_named, "{about}: {problems:?}");
                assert!(!table.repair().unwrap().is_clean(), "{about}");
                assert_clean(&table);
                assert_usable(&table, &about);
            }
        }
    }
}

#[test]
fn words_of_any_content_hold_nobody_up() {
    let _watch = Watch::begin();
    let dir = Dir::new();
    let (bytes, head) = template(&dir);
    let path = dir.table("random");
    let mut random = Random::new(4);
    for round in 0..40 {
        let mut damaged = bytes.clone();
        for number in 0..2 {
            let record = head + RECORDS + number * RECORD;
            let permits = damaged[record + 16..record + 20].to_vec();
            let words = random.bytes(20);
            damaged[record..record + 20].copy_from_slice(&words);
            damaged[record + 16..record + 20].copy_from_slice(&permits);
            let sharing = random.bytes(RECORD - 128);
            damaged[record + 128..record + RECORD].copy_from_slice(&sharing);
        }
        try_damaged(&path, &damaged, false, &format!("round {round}"));
    }
}
