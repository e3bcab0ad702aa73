//! Results: values with their keys, flags and unique numbers.

use super::codes::{self, Code};
use super::entry::{frame, handle};
use super::memory::{Buffer, Memory};
use super::types::{Found, memcached_result_st, memcached_st};
use crate::given;
use std::ffi::{c_char, c_void};
use std::ptr;

/// Where the memory of a result is from.
fn memory(result: &memcached_result_st) -> Memory {
    // SAFETY: the handle lives as long as its results, as the documentation says.
    let handle = unsafe { handle(result.root) };
    handle.map_or_else(|_| Memory::usual(ptr::null()), |inner| inner.memory)
}

impl memcached_result_st {
    /// Frees the value.
    pub(super) fn clear(&mut self) {
        let value = std::mem::replace(&mut self.value, ptr::null_mut());
        if !value.is_null() {
            // SAFETY: it is of the same functions, and nobody else has it.
            unsafe { memory(self).put(value.cast()) };
        }
        (self.value_length, self.key_length) = (0, 0);
        (self.flags, self.cas, self.expiration) = (0, 0, 0);
    }

    /// Takes what was found.
    pub(super) fn fill(&mut self, found: Found) {
        self.clear();
        let room = self.key.len() - 1;
        self.key_length = found.key.len().min(room);
        self.key.fill(0);
        for (place, byte) in self.key.iter_mut().zip(found.key.iter().take(room)) {
            *place = *byte as c_char;
        }
        self.value_length = found.value.len();
        (self.flags, self.cas) = (found.flags, found.cas);
        self.value = found.value.into_raw();
    }

    /// Puts a value there.
    fn put(&mut self, value: &[u8]) -> Code {
        let Some(buffer) = Buffer::of(memory(self), value) else {
            return codes::MEMORY_ALLOCATION_FAILURE;
        };
        let old = std::mem::replace(&mut self.value, buffer.into_raw());
        self.value_length = value.len();
        if !old.is_null() {
            // SAFETY: it is of the same functions, and nobody else has it.
            unsafe { memory(self).put(old.cast()) };
        }
        codes::SUCCESS
    }
}

/// A result of the caller or of ours, made empty.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(super) unsafe fn create(
    root: *const memcached_st,
    given: *mut memcached_result_st,
) -> *mut memcached_result_st {
    let mut result = memcached_result_st::of(root.cast_mut());
    if given.is_null() {
        result.is_allocated = 1;
        return Box::into_raw(Box::new(result));
    }
    // SAFETY: the promise of this function.
    unsafe { given.write(result) };
    given
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_create(
    ptr: *const memcached_st,
    result: *mut memcached_result_st,
) -> *mut memcached_result_st {
    // SAFETY: the caller's promise.
    frame(ptr::null_mut(), || unsafe { create(ptr, result) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_reset(result: *mut memcached_result_st) {
    frame((), || {
        // SAFETY: the caller's promise.
        if let Some(result) = unsafe { result.as_mut() } {
            frame((), || result.clear());
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_free(result: *mut memcached_result_st) {
    frame((), || {
        // SAFETY: the caller's promise: a result, which is not used any more.
        unsafe {
            let Some(inside) = result.as_mut() else {
                return;
            };
            inside.clear();
            if inside.is_allocated == 1 {
                drop(Box::from_raw(result));
            }
        }
    });
}

/// Reads a field of a result.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn field<T: Copy>(
    result: *const memcached_result_st,
    otherwise: T,
    read: impl FnOnce(&memcached_result_st) -> T,
) -> T {
    frame(otherwise, || {
        // SAFETY: the promise of this function.
        unsafe { result.as_ref() }.map_or(otherwise, read)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_key_value(
    result: *const memcached_result_st,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe {
        field(result, ptr::null(), |result| match result.key_length {
            0 => ptr::null(),
            _ => result.key.as_ptr(),
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_key_length(
    result: *const memcached_result_st,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { field(result, 0, |result| result.key_length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_value(
    result: *const memcached_result_st,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { field(result, ptr::null(), |result| result.value.cast_const()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_take_value(
    result: *mut memcached_result_st,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let Some(result) = (unsafe { result.as_mut() }) else {
            return ptr::null_mut();
        };
        result.value_length = 0;
        std::mem::replace(&mut result.value, ptr::null_mut())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_length(
    result: *const memcached_result_st,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { field(result, 0, |result| result.value_length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_flags(
    result: *const memcached_result_st,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { field(result, 0, |result| result.flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_cas(
    result: *const memcached_result_st,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { field(result, 0, |result| result.cas) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_set_value(
    result: *mut memcached_result_st,
    value: *const c_void,
    length: usize,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        let (result, value) = unsafe { (result.as_mut(), given::bytes(value, length, "value")) };
        match (result, value) {
            (Some(result), Ok(value)) => frame(codes::FAILURE, || result.put(value)),
            _ => codes::INVALID_ARGUMENTS,
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_set_flags(
    result: *mut memcached_result_st,
    flags: u32,
) {
    frame((), || {
        // SAFETY: the caller's promise.
        if let Some(result) = unsafe { result.as_mut() } {
            result.flags = flags;
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_result_set_expiration(
    result: *mut memcached_result_st,
    expiration: i64,
) {
    frame((), || {
        // SAFETY: the caller's promise.
        if let Some(result) = unsafe { result.as_mut() } {
            result.expiration = expiration;
        }
    })
}
