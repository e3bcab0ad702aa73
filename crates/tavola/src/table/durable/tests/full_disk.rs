//! The disk is full: writes are refused before they change anything, reads continue, and writes
//! continue when there is room again. Nothing that could not be finished takes room.

use super::super::keeper::{Retry, keep_files};
use super::{SEGMENT, contents, create, create_as, open, open_as};
use crate::engine::OnDamage;
use crate::error::{Error, Result};
use crate::journal::number_of;
use crate::sys::disk::HomeDir;
use crate::sys::disk::simulated::SimulatedHome;
use crate::sys::disk::simulated::check::{CutChoices, check_all_cuts};
use crate::sys::disk::simulated::fault::{CallKind, Fault};
use crate::sys::disk::simulated::step::Step;
use crate::table::Table;
use crate::values::Durability;
use std::time::Duration;

const POLICIES: [Durability; 3] = [
    Durability::Commit,
    Durability::Within(Duration::from_millis(50)),
    Durability::Os,
];
/// Bytes of a file of the journal.
const FILE: u64 = 4096 + SEGMENT;
const UNFINISHED: &str = "snapshot.new";

/// Lets the disk have room for so many bytes more.
fn leave(home: &SimulatedHome, bytes: u64) {
    home.set_capacity(Some(home.used() + bytes));
}

