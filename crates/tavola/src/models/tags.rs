//! Keys with tags, beside those who read, set and invalidate.

#[cfg(feature = "shuttle")]
use super::deaths::dying;
use super::expiry::{KEY, goes, search_home, searched_keys};
use super::growth::maintain;
use super::uids::item_of;
use super::{Key, Observer, Table, Write, beside, explore, never_missing, quietly, region, table};
use super::{value, version_of};
use crate::layout::{PAGE, UNIT};
use crate::sync::{Ordering, W32};
use crate::{Attributes, Tags};
use std::sync::Arc;

fn tags(table: &Table, names: &[&str]) -> Tags {
    table.fetch_tags(names).expect("room for tags")
}

fn set_tagged(table: &Table, key: &[u8], version: u8, tags: &Tags) {
    let none = Attributes::default();
    let stored = table.set_tagged(key, value(version), none, tags);
    stored.expect("room");
}

/// The key, with two tags.
fn tagged(table: &Table) {
    set_tagged(table, &KEY, 1, &tags(table, &["one", "two"]));
}

fn invalidate(table: &Table, name: &str) -> bool {
    table.invalidate_tag(name.as_bytes()).expect("no error")
}

#[test]
fn what_is_invalidated_is_gone_for_good() {
    explore(600, || {
        let table = table(tagged);
        let hint = quietly(|| table.uid_of(KEY).unwrap());
        let end = |name| -> Write { Box::new(move |t| assert!(invalidate(t, name))) };
        let renew: Write = Box::new(|t| assert_eq!(tags(t, &["one", "two"]).len(), 2));
        let observers = vec![goes(KEY, hint, 1), goes(KEY, hint, 1)];
        beside(&table, vec![end("one"), end("two"), renew], observers);
        quietly(|| assert_eq!(table.get(KEY).unwrap(), None));
    });
}

/// One takes the tag, and sets the key by it late: nobody sees that once the tag was invalidated.
#[test]
fn what_was_made_before_never_shows() {
    explore(600, || {
        let table = table(tagged);
        let before = quietly(|| tags(&table, &["one"]));
        let is_over = Arc::new(W32::new(0));
        let set_over = Arc::clone(&is_over);
        let end: Write = Box::new(move |t| {
            assert!(invalidate(t, "one"));
            quietly(|| set_over.store(1, Ordering::SeqCst));
            set_tagged(t, &KEY, 3, &tags(t, &["one"]));
        });
        let late: Write = Box::new(move |t| set_tagged(t, &KEY, 2, &before));
        let observe: Observer = Box::new(move |t| {
            let was_over = quietly(|| is_over.load(Ordering::SeqCst)) == 1;
            if let Some(found) = t.get(KEY).unwrap() {
                assert!(!was_over || version_of(&found) == 3);
            }
        });
        beside(&table, vec![end, late], vec![observe]);
    });
}

/// Tags in three pages, half of which go again: the rest of one page is about to be moved.
fn sparse(table: &Table) -> Tags {
    let name = |number: u32| format!("a tag, number {number:06}");
    let all: Vec<Tags> = (0..1400).map(|i| tags(table, &[&name(i)])).collect();
    (0..1400)
        .step_by(2)
        .for_each(|i| assert!(invalidate(table, &name(i))));
    let victim = region(table).shard(0).source.load(Ordering::Relaxed);
    let hints = all.iter().skip(1).step_by(2).flat_map(Tags::hints);
    let mut next: Vec<_> = hints
        .map(|hint| (item_of(table, hint), hint))
        .filter(|(item_ref, _)| item_ref * UNIT / PAGE == u64::from(victim))
        .collect();
    next.sort_unstable_by_key(|(item_ref, _)| *item_ref);
    assert!(next.len() > 16, "no page is being emptied");
    let mut tags = Tags::NONE;
    assert!(next.iter().take(16).all(|(_, hint)| tags.push(*hint)));
    tags
}

#[test]
fn a_key_is_there_while_its_tags_are_moved() {
    explore(100, || {
        let table = table(|_| ());
        let tags = quietly(|| sparse(&table));
        quietly(|| set_tagged(&table, &KEY, 1, &tags));
        let places = |t: &Table| {
            tags.hints()
                .map(|hint| item_of(t, hint))
                .collect::<Vec<_>>()
        };
        let before = quietly(|| places(&table));
        let observe: Observer = Box::new(|t| {
            let found = t.get(KEY).unwrap();
            version_of(&found.expect("a key that is there throughout"));
        });
        beside(
            &table,
            vec![maintain()],
            vec![observe, never_missing([KEY])],
        );
        quietly(|| assert_ne!(places(&table), before, "none was moved"));
    });
}

/// A search for what is over meets keys whose tags go at that moment, and are made again.
#[test]
fn a_search_takes_only_keys_without_their_tags() {
    let keys: [Key; 2] = searched_keys(2).try_into().unwrap();
    explore(400, move || {
        let table = table(|t| {
            set_tagged(t, &keys[0], 1, &tags(t, &["goes"]));
            set_tagged(t, &keys[1], 1, &tags(t, &["stays"]));
        });
        let end: Write = Box::new(|t| {
            assert!(invalidate(t, "goes"));
            tags(t, &["goes"]);
        });
        let observers = vec![goes(keys[0], None, 1), never_missing([keys[1]])];
        beside(&table, vec![end, Box::new(search_home)], observers);
    });
}

#[cfg(feature = "shuttle")]
#[test]
fn dying_in_a_tag_that_is_made_and_invalidated() {
    dying(
        200,
        tagged,
        |t| {
            set_tagged(t, b"other", 2, &tags(t, &["new"]));
            assert!(invalidate(t, "new"));
            assert!(invalidate(t, "one"));
        },
        || {
            let other: Observer = Box::new(|t| {
                if let Some(found) = t.get(b"other").unwrap() {
                    assert_eq!(version_of(&found), 2);
                }
            });
            vec![goes(KEY, None, 1), other]
        },
    );
}
