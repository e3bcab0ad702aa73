//! Flipped bits, one at a time, in every part of the region that says something, except the words
//! that say what the file is (`foreign.rs`), the table of uids (`damage_uids.rs`), what pools of
//! queues and logs have in their pages (`queue_deaths.rs`, `log_deaths.rs`), and empty slots. What
//! may come of them is described in `support/damage.rs`.

use crate::support::damage::{
    EXTENT_NAMES, FLAGS, MANY, Place, TIMES, build, flip, flip_all, items_of, key_of, named_items,
    starts, words,
};
use crate::support::format::{self, Image};
use crate::support::part::play;
use crate::support::{Dir, assert_clean, value_of};
use tavola::{Hint, Table};

fn heads(image: &Image) -> Vec<Place> {
    let heads: Vec<u64> = (0..image.shards())
        .map(|shard| image.shard(shard))
        .collect();
    let in_heads = |from: u64, len: u64| words(heads.iter().map(|head| head + from), len);
    let pool = format::POOL;
    let leases = image.leases()..image.leases() + format::LEASE_RECORDS * image.shards();
    vec![
        Place::new("pool lock", words([pool], 4), 32, 0),
        Place::new("pool lists", words([pool + 4], 20), 160, 0),
        Place::new("high_water", words([format::HIGH_WATER], 4), 32, 0),
        Place::new("layout word", in_heads(0, 8), 128, MANY),
        Place::new(
            "inline directory",
            in_heads(format::DIRECTORY, 32),
            128,
            MANY,
        ),
        Place::new("lock words", in_heads(format::LOCK, 4), 64, 0),
        Place::new("counters", in_heads(format::COUNTERS, 52), 200, 0),
        Place::new(
            "directory counts",
            in_heads(format::DIRECTORY_COUNTS, 8),
            60,
            0,
        ),
        Place::new("class heads", in_heads(format::CLASSES, 648), 200, 0),
        Place::new("levels", in_heads(format::LEVELS, 96), 50, 0),
        Place::new("sweeps", in_heads(format::SWEEP, format::SWEEP_LEN), 100, 0),
        Place::new("participants", words([image.participants()], 256), 100, 0),
        Place::new("lease records", vec![leases], 300, 0),
        Place::new("directories", words([image.directories()], 4096), 30, 0),
    ]
}

fn superblock(image: &Image) -> Vec<Place> {
    let entries = (0..format::EXTENT_COUNT).map(|n| format::EXTENTS + n * format::EXTENT);
    let (used, free): (Vec<_>, Vec<_>) = entries.partition(|at| image.word32(*at) != 0);
    let name_len = format::EXTENT - format::EXTENT_NAME;
    let names = words(used.iter().map(|at| at + format::EXTENT_NAME), name_len);
    let heads = words(used, format::EXTENT_NAME);
    vec![
        Place::new("clock", words([format::CLOCK], 8), 128, 0),
        Place::new("leases", words([format::LEASES], format::LEASES_LEN), 40, 0),
        Place::new("extents", heads, 120, 0),
        Place::new(EXTENT_NAMES, names, 30, 0),
        Place::new("states of free extents", words(free.clone(), 4), 40, 0),
        Place::new("free extents", words(free, format::EXTENT), 30, 0),
    ]
}

fn pages(image: &Image) -> Vec<Place> {
    let table = image.page_table();
    let segments = starts(image, format::SEGMENT);
    let slabs = || starts(image, format::SLAB).into_iter();
    let buckets = || {
        segments
            .iter()
            .flat_map(|page| (0..256).map(move |b| page + 64 * b))
    };
    let slots = buckets().flat_map(|bucket| (1..8).map(move |slot| bucket + 8 * slot));
    let used = slots
        .filter(|at| image.word64(*at) != 0)
        .collect::<Vec<_>>();
    let word_range = table + 8 * image.first_page()..table + 8 * (image.high_water() + 8);
    let bitmaps = words(slabs().map(|at| at + 24), 128);
    vec![
        Place::new("page words", vec![word_range], 350, MANY),
        Place::new("bucket heads", words(buckets(), 8), 120, 0),
        Place::new("slots", words(used, 8), 250, 1),
        Place::new("slab heads", words(slabs(), 24), 240, 0),
        Place::new("slab bitmaps", bitmaps, 200, MANY),
    ]
}

