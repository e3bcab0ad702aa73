//! The owner of a near cache: the one daemon that puts values into the table and gives trust.
//!
//! One thread does all of it, in the order in which the server sent it: that is the lock of the
//! stripes in rule N2. A daemon that has lost its ownership without knowing it can still store and
//! remove. What it stores has an old epoch, and no reader uses it; what it removes is missing.

use crate::clock;
use crate::error::Result;
#[cfg(test)]
use crate::mistake::{Mistake, is_made};
use crate::read::MARK;
use crate::shared::{Shared, Trust, first_epoch, owner_of};
use crate::sync::{Ordering, step};
use std::sync::Arc;
use std::time::Duration;
use tavola::{Attributes, Table};

/// What a fill noted before its request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    /// The generation of the stripe of its key.
    generation: u64,
    epoch: u64,
}

/// This daemon is not the owner any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deposed;

/// The right to fill a near cache.
pub(crate) struct Owner {
    table: Arc<Table>,
    shared: Shared,
    /// As this owner wrote it last.
    trust: Trust,
    /// As this owner wrote it last.
    epoch: u64,
    /// A value with its mark, on its way to the table.
    marked: Vec<u8>,
}

impl Owner {
    /// Becomes the owner, if nobody has become it since `seen` was read.
    ///
    /// # Crash
    /// Killed between the two words, the new owner has trust for no time, and the old epoch stays:
    /// the old owner's exchange of `trust` fails already, so its values expire with its last trust.
    pub(crate) fn take_over(
        table: Arc<Table>,
        shared: Shared,
        seen: Trust,
        max_stale_ms: u64,
    ) -> Option<Self> {
        let trust = seen.next_owner()?;
        if !shared.trust().replace(seen.word(), trust.word()) {
            return None;
        }
        let mut epoch;
        loop {
            epoch = first_epoch(trust.generation);
            let found = shared.epoch().load(Ordering::Acquire);
            if owner_of(found) >= trust.generation {
                return None;
            }
            #[cfg(test)]
            if is_made(Mistake::KeepsEpochOfOthers) {
                epoch = found;
            }
            if shared.epoch().replace(found, epoch) {
                break;
            }
        }
        shared.max_stale_ms().store(max_stale_ms, Ordering::Relaxed);
        // After the new trust: whoever sees it does not see a trust of another clock.
        shared
            .clock()
            .store(clock::fingerprint(), Ordering::Release);
        Some(Self {
            table,
            shared,
            trust,
            epoch,
            marked: Vec::new(),
        })
    }

    /// Returns whether nobody has taken over.
    pub(crate) fn is_owner(&self) -> bool {
        self.shared.trust().load(Ordering::Acquire) == self.trust.word()
    }

    /// Lets values be served until that time.
    pub(crate) fn extend(&mut self, until_ms: u64) -> Result<(), Deposed> {
        let trust = Trust {
            until_ms: until_ms.max(self.trust.until_ms),
            ..self.trust
        };
        // Pairs with the first load of `Reader::find`: all removals before are seen.
        match self.shared.trust().replace(self.trust.word(), trust.word()) {
            true => self.trust = trust,
            false => return Err(Deposed),
        }
        Ok(())
    }

    /// Makes all values of this moment missing.
    pub(crate) fn next_epoch(&mut self) -> Result<(), Deposed> {
        #[cfg(test)]
        if is_made(Mistake::KeepsEpoch) {
            return Ok(());
        }
        self.shared.losses().add(1, Ordering::Relaxed);
        match self.shared.epoch().replace(self.epoch, self.epoch + 1) {
            true => self.epoch += 1,
            false => return Err(Deposed),
        }
        Ok(())
    }

    /// Notes the state of a key before it is asked for.
    pub(crate) fn note(&self, key: &[u8]) -> Noted {
        Noted {
            generation: self.shared.stripe(key).load(Ordering::Acquire),
            epoch: self.epoch,
        }
    }

    /// Returns whether no push has come for the stripe of the key, and no loss, since then.
    pub(crate) fn is_current(&self, key: &[u8], noted: Noted) -> bool {
        #[cfg(test)]
        if is_made(Mistake::IgnoresGeneration) {
            return noted.epoch == self.epoch;
        }
        self.note(key) == noted
    }

    /// Applies a push: the key has changed.
    ///
    /// # Crash
    /// Killed before the removal, the old value stays until trust ends, as trust is extended only
    /// after the removal; the next owner has another epoch.
    pub(crate) fn invalidate(&mut self, key: &[u8]) -> Result<(), Deposed> {
        self.shared.stripe(key).add(1, Ordering::AcqRel);
        self.shared.pushes().add(1, Ordering::Relaxed);
        step();
        match self.table.remove(key) {
            Ok(_) => Ok(()),
            // What cannot be removed must not be used.
            Err(_) => self.next_epoch(),
        }
    }

    /// Stores the value that the server gave for a key, if it is current. What the table does not
    /// take is not cached.
    ///
    /// # Crash
    /// One call of the table stores the value with its mark: it is there completely or not at all.
    pub(crate) fn fill(&mut self, key: &[u8], noted: Noted, value: &[u8], ttl: Option<Duration>) {
        if !self.is_current(key, noted) {
            return;
        }
        self.marked.clear();
        self.marked.reserve(value.len() + MARK);
        self.marked.extend_from_slice(value);
        self.marked.extend_from_slice(&noted.epoch.to_le_bytes());
        step();
        let attributes = ttl.map_or(Attributes::default(), Attributes::ttl);
        if self.table.set_with(key, &self.marked, attributes).is_ok() {
            self.shared.fills().add(1, Ordering::Relaxed);
        }
    }

    /// Reports that this daemon is alive. Standbys take over from one that does not for long.
    pub(crate) fn report_alive(&self, now_ms: u64) {
        self.shared.alive_ms().store(now_ms, Ordering::Relaxed);
    }
}
