//! One file, mapped once, at an address that huge pages can live at.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

/// Bytes in a huge page of x86-64, and of aarch64 with 4 KiB base pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;

// The same numbers on every supported architecture; libc lacks them for some targets.
const MADV_POPULATE_WRITE: libc::c_int = 23;
const MADV_COLLAPSE: libc::c_int = 25;

/// Where the last mapping of this process was before it was unmapped, or 0. A table that is
/// opened again goes there with one call, where reserving and trimming takes four. Process memory
/// only, and a mere hint: any value is right.
static VACATED: AtomicUsize = AtomicUsize::new(0);

/// Whether the kernel said that it knows no `MADV_POPULATE_WRITE`.
static NO_POPULATE: AtomicBool = AtomicBool::new(false);

/// Where mappings that are shorter than their file are put, so that there is room behind them: the
/// least address, and how many places there are, each of the length of the file.
const ROOMY: usize = 0x1000_0000_0000;
const ROOMY_END: usize = 0x5000_0000_0000;

/// The place that the next such mapping gets.
static NEXT_ROOMY: AtomicUsize = AtomicUsize::new(0);

/// Bytes that a mapping that cannot be as long as its file has to spare at first, and at the least
/// gets when it is extended.
const SPARE: usize = 64 << 20;
const LEAST_SPARE: usize = 1 << 20;

/// How often a mapping is tried to extend while another thread may be doing it.
const TRIES: u32 = 100;

/// A file mapped from its start, shared with every process that maps it; dropped, it is unmapped.
///
/// `base` is a multiple of 2 MiB unless the whole mapping is shorter than that. `len` may exceed
/// the file: bytes past its end must not be touched (SIGBUS), and belong to the file once it grows.
///
/// A mapping is no part of core dumps, and is not locked in memory when the process locks all that
/// it maps (`mlockall(MCL_FUTURE)`): both would take all that the file may grow to.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: *mut u8,
    /// Bytes that are mapped. Only ever rises.
    len: AtomicUsize,
    /// Bytes that are wanted in the end.
    most: usize,
    writable: bool,
    in_core_dumps: AtomicBool,
}

