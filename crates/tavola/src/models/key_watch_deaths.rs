//! A writer dies after any of its stores: who watches the key it wrote is woken as soon as another
//! has the shard's lock.

use super::deaths::{Deaths, Work};
use super::key_watch::KEY;
use super::{Table, Write, beside, set, table, version};
use std::sync::Arc;
use std::time::Duration;

fn begin() -> Arc<Table> {
    table(|t| {
        set(t, &KEY, 1);
        // Its record stays in use: the writer counts.
        drop(t.watch_key(KEY).unwrap());
    })
}

/// Watches until the key has another version than the first.
fn watches() -> Write {
    Box::new(|t| {
        let mut watch = t.watch_key(KEY).unwrap();
        while version(t, &KEY) == 1 {
            assert!(watch.wait(Duration::MAX).unwrap());
        }
    })
}

#[test]
fn of_a_thread_that_sets_the_key() {
    let work: Work = Arc::new(|t| set(t, &KEY, 2));
    let deaths = Deaths::of(begin, &work);
    let seen = Arc::clone(&deaths);
    deaths.explore(400, move || {
        let table = begin();
        let dies = seen.meet(&work);
        let then: Write = Box::new(move |t| {
            dies(t);
            // Takes the lock over, if there is one to take over.
            set(t, b"another", 1);
            if version(t, &KEY) == 1 {
                set(t, &KEY, 3);
            }
        });
        beside(&table, vec![then, watches()], Vec::new());
    });
}
