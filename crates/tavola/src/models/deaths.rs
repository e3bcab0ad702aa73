//! Writers that die in the middle: readers continue, the next writer recovers, nothing is lost.
//!
//! A death is a panic right after a store (`sync::model::outlives`). Locks are left as a panic
//! leaves them, so a thread that waits for one takes it over as from a dead process.

use super::growth::{crowd, fill, maintain, segments, split_and_thin};
use super::moves::Crowd;
use super::{
    Key, Observer, Table, WORDS, Write, beside, explore_until, keys_between, never_missing,
    quietly, region, run_once, scan_meets, set, table, value, version, version_of, writer,
};
use super::{expiry, uids};
use crate::recover::recover;
use crate::sync::model::outlives;
use shuttle::rand::{Rng, thread_rng};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Operations with at most so many stores are ended after each of them.
const EVERY_STORE: u64 = 64;

/// What a thread does that may die.
pub(super) type Work = Arc<dyn Fn(&Table) + Send + Sync>;

/// After which stores of how many a thread has died, over all schedules.
pub(super) struct Deaths {
    pub(super) stores: u64,
    seen: Mutex<BTreeSet<u64>>,
}

impl Deaths {
    /// Of a work that is done on a table filled so.
    pub(super) fn of(
        begin: impl Fn() -> Arc<Table> + Send + Sync + 'static,
        work: &Work,
    ) -> Arc<Self> {
        let counted = Arc::new(Mutex::new(None));
        let (result, work) = (Arc::clone(&counted), Arc::clone(work));
        run_once(move || {
            let table = begin();
            *result.lock().unwrap() = outlives(u64::MAX, || work(&table));
        });
        let stores = counted.lock().unwrap().expect("it lived");
        assert!(stores > 0, "nothing to die of");
        Arc::new(Self {
            stores,
            seen: Mutex::default(),
        })
    }

    /// What is there when a work has come to all but its last store.
    pub(super) fn before_the_last_store(
        &self,
        begin: fn() -> Arc<Table>,
        work: &Work,
    ) -> impl Fn() -> Arc<Table> + Send + Sync + use<> {
        let (work, last) = (Arc::clone(work), self.stores - 1);
        move || {
            let table = begin();
            assert_eq!(outlives(last, || work(&table)), None);
            table
        }
    }

    /// A store to die after: in the second half of all, or of that half, and so on, as often as in
    /// the first. What is published is published late.
    fn draw(&self) -> u64 {
        let most = self.stores >> thread_rng().gen_range(0..4);
        self.stores - thread_rng().gen_range(0..most.max(1))
    }

    /// A writer that dies on its way.
    pub(super) fn meet(self: &Arc<Self>, work: &Work) -> Write {
        let (deaths, work) = (Arc::clone(self), Arc::clone(work));
        Box::new(move |t| {
            let k = deaths.draw();
            if outlives(k, || work(t)).is_none() {
                deaths.seen.lock().unwrap().insert(k);
            }
        })
    }

    /// Explores a model in which a writer of these dies, until it has died after every store.
    pub(super) fn explore(&self, schedules: usize, model: impl Fn() + Send + Sync + 'static) {
        let wanted = self.stores.min(EVERY_STORE) as usize;
        let seen = || self.seen.lock().unwrap();
        explore_until(|| seen().len() >= wanted, schedules, model);
        assert!(
            seen().len() >= wanted,
            "deaths after {:?} of {} stores",
            seen(),
            self.stores
        );
    }
}

/// Another writer, whose writes come through whatever the first one left.
fn survivor() -> Write {
    Box::new(|t| {
        for version in 1..3 {
            set(t, b"survivor", version);
        }
        assert_eq!(version(t, b"survivor"), 2);
    })
}

/// Lets one thread die in `work`, on a table that `fill` made, while others look and one writes.
pub(super) fn dying(
    schedules: usize,
    fill: impl Fn(&Table) + Send + Sync + 'static,
    work: impl Fn(&Table) + Send + Sync + 'static,
    observers: impl Fn() -> Vec<Observer> + Send + Sync + 'static,
) {
    let begin = Arc::new(move || table(&fill));
    let work: Work = Arc::new(work);
    let deaths = Deaths::of(
        {
            let begin = Arc::clone(&begin);
            move || begin()
        },
        &work,
    );
    let seen = Arc::clone(&deaths);
    deaths.explore(schedules, move || {
        let table = begin();
        beside(&table, vec![seen.meet(&work), survivor()], observers());
        assert_eq!(quietly(|| version(&table, b"survivor")), 2);
    });
}

