//! Caches and their room: a file system smaller than the capacity, queues and logs beside the keys,
//! participants that only read, forked children.

use crate::support::logs::{quiet, small};
use crate::support::mount::Mount;
use crate::support::part::{Actor, hear, play, say};
use crate::support::process::fork;
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::time::Duration;
use tavola::{Error, LeaseOptions, Leased, Overload, QueueOptions, Table};

const MIB: u64 = 1 << 20;
/// Longer than freed pages are kept for readers that may still look at them.
const GRACE_PERIOD: Duration = Duration::from_millis(2100);

fn key_of(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn set(table: &Table, number: u64, len: usize) -> tavola::Result<()> {
    let key = key_of(number);
    table.set(key, value_of(&key, 1, len))
}

fn assert_right(table: &Table, number: u64) -> bool {
    let key = key_of(number);
    let value = table.get(key).unwrap();
    let is_right = |value: &Vec<u8>| version_of(&key, value) == Some(1);
    assert!(value.as_ref().is_none_or(is_right), "{number}");
    value.is_some()
}

fn assert_within(table: &Table) {
    let stats = table.stats().unwrap();
    let (has, may) = (stats.resident_bytes, stats.capacity.unwrap());
    assert!(has <= may, "{has} bytes of {may}");
}

fn any_len(random: &mut Random, round: u64) -> usize {
    match round % 20 {
        0 => random.below(200_000) as usize,
        1..4 => 3000,
        _ => 16 + random.below(300) as usize,
    }
}

/// An actor: writes to a cache on a file system that ends before its capacity does.
fn on_a_small_file_system(args: &[String]) {
    let (room, len): (u64, usize) = (args[0].parse().unwrap(), args[1].parse().unwrap());
    let Some(mount) = Mount::tmpfs(room) else {
        say("skipped");
        return;
    };
    let options = Table::options().capacity(64 * MIB).shards(1);
    let table = options.create(mount.table("cache")).unwrap();
    let mut random = Random::new(room);
    let rounds = if len == 0 { 40_000 } else { 400_000 };
    for round in 0..rounds {
        let len = match len {
            0 => any_len(&mut random, round),
            len => len,
        };
        set(&table, round, len).unwrap_or_else(|error| panic!("{round}: {error}"));
        let number = round - random.below(500).min(round);
        assert_right(&table, number);
        // A read may have filled a hole.
        if round % 5000 == 0 {
            assert!((round - 100.min(round)..=round).any(|n| assert_right(&table, n)));
        }
    }
    let stats = table.stats().unwrap();
    assert!(stats.evicted_new > 0 && stats.resident_bytes <= room);
    assert!(stats.payload_bytes * 10 > room * 3, "{stats:?}");
    assert_clean(&table);
    say(format!("{} keys", stats.keys));
}

#[test]
fn a_file_system_that_ends_before_the_capacity() {
    play(&[("writer", on_a_small_file_system)]);
    let test = "a_file_system_that_ends_before_the_capacity";
    for (room, len) in [(4 * MIB, 0), (12 * MIB, 0), (12 * MIB, 16)] {
        let args = [&room.to_string()[..], &len.to_string()];
        let mut actor = Actor::start(test, "writer", &args);
        println!("{room} bytes: {}", actor.hear());
        actor.finish();
    }
}

/// Fills a cache until it evicts, and its file system to the end.
fn crowded(mount: &Mount, len: usize) -> Table {
    let options = Table::options().capacity(64 * MIB).shards(1);
    let table = options.create(mount.table("cache")).unwrap();
    let mut number = 0;
    while table.stats().unwrap().evicted_new < 2000 {
        for _ in 0..500 {
            set(&table, number, len).unwrap();
            number += 1;
        }
    }
    mount.fill("filler", 0);
    table
}

/// An actor: has a full file system back what are no pages.
fn beside_the_pages(_: &[String]) {
    let Some(mount) = Mount::tmpfs(8 * MIB) else {
        say("skipped");
        return;
    };
    let table = crowded(&mount, 100);
    let before = table.len().unwrap();
    let assert_few_went = || {
        let after = table.len().unwrap();
        assert!(after * 10 > before * 9, "{after} of {before} keys are left");
    };
    let hint = table.set_uid(b"named", b"value").unwrap();
    assert_eq!(table.get_by_uid(hint).unwrap().unwrap(), b"value");
    assert_few_went();
    mount.fill("more", 0);
    let minute = LeaseOptions::new(Duration::from_secs(60));
    let Leased::Won(lease) = table.get_or_lease(b"leased", minute).unwrap() else {
        panic!("not won");
    };
    assert!(lease.is_recorded() && lease.fill(b"value").unwrap());
    assert_few_went();
    assert_clean(&table);
    // Shorter ones, enough to make the directory grow.
    let mount = Mount::tmpfs(12 * MIB).unwrap();
    let table = crowded(&mount, 100);
    let mut before = table.len().unwrap();
    let (least, most) = (before, before * 2);
    assert!(least < 128 << 10, "the directory has grown already");
    for number in 0u64.. {
        set(&table, 1 << 40 | number, 8).unwrap();
        if number % 1000 == 0 {
            let now = table.len().unwrap();
            assert!(now * 2 > before, "{now} of {before} keys are left");
            before = now;
        }
        if before > most {
            break;
        }
        assert!(number < 2_000_000, "{before} keys, {least} at first");
    }
    assert_clean(&table);
    say(format!("{least} keys, then {before}"));
}

/// What is no page is backed anyway, and not all keys go for it.
#[test]
fn a_full_file_system_has_room_for_what_are_no_pages() {
    play(&[("writer", beside_the_pages)]);
    let test = "a_full_file_system_has_room_for_what_are_no_pages";
    let mut actor = Actor::start(test, "writer", &[]);
    println!("{}", actor.hear());
    actor.finish();
}

/// Pools and logs count, and are refused where there is no room: no key goes for them.
#[test]
fn queues_and_logs_have_their_share() {
    let dir = Dir::new();
    let options = Table::options().capacity(8 * MIB).max_size(32 * MIB);
    let table = options.create(dir.table("cache")).unwrap();
    let pool = QueueOptions::new(10_000, 64).queues(["free", "todo"]);
    let pool = pool.create_in(&table, "pool").unwrap();
    let log = small(Overload::DropOldest).create_in(&table, "log");
    let log = quiet(log.unwrap());
    let beside = table.stats().unwrap().queue_and_log_bytes;
    assert!(beside > 500_000);
    let mut random = Random::new(1);
    for round in 0..60_000 {
        set(&table, round, any_len(&mut random, round)).unwrap();
        if round % 1000 == 0 {
            log.line(tavola::Level::Info, "a line").unwrap();
            assert_within(&table);
        }
    }
    assert_clean(&table);
    let queues = ["free", "todo"].map(|name| pool.queue(name).unwrap());
    assert_eq!(queues[0].pass(&queues[1], 700).unwrap(), 700);
    // What is left of it has room for this value alone, but not beside what is there.
    let before = table.len().unwrap();
    let most = usize::try_from(8 * MIB - beside).unwrap();
    assert!(matches!(
        set(&table, 1 << 40, most),
        Err(Error::Full { .. })
    ));
    let refused = QueueOptions::new(10_000, 64).queues(["free"]);
    let refused = refused.create_in(&table, "another").err();
    assert!(matches!(refused, Some(Error::Full { .. })), "{refused:?}");
    assert_eq!(
        table.len().unwrap(),
        before,
        "keys went for what was refused"
    );
    assert_within(&table);
    let least = table.set_capacity(beside).err();
    assert!(matches!(least, Some(Error::BadOption { .. })), "{least:?}");
    // A larger cache has room for it.
    table.set_capacity(16 * MIB).unwrap();
    let more = QueueOptions::new(10_000, 64).queues(["free"]);
    more.create_in(&table, "another").unwrap();
    for round in 0..60_000 {
        set(&table, round, any_len(&mut random, round)).unwrap();
    }
    assert_within(&table);
    // Smaller again: the keys make room.
    table.set_capacity(4 * MIB).unwrap();
    table.maintain(0).unwrap();
    std::thread::sleep(GRACE_PERIOD);
    table.maintain(0).unwrap();
    assert_within(&table);
    assert!(table.len().unwrap() > 0);
    assert_eq!(queues[1].len(), 700);
    assert_clean(&table);
}

/// A process that only reads does not change a byte.
#[test]
fn reading_participants_write_nothing() {
    let dir = Dir::new();
    let path = dir.table("cache");
    let options = Table::options().capacity(2 * MIB).max_size(4 * MIB);
    let table = options.create(&path).unwrap();
    for number in 0..30_000 {
        set(&table, number, 40).unwrap();
    }
    let before = std::fs::read(&path).unwrap();
    let reader = Table::open_read_only(&path).unwrap();
    let mut there = 0;
    for _ in 0..3 {
        let keys: Vec<_> = (0..30_000).map(key_of).collect();
        for number in 0..30_000 {
            there += u64::from(assert_right(&reader, number));
        }
        let mut met = 0;
        let met_one = |_: usize, value: Option<&[u8]>| met += u64::from(value.is_some());
        reader.get_many(&keys, met_one).unwrap();
        assert_eq!(met, reader.len().unwrap());
        assert_eq!(reader.iter().count() as u64, met);
    }
    assert_eq!(there, 3 * table.len().unwrap());
    assert!(
        std::fs::read(&path).unwrap() == before,
        "a byte was changed"
    );
    assert!(matches!(reader.set_capacity(4 * MIB), Err(Error::ReadOnly)));
    assert_eq!(reader.capacity().unwrap(), Some(2 * MIB));
    // And sees what others evict meanwhile.
    for number in 30_000..60_000 {
        set(&table, number, 40).unwrap();
        assert_right(&reader, number - 20_000);
    }
}

/// An actor: a parent and its children read and write at once; some children are killed.
fn family(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    for number in 0..30_000 {
        set(&table, number, 60).unwrap();
    }
    for round in 0..6u64 {
        let children: Vec<_> = (0..3u64)
            .map(|child| {
                fork(|| {
                    let mut random = Random::new(round * 3 + child);
                    for step in 0.. {
                        let number = random.below(60_000);
                        match child {
                            // The first only reads, which is noted anyway.
                            0 => _ = assert_right(&table, number),
                            _ if step % 3 == 0 => _ = assert_right(&table, number),
                            _ => set(&table, number, any_len(&mut random, number)).unwrap(),
                        }
                        if step == 20_000 && round % 2 == 0 {
                            break;
                        }
                    }
                })
            })
            .collect();
        let mut random = Random::new(round);
        for _ in 0..10_000 {
            set(&table, random.below(60_000), 60).unwrap();
        }
        for child in children {
            match round % 2 {
                0 => child.finish(),
                _ => drop(child),
            }
        }
        for number in 0..60_000 {
            assert_right(&table, number);
        }
        assert_clean(&table);
        assert_within(&table);
    }
    say("done");
    hear();
}

#[test]
fn forked_children_read_and_evict() {
    play(&[("family", family)]);
    let dir = Dir::new();
    let path = dir.table("cache");
    let options = Table::options().capacity(4 * MIB).shards(1);
    drop(options.create(&path).unwrap());
    let args = [path.to_str().unwrap()];
    let mut actor = Actor::start("forked_children_read_and_evict", "family", &args);
    assert_eq!(actor.hear(), "done");
    actor.finish();
    assert_clean(&Table::open(&path).unwrap());
}

/// Threads that set such values at once: each finds the room taken by what others are about to
/// publish, and waits for that.
fn at_once(capacity: u64, threads: u64, rounds: u64, len: usize) {
    let dir = Dir::new();
    let options = Table::options().capacity(capacity).shards(1);
    let table = options.create(dir.table("cache")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let table = &table;
            scope.spawn(move || {
                let key = key_of(thread);
                let value = value_of(&key, 1, len);
                for round in 0..rounds {
                    let set = table.set(key, &value);
                    set.unwrap_or_else(|error| panic!("{thread}, {round}: {error}"));
                }
            });
        }
    });
    assert_clean(&table);
    let large = table.iter().map(|pair| pair.unwrap().1.len());
    assert!(large.sum::<usize>() >= len);
}

#[test]
fn values_that_fit_alone_are_never_full_beside_each_other() {
    at_once(4 * MIB, 2, 200, 3 << 20);
    at_once(4 * MIB, 4, 50, 3 << 20);
}

/// Two chains fit, but not what is beside them: one gives way.
#[test]
fn values_that_just_do_not_fit_together_are_never_full() {
    for len in (1_780_000..1_960_000).step_by(16 << 10) {
        at_once(4 * MIB, 2, 30, len);
    }
}

/// A value that fits beside another's that is being written finds room for itself, too.
#[test]
fn small_values_wait_for_large_ones() {
    let dir = Dir::new();
    let options = Table::options().capacity(4 * MIB).shards(1);
    let table = options.create(dir.table("cache")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let value = value_of(b"large", 1, 3_300_000);
            for _ in 0..100 {
                table.set(b"large", &value).unwrap();
            }
        });
        for round in 0..20_000 {
            let len = [20, 300, 3000, 12_000][round as usize % 4];
            set(&table, round, len).unwrap();
        }
    });
    assert_clean(&table);
}
