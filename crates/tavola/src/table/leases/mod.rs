//! Leases: if many processes miss a value at the same time, one of them computes it.
//!
//! A lease is a record under the lock of the key's shard (`engine/claims.rs`). A hit needs none of
//! that: it is an ordinary read.
//!
//! ```text
//! a read, without a lock ──▶ exists, fresh ──────────────────────────────▶ Hit
//!        │                                          │ now and then, before it is stale (XFetch)
//!        ├─▶ exists, stale ─▶ another has the lease ─────────────────────▶ Stale { lease: None }
//!        │                    none has it: win it ───────────────────────▶ Stale { lease: Some }
//!        └─▶ missing ───────▶ another has the lease ──▶ sleep, read again ▶ Wait
//!                             computing it failed a moment ago ──────────▶ Failed
//!                             none has it: win it ──▶ compute ──▶ fill ──▶ Won
//! ```
//!
//! **LEASE-1** Of the leases in records, at most one for each key belongs to a living process and
//! is within its time: records are changed under the shard's lock, and taken only if they are over
//! or their owner is known to be dead.
//!
//! **LEASE-2** A lease is won only if the key is, under the lock, as it was read without the lock.
//! So a process that was slow does not compute what another has just stored.
//!
//! **LEASE-3** A computed value is stored only if the lease is still its owner's, and the key is as
//! it was: missing, or with the same expiry. Removing a key, or changing its value but not its
//! expiry (`end_of_changed`), ends the lease. If a missing key was set, and has expired or been
//! evicted since, that is not noticed, as it is missing again.

mod lease;
mod options;

pub use lease::{Lease, Pending};
pub use options::LeaseOptions;

use super::Table;
use crate::alloc::Tags;
use crate::engine::{Core, HashedKey, Tries, record_of};
use crate::error::{BoxError, Error, Result};
use crate::index::locate::{Stamped, Value};
use crate::layout::LeaseView;
use crate::lock::is_alive;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

/// The value of a key, or what to do to get it; from [`Table::get_or_lease`].
#[must_use = "a lease may be in it, for which others wait"]
#[derive(Debug)]
pub enum Leased {
    /// The fresh value.
    Hit(Vec<u8>),
    /// The stale value, or one that will soon be stale (see [`LeaseOptions::early`]).
    Stale {
        /// The value, which may still be served.
        value: Vec<u8>,
        /// The lease if the caller is to compute the value again. `None` if another process does,
        /// or has just failed to.
        lease: Option<Lease>,
    },
    /// There is no value; the caller computes it.
    Won(Lease),
    /// There is no value yet; another process or thread is computing it.
    Wait(Pending),
    /// There is no value; the last attempt to compute it failed.
    Failed {
        /// The reported error.
        error: Vec<u8>,
        /// The time until the lease is available again.
        retry: Duration,
    },
}

/// A value that exists, and what is known of it.
struct ExistingValue {
    value: Vec<u8>,
    flags: u32,
    expiry_ms: u64,
    is_fresh: bool,
}

impl ExistingValue {
    /// Returns the result for a caller that does not compute the value.
    fn served(self) -> Outcome {
        let leased = match self.is_fresh {
            true => Leased::Hit(self.value),
            false => Leased::Stale {
                value: self.value,
                lease: None,
            },
        };
        (leased, self.flags)
    }
}

/// A call for a key.
struct Asking<'a> {
    core: &'a Arc<Core>,
    named: HashedKey<'a>,
    options: LeaseOptions,
}

/// What a caller gets, and the flags of the value in it, or 0.
type Outcome = (Leased, u32);

/// What a read of the key finds.
enum Found {
    /// The result: the value need not be computed.
    Fresh(Outcome),
    Stale(ExistingValue),
    Missing,
}

/// The number of a record, and its contents.
type RecordContent = Option<(u32, LeaseView)>;

