//! Pools of queues for tests.

use super::{Dir, assert_clean};
use tavola::{Queue, QueueOptions, QueuePool, Table};

pub const ELEMENTS: u32 = 1000;

pub fn options() -> QueueOptions {
    QueueOptions::new(ELEMENTS, 24).queues(["free", "todo", "done"])
}

pub fn three(pool: &QueuePool) -> [Queue; 3] {
    ["free", "todo", "done"].map(|name| pool.queue(name).unwrap())
}

/// Runs a test over a pool of its own file, one beside a table, and one in process memory.
pub fn over_every_pool(mut test: impl FnMut(&QueuePool)) {
    let small = Table::options().max_size(4 << 20).shards(1);
    let table = small.private().unwrap();
    test(&options().create_in(&table, "beside").unwrap());
    assert_clean(&table);
    if cfg!(miri) {
        return;
    }
    let dir = Dir::new();
    test(&options().create(dir.table("own")).unwrap());
    assert_clean(&Table::open(dir.table("own")).unwrap());
    let table = small.create(dir.table("t")).unwrap();
    table.set(b"k", b"v").unwrap();
    test(&options().create_in(&table, "beside").unwrap());
    assert_eq!(table.get(b"k").unwrap().unwrap(), b"v");
    assert_clean(&table);
}

/// Panics unless each element is in one of the queues, or is one of `held`.
pub fn assert_whole(pool: &QueuePool, held: &[u32]) {
    let mut all: Vec<u32> = held.to_vec();
    for name in pool.queues() {
        let queue = pool.queue(&name).unwrap();
        let mut run = [0; 300];
        loop {
            match queue.pop_many(&mut run).unwrap() {
                0 => break,
                count => all.extend(&run[..count]),
            }
        }
    }
    all.sort_unstable();
    assert_eq!(all, (0..pool.elements()).collect::<Vec<_>>());
}