fn assert_full<T: std::fmt::Debug>(done: Result<T>, reason: &str) {
    match done {
        Err(error @ Error::Full { .. }) => {
            let text = error.to_string();
            assert!(text.contains(reason), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// Sets keys until the disk is full, and returns how many.
fn fill(home: &SimulatedHome, table: &Table, key: impl Fn(u8) -> u8) -> u8 {
    for number in 0..=u8::MAX {
        match table.set([key(number)], [number; 300]) {
            Ok(()) => home.acknowledge(u64::from(number)),
            full => {
                assert_full(full, "make a snapshot");
                return number;
            }
        }
    }
    panic!("the disk is never full");
}

/// Checks that all files of the journal are whole, and that no snapshot is unfinished.
fn assert_all_whole(home: &SimulatedHome) {
    for (name, bytes) in home.image() {
        assert_ne!(name, UNFINISHED);
        if number_of(&name).is_some() {
            assert_eq!(bytes.len() as u64, FILE, "{name}");
        }
    }
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    for policy in POLICIES {
        let home = SimulatedHome::new();
        let table = create_as(&home, policy).unwrap();
        home.acknowledge(1000);
        // Three files, and a part of one.
        leave(&home, 3 * FILE + FILE / 2);
        let set = fill(&home, &table, |number| number);
        assert!(set >= 6, "{set}");
        assert_all_whole(&home);
        let before = contents(&table);
        assert_eq!(before.len(), usize::from(set));
        for key in [set, 0] {
            assert_full(
                table.set([key], [1; 300]),
                "the disk of the journal is full",
            );
            assert_full(
                table.append([0], [1; 300]),
                "the disk of the journal is full",
            );
        }
        assert_full(
            table.transaction(|t| {
                t.set([set], [1; 300])?;
                t.set([0], [1; 300])
            }),
            "the disk of the journal is full",
        );
        assert_eq!(contents(&table), before);
        table.sync().unwrap();
        home.set_capacity(None);
        table.set([set], [set; 300]).unwrap();
        table.sync().unwrap();
        home.acknowledge(u64::from(set));
        let before = contents(&table);
        drop(table);
        assert_eq!(contents(&open_as(&home, policy).unwrap()), before);
        if policy == Durability::Commit {
            survive_cuts(&home);
        }
    }
}

/// Lets the power fail at each moment: all keys that were acknowledged are there.
fn survive_cuts(home: &SimulatedHome) {
    let choices = CutChoices::Random { seed: 1, count: 2 };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        if acknowledged.is_empty() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let lost = |key: &&u64| **key < 256 && table.get([**key as u8]).unwrap().is_none();
        match acknowledged.iter().find(lost) {
            Some(key) => Err(format!("key {key} is lost")),
            None => Ok(()),
        }
    });
    assert!(judged.unwrap().cuts > 50);
}

#[test]
fn a_snapshot_that_does_not_fit_leaves_nothing() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    (0..20).for_each(|key| table.set([key], [key; 300]).unwrap());
    leave(&home, 3000);
    let (used, before) = (home.used(), contents(&table));
    for _ in 0..3 {
        assert_full(table.snapshot(), "no room for a snapshot");
        assert_eq!(home.used(), used);
        assert_all_whole(&home);
    }
    assert_eq!(contents(&table), before);
    leave(&home, 20_000);
    assert!(table.snapshot().unwrap());
    // Files that a handle has open take room, too.
    assert!(home.used() < used, "{} of {used}", home.used());
    drop(table);
    assert_eq!(contents(&open(&home, OnDamage::Refuse).unwrap()), before);
}

/// The same when a snapshot is to heal the journal: its new file goes, too.
/// Lets a sync of records fail. If a file of the journal is just full, which depends on how often
/// the clock was recorded, the first sync is that of a new file, after whose failure it is made
/// again.
fn fail_a_sync(home: &SimulatedHome, table: &Table) {
    for _ in 0..2 {
        home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
        assert!(table.set("unsure", "1").is_err());
        if let Err(Error::NotDurable { .. }) = table.set("refused", "1") {
            return;
        }
    }
    panic!("the journal has not failed");
}

#[test]
fn a_snapshot_that_cannot_heal_leaves_nothing() {
    for room in [FILE / 2, FILE + 3000] {
        let home = SimulatedHome::new();
        let table = create(&home).unwrap();
        (0..20).for_each(|key| table.set([key], [key; 300]).unwrap());
        fail_a_sync(&home, &table);
        leave(&home, room);
        let (used, before) = (home.used(), contents(&table));
        for _ in 0..2 {
            assert_full(table.snapshot(), "no room for a snapshot");
            assert_eq!(home.used(), used);
            assert_all_whole(&home);
            let refused = table.set("refused", "1");
            assert!(
                matches!(refused, Err(Error::NotDurable { .. })),
                "{refused:?}"
            );
        }
        home.set_capacity(None);
        assert!(table.snapshot().unwrap());
        table.set("after", "1").unwrap();
        assert_eq!(contents(&table).len(), before.len() + 1);
        let before = contents(&table);
        drop(table);
        assert_eq!(contents(&open(&home, OnDamage::Refuse).unwrap()), before);
    }
}

/// A process is killed while it writes a snapshot, which takes the last room.
fn leave_unfinished(home: &SimulatedHome, bytes: usize) {
    let file = home.create(UNFINISHED).unwrap();
    file.write_all_at(&vec![1; bytes], 0).unwrap();
}

#[test]
fn what_a_killed_process_left_of_a_snapshot_gives_its_room_back() {
    for has_failed in [false, true] {
        let home = SimulatedHome::new();
        let table = create(&home).unwrap();
        (0..20).for_each(|key| table.set([key], [key; 300]).unwrap());
        if has_failed {
            home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
            assert!(table.set([0], [0; 300]).is_err());
        }
        leave_unfinished(&home, 20_000);
        leave(&home, 100);
        let before = contents(&table);
        assert!(table.snapshot().unwrap());
        assert_all_whole(&home);
        table.set("after", [1; 300]).unwrap();
        assert_eq!(contents(&table).len(), before.len() + 1);
    }
    // A rebuild needs a file.
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    table.set("a", "1").unwrap();
    drop(table);
    leave_unfinished(&home, 20_000);
    leave(&home, 100);
    let table = open(&home, OnDamage::Refuse).unwrap();
    assert_all_whole(&home);
    table.set("b", "1").unwrap();
}

/// Returns how many snapshots were begun.
fn begun(home: &SimulatedHome) -> usize {
    let history = home.history();
    let is_begun = |step: &&Step| matches!(step, Step::Create { name, .. } if name == UNFINISHED);
    history.steps().iter().filter(is_begun).count()
}

#[test]
fn the_keeper_makes_room_on_a_full_disk() {
    for policy in POLICIES {
        let home = SimulatedHome::new();
        let table = create_as(&home, policy).unwrap();
        // A snapshot fits beside the one before, a file of the journal does not.
        leave(&home, 12 * FILE + 4000);
        for round in 0..5 {
            let set = fill(&home, &table, |number| number % 4);
            assert!(set > 20, "round {round}: {set}");
            keep_files(&table, &mut Retry::default()).unwrap();
            assert_eq!(begun(&home), round + 1);
            assert_all_whole(&home);
        }
        table.sync().unwrap();
        let before = contents(&table);
        drop(table);
        assert_eq!(contents(&open_as(&home, policy).unwrap()), before);
    }
}

/// Neither a snapshot nor a file of the journal is tried in each round of the thread.
#[test]
fn the_keeper_waits_longer_and_longer_after_a_snapshot_that_failed() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    leave(&home, 12 * FILE + FILE / 2);
    fill(&home, &table, |number| number);
    let used = home.used();
    let mut retry = Retry::default();
    let mut pauses = Vec::new();
    for tries in 1..=8 {
        assert_full(keep_files(&table, &mut retry), "no room for a snapshot");
        for _ in 0..20 {
            keep_files(&table, &mut retry).unwrap();
        }
        assert_eq!((begun(&home), home.used()), (tries, used));
        pauses.push(retry.wait().unwrap().as_secs());
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    // A writer does not wait for that.
    home.set_capacity(None);
    table.set("after", "1").unwrap();
    keep_files(&table, &mut retry).unwrap();
    assert!(retry.wait().is_none());
}

#[test]
fn the_keeper_heals_a_failed_journal_after_a_second() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    assert!(table.set("a", "1").is_err());
    let mut retry = Retry::default();
    keep_files(&table, &mut retry).unwrap();
    assert_eq!(begun(&home), 0);
    assert_eq!(retry.wait(), Some(Duration::from_secs(1)));
    home.fail_next(CallKind::Rename, Fault::new(libc::EIO));
    assert!(keep_files(&table, &mut retry).is_err());
    assert_eq!(begun(&home), 1);
    assert_all_whole(&home);
    keep_files(&table, &mut retry).unwrap();
    assert_eq!(begun(&home), 1);
    assert_eq!(retry.wait(), Some(Duration::from_secs(2)));
    keep_files(&table, &mut retry).unwrap();
    table.set("b", "1").unwrap();
    drop(table);
    assert_eq!(contents(&open(&home, OnDamage::Refuse).unwrap()).len(), 2);
}

/// Some file systems cannot reserve room: then zeroes are written.
#[test]
fn files_are_made_where_room_cannot_be_reserved() {
    for policy in [POLICIES[1], POLICIES[2]] {
        let home = SimulatedHome::new();
        home.fail_from(Some(CallKind::Allocate), 0, Fault::new(libc::EOPNOTSUPP));
        let table = create_as(&home, policy).unwrap();
        leave(&home, 5 * FILE + 100);
        assert!(fill(&home, &table, |number| number) > 10);
        assert_all_whole(&home);
        table.sync().unwrap();
        let before = contents(&table);
        drop(table);
        home.set_capacity(None);
        assert_eq!(contents(&open_as(&home, policy).unwrap()), before);
    }
}
