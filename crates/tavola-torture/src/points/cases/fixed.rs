//! Tables of fixed lengths: what differs from others is how items are written and read.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared, fixed_pair};
use tavola_model::{Op, Uid};

/// Keys: of three pages and more.
const KEYS: u32 = 1000;

fn pair(number: u32, version: u64) -> (Vec<u8>, Vec<u8>) {
    fixed_pair(&key(number), version)
}

fn set(number: u32, version: u64) -> Op {
    let (key, value) = pair(number, version);
    Op::Set(key, value)
}

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::fixed(run.scratch)?;
    for number in 0..40 {
        builder.apply(&set(number, 1))?;
    }
    let hints = builder.name((5..9).map(|number| pair(number, 1).0))?;
    let some = builder.image()?;
    let of = |number, op: fn(Vec<u8>, Vec<u8>) -> Op| {
        let (key, value) = pair(number, 2);
        op(key, value)
    };
    let key_of = |number, op: fn(Vec<u8>) -> Op| op(pair(number, 1).0);
    let all = [
        ("fixed: set a new key", vec![set(100, 1)]),
        ("fixed: set an old key", vec![set(20, 2)]),
        (
            "fixed: set many",
            vec![Op::SetMany(
                (15..25).map(|number| pair(number, 2)).collect(),
            )],
        ),
        ("fixed: add", vec![of(100, Op::Add)]),
        ("fixed: swap", vec![of(20, Op::Swap)]),
        ("fixed: remove", vec![key_of(20, Op::Remove)]),
        ("fixed: a uid for a key", vec![key_of(20, Op::UidOf)]),
        ("fixed: set_uid of a new key", vec![of(100, Op::SetUid)]),
        ("fixed: set a key with a uid", vec![set(7, 2)]),
        (
            "fixed: set by uid",
            vec![of(7, |key, value| Op::SetByUid(Uid::Of(key), value))],
        ),
        (
            "fixed: remove by uid",
            vec![key_of(7, |key| Op::RemoveByUid(Uid::Of(key)))],
        ),
        ("fixed: clear", vec![Op::Clear]),
    ];
    let case = |(name, ops): (&str, _)| Case::new(name, some.clone(), ops).named(&hints);
    let mut cases: Vec<Case> = all.into_iter().map(case).collect();

    // Of pages of items half are gone: the rest of one is moved to the others.
    let mut builder = Builder::fixed(run.scratch)?;
    for number in 0..KEYS {
        builder.apply(&set(number, 1))?;
    }
    for number in (0..KEYS).filter(|number| number % 2 == 0) {
        builder.apply(&key_of(number, Op::Remove))?;
    }
    let hints = builder.name((1..9).step_by(2).map(|number| pair(number, 1).0))?;
    let ops = (0..70).map(|version| set(1, version)).collect();
    let tend = Case::new("fixed: housekeeping among items", builder.image()?, ops);
    cases.push(tend.named(&hints).growth(800).few());
    Ok(cases.into_iter().map(Case::fixed).collect())
}
