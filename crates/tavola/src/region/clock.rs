//! The clock by which keys expire: milliseconds since 1970, but never set back or forth.
//!
//! It is the machine's own clock (`CLOCK_MONOTONIC_COARSE`), which nobody sets, and by how much it
//! is ahead of that stands in the table. That was looked up on the wall clock once, when the time
//! was first asked for; after the machine was started anew, it is looked up again. So all processes
//! agree, and a wall clock that is set changes when nothing expires.
//!
//! In a time namespace of its own a process sees another clock of the machine: it goes by what the
//! wall clock was when it opened the table, and leaves the word alone.

use super::Region;
use crate::layout::ClockWord;
use crate::sync::{Ordering, W64};
use crate::sys::{clock, process};

/// The inode of the time namespace that every kernel starts with; 1 where there is only one.
const FIRST_NAMESPACE: [u64; 2] = [0xEFFF_FFFA, 1];

/// How far the clock of keys is ahead of the machine's.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    ahead_ms: u64,
}

impl Clock {
    fn of(region: &Region) -> Self {
        let ahead_ms = clock::unix_ms().saturating_sub(clock::coarse_ms());
        let is_foreign = !FIRST_NAMESPACE.contains(&process::identity().time_ns);
        let boot_id = clock::boot_id().filter(|_| !is_foreign || cfg!(miri));
        let own = boot_id.map(|id| ClockWord::new(&id, ahead_ms));
        let ahead_ms = match own {
            Some(own) => agree(&region.superblock().clock, own, region.is_writable()),
            None => ahead_ms,
        };
        Self { ahead_ms }
    }
}

/// What all who see this start of the machine go by: the first one's word.
fn agree(word: &W64, own: ClockWord, is_writable: bool) -> u64 {
    let seen = word.load(Ordering::Relaxed);
    let stands = |seen| Some(ClockWord::decode(seen)).filter(|seen| seen.boot == own.boot);
    if let Some(first) = stands(seen) {
        return first.ahead_ms;
    }
    if !is_writable {
        return own.ahead_ms;
    }
    match word.cas(seen, own.encode(), Ordering::Relaxed) {
        Ok(_) => own.ahead_ms,
        Err(now) => stands(now).unwrap_or(own).ahead_ms,
    }
}

impl Region {
    /// The time by which keys expire. First asked for without locks ([`Self::set_clock`]), as that
    /// reads files.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        let clock = self.clock.get_or_init(|| Clock::of(self));
        clock.ahead_ms.wrapping_add(clock::coarse_ms())
    }

    /// Whether a key that expires then has expired; 0 is never.
    #[inline]
    pub(crate) fn is_past(&self, expiry_ms: u64) -> bool {
        expiry_ms != 0 && self.now_ms() >= expiry_ms
    }

    /// Lets the clock be known before a lock is held.
    pub(crate) fn set_clock(&self) {
        self.clock.get_or_init(|| Clock::of(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(boot: &str, ahead_ms: u64) -> ClockWord {
        ClockWord::new(boot, ahead_ms)
    }

    #[test]
    fn a_wall_clock_that_is_set_changes_nothing_until_the_next_boot() {
        let shared = W64::new(0);
        assert_eq!(agree(&shared, word("one", 1000), true), 1000);
        // An hour forth, an hour back, seen by processes that come later.
        assert_eq!(agree(&shared, word("one", 3_601_000), true), 1000);
        assert_eq!(agree(&shared, word("one", 0), false), 1000);
        assert_eq!(agree(&shared, word("two", 5000), true), 5000);
        assert_eq!(agree(&shared, word("two", 9000), true), 5000);
    }

    #[test]
    fn who_only_reads_leaves_the_word_alone() {
        let shared = W64::new(0);
        assert_eq!(agree(&shared, word("one", 1000), false), 1000);
        assert_eq!(shared.load(Ordering::Relaxed), 0);
    }
}
