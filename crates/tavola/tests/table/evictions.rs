//! Keys that a cache evicts, reported to watchers in the process.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use tavola::serving::{Eviction, ServeTable};
use tavola::{Attributes, Expiry, Table};

fn cache() -> Table {
    let options = Table::options().capacity(4 << 20).max_size(32 << 20);
    options.shards(4).private().expect("a table")
}

fn evicted(table: &Table) -> u64 {
    let stats = table.stats().expect("no error");
    stats.evicted_new + stats.evicted_old
}

#[test]
fn each_evicted_key_is_reported_once_or_lost() {
    const EACH: u32 = 30_000;
    let table = cache();
    table.watch_evictions(true).expect("watched");
    let ended = AtomicBool::new(false);
    let (keys, lost) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3u32)
            .map(|writer| {
                let table = &table;
                scope.spawn(move || {
                    for number in 0..EACH {
                        let key = (writer * EACH + number).to_be_bytes();
                        let attributes = Attributes::default().with_flags(number);
                        table.set_with(key, [0; 300], attributes).expect("set");
                    }
                })
            })
            .collect();
        let watcher = scope.spawn(|| {
            let (mut keys, mut lost) = (HashSet::new(), 0);
            loop {
                let is_last = ended.load(Ordering::Acquire);
                let more = table.take_evictions(&mut |gone| {
                    let key: [u8; 4] = gone.key.try_into().expect("the key");
                    let key = u32::from_be_bytes(key);
                    assert_eq!((gone.key_len, gone.value_len), (4, 300));
                    assert_eq!(gone.attributes.flags, key % EACH);
                    assert!(keys.insert(key), "{key} was reported before");
                });
                lost += more.expect("taken");
                if is_last {
                    return (keys, lost);
                }
            }
        });
        for writer in writers {
            writer.join().expect("no panic");
        }
        ended.store(true, Ordering::Release);
        watcher.join().expect("no panic")
    });
    assert_eq!(keys.len() as u64 + lost, evicted(&table));
    assert!(!keys.is_empty());
    assert!(keys.iter().all(|key| {
        let found = table.contains(key.to_be_bytes());
        !found.expect("read")
    }));
}

#[test]
fn an_evicted_key_is_reported_with_its_attributes() {
    let table = cache();
    table.watch_evictions(true).expect("watched");
    let hour = std::time::Duration::from_secs(3600);
    let long = [b'k'; 20_000];
    table
        .set_with(long, [1; 50_000], Attributes::ttl(hour).with_flags(9))
        .expect("set");
    table
        .mark(&long, tavola::Condition::Always, 0, 5)
        .expect("marked");
    let mut is_reported = false;
    for number in 0..100_000u32 {
        table.set(number.to_le_bytes(), [0; 300]).expect("set");
        let mut check = |gone: &Eviction<'_>| {
            if gone.key_len != 20_000 {
                return;
            }
            is_reported = true;
            assert_eq!((gone.key, gone.value_len), (&long[..256], 50_000));
            assert_eq!((gone.attributes.flags, gone.marks), (9, 5));
            assert!(matches!(gone.attributes.expiry, Expiry::After(left) if left <= hour));
        };
        table.take_evictions(&mut check).expect("taken");
    }
    assert!(is_reported);
}

#[test]
fn nothing_is_noted_where_nobody_watches() {
    let table = cache();
    let fill = || {
        for number in 0..40_000u32 {
            table.set(number.to_le_bytes(), [0; 300]).expect("set");
        }
    };
    let noted = || {
        let mut noted = 0;
        let lost = table.take_evictions(&mut |_| noted += 1).expect("taken");
        noted + lost
    };
    fill();
    assert!(evicted(&table) > 0 && noted() == 0);
    table.watch_evictions(true).expect("watched");
    fill();
    assert!(noted() > 0);
    table.watch_evictions(false).expect("not watched");
    fill();
    assert_eq!(noted(), 0);
}
