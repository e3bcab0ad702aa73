//! Remains of an earlier life in the files of the journal: nothing of them comes back.

use super::{SEGMENT, contents, create_as, create_of, home_of, open, open_as};
use crate::engine::OnDamage;
use crate::journal::{FileHead, Home, name_of};
use crate::lock::ABANDONED;
use crate::sync::Ordering;
use crate::sys::disk::HomeDir;
use crate::sys::disk::simulated::SimulatedHome;
use crate::sys::disk::simulated::check::{CutChoices, check_all_cuts};
use crate::sys::disk::simulated::fault::{CallKind, Fault};
use crate::table::Table;
use crate::values::Durability;
use std::sync::Arc;

/// Bytes of a value whose record has 64 bytes, of one that fills half a file, of one that fills a
/// file.
const SMALL: usize = 15;
const HALF: usize = 463;
const WHOLE: usize = 975;
/// Where the records of a file begin.
const BEGIN: usize = 4096;

fn set(table: &Table, key: u8, len: usize) {
    table.set([key], vec![key; len]).unwrap();
}

fn keys(table: &Table) -> Vec<u8> {
    contents(table).into_keys().map(|key| key[0]).collect()
}

/// Writes the records to the files, without a sync.
fn write_out(table: &Table) {
    let core = table.core().unwrap();
    let files = core.journal.as_deref().unwrap();
    files
        .write_out(core.region(), core.writer().unwrap())
        .unwrap();
}

fn syncs_nothing(home: &SimulatedHome) -> SimulatedHome {
    SimulatedHome::from_image(home.image(), Vec::new())
}

/// The power fails: of a file's records, the first sector has only so many bytes, others are as
/// they were written.
fn tear(home: &SimulatedHome, number: u64, bytes: usize) -> SimulatedHome {
    let mut image = home.image();
    let file = image.get_mut(&name_of(number)).unwrap();
    Arc::make_mut(file)[BEGIN + bytes..BEGIN + 512].fill(0);
    SimulatedHome::from_image(image, Vec::new())
}

/// The number of the file with the last records.
fn last_file(table: &Table) -> u64 {
    let head = crate::journal::head(table.core().unwrap().region());
    head.allocated.load(Ordering::Relaxed) / SEGMENT - 1
}

#[test]
fn a_record_behind_a_torn_one_stays_lost() {
    let home = SimulatedHome::new();
    let table = create_as(&home, Durability::Os).unwrap();
    let number = last_file(&table);
    set(&table, 0, SMALL);
    set(&table, 1, HALF);
    set(&table, 2, SMALL);
    assert_eq!(last_file(&table), number, "one file has all");
    write_out(&table);
    drop(table);
    let home = tear(&home, number, 64);
    let table = open_as(&home, Durability::Os).unwrap();
    assert_eq!(keys(&table), [0]);
    // As long as the torn one.
    set(&table, 3, HALF);
    write_out(&table);
    drop(table);
    let table = open_as(&syncs_nothing(&home), Durability::Os).unwrap();
    assert_eq!(keys(&table), [0, 3]);
}

#[test]
fn a_file_behind_a_torn_record_stays_lost() {
    let home = SimulatedHome::new();
    let table = create_as(&home, Durability::Os).unwrap();
    let number = last_file(&table);
    (1..=3).for_each(|key| set(&table, key, WHOLE));
    assert_eq!(last_file(&table), number + 2, "each fills a file");
    write_out(&table);
    drop(table);
    let home = tear(&home, number, 0);
    let table = open_as(&home, Durability::Os).unwrap();
    assert!(keys(&table).is_empty());
    // Up to where the third one began.
    set(&table, 4, WHOLE);
    write_out(&table);
    drop(table);
    let table = open_as(&syncs_nothing(&home), Durability::Os).unwrap();
    assert_eq!(keys(&table), [4]);
}

#[test]
fn a_journal_that_ends_with_its_file_is_rebuilt_again_and_again() {
    let home = SimulatedHome::new();
    let table = create_as(&home, Durability::Os).unwrap();
    set(&table, 1, WHOLE);
    write_out(&table);
    drop(table);
    for _ in 0..3 {
        let table = open_as(&home, Durability::Os).unwrap();
        assert_eq!(keys(&table), [1]);
    }
}

#[test]
fn records_that_do_not_fit_into_the_ring_are_written_before_others_take_their_place() {
    let home = SimulatedHome::new();
    let long = Home {
        segment: 4 << 20,
        ..home_of()
    };
    let table = create_of(&home, &long, Durability::Os).unwrap();
    for number in 0..2500_u32 {
        let value = number.to_le_bytes().repeat(75);
        table.set((number % 50).to_le_bytes(), value).unwrap();
    }
    write_out(&table);
    let found = contents(&table);
    drop(table);
    let table = open_as(&home, Durability::Os).unwrap();
    assert_eq!(contents(&table), found);
}

/// A sync promises what was written before it began, although more is written when it ends.
#[test]
fn what_is_written_during_a_sync_needs_another_one() {
    let home = SimulatedHome::new();
    let table = Arc::new(create_as(&home, Durability::Os).unwrap());
    set(&table, 1, HALF);
    let beside = Arc::clone(&table);
    home.while_syncing(move || {
        // A thread of its own, as this one holds a lock of the journal.
        let writes = std::thread::spawn(move || {
            set(&beside, 2, 9);
            write_out(&beside);
        });
        writes.join().unwrap();
    });
    table.sync().unwrap();
    table.sync().unwrap();
    home.acknowledge(1);
    survives(&home, &[1, 2]);
}

