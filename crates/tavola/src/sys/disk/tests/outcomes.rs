//! The outcomes of a power failure on the simulated disk, in small cases that are enumerated.

use super::super::simulated::SimulatedHome;
use super::super::simulated::choice::{EveryChoice, RandomChoice};
use super::super::simulated::fault::{CallKind, Fault};
use super::super::{DiskFile, HomeDir};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns all outcomes of a power failure now, each as the names with the bytes in runs: `a: 3x`
/// is a file "a" of three bytes "x", with `0` for the byte 0.
fn outcomes(home: &SimulatedHome) -> BTreeSet<String> {
    let history = home.history();
    let mut all = BTreeSet::new();
    let mut choice = EveryChoice::default();
    loop {
        all.insert(describe(&history.cut(history.len(), &mut choice)));
        if !choice.advance() {
            return all;
        }
    }
}

fn describe(home: &SimulatedHome) -> String {
    let files = home.image().into_iter().map(|(name, bytes)| {
        let runs = bytes.chunk_by(|a, b| a == b).map(|run| {
            let letter = if run[0] == 0 { '0' } else { run[0] as char };
            format!(" {}{letter}", run.len())
        });
        format!("{name}:{}", runs.collect::<String>())
    });
    files.collect::<Vec<_>>().join(", ")
}

fn assert_outcomes(home: &SimulatedHome, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(outcomes(home), expected, "{}", home.history());
}

/// A home with one file, "a", of so many bytes `o`, all synced.
fn home_of(len: usize) -> (SimulatedHome, Arc<dyn DiskFile>) {
    let image = [("a".to_string(), Arc::new(vec![b'o'; len]))];
    let home = SimulatedHome::from_image(image.into(), Vec::new());
    let file = home.open("a").unwrap();
    (home, file)
}

#[test]
fn what_is_synced_is_there() {
    let home = SimulatedHome::new();
    assert_outcomes(&home, &[""]);
    let file = home.create("a").unwrap();
    file.write_all_at(&[b'x'; 700], 0).unwrap();
    file.sync_data().unwrap();
    assert_outcomes(&home, &["", "a: 700x"]);
    home.sync().unwrap();
    assert_outcomes(&home, &["a: 700x"]);
}

#[test]
fn each_sector_is_old_or_new() {
    let (home, file) = home_of(1536);
    file.write_all_at(&[b'x'; 524], 500).unwrap();
    let all = [
        "a: 1536o",
        "a: 500o 12x 1024o",
        "a: 512o 512x 512o",
        "a: 500o 524x 512o",
    ];
    assert_outcomes(&home, &all);
    file.sync_data().unwrap();
    assert_outcomes(&home, &all[3..]);
}

#[test]
fn a_sector_has_any_version_since_the_sync() {
    let (home, file) = home_of(512);
    for letter in *b"xyz" {
        file.write_all_at(&[letter; 512], 0).unwrap();
    }
    assert_outcomes(&home, &["a: 512o", "a: 512x", "a: 512y", "a: 512z"]);
    file.sync_data().unwrap();
    file.write_all_at(b"o", 511).unwrap();
    assert_outcomes(&home, &["a: 512z", "a: 511z 1o"]);
}

#[test]
fn a_length_is_between_the_synced_and_the_newest() {
    let (home, file) = home_of(100);
    file.write_all_at(b"xx", 102).unwrap();
    let old = ["a: 100o", "a: 100o 20", "a: 100o 40"];
    assert_outcomes(&home, &[&old[..], &["a: 100o 20 2x"]].concat());
    let (home, file) = home_of(0);
    file.write_all_at(&[b'x'; 514], 0).unwrap();
    let all = [
        ["a:", "a: 2560", "a: 5120", "a: 5130", "a: 5140"],
        ["a:", "a: 256x", "a: 512x", "a: 512x 10", "a: 512x 20"],
        ["a:", "a: 2560", "a: 5120", "a: 5120 1x", "a: 5120 2x"],
        ["a:", "a: 256x", "a: 512x", "a: 513x", "a: 514x"],
    ];
    assert_outcomes(&home, all.as_flattened());
}

