//! A log in a model, and the story of its lines: who wrote them, who wrote them out.
//!
//! A long line takes nearly half a sheet, so that threads come to the next one, and to sheets with
//! lines, within few steps. Threads change in the heads of the log and of its sheets, and in the
//! first words of sheet 0: all others are copied in one go.
//!
//! `Log::line` keeps what a thread has in hand in a thread of the system, of which the checker has
//! one: [`line`] does here what it does.

use super::{Observer, Table, Write, open_but, quietly, region, table, writer};
#[cfg(feature = "shuttle")]
use crate::layout::LINE_HEAD;
use crate::layout::{BLOCK, FEWEST_SHEETS, LogGeometry};
use crate::lock::Me;
use crate::log::{
    self, DrainState, Hand, LineReader, LogRing, NewLine, Put, begin_drain, check, create,
    is_drained,
};
use crate::recover::CheckReport;
use crate::sync::Ordering;
use crate::sys::clock::unix_ns;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of a text of which two fill a sheet.
pub(super) const LONG: usize = 8100;
pub(super) const SHORT: usize = 24;
/// Words of sheet 0 that threads change in: of the first line's head, and some of its text.
const OPEN: u64 = 16;

/// A table beside which is a log of the fewest sheets. The first to be taken is sheet 0.
pub(super) fn log_of(policy: u32) -> Arc<Table> {
    let table = table(|t| {
        let geometry = LogGeometry::new(FEWEST_SHEETS, policy).expect("the fewest");
        create(region(t), writer(t), b"log", &geometry).expect("room for a log");
    });
    let (base, geometry) = find(&table);
    let [start, end] = [0, FEWEST_SHEETS].map(|sheet| base + geometry.sheet_off(sheet));
    open_but(region(&table), start + OPEN * 8..end, start..end);
    quietly(|| {
        LogRing::of(region(&table), base, &geometry)
            .head
            .next
            .store(1, Ordering::Relaxed)
    });
    table
}

fn find(table: &Table) -> (u64, LogGeometry) {
    let there = quietly(|| log::open(region(table), b"log"));
    there.expect("no damage").expect("it was made")
}

