//! Reading through a mapping that cannot be written to, while others write, split and compact.

use crate::support::mount::Mount;
use crate::support::part::{Actor, play, repeat_until_a_line_comes, say};
use crate::support::patience::MINUTE;
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::os::unix::fs::PermissionsExt;
use tavola::{Error, Table};

const KEYS: u64 = 20_000;

fn key_of(number: u64) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Every write of the public surface is refused, in the same words.
fn assert_writes_refused(table: &Table) {
    let key = b"key";
    let (_, token) = table.get_with_token(b"there").unwrap().unwrap();
    let pairs = [(b"a", b"b")];
    let refused = [
        table.set(key, b"x"),
        table.set_many(&pairs),
        table.add(key, b"x").map(drop),
        table.replace(key, b"x").map(drop),
        table.append(key, b"x").map(drop),
        table.prepend(key, b"x").map(drop),
        table.remove(key).map(drop),
        table.take(key).map(drop),
        table.swap(key, b"x").map(drop),
        table.incr(key, 1).map(drop),
        table.decr(key, 1).map(drop),
        table.update(key, |_| Some(Vec::new())).map(drop),
        table.compare_and_swap(b"there", token, b"x").map(drop),
        table.clear(),
        table.compact().map(drop),
        table.maintain(1 << 20).map(drop),
        table.repair().map(drop),
        table.reclaim().map(drop),
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        let message = format!("{refused:?}");
        assert!(
            matches!(refused, Err(Error::ReadOnly)),
            "write {number}: {message}"
        );
    }
}

/// Every read of the public surface works.
fn assert_reads_work(table: &Table) {
    assert!(table.is_read_only());
    assert_eq!(table.get(b"there").unwrap().unwrap(), b"value");
    assert_eq!(table.get(b"nowhere").unwrap(), None);
    let mut value = Vec::new();
    assert!(table.get_into(b"there", &mut value).unwrap());
    assert!(table.contains(b"there").unwrap());
    let mut met = 0;
    table
        .get_many(&["there", "nowhere"], |_, value| {
            met += usize::from(value.is_some())
        })
        .unwrap();
    assert_eq!(met, 1);
    assert_eq!(table.len().unwrap(), 1);
    assert_eq!(table.iter().map(Result::unwrap).count(), 1);
    assert_eq!(table.stats().unwrap().keys, 1);
    assert!(table.participants().unwrap().len() <= 1);
    assert_clean(table);
}

#[test]
fn reads_work_and_writes_are_refused() {
    let dir = Dir::new();
    let path = dir.table("t");
    let table = Table::options().max_size(8 << 20).create(&path).unwrap();
    table.set(b"there", b"value").unwrap();
    let reader = Table::open_read_only(&path).unwrap();
    assert_reads_work(&reader);
    assert_writes_refused(&reader);
    drop(table);
    assert_reads_work(&reader);
    assert_writes_refused(&reader);
    // No mode for anybody to write.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let again = Table::open_read_only(&path).unwrap();
    assert_reads_work(&again);
}

#[test]
fn a_table_on_a_read_only_mount_is_read() {
    let Some(mount) = Mount::tmpfs(8 << 20) else {
        return;
    };
    let path = mount.table("t");
    let table = Table::options().max_size(8 << 20).create(&path).unwrap();
    table.set(b"there", b"value").unwrap();
    drop(table);
    mount.set_read_only(true);
    let reader = Table::open_read_only(&path).unwrap();
    assert_reads_work(&reader);
    assert_writes_refused(&reader);
}

/// The mapping itself forbids writing: that nothing is written needs no other proof.
#[test]
fn the_mapping_cannot_be_written_to() {
    let dir = Dir::new();
    let path = dir.table("t");
    Table::options().max_size(8 << 20).create(&path).unwrap();
    let reader = Table::open_read_only(&path).unwrap();
    assert!(!reader.contains(b"key").unwrap());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let name = path.to_str().unwrap();
    let rights: Vec<&str> = maps
        .lines()
        .filter(|line| line.ends_with(name))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert!(!rights.is_empty());
    assert!(rights.iter().all(|rights| *rights == "r--s"), "{rights:?}");
}

/// An actor: fills, empties and compacts, over and over; the even keys are always there.
fn churner(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    let mut random = Random::new(1);
    repeat_until_a_line_comes(|round| {
        for step in 0..KEYS / 2 {
            let key = key_of(step * 2 + 1);
            table
                .set(&key, value_of(&key, round, 16 + random.below(300) as usize))
                .unwrap();
            let even = key_of(random.below(KEYS / 2) * 2);
            table.set(&even, value_of(&even, round, 40)).unwrap();
        }
        let large = key_of(random.below(KEYS / 2) * 2);
        table.set(&large, value_of(&large, round, 100_000)).unwrap();
        for step in 0..KEYS / 2 {
            table.remove(key_of(step * 2 + 1)).unwrap();
        }
        if round % 4 == 3 {
            table.compact().unwrap();
        }
    });
    say("done");
}

#[test]
fn reading_continues_while_another_process_grows_and_shrinks_the_table() {
    play(&[("churner", churner)]);
    let test = "reading_continues_while_another_process_grows_and_shrinks_the_table";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = Table::options()
        .max_size(64 << 20)
        .shards(1)
        .create(&path)
        .unwrap();
    for number in (0..KEYS).step_by(2) {
        let key = key_of(number);
        table.set(&key, value_of(&key, 0, 40)).unwrap();
    }
    drop(table);
    let reader = Table::open_read_only(&path).unwrap();
    let mut actor = Actor::start(test, "churner", &[path.to_str().unwrap()]);
    let begun = std::time::Instant::now();
    let mut odd = 0u64;
    let mut random = Random::new(2);
    while begun.elapsed().as_secs() < 4 || odd == 0 {
        assert!(
            begun.elapsed() < MINUTE,
            "nothing was read that comes and goes"
        );
        for _ in 0..2000 {
            let number = random.below(KEYS);
            let key = key_of(number);
            match reader.get(&key).unwrap() {
                Some(value) => {
                    version_of(&key, &value).unwrap();
                    odd += number % 2;
                }
                None => assert!(number % 2 == 1, "key {number} was always there"),
            }
        }
        let keys: Vec<Vec<u8>> = (0..100)
            .map(|_| key_of(random.below(KEYS / 2) * 2))
            .collect();
        let found = |i: usize, value: Option<&[u8]>| {
            version_of(&keys[i], value.unwrap()).unwrap();
        };
        reader.get_many(&keys, found).unwrap();
        let mut met = vec![false; KEYS as usize];
        for entry in reader.iter() {
            let (key, value) = entry.unwrap();
            version_of(&key, &value).unwrap();
            let number: usize = std::str::from_utf8(&key[4..]).unwrap().parse().unwrap();
            met[number] = true;
        }
        let missed = (0..met.len())
            .step_by(2)
            .filter(|number| !met[*number])
            .count();
        assert_eq!(missed, 0, "keys that were always there");
    }
    actor.send("enough");
    assert_eq!(actor.hear(), "done");
    actor.finish();
    assert_clean(&Table::open(&path).unwrap());
}
