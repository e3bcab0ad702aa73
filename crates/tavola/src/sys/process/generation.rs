//! A number that distinguishes a forked child from its parent at the price of one load.
//!
//! **GEN-1** The private page is mapped once a process image and never unmapped. The kernel zeroes
//! it in every forked child before the child runs (`MADV_WIPEONFORK`); it holds atomics only.
//!
//! What is here is memory of this process alone and no part of any table, so it takes the atomics
//! of std.

use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// The page that fork wipes (GEN-1). `state` guards the four fields after it:
///
/// | state   | fields           | next                                             |
/// |---------|------------------|--------------------------------------------------|
/// | EMPTY   | unset            | FILLING, by the one thread that wins the exchange |
/// | FILLING | being written    | READY, by that thread; the others compute again    |
/// | READY   | final            | EMPTY, in a child only, by fork                   |
#[repr(C)]
pub(super) struct PrivatePage {
    generation: AtomicU64,
    pub(super) state: AtomicU64,
    pub(super) pid: AtomicU64,
    pub(super) start_time: AtomicU64,
    pub(super) pid_ns: AtomicU64,
    pub(super) time_ns: AtomicU64,
}

pub(super) const EMPTY: u64 = 0;
pub(super) const FILLING: u64 = 1;
pub(super) const READY: u64 = 2;

/// Null until the first call, and for good where the kernel cannot wipe a page.
static PAGE: AtomicPtr<PrivatePage> = AtomicPtr::new(ptr::null_mut());
static NO_WIPING: AtomicBool = AtomicBool::new(false);

/// The highest number given out. Ordinary memory, so a child continues from its parent's.
static LAST_GENERATION: AtomicU64 = AtomicU64::new(0);

/// Without a page: pid in the high half, its generation in the low.
static PID_AND_GENERATION: AtomicU64 = AtomicU64::new(0);

/// A number that is the same throughout a process and another in each process forked from it,
/// never 0. A child's is higher than all of its ancestors'; siblings may have the same.
#[inline]
pub(crate) fn generation() -> u64 {
    // Pairs with the exchange in `page_or_map`.
    let page = PAGE.load(Acquire);
    if !page.is_null() {
        // SAFETY: GEN-1.
        let generation = unsafe { (*page).generation.load(Relaxed) };
        if generation != 0 {
            return generation;
        }
    }
    next_generation()
}

#[cold]
fn next_generation() -> u64 {
    let Some(page) = page_or_map() else {
        return generation_by_pid();
    };
    // Several threads may come here at once: one number wins, the others are never used.
    let next = LAST_GENERATION.fetch_add(1, Relaxed) + 1;
    match page.generation.compare_exchange(0, next, Relaxed, Relaxed) {
        Ok(_) => next,
        Err(winner) => winner,
    }
}

/// The same by asking for the pid each time. Only fooled by a child whose pid equals that of the
/// last ancestor which called this: pid 1 of nested namespaces, on a kernel without wiping.
fn generation_by_pid() -> u64 {
    let pid = u64::from(std::process::id());
    let mut seen = PID_AND_GENERATION.load(Relaxed);
    loop {
        let generation = seen & 0xffff_ffff;
        if seen >> 32 == pid {
            return generation;
        }
        let next = pid << 32 | (generation + 1);
        match PID_AND_GENERATION.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
            Ok(_) => return generation + 1,
            Err(now) => seen = now,
        }
    }
}

pub(super) fn page_or_map() -> Option<&'static PrivatePage> {
    let mut page = PAGE.load(Acquire);
    if page.is_null() {
        if NO_WIPING.load(Relaxed) {
            return None;
        }
        let Some(mapped) = map_wiped_page() else {
            NO_WIPING.store(true, Relaxed);
            return None;
        };
        // Pairs with the loads in `generation` and here.
        page = match PAGE.compare_exchange(ptr::null_mut(), mapped, AcqRel, Acquire) {
            Ok(_) => mapped,
            Err(winner) => {
                // SAFETY: mapped above by this thread, and never shown to another.
                unsafe { libc::munmap(mapped.cast(), size_of::<PrivatePage>()) };
                winner
            }
        };
    }
    // SAFETY: GEN-1, and the page is aligned and large enough.
    Some(unsafe { &*page })
}

fn map_wiped_page() -> Option<*mut PrivatePage> {
    if cfg!(miri) {
        return None;
    }
    let len = size_of::<PrivatePage>();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice replaces nothing.
    let page = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page was mapped just now and nobody else knows of it.
    if unsafe { libc::madvise(page, len, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above.
        unsafe { libc::munmap(page, len) };
        return None;
    }
    Some(page.cast())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::testing::{Child, SharedWords, start_thread};
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[test]
    fn generation_is_constant_here_and_another_in_children_and_theirs() {
        let mine = generation();
        assert_ne!(mine, 0);
        assert!((0..1000).all(|_| generation() == mine));
        assert_eq!(std::thread::spawn(generation).join().unwrap(), mine);
        let child = Child::fork(|| {
            let childs = generation();
            if childs <= mine || generation() != childs {
                return 1;
            }
            Child::fork(|| i32::from(generation() <= childs)).exit_code()
        });
        assert_eq!(child.exit_code(), 0);
        assert_eq!(generation(), mine);
    }

    #[test]
    fn generation_without_a_wiped_page() {
        let mine = generation_by_pid();
        assert_eq!(generation_by_pid(), mine);
        assert_eq!(
            Child::fork(|| i32::from(generation_by_pid() <= mine)).exit_code(),
            0
        );
    }

    /// Words: 0 is the gate, 1 counts the threads done, 2… hold what each of them saw.
    extern "C" fn note_generation(words: *mut libc::c_void) -> *mut libc::c_void {
        let words: *const AtomicU32 = words.cast_const().cast();
        // SAFETY: the caller passes a page of words that outlives the thread.
        let word = |index: u32| unsafe { &*words.add(index as usize) };
        while word(0).load(SeqCst) == 0 {
            std::hint::spin_loop();
        }
        let seen = generation() as u32;
        let place = word(1).fetch_add(1, SeqCst);
        word(2 + place).store(seen, SeqCst);
        ptr::null_mut()
    }

    #[test]
    fn threads_of_a_child_agree_on_its_generation() {
        const THREADS: usize = 2;
        let mine = generation();
        // Enough rounds that two threads do meet before either has stored a number; where only one
        // of them runs at a time (scripts/sanitize), they do not.
        let rounds = match std::env::var_os("TAVOLA_ONE_AT_A_TIME") {
            None => 300,
            Some(_) => 20,
        };
        for _ in 0..rounds {
            let words = SharedWords::new();
            let page = words.word(0).as_ptr().cast::<u8>();
            let child = Child::fork(|| {
                if !(0..THREADS).all(|_| start_thread(note_generation, page)) {
                    return 2;
                }
                words.word(0).store(1, SeqCst);
                let own = generation();
                let seen = |i| u64::from(words.word(2 + i).load(SeqCst));
                while (0..THREADS).any(|i| seen(i) == 0) {
                    std::thread::yield_now();
                }
                i32::from((0..THREADS).any(|i| seen(i) != own))
            });
            assert_eq!(child.exit_code(), 0);
        }
        assert_eq!(generation(), mine);
    }
}
