//! Keys that expire: their memory comes back, in bounded steps or at once; every process goes by
//! the same clock.

use crate::support::part::{Actor, End, play, say};
use crate::support::patience::{Moment, in_time, let_pass};
use crate::support::process::{fork, unshare};
use crate::support::{Dir, assert_clean};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tavola::{Attributes, Error, Expiry, Options, Table};

const HOUR: Duration = Duration::from_secs(3600);

fn options() -> Options {
    Table::options().max_size(64 << 20)
}

fn left(expiry: Option<Expiry>) -> Duration {
    match expiry {
        Some(Expiry::After(left)) => left,
        other => panic!("{other:?}"),
    }
}

/// Nobody asks for what has expired: writes of other keys find it, a bounded piece each.
#[test]
fn memory_comes_back_with_writes() {
    const KEYS: u64 = 40_000;
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    for number in 0..KEYS {
        let ttl = if number % 10 == 0 {
            HOUR
        } else {
            Duration::from_millis(1)
        };
        let key = number.to_le_bytes();
        table.set_with(key, [1; 100], Attributes::ttl(ttl)).unwrap();
    }
    let_pass(Duration::from_millis(1));
    for write in 0..4 * KEYS {
        table
            .set((KEYS + write % 100).to_le_bytes(), b"more")
            .unwrap();
    }
    let stats = table.stats().unwrap();
    assert_eq!(table.iter().count() as u64, KEYS / 10 + 100);
    assert!(
        stats.keys < KEYS / 10 + 100 + KEYS / 100,
        "{} keys",
        stats.keys
    );
    assert!(
        stats.expired + KEYS / 100 > KEYS * 9 / 10,
        "{} expired",
        stats.expired
    );
    // A key and its value, in the class of 128 bytes.
    assert!(
        stats.slab_bytes < KEYS * 128 / 4,
        "{} bytes",
        stats.slab_bytes
    );
    table.compact().unwrap();
    assert_eq!(table.len().unwrap(), KEYS / 10 + 100);
    assert_eq!(table.stats().unwrap().expired, KEYS * 9 / 10);
    assert_clean(&table);
}

/// A call of `maintain` searches a piece of the table, however many keys have expired; the thread
/// that calls it lets go of all of them in time, and is soon stopped.
#[test]
fn maintaining_searches_a_piece_at_a_time() {
    const KEYS: u64 = 20_000;
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().shards(1).create(&path).unwrap();
    let fill = || {
        for number in 0..KEYS {
            let ttl = Attributes::ttl(Duration::from_millis(300));
            table.set_with(number.to_le_bytes(), b"", ttl).unwrap();
        }
        let_pass(Duration::from_millis(300));
    };
    fill();
    let before = table.len().unwrap();
    table.maintain(0).unwrap();
    let removed = before - table.len().unwrap();
    assert!(removed > 0 && removed <= 256 * 7, "{removed} of {before}");
    table.remove_expired().unwrap();
    assert!(table.is_empty().unwrap());
    fill();
    assert!(!table.is_empty().unwrap());
    let tended = options().background(true).open(&path).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !table.is_empty().unwrap() {
        assert!(Instant::now() < until, "{} left", table.len().unwrap());
        sleep(Duration::from_millis(10));
    }
    drop(tended);
    assert_clean(&table);
}

/// A table that is full of what has expired takes writes.
#[test]
fn what_has_expired_makes_room() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(4 << 20)
        .create(dir.table("t"))
        .unwrap();
    let mut ttl = Duration::from_millis(300);
    for round in 0..6u64 {
        let mut number = 0u64;
        let mut begun = Instant::now();
        let error = loop {
            // What expires while it is filled makes room, too.
            if begun.elapsed() > ttl {
                (ttl, begun) = (2 * ttl, Instant::now());
            }
            let key = [round, number].map(u64::to_le_bytes).concat();
            match table.set_with(&key, [2; 1000], Attributes::ttl(ttl)) {
                Ok(()) => number += 1,
                Err(error) => break error,
            }
            assert!(number < 1_000_000);
        };
        assert!(matches!(error, Error::Full { .. }), "{error}");
        assert!(number > 1000, "round {round}: {number}");
        let_pass(ttl);
    }
    table.compact().unwrap();
    assert!(table.is_empty().unwrap());
    assert_clean(&table);
}

/// `CLONE_NEWTIME`, which the C library's header does not have everywhere.
const NEW_TIME: i32 = 0x80;
/// How far the clock of the machine is ahead in the other namespace.
const AHEAD: &str = "monotonic 1000000 0\nboottime 1000000 0\n";

