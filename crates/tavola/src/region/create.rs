//! Making and opening the file of a table. A new table is written completely before its file gets a
//! name, so no process ever opens a half-made one.
//!
//! The file has no name at first and is then linked to its name. A creator that is killed half-way
//! leaves nothing behind; of many creators at the same instant one wins, and the others open what
//! it made. If the file system has no unnamed files, the file has a temporary name instead; the
//! next creator removes a stale one.

use super::cause::explained;
use super::location::{Location, kind_of};
use super::reach::cannot_map;
use super::{NameState, Region, refused};
use crate::error::{Error, Result};
use crate::layout::{FORMAT, FORMAT_1, Geometry, MAGIC, PAGE, Pool, Superblock};
use crate::sync::Ordering;
use crate::sys;
use crate::sys::file::{FileRights, KeptFile};
use crate::sys::map::Mapping;
use crate::sys::process::generation;
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a superblock.
const SUPERBLOCK: u64 = size_of::<Superblock>() as u64;
/// The offset of the high-water mark in the file.
const HIGH_WATER: usize = offset_of!(Superblock, pool) + offset_of!(Pool, high_water);

/// The file of a new table, which no process can find yet. Dropping it removes the file.
pub(crate) struct Unnamed {
    at: Location,
    /// The temporary name, if the file system has no files without a name.
    temporary: Option<CString>,
}

/// Makes a table that gets its name when it is published.
///
/// # Errors
/// [`Error::AlreadyExists`] if a table has the name, [`Error::NotATable`] if something else has it.
pub(crate) fn create(
    at: Location,
    geometry: Geometry,
    max_size: u64,
    rights: FileRights,
) -> Result<(Region, Unnamed)> {
    if let Some(error) = at.occupant() {
        return Err(error);
    }
    let (fd, temporary) = at.create(rights).map_err(|source| {
        let source = refused::creating(&at, source);
        explained("creating the table", at.path(), source)
    })?;
    let made = Unnamed { at, temporary };
    Ok((write_whole(fd, made.at.path(), geometry, max_size)?, made))
}

impl Unnamed {
    /// Gives the file its name, unless another file has it by now.
    pub(crate) fn publish(mut self, region: &Region) -> Result<()> {
        let file = region.file().expect("a created region has a file");
        let published = file.with(|fd| self.at.publish(fd, self.temporary.as_deref()));
        published.map_err(|source| {
            let is_taken = source.kind() == ErrorKind::AlreadyExists;
            let occupant = is_taken.then(|| self.at.occupant()).flatten();
            occupant.unwrap_or_else(|| explained("naming the table", self.at.path(), source))
        })?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            self.at.remove_temporary(name);
        }
    }
}

fn write_whole(fd: OwnedFd, path: &Path, geometry: Geometry, max_size: u64) -> Result<Region> {
    let limit = geometry.limit_of(max_size).unwrap_or(geometry.max_pages);
    let len = u64::from(limit) * PAGE;
    let failed = |op: &'static str| move |source: io::Error| explained(op, path, source);
    sys::file::set_len(fd.as_fd(), len).map_err(failed("sizing the table"))?;
    let (words_from, words_len) = geometry.first_words(limit);
    for (offset, len) in [(0, geometry.page_table_off), (words_from, words_len)] {
        sys::file::allocate(fd.as_fd(), offset, len).map_err(failed("allocating the table"))?;
    }
    let mut random = [0; 24];
    getrandom::fill(&mut random)
        .map_err(|e| explained("drawing a seed", path, io::Error::other(e.to_string())))?;
    let word =
        |i: usize| u64::from_ne_bytes(random[8 * i..8 * i + 8].try_into().expect("eight bytes"));
    let mapping = map(fd.as_fd(), &geometry, geometry.first_page, true, path)?;
    let info = sys::file::len_and_blocks(fd.as_fd()).map_err(failed("reading the table"))?;
    let file = KeptFile::new(fd, &info, path, true).map_err(failed("creating the table"))?;
    let region = Region::mapped(mapping, Arc::new(file), geometry, word(0), true);
    let uuid = [word(1), word(2)];
    let superblock = region.superblock();
    superblock.init(&geometry, max_size, word(0), uuid, sys::clock::unix_s());
    Ok(region)
}

/// The file of a table, opened and verified, but not mapped yet.
pub(crate) struct Unmapped {
    file: Arc<KeptFile>,
    geometry: Geometry,
    seed: u64,
    writable: bool,
    in_core_dumps: bool,
    opened: u64,
}

