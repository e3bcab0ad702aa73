//! What the two sides do, over whatever way; elements, and how they are checked.
//!
//! All words of an element are the same: its number, and how often it was touched.
//!
//! ```text
//! word      bits 63..32  number of the element      bits 31..0  touches
//! ```

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::clock::{monotonic_ns, wait_until};
use crate::{Error, Result};

/// Looks at a way on which nothing comes before the CPU is given away.
const SPINS: u32 = 60;
/// Turns of the spin loop between two of them: some ten microseconds.
const PAUSES: u32 = 256;
/// So long after the last element the other side is taken for lost.
const LOST_NS: u64 = 20_000_000_000;
/// The clock is read after so many moves.
const CLOCK_MOVES: u64 = 512;
/// Bytes of a word.
pub(super) const WORD: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Side {
    Starter,
    Returner,
}

/// What both sides of a case know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Their numbers are those below it; this number itself is the end mark.
    pub(super) elements: u32,
    pub(super) element_bytes: usize,
    pub(super) run: usize,
    pub(super) touched: bool,
    pub(super) moves: u64,
    pub(super) limit_ns: u64,
}

/// What a side did; the end mark is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) sent: u64,
    pub(super) taken: u64,
}

impl Done {
    pub(super) fn seconds(&self) -> f64 {
        (self.end_ns - self.begin_ns).max(1) as f64 / 1e9
    }

    pub(super) fn mops(&self) -> f64 {
        self.sent as f64 / self.seconds() / 1e6
    }
}

/// Elements that are taken and sent at once.
#[derive(Default)]
pub(super) struct Run {
    pub(super) numbers: Vec<u32>,
    /// Their bytes, where these move and are touched.
    pub(super) bytes: Vec<u8>,
}

/// One side's end of the way there and the way back.
pub(super) trait Channel {
    /// How many elements may be on the way at once.
    fn window(&self) -> u64 {
        u64::MAX
    }

    /// Takes what has come, at most so many; gives the CPU away for a while if it is to wait and
    /// nothing has come.
    fn take(&mut self, run: &mut Run, most: usize, waits: bool) -> Result<()>;

    fn send(&mut self, run: &Run) -> Result<()>;

    /// The words of an element, which stay where they are; `None` if its bytes move.
    fn words(&self, element: u32) -> Option<&[AtomicU64]>;

    /// All elements are at home.
    fn end(&mut self, _elements: &[u32]) -> Result<()> {
        Ok(())
    }
}

/// One word of an element that was touched so often.
pub(super) fn word(element: u32, touches: u32) -> u64 {
    u64::from(element) << 32 | u64::from(touches)
}

/// The first word of an element's bytes.
fn first(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..WORD].try_into().expect("it is a word long"))
}

/// The number of the element that bytes are of.
pub(super) fn number(bytes: &[u8]) -> u32 {
    (first(bytes) >> 32) as u32
}

/// The bytes of an element that was never touched.
pub(super) fn fill(bytes: &mut [u8], element: u32) {
    for place in bytes.chunks_exact_mut(WORD) {
        place.copy_from_slice(&word(element, 0).to_le_bytes());
    }
}

/// Touches it: every word is read, checked, and written back with one touch more. Returns whether
/// the bytes are those of this element.
#[must_use]
fn is_touched(bytes: &mut [u8], element: u32) -> bool {
    let expected = first(bytes);
    let mut differences = expected >> 32 ^ u64::from(element);
    for place in bytes.chunks_exact_mut(WORD) {
        let found = first(place);
        differences |= found ^ expected;
        place.copy_from_slice(&found.wrapping_add(1).to_le_bytes());
    }
    differences == 0
}

/// Does what [`is_touched`] does, in place.
#[must_use]
#[inline]
fn are_touched(words: &[AtomicU64], element: u32) -> bool {
    let expected = words[0].load(Relaxed);
    let mut differences = expected >> 32 ^ u64::from(element);
    for word in words {
        let found = word.load(Relaxed);
        differences |= found ^ expected;
        word.store(found.wrapping_add(1), Relaxed);
    }
    differences == 0
}

impl Run {
    /// Makes it one of elements that never moved.
    fn renew(&mut self, numbers: std::ops::Range<u32>, channel: &impl Channel, plan: &Plan) {
        self.numbers.clear();
        self.numbers.extend(numbers);
        if plan.touched && channel.words(0).is_none() {
            let each = plan.element_bytes;
            self.bytes.resize(self.numbers.len() * each, 0);
            let places = self.bytes.chunks_exact_mut(each);
            places
                .zip(&self.numbers)
                .for_each(|(place, element)| fill(place, *element));
        }
    }

