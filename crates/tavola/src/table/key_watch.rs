//! Waiting until a key changes.
//!
//! A watcher has a record of the key's shard (`layout/watch.rs`), which it takes and renews under
//! the shard's lock. A write that sees that keys of the shard are watched counts in the records of
//! its key, and wakes those who sleep on the count.
//!
//! **W1 No change is missed as long as the record is the watcher's.** Whoever locks the shard after
//! the record was taken sees `watched`, and counts behind its change. So a count that is still the
//! same, under the lock, says that no write has ended since it was noted. A write that died before
//! it counted leaves the lock, and whoever takes that over counts in all records.
//!
//! **W2 A record that was lost is noticed.** It is the watcher's if it is in use, for the same key,
//! and taken as often as before. Time runs out before it is taken again or `watched` becomes 0, all
//! under the lock. A watcher that has lost it compares what the key has with what it had.

use super::Table;
use crate::alloc::recompute_overhead;
use crate::engine::Core;
use crate::error::Result;
use crate::index::{Hash, Stamped, Value, read_seated};
use crate::layout::{WATCHES, WatchRecord};
use crate::lock::{Me, ShardLock, sleep};
use crate::region::{Region, no_room};
use crate::sync::{Ordering, fence};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a record stays in use without being renewed.
const LIFE_MS: u64 = 30_000;
/// How long a watcher sleeps before it renews its record. It then also takes over the lock of a
/// process that died while it changed a key.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A record, as a watcher knows it.
#[derive(Clone, Copy)]
struct Held {
    number: u32,
    takes: u32,
}

/// What a key has: its token, or none if it is missing, and when it expires.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    token: Option<crate::CasToken>,
    expiry_ms: u64,
}

/// Waits for changes of one key; from [`Table::watch_key`].
pub struct KeyWatch {
    core: Arc<Core>,
    key: Vec<u8>,
    hash: Hash,
    held: Held,
    /// Its count of changes when the key was last looked at.
    count: u32,
    state: State,
}

impl KeyWatch {
    fn new(core: &Arc<Core>, key: &[u8]) -> Result<Self> {
        let mut watch = Self {
            core: Arc::clone(core),
            key: key.to_vec(),
            hash: Hash::of(core.region(), key),
            held: Held {
                number: WATCHES,
                takes: 0,
            },
            count: 0,
            state: State {
                token: None,
                expiry_ms: 0,
            },
        };
        let me = core.writer()?;
        core.back_watches(me)?;
        (_, watch.count) = watch.renew(me)?;
        watch.state = watch.look()?;
        Ok(watch)
    }

    /// Makes sure that the watcher has a record. Returns whether it is the one that it had, and the
    /// record's count.
    fn renew(&mut self, me: Me) -> Result<(bool, u32)> {
        let (hash, had) = (self.hash, self.held);
        let (held, count) = self
            .core
            .locked(hash.shard(), me, |lock| Ok(hold(lock, hash, had)))?;
        self.held = held;
        // Pairs with the fence of who removes a tag without this shard's lock: it sees that the
        // key is watched, or we see that the tag is gone.
        fence(Ordering::SeqCst);
        let is_same = (held.number, held.takes) == (had.number, had.takes);
        Ok((is_same, count))
    }

    /// What the key has now. A cache does not count this as a use of the key.
    fn look(&self) -> Result<State> {
        let mut found = Stamped::of(Value::default());
        let core = &*self.core;
        let is_there = read_seated(core.region(), &self.key, self.hash, &mut found, core)?;
        Ok(State {
            token: is_there.then(|| core.token(found.told.version, &found.value.into_vec())),
            expiry_ms: if is_there { found.told.expiry_ms } else { 0 },
        })
    }

    fn has_expired(&self) -> bool {
        let expiry_ms = self.state.expiry_ms;
        expiry_ms != 0 && self.core.region().now_ms() >= expiry_ms
    }

    /// Whether the key has changed since it was last looked at. Looks at it if it may have.
    fn has_changed(&mut self, me: Me) -> Result<bool> {
        let (is_same, count) = self.renew(me)?;
        let is_told = is_same && self.held.number < WATCHES && count != self.count;
        if is_same && count == self.count && !self.has_expired() {
            return Ok(false);
        }
        // The count first: what changes after this look counts once more.
        self.count = count;
        let state = self.look()?;
        let is_other = state != self.state;
        self.state = state;
        Ok(is_told || is_other)
    }

    fn record(&self) -> &WatchRecord {
        let region: &Region = self.core.region();
        region.watch(self.hash.shard(), self.held.number)
    }

    /// How long to sleep at most: until the record is to be renewed, or the key expires.
    fn longest_sleep(&self) -> Duration {
        let left = match self.state.expiry_ms {
            0 => return LONGEST_SLEEP,
            at => at.saturating_sub(self.core.region().now_ms()),
        };
        // A millisecond more: the clock goes by ticks.
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

/// Keeps the record that a watcher had, or takes one for the key, and says its count.
fn hold(lock: &ShardLock<'_>, hash: Hash, had: Held) -> (Held, u32) {
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
    // First: a record that is in use is seen.
    lock.head.watched.store(1, Ordering::Relaxed);
    record(number).renew(now, now + LIFE_MS);
    let held = Held {
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
