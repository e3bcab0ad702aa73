//! Transactions: readers see all changes of one or none, sums stay exact, and what a dead one left
//! is decided alike for all its keys.

#[cfg(feature = "shuttle")]
use super::deaths::{Deaths, Work};
use super::{
    Key, Observer, Table, Write, beside, explore, open_up, quietly, region, set, version_of,
};
use crate::error::Error;
use crate::index::locate::Hash;
use crate::layout::Hint;
use crate::table::Begin;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A table of two shards.
fn table(fill: impl FnOnce(&Table)) -> Arc<Table> {
    quietly(|| {
        let options = Table::options().max_size(1 << 20).shards(2);
        let table = options.private().expect("a private table");
        // Attaches, and gives both shards a segment and slabs.
        for number in 0..16_u64 {
            set(&table, &number.to_le_bytes(), 1);
        }
        fill(&table);
        open_up(region(&table));
        Arc::new(table)
    })
}

/// A key of each shard.
fn keys() -> [Key; 2] {
    keys_from(100)
}

/// A key of each shard, which are numbers from this one on.
fn keys_from(first: u64) -> [Key; 2] {
    let sample = table(|_| ());
    [0, 1].map(|shard| {
        let mut all = (first..).map(u64::to_le_bytes);
        let is_in = |key: &Key| Hash::of(region(&sample), key).shard() == shard;
        all.find(is_in).expect("half of all keys")
    })
}

fn version_in(table: &Table, key: &[u8]) -> u8 {
    let found = table.get(key).expect("no damage");
    found.map_or(0, |found| version_of(&found))
}

/// Sets all keys to a version, by a transaction.
fn set_all(table: &Table, keys: &[Key], version: u8) {
    let mut t = table.begin(Begin::Optimistic).expect("no cache");
    for key in keys {
        t.set(key, super::value(version)).expect("not too many");
    }
    assert!(t.commit().expect("room"), "it has read nothing");
}

/// A reader for whom the version never falls, whichever of the keys it reads.
fn one_version(keys: [Key; 2]) -> Observer {
    let mut least = 0;
    Box::new(move |table| {
        for key in [keys[1], keys[0], keys[1]] {
            let now = version_in(table, &key);
            assert!(now >= least, "version {now} after {least}");
            least = now;
        }
    })
}

/// A reader that sees all keys at one moment.
fn all_alike(keys: [Key; 2]) -> Observer {
    Box::new(move |table| {
        let versions = table.view(|t| {
            let mut versions = [0; 2];
            for (key, version) in keys.iter().zip(&mut versions) {
                *version = t.get(key)?.map_or(0, |found| version_of(&found));
            }
            Ok::<_, Error>(versions)
        });
        let [first, second] = versions.expect("no damage");
        assert_eq!(first, second);
    })
}

#[test]
fn readers_see_all_or_nothing() {
    let keys = keys();
    explore(400, move || {
        let table = table(|t| set_all(t, &keys, 1));
        let write: Write = Box::new(move |t| (2..5).for_each(|version| set_all(t, &keys, version)));
        beside(&table, vec![write], vec![one_version(keys)]);
        assert_eq!(quietly(|| version_in(&table, &keys[0])), 4);
    });
}

#[test]
fn two_side_by_side_are_decided_by_themselves() {
    let pairs = [keys_from(100), keys_from(1000)];
    explore(400, move || {
        let table = table(|t| pairs.iter().for_each(|keys| set_all(t, keys, 1)));
        let writes = pairs.map(|keys| -> Write {
            Box::new(move |t| (2..4).for_each(|version| set_all(t, &keys, version)))
        });
        beside(&table, writes.into(), pairs.map(one_version).into());
    });
}

#[test]
fn views_see_one_moment() {
    let keys = keys();
    explore(200, move || {
        let table = table(|t| set_all(t, &keys, 1));
        let write: Write = Box::new(move |t| (2..4).for_each(|version| set_all(t, &keys, version)));
        beside(&table, vec![write], vec![all_alike(keys)]);
    });
}

/// A reader that scans, for whom neither key is ever missing, and the version never falls.
fn scanned(keys: [Key; 2]) -> Observer {
    let mut least = 0;
    Box::new(move |table| {
        let mut met = BTreeSet::new();
        for entry in table.iter() {
            let (key, value) = entry.expect("no damage");
            if keys.iter().any(|one| key == one) {
                let now = version_of(&value);
                assert!(now >= least, "version {now} after {least}");
                least = now;
                met.insert(key);
            }
        }
        assert_eq!(met.len(), keys.len(), "a key is missing");
    })
}

#[test]
fn scans_meet_every_key() {
    let keys = keys();
    explore(200, move || {
        let table = table(|t| set_all(t, &keys, 1));
        let write: Write = Box::new(move |t| (2..4).for_each(|version| set_all(t, &keys, version)));
        beside(&table, vec![write], vec![scanned(keys)]);
    });
}

