//! Flipped bits, one at a time, in the table of uids and in the uids of items. What may come of
//! them is described in `support/damage.rs`: a key may lose its uid, never its value.

use crate::support::damage::{BIRTHS, Place, flip, flip_all, named_items, starts, words};
use crate::support::format::{self, Image};
use crate::support::part::play;

fn places(image: &Image, _: &str) -> Vec<Place> {
    let heads: Vec<u64> = (0..image.shards())
        .map(|shard| image.shard(shard))
        .collect();
    let in_heads = |from: u64, len: u64| words(heads.iter().map(|head| head + from), len);
    let pages = image.pages(format::UIDS);
    let page_words = words(pages.iter().map(|page| image.page_word_at(*page)), 8);
    let chunk_heads = words(starts(image, format::UIDS), 16);
    let directories = words(image.uid_directory_entries(), 4);
    assert!(pages.len() < directories.len(), "no chunk was given back");
    assert_eq!(pages.len(), image.chunks().len());
    let (live, free): (Vec<_>, Vec<_>) = image
        .uid_entries()
        .into_iter()
        .partition(|(_, _, item)| item.is_some());
    let live = words(live.iter().map(|(at, _, _)| *at), 8);
    let free = words(free.iter().map(|(at, _, _)| *at), 8);
    let named = named_items(image);
    let fields = words(named.iter().filter_map(|item| item.uid_at), 8);
    vec![
        Place::new("uid layout words", in_heads(format::UID_LAYOUT, 8), 150, 0),
        Place::new("uid counters", in_heads(format::UIDS_USED, 8), 64, 0),
        Place::new(BIRTHS, in_heads(format::UID_BIRTHS, 4), 64, 0),
        Place::new("uid lists", in_heads(format::UID_LISTS, 12), 192, 0),
        Place::new("uid directories", directories, 192, 0),
        Place::new("uid page words", page_words, 192, 0),
        Place::new("heads of chunks", chunk_heads, 256, 0),
        Place::new("uids given out", live, 300, 0),
        Place::new("free uids", free, 150, 0),
        Place::new("uids of items", fields, 300, 0),
    ]
}

/// An actor.
fn flipper(args: &[String]) {
    flip(args, places);
}

#[test]
fn flips_in_the_table_of_uids() {
    play(&[("flipper", flipper)]);
    flip_all("flips_in_the_table_of_uids", "uids", 1, places);
}

#[test]
fn flips_in_the_tables_of_uids_of_several_shards() {
    play(&[("flipper", flipper)]);
    let test = "flips_in_the_tables_of_uids_of_several_shards";
    flip_all(test, "uids", 4, places);
}
