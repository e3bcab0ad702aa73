//! Pools of handles for threads.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, read_handle, write};
use super::fleet::Fleet;
use super::options;
use super::types::memcached_st;
use super::{behaviors, life};
use crate::given;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A pool. Threads share it.
pub struct memcached_pool_st {
    state: Mutex<PoolState>,
    is_returned: Condvar,
    /// Whether the first handle is the caller's.
    is_callers: bool,
}

struct PoolState {
    master: *mut memcached_st,
    free: Vec<Member>,
    /// Those that are in use.
    used: Vec<Member>,
    max: usize,
    /// Counts changes of behaviours: a member of before is made again.
    version: u64,
}

#[derive(Clone, Copy)]
struct Member {
    st: *mut memcached_st,
    version: u64,
}

// SAFETY: a handle is used by one thread at a time: by the one that fetched it, or under the lock.
unsafe impl Send for PoolState {}

/// How long a call waits for a free handle.
enum Patience {
    No,
    For(Duration),
    Forever,
}

/// A `struct timespec`.
#[repr(C)]
pub struct Time {
    seconds: i64,
    nanos: i64,
}

impl PoolState {
    /// A copy of the first handle.
    fn grow(&mut self) -> Option<Member> {
        // SAFETY: the first handle lives as long as the pool.
        let st = unsafe { life::tavola_compat_memcached_clone(ptr::null_mut(), self.master) };
        let version = self.version;
        (!st.is_null()).then_some(Member { st, version })
    }

    fn take(&mut self) -> Option<*mut memcached_st> {
        let mut member = match self.free.pop() {
            Some(member) => member,
            None if self.used.len() < self.max => self.grow()?,
            None => return None,
        };
        if member.version != self.version {
            let new = self.grow()?;
            // SAFETY: nobody uses it.
            unsafe { life::tavola_compat_memcached_free(member.st) };
            member = new;
        }
        self.used.push(member);
        Some(member.st)
    }
}

impl memcached_pool_st {
    fn new(master: *mut memcached_st, initial: u32, max: u32, is_callers: bool) -> Option<Self> {
        let mut state = PoolState {
            master,
            free: Vec::new(),
            used: Vec::new(),
            max: max as usize,
            version: 0,
        };
        for _ in 0..initial {
            let member = state.grow()?;
            state.free.push(member);
        }
        Some(Self {
            state: Mutex::new(state),
            is_returned: Condvar::new(),
            is_callers,
        })
    }

    fn fetch(&self, patience: &Patience) -> Result<*mut memcached_st, Code> {
        let began = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(st) = state.take() {
                return Ok(st);
            }
            let left = match patience {
                Patience::No => return Err(codes::NOTFOUND),
                Patience::Forever => Duration::from_secs(3600),
                Patience::For(time) => match time.checked_sub(began.elapsed()) {
                    Some(left) if !left.is_zero() => left,
                    _ => return Err(codes::TIMEOUT),
                },
            };
            let waited = self.is_returned.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn release(&self, st: *mut memcached_st) -> Code {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !lock().used.iter().any(|member| member.st == st) {
            return codes::INVALID_ARGUMENTS;
        }
        // It may rest for long, so it does not keep what it holds.
        read_handle(inner!(st), (), |inner| {
            let _ = inner.made_fleet().map(Fleet::flush);
        });
        let mut state = lock();
        let Some(place) = state.used.iter().position(|member| member.st == st) else {
            return codes::INVALID_ARGUMENTS;
        };
        let member = state.used.swap_remove(place);
        state.free.push(member);
        drop(state);
        self.is_returned.notify_one();
        codes::SUCCESS
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_create(
    master: *mut memcached_st,
    initial: u32,
    max: u32,
) -> *mut memcached_pool_st {
    frame(ptr::null_mut(), || {
        let is_made = read_handle(inner!(master), false, |_| true);
        if !is_made || max == 0 || initial > max {
            return ptr::null_mut();
        }
        let pool = memcached_pool_st::new(master, initial, max, true);
        pool.map_or(ptr::null_mut(), |pool| Box::into_raw(Box::new(pool)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool(
    string: *const c_char,
    length: usize,
) -> *mut memcached_pool_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let Ok((master, pool)) = (unsafe { options::made(string, length) }) else {
            return ptr::null_mut();
        };
        let (min, max) = (pool.min.unwrap_or(5), pool.max.unwrap_or(25));
        let pool = memcached_pool_st::new(master, min.min(max), max.max(1), false);
        pool.map_or(ptr::null_mut(), |pool| Box::into_raw(Box::new(pool)))
    })
}

/// Ends a pool, if all its handles were given back. Returns the handle that it was made of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_destroy(
    pool: *mut memcached_pool_st,
) -> *mut memcached_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise: it is used by this thread alone, and not any more.
        unsafe {
            let Some(inside) = pool.as_mut() else {
                return ptr::null_mut();
            };
            let state = inside
                .state
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner);
            if !state.used.is_empty() {
                return ptr::null_mut();
            }
            for member in state.free.drain(..) {
                life::tavola_compat_memcached_free(member.st);
            }
            let (master, is_callers) = (state.master, inside.is_callers);
            drop(Box::from_raw(pool));
            if !is_callers {
                life::tavola_compat_memcached_free(master);
                return ptr::null_mut();
            }
            master
        }
    })
}

