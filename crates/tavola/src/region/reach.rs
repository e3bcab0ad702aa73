//! A region of which this process maps only a part, as it may not map all of it. Such a process
//! gets no lock before its mapping covers all pages in use.
//!
//! The usual mapping is as long as the room, the most that `max_size` can be raised to. If that
//! fails (`ulimit -v`, a checker with addresses of its own, thousands of tables), the mapping
//! covers the pages in use and some more. It is extended in place when the high-water mark comes
//! near its end, and never moves.
//!
//! An unmapped page below the high-water mark must not be taken for damage. What the holder of a
//! lock follows lies below the high-water mark that it loads after it got the lock
//! ([`Region::reaches_high_water`]), and only the holder of the pool's lock raises the mark.
//! Readers have no lock, so they check when they find damage ([`Region::damaged`]).

use super::{Backing, Region};
use crate::error::{Error, Result};
use crate::layout::PAGE;
use crate::sync::Ordering;
use crate::sys;
use std::io;
use std::path::Path;

impl Region {
    /// Returns how many pages are mapped, used or not.
    #[inline(always)]
    pub(crate) fn mapped_pages(&self) -> u32 {
        (self.len.load(Ordering::Relaxed) / PAGE) as u32
    }

    /// Extends the mapping to the high-water mark if necessary. Returns whether it covers that.
    #[inline(always)]
    pub(crate) fn reaches_high_water(&self) -> bool {
        self.len.load(Ordering::Relaxed) == self.geometry.room || self.extend_to_high_water()
    }

    #[cold]
    fn extend_to_high_water(&self) -> bool {
        self.maps(self.used_end())
    }

    /// Extends the mapping to that page if necessary. Returns whether it covers all pages below it.
    #[inline(always)]
    pub(crate) fn maps(&self, pages: u32) -> bool {
        pages <= self.mapped_pages() || self.extend(pages)
    }

    #[cold]
    fn extend(&self, pages: u32) -> bool {
        let Backing::File { mapping, file } = &self.backing else {
            return false;
        };
        let wanted = u64::from(pages) * PAGE;
        let is_long = file.with(|fd| Ok(mapping.extend(fd, wanted as usize)));
        let len = (mapping.len() as u64).min(self.geometry.room);
        // Never lower: another thread may hold a lock because everything was mapped.
        let mut seen = self.len.load(Ordering::Relaxed);
        while seen < len {
            match self.len.cas(seen, len, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        is_long.is_ok_and(|is_long| is_long)
    }

    /// Returns the error of a process that cannot map all pages in use.
    #[cold]
    pub(crate) fn out_of_reach(&self) -> Error {
        let path = self
            .file()
            .map_or(Path::new("a private table"), |file| file.path());
        cannot_map(path, self.geometry.room, libc::ENOMEM)
    }

    /// Returns the error of a reader that found bytes that make no sense.
    #[cold]
    pub(crate) fn damaged<T>(&self, what: &'static str) -> Result<T> {
        if self.reaches_high_water() {
            return crate::error::corrupt(what);
        }
        Err(self.out_of_reach())
    }

    /// Sets whether the table's bytes are part of core dumps of this process.
    pub(crate) fn set_in_core_dumps(&self, are: bool) -> io::Result<()> {
        match &self.backing {
            Backing::File { mapping, .. } => mapping.set_in_core_dumps(are),
            Backing::Heap { .. } => Ok(()),
        }
    }
}

/// Returns why this process cannot map a table, and what helps.
pub(super) fn cannot_map(path: &Path, room: u64, errno: i32) -> Error {
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    let cause = match (sys::process::address_limit(), errno) {
        (_, libc::EAGAIN) => {
            "it locks its memory (mlockall), and ulimit -l allows less".to_string()
        }
        (Some(limit), _) => format!("ulimit -v allows it {} of address space", gib(limit)),
        (None, _) => "it has no address space left".to_string(),
    };
    let advice = format!(
        "the table may grow to {}, and this process cannot map the part in use: {cause}; raise \
        the limit, open fewer tables, or create the table with a smaller --max-size",
        gib(room)
    );
    Error::Io {
        op: "mapping the table",
        path: path.to_path_buf(),
        source: io::Error::new(io::ErrorKind::OutOfMemory, advice),
    }
}