pub(super) fn on_log<T>(table: &Table, act: impl FnOnce(&LogRing<'_>) -> T) -> T {
    let (base, geometry) = find(table);
    act(&LogRing::of(region(table), base, &geometry))
}

/// The bytes of a line, all from its number.
fn text(number: u32, len: usize) -> Vec<u8> {
    let words = (1..).map(|at: u64| (at + u64::from(number) * 0x1_0000).wrapping_mul(0x9e37_79b9));
    words.flat_map(u64::to_le_bytes).take(len).collect()
}

/// What became of the lines of a model. A line's number is its writer's, times 100, and its own.
#[derive(Default)]
pub(super) struct Story {
    /// Lines that were written or refused.
    pub(super) sure: BTreeSet<u32>,
    /// Lines that are being written.
    pub(super) being_written: BTreeSet<u32>,
    /// How often a drain wrote each out.
    pub(super) drained: BTreeMap<u32, u32>,
    /// Lines that a drain reported as dropped.
    pub(super) reported: u64,
    /// The time of the last that a drain wrote out.
    pub(super) last: u64,
    /// Lines that a drain wrote out in a pass that has not ended.
    pub(super) unfinished: BTreeSet<u32>,
    /// The same, of drains that have died.
    pub(super) left: BTreeSet<u32>,
    /// A sheet that is repaired may be passed over once, or come once more.
    pub(super) is_damaged: bool,
}

pub(super) type SharedStory = Arc<Mutex<Story>>;

/// Calls with a line that a drain is to write.
pub(super) fn log_line(number: u32, len: usize, act: impl FnOnce(&NewLine<'_>) -> Put) -> Put {
    act(&NewLine {
        level: 3,
        is_shown: false,
        pid: number / 100,
        tid: number,
        text: &text(number, len),
    })
}

/// Writes a line as `Log::line` does.
pub(super) fn line(
    ring: &LogRing<'_>,
    me: Me,
    hand: &mut Hand,
    number: u32,
    len: usize,
    shared: &SharedStory,
) {
    loop {
        let passes = ring.head.passes.load(Ordering::Acquire);
        let is_shown = ring.head.drain.load(Ordering::Relaxed) == 0;
        shared.lock().unwrap().being_written.insert(number);
        let put = log_line(number, len, |line| {
            ring.put(me, hand, &NewLine { is_shown, ..*line })
        });
        let is_over = match put {
            Put::Written { .. } => true,
            Put::NoSheet => panic!("not every sheet is in a living thread's hand"),
            Put::NotDrained => match is_drained(ring, me) {
                false if !is_shown => false,
                true if ring.geometry.policy == BLOCK => {
                    ring.wait_for_drain(passes);
                    false
                }
                _ => {
                    ring.head.dropped.fetch_add(1, Ordering::Relaxed);
                    true
                }
            },
        };
        shared.lock().unwrap().being_written.remove(&number);
        if is_over {
            shared.lock().unwrap().sure.insert(number);
            return;
        }
    }
}

/// All lines that were found are whole, and each writer's are in order.
fn are_whole(reader: &LineReader) {
    let mut last = BTreeMap::new();
    for found in &reader.found {
        let (number, bytes) = (found.head.tid, reader.text(found));
        assert!(bytes == text(number, bytes.len()), "a torn line {number}");
        let before = last.insert(found.head.pid, number);
        assert!(before < Some(number), "{number} after {before:?}");
    }
}

/// The first half of a drain's pass: finds lines and writes them out. None with an earlier time
/// than one that was written out comes later, unless that is asked for.
pub(super) fn write_out(
    ring: &LogRing<'_>,
    state: &mut DrainState,
    until: Option<u64>,
    shared: &SharedStory,
) {
    let began = Instant::now();
    // The checker knows no lines that are there and not yet visible.
    let margin = if cfg!(feature = "shuttle") {
        1_000_000
    } else {
        0
    };
    state.collect(ring, unix_ns() + margin, until);
    are_whole(&state.reader);
    let mut story = shared.lock().unwrap();
    for found in &state.reader.found {
        *story.drained.entry(found.head.tid).or_default() += 1;
        let is_in_order = found.head.time >= story.last || until.is_some() || story.is_damaged;
        // A writer is waited for for 100 ms.
        assert!(is_in_order || began.elapsed() > Duration::from_millis(80));
        story.last = found.head.time;
        story.unfinished.insert(found.head.tid);
    }
}

/// Damages a long line that is the second of its sheet: it is lost.
#[cfg(feature = "shuttle")]
pub(super) fn damage(table: &Table, number: u32, shared: &SharedStory) {
    let (base, geometry) = find(table);
    let words = u64::from(LINE_HEAD) + LONG.div_ceil(8) as u64;
    let lines = (0..FEWEST_SHEETS).map(|sheet| base + geometry.sheet_off(sheet) + words * 8);
    let word = |place: u64| region(table).word(place);
    let tid = |place: u64| (word(place + 16).load(Ordering::Relaxed) >> 32) as u32;
    quietly(|| {
        let place = lines.into_iter().find(|place| tid(*place) == number);
        let head = word(place.expect("a second line"));
        head.store(head.load(Ordering::Relaxed) | 0xff << 16, Ordering::Relaxed);
    });
    let mut story = shared.lock().unwrap();
    story.is_damaged = true;
}

/// A drain's pass, as `LogDrain` does it.
pub(super) fn pass(
    ring: &LogRing<'_>,
    state: &mut DrainState,
    until: Option<u64>,
    shared: &SharedStory,
) {
    write_out(ring, state, until, shared);
    state.finish(ring);
    for found in &state.reader.found {
        shared.lock().unwrap().unfinished.remove(&found.head.tid);
    }
    let (dropped, so_far) = ring.newly_dropped();
    if dropped > 0 {
        shared.lock().unwrap().reported += dropped;
        ring.note_reported(so_far);
    }
}

pub(super) fn drains(shared: &SharedStory) -> Observer {
    let (shared, mut state) = (Arc::clone(shared), DrainState::default());
    Box::new(move |t| on_log(t, |ring| pass(ring, &mut state, None, &shared)))
}

pub(super) fn reads() -> Observer {
    let mut reader = LineReader::default();
    Box::new(move |t| {
        on_log(t, |ring| reader.collect(ring, 0, u64::MAX, |_, _| 0));
        are_whole(&reader);
    })
}

/// Writes lines, and lets others have the sheet.
pub(super) fn writes(writer_number: u32, lens: &'static [usize], shared: &SharedStory) -> Write {
    let shared = Arc::clone(shared);
    Box::new(move |t| {
        let mut hand = Hand::EMPTY;
        on_log(t, |ring| {
            for (at, len) in (0..).zip(lens) {
                line(
                    ring,
                    writer(t),
                    &mut hand,
                    writer_number * 100 + at,
                    *len,
                    &shared,
                );
            }
            ring.give_up(writer(t), &mut hand);
        });
    })
}

/// A log with a drain, so many sheets of which are full.
pub(super) fn filled(policy: u32, sheets: u32, shared: &SharedStory) -> Arc<Table> {
    let table = log_of(policy);
    on_log(&table, |ring| {
        quietly(|| {
            let (me, mut hand) = (writer(&table), Hand::EMPTY);
            assert_eq!(begin_drain(ring, me), Ok(()));
            for number in 0..sheets * 2 {
                line(ring, me, &mut hand, 100 + number, LONG, shared);
            }
            ring.give_up(me, &mut hand);
        });
    });
    table
}

/// Drains what is left, and says how many lines more were written out and counted than there were.
pub(super) fn excess(table: &Table, shared: &SharedStory) -> u64 {
    on_log(table, |ring| {
        quietly(|| {
            let mut report = CheckReport::default();
            check(ring, "log", &mut report);
            assert!(report.is_clean(), "{:?}", report.problems);
            pass(ring, &mut DrainState::default(), Some(u64::MAX), shared);
        });
        let dropped = quietly(|| ring.head.dropped.load(Ordering::Relaxed));
        let story = shared.lock().unwrap();
        let drained: BTreeSet<u32> = story.drained.keys().copied().collect();
        let unknown = drained.difference(&story.sure);
        assert!(
            unknown
                .clone()
                .all(|number| story.being_written.contains(number))
        );
        let lines = (story.sure.len() + unknown.count()) as u64;
        let all = u64::from(story.drained.values().sum::<u32>()) + dropped;
        assert!(
            all >= lines,
            "{all} of {lines} lines were drained or counted"
        );
        assert!(
            story.reported >= dropped,
            "{} of {dropped} were reported",
            story.reported
        );
        all - lines
    })
}
