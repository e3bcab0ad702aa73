//! Looking for events for a moment before going to sleep.

use std::time::{Duration, Instant};

use crate::net::poll::Poll;

/// So often in a row a spin may find nothing before the thread is idle.
const MISSES: u32 = 8;
/// What a sleep that was hardly worth it takes beyond the time of a spin: going and waking up.
const WAKE_UP: Duration = Duration::from_micros(50);
/// Short sleeps that are waited for at most before it is tried again whether spinning pays.
const MOST_PATIENCE: u32 = 1024;
/// Who comes back so late was not alone on its CPU.
const AWAY: Duration = Duration::from_micros(2);
/// Who comes back so late was preempted: a client that answers has less to do, a busy process has
/// the CPU for the rest of its slice, which is milliseconds.
const PREEMPTED: Duration = Duration::from_micros(400);
/// How long a thread that was preempted does not spin, the first time and at most. Even if another
/// process is always busy, a slice is lost to it once in the longest rest alone.
const RESTS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(6400));
/// So many spins without preemption make the rest short again.
const UNDISTURBED: u32 = 4096;

/// Whether a thread was busy lately, so that spinning pays.
///
/// | state | becomes busy | becomes idle |
/// |---|---|---|
/// | busy: spins | an event came while it spun | after 8 spins in a row for nothing |
/// | idle: sleeps at once | after as many short sleeps as its patience | |
/// | resting: sleeps at once | after its rest | when it was preempted while it spun |
///
/// A spin is for nothing in which no event came, or one came while others had the CPU: to sleep
/// would have given it to them as well, with fewer calls. What was there already counts neither
/// way. A sleep is short that was over sooner than a spin and a wake-up take. The patience is one
/// sleep at first; it doubles with each time that the thread became busy and spun for nothing, and
/// is one again after an event that came while it spun. So a client that asks too rarely for a
/// spin to catch, and too often for sleeps to be long, costs hardly any spins.
///
/// A thread that sleeps is run as soon as an event comes: the scheduler lets it go before others,
/// as it has used little of its share. A thread that spins beside a busy process uses its share up
/// and then waits for a whole slice of the other, events or not. So it stops as soon as it finds
/// that it was preempted. The rest doubles with each time, and is short again after many spins
/// that were not disturbed.
#[derive(Debug)]
pub(super) struct Spin {
    time: Duration,
    misses: u32,
    /// The last event that came while it spun did so while nobody else had this CPU, and no spin
    /// was for nothing since.
    is_apart: bool,
    patience: u32,
    /// Short sleeps since it was last busy.
    short_sleeps: u32,
    /// Who comes back so late was preempted.
    slice: Duration,
    /// Until when it does not spin.
    rests_until: Option<Instant>,
    /// How long the next rest is.
    rest: Duration,
    /// Spins since it was last preempted.
    undisturbed: u32,
}

