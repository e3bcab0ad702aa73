//! A handler of SIGBUS, which lets a read of a lost page return zeros.
//!
//! The kernel sends SIGBUS to a thread that reads a mapped page which the file no longer has, or
//! which the disk cannot deliver. The handler looks for the mapping among those that are watched,
//! notes that it is lost, and maps zeros over all of it. The read then continues, and
//! [`Map::check`](super::Map::check) finds the note. Any other SIGBUS goes to the handler that was
//! there before.
//!
//! The list of watched mappings only grows; an entry is used again after its mapping is gone. So
//! the handler walks it without a lock.
//!
//! - **SIG-1** A mapping is watched as long as anybody may read it.
//! - **SIG-2** The handler calls nothing that may not be called in a handler: loads, stores, and
//!   the system calls `mmap` and `sigaction`.

use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::sync::{Mutex, Once, PoisonError};

/// A mapping that is watched, or an entry for the next one.
pub(super) struct Watched {
    /// 0 if the entry is not used.
    start: AtomicUsize,
    bytes: AtomicUsize,
    is_lost: AtomicBool,
    next: AtomicPtr<Watched>,
}

impl Watched {
    /// Returns whether a read met a page that is not there.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Relaxed)
    }
}

static FIRST: AtomicPtr<Watched> = AtomicPtr::new(ptr::null_mut());
/// Held while an entry is taken or given back.
static CHANGES: Mutex<()> = Mutex::new(());
/// What SIGBUS did before.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());
static INSTALLED: Once = Once::new();

/// Watches a mapping until [`release`].
pub(super) fn watch(start: usize, bytes: usize) -> &'static Watched {
    INSTALLED.call_once(install);
    let _changes = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
    let free = entries().find(|entry| entry.start.load(Relaxed) == 0);
    let entry = free.unwrap_or_else(|| {
        let entry: &'static Watched = Box::leak(Box::new(Watched {
            start: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            is_lost: AtomicBool::new(false),
            next: AtomicPtr::new(FIRST.load(Relaxed)),
        }));
        // Pairs with the load in `entries`.
        FIRST.store(ptr::from_ref(entry).cast_mut(), Release);
        entry
    });
    entry.is_lost.store(false, Relaxed);
    entry.bytes.store(bytes, Relaxed);
    // Pairs with the load in `on_signal`.
    entry.start.store(start, Release);
    entry
}

/// Ends the watch over a mapping, which nobody reads any more.
pub(super) fn release(entry: &'static Watched) {
    let _changes = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
    entry.start.store(0, Release);
}

fn entries() -> impl Iterator<Item = &'static Watched> {
    let mut next = FIRST.load(Acquire);
    std::iter::from_fn(move || {
        // SAFETY: entries are leaked, and a pointer to one is stored after it is made.
        let entry = unsafe { next.as_ref() }?;
        next = entry.next.load(Relaxed);
        Some(entry)
    })
}

fn install() {
    // SAFETY: all zeros is a valid `sigaction`.
    let (mut ours, mut before): (libc::sigaction, libc::sigaction) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_signal;
    ours.sa_sigaction = handler as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both point to a `sigaction`. What was there is noted before the handler can run.
    unsafe {
        libc::sigaction(libc::SIGBUS, ptr::null(), &mut before);
        BEFORE.store(Box::into_raw(Box::new(before)), Release);
        libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut());
    }
}

extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel hands a valid `siginfo_t` to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let hit = entries().find(|entry| {
        let start = entry.start.load(Acquire);
        start != 0 && address.wrapping_sub(start) < entry.bytes.load(Relaxed)
    });
    if hit.is_some_and(cover) {
        return;
    }
    pass_on(signal, info, context);
}

/// Maps zeros over a mapping. Returns whether that succeeded.
fn cover(entry: &Watched) -> bool {
    // SAFETY: the location of this thread's error number.
    let errno = unsafe { *libc::__errno_location() };
    entry.is_lost.store(true, Relaxed);
    // SAFETY: the range is a mapping of ours (SIG-1), read only, and stays mapped.
    let mapped = unsafe {
        libc::mmap(
            entry.start.load(Relaxed) as *mut libc::c_void,
            entry.bytes.load(Relaxed),
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    mapped != libc::MAP_FAILED
}

/// Does what SIGBUS did before this handler was installed.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.load(Acquire);
    // SAFETY: it was stored before the handler was installed, and is never freed.
    let before = unsafe { &*before };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros is the default action. The read is repeated, and ends the process.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, ptr::null_mut());
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Informed = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: a handler with SA_SIGINFO has this signature.
            let handler: Informed = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: a handler without SA_SIGINFO has this signature.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
