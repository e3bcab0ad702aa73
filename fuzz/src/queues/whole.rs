//! What holds of pools that are whole.

use super::op::Held;
use std::collections::BTreeSet;
use tavola::{Error, Queue, QueuePool, Table};

/// What stays wrong with a pool whose first numbers are lost.
const NO_HEAD: &str = "the head of a queue pool";

/// A repaired table: its keys are found, it takes more of them, and nothing is wrong with it but
/// heads of pools, which nothing writes again.
pub(super) fn assert_repaired(table: &Table) {
    let report = table.check().expect("a check");
    let mut problems = report.problems.iter();
    assert!(
        problems.all(|problem| problem.contains(NO_HEAD)),
        "{:?}",
        report.problems
    );
    for entry in table.iter() {
        let (key, value) = entry.expect("an entry of a repaired table");
        let got = table.get(&key).expect("a key of a repaired table");
        assert!(got.as_ref() == Some(&value), "a walk and a get differ");
    }
    match table.set(b"after", b"all") {
        Ok(()) => assert_eq!(table.get(b"after").unwrap().unwrap(), b"all"),
        Err(Error::Full { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Nothing was damaged: the pools are there, and what was popped and not pushed is held.
pub(super) fn assert_unharmed(table: &Table, pools: &[Held]) {
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
    for held in pools {
        let pool = held.pool.as_ref().expect("a pool that is whole opens");
        assert_eq!(held_of(pool), held.elements, "others than were popped");
    }
}

/// The elements that this process holds: those that it may write to.
fn held_of(pool: &QueuePool) -> BTreeSet<u32> {
    let is_held = |element: &u32| match pool.write(*element, 0, &[]) {
        Ok(()) => true,
        Err(Error::NotHeld { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    (0..pool.elements()).filter(is_held).collect()
}

/// Each element of a repaired pool is held by us, or by nobody who lives, or is in one queue;
/// `old` was opened before the repair, `new` after it.
pub(super) fn are_whole(old: &QueuePool, new: &QueuePool) {
    let mut all: Vec<u32> = held_of(new).into_iter().collect();
    let lost = new.lost().expect("those that are lost");
    assert_eq!(
        new.reclaim().expect("those that are lost"),
        lost,
        "others are taken"
    );
    all.extend(lost);
    let queues = queues_of(new);
    for queue in &queues {
        let mut run = [0; 20];
        loop {
            let count = queue.pop_many(&mut run).expect("a queue that is whole");
            if count == 0 {
                break;
            }
            all.extend(&run[..count]);
        }
        assert!(queue.is_empty(), "popped until nothing was left");
    }
    all.sort_unstable();
    let distinct: BTreeSet<u32> = all.iter().copied().collect();
    assert_eq!(
        distinct.len(),
        all.len(),
        "elements are there twice: {all:?}"
    );
    // Another pool of that name may have been made meanwhile.
    if old.element_ptr(0) == new.element_ptr(0) {
        assert_eq!(held_of(old), distinct, "another handle reports others");
    }
    if queues.len() == new.queues().len() {
        assert_eq!(
            distinct.len(),
            new.elements() as usize,
            "elements are nowhere: {all:?}"
        );
    }
    // They are taken back, and come out as they went in.
    if let Some(queue) = queues.first() {
        queue.push_many(&all).expect("what is held is pushed");
        let mut again = vec![0; all.len()];
        assert_eq!(
            queue.pop_many(&mut again).expect("a whole queue"),
            all.len()
        );
        assert_eq!(again, all, "in another order");
        queue.push_many(&all).expect("what is held is pushed");
    }
}

/// Those that their names lead to, which may be damaged.
fn queues_of(pool: &QueuePool) -> Vec<Queue> {
    let names: BTreeSet<String> = pool.queues().into_iter().collect();
    let queue = |name: String| match pool.queue(&name) {
        Ok(queue) => Some(queue),
        Err(Error::NotThere { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    names.into_iter().filter_map(queue).collect()
}
