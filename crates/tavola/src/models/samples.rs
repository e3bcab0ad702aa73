//! Samples of what is done with a cache: two who take one, and who reads them.

use super::{Observer, Table, Write, beside, core, explore, open_up, quietly, region};
use crate::layout::{SAMPLES, Sampled};
use crate::sync::Ordering;
use std::sync::Arc;

fn cache() -> Arc<Table> {
    quietly(|| {
        let options = Table::options().max_size(1 << 20).shards(1);
        let table = options.capacity(256 << 10).private();
        let table = table.expect("a private table");
        table.set(b"first", b"attaches").expect("a small value");
        open_up(region(&table));
        Arc::new(table)
    })
}

fn sampled(number: u64) -> Sampled {
    Sampled {
        at_ms: 1000 * number,
        hits: 7 * number,
        misses: 5 * number,
        writes: 3 * number,
        evicted: 2 * number,
        expired: number,
    }
}

/// One that was stopped for as long as the ring lasts continues beside the next in its place.
#[test]
fn a_sample_of_two_is_none() {
    explore(400, || {
        let table = cache();
        quietly(|| region(&table).sample(5).write(&sampled(1)));
        let write =
            |number| -> Write { Box::new(move |t| region(t).sample(5).write(&sampled(number))) };
        let observe = || -> Observer {
            Box::new(|t| {
                let found = region(t).sample(5).read();
                let is_whole = found.is_none_or(|found| (1..=3).map(sampled).any(|s| s == found));
                assert!(is_whole, "{found:?}");
            })
        };
        beside(&table, vec![write(2), write(3)], vec![observe(), observe()]);
    });
}

/// Of two who find that one is due, one takes it.
#[test]
fn a_sample_is_taken_once() {
    explore(200, || {
        let table = cache();
        let count = |t: &Table| {
            let all = (0..SAMPLES).filter_map(|number| region(t).sample(number).read());
            all.count()
        };
        let before = quietly(|| {
            let word = &region(&table).superblock().sampled;
            // The number stays; the time is that of long ago.
            word.store(word.load(Ordering::Relaxed) >> 42 << 42, Ordering::Relaxed);
            count(&table)
        });
        let sample = || -> Write { Box::new(|t| core(t).sample()) };
        let observe: Observer = Box::new(|t| {
            let done = core(t).done();
            let recent = core(t).recent(&done);
            assert!(recent.iter().all(|one| one.writes <= 1 && one.hits == 0));
        });
        beside(&table, vec![sample(), sample()], vec![observe]);
        quietly(|| assert_eq!(count(&table), before + 1));
    });
}
