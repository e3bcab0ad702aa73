//! The disk fails at the n-th call, for every n, while a table is created or rebuilt.

use super::{Contents, contents, create, open};
use crate::engine::OnDamage;
use crate::error::{Error, Result};
use crate::journal::{TABLE, name_of};
use crate::sys::disk::simulated::check::{CutChoices, CutCount, check_all_cuts};
use crate::sys::disk::simulated::fault::Fault;
use crate::sys::disk::simulated::{SimulatedHome, count_of, one_in};
use crate::table::Table;

/// The faults of call `n`: whole calls that fail, and writes after some of their bytes.
fn faults_of(n: usize) -> [Fault; 4] {
    let written = [1, 100, 512, 700, 4096][n % 5];
    [
        Fault::new(libc::EIO),
        Fault::new(libc::EINTR),
        Fault::after_bytes(libc::EIO, written),
        Fault::after_bytes(libc::ENOSPC, written),
    ]
}

fn assert_named(error: &Error, fault: Fault) {
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    assert_eq!(error.os_error(), Some(fault.errno), "{error:?}");
}

/// Lets the power fail at each moment, in so many ways. From the first acknowledged operation on,
/// the table has these contents, and perhaps the key `more`.
fn survive_cuts(home: &SimulatedHome, seed: usize, ways: usize, wanted: &Contents) -> CutCount {
    let choices = CutChoices::Random {
        seed: seed as u64,
        count: ways,
    };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        if !left.image().contains_key(TABLE) && acknowledged.is_empty() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let mut found = contents(&table);
        let has_more = found.remove(&b"more"[..]).is_some();
        match found == *wanted && (has_more || !acknowledged.contains(&1)) {
            true => Ok(()),
            false => Err(format!("{:?}, more: {has_more}", found.keys())),
        }
    });
    judged.unwrap_or_else(|failure| panic!("a fault at call {seed}: {failure}"))
}

/// Sets a key, and acknowledges it.
fn set_more(home: &SimulatedHome, table: &Table) {
    table.set("more", "1").unwrap();
    home.acknowledge(1);
}

/// A creation that failed leaves a table that can be opened, or nothing that a second creation
/// minds.
#[test]
fn a_creation_that_fails_at_any_call_is_made_again() {
    let mut count = CutCount::default();
    for fails in (0..).step_by(one_in(3, 7)) {
        let mut are_over = true;
        for fault in faults_of(fails) {
            let home = SimulatedHome::new();
            home.fail_nth(None, fails, fault);
            let first: Result<()> = create(&home).map(drop);
            home.stop_failing();
            if let Err(error) = &first {
                assert_named(error, fault);
            }
            let names: Vec<String> = home.image().into_keys().collect();
            let exists = names.iter().any(|name| name == TABLE);
            let table = match exists {
                true => open(&home, OnDamage::Refuse),
                false => {
                    // As `Opening::create` asks for.
                    let is_ours = |name: &String| *name == name_of(1) || name == "table.new";
                    assert!(names.iter().all(is_ours), "{names:?}");
                    create(&home)
                }
            };
            let table = table.unwrap();
            assert!(contents(&table).is_empty());
            set_more(&home, &table);
            drop(table);
            count += survive_cuts(&home, fails, 1, &Contents::new());
            are_over &= first.is_ok();
        }
        if are_over {
            assert!(fails > 15, "{fails}");
            break;
        }
    }
    println!("{count:?}");
}

/// A process that dies after a sync has failed removes nothing.
#[test]
fn a_creation_that_dies_after_a_fault_leaves_a_table_that_keeps_its_writes() {
    let mut count = CutCount::default();
    for fails in 0.. {
        let home = SimulatedHome::new();
        home.fail_from(None, fails, Fault::new(libc::EIO));
        let created = create(&home).is_ok();
        home.stop_failing();
        if home.image().contains_key(TABLE) {
            let table = open(&home, OnDamage::Refuse).unwrap();
            set_more(&home, &table);
            drop(table);
            count += survive_cuts(&home, fails, count_of(20, 2), &Contents::new());
        }
        if created {
            break;
        }
    }
    println!("{count:?}");
    assert!(count.cuts > count_of(1_000, 100), "{count:?}");
}

/// A table with a snapshot that has a value in pieces, and with records behind it.
fn with_snapshot() -> (SimulatedHome, Contents) {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    (0..5u8).for_each(|key| table.set([key], vec![key; 300]).unwrap());
    table.set("large", vec![7; 70_000]).unwrap();
    assert!(table.snapshot().unwrap());
    table.remove([0]).unwrap();
    table.set([1], vec![9; 1500]).unwrap();
    let all = contents(&table);
    // It is sure to be on disk.
    (SimulatedHome::from_image(home.image(), Vec::new()), all)
}

#[test]
fn a_rebuild_from_a_snapshot_that_fails_at_any_call_loses_nothing() {
    let (whole, wanted) = with_snapshot();
    let mut count = CutCount::default();
    for fails in (0..).step_by(one_in(3, 23)) {
        let mut are_over = true;
        for fault in faults_of(fails) {
            let home = SimulatedHome::from_image(whole.image(), Vec::new());
            home.fail_nth(None, fails, fault);
            let first = open(&home, OnDamage::Refuse);
            home.stop_failing();
            match &first {
                Ok(table) => assert_eq!(contents(table), wanted),
                Err(error) => assert_named(error, fault),
            }
            are_over &= first.is_ok();
            drop(first);
            let table = open(&home, OnDamage::Refuse).unwrap();
            assert_eq!(contents(&table), wanted, "call {fails}");
            set_more(&home, &table);
            drop(table);
            count += survive_cuts(&home, fails, 1, &wanted);
        }
        if are_over {
            assert!(fails > 20, "{fails}");
            break;
        }
    }
    println!("{count:?}");
}