fn items(image: &Image) -> Vec<Place> {
    let found = items_of(image);
    let starts = || found.iter().map(|item| item.ranges[0].start);
    let keys = words(found.iter().map(|item| item.key_at), 24);
    let large = || found.iter().filter(|item| item.is_large);
    let links = words(large().map(|item| item.ranges[0].start + 8), 8);
    let times = words(found.iter().filter_map(|item| item.expiry_at), 8);
    let flags = words(found.iter().filter_map(|item| item.client_at), 8);
    let chained = large().flat_map(|item| item.ranges[1..].to_vec());
    let (chain_words, chain_pages): (Vec<_>, Vec<_>) =
        chained.partition(|range| range.end - range.start == 8);
    vec![
        Place::new("item headers", words(starts(), 8), 300, 1),
        Place::new("links", links, 150, 1),
        Place::new("chains", chain_words, 250, 2),
        Place::new(TIMES, times, 120, 1),
        Place::new(FLAGS, flags, 100, 0),
        Place::new("keys and values", keys, 300, 1),
        Place::new("large values", chain_pages, 40, 1),
    ]
}

fn places(image: &Image, group: &str) -> Vec<Place> {
    match group {
        "superblock" => superblock(image),
        "heads" => heads(image),
        "pages" => pages(image),
        "items" => items(image),
        _ => panic!("{group}"),
    }
}

/// An actor.
fn flipper(args: &[String]) {
    flip(args, places);
}

#[test]
fn flips_in_the_superblock() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_the_superblock", "superblock", 1, places);
}

#[test]
fn flips_in_the_heads_of_pool_and_shards() {
    play(&[("flipper", flipper)]);
    let test = "flips_in_the_heads_of_pool_and_shards";
    flip_all(test, "heads", 1, places);
}

#[test]
fn flips_in_the_heads_of_several_shards() {
    play(&[("flipper", flipper)]);
    let test = "flips_in_the_heads_of_several_shards";
    flip_all(test, "heads", 4, places);
}

#[test]
fn flips_in_page_words_segments_and_slabs() {
    play(&[("flipper", flipper)]);
    let test = "flips_in_page_words_segments_and_slabs";
    flip_all(test, "pages", 1, places);
}

#[test]
fn flips_in_items_and_chains() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_items_and_chains", "items", 2, places);
}

/// Compacting waits for the grace of freed pages, but not because of a counter that is wrong.
#[test]
fn compacting_with_a_flipped_counter_ends() {
    let dir = Dir::new();
    let template = dir.table("template");
    build(&template, 1);
    let original = Image::read(&template);
    let counters = heads(&original)
        .into_iter()
        .filter(|place| ["pool lists", "counters", "levels"].contains(&place.name))
        .flat_map(|place| place.bytes)
        .flat_map(|range| range.step_by(4));
    let flips = counters.flat_map(|at| [(at, 0), (at, 4), (at + 3, 7)]);
    std::thread::scope(|scope| {
        for (number, (at, bit)) in flips.enumerate() {
            let path = dir.table(&number.to_string());
            let mut image = Image {
                bytes: original.bytes.clone(),
            };
            scope.spawn(move || {
                image.flip(at, bit);
                image.write(&path);
                let table = Table::open(&path).unwrap();
                let begun = std::time::Instant::now();
                // Damage that is found may end it early.
                let _ = table.compact();
                let seconds = begun.elapsed().as_secs();
                assert!(seconds < 60, "byte {at} bit {bit}: {seconds} s");
                table.repair().unwrap();
                assert_clean(&table);
                std::fs::remove_file(path).unwrap();
            });
        }
    });
}

/// A repair drops the entry of a segment that is lost, the root's too: the other keys are still
/// met, swept and cleared.
#[test]
fn a_shard_without_its_root_is_walked_to_its_end() {
    let dir = Dir::new();
    let path = dir.table("rootless");
    build(&path, 1);
    let mut image = Image::read(&path);
    let root = image.shard(0) + format::DIRECTORY;
    image.bytes[root as usize..][..4].fill(0);
    image.write(&path);
    let table = Table::open(&path).unwrap();
    table.repair().unwrap();
    let all = table.len().unwrap();
    let swept = || table.stats().unwrap().expired;
    let before = swept();
    table.remove_expired().unwrap();
    let expired = swept() - before;
    assert!(expired > 0 && table.len().unwrap() == all - expired);
    assert_eq!(
        table.iter().map(Result::unwrap).count() as u64,
        all - expired
    );
    assert_clean(&table);
    table.clear().unwrap();
    assert_eq!((all > 1000, table.len().unwrap()), (true, 0));
    assert_clean(&table);
}

