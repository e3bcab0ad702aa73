//! Memory taken, moved and given back.

use super::super::case::{Builder, Case, Prepared, key, sets};
use super::super::op::Op;
use crate::scratch::Scratch;
use crate::value::sealed;

/// Bytes of a value that leaves few of the pages whose words are backed from the start.
const WORDS_FROM: usize = 32 << 20;
/// Bytes of the pages that are backed at once.
const PAGES_AT_ONCE: u64 = 64 << 10;
/// Writes between which a process does its share of housekeeping once.
const TEND: u32 = 64;

pub(super) fn add(scratch: &Scratch, cases: &mut Vec<Case>) -> Prepared<()> {
    taking(scratch, cases)?;
    giving(scratch, cases)?;
    shrinking(scratch, cases)?;
    let image = Builder::some(scratch)?.image()?;
    cases.push(Case::new(
        "repair of a whole table",
        image.clone(),
        vec![Op::Repair],
    ));
    cases.push(Case::new("check of a whole table", image, vec![Op::Check]));
    Ok(())
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

/// A set that needs a page whose word is not backed by memory yet.
pub(super) fn backing_words(scratch: &Scratch) -> Prepared<Case> {
    let mut builder = Builder::with(scratch, 64 << 20)?;
    builder.put(b"most of it", WORDS_FROM)?;
    // Words are backed in other amounts than pages.
    let (file, op) = builder.before(sets(0, 15_000), |cost| cost.bytes % PAGES_AT_ONCE != 0)?;
    Ok(Case::new(super::WORDS, file, vec![op]).few())
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
    let ops = sets(2000, 30).take(2 * TEND as usize + 2).collect();
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
        let ops = (0..3 * TEND)
            .flat_map(|n| [Op::Set(key(n), sealed(&key(n), 2, 20)), Op::Remove(key(n))])
            .collect();
        let tend = format!("housekeeping in a table of {name}");
        cases.push(Case::new(&tend, image, ops).growth(800));
    }
    Ok(())
}
