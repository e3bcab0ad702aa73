//! Memory taken, moved and given back.

use super::super::builder::{Builder, Cost, key, sets};
use super::super::case::{Case, Prepared, Start};
use super::super::{Lane, Run, left};
use crate::scratch::Scratch;
use crate::system::sleep_ms;
use crate::value::sealed;
use tavola_model::Op;

/// Longer than a freed page stays in the pool untouched.
const GRACE_PERIOD_MS: u64 = 2_100;
/// Bytes of a page.
const PAGE: u64 = 16 << 10;
/// Pages whose words are backed from the start, except a few.
const WORDS_FROM: usize = 8192 - 8;
/// Sets by which the few pages are used up.
const FEW: usize = 50;
/// Bytes that come at once: words for pages, and pages.
const WORDS_AT_ONCE: u64 = 16 << 10;
const PAGES_AT_ONCE: u64 = 4 * PAGE;
/// Writes between which a process does its share of housekeeping once.
const TEND: usize = 64;
/// Shares of housekeeping that are done in a sparse table.
const TENDINGS: usize = 6;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut cases = Vec::new();
    taking(run.scratch, &mut cases)?;
    giving(run.scratch, &mut cases)?;
    shrinking(run.scratch, &mut cases)?;
    let image = Builder::some(run.scratch)?.image()?;
    for (name, op) in [("repair", Op::Repair), ("check", Op::Check)] {
        let name = format!("{name} of a whole table");
        cases.push(Case::new(&name, image.clone(), vec![op]));
    }
    // What the files hold as free is old enough to be given back from now on.
    sleep_ms(GRACE_PERIOD_MS);
    Ok(cases)
}

/// Pages for slabs, pages for the pool, words for the pages.
fn taking(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let pages = |builder: &Builder<'_>| -> Prepared<u64> {
        let stats = builder.table().stats()?;
        Ok((stats.slab_bytes + stats.free_bytes) >> 14)
    };
    // A set that takes a page from the pool for a slab, and one that finds the pool empty.
    for (name, pool) in [("a page for a slab", false), ("pages for the pool", true)] {
        let mut builder = Builder::some(scratch)?;
        let mut number = 0;
        loop {
            let (before, free) = (pages(&builder)?, builder.table().stats()?.free_bytes);
            builder.put(&key(1000 + number), 3000)?;
            number += 1;
            let grew = pages(&builder)? > before;
            let took = builder.table().stats()?.free_bytes != free;
            if grew == pool && took {
                break;
            }
        }
        // The same once more, without the last.
        let mut again = Builder::some(scratch)?;
        for n in 0..number - 1 {
            again.put(&key(1000 + n), 3000)?;
        }
        let image = again.image()?;
        let ops = sets(1000 + number - 1, 3000).take(12).collect();
        cases.push(Case::new(&format!("sets that take {name}"), image, ops));
    }
    Ok(())
}

/// A set that needs a page whose word is not backed by memory yet. The pages whose words are were
/// taken by one who died before it published the value they hold, of zeroes: so nobody reads them,
/// and the file of the case is small.
pub(super) fn backing_words(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let name = "pages past the words that were backed at first";
    if !run.wants(name) {
        return Ok(Vec::new());
    }
    let empty = Builder::with(run.scratch, 256 << 20)?.image()?;
    let zeroes = vec![0; WORDS_FROM * PAGE as usize];
    let most = Case::new(name, empty, vec![Op::Set(b"most of it".to_vec(), zeroes)]);
    let start = littered(&run.lane(0), &most)?;
    let builder = Builder::opened(run.scratch, &start)?;
    let wanted = |cost: &Cost| cost.bytes == WORDS_AT_ONCE + PAGES_AT_ONCE;
    let (start, ops) = builder.before(0, sets(0, 15_000).take(FEW), wanted)?;
    Ok(vec![Case::new(name, start, ops)])
}

/// What is left by one who died with all pages of a large value taken, just before it locked the
/// shard: so the next does not stumble over it.
fn littered(lane: &Lane<'_>, large: &Case) -> Prepared<Start> {
    let (mut before, mut locked) = (1_u64, lane.stores(large)?);
    loop {
        let k = before.midpoint(locked);
        let left = lane.aftermath(large, k)?;
        let left = left.ok_or("the one that was to take pages did not die")?;
        match left::is_locked(left::kind(lane.path())?) {
            true if k == before => return Err("pages are taken under the shard's lock".into()),
            true => locked = k,
            false if k == before => return Ok((left.image, left.model)),
            false => before = k,
        }
    }
}

/// Pages that go back to the pool, and from the pool to the system.
fn giving(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    let mut builder = Builder::some(scratch)?;
    for number in 1000..1016 {
        builder.put(&key(number), 7000)?;
    }
    let image = builder.image()?;
    let ops = (1000..1016).map(|number| Op::Remove(key(number))).collect();
    cases.push(Case::new("removes that give pages to the pool", image, ops));

    let mut builder = Builder::some(scratch)?;
    builder.put(b"much", 600_000)?;
    builder.apply(&Op::Remove(b"much".to_vec()))?;
    let image = builder.image()?;
    let name = "pages given back to the system";
    cases.push(Case::new(name, image.clone(), vec![Op::Maintain]));
    let name = "sets that take pages given back";
    let ops = vec![
        Op::Maintain,
        Op::Set(b"again".to_vec(), sealed(b"again", 1, 500_000)),
    ];
    cases.push(Case::new(name, image.clone(), ops));
    let ops = sets(2000, 30).take(2 * TEND + 2).collect();
    cases.push(Case::new("housekeeping between writes", image, ops));
    Ok(())
}

/// Segments merged, sparse slabs emptied, the last segment freed.
fn shrinking(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    for (name, keep) in [
        ("every tenth key", 10),
        ("three keys", 1800),
        ("no key", u32::MAX),
    ] {
        let mut builder = Builder::new(scratch)?;
        let mut number = 0;
        while builder.segments()? < 4 {
            builder.put(&key(number), 20)?;
            number += 1;
        }
        // In one process, hardly a second: what can be won back is still there.
        for number in (0..number).filter(|n| keep == u32::MAX || n % keep != 0) {
            builder.apply(&Op::Remove(key(number)))?;
        }
        let image = builder.image()?;
        let compact = format!("compact a table of {name}");
        let case = Case::new(&compact, image.clone(), vec![Op::Compact]);
        cases.push(case.growth(800).waits());
        let tend = format!("housekeeping in a table of {name}");
        cases.push(
            Case::new(&tend, image, tended(TENDINGS))
                .misses()
                .growth(800),
        );
    }
    Ok(())
}

/// Writes among which housekeeping is done so often, after a set and after a remove in turn. Those
/// further away from it than a few are the cheapest there are.
pub(super) fn tended(times: usize) -> Vec<Op> {
    let mut numbers = 0..;
    let mut pair = || {
        let key = key(numbers.next().expect("numbers do not end"));
        [Op::Set(key.clone(), sealed(&key, 2, 20)), Op::Remove(key)]
    };
    let miss = || Op::Remove(b"no such key".to_vec());
    let mut ops = Vec::new();
    for turn in 1..=times {
        // Every second time a set is the write that brings it.
        let before = turn * TEND - 4 - turn % 2;
        ops.extend(std::iter::repeat_with(miss).take(before - ops.len()));
        ops.extend((0..4).flat_map(|_| pair()));
    }
    ops
}
