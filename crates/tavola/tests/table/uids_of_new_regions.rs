//! Uids and handles of tags that are older than the region of a table: they lead to no key of a
//! table that was rebuilt, or removed and created again.

use crate::support::{Dir, durable::DurableDir};
use tavola::{Attributes, Durability, Hint, Options, Table, Tags};

/// One shard, so that every region gives out the same uids in the same order.
fn options() -> Options {
    Table::options().max_size(8 << 20).shards(1)
}

fn durable() -> Options {
    options().durable(Durability::Commit)
}

/// A uid of a key that is removed, and the handle of a tag that no key has.
struct Old {
    hint: Hint,
    tags: Tags,
}

fn old_handles(table: &Table) -> Old {
    let tags = table.fetch_tags(&["tag of alice"]).unwrap();
    let hint = table.set_uid("alice", "secret of alice").unwrap();
    assert!(table.remove("alice").unwrap());
    Old { hint, tags }
}

/// In a new region, as many uids and tags are given out as in the old one, and some more.
fn assert_lead_nowhere(table: &Table, old: &Old) {
    for n in 0..50 {
        assert_tags_lead_nowhere(table, &old.tags, n);
        let key = format!("mallory {n}");
        let new = table.set_uid(&key, "secret of mallory").unwrap();
        assert_ne!(new, old.hint);
        assert_eq!(table.get_by_uid(old.hint).unwrap(), None);
        assert!(!table.remove_by_uid(old.hint).unwrap());
        if n % 2 == 0 {
            assert!(table.remove(&key).unwrap());
        }
    }
}

/// A tag of before the loss counts as invalidated: the key is missing from the beginning.
fn assert_tags_lead_nowhere(table: &Table, tags: &Tags, n: u32) {
    table.fetch_tags(&[format!("tag of mallory {n}")]).unwrap();
    let plain = Attributes::default();
    table.set_tagged("stale", "1", plain, tags).unwrap();
    assert_eq!(table.tags_of("stale").unwrap(), None);
    assert_eq!(table.get("stale").unwrap(), None);
}

#[test]
fn old_handles_lead_nowhere_in_a_rebuilt_table() {
    let dir = DurableDir::new();
    let table = durable().open(dir.path()).unwrap();
    let old = old_handles(&table);
    drop(table);
    for _ in 0..3 {
        dir.lose_memory();
        assert_lead_nowhere(&Table::open(dir.path()).unwrap(), &old);
    }
}

#[test]
fn old_handles_lead_nowhere_after_a_refresh_of_a_live_table() {
    let dir = DurableDir::new();
    let mut table = durable().open(dir.path()).unwrap();
    let old = old_handles(&table);
    dir.lose_memory();
    assert!(table.refresh().unwrap());
    assert_lead_nowhere(&table, &old);
}

#[test]
fn old_handles_lead_nowhere_in_a_table_that_was_removed_and_created_again() {
    let dir = Dir::new();
    let path = dir.table("t");
    let mut table = options().create(&path).unwrap();
    let old = old_handles(&table);
    Table::options().remove(&path).unwrap();
    let new = options().create(&path).unwrap();
    assert_lead_nowhere(&new, &old);
    assert!(table.refresh().unwrap());
    assert_lead_nowhere(&table, &old);
}
