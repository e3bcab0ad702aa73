//! The log: sheets of 16 KiB on which threads write lines, each thread on a sheet of its own.
//!
//! A thread takes a sheet, preferably the one whose lines are oldest, and writes on it until the
//! next line does not fit; then it takes another. So writers meet only when they take sheets, and
//! no thread waits for one that is stopped. A reader merges the lines of all sheets in the order of
//! their times. A *drain* is the one reader for which lines are kept: it writes each line out once.
//!
//! **LOG-1** Only a sheet's owner changes its `state` and restarts the sheet. The owner's word
//! changes from 0 or a dead participant to a new owner by compare and exchange, and each thread of
//! a participant knows which sheet is its own. A sheet may have had other owners between two looks
//! at it: a thread restarts a sheet only if it owns it and `state` is what it was when the sheet
//! was chosen.
//!
//! **LOG-2** A line exists by one store, of `state`, after all its words: what a state counts is
//! complete. If the writer dies before that store, there is no line.
//!
//! **LOG-3** A thread that restarts a sheet raises its sequence before its words change. So a copy
//! of lines is valid if the sequence is the same before and after the copy.
//!
//! **LOG-4** A line awaits a drain until one has written it out, even if there is no drain when the
//! line is written. A sheet with such lines is restarted only if the oldest lines may be dropped,
//! and only by the thread that counted them as dropped and moved `drained` behind them. The drain
//! moves `drained` behind the lines that it has written out; if it comes too late, it takes their
//! number back from the count. So each line is written out, or counted as dropped, or still there.
//! After a death in between, the lines of one sheet may be counted although they were written,
//! counted twice, or written twice.
//!
//! **LOG-5** No line is dropped while a free sheet has 1 KiB of room for it: a thread that finds no
//! sheet whose lines are all written out continues on one that was released half-full. If the
//! oldest lines may be dropped, this search is limited to 4096 sheets.

mod drain;
mod read;
mod sheets;
mod whole;
mod write;

pub(crate) use drain::{DrainState, begin_drain, end_drain, is_drained};
pub(crate) use read::LineReader;
pub(crate) use whole::{check, repair};
pub(crate) use write::{Hand, NewLine, Put};

use crate::alloc::{build_extent, find_extent};
use crate::error::{Result, corrupt};
use crate::layout::{ExtentKind, LogGeometry, LogHead, SheetHead};
use crate::lock::Me;
use crate::region::Region;

/// A log as a process has it mapped.
#[derive(Clone, Copy)]
pub(crate) struct LogRing<'a> {
    pub(crate) region: &'a Region,
    pub(crate) head: &'a LogHead,
    pub(crate) geometry: &'a LogGeometry,
    base: u64,
}

impl<'a> LogRing<'a> {
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

    /// Returns where a word of a sheet is in the region.
    #[inline(always)]
    fn place(&self, sheet: u32, word: u32) -> u64 {
        self.base + self.geometry.sheet_off(sheet) + u64::from(word) * 8
    }
}

/// Creates a log without lines.
pub(crate) fn create(region: &Region, me: Me, name: &[u8], geometry: &LogGeometry) -> Result<()> {
    let building = build_extent(region, me, ExtentKind::Log, name, geometry.len)?;
    let (base, _) = region.span_of(building.run);
    let ring = LogRing::of(region, base, geometry);
    for sheet in 0..geometry.sheets {
        ring.sheet(sheet).init();
    }
    // This comes last: a repair that finds a valid head, but no extent entry that names it, takes
    // the log for complete.
    ring.head.init(geometry);
    building.publish();
    Ok(())
}

/// Returns where a log begins, and its geometry, or `None` if no log has that name.
pub(crate) fn open(region: &Region, name: &[u8]) -> Result<Option<(u64, LogGeometry)>> {
    let Some((base, len)) = find_extent(region, ExtentKind::Log, name)? else {
        return Ok(None);
    };
    match region.log_head(base).verify() {
        Some(geometry) if geometry.len <= len => Ok(Some((base, geometry))),
        _ => corrupt("the head of a log"),
    }
}
