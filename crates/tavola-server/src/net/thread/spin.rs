//! Looking for events for a moment before going to sleep.

use std::time::{Duration, Instant};

use crate::net::poll::Poll;

/// So often in a row a spin may find nothing before the thread is idle.
const MISSES: u32 = 8;
/// What a sleep that was hardly worth it takes beyond the time of a spin: going and waking up.
const WAKE_UP: Duration = Duration::from_micros(50);

/// Whether a thread was busy lately, so that spinning pays.
///
/// | state | becomes busy | becomes idle |
/// |---|---|---|
/// | busy: spins | an event came while it spun | after 8 spins in a row without one |
/// | idle: sleeps at once | a sleep was shorter than a spin would have been | |
#[derive(Debug)]
pub(super) struct Spin {
    time: Duration,
    misses: u32,
}

impl Spin {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            time,
            misses: MISSES,
        }
    }

    /// Waits for events, at most so long, spinning first where that pays.
    pub(super) fn wait(&mut self, poll: &mut Poll, timeout: Option<Duration>) {
        if self.time.is_zero() || timeout.is_some_and(|timeout| timeout <= self.time) {
            poll.wait(timeout);
            return;
        }
        let start = Instant::now();
        if self.misses < MISSES {
            while start.elapsed() < self.time {
                if poll.wait(Some(Duration::ZERO)) {
                    self.misses = 0;
                    return;
                }
                // Others who want this core come first, the client perhaps.
                std::thread::yield_now();
            }
            self.misses += 1;
        }
        let asleep = Instant::now();
        if poll.wait(timeout) && asleep.elapsed() < self.time + WAKE_UP {
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
        let mut spin = Spin::new(Duration::from_millis(20));
        assert_eq!(spin.misses, MISSES);
        post.push(());
        spin.wait(&mut poll, None);
        assert_eq!(spin.misses, 0);
        spin.wait(&mut poll, None);
        assert_eq!(spin.misses, 0);
        post.take();
        for misses in 1..=MISSES {
            spin.wait(&mut poll, Some(Duration::from_millis(21)));
            assert_eq!(spin.misses, misses);
        }
        let start = Instant::now();
        spin.wait(&mut poll, Some(Duration::from_millis(21)));
        assert_eq!(spin.misses, MISSES);
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}