#[test]
fn in_overwrites() {
    let key = *b"the key!";
    dying(
        400,
        move |t| set(t, &key, 1),
        move |t| (2..4).for_each(|version| set(t, &key, version)),
        move || vec![never_missing([key]), scan_meets(&[key])],
    );
}

#[test]
fn in_changes_in_place() {
    let key = *b"the key!";
    dying(
        400,
        move |t| set(t, &key, WORDS),
        move |t| (WORDS + 1..WORDS + 4).for_each(|version| set(t, &key, version)),
        move || vec![never_missing([key]), scan_meets(&[key])],
    );
}

#[test]
fn in_an_insert_and_a_removal() {
    let keys = keys_between(3, 9, 2);
    dying(
        400,
        {
            let stays = keys[0];
            move |t| set(t, &stays, 1)
        },
        {
            let comes = keys[1];
            move |t| {
                set(t, &comes, 1);
                t.remove(comes).unwrap();
            }
        },
        move || {
            let comes = keys[1];
            let observe = move |t: &Table| {
                if let Some(found) = t.get(comes).unwrap() {
                    assert_eq!(version_of(&found), 1);
                }
            };
            vec![never_missing([keys[0]]), Box::new(observe)]
        },
    );
}

#[test]
fn in_changes_of_a_key_with_a_uid() {
    dying(100, uids::named, uids::change, || {
        vec![uids::key_and_uid_agree_by_its_hint()]
    });
}

#[test]
fn in_uids_that_come_and_go() {
    dying(100, uids::named, uids::come_and_go, || {
        vec![uids::key_and_uid_agree_by_its_hint()]
    });
}

#[test]
fn in_giving_the_first_uid() {
    dying(
        100,
        |t| set(t, b"the key!", 1),
        |t| assert!(t.uid_of(b"the key!").unwrap().is_some()),
        || vec![never_missing([*b"the key!"])],
    );
}

#[test]
fn in_chunks_that_come_and_go() {
    dying(100, uids::a_full_chunk, uids::add_and_give_a_chunk, || {
        vec![never_missing([7u64.to_le_bytes()])]
    });
}

#[test]
fn in_moving_items_with_uids() {
    let moved = Arc::new(Mutex::new(Vec::new()));
    let result = Arc::clone(&moved);
    dying(
        60,
        move |t| {
            uids::sparse(t);
            *result.lock().unwrap() = uids::about_to_move(t);
        },
        |t| maintain()(t),
        move || vec![uids::all_keys_and_uids_agree(moved.lock().unwrap().clone())],
    );
}

#[test]
fn in_touches() {
    dying(
        200,
        |t| set(t, &expiry::KEY, 1),
        expiry::touches,
        || vec![never_missing([expiry::KEY]), expiry::entries()],
    );
}

#[test]
fn in_a_touch_to_the_past_and_what_follows() {
    dying(
        200,
        expiry::mortal,
        |t| {
            let past = crate::Expiry::PAST;
            assert!(t.touch(expiry::KEY, past).unwrap());
            assert!(t.add(expiry::KEY, value(2)).unwrap());
        },
        || {
            let mut last = 0;
            let observe = move |t: &Table| {
                // The old value, nothing, the new one.
                let now = match t.get(expiry::KEY).unwrap() {
                    Some(found) => 2 * version_of(&found) - 1,
                    None => 2,
                };
                assert!(now >= last, "{now} after {last}");
                last = now;
            };
            vec![Box::new(observe)]
        },
    );
}

#[test]
fn in_a_search_for_the_expired() {
    let keys = expiry::searched_keys(3);
    let (gone, stays) = (keys[..2].to_vec(), keys[2]);
    dying(
        200,
        {
            let gone = gone.clone();
            move |t| {
                set(t, &stays, 1);
                gone.iter().for_each(|key| expiry::expired(t, key));
            }
        },
        expiry::search_home,
        move || {
            let gone = gone.clone();
            let observe = move |t: &Table| {
                let found = |key| t.get(key).unwrap().is_some();
                assert!(!gone.iter().any(|key| found(&key[..])));
            };
            vec![never_missing([stays]), Box::new(observe)]
        },
    );
}