impl Asking<'_> {
    fn outcome(&self) -> Result<Outcome> {
        let mut tries = Tries::new();
        loop {
            // The time is read before the key, see `Item::is_expired`.
            let now = self.core.region().now_ms();
            let there = match self.read(now)? {
                Found::Fresh(outcome) => return Ok(outcome),
                Found::Stale(there) => Some(there),
                Found::Missing => None,
            };
            let record = record_of(self.core.region(), self.named, now);
            let seen = (
                there.as_ref().map(|there| there.expiry_ms),
                record.map(|(number, view)| (number, view.word)),
            );
            let outcome = match there {
                Some(there) => self.of_stale(there, record, now)?,
                None => self.of_missing(record, now)?.map(|leased| (leased, 0)),
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            tries.fail(seen)?;
        }
    }

    /// Reads the key.
    fn read(&self, now_ms: u64) -> Result<Found> {
        let mut found = Stamped::of(Value::default());
        let (key, hash) = (self.named.key, self.named.hash);
        if !self.core.read(key, hash, &mut found)? {
            return Ok(Found::Missing);
        }
        let fresh_ms = self.options.fresh_ms(&found.shown, now_ms);
        let (value, is_fresh) = (found.value.into_vec(), fresh_ms > 0);
        if is_fresh && !self.options.is_early(&found.shown, fresh_ms) {
            return Ok(Found::Fresh((Leased::Hit(value), found.shown.client)));
        }
        Ok(Found::Stale(ExistingValue {
            value,
            flags: found.shown.client,
            expiry_ms: found.shown.expiry_ms,
            is_fresh,
        }))
    }

    fn lives(&self, owner: u32) -> bool {
        is_alive(self.core.region(), owner, self.core.participant())
    }

    /// Wins the lease, if it is available.
    fn win(&self, expiry_ms: Option<u64>) -> Result<Option<Lease>> {
        let (core, options) = (self.core, self.options);
        let claim = core.win(core.writer()?, self.named, expiry_ms, options.lease_ms())?;
        claim
            .map(|claim| Lease::new(core, self.named.key, claim, options))
            .transpose()
    }

    /// Returns the result for a stale value, or `None` if the caller must read again.
    fn of_stale(
        &self,
        there: ExistingValue,
        record: RecordContent,
        now_ms: u64,
    ) -> Result<Option<Outcome>> {
        let is_anothers = record.is_some_and(|(number, view)| {
            let is_due = || {
                let shard = self.named.hash.shard();
                self.core.owner_checks.is_due(shard, number, now_ms)
            };
            view.owner()
                .is_none_or(|owner| !is_due() || self.lives(owner))
        });
        if is_anothers || !self.core.region().is_writable() {
            return Ok(Some(there.served()));
        }
        let lease = self.win(Some(there.expiry_ms))?;
        Ok(lease.map(|lease| {
            let (value, lease) = (there.value, Some(lease));
            (Leased::Stale { value, lease }, there.flags)
        }))
    }

    /// Returns the result for a missing value, or `None` if the caller must read again.
    fn of_missing(&self, record: RecordContent, now_ms: u64) -> Result<Option<Leased>> {
        let Some((number, view)) = record else {
            return Ok(self.win(None)?.map(Leased::Won));
        };
        Ok(match view.owner() {
            None => Some(Leased::Failed {
                error: view.error(),
                retry: Duration::from_millis(view.left_ms(now_ms)),
            }),
            Some(owner) if self.lives(owner) => {
                let key = self.named.key;
                Some(Leased::Wait(Pending::new(self.core, key, number, &view)))
            }
            Some(_) => self.win(None)?.map(Leased::Won),
        })
    }
}

/// Why [`Table::get_or_compute`] has no value.
enum ComputeError {
    Table(Error),
    Compute(BoxError),
}

impl From<Error> for ComputeError {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

/// Prints the sentence that other callers get.
impl Display for ComputeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(error) => error.fmt(f),
            Self::Compute(error) => error.fmt(f),
        }
    }
}

