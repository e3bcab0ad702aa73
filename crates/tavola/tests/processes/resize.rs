//! `max_size` is raised while processes use the table; what is refused; what a death leaves.

use crate::support::format::{Image, POOL};
use crate::support::part::{Actor, hear, play, say};
use crate::support::process::limit;
use crate::support::{Dir, assert_clean};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tavola::{Error, Options, Table};

const MIB: u64 = 1 << 20;
/// In the pool: the limit in pages, and `max_size` as it was set.
const LIMIT: u64 = POOL + 136;
const MAX_SIZE: u64 = POOL + 144;

fn options() -> Options {
    Table::options().max_size(2 * MIB).shards(1)
}

/// Sets keys from `from` on until there is no room; returns the first that was refused.
fn fill(table: &Table, from: u64) -> u64 {
    for number in from.. {
        match table.set(number.to_le_bytes(), [7; 1000]) {
            Ok(()) => {}
            Err(Error::Full { .. }) => return number,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("a table that takes every key")
}

fn refusal(outcome: tavola::Result<()>) -> String {
    match outcome {
        Err(error @ Error::BadOption { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn len_of(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

/// An actor: raises the table at a path.
fn raiser(args: &[String]) {
    let table = options().open_existing(&args[0]).unwrap();
    let bytes = args[1].parse().unwrap();
    match args.get(2) {
        Some(most) => limit(libc::RLIMIT_FSIZE, most.parse().unwrap()),
        None => assert_eq!(hear().as_deref(), Some("raise")),
    }
    let outcome = table.set_max_size(bytes);
    say(outcome
        .err()
        .map_or("raised".to_string(), |e| e.to_string()));
}

#[test]
fn a_full_table_accepts_writes_when_another_process_raises_it() {
    play(&[("raiser", raiser)]);
    let test = "a_full_table_accepts_writes_when_another_process_raises_it";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let reader = Table::open_read_only(&path).unwrap();
    let mut count = fill(&table, 0);
    for mib in [3u64, 8, 32] {
        let bytes = (mib * MIB).to_string();
        let mut actor = Actor::start(test, "raiser", &[path.to_str().unwrap(), &bytes]);
        assert_eq!(fill(&table, count), count, "full before the raise");
        actor.send("raise");
        assert_eq!(actor.hear(), "raised");
        actor.finish();
        let more = fill(&table, count);
        let least = (mib * MIB * 3 / 4) / 1100;
        assert!(more > least, "{more} keys in {mib} MiB");
        assert_eq!(table.stats().unwrap().max_size, mib * MIB);
        assert_eq!(reader.stats().unwrap().max_size, mib * MIB);
        count = more;
        assert_clean(&table);
    }
    for number in 0..count {
        let found = reader.get(number.to_le_bytes()).unwrap();
        assert_eq!(found.as_deref(), Some(&[7; 1000][..]), "{number}");
    }
    assert!(len_of(&path) < 33 * MIB);
}

#[test]
fn a_raised_table_has_the_pages_of_one_made_so_large() {
    let dir = Dir::new();
    let raised = options().create(dir.table("raised")).unwrap();
    raised.set_max_size(6 * MIB).unwrap();
    let made = options()
        .max_size(6 * MIB)
        .create(dir.table("made"))
        .unwrap();
    let private = options().max_size(6 * MIB).private().unwrap();
    let counts = [&raised, &made, &private].map(|table| fill(table, 0));
    assert_eq!(counts, [counts[0]; 3]);
}

#[test]
fn it_is_only_raised_and_within_its_room() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let len = len_of(&path);
    let lower = refusal(table.set_max_size(MIB));
    assert!(lower.contains("only be raised"), "{lower}");
    let (room, larger) = (32 * MIB, 32 * MIB + 1);
    let beyond = refusal(table.set_max_size(larger));
    assert!(
        beyond.contains(&room.to_string()) && beyond.contains("larger max_size"),
        "{beyond}"
    );
    refusal(table.set_max_size(u64::MAX));
    table.set_max_size(2 * MIB).unwrap();
    assert_eq!(table.stats().unwrap().max_size, 2 * MIB);
    assert_eq!(len_of(&path), len);
    let reader = Table::open_read_only(&path).unwrap();
    assert!(matches!(reader.set_max_size(4 * MIB), Err(Error::ReadOnly)));
    table.set_max_size(4 * MIB - 1).unwrap();
    assert_eq!(table.stats().unwrap().max_size, 4 * MIB);
    let private = options().private().unwrap();
    private.set_max_size(2 * MIB).unwrap();
    refusal(private.set_max_size(4 * MIB));
    // The copy has the size in force and room of its own.
    table.set(b"key", b"value").unwrap();
    table.copy_to(dir.table("copy")).unwrap();
    let copy = options().open_existing(dir.table("copy")).unwrap();
    copy.set_max_size(64 * MIB).unwrap();
    assert_eq!(copy.get(b"key").unwrap().unwrap(), b"value");
}

#[test]
fn a_limit_of_the_process_changes_nothing() {
    play(&[("raiser", raiser)]);
    let test = "a_limit_of_the_process_changes_nothing";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let len = len_of(&path);
    let (bytes, most) = ((8 * MIB).to_string(), (4 * MIB).to_string());
    let mut actor = Actor::start(test, "raiser", &[path.to_str().unwrap(), &bytes, &most]);
    let sentence = actor.hear();
    actor.finish();
    assert!(sentence.contains("ulimit -f"), "{sentence}");
    assert_eq!(
        (table.stats().unwrap().max_size, len_of(&path)),
        (2 * MIB, len)
    );
    assert_clean(&table);
}

/// What a process leaves that was killed when the file was longer and the limit not stored yet.
#[test]
fn a_death_between_the_two_steps_is_harmless() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = options().create(&path).unwrap();
    let count = fill(&table, 0);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(20 * MIB).unwrap();
    assert_clean(&table);
    assert_eq!(table.stats().unwrap().max_size, 2 * MIB);
    assert_eq!(fill(&table, count), count);
    // The next raise does not cut the file.
    table.set_max_size(4 * MIB).unwrap();
    assert_eq!(len_of(&path), 20 * MIB);
    assert!(fill(&table, count) > count);
    assert_clean(&table);
}

#[test]
fn damaged_words_are_noticed_bound_nothing_and_are_repaired() {
    for at in [LIMIT, MAX_SIZE] {
        for bit in [0, 5, 29, 31, 37, 63] {
            let dir = Dir::new();
            let path = dir.table("t");
            let table = options().create(&path).unwrap();
            let count = fill(&table, 0);
            let good = Image::read(&path).word64(at);
            let file = File::options().write(true).open(&path).unwrap();
            file.write_all_at(&(good ^ 1 << bit).to_le_bytes(), at)
                .unwrap();
            for opened in [&table, &options().open_existing(&path).unwrap()] {
                assert!(!opened.check().unwrap().is_clean());
                assert_eq!(fill(opened, count), count);
                assert!(opened.get(0u64.to_le_bytes()).unwrap().is_some());
            }
            table.repair().unwrap();
            assert_clean(&table);
            assert_eq!(fill(&table, count), count);
            table.set_max_size(4 * MIB).unwrap();
            assert!(fill(&table, count) > count);
            assert_eq!(table.stats().unwrap().max_size, 4 * MIB);
        }
    }
}

#[test]
fn a_cache_may_have_more_when_it_was_raised() {
    let dir = Dir::new();
    let cache = options().capacity(2 * MIB).create(dir.table("t")).unwrap();
    refusal(cache.set_capacity(8 * MIB));
    cache.set_max_size(16 * MIB).unwrap();
    cache.set_capacity(8 * MIB).unwrap();
    for number in 0..20_000u64 {
        cache.set(number.to_le_bytes(), [7; 1000]).unwrap();
    }
    let stats = cache.stats().unwrap();
    assert!(stats.resident_bytes > 6 * MIB && stats.resident_bytes <= 8 * MIB);
    assert_clean(&cache);
}

/// Programs that make backups read as many bytes as the file is long.
#[test]
fn the_default_is_smaller_on_a_disk() {
    let on_disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("resize-default");
    let _ = std::fs::remove_file(&on_disk);
    let table = Table::options().create(&on_disk).unwrap();
    let (size, len) = (table.stats().unwrap().max_size, len_of(&on_disk));
    std::fs::remove_file(&on_disk).unwrap();
    let dir = Dir::new();
    let in_memory = Table::options().create(dir.table("t")).unwrap();
    assert_eq!(in_memory.stats().unwrap().max_size, 64 << 30);
    assert!(
        size == 4 << 30 && len < 5 << 30 || size == 64 << 30,
        "{size}, {len}"
    );
}
