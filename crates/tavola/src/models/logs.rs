//! Logs: each line that awaits a drain is written out once or counted, and none is torn.

use super::log_story::{LONG, SHORT, SharedStory, drains, excess, filled, line, log_line, on_log};
use super::log_story::{reads, writes};
use super::{Write, beside, explore, quietly, thread, writer};
use crate::layout::{BLOCK, DROP_NEWEST, DROP_OLDEST};
use crate::log::{Hand, LineReader, Put};
use crate::sync::Ordering;
use std::sync::Arc;

/// The most lines that a sheet has here.
const LINES: u64 = 3;

/// Lets writers, a drain and readers at a log of which so many sheets are full.
fn at_once(schedules: usize, policy: u32, sheets: u32, lens: &'static [&'static [usize]]) {
    explore(schedules, move || {
        let shared = SharedStory::default();
        let table = filled(policy, sheets, &shared);
        let writers = (2..)
            .zip(lens)
            .map(|(number, lens)| writes(number, lens, &shared));
        beside(&table, writers.collect(), vec![drains(&shared), reads()]);
        assert_eq!(excess(&table, &shared), 0);
        let story = shared.lock().unwrap();
        assert!(story.unfinished.is_empty() && story.left.is_empty());
        assert!(story.drained.values().all(|times| *times == 1));
        let [dropped, noted] = on_log(&table, |ring| {
            [&ring.head.dropped, &ring.head.reported_dropped]
                .map(|word| word.load(Ordering::Relaxed))
        });
        // Lines that each writer has counted and takes back may be reported.
        let taken_back = match policy {
            DROP_OLDEST => lens.len() as u64 * LINES,
            _ => 0,
        };
        let reported = story.reported;
        assert!(
            (dropped..=dropped + taken_back).contains(&reported),
            "{reported} of {dropped} were reported"
        );
        assert_eq!(noted, reported);
        assert_eq!(story.sure.len(), sheets as usize * 2 + lens.concat().len());
    });
}

const WRITERS: &[&[usize]] = &[&[LONG, LONG, LONG], &[SHORT, LONG, LONG]];

#[test]
fn the_oldest_are_dropped() {
    at_once(200, DROP_OLDEST, 3, WRITERS);
}

#[test]
fn the_newest_are_dropped() {
    at_once(200, DROP_NEWEST, 3, WRITERS);
}

#[test]
fn writers_wait() {
    at_once(200, BLOCK, 3, WRITERS);
}

/// Those who find all sheets full at once wait each for itself.
#[test]
fn many_writers_wait() {
    const ALL: &[&[usize]] = &[&[SHORT, LONG], &[LONG], &[LONG, SHORT]];
    at_once(200, BLOCK, 4, ALL);
}

#[test]
fn many_writers_are_refused() {
    const ALL: &[&[usize]] = &[&[SHORT, LONG], &[LONG], &[LONG, SHORT]];
    at_once(100, DROP_NEWEST, 4, ALL);
}

/// Writes lines on the last sheet that is nobody's, which others want, too.
fn shares_a_sheet(writer_number: u32, lens: &'static [usize], shared: &SharedStory) -> Write {
    let shared = Arc::clone(shared);
    Box::new(move |t| {
        let (me, mut hand) = (writer(t), Hand::EMPTY);
        on_log(t, |ring| {
            for (at, len) in (0..).zip(lens) {
                let number = writer_number * 100 + at;
                shared.lock().unwrap().sure.insert(number);
                loop {
                    let passes = ring.head.passes.load(Ordering::Acquire);
                    match log_line(number, *len, |line| ring.put(me, &mut hand, line)) {
                        Put::Written { .. } => break,
                        Put::NotDrained if ring.geometry.policy == BLOCK => {
                            ring.wait_for_drain(passes);
                        }
                        Put::NoSheet | Put::NotDrained => thread::yield_now(),
                    }
                }
                ring.give_up(me, &mut hand);
            }
        });
    })
}

#[test]
fn two_want_the_last_sheet() {
    for policy in [DROP_OLDEST, DROP_NEWEST, BLOCK] {
        explore(150, move || {
            let shared = SharedStory::default();
            let table = filled(policy, 1, &shared);
            on_log(&table, |ring| {
                quietly(|| {
                    for number in 150..153 {
                        let mut hand = Hand::EMPTY;
                        line(ring, writer(&table), &mut hand, number, LONG, &shared);
                    }
                });
            });
            let writers =
                (2..4).map(|number| shares_a_sheet(number, &[LONG, SHORT, LONG], &shared));
            beside(&table, writers.collect(), vec![drains(&shared), reads()]);
            assert_eq!(excess(&table, &shared), 0);
        });
    }
}

/// A writer that has chosen an empty sheet, and is held up before taking it, does not go over lines
/// that others have written there meanwhile: not over those that await the drain, nor over the
/// others, which stay to be read.
#[test]
fn new_lines_stay_while_a_sheet_is_empty() {
    for policy in [DROP_OLDEST, DROP_NEWEST, BLOCK] {
        explore(300, move || {
            let shared = SharedStory::default();
            let table = filled(policy, 0, &shared);
            // Three sheets at most, of four.
            let lens: [&[usize]; 2] = [&[LONG; 4], &[LONG]];
            let writers = (2..).zip(lens);
            let writers = writers.map(|(number, lens)| writes(number, lens, &shared));
            beside(&table, writers.collect(), vec![drains(&shared)]);
            assert_eq!(excess(&table, &shared), 0);
            let (dropped, there) = on_log(&table, |ring| {
                let mut reader = LineReader::default();
                quietly(|| reader.collect(ring, 0, u64::MAX, |_, _| 0));
                let dropped = quietly(|| ring.head.dropped.load(Ordering::Relaxed));
                (dropped, reader.found.len())
            });
            assert_eq!((dropped, there), (0, lens.concat().len()));
        });
    }
}