/// Fetches a handle, and writes the code.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn fetched(
    pool: *const memcached_pool_st,
    patience: &Patience,
    error: *mut Code,
) -> *mut memcached_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the promise of this function.
        let pool = unsafe { given::handle(pool, "pool") };
        let fetched = match pool {
            Ok(pool) => pool.fetch(patience),
            Err(_) => Err(codes::INVALID_ARGUMENTS),
        };
        // SAFETY: the promise of this function.
        unsafe { write(error, fetched.err().unwrap_or(codes::SUCCESS)) };
        fetched.unwrap_or(ptr::null_mut())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_pop(
    pool: *mut memcached_pool_st,
    block: bool,
    error: *mut Code,
) -> *mut memcached_st {
    let patience = match block {
        true => Patience::Forever,
        false => Patience::No,
    };
    // SAFETY: the caller's promise.
    unsafe { fetched(pool, &patience, error) }
}

/// Waits for so long at most; not at all if the time is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_fetch(
    pool: *mut memcached_pool_st,
    relative_time: *const Time,
    error: *mut Code,
) -> *mut memcached_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe {
            let patience = match relative_time.as_ref() {
                None => Patience::No,
                Some(time) => Patience::For(Duration::new(
                    time.seconds.max(0) as u64,
                    time.nanos.clamp(0, 999_999_999) as u32,
                )),
            };
            fetched(pool, &patience, error)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_push(
    pool: *mut memcached_pool_st,
    released: *mut memcached_st,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        match unsafe { given::handle(pool, "pool") } {
            Ok(pool) => frame(codes::FAILURE, || pool.release(released)),
            Err(_) => codes::INVALID_ARGUMENTS,
        }
    })
}

/// Handles that are in use have the behaviour when they are fetched again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_behavior_set(
    pool: *mut memcached_pool_st,
    flag: c_int,
    data: u64,
) -> Code {
    // SAFETY: the caller's promise.
    let Ok(pool) = (unsafe { given::handle(pool, "pool") }) else {
        return codes::INVALID_ARGUMENTS;
    };
    frame(codes::FAILURE, || {
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        let master = state.master;
        let set = code(inner!(master), |inner| {
            behaviors::set(inner, flag as usize, data)
        });
        if set == codes::SUCCESS {
            state.version += 1;
        }
        set
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_pool_behavior_get(
    pool: *mut memcached_pool_st,
    flag: c_int,
    value: *mut u64,
) -> Code {
    // SAFETY: the caller's promise.
    let Ok(pool) = (unsafe { given::handle(pool, "pool") }) else {
        return codes::INVALID_ARGUMENTS;
    };
    frame(codes::FAILURE, || {
        let state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        let master = state.master;
        let got = read_handle(inner!(master), None, |inner| {
            inner.settings.value(flag as usize)
        });
        let Some(got) = got else {
            return codes::INVALID_ARGUMENTS;
        };
        // SAFETY: the caller's promise.
        unsafe { write(value, got) };
        codes::SUCCESS
    })
}
