//! Where results go: into the caller's buffer, or where a callback says.

use crate::entry::{Answer, OK};
use crate::status::Failure;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// Returns memory for a result of `len` bytes, which the library writes there before the call
/// returns. If it returns NULL, the call returns `TAVOLA_ERR_STOPPED`, unless `len` is 0. It is
/// called once, with the exact length, after everything else that can fail, and not at all without
/// a result. It must not change the `tavola_buffer` of the call.
pub type tavola_alloc_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, len: usize) -> *mut c_void>;

/// Takes a result: `len` bytes, which are lent until it returns. If it does not return 0, the call
/// returns `TAVOLA_ERR_STOPPED`. It is called when `tavola_alloc_fn` would be.
pub type tavola_write_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void, len: usize) -> i32>;

/// Says where a result goes: to a buffer,
///
/// `tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);`
///
/// or to memory that `alloc` returns, for runtimes that create a string with its length,
///
/// `static void *begin(void *user, size_t len) { return bytes_of(*(string **)user = make(len)); }`
/// `tavola_buffer value = TAVOLA_BUFFER_ALLOC(begin, &string);`
///
/// or to `write`, for runtimes that create a string from bytes:
///
/// `static int32_t push(void *L, const void *b, size_t n) { lua_pushlstring(L, b, n); return 0; }`
/// `tavola_buffer value = TAVOLA_BUFFER_WRITE(push, L);`
/// `tavola_status status = tavola_get(table, key, key_len, &value);`
#[repr(C)]
pub struct tavola_buffer {
    /// The buffer, or NULL to ask only for the length.
    pub data: *mut c_void,
    /// How many bytes the buffer has room for.
    pub capacity: usize,
    /// The call sets it to the length of the result, also if the result is longer than `capacity`
    /// (`TAVOLA_ERR_TOO_SMALL`) and was not copied.
    pub len: usize,
    /// If not NULL, the library calls it and does not use the buffer.
    pub alloc: tavola_alloc_fn,
    /// If not NULL, the library calls it and uses neither `alloc` nor the buffer.
    pub write: tavola_write_fn,
    /// Passed to the callbacks.
    pub user: *mut c_void,
}

impl tavola_buffer {
    /// Whether it is a callback that says where the result goes.
    #[inline(always)]
    fn asks(&self) -> bool {
        self.alloc.is_some() || self.write.is_some()
    }

    /// Whether a result of so many bytes has room, as far as that is known beforehand; notes
    /// what is needed if not.
    pub(crate) fn expect(&mut self, len: usize) -> Result<(), Failure> {
        let room = if self.data.is_null() {
            0
        } else {
            self.capacity
        };
        if !self.asks() && len > room {
            self.len = len;
            return Err(Failure::too_small(len));
        }
        Ok(())
    }

    /// The caller's memory, for a result that is written there at once; `None` where it has to be
    /// copied: a callback is to be asked, or `source`, which the call still needs, lies there.
    #[inline(always)]
    pub(crate) fn room<'a>(&self, source: &[u8]) -> Option<&'a mut [u8]> {
        if self.asks() || self.capacity > isize::MAX as usize {
            return None;
        }
        if self.data.is_null() {
            return Some(&mut []);
        }
        let (room, sources) = (self.data.addr(), source.as_ptr().addr());
        let is_apart = sources.wrapping_sub(room) >= self.capacity
            && room.wrapping_sub(sources) >= source.len();
        // SAFETY: CAPI-1 of `given.rs`: the caller's to write, and ours during the call; nothing
        // else that the call reads lies there.
        is_apart.then(|| unsafe { std::slice::from_raw_parts_mut(self.data.cast(), self.capacity) })
    }

    /// Sets the length of a result that was written to [`Self::room`], if it fits
    /// there.
    #[inline(always)]
    pub(crate) fn written(&mut self, len: usize, room: usize) -> Answer {
        self.len = len;
        match len <= room {
            true => OK,
            false => Err(Failure::too_small(len)),
        }
    }

    /// Lets a result stand there. Where the buffer is memory of the caller's it fails only as
    /// [`Self::expect`] does.
    #[inline(always)]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Answer {
        let len = bytes.len();
        match (self.write, self.alloc) {
            (Some(write), _) => {
                // SAFETY: the caller's function, called as its type says.
                if unsafe { write(self.user, bytes.as_ptr().cast(), len) } != 0 {
                    return Err(Failure::stopped());
                }
            }
            (None, Some(alloc)) => {
                // SAFETY: the caller's function, called as its type says.
                let place = unsafe { alloc(self.user, len) };
                if place.is_null() && len != 0 {
                    return Err(Failure::stopped());
                }
                fill(place, bytes);
            }
            (None, None) => {
                self.expect(len)?;
                fill(self.data, bytes);
            }
        }
        self.len = len;
        OK
    }
}

/// Copies a result to a place that a caller gave for it.
#[inline(always)]
fn fill(place: *mut c_void, bytes: &[u8]) {
    if !bytes.is_empty() {
        // SAFETY: CAPI-1 of `given.rs`: the place has room for them, and is no memory of ours.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast::<u8>(), bytes.len()) };
    }
}

/// More memory than this a thread does not keep between calls.
const KEPT: usize = 1 << 20;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends a vector that keeps its memory from call to call. A call within a call, from a callback,
/// gets another one, and so does a thread that is ending.
#[inline(always)]
pub(crate) fn with_scratch<T>(act: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
    let outcome = act(&mut scratch);
    if scratch.capacity() <= KEPT {
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_keeps_its_memory_unless_it_is_large() {
        let at = with_scratch(|outer| {
            outer.resize(100, 1);
            with_scratch(|inner| assert_eq!(inner.capacity(), 0));
            outer.as_ptr()
        });
        with_scratch(|again| assert_eq!((again.as_ptr(), again.len()), (at, 100)));
        with_scratch(|large| large.resize(KEPT + 1, 0));
        with_scratch(|fresh| assert_eq!(fresh.capacity(), 0));
    }
}
