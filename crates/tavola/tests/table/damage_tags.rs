//! Flipped bits in tags and in keys that have some: no other key is concerned, what was invalidated
//! stays so, and after a repair all works.

use crate::support::format::Image;
use crate::support::{Dir, assert_clean};
use tavola::{Attributes, Error, Result, Table};

const VALUE: &[u8] = b"a value of some bytes";
/// Keys and their tags; the last tag is invalidated.
const KEYS: [(&[u8], &[&str]); 4] = [
    (b"the first key of all", &["tag x", "tag y"]),
    (b"the other, of tag y", &["tag y"]),
    (b"the one without tags", &[]),
    (b"the one that is gone", &["tag y", "tag z"]),
];

fn build(table: &Table) {
    for (key, names) in KEYS {
        let tags = table.fetch_tags(names).unwrap();
        let none = Attributes::default();
        table.set_tagged(key, VALUE, none, &tags).unwrap();
    }
    table.invalidate_tag(b"tag z").unwrap();
}

/// Where the item is whose key or name this is, of so many bytes before and behind that.
fn place(image: &Image, name: &[u8], before: usize, behind: usize) -> std::ops::Range<usize> {
    let windows = image.bytes.windows(name.len());
    let found: Vec<usize> = windows
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == name).then_some(at))
        .collect();
    assert_eq!(found.len(), 1, "{}", name.escape_ascii());
    found[0] - before..found[0] + name.len() + behind
}

fn value_of(found: Result<Option<Vec<u8>>>) -> Option<Vec<u8>> {
    match found {
        Ok(found) => found,
        Err(Error::Corrupt { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Flips each bit of an item, which concerns only some of the keys.
fn flip_all(dir: &Dir, image: &Image, range: std::ops::Range<usize>, concerned: &[usize]) {
    for (at, bit) in range.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut flipped = Image {
            bytes: image.bytes.clone(),
        };
        flipped.flip(at as u64, bit);
        let path = dir.table("flipped");
        flipped.write(&path);
        let table = Table::open(&path).unwrap();
        let check = |is_repaired: bool| {
            for (number, (key, names)) in KEYS.iter().enumerate() {
                let found = value_of(table.get(key));
                if concerned.contains(&number) {
                    continue;
                }
                let is_there = *names != ["tag y", "tag z"];
                let wanted = is_there.then(|| VALUE.to_vec());
                assert_eq!(found, wanted, "byte {at} bit {bit}, {is_repaired}");
            }
            // Scans report damage or end.
            let _ = table.iter().try_for_each(|entry| entry.map(drop));
        };
        check(false);
        let _ = table.check().unwrap();
        let _ = table.remove_expired();
        check(false);
        table.repair().unwrap();
        assert_clean(&table);
        check(true);
        // All of it works: with the old tags, and with new ones of the same names.
        for _ in 0..2 {
            for (key, names) in KEYS {
                let tags = table.fetch_tags(names).unwrap();
                let none = Attributes::default();
                table.set_tagged(key, VALUE, none, &tags).unwrap();
                assert_eq!(table.get(key).unwrap().as_deref(), Some(VALUE));
            }
            assert!(table.invalidate_tag(b"tag y").unwrap());
            let left = KEYS.iter().filter(|(key, _)| table.contains(key).unwrap());
            assert_eq!(left.count(), 1, "byte {at} bit {bit}");
        }
        assert_clean(&table);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn flips_in_tags_and_in_the_tags_of_keys() {
    let dir = Dir::new();
    let path = dir.table("template");
    let options = Table::options().max_size(1 << 20).shards(1);
    build(&options.create(&path).unwrap());
    let image = Image::read(&path);
    // Header and flags before the key; behind it the value, a gap, two tags.
    let key = place(&image, KEYS[0].0, 16, 21 + 7 + 16);
    flip_all(&dir, &image, key, &[0]);
    // Header and uid before the name. Keys with the tag may be missing for it; or the other tag, if
    // the repair finds its uid here first.
    let tag = place(&image, b"tag x", 16, 0);
    flip_all(&dir, &image, tag, &[0, 1]);
    let gone = place(&image, KEYS[3].0, 16, 21 + 7 + 16);
    flip_all(&dir, &image, gone, &[3]);
}
