//! Check and repair of a log: a sheet is damaged if it does not consist of the lines that its state
//! counts.

use super::LogRing;
use super::read::{LineReader, line_at};
use crate::layout::{Drained, SheetState};
use crate::lock::{Me, is_alive};
use crate::recover::CheckReport;
use crate::sync::Ordering;

/// Returns how many words of a sheet are complete lines, and how many lines, if its state counts
/// others. Returns `None` if the sheet is whole, or was restarted meanwhile.
fn damage(
    ring: &LogRing<'_>,
    reader: &mut LineReader,
    sheet: u32,
    state: SheetState,
) -> Option<(u32, u32)> {
    let bytes = reader.copy_of(ring, sheet, state)?;
    let (mut at, mut lines) = (0, 0);
    while at < state.used
        && let Some(line) = line_at(&bytes[at as usize * 8..])
    {
        at += line.words();
        lines += 1;
    }
    ((at, lines) != (state.used, state.lines)).then_some((at, lines))
}

/// Checks a log.
pub(crate) fn check(ring: &LogRing<'_>, name: &str, report: &mut CheckReport) {
    let mut reader = LineReader::default();
    for sheet in 0..ring.geometry.sheets {
        let state = ring.sheet(sheet).state();
        if let Some((at, _)) = damage(ring, &mut reader, sheet, state) {
            report.problem(|| format!("log {name:?}: sheet {sheet} is damaged from word {at} on"));
        }
    }
}

/// Cuts damaged sheets where the damage begins, unless a thread is writing on them, and returns how
/// many. To readers they are restarted (LOG-3), with the lines that are whole; lines that awaited a
/// drain are counted as dropped.
pub(crate) fn repair(ring: &LogRing<'_>, me: Me) -> u64 {
    let (mut reader, mut cut) = (LineReader::default(), 0);
    for sheet in 0..ring.geometry.sheets {
        let head = ring.sheet(sheet);
        let owner = head.owner.load(Ordering::Relaxed);
        let is_free = owner == 0 || !is_alive(ring.region, owner, me);
        if !is_free || !ring.own(me, sheet, owner) {
            continue;
        }
        let state = head.state();
        if let Some((words, lines)) = damage(ring, &mut reader, sheet, state) {
            ring.drop_awaiting(sheet, state);
            ring.renew(sheet, state, words, lines);
            // All lines that are left count as dealt with, so none of them awaits a drain.
            let dealt_with = Drained {
                sequence: head.state().sequence,
                words,
                lines,
            };
            head.drained.store(dealt_with.encode(), Ordering::Relaxed);
            cut += 1;
        }
        ring.release(me, sheet);
    }
    cut
}
