//! The bytes of a file, mapped or copied, and reads of them that cannot go wrong.
//!
//! A file may change under a mapping: any process that may write to it can shorten it, or write
//! into it. So nothing here makes a `&[u8]` of a mapping, except where the caller vouches for the
//! file. Each number is loaded once and checked afterwards, and longer pieces are copied.
//!
//! - **MAP-1** No read is outside the mapping.
//! - **MAP-2** A read of a page that the file lost returns zeros (see `guard`), and the next
//!   [`Map::check`] fails. Bytes are only handed out after such a check.
//! - **MAP-3** If a file is cut within its last page, the kernel sends no signal, and zeros are
//!   read. The last byte of that page that is not zero when the file is opened is the *sentinel*.
//!   If the cut is before it, it reads as 0, and the check fails. If the cut is behind it, zeros
//!   are right. If the cut is before the last page, reading the sentinel is MAP-2.
//!
//! Small files are copied: that costs less than a mapping.

mod guard;
mod span;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use crate::error::{Error, Result};

pub use span::Span;

/// Files up to this length are copied.
const COPIED_BYTES: u64 = 32 << 10;
/// The smallest page. A larger one is cut at the same places.
const PAGE_BYTES: usize = 4096;

/// The bytes of a file.
pub(crate) struct Map {
    path: PathBuf,
    start: NonNull<u8>,
    bytes: usize,
    held: Held,
    /// The last byte that is not zero (MAP-3), and where it is.
    sentinel: u8,
    sentinel_at: usize,
    identity: Identity,
}

enum Held {
    /// A boxed slice.
    Copied,
    Mapped(&'static guard::Watched),
}

/// Says which file it is, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Identity {
    fn of(data: &std::fs::Metadata) -> Identity {
        Identity {
            device: data.dev(),
            inode: data.ino(),
            bytes: data.len(),
            changed: (data.mtime(), data.mtime_nsec()),
        }
    }

    /// Returns what has the name now.
    pub(crate) fn at(path: &Path) -> io::Result<Identity> {
        Ok(Identity::of(&std::fs::metadata(path)?))
    }
}

// SAFETY: the bytes are only read, and the mapping is as long-lived as the value.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

/// A number as it is in a file: at any address, least byte first.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Unaligned<T>(T);

impl Map {
    /// Opens a file to read it.
    pub(crate) fn open(path: &Path) -> Result<Map> {
        let file = File::open(path).map_err(Error::of("cannot open", path))?;
        let data = file.metadata().map_err(Error::of("cannot examine", path))?;
        if !data.is_file() {
            let why = "it is not a regular file".to_string();
            return Err(Error::NotConstant {
                path: path.to_path_buf(),
                why,
            });
        }
        let identity = Identity::of(&data);
        match data.len() {
            ..=COPIED_BYTES => Map::copied(path, file, identity),
            bytes => Map::mapped(path, &file, bytes, identity),
        }
    }

    fn copied(path: &Path, mut file: File, identity: Identity) -> Result<Map> {
        // One more, to notice a file that grows.
        let mut bytes = Vec::with_capacity(identity.bytes as usize + 1);
        let failed = Error::of("cannot read", path);
        file.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != identity.bytes {
            let path = path.to_path_buf();
            return Err(Error::Lost { path });
        }
        Ok(Map::of_bytes(path, bytes, identity))
    }

    fn of_bytes(path: &Path, bytes: Vec<u8>, identity: Identity) -> Map {
        let bytes = NonNull::from(Box::leak(bytes.into_boxed_slice()));
        Map {
            path: path.to_path_buf(),
            start: bytes.cast(),
            bytes: bytes.len(),
            held: Held::Copied,
            sentinel: 0,
            sentinel_at: 0,
            identity,
        }
    }

