//! The index growing: residents displaced, segments split, the directory doubled.

use super::super::case::{Builder, Case, Cost, Prepared, key, sets};
use super::super::op::Op;
use crate::scratch::Scratch;
use crate::value::sealed;

/// More stores than an insert without splits or new pages ever makes.
const SPLIT: u64 = 1000;
/// Bytes the table takes from the system at once for pages.
const TAKEN: u64 = 16 << 10;
/// Segments of a shard whose directory is about to be too large for its head.
const SEGMENTS: u64 = 64;
/// Keys that make every segment of a small table split again.
const GROWTH: u32 = 800;

pub(super) fn add(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let mut add = |name: &str, made: Prepared<Case>| -> Prepared<()> {
        cases.push(made.map_err(|why| format!("{name}: {why}"))?);
        Ok(())
    };
    // An insert makes about 13 stores, a move of a resident adds 8.
    let displaces = |moves: u64| {
        move |cost: &Cost| {
            let stores = 18 + 8 * moves..SPLIT;
            cost.slabs == 0 && cost.bytes == 0 && stores.contains(&cost.stores)
        }
    };
    for moves in [0, 1] {
        let name = format!("insert that displaces, {} at least", moves + 1);
        add(&name, costly(scratch, &name, 0, displaces(moves)))?;
    }
    for segments in [1, 2, 6] {
        let name = format!("split with {segments} segments");
        let made = costly(scratch, &name, segments, |cost| cost.segments > 0)?;
        let made = if segments == 2 { made.thorough() } else { made };
        add(&name, Ok(made))?;
    }
    add("growth", growth(scratch))
}

/// The first insert that costs so much, in a table of at least so many segments.
fn costly(
    scratch: &Scratch,
    name: &str,
    segments: u64,
    wanted: impl Fn(&Cost) -> bool,
) -> Prepared<Case> {
    let mut builder = Builder::new(scratch)?;
    let mut number = 0;
    while builder.segments()? < segments.max(1) {
        builder.put(&key(number), 4)?;
        number += 1;
    }
    let (file, op) = builder.before(sets(number, 4), wanted)?;
    let case = Case::new(name, file, vec![op]);
    Ok(case.growth(GROWTH))
}

/// The split that takes the directory past the entries that stand in the shard's head. It takes
/// more than a hundred thousand keys to get there.
pub(super) fn doubling(scratch: &Scratch) -> Prepared<Case> {
    let mut builder = Builder::with(scratch, 64 << 20)?;
    let set = |number: u32| (format!("{number}").into_bytes(), Vec::new());
    let mut number = 0;
    while builder.segments()? < SEGMENTS {
        let pairs: Vec<_> = (number..number + 100).map(set).collect();
        builder.apply(&Op::SetMany(pairs))?;
        number += 100;
    }
    // It needs memory of its own: one page of the system's, where the table takes larger ones.
    let sets = (number..).map(|number| {
        let (key, value) = set(number);
        Op::Set(key, value)
    });
    let own = |cost: &Cost| cost.segments > 0 && cost.bytes % TAKEN == 4096;
    let (start, op) = builder.before(sets, own)?;
    Ok(Case::new(super::DOUBLING, start, vec![op])
        .few()
        .growth(GROWTH))
}

/// From one key to a dozen segments.
fn growth(scratch: &Scratch) -> Prepared<Case> {
    let mut builder = Builder::new(scratch)?;
    builder.put(b"first", 4)?;
    let ops = (0..14_000u32)
        .map(|number| Op::Set(key(number), sealed(&key(number), 1, 4)))
        .collect();
    Ok(Case::new("growth to a dozen segments", builder.image()?, ops).most(2500))
}