/// Lets the power fail after all was acknowledged.
fn survives(home: &SimulatedHome, wanted: &[u8]) {
    let choices = CutChoices::Random { seed: 9, count: 20 };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        if acknowledged.is_empty() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let found = keys(&table);
        match wanted.iter().all(|key| found.contains(key)) {
            true => Ok(()),
            false => Err(format!("{found:?} instead of {wanted:?}")),
        }
    });
    println!("{:?}", judged.unwrap());
}

/// A process syncs, the disk reports a failure to it, and it dies before anybody else learns that.
fn sync_fails_and_its_owner_dies(home: &SimulatedHome, table: &Table) {
    write_out(table);
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    let file = home.open(&name_of(last_file(table))).unwrap();
    assert!(file.sync_data().is_err());
    let head = crate::journal::head(table.core().unwrap().region());
    head.sync_lock.store(ABANDONED, Ordering::Release);
}

#[test]
fn a_sync_whose_owner_died_may_have_failed() {
    let home = SimulatedHome::new();
    let table = create_as(&home, Durability::Os).unwrap();
    // A sector of its own: nothing else writes it again.
    set(&table, 1, HALF);
    sync_fails_and_its_owner_dies(&home, &table);
    table.sync().unwrap();
    home.acknowledge(1);
    drop(table);
    survives(&home, &[1]);
}

/// Records that cannot be written again, as the ring has others by now, are not acknowledged.
#[test]
fn a_sync_whose_owner_died_fails_if_it_cannot_be_repeated() {
    let home = SimulatedHome::new();
    let table = create_as(&home, Durability::Os).unwrap();
    set(&table, 1, 9);
    sync_fails_and_its_owner_dies(&home, &table);
    for number in 0..2500_u32 {
        table
            .set(b"filler", number.to_le_bytes().repeat(75))
            .unwrap();
    }
    assert!(table.sync().is_err());
    assert!(table.snapshot().unwrap());
    table.sync().unwrap();
    home.acknowledge(1);
    drop(table);
    let left = home.history();
    let mut oldest = crate::sys::disk::simulated::choice::EveryChoice::default();
    let table = open_as(&left.cut(left.len(), &mut oldest), Durability::Os).unwrap();
    assert_eq!(table.get([1]).unwrap().unwrap(), [1; 9]);
}

/// The file of a new journal says where the one before ended only when that is on disk.
#[test]
fn a_rebuild_after_a_failed_sync_that_fails_at_any_call_loses_nothing() {
    for fails in 0.. {
        let home = SimulatedHome::new();
        let table = create_as(&home, Durability::Commit).unwrap();
        set(&table, 1, 9);
        home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
        assert!(table.set([2], [2; 9]).is_err());
        drop(table);
        home.fail_nth(None, fails, Fault::new(libc::EIO));
        let first = open_as(&home, Durability::Commit).map(drop);
        home.stop_failing();
        let table = open_as(&home, Durability::Commit).unwrap();
        let wanted = keys(&table);
        set(&table, 3, 9);
        home.acknowledge(1);
        drop(table);
        survives(&home, &[&wanted[..], &[3]].concat());
        if first.is_ok() {
            assert!(fails > 10, "{fails}");
            return;
        }
    }
}

#[test]
fn the_clock_of_a_rebuilt_table_does_not_go_back() {
    for snapshot in [false, true] {
        let home = SimulatedHome::new();
        let table = create_as(&home, Durability::Commit).unwrap();
        let region = table.core().unwrap().region();
        let later = region.now_ms() + 3_600_000;
        region.set_clock_to(later);
        set(&table, 1, 9);
        if snapshot {
            table.snapshot().unwrap();
        }
        drop(table);
        let table = open_as(&home, Durability::Commit).unwrap();
        assert!(table.core().unwrap().region().now_ms() >= later);
    }
}

/// A version is not given again, although its key is gone, and the snapshot does not have it.
#[test]
fn versions_of_removed_keys_are_not_given_again() {
    let home = SimulatedHome::new();
    let versioned = Home {
        has_versions: true,
        ..home_of()
    };
    let table = create_of(&home, &versioned, Durability::Commit).unwrap();
    (0..9).for_each(|_| set(&table, 1, 9));
    let token = table.get_with_token([1]).unwrap().unwrap().1;
    table.remove([1]).unwrap();
    table.snapshot().unwrap();
    drop(table);
    let table = open(&home, OnDamage::Refuse).unwrap();
    set(&table, 2, 9);
    let next = table.get_with_token([2]).unwrap().unwrap().1;
    assert!(next.0 > token.0, "{next:?} after {token:?}");
}

/// A file of another journal, or with another number, is not read.
#[test]
fn a_file_that_is_not_of_this_journal_is_no_part_of_it() {
    let head = |id, number| FileHead {
        id,
        number,
        from: 0,
    };
    for wrong in [head(7, 2), head(0x5EED, 3)] {
        let home = SimulatedHome::new();
        let table = create_as(&home, Durability::Commit).unwrap();
        set(&table, 1, 9);
        let number = last_file(&table);
        drop(table);
        let file = home.open(&name_of(number)).unwrap();
        file.write_all_at(&wrong.encode(), 0).unwrap();
        let table = open(&home, OnDamage::Refuse).unwrap();
        assert!(keys(&table).is_empty());
    }
}
