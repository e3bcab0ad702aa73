//! Durable tables: what is in memory and what a rebuild reads from the journal agree, whoever died
//! where, and nobody waits for a sync without being woken.

#[cfg(feature = "shuttle")]
use super::deaths::{Deaths, Work};
#[cfg(feature = "shuttle")]
use super::run_once;
use super::{Key, Observer, Table, Write, beside, explore, open_up, quietly, region, value};
use crate::index::Hash;
#[cfg(feature = "shuttle")]
use crate::sync::model::{forget_numbers, outlives};
use crate::sys::disk::simulated::SimulatedHome;
use crate::sys::disk::simulated::choice::Choice;
use crate::sys::disk::simulated::fault::{CallKind, Fault};
use crate::table::Begin;
use crate::table::durable::tests::{Contents, contents, create_as, open_as};
use crate::values::Durability;
use std::sync::Arc;

/// A table of two shards, and its directory.
fn table(
    durability: Durability,
    fill: impl FnOnce(&Table, &[Key; 2]),
    keys: [Key; 2],
) -> (Arc<Table>, SimulatedHome) {
    quietly(|| {
        #[cfg(feature = "shuttle")]
        forget_numbers();
        let home = SimulatedHome::new();
        let table = create_as(&home, durability).expect("a new directory");
        for key in 0..4_u64 {
            table.set(key.to_le_bytes(), value(1)).expect("room");
        }
        fill(&table, &keys);
        open_up(region(&table));
        (Arc::new(table), home)
    })
}

/// A key of each shard.
fn keys() -> [Key; 2] {
    let home = SimulatedHome::new();
    let sample = create_as(&home, Durability::Os).expect("a new directory");
    [0, 1].map(|shard| {
        let mut all = (100_u64..).map(u64::to_le_bytes);
        let is_in = |key: &Key| Hash::of(region(&sample), key).shard() == shard;
        all.find(is_in).expect("half of all keys")
    })
}

/// The oldest state that a power failure may leave.
struct Oldest;

impl Choice for Oldest {
    fn pick(&mut self, _: usize) -> usize {
        0
    }
}

/// Returns what a table has that is rebuilt after a power failure which takes all it may.
fn after_power_failure(home: &SimulatedHome) -> Contents {
    let history = home.history();
    let left = history.cut(history.len(), &mut Oldest);
    contents(&open_as(&left, Durability::Os).expect("a journal without damage"))
}

/// In the end, a rebuilt table has what the memory has.
fn agree(table: &Table, home: &SimulatedHome) {
    quietly(|| {
        table.sync().expect("no fault");
        let found = contents(table);
        assert_eq!(after_power_failure(home), found, "the journal disagrees");
    });
}

fn set(table: &Table, key: &[u8], version: u8) {
    table.set(key, value(version)).expect("room");
}

fn set_both(table: &Table, keys: &[Key; 2], version: u8) {
    let mut t = table.begin(Begin::Optimistic).expect("no cache");
    for key in keys {
        t.set(key, value(version)).expect("not too many");
    }
    assert!(t.commit().expect("room"), "it has read nothing");
}

