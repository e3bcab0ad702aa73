//! Check and repair.

use super::Ring;
use super::read::{Reader, line_at};
use crate::layout::{Drained, SheetState};
use crate::lock::{Me, is_alive};
use crate::recover::CheckReport;
use crate::sync::Ordering;

/// The words of a sheet that are whole lines, and how many lines, if its state counts others.
/// Returns `None` if the sheet is whole, or was begun again meanwhile.
fn damage(
    ring: &Ring<'_>,
    reader: &mut Reader,
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
pub(crate) fn check(ring: &Ring<'_>, name: &str, report: &mut CheckReport) {
    let mut reader = Reader::default();
    for sheet in 0..ring.geometry.sheets {
        let state = ring.sheet(sheet).state();
        if let Some((at, _)) = damage(ring, &mut reader, sheet, state) {
            report.problem(|| format!("log {name:?}: sheet {sheet} is damaged from word {at} on"));
        }
    }
}

/// Cuts damaged sheets where the damage begins, unless somebody writes on them. Says how many. To
/// readers they are begun anew (LOG-3), with the lines that are whole; those that awaited a drain
/// are counted as dropped.
pub(crate) fn repair(ring: &Ring<'_>, me: Me) -> u64 {
    let (mut reader, mut cut) = (Reader::default(), 0);
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
            ring.renew(sheet, state, (words, lines));
            // No line of it awaits a drain, nor will those that are there when others come.
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
