//! The clock by which keys expire: milliseconds since 1970, which nobody can set. It is the
//! machine's monotonic clock plus an offset that all processes read from the table.
//!
//! The machine's clock is `CLOCK_MONOTONIC_COARSE`. The first process that attached to the table
//! took the offset from the wall clock; after a restart of the machine, the first one that attaches
//! takes it again. So all processes agree, and setting the wall clock does not change when keys
//! expire.
//!
//! A process that only reads does not store the offset. Until another process has stored it, the
//! reader uses the wall clock. A process that cannot read in `/proc` which start of the machine
//! this is, or the offset of its time namespace, uses the wall clock as it was at its first
//! reading.

use super::Region;
use crate::layout::ClockWord;
use crate::sync::{Ordering, W64};
use crate::sys::{clock, process};

/// What this process knows of the clock: how far the clock of keys is ahead of the machine's, as
/// this process sees it.
pub(super) struct Clock {
    /// The process generation that knows it: a child may be in another time namespace.
    generation: W64,
    ahead_ms: W64,
}

impl Clock {
    pub(super) const fn new() -> Self {
        Self {
            generation: W64::new(0),
            ahead_ms: W64::new(0),
        }
    }

    /// Stores the offset. Threads that do so at once store the same.
    fn know(&self, ahead_ms: u64) {
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        // Pairs with the load in `now_ms`.
        self.generation
            .store(process::generation(), Ordering::Release);
    }
}

impl Region {
    /// Returns the time by which keys expire. A process that has attached knows the offset, and
    /// need not search for it under a lock.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        // Pairs with the store in `know`.
        let known = self.clock.generation.load(Ordering::Acquire) == process::generation();
        let ahead_ms = match known {
            true => self.clock.ahead_ms.load(Ordering::Relaxed),
            false => self.find_clock(),
        };
        ahead_ms.wrapping_add(clock::coarse_ms())
    }

    /// Searches for the offset, without the heap and without a store to the table.
    #[cold]
    fn find_clock(&self) -> u64 {
        let Some((own, namespace_ms)) = own_word() else {
            let ahead_ms = wall_ahead_ms();
            self.clock.know(ahead_ms);
            return ahead_ms;
        };
        let word = &self.superblock().clock;
        match standing(word.load(Ordering::Relaxed), own) {
            Some(ahead_ms) => {
                let ahead_ms = ahead_ms.wrapping_add_signed(namespace_ms.wrapping_neg());
                self.clock.know(ahead_ms);
                ahead_ms
            }
            None => wall_ahead_ms(),
        }
    }

    /// Lets a table that was rebuilt continue from the time at which it was last used, if the clock
    /// of the machine was set back since. No other process has the table.
    pub(crate) fn set_clock_to(&self, least_ms: u64) {
        self.set_clock();
        let late_ms = least_ms.saturating_sub(self.now_ms());
        if late_ms == 0 {
            return;
        }
        let ahead_ms = self.clock.ahead_ms.load(Ordering::Relaxed) + late_ms;
        if let Some((own, namespace_ms)) = own_word() {
            let later = ClockWord {
                ahead_ms: ahead_ms.wrapping_add_signed(namespace_ms),
                ..own
            };
            self.superblock()
                .clock
                .store(later.encode(), Ordering::Relaxed);
        }
        self.clock.know(ahead_ms);
    }

    /// Learns the offset for a process that attaches, and stores it if no process has.
    pub(crate) fn set_clock(&self) {
        let ahead_ms = match own_word() {
            Some((own, namespace_ms)) => agree(&self.superblock().clock, own)
                .wrapping_add_signed(namespace_ms.wrapping_neg()),
            None => wall_ahead_ms(),
        };
        self.clock.know(ahead_ms);
    }
}

/// Returns how far the wall clock is ahead of the machine's, as this process sees it.
fn wall_ahead_ms() -> u64 {
    clock::unix_ms().wrapping_sub(clock::coarse_ms())
}

/// Returns the word that this process would store, and how far the machine's clock is ahead in its
/// namespace.
fn own_word() -> Option<(ClockWord, i64)> {
    let namespace_ms = clock::namespace_ahead_ms()?;
    let mut buffer = [0; 64];
    let boot_id = clock::boot_id(&mut buffer)?;
    let ahead_ms = wall_ahead_ms().wrapping_add_signed(namespace_ms);
    Some((ClockWord::new(boot_id, ahead_ms), namespace_ms))
}

/// Returns the offset in a word, if it is of this start of the machine.
fn standing(word: u64, own: ClockWord) -> Option<u64> {
    let found = ClockWord::decode(word).filter(|found| found.boot == own.boot);
    found.map(|found| found.ahead_ms)
}

/// Returns the offset that all processes of this start of the machine use: that of the first word.
fn agree(word: &W64, own: ClockWord) -> u64 {
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        if let Some(ahead_ms) = standing(seen, own) {
            return ahead_ms;
        }
        match word.cas(seen, own.encode(), Ordering::Relaxed) {
            Ok(_) => return own.ahead_ms,
            Err(now) => seen = now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_that_is_set_changes_nothing_until_the_next_boot() {
        let shared = W64::new(0);
        let agreed = |boot: &[u8], ahead_ms| agree(&shared, ClockWord::new(boot, ahead_ms));
        assert_eq!(agreed(b"one", 1000), 1000);
        // An hour forth, an hour back, seen by processes that come later.
        assert_eq!(agreed(b"one", 3_601_000), 1000);
        assert_eq!(agreed(b"one", 0), 1000);
        assert_eq!(agreed(b"two", 5000), 5000);
        assert_eq!(agreed(b"two", 9000), 5000);
        // Damage is as if nobody had set it.
        shared.store(shared.load(Ordering::Relaxed) ^ 1 << 41, Ordering::Relaxed);
        assert_eq!(agreed(b"two", 5001), 5001);
    }
}
