//! Many make the same table at one instant, or are killed while they make it: there is one whole
//! table in the end, and nothing beside it.

use crate::support::part::{Actor, hear, play, say};
use crate::support::{Dir, Random, assert_clean};
use std::path::Path;
use std::time::Duration;
use tavola::Table;

const CREATORS: u32 = 32;

fn options() -> tavola::Options {
    Table::options().max_size(64 << 20)
}

fn uuid_of(table: &Table) -> String {
    format!("{:02x?}", table.stats().unwrap().uuid)
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// An actor: waits for the signal, opens the table, sets keys of its own, reports which table it
/// was.
fn creator(args: &[String]) {
    while let Some(path) = hear() {
        let begin: u64 = hear().unwrap().parse().unwrap();
        // All begin at one instant of the clock: a word through a pipe would arrive one by one.
        while crate::support::process::monotonic_ns() < begin {
            std::hint::spin_loop();
        }
        let table = options().open(&path).unwrap();
        for number in 0..20 {
            table
                .set(format!("{}-{number}", args[0]).as_bytes(), b"x")
                .unwrap();
        }
        say(uuid_of(&table));
    }
}

#[test]
fn all_creators_at_one_instant_end_on_one_table() {
    play(&[("creator", creator)]);
    let test = "all_creators_at_one_instant_end_on_one_table";
    let dir = Dir::new();
    let mut creators: Vec<Actor> = (0..CREATORS)
        .map(|number| Actor::start(test, "creator", &[&number.to_string()]))
        .collect();
    for round in 0..15 {
        let path = dir.table(&format!("t{round}"));
        let begin = crate::support::process::monotonic_ns() + 3_000_000;
        for creator in &mut creators {
            creator.send(path.to_str().unwrap());
            creator.send(&begin.to_string());
        }
        let uuids: Vec<String> = creators.iter_mut().map(Actor::hear).collect();
        assert!(uuids.iter().all(|uuid| *uuid == uuids[0]), "{uuids:?}");
        let table = options().open_existing(&path).unwrap();
        assert_eq!(uuid_of(&table), uuids[0]);
        assert_eq!(table.len().unwrap(), u64::from(CREATORS) * 20);
        assert_clean(&table);
        assert_eq!(names_in(dir.path()), [format!("t{round}")]);
        std::fs::remove_file(path).unwrap();
    }
    creators.into_iter().for_each(Actor::finish);
}

/// An actor: makes tables of one name and removes them, until it is killed.
fn maker(args: &[String]) {
    say("begin");
    loop {
        let table = options().open(&args[0]).unwrap();
        table.set(b"key", b"value").unwrap();
        drop(table);
        std::fs::remove_file(&args[0]).unwrap();
    }
}

#[test]
fn a_killed_creator_leaves_a_whole_table_or_none() {
    play(&[("maker", maker)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let test = "a_killed_creator_leaves_a_whole_table_or_none";
    let mut random = Random::new(3);
    let (mut left, mut none) = (0, 0);
    // As often as it takes to see both, where the machine lets the maker run only now and then.
    for round in 0..20_000u64 {
        if round >= 200 && left > 0 && none > 0 {
            break;
        }
        let mut maker = Actor::start(test, "maker", &[path.to_str().unwrap()]);
        assert_eq!(maker.hear(), "begin");
        // Asleep, as the maker may have no processor but ours; the longer, the longer it takes to
        // see both.
        let most = 1500 * (1 + round / 100);
        std::thread::sleep(Duration::from_micros(random.below(most)));
        maker.kill();
        let names = names_in(dir.path());
        match names.len() {
            0 => none += 1,
            _ => left += 1,
        }
        assert!(names.is_empty() || names == ["t"], "{names:?}");
        let table = options().open(&path).unwrap();
        let value = table.get(b"key").unwrap();
        assert!(value.is_none_or(|value| value == b"value"));
        table.set(b"next", b"one").unwrap();
        assert_clean(&table);
        std::fs::remove_file(&path).unwrap();
    }
    // Kills before and after the table had its name: the moments were spread over the making.
    assert!(
        left > 0 && none > 0,
        "{left} tables left, {none} times none"
    );
}

/// Opening, dropping and making the same name over and over, by several at once.
#[test]
fn opening_races_with_removing() {
    play(&[("opener", opener)]);
    let dir = Dir::new();
    let path = dir.table("t");
    let path = path.to_str().unwrap();
    let test = "opening_races_with_removing";
    let mut actors: Vec<Actor> = (0..4)
        .map(|_| Actor::start(test, "opener", &[path]))
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    for actor in &mut actors {
        actor.send("enough");
    }
    for mut actor in actors {
        assert!(actor.hear_number() > 0);
        actor.finish();
    }
}

/// An actor: opens, uses and removes until it is asked to stop.
fn opener(args: &[String]) {
    let rounds = crate::support::part::repeat_until_a_line_comes(|_| {
        let table = options().open(&args[0]).unwrap();
        table.set(b"key", b"value").unwrap();
        assert_eq!(table.get(b"key").unwrap().unwrap(), b"value");
        let _ = tavola::names::remove(&args[0]);
    });
    say(rounds);
}
