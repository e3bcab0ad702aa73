//! How a log is made and opened.

use super::Log;
use crate::error::{Error, Result};
use crate::layout::{
    BLOCK, DROP_NEWEST, DROP_OLDEST, FEWEST_SHEETS, LogGeometry, MOST_SHEETS, SHEET,
};
use crate::log;
use crate::table::Table;
use crate::table::beside::{self, Beside};
use crate::table::core::Core;
use std::ffi::OsStr;

/// What happens when a line finds no room: every piece of the log that is in no living thread's
/// hand is full of lines that no drain has written out, be it that the drain is too slow or that
/// there is none. Each line that is lost is counted ([`Log::dropped`](super::Log::dropped)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// The oldest lines are overwritten, a piece of 16 KiB at a time: of those pieces that are
    /// looked at the one whose last line is oldest. The last lines stay.
    DropOldest,
    /// The new line is not written. The first lines stay, until a drain has written them out.
    DropNewest,
    /// The writer waits for the drain, as long as it lives. Without one it is as with
    /// [`Overload::DropNewest`].
    Block,
}

impl Overload {
    pub(super) fn code(self) -> u32 {
        match self {
            Self::DropOldest => DROP_OLDEST,
            Self::DropNewest => DROP_NEWEST,
            Self::Block => BLOCK,
        }
    }

    /// A log of another is not opened.
    pub(super) fn of(code: u32) -> Self {
        match code {
            DROP_OLDEST => Self::DropOldest,
            DROP_NEWEST => Self::DropNewest,
            _ => Self::Block,
        }
    }
}

/// What a log is made with.
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
    any_owner: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl LogOptions {
    /// A log of 4 MiB, that drops its oldest lines.
    pub fn new() -> Self {
        Self {
            bytes: 4 << 20,
            overload: Overload::DropOldest,
            mode: 0o600,
            any_owner: false,
        }
    }

    /// Room for lines, 64 KiB to 16 GiB, in whole pieces of 16 KiB.
    ///
    /// A line takes 24 bytes and its text, in whole words of 8 bytes, and stands on one piece. Each
    /// thread that writes has one piece in hand, on which no other thread writes; so there should
    /// be several times as many pieces as threads. A piece that is given up half-full, by a thread
    /// that ends or a process that dies, is written on by others before any line is dropped, as
    /// long as it has room for the line and for 1 KiB. So of a log that drops lines at most 1 KiB
    /// of each full piece is empty (or less than the longest line, if that is more), and what is
    /// left on the pieces that threads have in hand.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// What happens when a line finds no room.
    pub fn overload(mut self, overload: Overload) -> Self {
        self.overload = overload;
        self
    }

    /// The mode of the file of a log that has one of its own; 0o600 when not set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Opens a file of any owner, see [`Options::any_owner`](crate::Options::any_owner).
    pub fn any_owner(mut self, on: bool) -> Self {
        self.any_owner = on;
        self
    }

    /// Opens a log in a file of its own, making it when it is not there. An existing one keeps its
    /// own size, and what it does when it is full.
    ///
    /// # Errors
    /// [`Error::NotThere`] when there is a table of that name which is no log's; else as
    /// [`Options::open`](crate::Options::open) and [`LogOptions::create`].
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<Log> {
        beside::open(self, name.as_ref())
    }

    /// Makes a log in a file of its own, which is a table as well, without room for keys.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; [`Error::BadOption`]; [`Error::Full`] when the file system has no
    /// room for it; else as [`Options::create`](crate::Options::create).
    ///
    /// # Crash
    /// The log appears whole or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<Log> {
        beside::create(self, name.as_ref())
    }

    /// Opens a log beside a table, in its file and within its `max_size`, making it when it is not
    /// there. There can be 16 logs and queue pools, and each stays as long as the table.
    ///
    /// # Errors
    /// As [`LogOptions::create_in`].
    pub fn open_in(&self, table: &Table, name: &str) -> Result<Log> {
        beside::open_in(self, table, name)
    }

    /// Makes a log beside a table.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`]; [`Error::BadOption`]; [`Error::BadName`]; [`Error::ReadOnly`];
    /// [`Error::Full`] when the table has no such stretch of pages that were never used, or the
    /// file system no room.
    ///
    /// # Crash
    /// As for queue pools: it appears whole or not at all.
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

impl Beside for LogOptions {
    type Made = Log;

    fn len(&self) -> Result<u64> {
        Ok(self.geometry()?.len)
    }

    fn mode(&self) -> u32 {
        self.mode
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
