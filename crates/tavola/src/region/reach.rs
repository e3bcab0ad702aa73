//! A region of which this process maps only a part, as it may not map all of it.
//!
//! The usual mapping is as long as the room, the most that `max_size` can be raised to. If that
//! fails (`ulimit -v`, a checker with addresses of its own, thousands of tables), the mapping
//! covers the pages in use and some more, and is extended in place when the high_water comes near
//! its end. It never moves.
//!
//! Pages below the high_water that are not mapped must not be taken for damage. So a process that
//! cannot map all pages below the high_water gets no lock: what the holder follows lies below the
//! high_water that it sees after it got the lock ([`Region::reaches_high_water`]), and only the
//! holder of the pool's lock moves the high_water. Readers, who have no lock, ask when they find
//! damage ([`Region::damaged`]).

use super::{Backing, Region};
use crate::error::{Error, Result};
use crate::layout::PAGE;
use crate::sync::Ordering;
use crate::sys;
use std::io;
use std::path::Path;

impl Region {
    /// Pages that are mapped, used or not.
    #[inline(always)]
    pub(crate) fn mapped_pages(&self) -> u32 {
        (self.len.load(Ordering::Relaxed) / PAGE) as u32
    }

    /// Whether all pages below the high_water are mapped, which is tried to bring about.
    #[inline(always)]
    pub(crate) fn reaches_high_water(&self) -> bool {
        self.len.load(Ordering::Relaxed) == self.geometry.room || self.extend_to_high_water()
    }

    #[cold]
    fn extend_to_high_water(&self) -> bool {
        self.maps(self.used_end())
    }

    /// Whether all pages below that number are mapped, which is tried to bring about.
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
        // Never lower: somebody may hold a lock because all was in reach.
        let mut seen = self.len.load(Ordering::Relaxed);
        while seen < len {
            match self.len.cas(seen, len, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        is_long.is_ok_and(|is_long| is_long)
    }

    /// The error of a process that cannot map all pages in use.
    #[cold]
    pub(crate) fn out_of_reach(&self) -> Error {
        let path = self
            .file()
            .map_or(Path::new("a private table"), |file| file.path());
        cannot_map(path, self.geometry.room, libc::ENOMEM)
    }

    /// The error of a reader who found something that makes no sense.
    #[cold]
    pub(crate) fn damaged<T>(&self, what: &'static str) -> Result<T> {
        if self.reaches_high_water() {
            return crate::error::corrupt(what);
        }
        Err(self.out_of_reach())
    }

    /// Whether the table's bytes are part of core dumps of this process.
    pub(crate) fn set_in_core_dumps(&self, are: bool) -> io::Result<()> {
        match &self.backing {
            Backing::File { mapping, .. } => mapping.set_in_core_dumps(are),
            Backing::Heap { .. } => Ok(()),
        }
    }
}

/// Why a table cannot be mapped by this process, and what helps.
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
