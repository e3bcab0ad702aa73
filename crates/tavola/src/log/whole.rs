//! Check and repair.

use super::Ring;
use super::read::{Reader, line_at};
use crate::layout::{Drained, SheetState};
use crate::lock::is_alive;
use crate::recover::CheckReport;
use crate::sync::Ordering;

/// The word from which on a sheet is no lines; `None`: it is whole, or was begun anew meanwhile.
fn damage(ring: &Ring<'_>, reader: &mut Reader, sheet: u32, state: SheetState) -> Option<u32> {
    let bytes = reader.copy_of(ring, sheet, state)?;
    let mut at = 0;
    while at < state.used {
        match line_at(&bytes[at as usize * 8..]) {
            Some(line) => at += line.words(),
            None => return Some(at),
        }
    }
    None
}

/// Checks a log.
pub(crate) fn check(ring: &Ring<'_>, name: &str, report: &mut CheckReport) {
    let mut reader = Reader::default();
    for sheet in 0..ring.geometry.sheets {
        let state = ring.sheet(sheet).state();
        if let Some(at) = damage(ring, &mut reader, sheet, state) {
            report.problem(|| format!("log {name:?}: sheet {sheet} is damaged from word {at} on"));
        }
    }
}

/// Cuts damaged sheets where the damage begins, unless somebody writes on them. Says how many. To
/// readers they are begun anew (G3), with the lines that are whole; those that awaited a drain are
/// counted as dropped.
pub(crate) fn repair(ring: &Ring<'_>, me: u32) -> u64 {
    let (mut reader, mut cut) = (Reader::default(), 0);
    for sheet in 0..ring.geometry.sheets {
        let head = ring.sheet(sheet);
        let owner = head.owner.load(Ordering::Relaxed);
        let is_free = owner == 0 || !is_alive(ring.region, owner, me);
        if !is_free || !ring.own(me, sheet, owner) {
            continue;
        }
        let state = head.state();
        if let Some(at) = damage(ring, &mut reader, sheet, state) {
            ring.drop_awaiting(sheet, state);
            ring.renew(sheet, state, at);
            // No line of it awaits a drain, nor will those that are there when others come.
            let dealt_with = Drained {
                sequence: head.state().sequence,
                words: at,
            };
            head.drained.store(dealt_with.encode(), Ordering::Relaxed);
            cut += 1;
        }
        ring.release(me, sheet);
    }
    cut
}
