//! Durable tables, in one process: what a rebuilt table holds.

use crate::support::{Random, durable::DurableDir};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tavola::durable::{JournalEnd, verify};
use tavola::{Attributes, Durability, Error, Expiry, Options, Table};
use tavola_model::{End, Model, Op, agree, play};

fn options() -> Options {
    Table::options().max_size(64 << 20).shards(4)
}

#[test]
fn a_table_is_rebuilt_after_its_memory_is_gone() {
    let dir = DurableDir::new();
    for durability in [
        Durability::Commit,
        Durability::Within(Duration::from_millis(5)),
        Durability::Os,
    ] {
        let table = options().durable(durability).open(dir.path()).unwrap();
        assert!(table.is_durable().unwrap());
        let key = format!("{durability:?}");
        table.set(&key, "1").unwrap();
        table.sync().unwrap();
        drop(table);
        dir.lose_memory();
        let table = Table::open(dir.path()).unwrap();
        assert_eq!(table.get(&key).unwrap().unwrap(), b"1");
        dir.remove();
    }
}

#[test]
fn another_handle_uses_the_same_memory() {
    let dir = DurableDir::new();
    let one = options()
        .durable(Durability::Os)
        .create(dir.path())
        .unwrap();
    let two = Table::open(dir.path()).unwrap();
    one.set("a", "1").unwrap();
    assert_eq!(two.get("a").unwrap().unwrap(), b"1");
    let reader = Table::open_read_only(dir.path()).unwrap();
    assert_eq!(reader.get("a").unwrap().unwrap(), b"1");
    assert!(matches!(reader.set("a", "2"), Err(Error::ReadOnly)));
    assert!(matches!(reader.sync(), Err(Error::ReadOnly)));
    assert!(matches!(reader.snapshot(), Err(Error::ReadOnly)));
    let strict = options().durable(Durability::Commit);
    let strict = strict.open_existing(dir.path()).unwrap();
    assert_eq!(one.durability(), Some(Durability::Os));
    assert_eq!(strict.durability(), Some(Durability::Commit));
    assert_eq!(reader.durability(), None);
    let again = options().durable(Durability::Os).create(dir.path());
    assert!(matches!(again, Err(Error::AlreadyExists { .. })));
}

#[test]
fn invalid_options_leave_no_directory() {
    let dir = DurableDir::new();
    let cache = options().capacity(8 << 20).durable(Durability::Os);
    let refused = cache.open(dir.path()).map(drop);
    assert!(
        matches!(refused, Err(Error::BadOption { .. })),
        "{refused:?}"
    );
    assert!(!dir.path().exists());
}

#[test]
fn all_that_belongs_to_a_key_comes_back() {
    let dir = DurableDir::new();
    for snapshot in [false, true] {
        let table = options()
            .versions(true)
            .durable(Durability::Os)
            .open(dir.path())
            .unwrap();
        let soon = Attributes {
            expiry: Expiry::After(Duration::from_secs(1000)),
            flags: 7,
        };
        table.set_with("ttl and flags", "1", soon).unwrap();
        table.set("touched", "1").unwrap();
        table
            .touch("touched", Expiry::After(Duration::from_secs(500)))
            .unwrap();
        let tags = table.fetch_tags(&["user:7", "page"]).unwrap();
        table.set_tagged("tagged", "1", soon, &tags).unwrap();
        table
            .set_tagged("lost", "1", soon, &table.fetch_tags(&["gone"]).unwrap())
            .unwrap();
        table.invalidate_tag("gone").unwrap();
        assert_eq!(table.incr("counter", 5).unwrap(), 5);
        assert_eq!(table.incr("counter", 5).unwrap(), 10);
        table.set("large", vec![7; 1_000_000]).unwrap();
        table.set("word", 7u64.to_ne_bytes()).unwrap();
        table.set("word", 8u64.to_ne_bytes()).unwrap();
        table.set("removed", "1").unwrap();
        table.remove("removed").unwrap();
        table.set("past", "1").unwrap();
        table.touch("past", Expiry::PAST).unwrap();
        let token = table.get_entry("word").unwrap().unwrap().token;
        if snapshot {
            assert!(table.snapshot().unwrap());
        }
        drop(table);
        dir.lose_memory();
        let table = Table::open(dir.path()).unwrap();
        let entry = table.get_entry("ttl and flags").unwrap().unwrap();
        assert_eq!(entry.attributes.flags, 7);
        let left = |key: &str| match table.get_entry(key).unwrap().unwrap().attributes.expiry {
            Expiry::After(left) => left.as_secs(),
            _ => 0,
        };
        assert!((990..=1000).contains(&left("ttl and flags")));
        assert!((490..=500).contains(&left("touched")));
        let tags = table.tags_of("tagged").unwrap().unwrap();
        assert_eq!(tags.len(), 2);
        assert_eq!(table.get("lost").unwrap(), None);
        assert_eq!(table.get("counter").unwrap().unwrap(), b"10");
        assert_eq!(table.get("large").unwrap().unwrap(), vec![7; 1_000_000]);
        assert_eq!(table.get("word").unwrap().unwrap(), 8u64.to_ne_bytes());
        assert_eq!(table.get("removed").unwrap(), None);
        assert_eq!(table.get("past").unwrap(), None);
        assert_eq!(table.get_entry("word").unwrap().unwrap().token, token);
        // Versions go on.
        table.set("new", "1").unwrap();
        assert!(table.get_entry("new").unwrap().unwrap().token.0 > token.0);
        table.invalidate_tag("page").unwrap();
        assert_eq!(table.get("tagged").unwrap(), None);
        drop(table);
        dir.remove();
    }
}