/// One item's damage stays its own: nothing of its neighbours' chains is freed or read in its
/// place, whatever bit of its header or link is flipped.
#[test]
fn a_flipped_link_frees_no_pages_of_others() {
    const KEYS: u64 = 32;
    let dir = Dir::new();
    let template = dir.table("template");
    let table = Table::options()
        .max_size(4 << 20)
        .shards(1)
        .create(&template)
        .unwrap();
    // Keys in the block and keys in the chain; a bit of a link leads from one's pages to another's.
    let value = |number: u64, version| {
        let len = if number < KEYS / 2 { 40_000 } else { 16_330 };
        value_of(&key_of(number), version, len)
    };
    let hints: Vec<Hint> = (0..KEYS)
        .map(|number| table.set_uid(key_of(number), value(number, 1)).unwrap())
        .collect();
    let original = Image::read(&template);
    let found = named_items(&original);
    for (number, bit) in (0..KEYS)
        .step_by(11)
        .flat_map(|n| (0..128).map(move |bit| (n, bit)))
    {
        let key = key_of(number);
        let item = found.iter().find(|item| item.key == key).unwrap();
        let mut image = Image {
            bytes: original.bytes.clone(),
        };
        image.flip(item.ranges[0].start + bit / 8, (bit % 8) as u32);
        let path = dir.table("flipped");
        image.write(&path);
        let table = Table::open(&path).unwrap();
        // Some of these find damage. Then what was freed is used again.
        let _ = table.set_by_uid(hints[number as usize], value(number, 2));
        let _ = table.set(&key, value(number, 3));
        let _ = table.remove(&key);
        for fresh in 1000..1020 {
            table.set(key_of(fresh), value(fresh % KEYS, 4)).unwrap();
        }
        for other in (0..KEYS).filter(|other| *other != number) {
            let right = Some(value(other, 1));
            let (key, hint) = (key_of(other), hints[other as usize]);
            assert!(table.get(&key).unwrap() == right, "{number} {bit}: {other}");
            assert!(
                table.get_by_uid(hint).unwrap() == right,
                "{number} {bit}: {other}"
            );
        }
        table.repair().unwrap();
        assert_clean(&table);
    }
}

/// Keys that damaged hints hide are set again: each is there once after a repair, as it was read.
#[test]
fn keys_that_were_hidden_are_not_there_twice() {
    let dir = Dir::new();
    let path = dir.table("t");
    let key = |number: u32| number.to_le_bytes();
    let set_all = |version: u64| {
        let table = Table::options().max_size(4 << 20).shards(1).open(&path);
        let table = table.unwrap();
        for number in 0..1650 {
            table.set(key(number), version.to_le_bytes()).unwrap();
        }
        table
    };
    drop(set_all(1));
    let mut image = Image::read(&path);
    for page in image.pages(format::SEGMENT) {
        for bucket in 0..256 {
            let hint = (page * format::PAGE + 64 * bucket + 7) as usize;
            image.bytes[hint] &= 0x0F;
        }
    }
    image.write(&path);
    let table = set_all(2);
    assert!(table.iter().count() > 1650, "no key was away from home");
    // Where both stand in one bucket, it may be the old one. A hint that is too low goes back to 0
    // while a new key still needs it when an old one, which it did not count, moves home.
    let found = |key: &[u8]| table.get(key).unwrap();
    let before: Vec<_> = (0..1650).map(|number| found(&key(number))).collect();
    let hidden = before.iter().filter(|value| value.is_none()).count();
    assert!(hidden < 16, "{hidden} keys are hidden");
    table.repair().unwrap();
    assert_clean(&table);
    let met: Vec<_> = table.iter().map(|entry| entry.unwrap()).collect();
    assert_eq!((met.len(), table.len().unwrap()), (1650, 1650));
    for (key, value) in met {
        let number = u32::from_le_bytes(key[..].try_into().unwrap());
        if let Some(read) = &before[number as usize] {
            assert_eq!(value, *read, "{number}");
        }
        assert_eq!(Some(value), found(&key));
        assert!(table.remove(&key).unwrap() && table.get(&key).unwrap().is_none());
    }
    assert_clean(&table);
}
