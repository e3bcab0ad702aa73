//! A lease that this process has, and one that another has.

use super::options::LeaseOptions;
use crate::alloc::{Stamp, Tags};
use crate::engine::Core;
use crate::engine::in_ms;
use crate::engine::{Claim, FailedCompute, HashedKey};
use crate::engine::{Metadata, WriteCondition};
use crate::error::Result;
use crate::index::locate::read;
use crate::layout::{LONGEST_LEASE_MS, LeaseView};
use crate::lock::{Me, PATIENCE, is_alive, sleep};
use crate::sync::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The right to compute the value of a key; from
/// [`Table::get_or_lease`](crate::Table::get_or_lease). It ends with [`Lease::fill`] or
/// [`Lease::fail`]. If it is dropped, another caller can get it at once.
///
/// A forked child does not own the leases of its parent: it can neither fill nor end them.
///
/// # Crash
/// If the owner of a lease is killed, the lease passes on to the next process that asks or waits
/// for it.
#[must_use = "others wait for it"]
pub struct Lease {
    core: Arc<Core>,
    key: Box<[u8]>,
    claim: Claim,
    /// The participant that has the lease.
    me: Me,
    options: LeaseOptions,
    began: Instant,
    is_over: bool,
}

impl Lease {
    pub(super) fn new(
        core: &Arc<Core>,
        key: &[u8],
        claim: Claim,
        options: LeaseOptions,
    ) -> Result<Self> {
        Ok(Self {
            me: core.writer()?,
            core: Arc::clone(core),
            key: key.into(),
            claim,
            options,
            began: Instant::now(),
            is_over: false,
        })
    }

    /// Returns the key whose value is to be computed.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns whether other processes know of the lease. It is false if too many keys of the shard
    /// are being computed at the same time. Others may then compute the value, too, and
    /// [`Lease::fill`] may store nothing because another key was removed or changed meanwhile.
    pub fn is_recorded(&self) -> bool {
        self.claim.number.is_some()
    }

    /// Stores the value and ends the lease: the waiting processes get the value. Returns false if
    /// the value is not stored, because the time of the lease was over, or because the key was set,
    /// removed or changed meanwhile ([`Table::update`], [`Table::append`], [`Table::incr`] and
    /// others). A key that was missing, was set, and is missing again because it expired or was
    /// evicted counts as unchanged.
    ///
    /// [`Table::update`]: crate::Table::update
    /// [`Table::append`]: crate::Table::append
    /// [`Table::incr`]: crate::Table::incr
    ///
    /// # Errors
    /// As [`Table::set`](crate::Table::set); the lease then ends.
    ///
    /// # Crash
    /// If the process is killed in the call, the value is stored, or the lease passes on.
    pub fn fill(self, value: impl AsRef<[u8]>) -> Result<bool> {
        let value = value.as_ref();
        self.fill_tagged(value, &Tags::NONE)
    }

    /// Stores the value with tags, as [`Lease::fill`]. Fetch the tags before you compute the value,
    /// see [`Table::fetch_tags`](crate::Table::fetch_tags).
    ///
    /// # Errors
    /// As [`Lease::fill`].
    ///
    /// # Crash
    /// As [`Lease::fill`].
    pub fn fill_tagged(self, value: impl AsRef<[u8]>, tags: &Tags) -> Result<bool> {
        self.fill_with(value, 0, tags)
    }

    /// Stores the value with flags and tags, as [`Lease::fill_tagged`].
    ///
    /// # Errors
    /// As [`Lease::fill`]. [`Error::BadOption`](crate::Error::BadOption): with
    /// [`LeaseOptions::early`], the low 16 bits of the flags are not 0.
    ///
    /// # Crash
    /// As [`Lease::fill`].
    pub fn fill_with(self, value: impl AsRef<[u8]>, flags: u32, tags: &Tags) -> Result<bool> {
        let value = value.as_ref();
        if !self.core.is_participant(self.me) {
            return Ok(false);
        }
        let now = self.core.region().now_ms();
        let stamp = Stamp {
            tags,
            version: self.core.next_version(),
            ..self.options.stamp(flags, now, self.began.elapsed())?
        };
        let metadata = Metadata::new(stamp, false);
        let when = WriteCondition::Leased(&self.claim);
        // The lease ends when `self` is dropped, after the store: a process that asks in between
        // finds the value.
        let core = &self.core;
        let stored = core.store(&self.key, value, when, Some(&metadata))?;
        core.use_tags(tags.hints())?;
        Ok(stored)
    }