#[test]
fn a_write_during_a_sync_is_not_synced_by_it() {
    let (home, file) = home_of(1024);
    file.write_all_at(b"x", 0).unwrap();
    let late = file.clone();
    home.while_syncing(move || late.write_all_at(b"y", 1023).unwrap());
    file.sync_data().unwrap();
    assert_outcomes(&home, &["a: 1x 1023o", "a: 1x 1022o 1y"]);
    let other = home.clone();
    home.while_syncing(move || other.rename("a", "b").unwrap());
    file.sync_data().unwrap();
    home.sync().unwrap();
    assert_outcomes(&home, &["b: 1x 1022o 1y"]);
    let other = home.clone();
    home.while_syncing(move || other.remove("b").unwrap());
    home.sync().unwrap();
    assert_outcomes(&home, &["", "b: 1x 1022o 1y"]);
}

#[test]
fn changes_of_names_are_independent() {
    let home = SimulatedHome::new();
    home.create("a").unwrap();
    home.create("b").unwrap();
    assert_outcomes(&home, &["", "a:", "b:", "a:, b:"]);
    home.sync().unwrap();
    home.remove("a").unwrap();
    home.rename("b", "c").unwrap();
    assert_outcomes(&home, &["a:, b:", "b:", "a:, c:", "c:"]);
}

#[test]
fn a_rename_is_whole() {
    let (home, file) = home_of(1);
    let new = home.create("new").unwrap();
    new.write_all_at(b"n", 0).unwrap();
    home.sync().unwrap();
    home.rename("new", "a").unwrap();
    // The rename says nothing about the bytes.
    let old = ["a: 1o, new:", "a: 1o, new: 10", "a: 1o, new: 1n"];
    let renamed = ["a:", "a: 10", "a: 1n"];
    assert_outcomes(&home, &[old, renamed].concat());
    new.sync_data().unwrap();
    assert_outcomes(&home, &["a: 1o, new: 1n", "a: 1n"]);
    // The file without a name does no harm.
    file.write_all_at(b"x", 0).unwrap();
    file.sync_data().unwrap();
    home.sync().unwrap();
    assert_outcomes(&home, &["a: 1n"]);
}

#[test]
fn changes_of_one_name_happen_in_order() {
    let (home, _) = home_of(1);
    home.rename("a", "b").unwrap();
    let next = home.create("a").unwrap();
    next.write_all_at(b"n", 0).unwrap();
    next.sync_data().unwrap();
    assert_outcomes(&home, &["a: 1o", "b: 1o", "a: 1n, b: 1o"]);
    home.sync().unwrap();
    home.remove("a").unwrap();
    home.rename("b", "a").unwrap();
    assert_outcomes(&home, &["a: 1n, b: 1o", "b: 1o", "a: 1o"]);
}

#[test]
fn after_a_failed_sync_a_second_one_writes_nothing() {
    let (home, file) = home_of(1024);
    file.write_all_at(&[b'x'; 1024], 0).unwrap();
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    let failed = file.sync_data().unwrap_err();
    assert_eq!(failed.raw_os_error(), Some(libc::EIO));
    let mut read = [0; 1024];
    assert_eq!(file.read_at(&mut read, 0).unwrap(), 1024);
    assert_eq!(read, [b'x'; 1024]);
    file.sync_data().unwrap();
    let all = ["a: 1024o", "a: 512x 512o", "a: 512o 512x", "a: 1024x"];
    assert_outcomes(&home, &all);
    // Even one byte that is written again takes its sector to the disk, but no other.
    file.write_all_at(b"x", 0).unwrap();
    assert_outcomes(&home, &all);
    file.sync_data().unwrap();
    assert_outcomes(&home, &["a: 512x 512o", "a: 1024x"]);
    file.write_all_at(&[b'x'; 512], 512).unwrap();
    file.sync_data().unwrap();
    assert_outcomes(&home, &["a: 1024x"]);
}

#[test]
fn after_a_failed_sync_a_length_is_lost_until_it_is_written_again() {
    let (home, file) = home_of(0);
    file.write_all_at(b"xx", 0).unwrap();
    home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
    file.sync_data().unwrap_err();
    file.sync_data().unwrap();
    assert_outcomes(&home, &["a:", "a: 10", "a: 1x", "a: 20", "a: 2x"]);
    file.write_all_at(b"y", 0).unwrap();
    file.sync_data().unwrap();
    assert_outcomes(&home, &["a: 1y", "a: 1y 1x"]);
}