// SAFETY: the mapping is a range of addresses valid for the whole process until the drop; what is
// done with the bytes is for the users of `base` to answer for.
unsafe impl Send for Mapping {}
// SAFETY: as above; the methods only read two fields that never change.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of `fd` from its start. Addresses are reserved, memory is not.
    pub(crate) fn shared(fd: BorrowedFd<'_>, len: usize, writable: bool) -> io::Result<Mapping> {
        let made = |base, len| Mapping {
            base,
            len: AtomicUsize::new(len),
            most: len,
            writable,
            in_core_dumps: AtomicBool::new(false),
        };
        if len < HUGE_PAGE_BYTES {
            return map_file(fd, 0, len, writable, ptr::null_mut(), 0).map(|base| made(base, len));
        }
        let vacated = VACATED.swap(0, Relaxed);
        if vacated != 0 {
            let hint = ptr::without_provenance_mut(vacated);
            let mapping = made(map_file(fd, 0, len, writable, hint, 0)?, len);
            if is_aligned(mapping.base) {
                return Ok(mapping);
            }
            drop(mapping);
        }
        map_aligned(fd, len, writable).map(|base| made(base, len))
    }

    /// As [`Self::shared`], of `most` bytes; where the process may not map so many, of fewer, but
    /// not fewer than `least`.
    pub(crate) fn shared_if_can(
        fd: BorrowedFd<'_>,
        most: usize,
        least: usize,
        writable: bool,
    ) -> io::Result<Mapping> {
        let mut outcome = Self::shared(fd, most, writable);
        for spare in [least.saturating_add(SPARE), LEAST_SPARE, 0] {
            match &outcome {
                Err(error) if is_limit(error) => {}
                _ => break,
            }
            let len = least.saturating_add(spare).next_multiple_of(page_bytes());
            outcome = Self::shorter(fd, len.min(most), most, writable);
        }
        outcome
    }

    /// A mapping that can be extended, most probably.
    fn shorter(fd: BorrowedFd<'_>, len: usize, most: usize, writable: bool) -> io::Result<Mapping> {
        let size = most.next_multiple_of(HUGE_PAGE_BYTES);
        let places = ((ROOMY_END - ROOMY) / size).max(1);
        let place = NEXT_ROOMY.fetch_add(1, Relaxed) % places;
        let hint = ptr::without_provenance_mut(ROOMY + place * size);
        let base = map_file(fd, 0, len, writable, hint, 0)?;
        Ok(Mapping {
            base,
            len: AtomicUsize::new(len),
            most,
            writable,
            in_core_dumps: AtomicBool::new(false),
        })
    }

    /// Makes the mapping at least `wanted` bytes long. Returns false if that fails. Any thread may
    /// do this at any time, also in a signal handler.
    pub(crate) fn extend(&self, fd: BorrowedFd<'_>, wanted: usize) -> bool {
        if wanted > self.most {
            return false;
        }
        for _ in 0..TRIES {
            let len = self.len();
            if wanted <= len {
                return true;
            }
            let longer = [
                len.saturating_add(len.max(SPARE)),
                wanted + LEAST_SPARE,
                wanted,
            ];
            let fits = |until: &usize| *until >= wanted;
            let whole = |until: usize| until.next_multiple_of(page_bytes()).min(self.most);
            let outcome = longer
                .into_iter()
                .map(whole)
                .filter(fits)
                .map(|until| self.map_behind(fd, len, until))
                .find(|outcome| !outcome.as_ref().is_err_and(is_limit));
            match outcome {
                Some(Ok(())) => return true,
                // Another thread has the place, and says so in a moment; or something else has it.
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                    std::thread::yield_now();
                }
                _ => return false,
            }
        }
        false
    }

    /// Maps the bytes from `len`, where the mapping ends, to `until`. Of several threads the kernel
    /// lets one have the place.
    fn map_behind(&self, fd: BorrowedFd<'_>, len: usize, until: usize) -> io::Result<()> {
        let at = self.base.wrapping_add(len);
        let flags = libc::MAP_FIXED_NOREPLACE;
        map_file(fd, len, until - len, self.writable, at, flags)?;
        self.len.store(until, SeqCst);
        if self.in_core_dumps.load(Relaxed) {
            let _ = advise(at, until - len, libc::MADV_DODUMP);
        }
        Ok(())
    }

    /// Whether the bytes are part of core dumps of this process.
    pub(crate) fn set_in_core_dumps(&self, are: bool) -> io::Result<()> {
        self.in_core_dumps.store(are, Relaxed);
        let advice = if are {
            libc::MADV_DODUMP
        } else {
            libc::MADV_DONTDUMP
        };
        advise(self.base, self.len(), advice)
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(SeqCst)
    }
}

/// Whether the kernel says that the process may not map so much.
fn is_limit(error: &io::Error) -> bool {
    // EINVAL is valgrind's, whose programs have few addresses.
    let limits = [libc::ENOMEM, libc::EAGAIN, libc::EINVAL].map(Some);
    limits.contains(&error.raw_os_error())
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.base, self.len());
        if is_aligned(self.base) && self.len() == self.most {
            VACATED.store(self.base.addr(), Relaxed);
        }
    }
}

/// Replaces the small pages of a range by huge ones where the kernel can (Linux 6.1 and later).
///
/// Contents stay as they are, for every process that has the file mapped. The errors are advice:
/// `EINVAL` says that this kernel or file system cannot, `EAGAIN` and `EBUSY` to try later,
/// `ENOMEM` that no huge page was available.
pub(crate) fn collapse(addr: *mut u8, len: usize) -> io::Result<()> {
    advise(addr, len, MADV_COLLAPSE)
}

/// Backs a range of a writable mapping with memory and maps its pages, so that writing to it cannot
/// fail. Covers whole pages of memory. `Ok(false)`: the kernel cannot (before Linux 5.14).
///
/// # Errors
/// `ENOSPC` where the file has no room; part of the range may be backed then.
pub(crate) fn populate(addr: *mut u8, len: usize) -> io::Result<bool> {
    if NO_POPULATE.load(Relaxed) {
        return Ok(false);
    }
    let skew = addr.addr() % page_bytes();
    let outcome = advise(addr.wrapping_sub(skew), len + skew, MADV_POPULATE_WRITE);
    match outcome.as_ref().map_err(io::Error::raw_os_error) {
        Ok(()) => Ok(true),
        Err(Some(libc::EINVAL)) => {
            NO_POPULATE.store(true, Relaxed);
            Ok(false)
        }
        // What would have been SIGBUS, had the page been touched.
        Err(Some(libc::EFAULT)) => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
        Err(_) => outcome.map(|()| true),
    }
}

