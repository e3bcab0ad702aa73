//! Daemons close the descriptors from 3 on between any two operations, and their own file gets all
//! of these numbers. That file must stay as it is, and nobody may take the locks of a daemon that
//! lives: a count of all, each increment of which was acknowledged, shows both.

use super::crew::Crew;
use super::{apart, expect_clean, expect_count};
use crate::board::Board;
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{lead_all_to, now_ns, shared_words, sleep_ms};
use crate::value::Numbers;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tavola::Table;

/// Workers, of which the first are daemons.
const WORKERS: usize = 4;
const DAEMONS: usize = 2;
/// Numbers that are closed, as daemons do; more than the library uses.
const NUMBERS: i32 = 1024;
/// Operations between two closings.
const OPERATIONS: u64 = 50;
const OWN_BYTES: usize = 256 << 10;
const KEY: &[u8] = b"count";

pub(super) fn run(board: &Board, scratch: &Scratch, seed: u64, length_ns: u64) -> Outcome<()> {
    let path = scratch.path("daemons");
    let options = Table::options().max_size(64 << 20).shards(2);
    drop(options.create(&path)?);
    let owns: Vec<_> = (0..DAEMONS)
        .map(|number| scratch.path(&format!("own-{number}")))
        .collect();
    for own in &owns {
        std::fs::write(own, vec![b'x'; OWN_BYTES])?;
    }
    let blocks = std::fs::metadata(&owns[0])?.blocks();
    let acknowledged = &shared_words(1)?[0];
    let work = |number: usize| work(&path, owns.get(number).map(|own| &**own), acknowledged);
    let mut crew = Crew::start(board, "daemons", WORKERS, &work)?;
    let (mut numbers, began) = (Numbers::new(seed), now_ns());
    while now_ns() - began < length_ns {
        sleep_ms(10 + numbers.below(40));
        crew.replace_one(&mut numbers)?;
    }
    let kills = crew.end()?;
    let counted = acknowledged.load(Relaxed);
    apart(board, "daemons", || {
        let table = Table::open(&path).map_err(failed)?;
        table.reclaim().map_err(failed)?;
        expect_clean(&table, false)?;
        expect_count(&table, KEY, counted, kills)?;
        owns.iter().try_for_each(|own| is_untouched(own, blocks))
    })?;
    println!("daemons: {kills} kills, {counted} increments");
    Ok(())
}

fn work(path: &Path, own: Option<&Path>, acknowledged: &AtomicU64) -> Found<()> {
    let file = own.map(File::open).transpose().map_err(|e| e.to_string())?;
    let table = Table::open(path).map_err(failed)?;
    let mut turn = u64::from(std::process::id()) << 32;
    loop {
        if let Some(file) = &file {
            lead_all_to(file, NUMBERS);
        }
        for _ in 0..OPERATIONS {
            table.incr(KEY, 1).map_err(failed)?;
            acknowledged.fetch_add(1, Relaxed);
        }
        turn += 1;
        // It grows and shrinks: memory is taken for the file, and given back.
        let key = (turn % 64).to_le_bytes();
        match turn % 3 {
            0 => table.remove(key).map(drop),
            1 => table.set(key, vec![7; (turn % 64) as usize * 2000]),
            _ => table.maintain(0).map(drop),
        }
        .map_err(failed)?;
    }
}

fn is_untouched(own: &Path, blocks: u64) -> Found<()> {
    let bytes = std::fs::read(own).map_err(|error| error.to_string())?;
    let now = std::fs::metadata(own).map_err(|error| error.to_string())?;
    let is_whole = bytes.len() == OWN_BYTES && now.blocks() == blocks;
    match is_whole && bytes.iter().all(|byte| *byte == b'x') {
        true => Ok(()),
        false => Err("the file of a daemon was changed".to_owned()),
    }
}
