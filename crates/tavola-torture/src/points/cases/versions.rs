//! Tables with versions: a number that changes with each change of a value, and marks, which leave
//! it.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use super::expiry::{LARGE, set, with};
use crate::value::sealed;
use std::rc::Rc;
use tavola_model::{Life, Op, Uid};

const MARKS: u32 = 0b101;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::versioned(run.scratch)?.filled()?;
    builder.apply(&with(b"flagged", 1, 20, Life::Hours(1)))?;
    let hints = builder.name([b"flagged".to_vec(), key(8)])?;
    let versions = builder.versions()?;
    let some = builder.image()?;
    let case = |(name, ops): (&str, Vec<Op>)| {
        Case::new(&format!("versions: {name}"), some.clone(), ops)
            .named(&hints)
            .versioned(&versions)
            .expires()
    };
    let mut cases: Vec<Case> = sets().into_iter().chain(changes()).map(case).collect();
    // No version was given yet.
    let empty = Builder::versioned(run.scratch)?.image()?;
    let ops = vec![set(b"new key", 1, 20)];
    let first = Case::new("versions: the first of all", empty, ops);
    cases.push(first.versioned(&Rc::default()).armed_from_start());
    Ok(cases)
}

type Named = (&'static str, Vec<Op>);

fn sets() -> Vec<Named> {
    let old = key(3);
    let value = sealed(&old, 2, 20);
    let flagged = b"flagged".to_vec();
    vec![
        ("a new key", vec![set(b"new key", 1, 20)]),
        ("a new large key", vec![set(b"new key", 1, LARGE)]),
        ("an old key", vec![set(&old, 2, 20)]),
        ("an old large key", vec![set(b"large", 2, LARGE)]),
        ("a word", vec![set(b"the word", 2, 0)]),
        ("with a time", vec![with(&old, 2, 20, Life::Hours(1))]),
        ("with a uid", vec![Op::SetUid(old.clone(), value.clone())]),
        (
            "by uid",
            vec![Op::SetByUid(Uid::Of(key(8)), sealed(&key(8), 2, 20))],
        ),
        ("if the same", vec![Op::CompareAndSwap(old, value, None)]),
        (
            "with marks",
            vec![Op::SetMarked(
                flagged.clone(),
                sealed(&flagged, 2, 20),
                MARKS,
            )],
        ),
        (
            "remove and set",
            vec![Op::Remove(key(3)), set(&key(3), 2, 20)],
        ),
    ]
}

fn changes() -> Vec<Named> {
    let small = || key(5);
    let more = || b"and more".to_vec();
    vec![
        ("append", vec![Op::Append(small(), more())]),
        ("update", vec![Op::Update(b"large".to_vec(), more())]),
        ("count", vec![Op::Incr(b"counter".to_vec(), 1)]),
        ("count a text", vec![Op::Decr(b"text".to_vec(), 1)]),
        ("touch", vec![Op::Touch(small(), Life::Hours(1))]),
        ("uid of", vec![Op::UidOf(small())]),
        ("mark", vec![Op::Mark(small(), MARKS)]),
        (
            "mark again",
            vec![Op::Mark(small(), 1), Op::Mark(small(), MARKS)],
        ),
        ("mark a large key", vec![Op::Mark(b"large".to_vec(), MARKS)]),
        (
            "mark a key with flags",
            vec![Op::Mark(b"flagged".to_vec(), MARKS)],
        ),
        ("mark a counter", vec![Op::Mark(b"counter".to_vec(), MARKS)]),
        (
            "mark and append",
            vec![Op::Mark(small(), MARKS), Op::Append(small(), more())],
        ),
        ("repair", vec![Op::Repair]),
        ("clear", vec![Op::Clear]),
    ]
}