/// Gives the memory of a range of a writable mapping back; it reads as zeros from then on, for
/// every process.
///
/// # Errors
/// `EINVAL` where the range is locked in memory, or does not consist of whole pages of memory.
pub(crate) fn remove(addr: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: the caller answers for who may still read the range; the kernel checks it.
    super::retry(|| unsafe { libc::madvise(addr.cast(), len, libc::MADV_REMOVE) }).map(drop)
}

fn is_aligned(base: *mut u8) -> bool {
    base.addr().is_multiple_of(HUGE_PAGE_BYTES)
}

/// Reserves 2 MiB more than wanted, maps the file over the aligned part, gives the ends back.
fn map_aligned(fd: BorrowedFd<'_>, len: usize, writable: bool) -> io::Result<*mut u8> {
    let Some(reserved_len) = len.checked_add(HUGE_PAGE_BYTES) else {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice replaces nothing.
    let reserved =
        unsafe { libc::mmap(ptr::null_mut(), reserved_len, libc::PROT_NONE, flags, -1, 0) };
    if reserved == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let reserved = reserved.cast::<u8>();
    let head = reserved.addr().wrapping_neg() % HUGE_PAGE_BYTES;
    let base = reserved.wrapping_add(head);
    if let Err(error) = map_file(fd, 0, len, writable, base, libc::MAP_FIXED) {
        unmap(reserved, reserved_len);
        return Err(error);
    }
    // The file ends on a page boundary of its own, whatever `len`: the tail starts at the next.
    let mapped_len = len.next_multiple_of(page_bytes());
    unmap(reserved, head);
    unmap(
        base.wrapping_add(mapped_len),
        reserved_len.saturating_sub(head + mapped_len),
    );
    Ok(base)
}

/// Maps `len` bytes of the file, from `from` on, at `at` if that is free (or, with `MAP_FIXED`, in
/// any case), else elsewhere.
fn map_file(
    fd: BorrowedFd<'_>,
    from: usize,
    len: usize,
    writable: bool,
    at: *mut u8,
    extra_flags: libc::c_int,
) -> io::Result<*mut u8> {
    let protection = if writable {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    };
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | extra_flags;
    let offset = from as libc::off_t;
    // Without access at first: a process that locks all memory it maps would get all of it now.
    // SAFETY: without MAP_FIXED nothing that exists is replaced; with it the only caller is
    // `map_aligned`, and the range lies inside the reservation it has just made.
    let base = unsafe {
        libc::mmap(
            at.cast(),
            len,
            libc::PROT_NONE,
            flags,
            fd.as_raw_fd(),
            offset,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let base = base.cast::<u8>();
    // SAFETY: the range was just mapped, and nobody knows it yet.
    let made = unsafe {
        libc::munlock(base.cast(), len);
        libc::mprotect(base.cast(), len, protection)
    };
    if made != 0 {
        let error = io::Error::last_os_error();
        unmap(base, len);
        return Err(error);
    }
    // Kernels without it dump what is there of files that have a name, as they always did.
    let _ = advise(base, len, libc::MADV_DONTDUMP);
    Ok(base)
}

/// Unmaps a range that belongs to this module. Cannot fail for a range that is mapped; if the
/// kernel refuses anyway, addresses are lost and nothing else.
fn unmap(addr: *mut u8, len: usize) {
    if len != 0 {
        // SAFETY: every caller passes a range it has mapped and that nobody uses any more.
        unsafe { libc::munmap(addr.cast(), len) };
    }
}

fn advise(addr: *mut u8, len: usize, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: the pieces of advice used here change no contents and drop no page; the
    // kernel checks the range.
    super::retry(|| unsafe { libc::madvise(addr.cast(), len, advice) }).map(drop)
}

/// Bytes of a page of memory.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: reads a constant of the process (the auxiliary vector), no system call.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

#[cfg(all(test, not(miri)))]
mod tests;
