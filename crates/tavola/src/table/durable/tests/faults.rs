//! The disk fails at one call: nothing that was promised is lost, and the table continues.

use super::{PATH, contents, create, open};
use crate::engine::OnDamage;
use crate::error::Error;
use crate::sys::disk::simulated::check::{CutChoices, check_all_cuts};
use crate::sys::disk::simulated::fault::{CallKind, Fault};
use crate::sys::disk::simulated::{SimulatedHome, one_in};

/// The error of a write after which later writes are refused, or which changed nothing.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::NotDurable { .. } | Error::Full { .. } | Error::Io { .. }
    )
}

/// Sets keys while the n-th call of the disk fails, for every n in `make test-long`, else for some,
/// then heals the table.
fn each_call_fails(fault: impl Fn(usize) -> Fault) {
    let mut fails = 0;
    loop {
        let home = SimulatedHome::new();
        let table = create(&home).unwrap();
        // Keys are acknowledged by their numbers; 100: the table exists.
        home.acknowledge(100);
        home.fail_nth(None, fails, fault(fails));
        let (mut acknowledged, mut refused) = (Vec::new(), 0);
        for key in 0..12u8 {
            let done = match key % 5 {
                4 => table.snapshot().map(drop),
                _ => table.set([key], vec![key; 300]),
            };
            match done {
                Ok(()) if key % 5 != 4 => {
                    home.acknowledge(u64::from(key));
                    acknowledged.push(key);
                }
                Ok(()) => {}
                Err(error) => {
                    assert!(is_refusal(&error), "call {fails}: {error:?}");
                    refused += 1;
                    // Reads continue.
                    for key in &acknowledged {
                        assert_eq!(table.get([*key]).unwrap().unwrap(), vec![*key; 300]);
                    }
                }
            }
        }
        // After a sync that failed, a snapshot from memory lets writes continue.
        home.stop_failing();
        table.snapshot().unwrap();
        table.set("after", "1").unwrap();
        let before = contents(&table);
        drop(table);
        let table = open(&home, OnDamage::Refuse).unwrap();
        assert_eq!(contents(&table), before, "call {fails}");
        for key in acknowledged {
            assert_eq!(table.get([key]).unwrap().unwrap(), vec![key; 300]);
        }
        drop(table);
        survive_cuts(&home, fails);
        if refused == 0 && home.calls() < fails {
            assert!(fails > 20, "{fails}");
            return;
        }
        fails += one_in(4, 61);
    }
}

/// Lets the power fail at each moment: all keys that were acknowledged are there.
fn survive_cuts(home: &SimulatedHome, seed: usize) {
    let choices = CutChoices::Random {
        seed: seed as u64,
        count: 1,
    };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        if acknowledged.is_empty() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let lost = |key: &&u64| **key < 100 && table.get([**key as u8]).unwrap().is_none();
        match acknowledged.iter().find(lost) {
            Some(key) => Err(format!("key {key} is lost")),
            None => Ok(()),
        }
    });
    if let Err(failure) = judged {
        panic!("a fault at call {seed}: {failure}");
    }
}

/// Memory is lost after a sync that failed, without a restart of the machine: what is then read
/// from the files may not be on disk.
#[test]
fn a_table_that_is_rebuilt_after_a_failed_sync_writes_everything_again() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    table.set("a", "1").unwrap();
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    assert!(table.set("b", "1").is_err());
    drop(table);
    let table = open(&home, OnDamage::Refuse).unwrap();
    let has_b = table.contains("b").unwrap();
    table.set("c", "1").unwrap();
    home.acknowledge(1);
    drop(table);
    let choices = CutChoices::Random { seed: 5, count: 20 };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        if acknowledged.is_empty() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let found = contents(&table);
        let has = |key: &str| found.contains_key(key.as_bytes());
        match has("a") && has("c") && has("b") == has_b {
            true => Ok(()),
            false => Err(format!("{found:?}")),
        }
    });
    println!("{:?}", judged.unwrap());
}

