//! No room: the file system is full or `max_size` is reached. Every write says so and nothing
//! breaks; once something is removed, the table takes new keys again.

use crate::support::mount::Mount;
use crate::support::part::{Actor, hear, play, repeat_until_a_line_comes, say};
use crate::support::process::limit;
use crate::support::{Dir, assert_clean, value_of, version_of};
use std::path::Path;
use tavola::{Error, Table};

const ROOM: u64 = 16 << 20;
/// Larger than any file system here: what ends the filling is the file system.
const MAX_SIZE: u64 = 64 << 20;

fn key_of(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

/// Sets keys from `from` on until there is no room; the number of the first that was refused.
fn fill(table: &Table, from: u64, len: impl Fn(u64) -> usize) -> u64 {
    for number in from.. {
        let key = key_of(number);
        match table.set(key, value_of(&key, 1, len(number))) {
            Ok(()) => {}
            Err(Error::Full { .. }) => return number,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("a table that takes every key")
}

fn assert_there(table: &Table, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let key = key_of(number);
        let value = table.get(key).unwrap();
        let whole = value.as_ref().and_then(|value| version_of(&key, value));
        assert_eq!(whole, Some(1), "key {number}");
    }
}

/// Fills, empties and fills again: what was acknowledged is there, what was refused is not.
fn fill_twice(table: &Table, len: impl Fn(u64) -> usize + Copy) {
    let count = fill(table, 0, len);
    assert!(count > 0, "not one key fits");
    assert_there(table, 0..count);
    assert_eq!(table.get(key_of(count)).unwrap(), None);
    assert_eq!(table.len().unwrap(), count);
    assert_clean(table);
    for number in 0..count / 2 {
        assert!(table.remove(key_of(number)).unwrap());
    }
    let again = fill(table, count, len);
    assert!(
        again - count >= count / 4,
        "{count} keys, then only {} more",
        again - count
    );
    assert_there(table, count / 2..again);
    assert_clean(table);
    table.clear().unwrap();
    assert_clean(table);
    let from_empty = fill(table, 0, len);
    assert!(
        from_empty >= count * 9 / 10,
        "{count} keys, after a clear {from_empty}"
    );
    assert_there(table, 0..from_empty);
    assert_clean(table);
}

fn mixed(number: u64) -> usize {
    match number % 16 {
        0 => 20_000,
        1..4 => 1_500,
        _ => 40,
    }
}

#[test]
fn max_size_is_reached_by_values_of_every_size() {
    let dir = Dir::new();
    for (max_size, shards) in [(1 << 20, 1), (8 << 20, 1), (8 << 20, 16)] {
        let lens: [fn(u64) -> usize; 5] = [|_| 16, |_| 1_000, |_| 16_000, |_| 100_000, mixed];
        for (i, len) in lens.iter().enumerate() {
            let path = dir.table(&format!("{max_size}-{shards}-{i}"));
            let options = Table::options().max_size(max_size).shards(shards);
            fill_twice(&options.create(&path).unwrap(), *len);
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn a_value_larger_than_the_table_is_refused_and_leaves_nothing() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(8 << 20)
        .create(dir.table("t"))
        .unwrap();
    table.set(b"kept", b"value").unwrap();
    for _ in 0..3 {
        let refused = table.set(b"kept", vec![1; 20 << 20]);
        assert!(matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    }
    assert_eq!(table.get(b"kept").unwrap().unwrap(), b"value");
    table.set(b"large", vec![2; 6 << 20]).unwrap();
    assert_clean(&table);
}

/// Room that removed keys of one size left must serve others.
#[test]
fn room_of_small_values_serves_large_ones_and_back() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(8 << 20)
        .create(dir.table("t"))
        .unwrap();
    let small = fill(&table, 0, |_| 100);
    for number in (0..small).filter(|number| number % 8 != 0) {
        assert!(table.remove(key_of(number)).unwrap());
    }
    let kept = small.div_ceil(8);
    for len in [1_000, 5_000, 300_000] {
        let more = fill(&table, small, |_| len);
        let bytes = (more - small) * len as u64;
        assert!(
            bytes > 3 << 20,
            "only {bytes} bytes in values of {len} bytes"
        );
        assert_clean(&table);
        for number in small..more {
            assert!(table.remove(key_of(number)).unwrap());
        }
        assert_eq!(table.len().unwrap(), kept);
    }
}

/// An actor: fills the table at a path with values of a length, and does what the test says.
fn filler(args: &[String]) {
    let table = Table::options().max_size(MAX_SIZE).open(&args[0]).unwrap();
    let len: usize = args[1].parse().unwrap();
    let mut count = 0;
    while let Some(order) = hear() {
        match order.as_str() {
            "fill" => count = fill(&table, 0, |_| len),
            "halve" => {
                for number in 0..count / 2 {
                    assert!(table.remove(key_of(number)).unwrap());
                }
                fill(&table, 0, |_| len);
            }
            "twice" => {
                table.clear().unwrap();
                fill_twice(&table, |_| len);
            }
            _ => panic!("{order}"),
        }
        say(count);
    }
    assert_clean(&table);
}

/// An actor: reads all the time, one by one and by scanning.
fn reader(args: &[String]) {
    let table = Table::open_read_only(&args[0]).unwrap();
    let mut met = 0u64;
    repeat_until_a_line_comes(|round| {
        let key = key_of(round % 20_000);
        if let Some(value) = table.get(key).unwrap() {
            version_of(&key, &value).unwrap();
            met += 1;
        }
        if round == 0 {
            say(met);
        }
        if round % 5_000 == 0 {
            for entry in table.iter() {
                let (key, value) = entry.unwrap();
                version_of(&key, &value).unwrap();
            }
        }
    });
    say(met);
}

fn with_a_reader(test: &str, len: &str) {
    let Some(mount) = Mount::tmpfs(ROOM) else {
        return;
    };
    let path = mount.table("t");
    let path = path.to_str().unwrap();
    let mut filler = Actor::start(test, "filler", &[path, len]);
    filler.send("fill");
    // The reader comes when the table exists for sure.
    assert!(filler.hear_number() > 0);
    let mut reader = Actor::start(test, "reader", &[path]);
    assert_eq!(reader.hear_number(), 1, "the first key is there");
    for order in ["halve", "halve", "fill", "twice"] {
        filler.send(order);
        filler.hear();
    }
    reader.send("enough");
    reader.hear_number();
    reader.finish();
    filler.finish();
}

#[test]
fn a_full_file_system_with_small_values() {
    play(&[("filler", filler), ("reader", reader)]);
    with_a_reader("a_full_file_system_with_small_values", "64");
}

#[test]
fn a_full_file_system_with_large_values() {
    play(&[("filler", filler), ("reader", reader)]);
    with_a_reader("a_full_file_system_with_large_values", "150000");
}

/// The room goes to another file, not to the table.
#[test]
fn another_file_eats_the_room() {
    play(&[("filler", filler)]);
    let Some(mount) = Mount::tmpfs(ROOM) else {
        return;
    };
    let path = mount.table("t");
    for len in ["16", "900", "50000"] {
        let args = [path.to_str().unwrap(), len];
        let mut actor = Actor::start("another_file_eats_the_room", "filler", &args);
        let ballast = mount.fill("ballast", 2 << 20);
        actor.send("fill");
        let little = actor.hear_number();
        assert_eq!(mount.free_bytes() / 65_536, 0, "room was left");
        std::fs::remove_file(&ballast).unwrap();
        actor.send("fill");
        assert!(
            actor.hear_number() > little,
            "the room that came back is not used"
        );
        // All room is the table's now; the other file gets none, and the table stays usable.
        mount.fill("ballast", 0);
        actor.send("halve");
        actor.hear();
        std::fs::remove_file(&ballast).unwrap();
        actor.finish();
        std::fs::remove_file(&path).unwrap();
    }
}

/// An actor: tries to make a table and to open a sparse file, and returns what became of it.
fn creator(args: &[String]) {
    let answer = match Table::options().max_size(MAX_SIZE).open(&args[0]) {
        Ok(table) => {
            let set = table.set(b"key", b"value");
            assert!(matches!(set, Ok(()) | Err(Error::Full { .. })), "{set:?}");
            assert_clean(&table);
            "made".to_string()
        }
        Err(Error::Full { .. }) => "full".to_string(),
        Err(Error::NotATable { .. }) => "foreign".to_string(),
        Err(error) => error.to_string(),
    };
    say(answer);
}

#[test]
fn a_table_is_made_on_a_full_file_system_or_not_at_all() {
    play(&[("creator", creator)]);
    let test = "a_table_is_made_on_a_full_file_system_or_not_at_all";
    let Some(mount) = Mount::tmpfs(ROOM) else {
        return;
    };
    let sparse = mount.table("sparse");
    std::fs::File::create(&sparse)
        .unwrap()
        .set_len(8 << 20)
        .unwrap();
    let create = |path: &Path| {
        let mut actor = Actor::start(test, "creator", &[path.to_str().unwrap()]);
        let answer = actor.hear();
        actor.finish();
        answer
    };
    for spare_kib in [0, 4, 64, 96, 128, 160, 192, 224, 256] {
        let ballast = mount.fill("ballast", spare_kib << 10);
        assert_eq!(create(&sparse), "foreign", "with {spare_kib} KiB");
        let table = mount.table("t");
        let answer = create(&table);
        assert_eq!(table.exists(), answer == "made", "{answer}");
        if answer != "made" {
            assert_eq!(answer, "full", "with {spare_kib} KiB");
        }
        assert!(spare_kib > 0 || answer == "full");
        let others = std::fs::read_dir(mount.path()).unwrap().count();
        assert_eq!(
            others,
            2 + usize::from(answer == "made"),
            "something was left behind"
        );
        std::fs::remove_file(ballast).unwrap();
        if answer == "made" {
            std::fs::remove_file(table).unwrap();
        }
    }
    assert_eq!(create(&mount.table("t")), "made");
}

/// An actor: makes a table under a limit of its own, and says what came of it.
fn limited(args: &[String]) {
    let (which, bytes) = (args[0].as_str(), args[1].parse().unwrap());
    let resource = match which {
        "files" => libc::RLIMIT_FSIZE,
        _ => libc::RLIMIT_NOFILE,
    };
    limit(resource, bytes);
    let outcome = Table::options().max_size(ROOM).create(&args[2]);
    say(outcome
        .err()
        .map_or("fine".to_string(), |error| error.to_string()));
}

/// A limit of the process is reported as that limit, and not as a full file system or damage.
#[test]
fn limits_of_the_process_are_named_in_errors() {
    play(&[("limited", limited)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let test = "limits_of_the_process_are_named_in_errors";
    for (which, limit, words) in [("files", "4096", "ulimit -f"), ("open", "3", "ulimit -n")] {
        let args = [which, limit, path.to_str().unwrap()];
        let mut actor = Actor::start(test, "limited", &args);
        let sentence = actor.hear();
        assert!(sentence.contains(words), "{sentence}");
        assert!(!sentence.contains("file system"), "{sentence}");
        actor.finish();
    }
    assert!(!path.exists());
}
