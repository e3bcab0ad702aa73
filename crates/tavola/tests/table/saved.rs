//! Saved files: what comes back, into which table, and what stays out.

use crate::support::{Dir, assert_clean};
use std::time::Duration;
use tavola::serving::Marks;
use tavola::{Attributes, Condition, Error, Expiry, Options, StoreOptions, Stored, Table};

fn options() -> Options {
    Table::options().max_size(64 << 20).versions(true)
}

fn set_tagged(table: &Table, key: &str, tags: &[&str]) {
    let tags = table.fetch_tags(tags).unwrap();
    let attributes = Attributes::default();
    table.set_tagged(key, "x", attributes, &tags).unwrap();
}

#[test]
fn a_key_keeps_all_that_it_has() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let hour = Duration::from_secs(3600);
    table.set("plain", "value").unwrap();
    table
        .set_with("ttl", "x", Attributes::ttl(hour).with_flags(7))
        .unwrap();
    table.set_with("over", "x", Expiry::PAST.into()).unwrap();
    table.set("large", vec![9; 3 << 20]).unwrap();
    table.set(vec![b'k'; 100_000], "long").unwrap();
    table.set("", "").unwrap();
    table.incr("counter", 41).unwrap();
    table.set("number", 7_u64.to_ne_bytes()).unwrap();
    set_tagged(&table, "tagged", &["news", "user:7"]);
    set_tagged(&table, "invalidated", &["gone"]);
    table.invalidate_tag("gone").unwrap();
    let marked = StoreOptions {
        marks: Some(Marks::only(5)),
        ..StoreOptions::default()
    };
    table.store("marked", "x", &marked).unwrap();
    let saved = table.save(dir.table("file")).unwrap();
    assert_eq!(saved.keys, 9);
    assert_eq!(
        std::fs::metadata(dir.table("file")).unwrap().len(),
        saved.bytes
    );

    let new = options().create(dir.table("new")).unwrap();
    let restored = new.restore(dir.table("file")).unwrap();
    assert_eq!(
        (restored.keys, restored.present, restored.left_out),
        (9, 0, 0)
    );
    let mut entries = table.iter();
    while let Some((key, _)) = entries.next_entry().unwrap() {
        let [mut old, mut now] = [&table, &new].map(|table| table.get_entry(key).unwrap().unwrap());
        if let (Expiry::After(was), Expiry::After(is)) =
            (old.attributes.expiry, now.attributes.expiry)
        {
            assert!(is <= hour && was.abs_diff(is) < Duration::from_secs(600));
            (old.attributes.expiry, now.attributes.expiry) = (Expiry::Never, Expiry::Never);
        }
        assert_eq!(old, now, "{key:?}");
    }
    assert_eq!(new.incr("counter", 1).unwrap(), 42);
    let mut names = new.tags_of("tagged").unwrap().unwrap();
    names.sort();
    assert_eq!(names, [b"news".to_vec(), b"user:7".to_vec()]);
    new.invalidate_tag("news").unwrap();
    assert!(!new.contains("tagged").unwrap());
    assert_clean(&new);
}

#[test]
fn a_key_that_is_there_is_newer() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    table.set("a", "old").unwrap();
    table.set("b", "old").unwrap();
    table.save(dir.table("file")).unwrap();
    table.set("a", "new").unwrap();
    table.remove("b").unwrap();
    let restored = table.restore(dir.table("file")).unwrap();
    assert_eq!((restored.keys, restored.present), (1, 1));
    assert_eq!(table.get("a").unwrap().unwrap(), b"new");
    assert_eq!(table.get("b").unwrap().unwrap(), b"old");
}

#[test]
fn the_same_table_knows_which_tags_are_gone() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    set_tagged(&table, "gone", &["a"]);
    set_tagged(&table, "half", &["a", "b"]);
    set_tagged(&table, "there", &["b"]);
    table.save(dir.table("file")).unwrap();
    table.invalidate_tag("a").unwrap();
    table.remove("there").unwrap();
    // A tag of the same name is another one.
    set_tagged(&table, "later", &["a"]);
    let restored = table.restore(dir.table("file")).unwrap();
    assert_eq!((restored.keys, restored.invalidated), (1, 2));
    assert!(table.contains("there").unwrap() && table.contains("later").unwrap());
    assert!(!table.contains("gone").unwrap() && !table.contains("half").unwrap());
    table.invalidate_tag("b").unwrap();
    assert!(!table.contains("there").unwrap());
    // Another one does not.
    let other = options().create(dir.table("other")).unwrap();
    assert_eq!(other.restore(dir.table("file")).unwrap().keys, 3);
    other.invalidate_tag("a").unwrap();
    assert_eq!(other.live_keys().unwrap().live, 1);
    assert_clean(&table);
}

