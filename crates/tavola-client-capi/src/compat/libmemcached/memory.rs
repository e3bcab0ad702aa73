//! Memory that the caller frees: by `malloc`, or by the functions that it has given.

use super::types::{CallocFn, FreeFn, MallocFn, ReallocFn, memcached_st};
use std::ffi::{c_char, c_void};
use std::{ptr, slice};

unsafe extern "C" {
    pub(super) fn malloc(size: usize) -> *mut c_void;
    pub(super) fn realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    pub(super) fn free(memory: *mut c_void);
}

/// Where memory comes from.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub(super) malloc: MallocFn,
    pub(super) free: FreeFn,
    pub(super) realloc: ReallocFn,
    pub(super) calloc: CallocFn,
    pub(super) context: *mut c_void,
    /// Passed to the functions.
    pub(super) owner: *const memcached_st,
}

impl Memory {
    pub(super) fn usual(owner: *const memcached_st) -> Self {
        Self {
            malloc: None,
            free: None,
            realloc: None,
            calloc: None,
            context: ptr::null_mut(),
            owner,
        }
    }

    /// Returns NULL if there is none.
    pub(super) fn get(&self, size: usize) -> *mut c_void {
        match self.malloc {
            // SAFETY: the caller's function, called as its type says.
            Some(function) => unsafe { function(self.owner, size, self.context) },
            // SAFETY: any size is allowed.
            None => unsafe { malloc(size) },
        }
    }

    /// Takes memory back.
    ///
    /// # Safety
    /// It is of [`Memory::get`] of the same functions, or NULL.
    pub(super) unsafe fn put(&self, memory: *mut c_void) {
        match self.free {
            // SAFETY: the caller's function, called as its type says.
            Some(function) => unsafe { function(self.owner, memory, self.context) },
            // SAFETY: the promise of this function.
            None => unsafe { free(memory) },
        }
    }
}

/// Bytes with a NUL behind them.
pub(super) struct Buffer {
    data: *mut u8,
    len: usize,
    memory: Memory,
}

impl Buffer {
    /// Returns `None` if there is no memory.
    pub(super) fn new(memory: Memory, len: usize) -> Option<Self> {
        let data: *mut u8 = memory.get(len.checked_add(1)?).cast();
        if data.is_null() {
            return None;
        }
        // SAFETY: there is one byte more than `len`; all are set, so that they can be lent.
        unsafe { ptr::write_bytes(data, 0, len + 1) };
        Some(Self { data, len, memory })
    }

    pub(super) fn of(memory: Memory, bytes: &[u8]) -> Option<Self> {
        let mut buffer = Self::new(memory, bytes.len())?;
        buffer.bytes().copy_from_slice(bytes);
        Some(buffer)
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory has so many bytes, and is ours.
        unsafe { slice::from_raw_parts_mut(self.data, self.len) }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Hands the bytes to the caller, who frees them.
    pub(super) fn into_raw(self) -> *mut c_char {
        let data = self.data;
        std::mem::forget(self);
        data.cast()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it is of the same functions, and nobody else has it.
        unsafe { self.memory.put(self.data.cast()) };
    }
}
