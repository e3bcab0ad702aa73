//! Keys that expire, or have, and keys with flags.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Hints, Prepared, Start};
use crate::value::sealed;
use std::rc::Rc;
use tavola_model::{Bytes, Life, Op, Uid};

pub(super) const LARGE: usize = 40_000;
fn bytes(name: &str) -> Vec<u8> {
    name.as_bytes().to_vec()
}

/// Sets a key that lives for so long, with flags.
pub(super) fn with(key: &[u8], version: u64, len: usize, life: Life) -> Op {
    Op::SetWith(key.to_vec(), sealed(key, version, len), life, 5)
}

/// Sets a key plainly.
pub(super) fn set(key: &[u8], version: u64, len: usize) -> Op {
    Op::Set(key.to_vec(), sealed(key, version, len))
}

fn touch(name: &str, life: Life) -> Op {
    Op::Touch(bytes(name), life)
}

/// Some keys of each kind; the same that expire, with uids and without, and that have expired.
fn some(run: &Run<'_>) -> Prepared<(Start, Rc<Hints>)> {
    let mut builder = Builder::some(run.scratch)?;
    for (name, len) in [("mortal", 20), ("mortal large", LARGE), ("mortal uid", 20)] {
        builder.apply(&with(name.as_bytes(), 1, len, Life::Hours(1)))?;
    }
    let of_none = ["gone", "gone large", "gone uid", "gone large uid"];
    for (name, len) in of_none.into_iter().zip([20, LARGE, 20, LARGE]) {
        builder.apply(&with(name.as_bytes(), 1, len, Life::Hours(1)))?;
    }
    for (name, life) in [
        ("mortal counter", Life::Hours(1)),
        ("gone counter", Life::Gone),
    ] {
        builder.apply(&Op::IncrWith(bytes(name), 41, Some(41), life, 5))?;
    }
    builder.apply(&with(b"flagged", 1, 20, Life::Forever))?;
    let uids = ["mortal uid", "gone uid", "gone large uid"].map(bytes);
    let hints = builder.name(uids.into_iter().chain([key(8)]))?;
    for name in of_none {
        builder.apply(&touch(name, Life::Gone))?;
    }
    // The uids of what has expired are nobody's, whatever becomes of the keys.
    let owner = |key: &Bytes| match key.starts_with(b"gone") {
        true => b"nobody"[..].into(),
        false => key.clone(),
    };
    let hints = hints.iter().map(|(key, hint)| (owner(key), *hint));
    Ok((builder.image()?, Rc::new(hints.collect())))
}

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let (some, hints) = some(run)?;
    let all = new_keys().into_iter().chain(old_keys()).chain(touches());
    let all = all.chain(of_expired()).chain(misses_of_expired()).chain([
        ("repair", vec![Op::Repair]),
        ("check", vec![Op::Check]),
        ("clear", vec![Op::Clear]),
        ("maintain", vec![Op::Maintain]),
        ("remove expired", vec![Op::RemoveExpired]),
    ]);
    let case = |(name, ops): (&str, _)| {
        Case::new(&format!("expiry: {name}"), some.clone(), ops)
            .named(&hints)
            .expires()
    };
    let mut cases: Vec<Case> = all.map(case).collect();
    // Nobody has asked for the time yet.
    let empty = Builder::new(run.scratch)?.image()?;
    let ops = vec![with(b"new key", 1, 20, Life::Hours(1))];
    cases.push(Case::new("expiry: the first key of all", empty, ops).armed_from_start());
    Ok(cases)
}

