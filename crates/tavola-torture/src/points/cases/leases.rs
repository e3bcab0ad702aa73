//! Leases: each step of winning, filling, failing and giving up.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use super::super::leases::FAILED;
use super::expiry::{LARGE, set, with};
use crate::value::sealed;
use tavola_model::{End, Life, Op};

/// Records of a shard.
const RECORDS: u32 = 16;

fn lease(key: &[u8], end: End) -> Op {
    Op::Lease(key.to_vec(), end)
}

fn fill(key: &[u8], version: u64, len: usize) -> Op {
    lease(key, End::Fill(sealed(key, version, len)))
}

/// A key that was not there.
const NEW: &[u8] = b"new key";

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut builder = Builder::some(run.scratch)?;
    for (name, len) in [("stale", 20), ("stale large", LARGE)] {
        builder.apply(&with(name.as_bytes(), 1, len, Life::Hours(1)))?;
    }
    let fresh = builder.image()?;
    // The same when there were leases before: one whose owner has died, and a failure.
    let mut builder = Builder::opened(run.scratch, &fresh)?;
    builder.apply(&lease(b"kept", End::Keep))?;
    builder.apply(&lease(FAILED, End::Fail))?;
    let some = builder.image()?;
    let case = |name: &str, start: &_, ops| {
        Case::new(&format!("lease: {name}"), Clone::clone(start), ops)
            .expires()
            .leased()
    };
    let mut cases = vec![case("the first of a table", &fresh, vec![fill(NEW, 1, 20)])];
    cases.extend(
        named()
            .into_iter()
            .map(|(name, ops)| case(name, &some, ops)),
    );
    let taken = (0..RECORDS).map(|n| lease(&key(5000 + n), End::Keep));
    let ops = taken.chain([fill(NEW, 1, 20)]).collect();
    cases.push(case("one without a record", &some, ops));
    Ok(cases)
}

type Named = (&'static str, Vec<Op>);

fn named() -> Vec<Named> {
    let gone = || Op::Remove(NEW.to_vec());
    let won = || lease(NEW, End::Keep);
    vec![
        ("fill", vec![fill(NEW, 1, 20)]),
        ("fill, large", vec![fill(NEW, 1, LARGE)]),
        ("fill a stale key", vec![fill(b"stale", 2, 200)]),
        (
            "fill a stale large key",
            vec![fill(b"stale large", 2, LARGE)],
        ),
        ("fail", vec![lease(NEW, End::Fail)]),
        ("fail with a stale key", vec![lease(b"stale", End::Fail)]),
        ("give up", vec![lease(NEW, End::GiveUp), fill(NEW, 1, 20)]),
        ("of one who has died", vec![fill(b"kept", 1, 20)]),
        ("set what is being computed", vec![won(), set(NEW, 1, 20)]),
        (
            "remove what is being computed",
            vec![won(), gone(), fill(NEW, 1, 20)],
        ),
        (
            "remove what has failed",
            vec![Op::Remove(FAILED.to_vec()), fill(FAILED, 1, 20)],
        ),
        ("clear", vec![won(), Op::Clear, fill(NEW, 1, 20)]),
        ("repair", vec![won(), Op::Repair, fill(NEW, 1, 20)]),
    ]
}