#[test]
fn keys_come_and_go_together() {
    let keys = keys();
    explore(200, move || {
        let table = table(|_| ());
        let write: Write = Box::new(move |t| {
            set_all(t, &keys, 1);
            let mut gone = t.begin(Begin::Optimistic).expect("no cache");
            for key in keys {
                assert!(gone.remove(key).expect("no damage"));
            }
            assert!(gone.commit().expect("no damage"), "nobody else writes");
        });
        beside(&table, vec![write], vec![all_alike(keys)]);
        assert_eq!(quietly(|| version_in(&table, &keys[1])), 0);
    });
}

/// A reader by uid and by key, for whom the version never falls.
fn both_ways(key: Key, uid: Hint) -> Observer {
    let mut least = 0;
    Box::new(move |table| {
        let by_uid = table.get_by_uid(uid).expect("no damage").expect("it stays");
        for now in [version_of(&by_uid), version_in(table, &key)] {
            assert!(now >= least, "version {now} after {least}");
            least = now;
        }
    })
}

#[test]
fn reads_by_uid_agree() {
    let keys = keys();
    explore(200, move || {
        let table = table(|t| set_all(t, &keys, 1));
        let uid = quietly(|| table.set_uid(keys[0], super::value(2)).expect("room"));
        let write: Write = Box::new(move |t| (3..5).for_each(|version| set_all(t, &keys, version)));
        beside(&table, vec![write], vec![both_ways(keys[0], uid)]);
    });
}

fn number_of(table: &Table, key: &[u8]) -> i64 {
    table.add_number(key, 0).expect("a number")
}

#[test]
fn sums_are_exact() {
    let keys = keys();
    explore(200, move || {
        let table = table(|t| keys.iter().for_each(|key| t.set(key, "10").expect("room")));
        let moves = |from: usize| -> Write {
            Box::new(move |t| {
                let moved = t.transaction(|t| {
                    t.add_number(keys[from], -1)?;
                    t.add_number(keys[1 - from], 1)
                });
                moved.expect("room");
            })
        };
        let adds: Write = Box::new(move |t| {
            t.add_number(keys[0], 5).expect("room");
        });
        beside(&table, vec![moves(0), moves(1), adds], Vec::new());
        let sums = quietly(|| keys.map(|key| number_of(&table, &key)));
        assert_eq!(sums, [15, 10]);
    });
}

#[test]
fn those_with_the_turn_do_not_conflict() {
    let keys = keys();
    explore(100, move || {
        let table = table(|t| keys.iter().for_each(|key| t.set(key, "10").expect("room")));
        let adds = || -> Write {
            Box::new(move |t| {
                let added = t.transaction_once(|t| {
                    t.add_number(keys[0], 1)?;
                    t.add_number(keys[1], 1)
                });
                added.expect("no conflict");
            })
        };
        beside(&table, vec![adds(), adds(), adds()], Vec::new());
        let sums = quietly(|| keys.map(|key| number_of(&table, &key)));
        assert_eq!(sums, [13, 13]);
    });
}

/// Lets a transaction die after each of its stores, while others read and one writes.
#[cfg(feature = "shuttle")]
fn dying(
    schedules: usize,
    fill: fn(&Table, &[Key; 2]),
    work: fn(&Table, &[Key; 2]),
    look: fn([Key; 2]) -> Observer,
) {
    let keys = keys();
    let begin = move || table(|t| fill(t, &keys));
    let work: Work = Arc::new(move |t: &Table| work(t, &keys));
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(schedules, move || {
        let table = begin();
        // Takes the locks of both shards over.
        let survivor: Write = Box::new(move |t| {
            for number in 0..16_u64 {
                set(t, &number.to_le_bytes(), 2);
            }
        });
        beside(&table, vec![seen.meet(&work), survivor], vec![look(keys)]);
        let [first, second] = quietly(|| keys.map(|key| version_in(&table, &key)));
        assert_eq!(first, second, "decided differently");
        // The keys can be changed again.
        quietly(|| set_all(&table, &keys, 9));
        assert_eq!(quietly(|| version_in(&table, &keys[0])), 9);
    });
}

#[cfg(feature = "shuttle")]
#[test]
fn that_die_in_overwrites_are_decided_alike() {
    dying(
        100,
        |t, keys| set_all(t, keys, 1),
        |t, keys| set_all(t, keys, 2),
        one_version,
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn that_die_in_inserts_are_decided_alike() {
    dying(100, |_, _| (), |t, keys| set_all(t, keys, 2), one_version);
}

#[cfg(feature = "shuttle")]
#[test]
fn that_die_in_removals_are_decided_alike() {
    let removes = |t: &Table, keys: &[Key; 2]| {
        let mut gone = t.begin(Begin::Optimistic).expect("no cache");
        for key in keys {
            assert!(gone.remove(key).expect("no damage"));
        }
        assert!(gone.commit().expect("no damage"), "nobody else writes");
    };
    dying(
        100,
        |t, keys| set_all(t, keys, 2),
        removes,
        |_| Box::new(|_| ()),
    );
}

#[cfg(feature = "shuttle")]
#[test]
fn that_die_with_uids_are_decided_alike() {
    let named = |t: &Table, keys: &[Key; 2]| {
        for key in keys {
            t.set_uid(key, super::value(1)).expect("room");
        }
    };
    dying(100, named, |t, keys| set_all(t, keys, 2), one_version);
}
