//! Tags: made, given to keys, invalidated; and all that is done to keys that have some.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use super::expiry::{LARGE, set};
use crate::value::sealed;
use tavola_model::{Life, Op, Tags};

const ONE: Tags = Tags(1);
const TWO: Tags = Tags(2);
const BOTH: Tags = Tags(3);
const NEW: Tags = Tags(4);
const OTHER_TAG: Tags = Tags(8);

fn tagged(key: &[u8], version: u64, len: usize, tags: Tags) -> Op {
    Op::SetTagged(key.to_vec(), sealed(key, version, len), tags, None)
}

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::some(run.scratch)?;
    for (name, len) in [("small", 20), ("large", LARGE), ("with uid", 20)] {
        builder.apply(&tagged(name.as_bytes(), 1, len, BOTH))?;
    }
    builder.apply(&tagged(b"apart", 1, 20, OTHER_TAG))?;
    let hints = builder.name([b"with uid".to_vec(), key(8)])?;
    let some = builder.image()?;
    let case = |(name, ops): (&str, Vec<Op>)| {
        let waits = ops.iter().any(|op| matches!(op, Op::Compact));
        let case = Case::new(&format!("tags: {name}"), some.clone(), ops)
            .named(&hints)
            .expires();
        match waits {
            true => case.waits(),
            false => case,
        }
    };
    let all = sets().into_iter().chain(ends()).chain(changes());
    let mut cases: Vec<Case> = all.map(case).collect();
    // Nothing has had a tag yet, nor a uid.
    let empty = Builder::new(run.scratch)?.image()?;
    let ops = vec![tagged(b"new key", 1, 20, NEW)];
    cases.push(Case::new("tags: the first of all", empty, ops).armed_from_start());
    Ok(cases)
}

type Named = (&'static str, Vec<Op>);

fn sets() -> Vec<Named> {
    vec![
        ("of a new key", vec![tagged(b"new key", 1, 20, BOTH)]),
        ("new ones", vec![tagged(b"new key", 1, 20, NEW | ONE)]),
        (
            "of a new large key",
            vec![tagged(b"new key", 1, LARGE, NEW)],
        ),
        ("of an old key", vec![tagged(&key(3), 2, 20, BOTH)]),
        ("instead of others", vec![tagged(b"small", 2, 200, NEW)]),
        ("of a key with a uid", vec![tagged(&key(8), 2, 20, BOTH)]),
        (
            "taken off",
            vec![set(b"small", 2, 20), set(b"large", 2, 20)],
        ),
    ]
}

fn ends() -> Vec<Named> {
    vec![
        ("invalidate", vec![Op::Invalidate(ONE)]),
        (
            "invalidate both",
            vec![Op::Invalidate(ONE), Op::Invalidate(TWO)],
        ),
        (
            "invalidate and make again",
            vec![Op::Invalidate(TWO), tagged(b"small", 2, 20, BOTH)],
        ),
        (
            "search afterwards",
            vec![Op::Invalidate(ONE), Op::RemoveExpired],
        ),
        ("compact afterwards", vec![Op::Invalidate(ONE), Op::Compact]),
        ("repair afterwards", vec![Op::Invalidate(ONE), Op::Repair]),
        ("clear", vec![Op::Clear]),
        ("repair", vec![Op::Repair]),
    ]
}

fn changes() -> Vec<Named> {
    let small = || b"small".to_vec();
    let more = || b"and more".to_vec();
    vec![
        ("append", vec![Op::Append(small(), more())]),
        ("update", vec![Op::Update(b"large".to_vec(), more())]),
        ("touch", vec![Op::Touch(small(), Life::Hours(1))]),
        ("uid of", vec![Op::UidOf(small())]),
        (
            "remove",
            vec![Op::Remove(small()), Op::Remove(b"large".to_vec())],
        ),
    ]
}