impl Unmapped {
    /// Sets whether its bytes will be part of core dumps of this process.
    pub(crate) fn in_core_dumps(mut self, are: bool) -> Self {
        self.in_core_dumps = are;
        self
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// Fills the buffer from `offset` on. Returns false if the file ends before, or cannot be read.
    pub(crate) fn read(&self, out: &mut [u8], offset: u64) -> bool {
        let read = self.file.with(|fd| sys::file::read_at(fd, out, offset));
        read.is_ok_and(|count| count == out.len())
    }

    /// Returns what the name of the table's file leads to now.
    pub(crate) fn name_state(&self) -> NameState {
        self.file.name_state()
    }

    /// Maps it.
    pub(crate) fn map(&self, path: &Path) -> Result<Region> {
        let mut high_water = [0; 4];
        let at = HIGH_WATER as u64;
        if !self.read(&mut high_water, at) {
            let source = io::Error::from(ErrorKind::UnexpectedEof);
            return Err(explained("reading the table", path, source));
        }
        let high_water = u32::from_ne_bytes(high_water);
        let mapped = self
            .file
            .with(|fd| Ok(map(fd, &self.geometry, high_water, self.writable, path)))
            .map_err(|source| explained("mapping the table", path, source))?;
        let mapping = mapped?;
        let file = Arc::clone(&self.file);
        let made = Region::mapped(mapping, file, self.geometry, self.seed, self.writable);
        if self.in_core_dumps {
            let _ = made.set_in_core_dumps(true);
        }
        Ok(made.opened_by(self.opened))
    }
}

/// Maps a table whose pages below `high_water` are in use.
fn map(
    fd: BorrowedFd<'_>,
    geometry: &Geometry,
    high_water: u32,
    writable: bool,
    path: &Path,
) -> Result<Mapping> {
    let most = geometry.room;
    let in_use = high_water.clamp(geometry.first_page, geometry.max_pages);
    let least = u64::from(in_use) * PAGE;
    Mapping::shared_if_can(fd, most as usize, least as usize, writable).map_err(|source| {
        match source.raw_os_error() {
            Some(errno @ (libc::ENOMEM | libc::EAGAIN)) => cannot_map(path, most, errno),
            _ => explained("mapping the table", path, source),
        }
    })
}

/// Opens a table, or returns an error that says what has its name instead.
pub(crate) fn open(at: &Location, writable: bool) -> Result<Unmapped> {
    open_version(at, writable, FORMAT)
}

/// Opens a table of the previous format for reading, and locks it against other processes that do
/// so. Returns `None` if it has the current format.
///
/// Everything that the layers above read through it has the same meaning in both formats. Its limit
/// word is 0, so the length of its file counts.
pub(crate) fn open_old(at: &Location) -> Result<Option<Unmapped>> {
    let old = match open_version(at, false, FORMAT_1) {
        Err(Error::Version { found: FORMAT, .. }) => return Ok(None),
        outcome => outcome?,
    };
    let is_locked = old.file.with(sys::file::try_lock_whole);
    let failed = |source| Err(explained("locking the table", at.path(), source));
    match is_locked {
        Ok(true) => Ok(Some(old)),
        Ok(false) => failed(io::Error::new(
            ErrorKind::ResourceBusy,
            "another process is migrating it; try again when that process has ended",
        )),
        Err(source) => failed(source),
    }
}

fn open_version(at: &Location, writable: bool, version: u32) -> Result<Unmapped> {
    let path = at.path();
    let failed = |op: &'static str| move |source: io::Error| explained(op, path, source);
    let foreign = |why: &str| Error::NotATable {
        path: path.to_path_buf(),
        why: why.to_string(),
    };
    let fd = at.open(writable).map_err(|source| {
        let source = refused::opening(at, writable, source);
        explained("opening the table", path, source)
    })?;
    let info = sys::file::len_and_blocks(fd.as_fd()).map_err(failed("reading the table"))?;
    if !info.is_regular {
        return Err(foreign(kind_of(&info)));
    }
    // Read, not mapped: on a full file system a page of a sparse file could not be mapped in.
    let mut first = FirstPage([0; SUPERBLOCK as usize]);
    let read =
        sys::file::read_at(fd.as_fd(), &mut first.0, 0).map_err(failed("reading the table"))?;
    if read < first.0.len() {
        let is_cut = first.superblock().magic.load(Ordering::Relaxed) == MAGIC;
        return Err(foreign(match is_cut {
            true => "it is shorter than any table",
            false => kind_of(&info),
        }));
    }
    let superblock = first.superblock();
    let geometry = superblock.verify(path, version)?;
    let least_len = superblock.least_len(&geometry);
    // Again, after the limit was read: another process may have raised both a moment ago.
    let is_cut = || {
        let again = sys::file::len_and_blocks(fd.as_fd());
        again.map_or(info.len, |info| info.len) < least_len
    };
    if info.len < least_len && is_cut() {
        return Err(foreign("the file was cut short"));
    }
    let seed = superblock.hash_seed.load(Ordering::Relaxed);
    let file = KeptFile::new(fd, &info, path, writable).map_err(failed("opening the table"))?;
    Ok(Unmapped {
        file: Arc::new(file),
        geometry,
        seed,
        writable,
        in_core_dumps: false,
        opened: generation(),
    })
}

/// The first bytes of a file, aligned as they will be when mapped.
#[repr(C, align(4096))]
struct FirstPage([u8; SUPERBLOCK as usize]);

impl FirstPage {
    fn superblock(&self) -> &Superblock {
        // SAFETY: as large as a superblock and as aligned, and any bytes are one: it is made of
        // words.
        unsafe { &*core::ptr::from_ref(self).cast::<Superblock>() }
    }
}
