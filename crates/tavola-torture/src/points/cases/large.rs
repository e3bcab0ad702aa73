//! Values that take pages of their own.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use crate::scratch::Scratch;
use crate::value::sealed;
use tavola_model::Op;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let scratch = run.scratch;
    let mut cases = Vec::new();
    let some = Builder::some(scratch)?.image()?;
    let large = || b"large".to_vec();
    let value = |len| sealed(b"large", 2, len);
    let long_key = || vec![b'k'; 20_000];
    let on_some = [
        (
            "large: set a new key",
            Op::Set(b"new".to_vec(), value(50_000)),
        ),
        ("large: by large", Op::Set(large(), value(60_000))),
        ("large: by small", Op::Set(large(), value(20))),
        ("large: small by large", Op::Set(key(3), value(40_000))),
        ("large: remove", Op::Remove(large())),
        ("large: take", Op::Take(large())),
        ("large: append", Op::Append(large(), vec![b'+'; 10_000])),
        ("large: add", Op::Add(b"new".to_vec(), value(33_000))),
        ("large: swap", Op::Swap(large(), value(33_000))),
        ("large: a large key", Op::Set(long_key(), value(100))),
        (
            "large: many pages",
            Op::Set(b"many".to_vec(), value(1_600_000)),
        ),
        (
            "large: one block, nearly a page",
            Op::Set(large(), value(16_000)),
        ),
    ];
    for (name, op) in on_some {
        cases.push(Case::new(name, some.clone(), vec![op]));
    }
    let in_view = vec![
        Op::SetViewed(large(), value(60_000)),
        Op::Set(b"new".to_vec(), value(40_000)),
        Op::SetViewed(large(), value(50_000)),
        Op::Set(large(), value(20)),
    ];
    cases.push(Case::new("large: in view", some.clone(), in_view));
    let mut builder = Builder::some(scratch)?;
    builder.put(&long_key(), 100)?;
    builder.put(b"many", 1_600_000)?;
    let with_long = builder.image()?;
    for (name, key) in [
        ("a large key", long_key()),
        ("many pages", b"many".to_vec()),
    ] {
        let name = format!("large: remove {name}");
        cases.push(Case::new(&name, with_long.clone(), vec![Op::Remove(key)]));
    }
    full(scratch, &mut cases)?;
    Ok(cases)
}

/// A table that is full, and one more large value.
fn full(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let mut builder = Builder::with(scratch, 1 << 20)?;
    for number in 0..10 {
        builder.put(&key(number), 20)?;
    }
    for (from, len) in [(10, 40_000), (100, 9_000)] {
        for number in from..from + 80 {
            let key = key(number);
            let value = sealed(&key, 1, len);
            if !builder.has_room(&Op::Set(key, value))? {
                break;
            }
        }
    }
    let image = builder.image()?;
    for (name, len) in [
        ("large: no room", 60_000),
        ("large: no room for a block", 9_000),
    ] {
        let ops = vec![Op::Set(b"no room".to_vec(), sealed(b"no room", 1, len))];
        cases.push(Case::new(name, image.clone(), ops).full());
    }
    Ok(())
}