fn key(random: &mut Random) -> Vec<u8> {
    match random.below(40) {
        0 => Vec::new(),
        1 => vec![b'k'; 300],
        2 => vec![b'K'; 8192],
        n => n.to_le_bytes().to_vec(),
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(60) {
        0 => 0,
        1 => random.below(100_000),
        2..=4 => random.below(5_000),
        5..=7 => return random.below(1 << 40).to_string().into_bytes(),
        8..=10 => 8,
        _ => random.below(40),
    };
    random.bytes(len as usize)
}

fn draw(random: &mut Random) -> Op {
    let key = key(random);
    match random.below(24) {
        0..=3 => Op::Set(key, value(random)),
        4 => Op::Add(key, value(random)),
        5 => Op::Replace(key, value(random)),
        6 => Op::Append(key, random.bytes(9)),
        7 => Op::Prepend(key, random.bytes(9)),
        8 => Op::Swap(key, value(random)),
        9..=11 => Op::Remove(key),
        12 => Op::Take(key),
        13 => Op::Incr(key, random.below(1000)),
        14 => Op::Decr(key, random.below(1000)),
        15 => Op::CompareAndSwap(key, value(random), Some(random.bytes(9))),
        16 => Op::CompareAndSwap(key, value(random), None),
        17 => Op::Lease(key, End::Fill(value(random))),
        18..=20 => {
            let changes = (0..1 + random.below(6)).map(|_| {
                let is_set = random.below(3) > 0;
                (self::key(random), is_set.then(|| value(random)))
            });
            Op::Transaction(changes.collect())
        }
        _ => Op::Get(key),
    }
}

/// Random operations, snapshots and lost memory in between: the table is always as the model.
#[test]
fn a_rebuilt_table_is_as_a_model() {
    for seed in 1..4 {
        let dir = DurableDir::new();
        let mut random = Random::new(seed);
        let mut model = Model::default();
        let durable = options()
            .shards(1 << random.below(3))
            .journal_file_size(64 << (10 + random.below(3)))
            .durable(Durability::Os);
        let mut table = durable.open(dir.path()).unwrap();
        for _ in 0..40 {
            for _ in 0..random.below(200) {
                play(&table, &mut model, &draw(&mut random)).unwrap();
            }
            match random.below(4) {
                0 => assert!(table.snapshot().unwrap()),
                1 => {
                    table.clear().unwrap();
                    model = Model::default();
                }
                _ => {}
            }
            drop(table);
            dir.lose_memory();
            table = Table::open(dir.path()).unwrap();
            agree(&table, &model).unwrap();
            assert!(table.check().unwrap().is_clean());
        }
        drop(table);
    }
}

#[test]
fn keys_that_are_too_long_are_refused() {
    let dir = DurableDir::new();
    let table = options().durable(Durability::Os).open(dir.path()).unwrap();
    table.set(vec![b'k'; 8192], "1").unwrap();
    let long = table.set(vec![b'k'; 8193], "1");
    assert!(matches!(long, Err(Error::KeyTooLong { bytes: 8193 })));
    let transaction = table.transaction(|t| t.set(vec![b'k'; 8193], "1"));
    assert!(matches!(transaction, Err(Error::KeyTooLong { .. })));
    assert_eq!(table.len().unwrap(), 1);
}

/// Bytes of records in a file of the journal.
const SEGMENT: u64 = 16 << 20;

/// Flips a bit of a file at an offset.
fn flip(path: &std::path::Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn the_state_of_the_journal_is_reported_to_writers_and_readers() {
    let dir = DurableDir::new();
    let policy = Durability::Within(Duration::from_secs(1000));
    let table = options().durable(policy).open(dir.path()).unwrap();
    table.set("a", "1").unwrap();
    let stats = table.durable_stats().unwrap().unwrap();
    assert_eq!((stats.policy, stats.failed), (policy, None));
    assert_eq!(stats.home, dir.path());
    assert!((1..1000).contains(&stats.journal_bytes) && stats.snapshot.is_none());
    table.sync().unwrap();
    table.snapshot().unwrap();
    let reader = Table::open_read_only(dir.path()).unwrap();
    assert!(reader.is_durable().unwrap());
    let stats = reader.durable_stats().unwrap().unwrap();
    assert_eq!((stats.unsynced_bytes, stats.unwritten_bytes), (0, 0));
    assert!(stats.syncs > 0 && stats.mean_sync().is_some());
    let (made, bytes) = stats.snapshot.unwrap();
    assert!(bytes > 64 && made.elapsed().unwrap() < Duration::from_secs(60));
    drop((table, reader));
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    let stats = table.durable_stats().unwrap().unwrap();
    assert_eq!(stats.snapshot.unwrap().1, bytes);
    let volatile = options().private().unwrap();
    assert_eq!(volatile.durable_stats().unwrap(), None);
    assert!(options().durable(policy).private().is_err());
}

#[test]
fn files_are_verified_without_a_table() {
    let dir = DurableDir::new();
    let table = options()
        .durable(Durability::Commit)
        .open(dir.path())
        .unwrap();
    for n in 0..10u32 {
        table.set(n.to_string(), "1").unwrap();
    }
    table.snapshot().unwrap();
    for n in 10..30u32 {
        table.set(n.to_string(), "1").unwrap();
    }
    let report = verify(dir.path()).unwrap();
    assert!(report.is_in_use && report.is_in_memory);
    assert_eq!(report.ending, JournalEnd::Clean);
    assert_eq!((report.changes, report.snapshot.unwrap().1), (20, 10));
    drop(table);
    let report = verify(dir.path()).unwrap();
    assert!(!report.is_in_use && report.is_in_memory && !report.is_damaged());
    dir.lose_memory();
    assert!(!verify(dir.path()).unwrap().is_in_memory);

    let (begin, _) = report.snapshot.unwrap();
    let name = format!("journal-{:016x}", begin / SEGMENT);
    let journal = dir.path().join(&name);
    let of_snapshot = 4096 + (begin % SEGMENT) as usize;
    flip(&journal, of_snapshot + 40);
    let report = verify(dir.path()).unwrap();
    let JournalEnd::Damaged {
        file,
        can_cut,
        lost_changes,
        ..
    } = &report.ending
    else {
        panic!("{report:?}");
    };
    assert_eq!((file, *can_cut), (&name, true));
    assert!((18..20).contains(lost_changes), "{lost_changes}");
    assert!(Table::open(dir.path()).is_err());
    flip(&journal, of_snapshot + 40);
    let end = 4096 + (verify(dir.path()).unwrap().end % SEGMENT) as usize;
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[end..end + 20].fill(7);
    std::fs::write(&journal, bytes).unwrap();
    assert_eq!(verify(dir.path()).unwrap().ending, JournalEnd::Torn);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by = Arc::clone(&seen);
    tavola::durable::on_rebuild(move |now| seen_by.lock().unwrap().push(now.clone()));
    assert_eq!(Table::open(dir.path()).unwrap().len().unwrap(), 30);
    let seen = seen.lock().unwrap();
    let mut of_this = seen.iter().filter(|now| now.home == dir.path());
    assert!(of_this.next_back().unwrap().is_done);
}

#[test]
fn a_durable_table_is_renamed_while_nobody_uses_it() {
    let dir = DurableDir::new();
    let table = options()
        .durable(Durability::Commit)
        .open(dir.path())
        .unwrap();
    table.set("a", "1").unwrap();
    let new = dir.path().with_file_name("new");
    assert!(Table::options().rename(dir.path(), &new).is_err());
    drop(table);
    std::fs::create_dir(&new).unwrap();
    let taken = Table::options().rename(dir.path(), &new);
    assert!(matches!(taken, Err(Error::AlreadyExists { .. })));
    std::fs::remove_dir(&new).unwrap();
    Table::options().rename(dir.path(), &new).unwrap();
    let table = Table::open_read_only(&new).unwrap();
    assert_eq!(table.get("a").unwrap().unwrap(), b"1");
    assert_eq!(table.durable_stats().unwrap().unwrap().home, new);
    drop(table);
    Table::options().rename(&new, dir.path()).unwrap();
}

#[test]
fn a_larger_max_size_survives() {
    let dir = DurableDir::new();
    let small = Table::options().max_size(2 << 20).shards(1);
    let table = small.durable(Durability::Os).open(dir.path()).unwrap();
    table.set_max_size(16 << 20).unwrap();
    // The note of where the memory is has survived, too.
    assert_eq!(Table::open(dir.path()).unwrap().len().unwrap(), 0);
    for n in 0..4000u32 {
        table.set(n.to_le_bytes(), [7; 1000]).unwrap();
    }
    drop(table);
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert_eq!(table.len().unwrap(), 4000);
    assert_eq!(table.stats().unwrap().max_size, 16 << 20);
}

#[test]
fn a_table_in_memory_is_not_opened_as_a_durable_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plain");
    options().create(&path).unwrap();
    let opened = options().durable(Durability::Commit).open(&path);
    assert!(matches!(opened, Err(Error::BadOption { .. })));
}

/// A call that changes nothing waits for no record, above all not for one of another table.
#[test]
fn a_thread_that_uses_two_tables_waits_for_each_by_itself() {
    let (one, other) = (DurableDir::new(), DurableDir::new());
    let (done, is_done) = std::sync::mpsc::channel();
    let committed = options().durable(Durability::Commit).open(one.path());
    let written = options().durable(Durability::Os).open(other.path());
    let (committed, written) = (committed.unwrap(), written.unwrap());
    std::thread::spawn(move || {
        for number in 0..100u32 {
            written.set(number.to_le_bytes(), [7; 1000]).unwrap();
        }
        assert!(!committed.remove("missing").unwrap());
        committed.set("a", "1").unwrap();
        written.set("a", "1").unwrap();
        assert!(!committed.remove("missing").unwrap());
        done.send(()).unwrap();
    });
    let waited = is_done.recv_timeout(Duration::from_secs(20));
    assert!(waited.is_ok(), "it waits for a record of the other table");
}

/// Returns how often a table has synced its journal.
fn syncs(table: &Table) -> u64 {
    table.durable_stats().unwrap().unwrap().syncs
}

#[test]
fn changes_of_one_call_are_waited_for_once() {
    let (dir, other_dir) = (DurableDir::new(), DurableDir::new());
    let committed = |dir: &DurableDir| {
        let table = options().durable(Durability::Commit).open(dir.path());
        table.unwrap()
    };
    let (table, other) = (committed(&dir), committed(&other_dir));
    let before = syncs(&table);
    let all_synced = || table.durable_stats().unwrap().unwrap().unsynced_bytes == 0;
    let done: Result<u32, Error> = table.wait_once(|| {
        for number in 0..100u32 {
            table.set(number.to_le_bytes(), "1")?;
        }
        assert_eq!(syncs(&table), before);
        Ok(100)
    });
    assert_eq!(done.unwrap(), 100);
    assert_eq!(syncs(&table), before + 1);
    assert!(all_synced());

    // Changes of another table are waited for as usual, and hide none of this one.
    let before = [&table, &other].map(syncs);
    let done: Result<(), Error> = table.wait_once(|| {
        table.set("a", "1")?;
        other.set("a", "1")?;
        other.set_many(&[("b", "1"), ("c", "1")])?;
        assert_eq!([&table, &other].map(syncs), [before[0], before[1] + 2]);
        table.set("b", "1")?;
        other.set("d", "1")
    });
    done.unwrap();
    assert_eq!([&table, &other].map(syncs), [before[0] + 1, before[1] + 3]);
    assert!(all_synced());

    // What was changed before an error is on disk, and the next change waits again.
    let before = syncs(&table);
    let failed = table.wait_once(|| {
        table.set("c", "1")?;
        Err::<(), Error>(Error::ReadOnly)
    });
    assert!(matches!(failed, Err(Error::ReadOnly)));
    assert_eq!(syncs(&table), before + 1);
    table.set("d", "1").unwrap();
    assert_eq!(syncs(&table), before + 2);
}

/// The handler is the process's, and is called for the tables of other tests as well.
#[test]
fn a_rebuild_reports_how_far_it_is() {
    let dir = DurableDir::new();
    let table = options().durable(Durability::Os).open(dir.path()).unwrap();
    for n in 0..24_u8 {
        table.set([n], vec![n; 1 << 20]).unwrap();
    }
    table.sync().unwrap();
    drop(table);
    dir.lose_memory();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (home, reports) = (dir.path().to_path_buf(), Arc::clone(&seen));
    tavola::durable::on_rebuild(move |now| {
        if now.home == home {
            reports.lock().unwrap().push(now.clone());
        }
    });
    let table = Table::open(dir.path()).unwrap();
    assert_eq!(table.stats().unwrap().keys, 24);
    let seen = seen.lock().unwrap();
    let (last, earlier) = seen.split_last().expect("reports");
    assert!(last.is_done && last.done_bytes >= 24 << 20, "{last:?}");
    assert!(earlier.len() >= 5, "{seen:?}");
    assert!(earlier.iter().all(|one| !one.is_done), "{seen:?}");
    assert!(seen.is_sorted_by_key(|one| one.done_bytes), "{seen:?}");
    assert!(
        seen.iter().all(|one| one.done_bytes <= one.total_bytes),
        "{seen:?}"
    );
}
