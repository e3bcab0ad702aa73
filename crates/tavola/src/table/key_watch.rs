//! Waiting until a key changes.
//!
//! A watcher has a record in the key's shard (`layout/watch.rs`), which it takes and renews under
//! the shard's lock. A write that finds keys of the shard watched raises the count in the records
//! of its key, and wakes the threads that sleep on the count.
//!
//! **W1 No change is missed as long as the record is the watcher's.** A writer that locks the shard
//! after the record was taken sees `watched`, and raises the count after its change. So if the
//! count is unchanged, read under the lock, no write has ended since. If a writer died before it
//! raised the count, it left the lock, and the process that takes the lock over raises the count of
//! all records.
//!
//! **W2 The loss of a record is noticed.** A record is the watcher's if it is in use, for the same
//! key, and was taken as many times as before. Its time must run out before it is taken again or
//! `watched` becomes 0; all of this happens under the lock. A watcher that has lost its record
//! compares the key's state with the state it had seen.

use super::Table;
use crate::alloc::recompute_overhead;
use crate::engine::Core;
use crate::error::Result;
use crate::index::locate::{Hash, Stamped, Value, read_as};
use crate::layout::{WATCHES, WatchRecord};
use crate::lock::{Me, ShardLock, sleep};
use crate::region::{Region, no_room};
use crate::sync::{Ordering, fence};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a record stays in use without being renewed.
const LIFE_MS: u64 = 30_000;
/// How long a watcher sleeps before it renews its record. If a process died while it changed a key,
/// the renewal also takes over its lock.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A record, as a watcher knows it.
#[derive(Clone, Copy)]
struct HeldRecord {
    number: u32,
    takes: u32,
}

/// The state of a key: its token, or `None` if it is missing, and when it expires.
#[derive(Clone, Copy, PartialEq, Eq)]
struct KeyState {
    token: Option<crate::CasToken>,
    expiry_ms: u64,
}

/// Waits for changes of one key; from [`Table::watch_key`].
pub struct KeyWatch {
    core: Arc<Core>,
    key: Vec<u8>,
    hash: Hash,
    held: HeldRecord,
    /// The record's count of changes when the key was last read.
    count: u32,
    state: KeyState,
}

impl KeyWatch {
    fn new(core: &Arc<Core>, key: &[u8]) -> Result<Self> {
        let mut watch = Self {
            core: Arc::clone(core),
            key: key.to_vec(),
            hash: Hash::of(core.region(), key),
            held: HeldRecord {
                number: WATCHES,
                takes: 0,
            },
            count: 0,
            state: KeyState {
                token: None,
                expiry_ms: 0,
            },
        };
        let me = core.writer()?;
        core.back_watches(me)?;
        (_, watch.count) = watch.renew(me)?;
        watch.state = watch.read_state()?;
        Ok(watch)
    }

    /// Makes sure that the watcher has a record. Returns whether it is the one that it had, and its
    /// count.
    fn renew(&mut self, me: Me) -> Result<(bool, u32)> {
        let (hash, had) = (self.hash, self.held);
        let (held, count) = self
            .core
            .locked(hash.shard(), me, |lock| Ok(hold(lock, hash, had)))?;
        self.held = held;
        // Pairs with the fence of a process that removes a tag without this shard's lock: that
        // process sees that the key is watched, or this one sees that the tag is gone.
        fence(Ordering::SeqCst);
        let is_same = (held.number, held.takes) == (had.number, had.takes);
        Ok((is_same, count))
    }

    /// Returns the present state of the key. A cache does not count this as a use of the key.
    fn read_state(&self) -> Result<KeyState> {
        let mut found = Stamped::of(Value::default());
        let core = &*self.core;
        let is_there = read_as(core.region(), &self.key, self.hash, &mut found, core)?;
        Ok(KeyState {
            token: is_there.then(|| core.token(found.shown.version, &found.value.into_vec())),
            expiry_ms: if is_there { found.shown.expiry_ms } else { 0 },
        })
    }

    fn has_expired(&self) -> bool {
        let expiry_ms = self.state.expiry_ms;
        expiry_ms != 0 && self.core.region().now_ms() >= expiry_ms
    }

    /// Returns whether the key has changed since its state was last read. Reads the state if it may
    /// have.
    fn has_changed(&mut self, me: Me) -> Result<bool> {
        let (is_same, count) = self.renew(me)?;
        let is_reported = is_same && self.held.number < WATCHES && count != self.count;
        if is_same && count == self.count && !self.has_expired() {
            return Ok(false);
        }
        // The count comes first: a change after the read raises it again.
        self.count = count;
        let state = self.read_state()?;
        let is_other = state != self.state;
        self.state = state;
        Ok(is_reported || is_other)
    }

