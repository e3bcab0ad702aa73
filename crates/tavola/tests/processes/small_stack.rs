//! All operations work in a thread with a small stack: programs have many threads, and give them
//! as little as they need.

use crate::support::part::alone;
use crate::support::{Dir, assert_clean};
use tavola::{LeaseOptions, Leased, Level, LogOptions, Options, QueueOptions, Table};

/// What the C library and the start of a thread take is part of it.
const STACK_BYTES: usize = 64 << 10;

fn everything(options: &Options, dir: &Dir, name: &str) {
    let table = options.create(dir.table(name)).unwrap();
    for number in 0..5000u32 {
        table.set(number.to_le_bytes(), [1; 100]).unwrap();
    }
    table.set(b"large", vec![7; 1 << 20]).unwrap();
    assert_eq!(table.get(b"large").unwrap().unwrap().len(), 1 << 20);
    table.incr(b"count", 1).unwrap();
    table.set_uid(b"uid", b"x").unwrap();
    let tags = table.fetch_tags(&["a", "b"]).unwrap();
    table
        .set_tagged(b"tagged", b"x", tavola::Attributes::default(), &tags)
        .unwrap();
    table.update(b"count", |_| Some(b"9".to_vec())).unwrap();
    let hour = std::time::Duration::from_secs(3600);
    let leased = table.get_or_lease(b"leased", LeaseOptions::new(hour));
    if let Leased::Won(lease) = leased.unwrap() {
        lease.fill(b"x").unwrap();
    }
    assert!(table.iter().count() > 1000);
    table.stats().unwrap();
    table.participants().unwrap();
    assert_clean(&table);
    table.repair().unwrap();
    table.copy_to(dir.table(&format!("{name}-copy"))).unwrap();
    for number in 0..5000u32 {
        table.remove(number.to_le_bytes()).unwrap();
    }
    table.maintain(1 << 20).unwrap();
    table.compact().unwrap();
    table.reclaim().unwrap();
}

fn beside(dir: &Dir) {
    let pool = QueueOptions::new(8, 64)
        .queues(["q"])
        .create(dir.table("pool"))
        .unwrap();
    let queue = pool.queue("q").unwrap();
    let element = queue.pop().unwrap().unwrap();
    queue.push(element).unwrap();
    assert!(pool.check().unwrap().is_clean());
    let log = LogOptions::new().create(dir.table("log")).unwrap();
    log.line(Level::Info, "a line").unwrap();
    assert_eq!(log.reader().lines().count(), 1);
}

#[test]
fn every_operation_works_in_a_thread_with_64_kib() {
    alone("every_operation_works_in_a_thread_with_64_kib", &[], || {
        let work = || {
            let dir = Dir::new();
            everything(&Table::options().max_size(64 << 20), &dir, "table");
            everything(&Table::options().capacity(16 << 20), &dir, "cache");
            beside(&dir);
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn(work).unwrap().join().unwrap();
    });
}
