//! The background thread: none unasked, one when asked, gone with its table, and no burden to a
//! forked child, which has the table but not the thread.

use crate::support::part::{Actor, play};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, fork, threads};
use crate::support::{Dir, assert_clean};
use tavola::Table;

/// A joined thread leaves /proc a moment later.
fn assert_threads(wanted: usize) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while threads() != wanted && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(threads(), wanted);
}

fn write(table: &Table, name: &str) {
    for number in 0..10_000 {
        let key = format!("{name} {number}");
        table.set(key.as_bytes(), key.as_bytes()).unwrap();
    }
}

fn user(args: &[String]) {
    alarm(HANG_S);
    let before = threads();
    let options = Table::options().max_size(32 << 20);
    let quiet = options.clone().create(&args[0]).unwrap();
    write(&quiet, "quiet");
    quiet.compact().unwrap();
    assert_eq!(threads(), before);
    let busy = options.background(true).open(&args[0]).unwrap();
    assert_threads(before + 1);
    write(&busy, "busy");
    assert_threads(before + 1);
    let child = fork(|| {
        alarm(HANG_S);
        assert_eq!(threads(), 1);
        write(&busy, "child");
        // SAFETY: this process ends without dropping `busy` again.
        drop(unsafe { std::ptr::read(&raw const busy) });
    });
    child.finish();
    drop(busy);
    assert_threads(before);
    assert_eq!(quiet.len().unwrap(), 30_000);
    quiet.reclaim().unwrap();
    assert_clean(&quiet);
}

#[test]
fn one_thread_when_asked_and_none_in_a_child() {
    play(&[("user", user)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let test = "one_thread_when_asked_and_none_in_a_child";
    Actor::start(test, "user", &[path.to_str().unwrap()]).finish();
}