impl Spin {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            time,
            misses: MISSES,
            is_apart: false,
            patience: 1,
            short_sleeps: 0,
            slice: PREEMPTED,
            rests_until: None,
            rest: RESTS.0,
            undisturbed: 0,
        }
    }

    /// Whether a wait would spin.
    fn is_busy(&self) -> bool {
        !self.time.is_zero() && self.misses < MISSES
    }

    /// Whether those who ask have CPUs of their own, as far as was seen last.
    pub(super) fn is_apart(&self) -> bool {
        self.is_apart
    }

    fn caught(&mut self) {
        self.misses = 0;
        self.is_apart = true;
        self.patience = 1;
    }

    /// Waits for events, at most so long, spinning first where that pays.
    pub(super) fn wait(&mut self, poll: &mut Poll, timeout: Option<Duration>) {
        if self.time.is_zero() || timeout.is_some_and(|timeout| timeout <= self.time) {
            poll.wait(timeout);
            return;
        }
        let now = Instant::now();
        if self.is_busy() && !self.is_resting(now) && self.spin(poll, now) {
            return;
        }
        let asleep = Instant::now();
        if poll.wait(timeout) && asleep.elapsed() < self.time + WAKE_UP {
            self.slept_short();
        }
    }

    /// Looks for events for a while; false: none came.
    fn spin(&mut self, poll: &mut Poll, start: Instant) -> bool {
        if poll.wait(Some(Duration::ZERO)) {
            // It was there before: that does not tell whether spinning pays.
            return true;
        }
        let mut looked = start;
        loop {
            let before = std::mem::replace(&mut looked, Instant::now());
            if looked - before >= self.slice {
                self.preempted(looked);
                return false;
            }
            if looked - start >= self.time {
                self.missed();
                return false;
            }
            // Others who want this CPU come first, the client perhaps.
            std::thread::yield_now();
            let away = looked.elapsed();
            if away >= self.slice {
                self.preempted(looked + away);
                return false;
            }
            let is_shared = away >= AWAY;
            if poll.wait(Some(Duration::ZERO)) {
                if is_shared {
                    self.missed();
                } else {
                    self.caught();
                }
                return true;
            }
        }
    }

    /// Whether it was preempted lately.
    fn is_resting(&mut self, now: Instant) -> bool {
        let is_resting = self.rests_until.is_some_and(|until| now < until);
        if !is_resting {
            self.rests_until = None;
            self.undisturbed = self.undisturbed.saturating_add(1);
            if self.undisturbed >= UNDISTURBED {
                self.rest = RESTS.0;
            }
        }
        is_resting
    }

    /// Another process had the CPU while it spun.
    fn preempted(&mut self, now: Instant) {
        self.rests_until = Some(now + self.rest);
        self.rest = (self.rest * 2).min(RESTS.1);
        self.undisturbed = 0;
        self.is_apart = false;
    }

    fn missed(&mut self) {
        self.misses += 1;
        self.is_apart = false;
        if self.misses == MISSES {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
            self.short_sleeps = 0;
        }
    }

    fn slept_short(&mut self) {
        self.short_sleeps += 1;
        if self.misses == MISSES && self.short_sleeps >= self.patience {
            self.misses = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::poll::Post;
    use rustix::event::epoll::EventFlags;

    #[test]
    fn spins_while_events_come_and_no_longer() {
        let post = Post::new().expect("an eventfd");
        let mut poll = Poll::new().expect("an epoll");
        poll.add(post.bell(), 1, EventFlags::IN).expect("added");
        // A sleep of nothing is short by this, however long the test is kept from going on.
        let mut spin = Spin::new(Duration::from_secs(600));
        // Other tests may have this CPU, which is not what is tried here.
        spin.slice = Duration::MAX;
        assert_eq!(spin.misses, MISSES);
        post.push(());
        spin.wait(&mut poll, None);
        assert_eq!(spin.misses, 0);
        spin.wait(&mut poll, None);
        assert_eq!(spin.misses, 0);
        post.take();
        spin.time = Duration::from_millis(20);
        for misses in 1..=MISSES {
            spin.wait(&mut poll, Some(Duration::from_millis(21)));
            assert_eq!(spin.misses, misses);
        }
        let start = Instant::now();
        spin.wait(&mut poll, Some(Duration::from_millis(21)));
        assert_eq!(spin.misses, MISSES);
        assert!(start.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn spins_for_nothing_become_rarer() {
        let mut spin = Spin::new(Duration::from_millis(20));
        for patience in [1, 2, 4, 8] {
            for sleep in 1..=patience {
                assert!(!spin.is_busy());
                spin.slept_short();
                assert_eq!(spin.is_busy(), sleep == patience, "{sleep} of {patience}");
            }
            (0..MISSES).for_each(|_| spin.missed());
        }
        (0..16).for_each(|_| spin.slept_short());
        assert!(spin.is_busy());
        spin.caught();
        (0..MISSES).for_each(|_| spin.missed());
        spin.slept_short();
        assert!(!spin.is_busy(), "a spin of late was for nothing");
        spin.slept_short();
        assert!(spin.is_busy());
    }

    #[test]
    fn a_spin_ends_when_another_process_had_the_cpu() {
        let mut poll = Poll::new().expect("an epoll");
        let mut spin = Spin::new(Duration::from_secs(600));
        // Every return is late by this.
        spin.slice = Duration::from_nanos(1);
        spin.caught();
        spin.wait(&mut poll, Some(Duration::from_millis(1)));
        assert!(
            !spin.is_resting(Instant::now()),
            "it did not spin: the wait is shorter"
        );
        spin.time = Duration::from_millis(1);
        spin.wait(&mut poll, Some(Duration::from_millis(2)));
        assert_eq!((spin.misses, spin.undisturbed), (0, 0));
        assert_eq!(spin.rest, 2 * RESTS.0);
    }

    #[test]
    fn a_thread_that_was_preempted_rests_ever_longer() {
        let mut spin = Spin::new(Duration::from_millis(20));
        let mut now = Instant::now();
        for rest_ms in [100, 200, 400, 800, 1600, 3200, 6400, 6400] {
            let rest = Duration::from_millis(rest_ms);
            assert!(!spin.is_resting(now));
            spin.caught();
            spin.preempted(now);
            assert!(!spin.is_apart(), "somebody else has this CPU");
            assert!(spin.is_resting(now + rest - Duration::from_millis(1)));
            now += rest;
        }
        for _ in 0..UNDISTURBED {
            assert!(!spin.is_resting(now));
        }
        spin.preempted(now);
        assert!(spin.is_resting(now + RESTS.0 / 2));
        assert!(!spin.is_resting(now + RESTS.0));
    }

    #[test]
    fn others_are_apart_where_that_was_seen() {
        let mut spin = Spin::new(Duration::from_millis(20));
        spin.slept_short();
        assert!(spin.is_busy() && !spin.is_apart());
        spin.caught();
        assert!(spin.is_apart());
        spin.missed();
        spin.slept_short();
        assert!(spin.is_busy() && !spin.is_apart());
    }
}
