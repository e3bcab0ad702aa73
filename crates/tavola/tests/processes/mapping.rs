//! What a table costs a process beside its memory: addresses, locked memory, core dumps. A process
//! that may have little of these reads and writes anyway, or gets an error that says why it cannot.

use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, is_mapping_of};
use crate::support::{Dir, assert_clean};
use std::path::Path;
use tavola::{Error, Table};

const KEYS: u64 = 1000;
const VALUE: [u8; 8000] = [7; 8000];

fn fill(table: &Table, keys: std::ops::Range<u64>) {
    for number in keys {
        table.set(number.to_le_bytes(), VALUE).unwrap();
    }
}

fn assert_filled(table: &Table, keys: u64) {
    for number in 0..keys {
        let value = table.get(number.to_le_bytes()).unwrap();
        assert!(value.is_some_and(|value| *value == VALUE), "key {number}");
    }
    assert_eq!(table.iter().map(Result::unwrap).count() as u64, keys);
}

/// A word of /proc/self/status or smaps that counts KiB.
fn kib(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The flags of every mapping of a file, in the words of the kernel.
fn flags_of(path: &Path) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut of_file = false;
    let mut flags = Vec::new();
    for line in maps.lines() {
        if let Some(words) = line.strip_prefix("VmFlags:") {
            if of_file {
                flags.push(format!("{words} "));
            }
        } else if line
            .split_whitespace()
            .nth(4)
            .is_some_and(|_| !line.contains("kB"))
        {
            of_file = is_mapping_of(line, path);
        }
    }
    flags
}

#[test]
fn tables_are_left_out_of_core_dumps_unless_they_are_wanted() {
    let dir = Dir::new();
    let is_left_out = |table: &Table| {
        table.set(b"key", b"value").unwrap();
        let flags = flags_of(table.path());
        assert!(!flags.is_empty());
        flags.iter().all(|flags| flags.contains(" dd "))
    };
    let created = Table::open(dir.table("t")).unwrap();
    assert!(is_left_out(&created));
    drop(created);
    let opened = Table::open(dir.table("t")).unwrap();
    assert!(is_left_out(&opened));
    drop(opened);
    let wanted = Table::options().core_dumps(true);
    assert!(!is_left_out(&wanted.open(dir.table("t")).unwrap()));
    assert!(!is_left_out(&wanted.open(dir.table("other")).unwrap()));
}

/// Locks all memory it maps, and works with tables as large as tables are when nothing is said.
fn lock_all(args: &[String]) {
    alarm(HANG_S);
    // SAFETY: passes no memory.
    if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
        say("refused");
        return;
    }
    let table = Table::open(&args[0]).unwrap();
    fill(&table, 0..KEYS);
    for number in 0..KEYS / 2 {
        table.remove(number.to_le_bytes()).unwrap();
    }
    table.compact().unwrap();
    fill(&table, 0..KEYS / 2);
    assert_filled(&table, KEYS);
    let reader = Table::open_read_only(&args[0]).unwrap();
    assert_filled(&reader, KEYS);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    say(kib(&status, "VmLck:"));
}

#[test]
fn a_process_that_locks_its_memory_does_not_get_all_of_max_size() {
    play(&[("lock", lock_all)]);
    let dir = Dir::new();
    let mut actor = Actor::start(
        "a_process_that_locks_its_memory_does_not_get_all_of_max_size",
        "lock",
        &[dir.table("t").to_str().unwrap()],
    );
    let locked = actor.hear();
    actor.finish();
    if locked == "refused" {
        eprintln!("not tested: this process may not lock memory");
        return;
    }
    assert!(
        locked.parse::<u64>().unwrap() < 1 << 20,
        "{locked} KiB are locked"
    );
    let table = Table::open(dir.table("t")).unwrap();
    let resident = table.stats().unwrap().resident_bytes;
    assert!(resident < 32 << 20, "{resident} bytes");
    assert_clean(&table);
}