    /// Takes at least one.
    fn take(&mut self, channel: &mut impl Channel, most: usize) -> Result<()> {
        for _ in 0..SPINS {
            channel.take(self, most, false)?;
            if !self.numbers.is_empty() {
                return Ok(());
            }
            // A side that polls without a pause takes the lines that the other side is about to
            // write; after a pause it finds more than one element.
            (0..PAUSES).for_each(|_| spin_loop());
        }
        let begin_ns = monotonic_ns();
        while monotonic_ns() - begin_ns < LOST_NS {
            channel.take(self, most, true)?;
            if !self.numbers.is_empty() {
                return Ok(());
            }
        }
        Err(Error::worker(
            "nothing came from the other side for 20 seconds",
        ))
    }

    /// The elements without the end mark, which is the last of its run, and whether it was there.
    fn without_mark(&self, plan: &Plan) -> (&[u32], bool) {
        match self.numbers.split_last() {
            Some((last, others)) if *last == plan.elements => (others, true),
            _ => (&self.numbers, false),
        }
    }

    fn touch(&mut self, channel: &impl Channel, plan: &Plan) -> Result<()> {
        if !plan.touched {
            return Ok(());
        }
        // All of the run whatever is found: so the lines of several come at once.
        let mut right = true;
        for (at, &element) in self.numbers.iter().enumerate() {
            if element != plan.elements {
                right &= match channel.words(element) {
                    Some(words) => are_touched(words, element),
                    None => {
                        let begin = at * plan.element_bytes;
                        is_touched(&mut self.bytes[begin..begin + plan.element_bytes], element)
                    }
                };
            }
        }
        let len = self.numbers.len();
        match right {
            true => Ok(()),
            false => wrong(format!("an element of a run of {len} has other bytes")),
        }
    }

    /// How often the element at `at` was touched.
    fn touches(&self, at: usize, channel: &impl Channel, plan: &Plan) -> u32 {
        match channel.words(self.numbers[at]) {
            Some(words) => words[0].load(Relaxed) as u32,
            None => first(&self.bytes[at * plan.element_bytes..]) as u32,
        }
    }
}

fn wrong<T>(what: String) -> Result<T> {
    Err(Error::wrong("queue", what))
}

/// Plays a side from the common start on.
pub(super) fn play(
    side: Side,
    channel: &mut impl Channel,
    plan: &Plan,
    start_ns: u64,
) -> Result<Done> {
    wait_until(start_ns);
    let done = Done {
        begin_ns: monotonic_ns(),
        ..Done::default()
    };
    match side {
        Side::Starter => start(channel, plan, done),
        Side::Returner => give_back(channel, plan, done),
    }
}

fn start(channel: &mut impl Channel, plan: &Plan, mut done: Done) -> Result<Done> {
    let window = channel.window();
    let (mut run, mut next, mut clock_at) = (Run::default(), 0, CLOCK_MOVES);
    while done.sent < plan.moves {
        let room = (plan.moves - done.sent).min(plan.run as u64);
        let in_flight = done.sent - done.taken;
        let fresh = room
            .min(u64::from(plan.elements - next))
            .min(window.saturating_sub(in_flight)) as u32;
        match fresh {
            0 => {
                run.take(channel, room as usize)?;
                done.taken += run.numbers.len() as u64;
                run.touch(channel, plan)?;
            }
            fresh => {
                run.renew(next..next + fresh, channel, plan);
                next += fresh;
            }
        }
        channel.send(&run)?;
        done.sent += run.numbers.len() as u64;
        if done.sent >= clock_at {
            clock_at = done.sent + CLOCK_MOVES;
            if monotonic_ns() - done.begin_ns >= plan.limit_ns {
                break;
            }
        }
    }
    run.renew(plan.elements..plan.elements + 1, channel, plan);
    channel.send(&run)?;
    come_home(channel, plan, run, next, &mut done)?;
    Ok(done)
}

/// The end of a case: all elements that have moved come home, and are counted.
fn come_home(
    channel: &mut impl Channel,
    plan: &Plan,
    mut run: Run,
    moved: u32,
    done: &mut Done,
) -> Result<()> {
    let mut is_here = vec![false; moved as usize];
    let (mut held, mut touches, mut is_end) = (Vec::new(), 0, false);
    while !is_end {
        run.take(channel, plan.run)?;
        run.touch(channel, plan)?;
        let elements;
        (elements, is_end) = run.without_mark(plan);
        done.taken += elements.len() as u64;
        for (at, &element) in elements.iter().enumerate() {
            match is_here.get_mut(element as usize) {
                Some(is_here) if !*is_here => *is_here = true,
                Some(_) => return wrong(format!("element {element} came home twice")),
                None => return wrong(format!("no element {element} was sent")),
            }
            if plan.touched {
                touches += u64::from(run.touches(at, channel, plan));
            }
        }
        held.extend_from_slice(elements);
    }
    done.end_ns = monotonic_ns();
    if held.len() != moved as usize {
        return wrong(format!("{} of {moved} elements came home", held.len()));
    }
    if done.taken != done.sent {
        let Done { sent, taken, .. } = done;
        return wrong(format!("{sent} moves there and {taken} back"));
    }
    let expected = if plan.touched { 2 * done.sent } else { 0 };
    if touches != expected {
        return wrong(format!(
            "{touches} touches of {expected} are in the elements"
        ));
    }
    // With those that never moved, and the mark.
    held.extend(moved..=plan.elements);
    channel.end(&held)
}

