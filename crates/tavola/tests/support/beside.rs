//! A pool of queues and a log beside a table that is damaged.

use super::logs::{quiet, small, texts};
use tavola::{Level, Log, Overload, QueueOptions, QueuePool, Table};

const ELEMENTS: u32 = 100;
const QUEUES: [&str; 2] = ["free", "todo"];
const LINES: usize = 20;

fn line(number: usize) -> String {
    format!("line {number}")
}

pub fn build(table: &Table) {
    let options = QueueOptions::new(ELEMENTS, 16).queues(QUEUES);
    let pool = options.create_in(table, "pool").unwrap();
    let [free, todo] = QUEUES.map(|name| pool.queue(name).unwrap());
    assert_eq!(free.pass(&todo, 30).unwrap(), 30);
    let log = small(Overload::DropOldest).create_in(table, "log");
    let log = quiet(log.unwrap());
    for number in 0..LINES {
        log.line(Level::Info, line(number)).unwrap();
    }
    assert_is_whole(&pool, &log);
}

fn assert_is_whole(pool: &QueuePool, log: &Log) {
    let lens = QUEUES.map(|name| pool.queue(name).unwrap().len());
    assert_eq!(lens, [70, 30]);
    let lines = texts(&mut log.reader());
    assert!(lines.into_iter().eq((0..LINES).map(line)));
}

/// Of a repaired table: both are there and whole. Where a name was changed, they are there.
pub fn assert_are_there(table: &Table, are_named: bool) {
    let pools = table.pools().unwrap();
    let logs = table.logs().unwrap();
    assert_eq!((pools.len(), logs.len()), (1, 1), "{pools:?} {logs:?}");
    if are_named {
        let pool = table.pool("pool").unwrap();
        assert_is_whole(&pool, &table.log("log").unwrap());
    }
}