#[test]
fn after_a_failed_sync_of_names_only_later_changes_become_sure() {
    let home = SimulatedHome::new();
    home.create("a").unwrap();
    home.create("b").unwrap();
    home.fail_next(CallKind::Sync, Fault::new(libc::EIO));
    home.sync().unwrap_err();
    home.sync().unwrap();
    assert_outcomes(&home, &["", "a:", "b:", "a:, b:"]);
    home.rename("a", "c").unwrap();
    home.sync().unwrap();
    assert_outcomes(&home, &["c:", "b:, c:"]);
}

#[test]
fn a_failed_write_leaves_its_beginning() {
    let (home, file) = home_of(4);
    home.fail_next(CallKind::Write, Fault::after_bytes(libc::ENOSPC, 2));
    let failed = file.write_all_at(b"xxxx", 0).unwrap_err();
    assert_eq!(failed.raw_os_error(), Some(libc::ENOSPC));
    assert_outcomes(&home, &["a: 4o", "a: 2x 2o"]);
    assert_eq!(describe(&home), "a: 2x 2o");
}

/// Makes a call of each kind, and returns how many succeeded.
fn make_calls(home: &SimulatedHome, file: &dyn DiskFile) -> usize {
    let succeeded = [
        home.open("a").is_ok(),
        home.create("b").is_ok(),
        home.rename("b", "c").is_ok(),
        home.remove("c").is_ok(),
        home.names().is_ok(),
        home.sync().is_ok(),
        file.len().is_ok(),
        file.read_at(&mut [0], 0).is_ok(),
        file.write_all_at(b"x", 0).is_ok(),
        file.sync_data().is_ok(),
        file.allocate(2).is_ok(),
    ];
    // The rest of the failed call.
    for name in ["b", "c"] {
        let _ = home.remove(name);
    }
    succeeded.into_iter().filter(|ok| *ok).count()
}

#[test]
fn every_call_can_fail() {
    for (at, kind) in CallKind::ALL.into_iter().enumerate() {
        let (home, file) = home_of(1);
        let fault = Fault::new(libc::EIO);
        home.fail_nth(Some(kind), 1, fault);
        let before = home.calls();
        assert_eq!(make_calls(&home, &*file), 11, "{kind:?}");
        // Two calls remove leftovers.
        assert_eq!(home.calls() - before, 13);
        home.stop_failing();
        home.fail_next(kind, fault);
        // A name that was not created cannot be renamed, nor removed.
        let follow = [0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(make_calls(&home, &*file), 10 - follow[at], "{kind:?}");
        assert_eq!(make_calls(&home, &*file), 11, "{kind:?}");
        home.fail_nth(None, at, fault);
        assert_eq!(make_calls(&home, &*file), 10 - follow[at], "{kind:?}");
        home.fail_from(Some(kind), 0, fault);
        make_calls(&home, &*file);
        assert!(make_calls(&home, &*file) < 11, "{kind:?}");
        home.stop_failing();
        make_calls(&home, &*file);
        assert_eq!(make_calls(&home, &*file), 11, "{kind:?}");
    }
}

#[test]
fn a_cut_of_the_middle_knows_nothing_of_later() {
    let (home, file) = home_of(1);
    file.write_all_at(b"x", 0).unwrap();
    home.acknowledge(7);
    file.sync_data().unwrap();
    home.acknowledge(8);
    let history = home.history();
    let mut newest = RandomChoice::new(0);
    for (after, acknowledged) in [(0, &[][..]), (1, &[]), (2, &[7]), (4, &[7]), (5, &[7, 8])] {
        let cut = history.cut(after, &mut newest);
        assert_eq!(cut.history().acknowledged_by(0), acknowledged);
        assert!(after > 0 || describe(&cut) == "a: 1o");
    }
    // The remains are sure, and can be cut again.
    let cut = history.cut(1, &mut newest);
    assert_eq!(outcomes(&cut), [describe(&cut)].into());
}

#[test]
fn random_choices_reach_all_outcomes_and_no_others() {
    let (home, file) = home_of(1024);
    file.write_all_at(&[b'x'; 1024], 0).unwrap();
    file.write_all_at(&[b'y'; 512], 512).unwrap();
    home.create("b").unwrap();
    home.remove("b").unwrap();
    home.rename("a", "c").unwrap();
    let (history, all) = (home.history(), outcomes(&home));
    let mut choice = RandomChoice::new(3);
    let mut seen = BTreeSet::new();
    for _ in 0..2000 {
        choice.begin_cut();
        seen.insert(describe(&history.cut(history.len(), &mut choice)));
    }
    assert_eq!(seen, all);
}
