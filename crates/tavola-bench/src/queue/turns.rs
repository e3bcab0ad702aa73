//! What the two sides do, over whatever way.

use std::hint::spin_loop;

use super::home::{Home, wrong};
use super::job::{Done, Plan, Side};
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

/// One side's end of the way there and the way back.
///
/// What is taken is touched, if it is, and sent before anything else is taken: a way may keep the
/// bytes of the run that was taken last.
pub(super) trait Way {
    /// Elements that never moved, at most as many as `out` has room for.
    fn fresh(&mut self, out: &mut [u32]) -> Result<usize>;

    /// What has come, at most as much as `out` has room for.
    fn take(&mut self, out: &mut [u32]) -> Result<usize>;

    /// As [`Way::take`]; gives the CPU away for a while when nothing has come.
    fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize>;

    /// Sends on the run that was taken last, or was fresh.
    fn send(&mut self, run: &[u32]) -> Result<()>;

    /// Sends the end mark.
    fn send_end(&mut self) -> Result<()>;

    /// Reads, checks and rewrites the elements of the run that was taken last. False: one was not
    /// what it should be.
    fn touch(&mut self, run: &[u32]) -> bool;

    /// How often an element was touched, which stands at `at` in the run that was taken last, or
    /// was fresh.
    fn touches(&mut self, at: usize, element: u32) -> u32;

    /// Puts all elements and the end mark back to where fresh ones come from.
    fn put_away(&mut self, elements: &[u32]) -> Result<()>;
}

/// Plays a side from the common start on.
pub(super) fn play(side: Side, way: &mut impl Way, plan: &Plan, start_ns: u64) -> Result<Done> {
    match side {
        Side::Starter => start(way, plan, start_ns),
        Side::Returner => give_back(way, plan, start_ns),
    }
}

fn start(way: &mut impl Way, plan: &Plan, start_ns: u64) -> Result<Done> {
    let mut run = vec![0; plan.run];
    wait_until(start_ns);
    let mut done = Done {
        begin_ns: monotonic_ns(),
        ..Done::default()
    };
    let (mut has_fresh, mut clock_at) = (true, CLOCK_MOVES);
    while done.sent < plan.moves {
        let left = usize::try_from(plan.moves - done.sent).unwrap_or(plan.run);
        let room = &mut run[..left.min(plan.run)];
        let mut count = if has_fresh { way.fresh(room)? } else { 0 };
        if count == 0 {
            has_fresh = false;
            count = take(way, room)?;
            done.taken += count as u64;
            touch(way, plan, &run[..count])?;
        }
        way.send(&run[..count])?;
        done.sent += count as u64;
        if done.sent >= clock_at {
            clock_at = done.sent + CLOCK_MOVES;
            if monotonic_ns() - start_ns >= plan.limit_ns {
                break;
            }
        }
    }
    way.send_end()?;
    let mut home = Home::new(plan);
    home.until_mark(way, &mut run, &mut done)?;
    done.end_ns = monotonic_ns();
    home.rest(way, &mut run)?;
    home.check(&done)?;
    way.put_away(&home.held)?;
    Ok(done)
}

fn give_back(way: &mut impl Way, plan: &Plan, start_ns: u64) -> Result<Done> {
    let mut run = vec![0; plan.run];
    wait_until(start_ns);
    let mut done = Done {
        begin_ns: monotonic_ns(),
        ..Done::default()
    };
    loop {
        let count = take(way, &mut run)?;
        let (elements, is_end) = without_mark(&run[..count], plan);
        touch(way, plan, elements)?;
        way.send(&run[..count])?;
        done.taken += elements.len() as u64;
        done.sent += elements.len() as u64;
        if is_end {
            done.end_ns = monotonic_ns();
            return Ok(done);
        }
    }
}

/// The end mark is the last of its run.
pub(super) fn without_mark<'a>(run: &'a [u32], plan: &Plan) -> (&'a [u32], bool) {
    match run.split_last() {
        Some((last, others)) if *last == plan.end_mark() => (others, true),
        _ => (run, false),
    }
}

/// At least one.
pub(super) fn take(way: &mut impl Way, out: &mut [u32]) -> Result<usize> {
    for _ in 0..SPINS {
        match way.take(out)? {
            // Who looks all the time keeps taking the lines that the other side is about to write;
            // who lets it get ahead finds more than one element.
            0 => (0..PAUSES).for_each(|_| spin_loop()),
            count => return Ok(count),
        }
    }
    let begin_ns = monotonic_ns();
    while monotonic_ns() - begin_ns < LOST_NS {
        match way.wait_and_take(out)? {
            0 => {}
            count => return Ok(count),
        }
    }
    Err(Error::worker(
        "nothing came from the other side for 20 seconds",
    ))
}

pub(super) fn touch(way: &mut impl Way, plan: &Plan, run: &[u32]) -> Result<()> {
    if !plan.touched || way.touch(run) {
        return Ok(());
    }
    wrong(format!(
        "an element of a run of {} has other bytes",
        run.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The other side is done at once, in `send`; it may be a bad one.
    struct Alone {
        plan: Plan,
        next: u32,
        way: VecDeque<u32>,
        touches: Vec<u32>,
        fault: Fault,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        Loses,
        Doubles,
        Swaps,
        ForgetsTouches,
    }

    impl Way for Alone {
        fn fresh(&mut self, out: &mut [u32]) -> Result<usize> {
            let count = out.len().min((self.plan.elements - self.next) as usize);
            for slot in &mut out[..count] {
                *slot = self.next;
                self.next += 1;
            }
            Ok(count)
        }

        fn take(&mut self, out: &mut [u32]) -> Result<usize> {
            let count = out.len().min(self.way.len());
            for (slot, element) in out.iter_mut().zip(self.way.drain(..count)) {
                *slot = element;
            }
            Ok(count)
        }

        fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize> {
            self.take(out)
        }

        fn send(&mut self, run: &[u32]) -> Result<()> {
            for &element in run {
                let is_third = element == 3;
                match self.fault {
                    Fault::Loses if is_third => continue,
                    Fault::Doubles if is_third => self.way.push_back(element),
                    Fault::Swaps if is_third => {
                        self.way.push_back(2);
                        continue;
                    }
                    Fault::ForgetsTouches if is_third => {
                        self.way.push_back(3);
                        continue;
                    }
                    _ => {}
                }
                self.way.push_back(element);
                self.touches[element as usize] += 1;
            }
            Ok(())
        }

        fn send_end(&mut self) -> Result<()> {
            self.way.push_back(self.plan.end_mark());
            Ok(())
        }

        fn touch(&mut self, run: &[u32]) -> bool {
            for element in run {
                self.touches[*element as usize] += 1;
            }
            true
        }

        fn touches(&mut self, _: usize, element: u32) -> u32 {
            self.touches[element as usize]
        }

        fn put_away(&mut self, _: &[u32]) -> Result<()> {
            Ok(())
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
        let mut way = Alone {
            plan: plan.clone(),
            next: 0,
            way: VecDeque::new(),
            touches: vec![0; 11],
            fault,
        };
        play(Side::Starter, &mut way, &plan, 0)
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
        ] {
            let error = played(3, 20, touched, fault).unwrap_err();
            assert!(matches!(error, Error::WrongAnswer { .. }), "{error}");
        }
    }
}