type Named = (&'static str, Vec<Op>);

fn new_keys() -> Vec<Named> {
    let new = b"new key";
    vec![
        ("set a new key", vec![with(new, 1, 20, Life::Hours(1))]),
        (
            "set a large new key",
            vec![with(new, 1, LARGE, Life::Hours(1))],
        ),
        (
            "set a key that has expired at once",
            vec![with(new, 1, 20, Life::Gone)],
        ),
        (
            "add",
            vec![Op::AddWith(
                new.to_vec(),
                sealed(new, 1, 20),
                Life::Hours(1),
                9,
            )],
        ),
    ]
}

fn old_keys() -> Vec<Named> {
    let (new, old) = (b"new key", key(7));
    vec![
        (
            "set a key without fields",
            vec![with(&old, 2, 20, Life::Hours(1))],
        ),
        (
            "set a key, expired at once",
            vec![with(&old, 2, 20, Life::Gone)],
        ),
        (
            "set a key with fields",
            vec![with(b"mortal", 2, 500, Life::Hours(2))],
        ),
        (
            "set a key with fields, plainly",
            vec![set(b"mortal", 2, 20)],
        ),
        (
            "set a small key, large",
            vec![with(b"mortal", 2, LARGE, Life::Hours(2))],
        ),
        (
            "set a large key, small",
            vec![with(b"mortal large", 2, 20, Life::Hours(2))],
        ),
        (
            "set a key with a uid",
            vec![with(b"mortal uid", 2, 60, Life::Hours(2))],
        ),
        (
            "set a key with a uid, expired at once",
            vec![with(b"mortal uid", 2, 60, Life::Gone)],
        ),
        (
            "set a counter",
            vec![with(b"mortal counter", 2, 20, Life::Hours(2))],
        ),
        (
            "count",
            vec![
                Op::Incr(bytes("mortal counter"), 1),
                Op::IncrWith(bytes("mortal counter"), 1, Some(1), Life::Hours(3), 7),
                Op::IncrWith(new.to_vec(), 1, Some(1), Life::Hours(1), 7),
            ],
        ),
        (
            "append to a missing key, which gets flags and a time",
            vec![
                Op::AppendWith(new.to_vec(), sealed(new, 1, 20), Life::Hours(1), 7),
                Op::PrependWith(new.to_vec(), bytes("more"), Life::Hours(3), 9),
            ],
        ),
        (
            "append and update, which keep what there is",
            vec![
                Op::AppendWith(bytes("mortal"), bytes("less"), Life::Hours(5), 9),
                Op::Append(bytes("mortal"), bytes("more")),
                Op::Update(bytes("mortal uid"), bytes("more")),
                Op::Append(bytes("flagged"), bytes("more")),
            ],
        ),
    ]
}

fn touches() -> Vec<Named> {
    let small = |life| Op::Touch(key(7), life);
    vec![
        (
            "touch in place",
            vec![
                touch("mortal", Life::Hours(2)),
                touch("mortal large", Life::Hours(2)),
                touch("mortal uid", Life::Hours(2)),
                touch("mortal counter", Life::Forever),
            ],
        ),
        (
            "touch in place to a time that has passed",
            vec![
                touch("mortal", Life::Gone),
                touch("mortal large", Life::Gone),
                touch("mortal uid", Life::Gone),
                touch("mortal counter", Life::Gone),
            ],
        ),
        ("touch that adds the field", vec![small(Life::Hours(1))]),
        (
            "touch that adds it to a large key",
            vec![touch("large", Life::Hours(1))],
        ),
        (
            "touch that adds it to a counter",
            vec![touch("counter", Life::Hours(1))],
        ),
        (
            "touch that adds it before flags",
            vec![touch("flagged", Life::Hours(1))],
        ),
        (
            "touch that adds it behind a uid",
            vec![Op::Touch(key(8), Life::Hours(1))],
        ),
        ("touch that adds what has passed", vec![small(Life::Gone)]),
        (
            "touch that adds what has passed to a large key",
            vec![touch("large", Life::Gone)],
        ),
        ("touch that says nothing", vec![small(Life::Forever)]),
        (
            "get and touch",
            vec![
                Op::GetAndTouch(bytes("mortal"), Life::Hours(2)),
                Op::GetAndTouch(key(7), Life::Hours(1)),
                Op::GetAndTouch(bytes("mortal large"), Life::Gone),
            ],
        ),
        (
            "a uid for a key with fields",
            vec![Op::UidOf(bytes("mortal"))],
        ),
        (
            "a uid for a large key with fields",
            vec![Op::UidOf(bytes("mortal large"))],
        ),
    ]
}

fn of_expired() -> Vec<Named> {
    let value = |name: &str, len| sealed(name.as_bytes(), 2, len);
    vec![
        ("set an expired key", vec![set(b"gone", 2, 20)]),
        (
            "set an expired key that expires",
            vec![with(b"gone", 2, 20, Life::Hours(2))],
        ),
        (
            "set an expired key with a uid",
            vec![set(b"gone uid", 2, 20)],
        ),
        (
            "set an expired large key",
            vec![set(b"gone large", 2, LARGE)],
        ),
        (
            "set_uid of an expired key",
            vec![Op::SetUid(bytes("gone uid"), value("gone uid", 20))],
        ),
        (
            "add an expired key",
            vec![Op::Add(bytes("gone"), value("gone", 20))],
        ),
        (
            "add an expired large key",
            vec![Op::Add(bytes("gone large"), value("gone large", 20))],
        ),
        (
            "swap an expired key",
            vec![Op::Swap(bytes("gone"), value("gone", 20))],
        ),
        (
            "update an expired key",
            vec![Op::Update(bytes("gone uid"), bytes("first"))],
        ),
        (
            "append to an expired key that expires",
            vec![Op::AppendWith(
                bytes("gone uid"),
                bytes("first"),
                Life::Hours(1),
                7,
            )],
        ),
        (
            "incr of an expired counter",
            vec![Op::Incr(bytes("gone counter"), 3)],
        ),
        (
            "incr of an expired counter that expires",
            vec![Op::IncrWith(
                bytes("gone counter"),
                3,
                Some(3),
                Life::Hours(1),
                7,
            )],
        ),
    ]
}

/// What finds an expired key missing, and leaves it so.
fn misses_of_expired() -> Vec<Named> {
    let value = |name: &str, len| sealed(name.as_bytes(), 2, len);
    vec![
        ("remove an expired key", vec![Op::Remove(bytes("gone"))]),
        (
            "remove an expired large key",
            vec![Op::Remove(bytes("gone large uid"))],
        ),
        (
            "replace an expired key",
            vec![Op::Replace(bytes("gone uid"), value("", 20))],
        ),
        (
            "touch an expired key",
            vec![touch("gone large", Life::Hours(1))],
        ),
        ("a uid for an expired key", vec![Op::UidOf(bytes("gone"))]),
        (
            "what reads an expired key first",
            vec![
                Op::Take(bytes("gone")),
                Op::GetAndTouch(bytes("gone large"), Life::Hours(1)),
                Op::Append(bytes("gone uid"), bytes("more")),
                Op::CompareAndSwap(bytes("gone uid"), value("", 20), None),
                Op::RemoveByUid(Uid::Of(bytes("gone large uid"))),
            ],
        ),
    ]
}