/// Allows this process so many bytes of addresses more than it has.
fn limit_addresses(more: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = kib(&status, "VmSize:") * 1024 + more;
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is read only.
    let done = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(done, 0);
}

/// Uses a table with few addresses, beside another process that makes it grow.
fn be_limited(args: &[String]) {
    alarm(HANG_S);
    // Both handles map what is before the first page, some 100 MiB each.
    limit_addresses(600 << 20);
    let made = Table::open(&args[1]).unwrap();
    fill(&made, 0..KEYS);
    assert_filled(&made, KEYS);
    drop(made);
    let table = Table::open(&args[0]).unwrap();
    let reader = Table::open_read_only(&args[0]).unwrap();
    assert_filled(&table, KEYS);
    assert_filled(&reader, KEYS);
    say("small");
    while let Some(keys) = hear() {
        let keys: u64 = keys.parse().unwrap();
        let outcome = table.set(keys.to_le_bytes(), VALUE);
        let mut failed = outcome.err();
        let mut missing = 0;
        for number in 0..keys {
            for table in [&table, &reader] {
                match table.get(number.to_le_bytes()) {
                    Ok(Some(value)) => assert!(*value == VALUE),
                    Ok(None) => missing += 1,
                    Err(error) => failed = Some(error),
                }
            }
        }
        for entry in table.iter() {
            failed = entry.err().or(failed);
        }
        assert_eq!(missing, 0);
        match failed {
            None => say("all"),
            Some(error @ Error::Io { .. }) => say(error),
            Some(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_process_with_few_addresses_uses_small_tables_and_gets_an_error_for_large_ones() {
    play(&[("limited", be_limited)]);
    let dir = Dir::new();
    let table = Table::open(dir.table("t")).unwrap();
    fill(&table, 0..KEYS);
    let mut actor = Actor::start(
        "a_process_with_few_addresses_uses_small_tables_and_gets_an_error_for_large_ones",
        "limited",
        &[
            dir.table("t").to_str().unwrap(),
            dir.table("own").to_str().unwrap(),
        ],
    );
    assert_eq!(actor.hear(), "small");
    // Beyond what it has mapped, and within what it may.
    fill(&table, KEYS..10_000);
    actor.send("10000");
    assert_eq!(actor.hear(), "all");
    fill(&table, 10_000..40_000);
    actor.send("40000");
    let message = actor.hear();
    assert!(
        message.contains("--max-size") && message.contains("ulimit -v"),
        "{message}"
    );
    actor.finish();
    assert_filled(&table, 40_000);
    assert_clean(&table);
}

/// More than there are addresses for: each wants 64 GiB of 128 TiB.
const MANY: u64 = 2100;

/// Opens a table more often than there are addresses for.
fn open_many(args: &[String]) {
    alarm(HANG_S);
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the answer, and a limit that is read only.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
    let mut tables = Vec::new();
    let possible = limit.rlim_cur.saturating_sub(100);
    for number in 0..MANY.min(possible) {
        let table = Table::open_read_only(&args[0]).unwrap();
        for key in 0..10u64 {
            let value = table.get(key.to_le_bytes()).unwrap();
            assert!(value.is_some_and(|value| *value == VALUE), "table {number}");
        }
        tables.push(table);
    }
    let memory = vec![1u8; 64 << 20];
    assert!(std::hint::black_box(&memory)[5 << 20] == 1);
    say(tables.len());
}

#[test]
fn more_tables_are_read_than_there_are_addresses_for() {
    play(&[("many", open_many)]);
    let dir = Dir::new();
    let table = Table::open(dir.table("t")).unwrap();
    fill(&table, 0..KEYS);
    let mut actor = Actor::start(
        "more_tables_are_read_than_there_are_addresses_for",
        "many",
        &[dir.table("t").to_str().unwrap()],
    );
    let opened: usize = actor.hear().parse().unwrap();
    actor.finish();
    if opened < MANY as usize {
        eprintln!("not tested: this process may open {opened} files only");
    }
}
