//! Caches at their limit: eviction, ghosts, visits, a capacity that becomes smaller.

use super::super::Run;
use super::super::builder::{Builder, Cost, key, sets};
use super::super::case::{Case, Prepared, Start, fixed_pair};
use super::space::tended;
use crate::scratch::Scratch;
use crate::value::sealed;
use std::time::Duration;
use tavola_model::Op;

/// Small, so that little is written until it is full.
const CAPACITY: u64 = 640 << 10;
/// What it is made to become.
const SMALLER: u64 = 560 << 10;
const LARGE: usize = 30_000;
/// Values of which a page has some dozens.
const MIDDLE: usize = 300;
/// An operation is looked for among so many.
const TRIES: usize = 40_000;
/// And what only some tables do, among so many, in so many tables.
const FIRST: usize = 2_000;
const TABLES: usize = 20;
/// Keys that are evicted in one go at most.
const IN_ONE_GO: u64 = 4;
/// Reads that may change the state of a key, and fewer stores than a sample takes.
const VISITS: usize = 3;
const LESS_THAN_A_SAMPLE: u64 = 8;
/// After that the next sample is due.
const SAMPLE_IS_DUE: Duration = Duration::from_millis(1100);
/// More stores than an eviction makes, fewer than a split does.
const SQUEEZE: std::ops::Range<u64> = 250..4000;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    if !run.wants("cache: ") {
        return Ok(Vec::new());
    }
    let scratch = run.scratch;
    let mut cases = Vec::new();
    probationary(scratch, &mut cases)?;
    protected(scratch, &mut cases)?;
    index(scratch, &mut cases)?;
    squeezes(scratch, &mut cases)?;
    named(scratch, &mut cases)?;
    let each = cases.into_iter().map(Case::cache);
    Ok(each.collect())
}

/// A cache that has evicted some keys of such values, and the number of the first it never had.
fn full(scratch: &Scratch, len: usize) -> Prepared<(Builder<'_>, u32)> {
    let mut builder = Builder::cache(scratch, CAPACITY)?;
    let mut number = 0;
    while builder.table().stats()?.evicted_new < 200 {
        builder.put(&key(number), len)?;
        number += 1;
    }
    Ok((builder, number))
}

/// What is done to a cache that evicts probationary keys.
fn probationary(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let (builder, number) = full(scratch, MIDDLE)?;
    let evicts = |cost: &Cost| cost.evicted_new > 0 && cost.segments == 0;
    let (start, ops) = builder
        .before(0, sets(number, MIDDLE).take(TRIES), evicts)
        .map_err(|why| format!("a set that evicts: {why}"))?;
    let large = Op::Set(b"large".to_vec(), sealed(b"large", 1, LARGE));
    let last = key(number - 1);
    let again = |len| Op::Set(last.clone(), sealed(&last, 2, len));
    let reads = vec![Op::Get(last.clone()); 3];
    let many_reads = until_a_sample(scratch, &start, &Op::Get(last.clone()))?;
    for (name, ops) in [
        ("set that evicts probationary", ops),
        ("a large value that evicts many", vec![large.clone()]),
        (
            "a large value in the place of a probationary key",
            vec![again(LARGE)],
        ),
        (
            "a probationary key gets a longer value",
            vec![again(3 * MIDDLE)],
        ),
        ("a probationary key is read", reads),
        ("reads, and a sample of what was done", many_reads),
        ("repair", vec![Op::Repair]),
        ("check", vec![Op::Check]),
        ("clear", vec![Op::Clear]),
        ("a smaller capacity", smaller(vec![Op::Maintain])),
        (
            "a smaller capacity, and a large value",
            smaller(vec![large]),
        ),
        ("a smaller capacity, and writes", smaller(tended(2))),
    ] {
        cases.push(Case::new(&format!("cache: {name}"), start.clone(), ops));
    }
    Ok(())
}

/// Reads of a key, the last of which is followed by a sample of what was done.
fn until_a_sample(scratch: &Scratch, start: &Start, read: &Op) -> Prepared<Vec<Op>> {
    std::thread::sleep(SAMPLE_IS_DUE);
    let reads = std::iter::repeat_n(read.clone(), TRIES);
    let mut done = 0;
    let samples = |cost: &Cost| {
        done += 1;
        done > VISITS && cost.stores > LESS_THAN_A_SAMPLE
    };
    Builder::until(scratch, start, reads, samples)
        .map_err(|why| format!("reads that are followed by a sample: {why}").into())
}

fn smaller(then: Vec<Op>) -> Vec<Op> {
    let mut ops = vec![Op::SetCapacity(SMALLER)];
    ops.extend(then);
    ops
}