/// Lets one thread die in a work while another writes to both shards, and takes their locks over.
#[cfg(feature = "shuttle")]
fn dying(schedules: usize, fill: fn(&Table, &[Key; 2]), work: fn(&Table, &[Key; 2])) {
    let keys = keys();
    let begin = move || table(Durability::Os, fill, keys);
    let work: Work = Arc::new(move |t: &Table| work(t, &keys));
    let deaths = Deaths::of(move || begin().0, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(schedules, move || {
        let (table, home) = begin();
        let survivor: Write = Box::new(|t| {
            for number in 0..4_u64 {
                set(t, &number.to_le_bytes(), 2);
            }
        });
        beside(&table, vec![seen.meet(&work), survivor], Vec::new());
        agree(&table, &home);
    });
}

/// JRN-1: a record is before the tail if and only if its change is made.
#[cfg(feature = "shuttle")]
#[test]
fn writers_that_die_leave_what_their_records_say() {
    dying(
        100,
        |t, keys| set(t, &keys[0], 1),
        |t, keys| {
            set(t, &keys[0], 2);
            set(t, &keys[1], 2);
            t.remove(keys[0]).expect("no damage");
        },
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn changes_in_place_that_die_are_as_recorded() {
    dying(
        100,
        |t, keys| set(t, &keys[0], super::WORDS),
        |t, keys| (1..4).for_each(|more| set(t, &keys[0], super::WORDS + more)),
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn transactions_that_die_are_as_recorded() {
    dying(
        100,
        |t, keys| set_both(t, keys, 1),
        |t, keys| set_both(t, keys, 2),
    );
}

/// Two threads that die: the second one while it takes over from the first.
#[cfg(feature = "shuttle")]
#[test]
fn a_taker_that_dies_leaves_what_the_records_say() {
    let keys = keys();
    let begin = move || table(Durability::Os, |t, keys| set_both(t, keys, 1), keys);
    let work: Work = Arc::new(move |t: &Table| keys.iter().for_each(|key| set(t, key, 2)));
    let deaths = Deaths::of(move || begin().0, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(100, move || {
        let (table, home) = begin();
        let survivor: Write = Box::new(move |t| keys.iter().for_each(|key| set(t, key, 3)));
        let dead = vec![seen.meet(&work), seen.meet(&work), survivor];
        beside(&table, dead, Vec::new());
        agree(&table, &home);
    });
}

/// A snapshot that begins behind the record of a dead thread has its change.
#[cfg(feature = "shuttle")]
#[test]
fn a_snapshot_after_a_death_has_what_was_recorded() {
    let keys = keys();
    let begin = move || table(Durability::Os, |t, keys| set_both(t, keys, 1), keys);
    for work in [
        Arc::new(move |t: &Table| set(t, &keys[0], 2)) as Work,
        Arc::new(move |t: &Table| set_both(t, &keys, 2)),
    ] {
        let deaths = Deaths::of(move || begin().0, &work);
        // Each of them, as nobody else writes meanwhile.
        let last = deaths.stores;
        for k in 1..=last {
            let work = Arc::clone(&work);
            run_once(move || {
                let (table, home) = begin();
                let survived = outlives(k, || work(&table));
                quietly(|| {
                    assert!(table.snapshot().expect("no fault"));
                    // Takes the locks of both shards over.
                    (0..4_u64).for_each(|number| set(&table, &number.to_le_bytes(), 2));
                    agree(&table, &home);
                });
                assert!(survived.is_none() || k == last);
            });
        }
    }
}

/// JRN-2: a change that follows what its writer saw has a later record.
#[test]
fn what_acts_on_a_change_is_recorded_behind_it() {
    let keys = keys();
    explore(100, move || {
        let (table, home) = table(Durability::Os, |t, keys| set(t, &keys[0], 1), keys);
        let changes: Write = Box::new(move |t| (2..5).for_each(|v| set(t, &keys[0], v)));
        let files = home.clone();
        let follows: Write = Box::new(move |t| {
            for _ in 0..3 {
                let seen = super::version(t, &keys[0]);
                set(t, &keys[1], seen);
                quietly(|| check_order(t, &files, &keys[0], seen));
            }
        });
        beside(&table, vec![changes, follows], Vec::new());
        agree(&table, &home);
    });
}

/// A version that was seen is in the journal by now.
fn check_order(table: &Table, home: &SimulatedHome, key: &Key, seen: u8) {
    let files = super::core(table).journal.as_deref();
    files
        .expect("it is durable")
        .write_out(region(table), super::writer(table))
        .expect("no fault");
    let left = SimulatedHome::from_image(home.image(), Vec::new());
    let found = contents(&open_as(&left, Durability::Os).expect("no damage"));
    let recorded = super::version_of(&found[&key.to_vec()]);
    assert!(recorded >= seen, "{recorded} is recorded, {seen} was seen");
}

/// A sync that others wait for, of records that came before it, while it ran, and after it: all
/// are woken. Nothing that was acknowledged is lost.
#[test]
fn nobody_waits_for_a_sync_without_being_woken() {
    let keys = keys();
    explore(100, move || {
        let (table, home) = table(Durability::Commit, |_, _| (), keys);
        let write = |number: u8| -> Write {
            let seen = home.clone();
            Box::new(move |t| {
                for version in 1..3 {
                    set(t, &[number], version);
                    quietly(|| {
                        let found = after_power_failure(&seen);
                        assert_eq!(found.get(&vec![number]), Some(&value(version)));
                    });
                }
            })
        };
        beside(&table, vec![write(0), write(1), write(2)], Vec::new());
    });
}

#[cfg(feature = "shuttle")]
#[test]
fn a_sync_whose_owner_dies_is_done_by_another() {
    let keys = keys();
    let begin = move || table(Durability::Commit, |_, _| (), keys);
    let work: Work = Arc::new(|t: &Table| set(t, b"dies", 1));
    let deaths = Deaths::of(move || begin().0, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(50, move || {
        let (table, home) = begin();
        let write = |key: Key| -> Write {
            let left = home.clone();
            Box::new(move |t| {
                set(t, &key, 2);
                quietly(|| {
                    let found = after_power_failure(&left);
                    assert_eq!(found.get(key.as_slice()), Some(&value(2)));
                });
            })
        };
        let all = vec![seen.meet(&work), write(keys[0]), write(keys[1])];
        beside(&table, all, Vec::new());
        agree(&table, &home);
    });
}

/// A sync fails: what then was not acknowledged may be lost, and nothing else.
#[test]
fn a_sync_that_fails_is_not_trusted() {
    let keys = keys();
    explore(600, move || {
        let (table, home) = table(Durability::Commit, |_, _| (), keys);
        let write = |number: u8| -> Write {
            let left = home.clone();
            Box::new(move |t| {
                let is_sure = t.set([number], value(1)).is_ok();
                quietly(|| {
                    let found = after_power_failure(&left);
                    assert!(!is_sure || found.contains_key(&vec![number]));
                });
            })
        };
        home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
        beside(&table, vec![write(0), write(1), write(2)], Vec::new());
    });
}

/// A failed journal goes on while others write: no write is accepted before the snapshot is sure.
#[test]
fn writes_beside_a_snapshot_that_heals_are_sure() {
    let keys = keys();
    explore(40, move || {
        let (table, home) = table(Durability::Commit, |_, _| (), keys);
        quietly(|| {
            home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
            assert!(table.set(b"unsure", value(1)).is_err());
        });
        let left = home.clone();
        let writes: Write = Box::new(move |t| {
            for number in 0..4_u8 {
                let is_sure = t.set([number], value(1)).is_ok();
                quietly(|| {
                    let found = after_power_failure(&left);
                    let has = |key: &[u8]| found.contains_key(key);
                    assert!(!is_sure || has(&[number]) && has(b"unsure"));
                });
            }
        });
        let heals: Write = Box::new(|t| assert!(t.snapshot().expect("no fault")));
        beside(&table, vec![writes, heals], Vec::new());
        agree(&table, &home);
    });
}

/// Others write while a snapshot is made: it and the journal behind it are what the memory is, and
/// after a power failure at any time they are a table of one moment.
fn beside_a_snapshot(
    schedules: usize,
    fill: fn(&Table, &[Key; 2]),
    writes: Vec<fn(&Table, &[Key; 2])>,
) {
    let keys = keys();
    explore(schedules, move || {
        let (table, home) = table(Durability::Os, fill, keys);
        let mut all: Vec<Write> = Vec::new();
        for write in &writes {
            let write = *write;
            all.push(Box::new(move |t| write(t, &keys)));
        }
        let left = home.clone();
        all.push(Box::new(move |t| {
            assert!(t.snapshot().expect("no fault"));
            // Whatever is not synced is lost: the snapshot needs nothing of that.
            quietly(|| drop(after_power_failure(&left)));
        }));
        beside(&table, all, Vec::<Observer>::new());
        agree(&table, &home);
    });
}

#[test]
fn a_snapshot_beside_changes_agrees() {
    beside_a_snapshot(
        60,
        |t, keys| {
            set(t, &keys[0], 1);
            set(t, &keys[1], super::WORDS);
        },
        vec![
            |t, keys| {
                set(t, &keys[0], 2);
                set(t, b"new", 1);
                t.remove(keys[0]).expect("no damage");
            },
            |t, keys| (1..4).for_each(|more| set(t, &keys[1], super::WORDS + more)),
        ],
    );
}

#[test]
fn a_snapshot_beside_transactions_agrees() {
    beside_a_snapshot(
        60,
        |t, keys| set_both(t, keys, 1),
        vec![|t, keys| (2..4).for_each(|version| set_both(t, keys, version))],
    );
}

/// Bytes of a value that goes to the journal in pieces.
const LARGE: usize = 40_000;

#[test]
fn a_snapshot_beside_large_values_agrees() {
    beside_a_snapshot(
        10,
        |_, _| (),
        vec![|t, keys| t.set(keys[0], vec![7; LARGE]).expect("room")],
    );
}

#[test]
fn a_snapshot_beside_large_values_in_a_transaction_agrees() {
    beside_a_snapshot(
        10,
        |_, _| (),
        vec![|t, keys| {
            let mut all = t.begin(Begin::Optimistic).expect("no cache");
            for key in keys {
                all.set(key, vec![7; LARGE]).expect("not too many");
            }
            assert!(all.commit().expect("room"), "it has read nothing");
        }],
    );
}

/// A key is set with a tag while that is invalidated.
#[test]
fn tags_that_are_invalidated_meanwhile_agree() {
    let keys = keys();
    explore(100, move || {
        let (table, home) = table(Durability::Os, |_, _| (), keys);
        let tags = quietly(|| table.fetch_tags(&["tag"]).expect("room"));
        let first = tags;
        let sets: Write = Box::new(move |t| {
            let plain = crate::Attributes::default();
            t.set_tagged(keys[0], value(1), plain, &first)
                .expect("room");
        });
        let commits: Write = Box::new(move |t| {
            let mut all = t.begin(Begin::Optimistic).expect("no cache");
            all.set_tagged(keys[1], value(1), crate::Attributes::default(), &tags)
                .expect("not too many");
            assert!(all.commit().expect("room"), "it has read nothing");
        });
        let invalidates: Write = Box::new(|t| {
            t.invalidate_tag("tag").expect("no damage");
            t.fetch_tags(&["tag"]).expect("room");
        });
        beside(&table, vec![sets, commits, invalidates], Vec::new());
        agree(&table, &home);
    });
}
