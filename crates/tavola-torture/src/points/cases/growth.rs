//! The index growing: residents displaced, segments split, the directory doubled.

use super::super::Run;
use super::super::builder::{Builder, Cost, key, sets};
use super::super::case::{Case, Prepared};
use crate::scratch::Scratch;
use tavola_model::Op;

/// More stores than an insert without splits or new pages ever makes.
const SPLIT: u64 = 1000;
/// Bytes the table takes from the system at once for pages.
const TAKEN: u64 = 16 << 10;
/// Segments of a shard whose directory is about to be too large for its head.
const SEGMENTS: u64 = 64;
/// Keys that make every segment of a small table split again.
const GROWTH: u32 = 800;
/// Of the keys that a split does not need, one in so many stays.
const THIN: usize = 16;
/// Of a hundred thousand keys.
const THINNEST: usize = 400;
/// Sets on either side of a split.
const BESIDE: usize = 20;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    // An insert makes about 13 stores, a move of a resident adds 8.
    let displaces = |moves: u64| {
        move |cost: &Cost| {
            let stores = 18 + 8 * moves..SPLIT;
            cost.slabs == 0 && cost.bytes == 0 && stores.contains(&cost.stores)
        }
    };
    let mut cases = Vec::new();
    for moves in [0, 1] {
        let name = format!("insert that displaces, {} at least", moves + 1);
        cases.push(costly(run.scratch, &name, 0, displaces(moves))?);
    }
    for segments in [2, 6] {
        let name = format!("split with {segments} segments");
        let case = costly(run.scratch, &name, segments, splits)?;
        cases.push(thinned(run.scratch, case)?);
    }
    cases.push(growth(run.scratch)?);
    // With all keys, and of two segments in the end: most points a key, least a segment.
    cases.push(costly(run.scratch, "split of a full segment", 1, splits)?);
    Ok(cases)
}

fn splits(cost: &Cost) -> bool {
    cost.segments > 0
}

/// A table with so many segments at least, and the number of the first key it lacks.
fn grown(scratch: &Scratch, segments: u64) -> Prepared<(Builder<'_>, u32)> {
    let mut builder = Builder::new(scratch)?;
    let mut number = 0;
    while builder.segments()? < segments.max(1) {
        builder.put(&key(number), 4)?;
        number += 1;
    }
    Ok((builder, number))
}

/// The first insert that costs so much, in a table of at least so many segments.
fn costly(
    scratch: &Scratch,
    name: &str,
    segments: u64,
    wanted: impl Fn(&Cost) -> bool,
) -> Prepared<Case> {
    let (builder, number) = grown(scratch, segments)?;
    let (start, ops) = builder
        .before(0, sets(number, 4), &wanted)
        .map_err(|why| format!("{name}: {why}"))?;
    Ok(Case::new(name, start, ops).growth(GROWTH))
}

/// The same split with few keys.
fn thinned(scratch: &Scratch, case: Case) -> Prepared<Case> {
    let start = (case.image, case.model);
    let start = Builder::thinned(scratch, start, &case.ops, THIN, splits)?;
    Ok(Case::new(&case.name, start, case.ops).growth(GROWTH))
}

/// The split that takes the directory past the entries that stand in the shard's head. It takes
/// more than a hundred thousand keys to get there; where they are gone again, the segments that do
/// not split are merged.
pub(super) fn doubling(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let (scratch, name) = (run.scratch, "split past the inline directory");
    if !run.wants(name) {
        return Ok(Vec::new());
    }
    let mut builder = Builder::with(scratch, 64 << 20)?;
    let set = |number: u32| (format!("{number}").into_bytes(), Vec::new());
    let mut number = 0;
    while builder.segments()? < SEGMENTS {
        let pairs: Vec<_> = (number..number + 40).map(set).collect();
        builder.apply(&Op::SetMany(pairs))?;
        number += 40;
    }
    // It needs memory of its own: one page of the system's, where the table takes larger ones.
    let sets = (number..).map(|number| {
        let (key, value) = set(number);
        Op::Set(key, value)
    });
    let own = |cost: &Cost| splits(cost) && cost.bytes % TAKEN == 4096;
    let (start, ops) = builder.before(0, sets, own)?;
    let mut builder = Builder::only_near(scratch, &start, &ops[0], THINNEST)?;
    builder.apply(&Op::Compact)?;
    let start = builder.image()?;
    if !Builder::costs(scratch, &start, &ops, own)? {
        return Err("the directory does not double where other segments are merged".into());
    }
    let start = Builder::thinned(scratch, start, &ops, THIN, own)?;
    Ok(vec![Case::new(name, start, ops).growth(GROWTH)])
}

/// Sets before a split, the split, sets after it. Of three segments the one that was not split is
/// the fullest: the directory stays as deep as it is.
fn growth(scratch: &Scratch) -> Prepared<Case> {
    let (builder, number) = grown(scratch, 2)?;
    let mut segments = 2;
    let third = |cost: &Cost| {
        segments += cost.segments;
        segments == 4
    };
    let (start, mut ops) = builder.before(BESIDE, sets(number, 4), third)?;
    let done = start.1.len() + ops.len();
    let start = Builder::thinned(scratch, start, &ops, THIN, splits)?;
    ops.extend(sets(done as u32, 4).take(BESIDE));
    Ok(Case::new("growth over a split", start, ops))
}