#[test]
fn in_counting() {
    dying(
        400,
        |t| t.set(b"n", b"7").unwrap(),
        |t| (0..2).for_each(|_| assert!(t.incr(b"n", 1).unwrap() > 7)),
        || {
            let mut last = 7;
            vec![Box::new(move |t| {
                let text = t
                    .get(b"n")
                    .unwrap()
                    .expect("a key that is there throughout");
                let now = std::str::from_utf8(&text).unwrap().parse().unwrap();
                assert!((last..10).contains(&now), "{now} after {last}");
                last = now;
            })]
        },
    );
}

#[test]
fn in_large_values() {
    let large = |version: u8| vec![version; 20_000 + usize::from(version) * 8];
    dying(
        300,
        move |t| t.set(b"k", large(1)).unwrap(),
        move |t| (2..4).for_each(|version| t.set(b"k", large(version)).unwrap()),
        move || {
            vec![Box::new(move |t| {
                let found = t
                    .get(b"k")
                    .unwrap()
                    .expect("a key that is there throughout");
                assert_eq!(found, large(found[0]), "a torn value");
            })]
        },
    );
}

/// Lets a thread die while the crowd's key is moved.
fn while_it_is_moved(
    fill: impl Fn(&Crowd, &Table) + Send + Sync + 'static,
    work: impl Fn(&Crowd, &Table) + Send + Sync + 'static,
) {
    let crowd = Arc::new(Crowd::new());
    let (filled, worked) = (Arc::clone(&crowd), Arc::clone(&crowd));
    dying(
        400,
        move |t| fill(&filled, t),
        move |t| work(&worked, t),
        move || {
            let present = [&crowd.b[..], &crowd.d[..], &[crowd.moved]].concat();
            vec![never_missing([crowd.moved]), scan_meets(&present)]
        },
    );
}

#[test]
fn while_a_key_is_moved_away() {
    while_it_is_moved(Crowd::fill, |crowd, t| {
        crowd.push_away(t, 2);
        assert!(crowd.is_away(t));
    });
}

#[test]
fn while_a_key_is_moved_home() {
    while_it_is_moved(
        |crowd, t| {
            crowd.fill(t);
            crowd.push_away(t, 2);
        },
        |crowd, t| {
            crowd.push_home(t, 2);
            assert!(!crowd.is_away(t));
        },
    );
}

#[test]
fn in_a_split() {
    let keys = crowd();
    let (last, first) = keys
        .split_last()
        .map(|(last, first)| (*last, first.to_vec()))
        .unwrap();
    let present = first.clone();
    dying(
        400,
        move |t| fill(t, &first),
        move |t| {
            set(t, &last, 1);
            assert!(segments(t) >= 2);
        },
        move || vec![never_missing(present.clone()), scan_meets(&present)],
    );
}

#[test]
fn in_a_merge() {
    let keys = crowd();
    let left = keys[..10].to_vec();
    let present = left.clone();
    dying(
        400,
        move |t| split_and_thin(t, &keys, &left),
        |t| maintain()(t),
        move || vec![never_missing(present.clone()), scan_meets(&present)],
    );
}

#[test]
fn in_a_recovery() {
    let keys = crowd();
    let fill_all = {
        let keys = keys.clone();
        move |t: &Table| fill(t, &keys)
    };
    let again: Work = Arc::new(|t| {
        let lock = crate::lock::ShardLock::acquire(region(t), 0, writer(t));
        assert_eq!(recover(&lock.unwrap().0), 0);
    });
    let key: Key = keys[3];
    let write: Work = Arc::new(move |t| set(t, &key, 2));
    let begin = Arc::new(move || table(&fill_all));
    let of = |work: &Work| {
        Deaths::of(
            {
                let begin = Arc::clone(&begin);
                move || begin()
            },
            work,
        )
    };
    let (in_write, in_recovery) = (of(&write), of(&again));
    let seen = Arc::clone(&in_recovery);
    in_recovery.explore(300, move || {
        let table = begin();
        let writers = vec![in_write.meet(&write), seen.meet(&again), survivor()];
        beside(
            &table,
            writers,
            vec![never_missing(keys.clone()), scan_meets(&keys)],
        );
    });
}