/// An actor: its child's child sees another clock of the machine. (The offsets of a process's
/// children are its main thread's to set, and a test's thread is not one.)
fn elsewhere(args: &[String]) {
    let child = fork(|| {
        let before = Table::open(&args[0]).unwrap();
        before.set(b"before", b"").unwrap();
        let set = || std::fs::write("/proc/self/timens_offsets", AHEAD);
        if !unshare(NEW_TIME) || set().is_err() {
            say("not permitted");
            return;
        }
        let foreign = fork(|| {
            // One that was open before, one opened there, and one that only reads.
            use_elsewhere(&before, b"one");
            use_elsewhere(&Table::open(&args[0]).unwrap(), b"two");
            let reader = Table::open_read_only(&args[0]).unwrap();
            assert!(left(reader.ttl(b"here").unwrap()) > HOUR / 2);
        });
        assert_eq!(foreign.end(), 0);
        say("done");
    });
    assert_eq!(child.end(), 0);
}

fn use_elsewhere(table: &Table, key: &[u8]) {
    let ttl = left(table.ttl(b"here").unwrap());
    assert!(ttl <= HOUR && ttl > HOUR / 2, "{ttl:?}");
    table.set_with(key, b"", Attributes::ttl(HOUR)).unwrap();
    table.maintain(0).unwrap();
}

#[test]
fn a_process_in_a_time_namespace_of_its_own_agrees() {
    play(&[("elsewhere", elsewhere)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    table.set_with(b"here", b"", Attributes::ttl(HOUR)).unwrap();
    let test = "a_process_in_a_time_namespace_of_its_own_agrees";
    let mut actor = Actor::start(test, "elsewhere", &[path.to_str().unwrap()]);
    if actor.hear() == "not permitted" {
        eprintln!("skipped: this user may not make time namespaces");
        return;
    }
    assert_eq!(actor.end(), End::Exit(0));
    for key in [b"one", b"two"] {
        let ttl = left(table.ttl(key).unwrap());
        assert!(
            ttl <= HOUR + Duration::from_secs(1) && ttl > HOUR / 2,
            "{ttl:?}"
        );
    }
    assert!(table.contains(b"here").unwrap());
}

/// The search for expired keys goes round; what is stored behind it is found the next time.
#[test]
fn a_key_stored_behind_the_search_is_found_later() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(4 << 20)
        .shards(1)
        .create(dir.table("t"))
        .unwrap();
    let write = |times: u32| (0..times).for_each(|_| table.set(b"other", b"").unwrap());
    // A round takes 64 steps of 64 writes each, where it meets nothing.
    for part in 0..16 {
        table
            .set_with(b"mortal", b"", Attributes::ttl(HOUR))
            .unwrap();
        assert!(table.remove(b"mortal").unwrap());
        write(256 * part);
        let gone = Attributes::from(Expiry::PAST);
        let key = format!("gone {part}");
        table.set_with(key.as_bytes(), b"", gone).unwrap();
        write(3 * 4096);
        assert_eq!(table.len().unwrap(), 1, "part {part}");
    }
    assert_clean(&table);
}

#[test]
fn a_key_that_expires_by_a_touch_is_searched_for() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    table.set(b"key", b"").unwrap();
    assert!(table.touch(b"key", Expiry::After(HOUR)).unwrap());
    assert!(table.touch(b"key", Expiry::PAST).unwrap());
    table.compact().unwrap();
    assert_eq!(table.len().unwrap(), 0);
    assert_clean(&table);
}

/// Few have expired among many that have not: what they held is found when it is needed.
#[test]
fn a_table_full_of_few_large_expired_values_takes_another() {
    in_time(Duration::from_secs(2), fill_with_large_ones);
}

/// Values that expire so soon; `None`: some did before the table was full.
fn fill_with_large_ones(soon: Duration) -> Option<()> {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = Table::options()
        .max_size(64 << 20)
        .shards(4)
        .create(path)
        .unwrap();
    for number in 0..300_000u64 {
        table.set(number.to_le_bytes(), b"12345678").unwrap();
    }
    let mut number = 0u64;
    let begun = Moment::now();
    while table
        .set_with(
            [&number.to_le_bytes()[..], b"large"].concat(),
            [3; 1 << 18],
            Attributes::ttl(soon),
        )
        .is_ok()
    {
        number += 1;
    }
    if begun.elapsed() >= soon {
        return None;
    }
    assert!(number > 100, "{number}");
    let_pass(soon);
    table.set(b"another", [4; 1 << 20]).unwrap();
    assert_clean(&table);
    Some(())
}
