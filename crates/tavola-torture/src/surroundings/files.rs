//! The file of a table in use is copied and moved by programs that know nothing of tables, while
//! its writers are killed.
//!
//! A copy of the bytes must be whole after a repair, and must say that its values may be mixed. A
//! copy by the library has whole values. A table with another name is the same table. A new table
//! in the place of an old one is what those find who open it then.

use super::crew::Crew;
use super::{apart, expect_clean};
use crate::board::Board;
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{now_ns, sleep_ms};
use crate::value::{Numbers, opened, sealed};
use std::path::Path;
use tavola::Table;

const WRITERS: usize = 3;
/// Keys that are always there, from the first write on.
const KEYS: u64 = 300;
const SIZE: u64 = 32 << 20;

pub(super) fn run(board: &Board, scratch: &Scratch, seed: u64, length_ns: u64) -> Outcome<()> {
    let names = ["live", "moved", "bytes", "copy"].map(|name| scratch.path(name));
    let [live, moved, bytes, copy] = &names;
    apart(board, "files", || {
        let options = Table::options().max_size(SIZE).shards(4);
        let table = options.create(live).map_err(failed)?;
        (0..KEYS).try_for_each(|key| put(&table, key, 0))
    })?;
    let work = |number: usize| work(live, number as u64);
    let mut crew = Crew::start(board, "files", WRITERS, &work)?;
    let (mut numbers, mut turns, began) = (Numbers::new(seed), 0, now_ns());
    while now_ns() - began < length_ns {
        turns += 1;
        apart(board, "files", || await_writers(live))?;
        crew.replace_one(&mut numbers)?;
        sleep_ms(10 + numbers.below(40));
        std::fs::copy(live, bytes)?;
        apart(board, "a copy of the bytes", || after_cp(bytes))?;
        std::fs::remove_file(bytes)?;
        apart(board, "a copy", || {
            copy_of(live, copy)?;
            whole(copy)
        })?;
        // Nobody opens it by its old name meanwhile: workers are started again afterwards.
        std::fs::rename(live, moved)?;
        apart(board, "a table that was moved", || whole(moved))?;
        std::fs::rename(moved, live)?;
        std::fs::rename(copy, live)?;
        crew.replace_all()?;
        apart(board, "a table in the place of another", || whole(live))?;
    }
    let kills = crew.end()?;
    apart(board, "files", || whole(live))?;
    println!("files: {turns} times copied, moved and replaced, {kills} kills");
    Ok(())
}

/// Waits until one is attached: without a writer a copy of the bytes is as good as any.
fn await_writers(live: &Path) -> Found<()> {
    let table = Table::open_read_only(live).map_err(failed)?;
    while table.participants().map_err(failed)?.is_empty() {
        sleep_ms(1);
    }
    Ok(())
}

fn key_of(key: u64) -> Vec<u8> {
    format!("key {key}").into_bytes()
}

/// A value of some 10 bytes to some 30 KB, by its key.
fn put(table: &Table, key: u64, version: u64) -> Found<()> {
    let name = key_of(key);
    let filler = match key % 50 {
        0 => 30_000,
        length => length as usize * 20,
    };
    let value = sealed(&name, version, filler);
    table.set(&name, &value).map_err(failed)
}

fn work(path: &Path, number: u64) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    let mut numbers = Numbers::new(number ^ u64::from(std::process::id()));
    for version in 1.. {
        put(&table, numbers.below(KEYS), number << 48 | version)?;
        let passing = format!("passing {number} {}", numbers.below(100));
        match version % 2 {
            0 => table.set(passing.as_bytes(), [1; 200]).map_err(failed)?,
            _ => drop(table.remove(passing.as_bytes()).map_err(failed)?),
        }
    }
    Ok(())
}

/// Whether a table is clean and has every key with a whole value.
fn whole(path: &Path) -> Found<()> {
    let table = Table::open(path).map_err(failed)?;
    table.reclaim().map_err(failed)?;
    expect_clean(&table, false)?;
    for key in (0..KEYS).map(key_of) {
        let value = table.get(&key).map_err(failed)?;
        let value = value.ok_or_else(|| format!("{} is gone", key.escape_ascii()))?;
        opened(&key, &value).ok_or_else(|| format!("{} is torn", key.escape_ascii()))?;
    }
    Ok(())
}

fn copy_of(live: &Path, copy: &Path) -> Found<()> {
    let table = Table::open_read_only(live).map_err(failed)?;
    let keys = table.copy_to(copy).map_err(failed)?;
    match keys >= KEYS {
        true => Ok(()),
        false => Err(format!("only {keys} keys were copied")),
    }
}

/// Values may be mixed, and keys may be missing: but nothing hangs, and what is there after the
/// repair can be read, changed and removed.
fn after_cp(bytes: &Path) -> Found<()> {
    let table = Table::open(bytes).map_err(failed)?;
    table.repair().map_err(failed)?;
    expect_clean(&table, true)?;
    let keys: Vec<Vec<u8>> = table
        .iter()
        .map(|entry| entry.map(|(key, _)| key))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    for key in &keys {
        table.set(key, b"another value").map_err(failed)?;
    }
    (0..KEYS).try_for_each(|key| put(&table, key, 0))?;
    expect_clean(&table, true)?;
    table.clear().map_err(failed)?;
    expect_clean(&table, true)
}
