//! Bits of synced records and of snapshots flip: that is an error, and nothing else changes.

use super::{SEGMENT, contents, create, home_of, open};
use crate::engine::OnDamage;
use crate::error::Error;
use crate::journal::{SnapshotWriter, name_of, number_of};
use crate::sys::disk::simulated::SimulatedHome;
use std::sync::Arc;

/// Bytes before the records of a file.
const HEAD: usize = 4096;

fn flipped(home: &SimulatedHome, name: &str, at: usize) -> SimulatedHome {
    let mut image = home.image();
    Arc::make_mut(image.get_mut(name).unwrap())[at] ^= 1;
    SimulatedHome::from_image(image, Vec::new())
}

/// Each byte of the journal that was synced is needed; the last record may be torn.
#[test]
fn a_flipped_bit_in_a_synced_record_is_damage() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    for key in 0..6_u8 {
        table.set([key], [key; 300]).unwrap();
    }
    let head = crate::journal::head(table.core().unwrap().region());
    let synced = head.synced.load(crate::sync::Ordering::Relaxed);
    drop(table);
    let last = synced - 400;
    let (mut refused, mut torn) = (0, 0);
    for position in (2 * SEGMENT..synced).step_by(7) {
        let at = HEAD + (position % SEGMENT) as usize;
        let left = flipped(&home, &name_of(position / SEGMENT), at);
        let before = left.image();
        match open(&left, OnDamage::Refuse) {
            Err(Error::DamagedJournal { .. }) => {
                refused += 1;
                assert_eq!(left.image(), before, "nothing changes");
                let cut = contents(&open(&left, OnDamage::Cut).unwrap());
                assert!(cut.len() < 6);
                assert_eq!(contents(&open(&left, OnDamage::Refuse).unwrap()), cut);
            }
            Err(error) => panic!("{error:?}"),
            Ok(table) => {
                torn += 1;
                let keys = contents(&table).len();
                assert!(position >= last && keys >= 4, "{position}: {keys} keys");
            }
        }
    }
    assert!(refused > 200 && torn > 0, "{refused} refused, {torn} torn");
}

/// Without the newest snapshot the journal behind an older one does not do: its files are gone.
#[test]
fn a_flipped_bit_in_the_only_snapshot_is_damage() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    for key in 0..6_u8 {
        table.set([key], [key; 300]).unwrap();
    }
    assert!(table.snapshot().unwrap());
    let found = contents(&table);
    drop(table);
    let name = home.image().into_keys().find(|n| n.starts_with("snapshot"));
    let name = name.unwrap();
    let len = home.image()[&name].len();
    for at in (0..len).step_by(11) {
        let left = flipped(&home, &name, at);
        match open(&left, OnDamage::Refuse) {
            Err(Error::DamagedJournal { .. }) => {}
            Err(error) => panic!("byte {at}: {error:?}"),
            // A byte that means nothing.
            Ok(table) => assert_eq!(contents(&table), found, "byte {at}"),
        }
    }
}

/// If the only snapshot is damaged, its other records and the journal behind it are what is left:
/// each key has its last value, or is missing.
#[test]
fn what_is_left_of_a_damaged_snapshot_is_right() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    for key in 0..80_u8 {
        table.set([key], [key; 2000]).unwrap();
    }
    table.set("large", vec![7; 100_000]).unwrap();
    assert!(table.snapshot().unwrap());
    for key in 0..4_u8 {
        table.set([key], [0xAA; 300]).unwrap();
    }
    table.remove([9]).unwrap();
    let all = contents(&table);
    drop(table);
    let name = home.image().into_keys().find(|n| n.starts_with("snapshot"));
    let name = name.unwrap();
    let len = home.image()[&name].len();
    let (mut least, mut most) = (all.len(), 0);
    // The first ones are of the head, the last one is in the foot.
    let places = (64..len).step_by(len / 40).chain([len - 20]);
    for at in (0..40).step_by(8).chain(places) {
        let left = flipped(&home, &name, at);
        let before = left.image();
        let refused = open(&left, OnDamage::Refuse);
        assert!(
            matches!(refused, Err(Error::DamagedJournal { .. })),
            "byte {at}"
        );
        let cut = open(&left, OnDamage::Cut);
        if at < 64 {
            assert!(
                matches!(cut, Err(Error::DamagedJournal { .. })),
                "byte {at}"
            );
            assert_eq!(left.image(), before, "nothing changes");
            continue;
        }
        let found = contents(&cut.unwrap());
        (least, most) = (least.min(found.len()), most.max(found.len()));
        for (key, value) in &found {
            assert_eq!(all.get(key), Some(value), "byte {at}, {key:?}");
        }
        assert!(
            (0..4).all(|key| found.contains_key([key].as_slice())),
            "byte {at}"
        );
        assert_eq!(contents(&open(&left, OnDamage::Refuse).unwrap()), found);
    }
    // The keys of one record are lost, or only the large one, or none with the foot.
    assert!(
        least > 40 && most == all.len(),
        "{least} to {most} of {}",
        all.len()
    );
}

/// A snapshot that needs records which are not there is of no moment.
#[test]
fn a_snapshot_without_the_records_that_it_needs_is_damage() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    table.set([1], [1; 9]).unwrap();
    let end = crate::journal::tail(table.core().unwrap().region());
    drop(table);
    let writer = SnapshotWriter::create(&home, home_of().id, end, 0).unwrap();
    writer.finish(end + 8, 0, 0).unwrap();
    let refused = open(&home, OnDamage::Refuse);
    assert!(matches!(refused, Err(Error::DamagedJournal { .. })));
    drop(open(&home, OnDamage::Cut).unwrap());
    open(&home, OnDamage::Refuse).unwrap();
}

/// A missing file is damage, if what was behind it was synced.
#[test]
fn a_missing_file_is_damage() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    for key in 0..6_u8 {
        table.set([key], [key; 600]).unwrap();
    }
    drop(table);
    let numbers: Vec<u64> = home.image().keys().filter_map(|n| number_of(n)).collect();
    let (first, last) = (numbers[1], numbers[numbers.len() - 1]);
    for number in first..last - 1 {
        let mut image = home.image();
        image.remove(&name_of(number)).unwrap();
        let left = SimulatedHome::from_image(image, Vec::new());
        let refused = open(&left, OnDamage::Refuse);
        assert!(
            matches!(refused, Err(Error::DamagedJournal { .. })),
            "file {number} of {numbers:?}"
        );
    }
}
