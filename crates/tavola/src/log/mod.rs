//! The log: a ring of sheets on which threads write lines, each thread on a sheet of its own.
//!
//! A thread takes a sheet, the one that was begun longest ago if it may, and writes line after line
//! on it, until the next has no room; then it takes another. So writers meet only when they take
//! sheets, and nobody waits for one that stands still. Who reads puts the lines of all sheets in
//! the order of their times. A *drain* is the one reader that lines are kept for: it writes each
//! out once.
//!
//! **LOG-1** Only a sheet's owner changes its `state`, and begins it anew. The owner's word goes
//! from 0 or a dead participant to a new owner by compare and exchange, and a participant's threads
//! each know theirs. It may have been others' between two looks at it: a sheet is begun anew only
//! by who owns it and finds its `state` as it was when the sheet was chosen.
//!
//! **LOG-2** A line is there by one store, of `state`, after all its words: what a state counts is
//! whole. Of a line whose writer dies before there is nothing.
//!
//! **LOG-3** Whoever begins a sheet anew raises its sequence before its words change, so a copy of
//! lines is good if the sequence is the same before and after.
//!
//! **LOG-4** A line awaits a drain until one has written it out, also if there is no drain when it
//! is written. A sheet with such lines is begun again only where the oldest are to be dropped, and
//! only by the thread that counted them as dropped and moved `drained` behind them. The drain moves
//! it behind the lines it has written out; if it comes too late, it takes their number back. So
//! each line is written out, or counted, or still there, and a death in between has the lines of
//! one sheet counted though they were written, counted twice, or written twice.
//!
//! **LOG-5** No line is dropped while a free sheet has 1 KiB of room for it: a thread that finds no
//! sheet whose lines are written out goes on with one that was given up half-full. Where the oldest
//! may be dropped it looks at no more than 4096 sheets.

mod drain;
mod read;
mod sheets;
mod whole;
mod write;

pub(crate) use drain::{Drained, begin_drain, end_drain, is_drained};
pub(crate) use read::Reader;
pub(crate) use whole::{check, repair};
pub(crate) use write::{Hand, Line, Put};

use crate::alloc::{build_extent, find_extent};
use crate::error::{Result, corrupt};
use crate::layout::{ExtentKind, LogGeometry, LogHead, SheetHead};
use crate::lock::Me;
use crate::region::Region;

/// A log as a process has it mapped.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a> {
    pub(crate) region: &'a Region,
    pub(crate) head: &'a LogHead,
    pub(crate) geometry: &'a LogGeometry,
    base: u64,
}

impl<'a> Ring<'a> {
    #[inline(always)]
    pub(crate) fn of(region: &'a Region, base: u64, geometry: &'a LogGeometry) -> Self {
        Self {
            region,
            head: region.log_head(base),
            geometry,
            base,
        }
    }

    #[inline(always)]
    fn sheet(&self, sheet: u32) -> &'a SheetHead {
        self.region
            .sheet_head(self.base + self.geometry.head_off(sheet))
    }

    /// Where a word of a sheet stands in the region.
    #[inline(always)]
    fn place(&self, sheet: u32, word: u32) -> u64 {
        self.base + self.geometry.sheet_off(sheet) + u64::from(word) * 8
    }
}

/// Makes a log, without lines.
pub(crate) fn create(region: &Region, me: Me, name: &[u8], geometry: &LogGeometry) -> Result<()> {
    let building = build_extent(region, me, ExtentKind::Log, name, geometry.len)?;
    let (base, _) = region.span_of(building.run);
    let ring = Ring::of(region, base, geometry);
    for sheet in 0..geometry.sheets {
        ring.sheet(sheet).init();
    }
    // Last: who finds it whole without an entry that says so holds it to be there (`mend`).
    ring.head.init(geometry);
    building.publish();
    Ok(())
}

/// Where a log begins, and its geometry; `None`: there is none of that name.
pub(crate) fn open(region: &Region, name: &[u8]) -> Result<Option<(u64, LogGeometry)>> {
    let Some((base, len)) = find_extent(region, ExtentKind::Log, name)? else {
        return Ok(None);
    };
    match region.log_head(base).verify() {
        Some(geometry) if geometry.len <= len => Ok(Some((base, geometry))),
        _ => corrupt("the head of a log"),
    }
}