    fn record(&self) -> &WatchRecord {
        let region: &Region = self.core.region();
        region.watch(self.hash.shard(), self.held.number)
    }

    /// Returns how long to sleep at most: until the record must be renewed, or the key expires.
    fn longest_sleep(&self) -> Duration {
        let left = match self.state.expiry_ms {
            0 => return LONGEST_SLEEP,
            at => at.saturating_sub(self.core.region().now_ms()),
        };
        // One millisecond more, since the clock goes in ticks.
        LONGEST_SLEEP.min(Duration::from_millis(left + 1))
    }

    /// Sleeps until the key changes, at most for `timeout`. Returns whether it changed since the
    /// watch was created, or since the last call that returned true.
    ///
    /// Several changes may be reported as one. The last one is never missed: a value read after
    /// `true` is at least as new as the change that was reported, and any later change is reported
    /// by the next call. A change of the key's time to live counts, as do removing, evicting and
    /// expiring it, storing the same value again, and invalidating one of its tags. The answer may
    /// also be `true` without a change: after a process died while it wrote to the same shard of
    /// the table, after an invalidated tag that another key has, or for another key with the same
    /// 32 bits of hash.
    ///
    /// If more than eight keys of a shard are watched at once, the further watchers are woken by
    /// every write to the shard and compare the key's value; a change to the same value is not
    /// reported then, nor in a watch that was not waited on for 30 seconds.
    ///
    /// # Errors
    /// Those of [`Table::get`]; [`Error::Busy`](crate::Error::Busy) with a lock timeout.
    ///
    /// # Crash
    /// A writer that was killed after its change is noticed within a second or so. A watcher that
    /// is killed costs writers of its shard a little for 30 seconds.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        let until = Instant::now().checked_add(timeout);
        loop {
            if self.has_changed(self.core.writer()?)? {
                return Ok(true);
            }
            let left = until.map_or(LONGEST_SLEEP, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Ok(false);
            }
            sleep(
                &self.record().changes,
                self.count,
                left.min(self.longest_sleep()),
            );
        }
    }

    /// Returns the watched key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

/// Keeps the record that a watcher had, or takes one for the key. Returns it, and its count.
fn hold(lock: &ShardLock<'_>, hash: Hash, had: HeldRecord) -> (HeldRecord, u32) {
    let now = lock.region.now_ms();
    let record = |number| lock.region.watch(lock.number, number);
    let is_used = |number: &u32| !record(*number).is_over(now);
    let key = hash.in_watch();
    let is_had = |number: &u32| {
        let is_of = *number == WATCHES || record(*number).is_of(key);
        *number == had.number && record(*number).takes() == had.takes && is_of
    };
    let number = Some(had.number)
        .filter(|number| is_used(number) && is_had(number))
        .or_else(|| (0..WATCHES).find(|number| is_used(number) && record(*number).is_of(key)))
        .or_else(|| (0..WATCHES).find(|number| !is_used(number)))
        .unwrap_or(WATCHES);
    if !is_used(&number) {
        record(number).take(key);
    }
    // This comes first: a writer that could find the record in use also sees `watched`.
    lock.head.watched.store(1, Ordering::Relaxed);
    record(number).renew(now, now + LIFE_MS);
    let held = HeldRecord {
        number,
        takes: record(number).takes(),
    };
    (held, record(number).changes.load(Ordering::Acquire))
}

impl Core {
    fn back_watches(&self, me: Me) -> Result<()> {
        let region = self.region();
        if region.has_watches() {
            return Ok(());
        }
        self.back_outside_pages(me, region.geometry().watches().1, || {
            region.back_watches().map_err(no_room)
        })?;
        recompute_overhead(region, me)
    }
}

impl std::fmt::Debug for KeyWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyWatch")
            .field("key", &self.key.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Watches a key, whether or not it exists, for changes by any process.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set(b"config", b"1")?;
    /// let mut watch = table.watch_key(b"config")?;
    /// assert!(!watch.wait(Duration::ZERO)?);
    /// table.set(b"config", b"2")?;
    /// assert!(watch.wait(Duration::from_secs(10))?);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly), because a watch is recorded in the table;
    /// [`Error::Full`](crate::Error::Full) if there is no memory for the records of watches.
    ///
    /// # Concurrency
    /// Without a watcher a write does one load more. With one in its shard it compares eight
    /// records, and wakes the watchers of its key.
    pub fn watch_key(&self, key: impl AsRef<[u8]>) -> Result<KeyWatch> {
        let key = key.as_ref();
        KeyWatch::new(self.lazy.get()?, key)
    }
}