#[test]
fn an_error_at_any_call_loses_nothing() {
    each_call_fails(|_| Fault::new(libc::EIO));
}

/// Of a call that the system makes again by itself, no `EINTR` comes up to here (`interrupts`).
#[test]
fn an_interruption_at_any_call_loses_nothing() {
    each_call_fails(|_| Fault::new(libc::EINTR));
}

#[test]
fn a_write_that_ends_early_at_any_call_loses_nothing() {
    each_call_fails(|call| {
        let errno = [libc::EIO, libc::ENOSPC][call / 5 % 2];
        Fault::after_bytes(errno, [1, 40, 200, 512, 700][call % 5])
    });
}

#[test]
fn a_full_disk_at_any_call_loses_nothing() {
    each_call_fails(|_| Fault::new(libc::ENOSPC));
}

/// A sync that fails is not trusted when it succeeds later.
#[test]
fn after_a_failed_sync_writes_are_refused_until_a_snapshot() {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    table.set("a", "1").unwrap();
    home.acknowledge(1);
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    let unsure = table.set("b", "1");
    assert!(
        matches!(unsure, Err(Error::NotDurable { .. })),
        "{unsure:?}"
    );
    assert_eq!(table.get("b").unwrap().unwrap(), b"1");
    let refused = table.set("c", "1");
    assert!(
        matches!(refused, Err(Error::NotDurable { .. })),
        "{refused:?}"
    );
    assert_eq!(table.get("c").unwrap(), None);
    assert!(table.snapshot().unwrap());
    table.set("c", "1").unwrap();
    home.acknowledge(2);
    drop(table);
    let choices = CutChoices::Random { seed: 3, count: 20 };
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        let Some(last) = acknowledged.iter().max() else {
            return Ok(());
        };
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let found = contents(&table);
        let has = |key: &str| found.contains_key(key.as_bytes());
        match has("a") && (*last < 2 || has("b") && has("c")) {
            true => Ok(()),
            false => Err(format!("{found:?}")),
        }
    });
    println!("{:?}", judged.unwrap());
}

/// From the n-th call on, for every n, the file system is read-only; then it is writable again.
#[test]
fn a_file_system_that_becomes_read_only_loses_nothing_and_heals() {
    let changes = [
        CallKind::Create,
        CallKind::Rename,
        CallKind::Remove,
        CallKind::Write,
    ];
    for at in (0..200).step_by(one_in(4, 13)) {
        let home = SimulatedHome::new();
        let table = create(&home).unwrap();
        home.acknowledge(100);
        for kind in changes {
            home.fail_from(Some(kind), at, Fault::new(libc::EROFS));
        }
        let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
        for key in 0..12u8 {
            match table.set([key], vec![key; 300]) {
                Ok(()) => {
                    home.acknowledge(u64::from(key));
                    acknowledged.push(key);
                }
                Err(error) => refused.push(error),
            }
        }
        for error in &refused {
            assert!(is_refusal(error), "call {at}: {error:?}");
            assert_eq!(error.os_error(), Some(libc::EROFS), "call {at}");
            let text = error.to_string();
            assert!(
                text.contains("Read-only file system") && text.contains(PATH),
                "{text}"
            );
        }
        for key in &acknowledged {
            assert_eq!(table.get([*key]).unwrap().unwrap(), vec![*key; 300]);
        }
        let is_over = table.snapshot().is_ok();
        assert!(refused.is_empty() || !is_over, "call {at}");
        home.stop_failing();
        table.snapshot().unwrap();
        table.set("after", "1").unwrap();
        let before = contents(&table);
        drop(table);
        assert_eq!(contents(&open(&home, OnDamage::Refuse).unwrap()), before);
        survive_cuts(&home, at);
        if is_over {
            assert!(at > 20, "{at}");
            return;
        }
    }
    panic!("the calls never end");
}
