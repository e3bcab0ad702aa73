//! Which daemon is the owner, and when another takes over.
//!
//! The owner of generation g holds the named lock number g mod 8 of the table, which is free when
//! its process dies. A standby that gets it, or that sees that the owner has not looked for long,
//! takes the lock of generation g + 1 first and exchanges `trust` then. The locks decide who tries,
//! and when; only the exchange decides who owns.

use crate::clock;
use crate::error::Result;
use crate::owner::Owner;
use crate::shared::{Shared, Trust};
use crate::sync::Ordering;
use std::sync::Arc;
use std::time::Duration;
use tavola::{Hold, NamedLock, Table};

/// Locks that the generations use in turn, so that a stopped owner does not block the next ones.
const LOCKS: u64 = 8;
/// For how long a standby waits before it looks again.
const LOOK: Duration = Duration::from_millis(50);
/// An owner that has not looked for so many times `max_stale`, and a second, is stopped.
const SILENT_STALES: u64 = 5;
const SILENT_MS: u64 = 1000;

/// The lock of the owner.
pub(super) struct Seat {
    lock: NamedLock,
    hold: Hold,
}

impl Seat {
    /// Becomes the owner, or waits a little and returns `None`.
    pub(super) fn take(
        table: &Arc<Table>,
        shared: &Shared,
        max_stale_ms: u64,
    ) -> Result<Option<(Owner, Seat)>> {
        let seen = Trust::of(shared.trust().load(Ordering::Acquire));
        let lock = |generation: u64| table.named_lock(&format!("near {}", generation % LOCKS));
        let current = lock(seen.generation)?;
        // If the owner is dead, nobody else becomes the next one while this is held.
        let gone = current.lock_within(LOOK)?;
        if gone.is_none() && !is_silent(shared) {
            return Ok(None);
        }
        let next = lock(seen.generation + 1)?;
        let Some(guard) = next.lock_within(LOOK)? else {
            return Ok(None);
        };
        let owner = Owner::take_over(Arc::clone(table), shared.clone(), seen, max_stale_ms);
        let hold = owner.is_some().then(|| guard.into_hold());
        Ok(owner
            .zip(hold)
            .map(|(owner, hold)| (owner, Seat { lock: next, hold })))
    }

    /// Lets another daemon take over at once.
    pub(super) fn leave(self) {
        self.lock.release(self.hold);
    }
}

/// Returns whether the owner has not looked for so long that it must be stopped.
fn is_silent(shared: &Shared) -> bool {
    let alive_ms = shared.alive_ms().load(Ordering::Relaxed);
    let max_stale_ms = shared.max_stale_ms().load(Ordering::Relaxed);
    clock::exact_ms() > alive_ms + SILENT_STALES * max_stale_ms + SILENT_MS
}