/// Computes the value of a leased key, and stores it for all callers.
fn compute<E: From<Error> + Display>(
    lease: Lease,
    options: &LeaseOptions,
    tags: &Tags,
    compute: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let value = match compute() {
        Ok(value) => value,
        Err(error) => {
            // If the failure cannot be recorded now, others try again at once.
            let _ = lease.fail(options.pause(), error.to_string().as_bytes());
            return Err(error);
        }
    };
    match lease.fill_tagged(&value, tags) {
        Ok(_) | Err(Error::Full { .. } | Error::TooLarge { .. }) => Ok(value),
        Err(error) => Err(error.into()),
    }
}

impl Table {
    /// Returns the value of a key, or the lease to compute it. If several threads or processes ask
    /// for a missing key, one of them gets the lease. The others wait, or use the stale value if
    /// there is one.
    ///
    /// A value stored by [`Lease::fill`] expires after its fresh and stale times. A value that was
    /// set in another way is stale when its remaining TTL is at most [`LeaseOptions::stale`], and
    /// fresh if it does not expire. Removing or changing a key ([`Table::update`] and others) also
    /// ends its lease, so a value computed from older data is not stored.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use std::time::Duration;
    /// use tavola::{LeaseOptions, Leased};
    /// let options = LeaseOptions::new(Duration::from_secs(60)).stale(Duration::from_secs(600));
    /// let page = loop {
    ///     match table.get_or_lease(b"page", options)? {
    ///         Leased::Hit(value) | Leased::Stale { value, lease: None } => break value,
    ///         Leased::Stale { lease: Some(lease), .. } | Leased::Won(lease) => {
    ///             let value = b"<p>what takes long</p>".to_vec();
    ///             lease.fill(&value)?;
    ///             break value;
    ///         }
    ///         Leased::Wait(pending) => drop(pending.wait(Duration::from_secs(1))?),
    ///         Leased::Failed { retry, .. } => std::thread::sleep(retry),
    ///     }
    /// };
    /// let again = table.get_or_lease(b"page", options)?;
    /// assert!(matches!(again, Leased::Hit(value) if value == page));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]. [`Error::BadOption`], also in a table of fixed lengths, which stores no
    /// TTL. When a lease is needed: [`Error::ReadOnly`]; [`Error::Full`] if the file system has no
    /// space for the first lease of a table; at the first write of a process, the errors of
    /// attaching.
    ///
    /// # Concurrency
    /// A hit takes no lock and writes nothing, and neither does a call that finds the lease in use.
    /// Each shard has records for 16 leases and failures; if all are in use by living owners, a
    /// lease is granted without a record ([`Lease::is_recorded`]).
    ///
    /// # Crash
    /// The next process that asks gets the lease of a dead process. [`Pending::wait`] notices the
    /// death within about 10 ms.
    pub fn get_or_lease(&self, key: impl AsRef<[u8]>, options: LeaseOptions) -> Result<Leased> {
        let key = key.as_ref();
        Ok(self.get_or_lease_with_flags(key, options)?.0)
    }

    /// Does the same as [`Table::get_or_lease`], and also returns the flags of the value, or 0 if
    /// there is no value. With [`LeaseOptions::early`], their low 16 bits hold how long the value
    /// took to compute.
    ///
    /// # Errors
    /// As [`Table::get_or_lease`].
    ///
    /// # Concurrency
    /// As [`Table::get_or_lease`].
    ///
    /// # Crash
    /// As [`Table::get_or_lease`].
    pub fn get_or_lease_with_flags(
        &self,
        key: impl AsRef<[u8]>,
        options: LeaseOptions,
    ) -> Result<(Leased, u32)> {
        let key = key.as_ref();
        let core = self.lazy.get()?;
        options.check(core.region())?;
        let asking = Asking {
            core,
            named: HashedKey::of(core.region(), key),
            options,
        };
        asking.outcome()
    }

