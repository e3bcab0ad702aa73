//! A table that was opened before a fork, however little it was used, serves parent and child as
//! two participants: neither takes the other for dead.

use crate::support::part::{Actor, Part, play};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, fork};
use crate::support::{Dir, assert_clean};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use tavola::Table;

const WRITES: u64 = 2000;

/// A word from one process of a family to another.
struct Word(PipeReader, PipeWriter);

impl Word {
    fn new() -> Self {
        let (reader, writer) = pipe().unwrap();
        Self(reader, writer)
    }

    fn give(&self) {
        (&self.1).write_all(b".").unwrap();
    }

    fn wait(&self) {
        (&self.0).read_exact(&mut [0]).unwrap();
    }
}

/// Runs a part in a fresh process, whose forks copy no busy thread.
fn run(test: &str, part: Part) {
    play(&[("family", part)]);
    let dir = Dir::new();
    let path = dir.table("t");
    Actor::start(test, "family", &[path.to_str().unwrap()]).finish();
}

fn create(path: &str) -> Table {
    alarm(HANG_S);
    let options = Table::options().max_size(32 << 20).shards(4);
    let table = options.create(path).unwrap();
    table.set(b"before", b"fork").unwrap();
    table
}

/// Keys of the writer's own, and a counter all have in common.
fn write(table: &Table, name: &str, turn: u64) {
    for number in turn * WRITES..(turn + 1) * WRITES {
        let key = format!("{name} {number}");
        table.set(key.as_bytes(), key.as_bytes()).unwrap();
        table.incr(b"count", 1).unwrap();
    }
}

/// Panics unless both turns of all are there, beside what was there before.
fn assert_written(table: &Table, writers: &[&str]) {
    for name in writers {
        for number in 0..2 * WRITES {
            let key = format!("{name} {number}").into_bytes();
            assert_eq!(table.get(&key).unwrap().as_deref(), Some(&key[..]));
        }
    }
    let all = writers.len() as u64 * 2 * WRITES;
    let count = table.get(b"count").unwrap().unwrap();
    assert_eq!(count, all.to_string().as_bytes());
    assert_eq!(table.get(b"before").unwrap().unwrap(), b"fork");
    assert_eq!(table.len().unwrap(), all + 2);
    assert_clean(table);
}

/// Panics unless just these take part, all alive, and nobody is found dead.
fn assert_alive(table: &Table, mut pids: Vec<u32>) {
    let members = table.participants().unwrap();
    assert!(members.iter().all(|member| member.alive), "{members:?}");
    assert_eq!(table.reclaim().unwrap(), 0);
    let mut found: Vec<u32> = members.iter().map(|member| member.pid).collect();
    found.sort_unstable();
    pids.sort_unstable();
    assert_eq!(found, pids);
}

fn both_write(table: &Table) {
    let (written, continues) = (Word::new(), Word::new());
    let child = fork(|| {
        alarm(HANG_S);
        write(table, "child", 0);
        written.give();
        continues.wait();
        write(table, "child", 1);
    });
    let own = std::process::id();
    write(table, "parent", 0);
    written.wait();
    assert_alive(table, vec![own, child.pid() as u32]);
    continues.give();
    write(table, "parent", 1);
    child.finish();
    // The writes themselves may have found the dead child already.
    assert!(table.reclaim().unwrap() <= 1);
    assert_alive(table, vec![own]);
    assert_written(table, &["parent", "child"]);
}

fn written(args: &[String]) {
    both_write(&create(&args[0]));
}

fn unused(args: &[String]) {
    drop(create(&args[0]));
    both_write(&Table::open(&args[0]).unwrap());
}

fn read_once(args: &[String]) {
    drop(create(&args[0]));
    let table = Table::open(&args[0]).unwrap();
    assert_eq!(table.get(b"before").unwrap().unwrap(), b"fork");
    both_write(&table);
}

fn mapped(args: &[String]) {
    drop(create(&args[0]));
    let table = Table::open(&args[0]).unwrap();
    assert_eq!(table.len().unwrap(), 1);
    both_write(&table);
}

#[test]
fn written_before_the_fork() {
    run("written_before_the_fork", written);
}

#[test]
fn unused_before_the_fork() {
    run("unused_before_the_fork", unused);
}

#[test]
fn read_once_before_the_fork() {
    run("read_once_before_the_fork", read_once);
}

#[test]
fn mapped_before_the_fork() {
    run("mapped_before_the_fork", mapped);
}
