//! Finds out that this process is a forked child, without a system call.
//!
//! A child has its parent's sockets and must not use them: both would read each other's answers.
//! The kernel fills a page that is marked `MADV_WIPEONFORK` with zeros in a child. This page has
//! the number of the process; if it has 0, the process is new and writes its own.

#![allow(unsafe_code)]

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The bytes that are mapped; the kernel rounds up to a page.
const PAGE_BYTES: usize = 4096;

/// Identifies a process: its number, which a child of a fork does not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

/// The page, mapped once and never unmapped.
struct Page(NonNull<AtomicU32>);

// SAFETY: the page stays mapped, and is only used as an atomic.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

static PAGE: OnceLock<Option<Page>> = OnceLock::new();

/// Returns the process that asks.
pub(crate) fn process() -> Process {
    // Without a page, as on a kernel before 4.14, each call asks the system.
    let Some(Page(word)) = PAGE.get_or_init(map_page) else {
        return Process(process_number());
    };
    // SAFETY: the page is mapped forever, aligned and initialised by the kernel.
    let word = unsafe { word.as_ref() };
    match word.load(Ordering::Relaxed) {
        0 => {
            // Several threads may do this at once; they write the same.
            let number = process_number();
            word.store(number, Ordering::Relaxed);
            Process(number)
        }
        number => Process(number),
    }
}

fn process_number() -> u32 {
    rustix::process::getpid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs()
}

fn map_page() -> Option<Page> {
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: new memory at an address that the kernel chooses.
    let page =
        unsafe { mmap_anonymous(std::ptr::null_mut(), PAGE_BYTES, protection, flags) }.ok()?;
    // SAFETY: it is the page just mapped, which nothing else uses; its zeros are what is expected.
    if unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork) }.is_err() {
        // SAFETY: nothing refers to it yet.
        let _ = unsafe { rustix::mm::munmap(page, PAGE_BYTES) };
        return None;
    }
    NonNull::new(page.cast()).map(Page)
}

/// A value that each process makes for itself. A forked child does not even lock what its parent
/// made: a thread that the child does not have may hold the lock.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    /// Never null.
    current: AtomicPtr<Made<T>>,
}

#[derive(Debug)]
struct Made<T> {
    process: Process,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            current: AtomicPtr::new(Made::boxed(value)),
        }
    }

    /// Returns the value of this process. In a new one `make` makes it, and `abandon` gets the
    /// parent's, which stays in memory: frames of the child may refer to it.
    pub(crate) fn get(&self, make: impl FnOnce() -> T, abandon: impl FnOnce(&T)) -> &T {
        // Pairs with the exchange below.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: it comes from a box, and none is freed before the whole is dropped.
        let made = unsafe { &*current };
        if made.process == process() {
            return &made.value;
        }
        let new = Made::boxed(make());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match self
            .current
            .compare_exchange(current, new, success, failure)
        {
            Ok(_) => {
                abandon(&made.value);
                // SAFETY: as above.
                unsafe { &(*new).value }
            }
            Err(newer) => {
                // SAFETY: nobody else has seen this box.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as above; another thread of this process made it.
                unsafe { &(*newer).value }
            }
        }
    }

    /// Returns the value, if it was made by this process.
    pub(crate) fn own(&mut self) -> Option<&mut T> {
        // SAFETY: as in `get`; nobody else refers to it.
        let made = unsafe { &mut **self.current.get_mut() };
        (made.process == process()).then_some(&mut made.value)
    }
}

impl<T> Made<T> {
    fn boxed(value: T) -> *mut Self {
        let process = process();
        Box::into_raw(Box::new(Self { process, value }))
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        // SAFETY: it comes from a box, and nobody refers to it any more.
        drop(unsafe { Box::from_raw(*self.current.get_mut()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_stays_the_same_and_has_its_number() {
        assert_eq!(process(), process());
        assert_eq!(process(), Process(std::process::id()));
    }
}
