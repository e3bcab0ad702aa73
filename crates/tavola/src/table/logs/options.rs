//! Options of a log: how it is created and opened.

use super::{Log, Overload};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::{FEWEST_SHEETS, LogGeometry, MOST_SHEETS, SHEET};
use crate::log;
use crate::table::Table;
use crate::table::beside::{self, SideObject};
use std::ffi::OsStr;

/// Options of a log.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-log-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("events");
/// use tavola::{Level, LogOptions, LogText};
///
/// let log = LogOptions::new().open(&path)?;
/// let mut drain = log.drain()?;
/// log.line(Level::Info, "cart 3 is ready")?;
///
/// let mut out = Vec::new();
/// drain.finish(&mut LogText::new(&mut out))?;
/// assert!(String::from_utf8(out)?.ends_with("cart 3 is ready\n"));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogOptions {
    bytes: u64,
    overload: Overload,
    mode: u32,
    group: Option<u32>,
    any_owner: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl LogOptions {
    /// Returns the default options: 4 MiB, and the oldest lines are dropped.
    pub fn new() -> Self {
        Self {
            bytes: 4 << 20,
            overload: Overload::DropOldest,
            mode: 0o600,
            group: None,
            any_owner: false,
        }
    }

    /// Sets the space for lines, 64 KiB to 16 GiB, in buffers of 16 KiB.
    ///
    /// A line takes 24 bytes plus its text, rounded up to 8 bytes, and is in one buffer. Each
    /// thread that writes has its own buffer, so there should be several times as many buffers as
    /// threads. A half-full buffer of a thread that ended, or of a dead process, is reused by
    /// others before any line is dropped, if it has space for the line and for 1 KiB more. So in a
    /// log that drops lines, at most 1 KiB of each full buffer is unused (or less than the longest
    /// line, if that is more), plus the rest of the buffers that threads are using.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets what happens to a line when the log is full.
    pub fn overload(mut self, overload: Overload) -> Self {
        self.overload = overload;
        self
    }

    /// Sets the mode of the log's own file; 0o600 if not set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the group of the file of a log that has one of its own, see
    /// [`Options::group`](crate::Options::group). The mode stays as it is.
    pub fn group(mut self, gid: u32) -> Self {
        self.group = Some(gid);
        self
    }

    /// Allows a file of any owner, see [`Options::any_owner`](crate::Options::any_owner).
    pub fn any_owner(mut self, on: bool) -> Self {
        self.any_owner = on;
        self
    }

    /// Opens a log in its own file, and creates it if it is missing. An existing log keeps its size
    /// and overload policy.
    ///
    /// # Errors
    /// [`Error::NotThere`] if the file of that name is not a log; otherwise as
    /// [`Options::open`](crate::Options::open) and [`LogOptions::create`].
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<Log> {
        beside::open(self, name.as_ref())
    }

    /// Creates a log in its own file. The file is also a table, without space for keys.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; [`Error::BadOption`]; [`Error::Full`] if the file system has no
    /// space for it; otherwise as [`Options::create`](crate::Options::create).
    ///
    /// # Crash
    /// The log appears completely or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<Log> {
        beside::create(self, name.as_ref())
    }

    /// Opens a log in the file of a table, and creates it if it is missing. It counts towards the
    /// table's `max_size`. A table can have 16 logs and queue pools, which stay as long as the
    /// table.
    ///
    /// # Errors
    /// As [`LogOptions::create_in`].
    pub fn open_in(&self, table: &Table, name: &str) -> Result<Log> {
        beside::open_in(self, table, name)
    }

    /// Creates a log in the file of a table.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`]; [`Error::BadOption`]; [`Error::BadName`]; [`Error::ReadOnly`];
    /// [`Error::Full`] if the table has too few adjacent unused pages, or the file system has no
    /// space.
    ///
    /// # Crash
    /// The log appears completely or not at all.
    pub fn create_in(&self, table: &Table, name: &str) -> Result<Log> {
        beside::create_in(self, table, name)
    }

    fn geometry(&self) -> Result<LogGeometry> {
        let sheets = u32::try_from(self.bytes.div_ceil(SHEET)).ok();
        let made = sheets.and_then(|sheets| LogGeometry::new(sheets, self.overload.code()));
        made.ok_or_else(|| Error::BadOption {
            option: "bytes",
            why: format!(
                "{} is not between {} and {}",
                self.bytes,
                u64::from(FEWEST_SHEETS) * SHEET,
                u64::from(MOST_SHEETS) * SHEET
            ),
        })
    }
}

impl Log {
    /// Opens an existing log in its own file.
    ///
    /// # Errors
    /// As [`Options::open_existing`](crate::Options::open_existing); [`Error::NotThere`] if the
    /// file is not a log.
    pub fn open(name: impl AsRef<OsStr>) -> Result<Log> {
        beside::open_existing::<LogOptions>(name.as_ref())
    }
}

impl SideObject for LogOptions {
    type Made = Log;

    fn len(&self) -> Result<u64> {
        Ok(self.geometry()?.len)
    }

    fn mode(&self) -> u32 {
        self.mode
    }

    fn group(&self) -> Option<u32> {
        self.group
    }

    fn any_owner(&self) -> bool {
        self.any_owner
    }

    fn build(&self, core: &Core, name: &str) -> Result<()> {
        let geometry = self.geometry()?;
        log::create(core.region(), core.writer()?, name.as_bytes(), &geometry)
    }

    fn find(table: &Table, name: &str) -> Result<Log> {
        Log::find(table, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bounded_and_rounded_up() {
        let sheets = |bytes| LogOptions::new().bytes(bytes).geometry().map(|g| g.sheets);
        assert_eq!(sheets(4 << 20).unwrap(), 256);
        assert_eq!(sheets((64 << 10) + 1).unwrap(), 5);
        assert!(sheets(48 << 10).is_err() && sheets(u64::MAX).is_err());
    }
}
