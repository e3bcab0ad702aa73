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
/// readers they are begun anew (G3), with the lines that are whole.
pub(crate) fn repair(ring: &Ring<'_>, me: u32) -> u64 {
    let (mut reader, mut cut) = (Reader::default(), 0);
    for sheet in 0..ring.geometry.sheets {
        let head = ring.sheet(sheet);
        let owner = head.owner.load(Ordering::Relaxed);
        let is_free = owner == 0 || !is_alive(ring.region, owner, me);
        if !is_free || head.owner.cas(owner, me, Ordering::Acquire).is_err() {
            continue;
        }
        let state = head.state();
        if let Some(at) = damage(ring, &mut reader, sheet, state) {
            let word = head.drained.load(Ordering::Relaxed);
            let drained = Drained::decode(word, state);
            let whole = SheetState {
                sequence: state.sequence.wrapping_add(1),
                used: at,
                awaited: state.awaited.min(at),
                is_writing: false,
            };
            let behind = Drained {
                sequence: whole.sequence,
                words: drained.words.min(at),
            };
            // A drain that comes in between writes these lines once more.
            head.state.store(whole.encode(), Ordering::Release);
            head.drained.store(behind.encode(), Ordering::Release);
            cut += 1;
        }
        ring.release(me, sheet);
    }
    cut
}