fn give_back(channel: &mut impl Channel, plan: &Plan, mut done: Done) -> Result<Done> {
    let mut run = Run::default();
    loop {
        run.take(channel, plan.run)?;
        run.touch(channel, plan)?;
        channel.send(&run)?;
        let (elements, is_end) = run.without_mark(plan);
        done.taken += elements.len() as u64;
        done.sent += elements.len() as u64;
        if is_end {
            done.end_ns = monotonic_ns();
            return Ok(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// The other side is done at once, in `send`; it may be a bad one.
    struct Alone {
        mark: u32,
        channel: VecDeque<u32>,
        words: Vec<AtomicU64>,
        fault: Fault,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        Loses,
        Doubles,
        Swaps,
        ForgetsTouches,
        Spoils,
    }

    impl Channel for Alone {
        fn take(&mut self, run: &mut Run, most: usize, _: bool) -> Result<()> {
            let count = most.min(self.channel.len());
            run.numbers = self.channel.drain(..count).collect();
            Ok(())
        }

        fn send(&mut self, run: &Run) -> Result<()> {
            for &element in &run.numbers {
                let is_third = element == 3;
                let words = &self.words[element as usize..];
                let touched = match self.fault {
                    Fault::Loses if is_third => continue,
                    Fault::Doubles if is_third => {
                        self.channel.push_back(element);
                        1
                    }
                    Fault::Swaps if is_third => {
                        self.channel.push_back(2);
                        continue;
                    }
                    Fault::ForgetsTouches if is_third => 0,
                    Fault::Spoils if is_third => 1 << 32,
                    _ => 1,
                };
                self.channel.push_back(element);
                if element != self.mark {
                    words[0].fetch_add(touched, Relaxed);
                }
            }
            Ok(())
        }

        fn words(&self, element: u32) -> Option<&[AtomicU64]> {
            self.words.get(element as usize..=element as usize)
        }
    }

    fn played(run: usize, moves: u64, touched: bool, fault: Fault) -> Result<Done> {
        let plan = Plan {
            elements: 10,
            element_bytes: 8,
            run,
            touched,
            moves,
            limit_ns: u64::MAX,
        };
        let mut channel = Alone {
            mark: 10,
            channel: VecDeque::new(),
            words: (0..11).map(|at| AtomicU64::new(word(at, 0))).collect(),
            fault,
        };
        play(Side::Starter, &mut channel, &plan, 0)
    }

    #[test]
    fn moves_are_made_and_counted_for_any_length_of_runs() {
        for (run, moves) in [(1, 100), (3, 100), (4, 7), (10, 10), (1000, 1), (7, 1000)] {
            for touched in [false, true] {
                let done = played(run, moves, touched, Fault::None).unwrap();
                assert_eq!((done.sent, done.taken), (moves, moves), "{run} {touched}");
                assert!(done.end_ns >= done.begin_ns);
            }
        }
    }

    #[test]
    fn faults_are_noticed() {
        for (fault, touched) in [
            (Fault::Loses, false),
            (Fault::Doubles, false),
            (Fault::Swaps, false),
            (Fault::ForgetsTouches, true),
            (Fault::Spoils, true),
        ] {
            let error = played(3, 20, touched, fault).unwrap_err();
            assert!(matches!(error, Error::WrongAnswer { .. }), "{error}");
        }
    }

    #[test]
    fn each_touch_is_counted_in_all_words_and_other_bytes_are_noticed() {
        let mut bytes = [0; 24];
        fill(&mut bytes, 70_000);
        assert!(is_touched(&mut bytes, 70_000) && is_touched(&mut bytes, 70_000));
        assert_eq!(number(&bytes), 70_000);
        assert_eq!(bytes[16..], word(70_000, 2).to_le_bytes());
        assert!(!is_touched(&mut bytes, 8));
        bytes[16] += 1;
        assert!(!is_touched(&mut bytes, 70_000));
    }
}
