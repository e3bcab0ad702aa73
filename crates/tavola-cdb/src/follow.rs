//! Open files that follow a replaced one.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::error::Result;

/// An open file that can open what has its name now.
pub trait Reopen: Sized {
    /// Opens the file that has the name now. Returns `None` if it is the one that is open.
    ///
    /// # Errors
    /// If the new file cannot be opened.
    fn reopened(&self) -> Result<Option<Self>>;
}

/// How often [`Followed`] looks at the name, unless it is made otherwise.
const INTERVAL: Duration = Duration::from_secs(1);

/// An open file that follows a replaced one: it looks at the name once a second, when it is used.
///
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-follow-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("people.cdb");
/// # tavola_cdb::Writer::create(&path)?.finish()?;
/// use tavola_cdb::{Cdb, Followed};
///
/// let people = Followed::new(Cdb::open(&path)?);
/// let now = people.current()?;
/// assert_eq!(now.get("alice")?, None);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Followed<T> {
    open: RwLock<Arc<T>>,
    interval: Duration,
    since: Instant,
    /// When the name is looked at next, in nanoseconds from `since` on.
    next_ns: AtomicU64,
}

impl<T: Reopen> Followed<T> {
    /// Follows an open file.
    pub fn new(open: T) -> Followed<T> {
        Followed::every(open, INTERVAL)
    }

    /// Follows an open file, and looks at its name at most once in this time.
    pub fn every(open: T, interval: Duration) -> Followed<T> {
        Followed {
            open: RwLock::new(Arc::new(open)),
            interval,
            since: Instant::now(),
            next_ns: AtomicU64::new(interval.as_nanos() as u64),
        }
    }

    /// Returns the file as it was when the name was looked at last. Keep it as long as one view of
    /// the file is needed: it stays readable when another one has the name.
    ///
    /// # Errors
    /// If the file has another one in its place, and that cannot be opened. The next call returns
    /// the old file, until the interval is over again.
    pub fn current(&self) -> Result<Arc<T>> {
        let now_ns = self.since.elapsed().as_nanos() as u64;
        let next_ns = self.next_ns.load(Relaxed);
        let after_ns = now_ns.saturating_add(self.interval.as_nanos() as u64);
        let is_due = now_ns >= next_ns
            && self
                .next_ns
                .compare_exchange(next_ns, after_ns, Relaxed, Relaxed)
                .is_ok();
        let open = Arc::clone(&self.open.read().unwrap_or_else(PoisonError::into_inner));
        if !is_due {
            return Ok(open);
        }
        Ok(self.renewed(&open)?.unwrap_or(open))
    }

    /// Looks at the name now. Returns whether another file has it.
    ///
    /// # Errors
    /// If the new file cannot be opened; the old one stays open then.
    pub fn refresh(&self) -> Result<bool> {
        let open = Arc::clone(&self.open.read().unwrap_or_else(PoisonError::into_inner));
        Ok(self.renewed(&open)?.is_some())
    }

    /// Opens what has the name now, and keeps it, if that is another file.
    fn renewed(&self, open: &T) -> Result<Option<Arc<T>>> {
        let Some(newer) = open.reopened()? else {
            return Ok(None);
        };
        let newer = Arc::new(newer);
        let mut slot = self.open.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::clone(&newer);
        Ok(Some(newer))
    }
}

/// Opens a file of this type, to follow it.
impl Followed<crate::Cdb> {
    /// Opens a cdb file to follow it.
    ///
    /// # Errors
    /// As [`Cdb::open`](crate::Cdb::open).
    pub fn open(path: impl AsRef<Path>) -> Result<Followed<crate::Cdb>> {
        crate::Cdb::open(path).map(Followed::new)
    }
}
