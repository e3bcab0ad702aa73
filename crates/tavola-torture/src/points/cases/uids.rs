//! Keys with uids.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use crate::value::{sealed, sealed_word};
use std::rc::Rc;
use tavola_model::{Life, Op, Uid};

/// Entries of a chunk.
const CHUNK: u32 = 2046;

fn word() -> Vec<u8> {
    b"the word".to_vec()
}

fn uid(key: Vec<u8>) -> Uid {
    Uid::Of(key)
}

fn new() -> Vec<u8> {
    b"new key".to_vec()
}

/// One key.
pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::some(run.scratch)?;
    let others = ["large", "counter", "text"].map(|name| name.as_bytes().to_vec());
    let named = (5..9).map(key).chain([word()]).chain(others.clone());
    let hints = builder.name(named)?;
    let some = builder.image()?;
    let [large, counter, text] = others;
    let old = || key(7);
    let value = |key: &[u8], version, len| sealed(key, version, len);
    let of_old = |version, len| value(&old(), version, len);
    let fresh = || Op::SetUid(new(), value(&new(), 1, 20));
    let all = [
        ("set_uid of a new key", vec![fresh()]),
        (
            "set_uid of a large new key",
            vec![Op::SetUid(new(), value(&new(), 1, 40_000))],
        ),
        ("a uid for a key", vec![Op::UidOf(key(20))]),
        ("a uid for a large key", vec![Op::UidOf(b"larger".to_vec())]),
        (
            "set a key with a uid, larger",
            vec![Op::Set(old(), of_old(2, 500))],
        ),
        (
            "set a key with a uid, large",
            vec![Op::Set(old(), of_old(2, 30_000))],
        ),
        (
            "set a large key with a uid, small",
            vec![Op::Set(large.clone(), value(&large, 2, 20))],
        ),
        ("set by uid", vec![Op::SetByUid(uid(old()), of_old(2, 60))]),
        (
            "update by uid",
            vec![Op::UpdateByUid(uid(old()), of_old(2, 30_000))],
        ),
        (
            "set a word with a uid in place, by key and by uid",
            vec![
                Op::Set(word(), sealed_word(&word(), 2)),
                Op::SetByUid(uid(word()), sealed_word(&word(), 3)),
                Op::Set(word(), value(&word(), 4, 20)),
            ],
        ),
        ("remove a key with a uid", vec![Op::Remove(old())]),
        ("remove by uid", vec![Op::RemoveByUid(uid(old()))]),
        (
            "remove a large key by uid",
            vec![Op::RemoveByUid(uid(large))],
        ),
        (
            "count on a key with a uid",
            vec![Op::Incr(counter, 1), Op::Incr(text, 1)],
        ),
        (
            "a uid given back and given out again",
            vec![Op::RemoveByUid(uid(old())), fresh()],
        ),
        ("clear keys with uids", vec![Op::Clear]),
    ];
    let by_uid = counted_and_touched(uid(b"counter".to_vec()), uid(b"text".to_vec()), uid(old()));
    let case = |(name, ops): (&str, _)| Case::new(name, some.clone(), ops).named(&hints);
    let mut cases: Vec<Case> = all.into_iter().chain(by_uid).map(case).collect();
    let empty = Builder::new(run.scratch)?.image()?;
    let none = Rc::new(Vec::new());
    cases.push(Case::new("set_uid of the first key of all", empty, vec![fresh()]).named(&none));
    Ok(cases)
}

/// Changes of a key by its uid that leave its value, or are numbers.
fn counted_and_touched(counter: Uid, text: Uid, old: Uid) -> [(&'static str, Vec<Op>); 2] {
    [
        (
            "count by uid, and of text",
            vec![Op::IncrByUid(counter, 1), Op::DecrByUid(text, 1)],
        ),
        (
            "touch by uid, twice",
            vec![
                Op::TouchByUid(old.clone(), Life::Hours(2)),
                Op::TouchByUid(old, Life::Hours(3)),
            ],
        ),
    ]
}

/// Chunks that are added and given back, items with uids that are moved.
pub(super) fn chunks(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::new(run.scratch)?;
    let small = |number: u32| number.to_le_bytes().to_vec();
    for number in 0..CHUNK {
        builder.apply(&Op::Set(small(number), Vec::new()))?;
    }
    let hints = builder.name((0..CHUNK).map(small))?;
    let full = builder.image()?;
    let fresh = |name: &str| Op::SetUid(name.into(), sealed(name.as_bytes(), 1, 20));
    let added = Case::new("a second chunk of uids", full.clone(), vec![fresh("one")]);
    let ops = vec![
        fresh("one"),
        Op::Remove(small(5)),
        Op::RemoveByUid(uid(b"one".to_vec())),
        fresh("two"),
        fresh("three"),
    ];
    let mut again = Case::new("a chunk given back, and one in its place", full, ops);
    again.prelude = 1;
    let mut cases = vec![added.named(&hints).few(), again.named(&hints).few()];

    // Of three pages of items with uids half are gone: the rest of one is moved to the others.
    let mut builder = Builder::new(run.scratch)?;
    for number in 0..1000 {
        builder.put(&key(number), 4)?;
    }
    let hints = builder.name((0..1000).map(key))?;
    for number in (0..1000).filter(|number| number % 2 == 0) {
        builder.apply(&Op::Remove(key(number)))?;
    }
    let image = builder.image()?;
    let ops = (0..70)
        .map(|version| Op::Set(key(1), sealed(&key(1), version, 4)))
        .collect();
    let tend = Case::new("housekeeping among items with uids", image, ops);
    cases.push(tend.named(&hints).growth(800).few());
    Ok(cases)
}