    fn mapped(path: &Path, file: &File, bytes: u64, identity: Identity) -> Result<Map> {
        let failed = Error::of("cannot map", path);
        let Ok(bytes) = usize::try_from(bytes) else {
            return Err(failed(io::Error::from_raw_os_error(libc::EFBIG)));
        };
        // SAFETY: a new mapping of a length above zero, which touches no other.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let start = match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => start,
            _ => return Err(failed(io::Error::last_os_error())),
        };
        let watched = guard::watch(start.as_ptr() as usize, bytes);
        let mut map = Map {
            path: path.to_path_buf(),
            start,
            bytes,
            held: Held::Mapped(watched),
            sentinel: 0,
            sentinel_at: 0,
            identity,
        };
        map.set_sentinel();
        map.check()?;
        Ok(map)
    }

    fn set_sentinel(&mut self) {
        let end = self.bytes - 1;
        let last_page = end / PAGE_BYTES * PAGE_BYTES;
        let last = (last_page..=end).rev().find(|at| self.byte(*at) != 0);
        self.sentinel_at = last.unwrap_or(end);
        self.sentinel = self.byte(self.sentinel_at);
    }

    /// Returns an error if bytes that were read before may be zeros which are not in the file.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if let Held::Mapped(watched) = self.held {
            // The byte first: to read it can lead to the note.
            if self.byte(self.sentinel_at) != self.sentinel || watched.is_lost() {
                return Err(self.lost());
            }
        }
        Ok(())
    }

    #[cold]
    fn lost(&self) -> Error {
        Error::Lost {
            path: self.path.clone(),
        }
    }

    #[cold]
    pub(crate) fn damaged(&self, what: &'static str, at: u64) -> Error {
        // A file that was shortened looks damaged, too.
        self.check().err().unwrap_or_else(|| Error::Damaged {
            path: self.path.clone(),
            what,
            at,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes as u64
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        debug_assert!(at < self.bytes);
        // SAFETY: the callers pass places inside (MAP-1).
        unsafe { self.start.as_ptr().add(at).read_volatile() }
    }

    #[inline]
    fn number<T: Copy>(&self, at: u64) -> Option<T> {
        let end = at.checked_add(size_of::<T>() as u64)?;
        if end > self.bytes as u64 {
            return None;
        }
        // SAFETY: the place is inside (MAP-1); the type has no alignment.
        let read = unsafe {
            let place = self.start.as_ptr().add(at as usize);
            place.cast::<Unaligned<T>>().read_volatile()
        };
        Some(read.0)
    }

    /// Loads a byte, once. Returns `None` if it is not inside.
    #[inline]
    pub(crate) fn byte_at(&self, at: u64) -> Option<u8> {
        self.number::<u8>(at)
    }

    /// Begins to fetch bytes into the cache, if they are inside.
    #[inline]
    pub(crate) fn prefetch(&self, at: u64, bytes: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            const LINE: u64 = 64;
            let mut line = at & !(LINE - 1);
            while line < at.saturating_add(bytes) && line < self.bytes as u64 {
                // SAFETY: the address is inside (MAP-1), and nothing that the program sees is read.
                unsafe {
                    let place = self.start.as_ptr().add(line as usize);
                    _mm_prefetch::<_MM_HINT_T0>(place.cast());
                }
                line += LINE;
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }

    /// Loads a number, once. Returns `None` if it is not inside.
    #[inline]
    pub(crate) fn u64_at(&self, at: u64) -> Option<u64> {
        self.number::<u64>(at).map(u64::from_le)
    }

    /// Returns the bytes at a place, or `None` if they are not all inside.
    #[inline]
    pub(crate) fn span(&self, at: u64, bytes: u64) -> Option<Span<'_>> {
        (at.checked_add(bytes)? <= self.bytes as u64).then_some(Span {
            map: self,
            at: at as usize,
            bytes: bytes as usize,
        })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        match self.held {
            Held::Mapped(watched) => {
                guard::release(watched);
                // SAFETY: the mapping is ours, and nothing borrows it any more.
                unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
            }
            Held::Copied => {
                let bytes = ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.bytes);
                // SAFETY: it was leaked when the map was made, and nothing borrows it any more.
                drop(unsafe { Box::from_raw(bytes) });
            }
        }
    }
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Map")
            .field("path", &self.path)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, bytes).unwrap();
        (dir, path)
    }

    fn shorten(path: &Path, bytes: u64) {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(bytes).unwrap();
    }

    #[test]
    fn reads_are_inside_or_refused() {
        for bytes in [20, COPIED_BYTES as usize + 20] {
            let (_dir, path) = file(&vec![7; bytes]);
            let map = Map::open(&path).unwrap();
            let end = bytes as u64;
            assert_eq!(map.u64_at(end - 8), Some(0x0707_0707_0707_0707));
            assert_eq!(map.u64_at(end - 7), None);
            assert_eq!((map.byte_at(end - 1), map.byte_at(end)), (Some(7), None));
            assert_eq!(map.u64_at(u64::MAX), None);
            assert!(map.span(end, 0).unwrap().is_empty());
            assert!(map.span(end - 1, 2).is_none());
            assert!(map.span(1, u64::MAX).is_none());
            let span = map.span(1, 19).unwrap();
            assert_eq!(span.to_vec().unwrap(), [7; 19]);
            let mut room = [1; 21];
            span.copy_to(&mut room[1..4]).unwrap();
            assert_eq!(room[..6], [1, 7, 7, 7, 1, 1]);
            span.copy_to(&mut room).unwrap();
            assert_eq!(room[17..], [7, 7, 1, 1]);
            assert!(span.equals(&[7; 19]));
            assert!(!span.equals(&[7; 18]));
            for wrong in 0..19 {
                let mut other = [7; 19];
                other[wrong] = 8;
                assert!(!span.equals(&other), "{wrong}");
            }
        }
    }

    /// A file that another process shortens is an error, wherever it is cut, and not a signal.
    #[test]
    fn a_cut_is_an_error_and_no_signal() {
        let whole: Vec<u8> = (0..200_000u32).map(|n| (n % 251 + 1) as u8).collect();
        for cut in [0, 1, 4095, 4096, 100_000, 196_608, 199_999] {
            let (_dir, path) = file(&whole);
            let map = Map::open(&path).unwrap();
            let span = map.span(0, 200_000).unwrap();
            assert_eq!(span.to_vec().unwrap(), whole);
            shorten(&path, cut);
            let error = span.to_vec().unwrap_err();
            assert!(matches!(error, Error::Lost { .. }), "{cut}: {error}");
            assert!(span.copy_to(&mut [0; 200_000]).is_err(), "{cut}");
            assert!(map.check().is_err());
            // It stays an error, even if the file is as long as before again.
            shorten(&path, 200_000);
            assert!(map.check().is_err(), "{cut}");
        }
    }

    #[test]
    fn zeros_that_are_cut_are_still_zeros() {
        let mut whole = vec![1; 100_000];
        whole[99_000..].fill(0);
        let (_dir, path) = file(&whole);
        let map = Map::open(&path).unwrap();
        shorten(&path, 99_500);
        assert_eq!(map.span(0, 100_000).unwrap().to_vec().unwrap(), whole);
        shorten(&path, 98_999);
        assert!(map.check().is_err());
    }

    /// A file that is a hole for the most part is not read when it is opened.
    #[test]
    fn a_large_hole_is_opened_at_once() {
        let (_dir, path) = file(&[1]);
        shorten(&path, 1 << 40);
        let map = Map::open(&path).unwrap();
        assert_eq!((map.len(), map.byte_at(0)), (1 << 40, Some(1)));
        shorten(&path, 1 << 39);
        assert!(map.check().is_err());
    }

    /// Each mapping is noted as lost by itself, and entries of the list are used again.
    #[test]
    fn only_the_mapping_that_is_cut_is_lost() {
        for _ in 0..3 {
            let (_one, one) = file(&[1; 100_000]);
            let (_two, two) = file(&[2; 100_000]);
            let maps = [Map::open(&one).unwrap(), Map::open(&two).unwrap()];
            shorten(&one, 10);
            assert!(maps[0].check().is_err());
            assert_eq!(
                maps[1].span(0, 100_000).unwrap().to_vec().unwrap(),
                [2; 100_000]
            );
        }
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            Map::open(dir.path()),
            Err(Error::NotConstant { .. })
        ));
        let missing = Map::open(&dir.path().join("missing")).unwrap_err();
        assert_eq!(missing.os_error(), Some(libc::ENOENT));
    }
}
