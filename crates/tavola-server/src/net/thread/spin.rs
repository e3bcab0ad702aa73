//! Polling for events for a moment before going to sleep.

use std::time::{Duration, Instant};

use crate::net::poll::Poll;

/// The number of spins in a row without success after which the thread does not spin.
const MISSES: u32 = 8;
/// The time that a short sleep takes beyond a spin: falling asleep and waking up.
const WAKE_UP: Duration = Duration::from_micros(50);
/// The most short sleeps before spinning is tried again.
const MOST_PATIENCE: u32 = 1024;
/// The time away from its CPU from which on a thread shares it with another one.
const SHARED: Duration = Duration::from_micros(2);
/// The time away from its CPU from which on a thread counts as preempted. A client that answers
/// takes less; a busy process keeps the CPU for the rest of its slice, which is milliseconds.
const PREEMPTED: Duration = Duration::from_micros(400);
/// The rest of a thread that was preempted, in which it does not spin: the first one and the
/// longest. Even if another process is always busy, the thread loses a slice to it only once in the
/// longest rest.
const RESTS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(6400));
/// The number of spins without preemption that make the rest short again.
const UNDISTURBED: u32 = 4096;

/// Whether a thread was busy lately, so that spinning pays.
///
/// | state | spins | an event came while it spun | a spin failed | preempted | otherwise |
/// |---|---|---|---|---|---|
/// | `Paying` | yes | stays | `Trying`, 1 miss | `Resting` | |
/// | `Trying` | yes | `Paying` | one miss more, `Idle` after 8 | `Resting` | |
/// | `Idle` | no | | | | `Trying` after as many short sleeps as its patience |
/// | `Resting` | no | | | | `Trying` after its rest |
///
/// A spin fails if no event came, or if one came while others had the CPU: sleeping would have
/// given it to them as well, with fewer calls. An event that was there before the spin counts
/// neither way. A sleep is short if it was over sooner than a spin and a wake-up take. The
/// patience is one sleep at first. It doubles each time the thread becomes idle, and an event
/// during a spin makes it one again. So a client that asks too rarely for a spin to catch, and too
/// often for sleeps to be long, costs hardly any spins.
///
/// The scheduler runs a thread that slept as soon as an event comes, as it has used little of its
/// share. A thread that spins beside a busy process uses its share up and then waits for a whole
/// slice of the other, events or not. So it rests when it finds that it was preempted. The rest
/// doubles each time, and is short again after many spins that were not disturbed.
#[derive(Debug)]
pub(super) struct Spin {
    time: Duration,
    state: SpinState,
    /// The number of short sleeps that end the next `Idle`.
    patience: u32,
    /// The duration of the next `Resting`.
    rest: Duration,
    /// The spins since the thread was preempted.
    undisturbed: u32,
    /// See [`PREEMPTED`].
    slice: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpinState {
    /// The last event came while the thread spun and no other thread had its CPU.
    Paying,
    /// The last `misses` spins failed.
    Trying { misses: u32 },
    /// Spinning does not pay; there were `short_sleeps` since.
    Idle { short_sleeps: u32 },
    /// Another process is busy on this CPU.
    Resting { until: Instant },
}

impl Spin {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            time,
            state: SpinState::Idle { short_sleeps: 0 },
            patience: 1,
            rest: RESTS.0,
            undisturbed: 0,
            slice: PREEMPTED,
        }
    }

    /// Returns whether the clients have a CPU of their own, as far as the last spin showed.
    pub(super) fn clients_have_own_cpu(&self) -> bool {
        self.state == SpinState::Paying
    }

    /// Waits for events, at most for `timeout`; spins first if that pays.
    pub(super) fn wait(&mut self, poll: &mut Poll, timeout: Option<Duration>) {
        if self.time.is_zero() || timeout.is_some_and(|timeout| timeout <= self.time) {
            poll.wait(timeout);
            return;
        }
        let now = Instant::now();
        if self.begin(now) && self.spin(poll, now) {
            return;
        }
        let asleep = Instant::now();
        if poll.wait(timeout) && asleep.elapsed() < self.time + WAKE_UP {
            self.note_short_sleep();
        }
    }

    /// Returns whether this wait spins.
    fn begin(&mut self, now: Instant) -> bool {
        match self.state {
            SpinState::Idle { .. } => return false,
            SpinState::Resting { until } if now < until => return false,
            SpinState::Resting { .. } => self.state = SpinState::Trying { misses: 0 },
            SpinState::Paying | SpinState::Trying { .. } => {}
        }
        self.undisturbed = self.undisturbed.saturating_add(1);
        if self.undisturbed >= UNDISTURBED {
            self.rest = RESTS.0;
        }
        true
    }

    /// Polls for events for a while. Returns whether one came.
    fn spin(&mut self, poll: &mut Poll, start: Instant) -> bool {
        if poll.wait(Some(Duration::ZERO)) {
            // The event was there before the spin, and does not show whether spinning pays.
            return true;
        }
        let mut polled = start;
        loop {
            let before = std::mem::replace(&mut polled, Instant::now());
            if polled - before >= self.slice {
                self.note_preemption(polled);
                return false;
            }
            if polled - start >= self.time {
                self.note_miss();
                return false;
            }
            // Other threads that want this CPU come first; one may be the client's.
            std::thread::yield_now();
            let away = polled.elapsed();
            if away >= self.slice {
                self.note_preemption(polled + away);
                return false;
            }
            if poll.wait(Some(Duration::ZERO)) {
                match away >= SHARED {
                    true => self.note_miss(),
                    false => self.note_catch(),
                }
                return true;
            }
        }
    }

    fn note_catch(&mut self) {
        self.state = SpinState::Paying;
        self.patience = 1;
    }

    fn note_miss(&mut self) {
        let misses = match self.state {
            SpinState::Trying { misses } => misses + 1,
            _ => 1,
        };
        self.state = SpinState::Trying { misses };
        if misses == MISSES {
            self.state = SpinState::Idle { short_sleeps: 0 };
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
    }

    fn note_short_sleep(&mut self) {
        if let SpinState::Idle { short_sleeps } = &mut self.state {
            *short_sleeps += 1;
            if *short_sleeps >= self.patience {
                self.state = SpinState::Trying { misses: 0 };
            }
        }
    }

    fn note_preemption(&mut self, now: Instant) {
        let until = now + self.rest;
        self.state = SpinState::Resting { until };
        self.rest = (self.rest * 2).min(RESTS.1);
        self.undisturbed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::poll::Mailbox;
    use rustix::event::epoll::EventFlags;

    const IDLE: SpinState = SpinState::Idle { short_sleeps: 0 };

    fn trying(misses: u32) -> SpinState {
        SpinState::Trying { misses }
    }

    #[test]
    fn spins_while_events_come_and_no_longer() {
        let mailbox = Mailbox::new().expect("an eventfd");
        let mut poll = Poll::new().expect("an epoll");
        poll.add(mailbox.eventfd(), 1, EventFlags::IN)
            .expect("added");
        // Any sleep is short by this, however long the test is kept from running.
        let mut spin = Spin::new(Duration::from_secs(600));
        // Other tests may have this CPU, which is not what is tested here.
        spin.slice = Duration::MAX;
        assert_eq!(spin.state, IDLE);
        mailbox.push(());
        spin.wait(&mut poll, None);
        assert_eq!(spin.state, trying(0));
        spin.wait(&mut poll, None);
        assert_eq!(spin.state, trying(0));
        mailbox.take();
        spin.time = Duration::from_millis(20);
        for misses in 1..=MISSES {
            spin.wait(&mut poll, Some(Duration::from_millis(21)));
            let is_idle = misses == MISSES;
            assert_eq!(spin.state, if is_idle { IDLE } else { trying(misses) });
        }
        let start = Instant::now();
        spin.wait(&mut poll, Some(Duration::from_millis(21)));
        assert_eq!(spin.state, IDLE);
        assert!(start.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn spins_without_success_become_rarer() {
        let mut spin = Spin::new(Duration::from_millis(20));
        let fail = |spin: &mut Spin| (0..MISSES).for_each(|_| spin.note_miss());
        for patience in [1, 2, 4, 8] {
            for sleep in 1..=patience {
                assert!(matches!(spin.state, SpinState::Idle { .. }));
                spin.note_short_sleep();
                let is_trying = spin.state == trying(0);
                assert_eq!(is_trying, sleep == patience, "{sleep} of {patience}");
            }
            fail(&mut spin);
        }
        (0..16).for_each(|_| spin.note_short_sleep());
        assert_eq!(spin.state, trying(0));
        spin.note_catch();
        fail(&mut spin);
        spin.note_short_sleep();
        assert!(spin.state != trying(0), "a recent spin failed");
        spin.note_short_sleep();
        assert_eq!(spin.state, trying(0));
    }

    #[test]
    fn a_spin_ends_when_another_process_had_the_cpu() {
        let mut poll = Poll::new().expect("an epoll");
        let mut spin = Spin::new(Duration::from_secs(600));
        // Every return is late by this.
        spin.slice = Duration::from_nanos(1);
        spin.note_catch();
        spin.wait(&mut poll, Some(Duration::from_millis(1)));
        assert_eq!(
            spin.state,
            SpinState::Paying,
            "the wait is too short to spin"
        );
        spin.time = Duration::from_millis(1);
        spin.wait(&mut poll, Some(Duration::from_millis(2)));
        assert!(matches!(spin.state, SpinState::Resting { .. }));
        assert_eq!((spin.undisturbed, spin.rest), (0, 2 * RESTS.0));
    }

    #[test]
    fn a_thread_that_is_preempted_again_rests_longer() {
        let mut spin = Spin::new(Duration::from_millis(20));
        let mut now = Instant::now();
        spin.note_catch();
        for rest_ms in [100, 200, 400, 800, 1600, 3200, 6400, 6400] {
            let rest = Duration::from_millis(rest_ms);
            assert!(spin.begin(now));
            spin.note_catch();
            spin.note_preemption(now);
            assert!(!spin.clients_have_own_cpu(), "somebody else has this CPU");
            assert!(!spin.begin(now + rest - Duration::from_millis(1)));
            now += rest;
        }
        for _ in 0..UNDISTURBED {
            assert!(spin.begin(now));
        }
        spin.note_preemption(now);
        assert!(!spin.begin(now + RESTS.0 / 2));
        assert!(spin.begin(now + RESTS.0));
    }

    #[test]
    fn only_an_event_during_a_spin_shows_that_clients_have_a_cpu() {
        let mut spin = Spin::new(Duration::from_millis(20));
        spin.note_short_sleep();
        assert!(spin.state == trying(0) && !spin.clients_have_own_cpu());
        spin.note_catch();
        assert!(spin.clients_have_own_cpu());
        spin.note_miss();
        spin.note_short_sleep();
        assert!(spin.state == trying(1) && !spin.clients_have_own_cpu());
    }
}
