//! Tables of many keys, most of which have expired.

use super::super::Run;
use super::super::builder::{Builder, Cost, key, sets};
use super::super::case::{Case, Prepared};
use super::expiry::{LARGE, set, with};
use super::space::tended;
use crate::scratch::Scratch;
use tavola_model::{Life, Op};

/// Keys of a table that is searched, of which most have expired.
const SEARCHED: u32 = 240;
/// Shares of housekeeping in which it is searched from one end to the other.
const SEARCHES: usize = 8;
/// Of the keys that a split does not need, one in so many stays.
const THIN: usize = 16;
/// Of a table that grows, one key in so many has expired.
const GONE: u32 = 8;
/// Of a table that shrinks, one key in so many is left; every second of these has expired.
const LEFT: u32 = 10;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut cases = vec![searched(run)?];
    cases.push(split(run.scratch)?);
    shrinking(run.scratch, &mut cases)?;
    cases.push(full(run.scratch)?);
    Ok(cases.into_iter().map(Case::expires).collect())
}

/// Writes of other keys, by which what has expired is found and removed.
fn searched(run: &Run<'_>) -> Prepared<Case> {
    let mut builder = Builder::new(run.scratch)?;
    for number in 0..SEARCHED {
        let len = if number % 80 == 0 { LARGE } else { 20 };
        builder.apply(&with(&key(1000 + number), 1, len, Life::Hours(1)))?;
    }
    let hints = builder.name((0..SEARCHED).step_by(10).map(|number| key(1000 + number)))?;
    for number in (0..SEARCHED).filter(|number| number % 8 != 1) {
        builder.apply(&Op::Touch(key(1000 + number), Life::Gone))?;
    }
    let name = "expiry: housekeeping among expired keys";
    Ok(Case::new(name, builder.image()?, tended(SEARCHES)).named(&hints))
}

/// A split of a segment in which some have expired.
fn split(scratch: &Scratch) -> Prepared<Case> {
    let splits = |cost: &Cost| cost.segments > 0;
    let mut builder = Builder::new(scratch)?;
    let mut number = 0;
    while builder.segments()? < 2 {
        let life = match number % GONE {
            0 => Life::Gone,
            1 => Life::Hours(1),
            _ => Life::Forever,
        };
        builder.apply(&with(&key(number), 1, 4, life))?;
        number += 1;
    }
    let (start, ops) = builder.before(0, sets(number, 4), splits)?;
    let start = Builder::thinned(scratch, start, &ops, THIN, splits)?;
    Ok(Case::new("expiry: split with expired keys", start, ops).growth(800))
}

/// Sparse segments, which are merged when what has expired is gone.
fn shrinking(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let mut builder = Builder::new(scratch)?;
    let mut number = 0;
    while builder.segments()? < 4 {
        builder.put(&key(number), 20)?;
        number += 1;
    }
    for number in 0..number {
        match number % (2 * LEFT) {
            0 => builder.apply(&Op::Touch(key(number), Life::Gone))?,
            LEFT => builder.apply(&Op::Touch(key(number), Life::Hours(1)))?,
            _ => builder.apply(&Op::Remove(key(number)))?,
        }
    }
    let image = builder.image()?;
    let case = |name: &str, ops| {
        let name = format!("expiry: {name} of a sparse table");
        Case::new(&name, image.clone(), ops).growth(800)
    };
    cases.push(case("compact", vec![Op::Compact]).waits());
    cases.push(case("housekeeping", tended(SEARCHES)));
    cases.push(case("clear", vec![Op::Clear]));
    cases.push(case("repair", vec![Op::Repair]));
    Ok(())
}

/// A table that is full of what has expired, and one more large value.
fn full(scratch: &Scratch) -> Prepared<Case> {
    let mut builder = Builder::with(scratch, 1 << 20)?;
    for number in 0..10 {
        builder.put(&key(number), 20)?;
    }
    let mut filled = Vec::new();
    for number in 100..200 {
        if !builder.has_room(&with(&key(number), 1, LARGE, Life::Hours(1)))? {
            break;
        }
        filled.push(key(number));
    }
    for key in filled {
        builder.apply(&Op::Touch(key, Life::Gone))?;
    }
    let ops = vec![set(b"more", 1, 60_000)];
    Ok(Case::new(
        "expiry: room for a large key",
        builder.image()?,
        ops,
    ))
}