/// Keys that are worth keeping, and ghosts.
fn protected(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let (builder, number) = full(scratch, MIDDLE)?;
    let start = builder.image()?;
    let builder = Builder::opened(scratch, &start)?;
    let again = (0..number).map(|number| {
        let key = key(number);
        let value = sealed(&key, 2, MIDDLE);
        Op::Set(key, value)
    });
    let (ghost, ops) = builder
        .before(0, again, |cost| cost.ghosts > 0)
        .map_err(|why| format!("a ghost: {why}"))?;
    let Some(Op::Set(back, _)) = ops.first().cloned() else {
        return Err("a ghost is met by what is no set".into());
    };
    cases.push(Case::new(
        "cache: a key comes back while its ghost is there",
        ghost.clone(),
        ops.clone(),
    ));
    let mut read = Builder::opened(scratch, &ghost)?;
    read.apply(&ops[0])?;
    let reads = vec![Op::Get(back); 3];
    cases.push(Case::new(
        "cache: a protected key is read",
        read.image()?,
        reads,
    ));

    let mut builder = Builder::opened(scratch, &start)?;
    for number in (0..number).chain(0..number) {
        builder.apply(&Op::Get(key(number)))?;
    }
    let evicts = |cost: &Cost| cost.evicted_old > 0;
    let (start, ops) = builder
        .before(0, sets(number, MIDDLE).take(TRIES), evicts)
        .map_err(|why| format!("protected keys: {why}"))?;
    cases.push(Case::new(
        "cache: set that evicts protected keys",
        start,
        ops,
    ));
    Ok(())
}

/// Where the index gets too small, and where two buckets of it are.
fn index(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let splits = |cost: &Cost| cost.segments > 0;
    let (builder, number) = full(scratch, MIDDLE)?;
    let (start, ops) = builder
        .before(0, sets(number, 4).take(TRIES), splits)
        .map_err(|why| format!("a set that splits a segment: {why}"))?;
    let split = Case::new("cache: set that splits a segment", start.clone(), ops);
    cases.push(split.growth(200));
    // One key goes, where a page's worth would go by the hands.
    let beside = |cost: &Cost| {
        cost.evicted_new + cost.evicted_old == 1 && (cost.segments, cost.slabs) == (0, 0)
    };
    let builder = Builder::opened(scratch, &start)?;
    let (start, ops) = builder
        .before(0, sets(number + TRIES as u32, 4).take(TRIES), beside)
        .map_err(|why| format!("an eviction beside: {why}"))?;
    cases.push(Case::new("cache: set that evicts beside", start, ops));
    Ok(())
}

/// Short values make room for long ones, of another class. Whether a set does that alone hangs on
/// how a table spreads its keys, and is seen while the first long values come, or not at all.
fn squeezes(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let squeezes = |cost: &Cost| {
        SQUEEZE.contains(&cost.stores) && cost.segments == 0 && cost.evicted_new <= IN_ONE_GO
    };
    let mut found = Err("no table was tried".into());
    for _ in 0..TABLES {
        let (builder, number) = full(scratch, 150)?;
        found = builder.before(0, sets(number, 3000).take(FIRST), squeezes);
        if found.is_ok() {
            break;
        }
    }
    let (start, ops) = found.map_err(|why| format!("a set that squeezes: {why}"))?;
    cases.push(Case::new("cache: set that squeezes", start, ops));
    Ok(())
}

/// Keys with uids are evicted, and of fixed lengths.
fn named(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let (mut builder, number) = full(scratch, MIDDLE)?;
    let mut there = Vec::new();
    for number in 0..number {
        if builder.table().contains(key(number))? {
            there.push(key(number));
        }
    }
    // Their uids take room, for which others may go.
    let hints = builder.name_those_left(there)?;
    let evicts = |cost: &Cost| cost.evicted_new > 0 && cost.segments == 0;
    let (start, ops) = builder
        .before(0, sets(number, MIDDLE).take(TRIES), evicts)
        .map_err(|why| format!("keys with uids: {why}"))?;
    let case = Case::new("cache: set that evicts keys with uids", start, ops);
    cases.push(case.named(&hints));

    let (start, ops): (Start, Vec<Op>) = {
        let mut builder = Builder::fixed_cache(scratch, CAPACITY)?;
        let mut number = 0;
        let set = |number: u32| {
            let (key, value) = fixed_pair(&key(number), 1);
            Op::Set(key, value)
        };
        while builder.table().stats()?.evicted_new < 200 {
            builder.apply(&set(number))?;
            number += 1;
        }
        builder.before(0, (number..).map(set).take(TRIES), evicts)?
    };
    let case = Case::new("cache: set that evicts, of fixed lengths", start, ops);
    cases.push(case.fixed());
    Ok(())
}