    /// Ends the lease without a value. For `back_off`, at most an hour, no process gets the lease
    /// again: callers get the stale value if there is one, otherwise
    /// [`Leased::Failed`](crate::Leased::Failed) with the first 88 bytes of `error`. Returns false
    /// if the lease has passed on.
    ///
    /// # Errors
    /// As [`Table::remove`](crate::Table::remove).
    pub fn fail(mut self, back_off: Duration, error: impl AsRef<[u8]>) -> Result<bool> {
        self.end(Some(FailedCompute {
            pause_ms: in_ms(back_off).min(LONGEST_LEASE_MS),
            error: error.as_ref(),
        }))
    }

    fn end(&mut self, failed: Option<FailedCompute<'_>>) -> Result<bool> {
        let failed = failed.filter(|failed| failed.pause_ms > 0);
        self.is_over = true;
        if !self.core.is_participant(self.me) {
            return Ok(false);
        }
        let named = HashedKey::of(self.core.region(), &self.key);
        self.core.end_lease(self.me, named, &self.claim, failed)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_over {
            // A lease that cannot be ended now passes on when its time is over.
            let _ = self.end(None);
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease")
            .field("key", &self.key.escape_ascii().to_string())
            .field("is_recorded", &self.is_recorded())
            .finish_non_exhaustive()
    }
}

/// A value that another process or thread is computing; from
/// [`Table::get_or_lease`](crate::Table::get_or_lease).
pub struct Pending {
    core: Arc<Core>,
    key: Box<[u8]>,
    number: u32,
    word: u64,
    owner: u32,
    until_ms: u64,
}

impl Pending {
    pub(super) fn new(core: &Arc<Core>, key: &[u8], number: u32, view: &LeaseView) -> Self {
        Self {
            core: Arc::clone(core),
            key: key.into(),
            number,
            word: view.word,
            owner: view.owner().unwrap_or(0),
            until_ms: view.until_ms,
        }
    }

    /// Returns the maximum time until the lease ends.
    pub fn left(&self) -> Duration {
        let now = self.core.region().now_ms();
        Duration::from_millis(self.until_ms.saturating_sub(now))
    }

    /// Sleeps until the lease has ended, its owner has died, or the key exists; then ask for the
    /// key again. Returns false if `timeout` was over before.
    ///
    /// # Errors
    /// As [`Table::get`](crate::Table::get).
    ///
    /// # Concurrency
    /// The end of the lease wakes all waiting threads. They notice the death of the owner within
    /// about 10 ms.
    pub fn wait(&self, timeout: Duration) -> Result<bool> {
        let region = self.core.region();
        let named = HashedKey::of(region, &self.key);
        let record = region.lease(named.hash.shard(), self.number);
        let until = Instant::now().checked_add(timeout);
        loop {
            // Pairs with the release in `LeaseRecord::free`. The count is read before the state, so
            // that a lease that ends after the state was read also ends the sleep.
            let seen = record.ends.load(Ordering::Acquire);
            if !record.is_still(self.word)
                || self.left().is_zero()
                || read(region, &self.key, named.hash, &mut ())?
                || !is_alive(region, self.owner, self.core.participant())
            {
                return Ok(true);
            }
            let left = until.map_or(PATIENCE, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Ok(false);
            }
            // One millisecond more, since the clock goes in ticks.
            let longest_sleep = PATIENCE
                .min(left)
                .min(self.left() + Duration::from_millis(1));
            sleep(&record.ends, seen, longest_sleep);
        }
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("key", &self.key.escape_ascii().to_string())
            .field("left", &self.left())
            .finish_non_exhaustive()
    }
}