    /// Returns the value of a key, and computes it if it is missing or stale. If several processes
    /// ask, one of them computes it; the others sleep meanwhile, or get the stale value. See
    /// [`Table::get_or_lease`].
    ///
    /// A value that cannot be stored, because the table is full or computing took longer than the
    /// lease, is returned anyway.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use std::time::Duration;
    /// let minute = tavola::LeaseOptions::new(Duration::from_secs(60));
    /// let hosts = || Ok(std::fs::read("/etc/hosts")?);
    /// let value = table.get_or_compute("hosts", minute, hosts)?;
    /// assert_eq!(table.get("hosts")?, Some(value));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Compute`] with the error of `compute`, which may be any, in the process that
    /// computes. The others get [`Error::NotComputed`] for [`LeaseOptions::back_off`], or the stale
    /// value if there is one. Otherwise as [`Table::get_or_lease`]; a table without room for leases
    /// computes without one.
    ///
    /// # Concurrency
    /// `compute` runs outside any lock. A process waits as long as others compute: each for its
    /// lease at most.
    ///
    /// # Panics
    /// If `compute` panics, the lease is given up.
    ///
    /// # Crash
    /// If a process is killed in `compute`, another computes.
    pub fn get_or_compute<V: Into<Vec<u8>>>(
        &self,
        key: impl AsRef<[u8]>,
        options: LeaseOptions,
        compute: impl FnOnce() -> Result<V, BoxError>,
    ) -> Result<Vec<u8>> {
        self.get_or_compute_tagged(key, options, &[] as &[&[u8]], compute)
    }

    /// Returns or computes a value as [`Table::get_or_compute`], and stores it with tags, see
    /// [`Table::set_tagged`]. The tags are fetched before the value is computed: if a tag is
    /// invalidated meanwhile, the value is returned, but the next caller finds it missing.
    ///
    /// # Errors
    /// As [`Table::get_or_compute`] and [`Table::fetch_tags`].
    ///
    /// # Crash
    /// As [`Table::get_or_compute`].
    pub fn get_or_compute_tagged<V: Into<Vec<u8>>>(
        &self,
        key: impl AsRef<[u8]>,
        options: LeaseOptions,
        tags: &[impl AsRef<[u8]>],
        compute: impl FnOnce() -> Result<V, BoxError>,
    ) -> Result<Vec<u8>> {
        let compute = || compute().map_err(ComputeError::Compute);
        let outcome = self.try_get_or_compute(key, options, tags, compute);
        outcome.map_err(|stopped| match stopped {
            ComputeError::Table(error) => error,
            ComputeError::Compute(source) => Error::Compute { source },
        })
    }

    /// Returns or computes a value as [`Table::get_or_compute_tagged`], with the error type of the
    /// caller.
    ///
    /// # Errors
    /// Those of `compute`, as they are; the others as [`Table::get_or_compute_tagged`].
    ///
    /// # Crash
    /// As [`Table::get_or_compute`].
    pub fn try_get_or_compute<V: Into<Vec<u8>>, E: From<Error> + Display>(
        &self,
        key: impl AsRef<[u8]>,
        options: LeaseOptions,
        tags: &[impl AsRef<[u8]>],
        compute: impl FnOnce() -> Result<V, E>,
    ) -> Result<Vec<u8>, E> {
        let (key, compute) = (key.as_ref(), || Ok(compute()?.into()));
        loop {
            match self.get_or_lease(key, options) {
                Ok(Leased::Hit(value) | Leased::Stale { value, lease: None }) => return Ok(value),
                Ok(
                    Leased::Won(lease)
                    | Leased::Stale {
                        lease: Some(lease), ..
                    },
                ) => {
                    return match self.fetch_tags(tags) {
                        Ok(tags) => self::compute(lease, &options, &tags, compute),
                        Err(Error::Full { .. }) => compute(),
                        Err(error) => Err(error.into()),
                    };
                }
                Ok(Leased::Wait(pending)) => drop(pending.wait(pending.left())?),
                Ok(Leased::Failed { error, retry }) => {
                    let why = String::from_utf8_lossy(&error).into_owned();
                    return Err(Error::NotComputed { why, retry }.into());
                }
                Err(Error::Full { .. }) => return compute(),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