#[test]
fn no_version_is_given_out_twice() {
    let dir = Dir::new();
    let table = options().create(dir.table("t")).unwrap();
    let store = |table: &Table, condition| {
        let how = StoreOptions {
            condition,
            ..StoreOptions::default()
        };
        table.store("a", "x", &how).unwrap()
    };
    store(&table, Condition::Always);
    let token = table.get_entry("a").unwrap().unwrap().token;
    table.save(dir.table("file")).unwrap();
    // The file does not know of these, nor of those who have seen their versions.
    let Stored::Done(unsaved) = store(&table, Condition::Always) else {
        panic!("it is stored");
    };
    let new = options().create(dir.table("new")).unwrap();
    new.restore(dir.table("file")).unwrap();
    assert_eq!(new.get_entry("a").unwrap().unwrap().token, token);
    for _ in 0..3 {
        store(&new, Condition::Always);
        assert_eq!(store(&new, Condition::Is(unsaved)), Stored::Exists);
        assert_eq!(store(&new, Condition::Is(token)), Stored::Exists);
    }
}

fn key(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}

#[test]
fn a_smaller_cache_takes_what_it_would_keep() {
    let dir = Dir::new();
    let cache = |name, bytes| {
        let options = Table::options()
            .max_size(64 << 20)
            .shards(1)
            .capacity(bytes);
        options.create(dir.table(name)).unwrap()
    };
    let large = cache("large", 32 << 20);
    for number in 0..100_000 {
        large.set(key(number), [7; 100]).unwrap();
    }
    for number in (0..100_000).step_by(20) {
        assert!(large.get(key(number)).unwrap().is_some());
    }
    large.save(dir.table("file")).unwrap();
    let small = cache("small", 6 << 20);
    let restored = small.restore(dir.table("file")).unwrap();
    assert_eq!(restored.keys + restored.left_out, 100_000);
    assert!(restored.keys > 20_000, "{restored:?}");
    let stats = small.stats().unwrap();
    assert_eq!((stats.evicted_new, stats.evicted_old), (0, 0));
    let is_there = |number| small.contains(key(number)).unwrap();
    assert!((0..100_000).step_by(20).all(is_there));
    // Entries that were read there are kept longer here.
    let before = (0..100_000).filter(|number| is_there(*number)).count();
    for number in 0..20_000 {
        small.set(key(1_000_000 + number), [7; 100]).unwrap();
    }
    let left = (0..100_000).filter(|number| is_there(*number)).count();
    let read = (0..100_000).step_by(20).filter(|number| is_there(*number));
    let read = read.count();
    assert!(left < before - 5000, "{left} of {before}");
    assert!(read > 4900, "{read} of 5000");
    assert_clean(&small);
}

#[test]
fn a_full_table_and_other_lengths() {
    let dir = Dir::new();
    let large = Table::options()
        .max_size(64 << 20)
        .create(dir.table("large"))
        .unwrap();
    for number in 0..20_000 {
        let tag = format!("a name of a tag that takes room, too: {number}");
        set_tagged(&large, &number.to_string(), &[&tag]);
    }
    large.save(dir.table("tagged")).unwrap();
    let tiny = Table::options()
        .max_size(2 << 20)
        .create(dir.table("tiny"))
        .unwrap();
    let restored = tiny.restore(dir.table("tagged")).unwrap();
    assert!(
        restored.keys > 500 && restored.left_out > 500,
        "{restored:?}"
    );
    assert_eq!(restored.keys + restored.left_out, 20_000);
    assert_clean(&tiny);
    large.clear().unwrap();
    for number in 0..50_000 {
        large.set(key(number), [7; 100]).unwrap();
    }
    large.save(dir.table("file")).unwrap();
    let small = Table::options()
        .max_size(4 << 20)
        .create(dir.table("small"))
        .unwrap();
    let restored = small.restore(dir.table("file")).unwrap();
    assert!(restored.keys > 1000 && restored.left_out > 1000);
    assert_eq!(restored.keys, small.len().unwrap());
    assert_clean(&small);
    let fixed = |value| {
        let options = Table::options().max_size(64 << 20).fixed(4, value);
        options.create(dir.table(&format!("fixed{value}"))).unwrap()
    };
    let other = fixed(8).restore(dir.table("file"));
    assert!(matches!(other, Err(Error::Lengths { .. })), "{other:?}");
    assert_eq!(fixed(100).restore(dir.table("file")).unwrap().keys, 50_000);
    let reader = Table::open_read_only(dir.table("small")).unwrap();
    assert!(matches!(
        reader.restore(dir.table("file")),
        Err(Error::ReadOnly)
    ));
}
