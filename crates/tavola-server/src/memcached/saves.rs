//! The counts of a table's saves, for `stats`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// The saves of a table to a file. The program around the server makes them; `stats` reports them.
#[derive(Debug)]
pub struct Saves {
    path: PathBuf,
    /// The time of the last save in seconds since 1970, or 0 before the first.
    last_s: AtomicU64,
    keys: AtomicU64,
    failures: AtomicU64,
}

impl Saves {
    /// Returns counts of zero for saves to the file `path`.
    pub fn new(path: &Path) -> Saves {
        Saves {
            path: path.to_path_buf(),
            last_s: AtomicU64::new(0),
            keys: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// Counts a save that has ended now, with `keys` keys.
    pub fn saved(&self, keys: u64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.keys.store(keys, Relaxed);
        self.last_s
            .store(now.map_or(0, |now| now.as_secs()), Relaxed);
    }

    /// Counts a save that has failed.
    pub fn failed(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time of the last save, its number of keys, and how many saves have failed.
    pub(super) fn figures(&self) -> [u64; 3] {
        [&self.last_s, &self.keys, &self.failures].map(|figure| figure.load(Relaxed))
    }
}
