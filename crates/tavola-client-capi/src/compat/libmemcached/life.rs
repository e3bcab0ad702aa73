//! Making, copying and freeing a `memcached_st`; its memory and its data of the caller.

use super::codes::{self, Code};
use super::entry::{code, frame, handle, inner, read_handle, with, write};
use super::fault::Fault;
use super::handle::Handle;
use super::memory::Memory;
use super::types::{CallocFn, FreeFn, MallocFn, ReallocFn, memcached_st};
use std::ffi::{c_char, c_void};
use std::ptr;

/// Makes the caller's struct, or one of ours if it is NULL, empty.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn place(given: *mut memcached_st) -> *mut memcached_st {
    if given.is_null() {
        let mut st = memcached_st::empty();
        st.is_allocated = 1;
        return Box::into_raw(Box::new(st));
    }
    // SAFETY: MC-1; it holds nothing yet.
    unsafe { given.write(memcached_st::empty()) };
    given
}

/// Makes a handle.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(super) unsafe fn create(given: *mut memcached_st) -> *mut memcached_st {
    // SAFETY: the promise of this function; the place is one afterwards.
    unsafe {
        let st = place(given);
        (*st).handle = Box::into_raw(Box::new(Handle::new(st)));
        st
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_create(
    ptr: *mut memcached_st,
) -> *mut memcached_st {
    // SAFETY: the caller's promise.
    frame(ptr::null_mut(), || unsafe { create(ptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_clone(
    destination: *mut memcached_st,
    source: *const memcached_st,
) -> *mut memcached_st {
    frame(ptr::null_mut(), || {
        if source.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { create(destination) };
        }
        // SAFETY: the caller's promise.
        let Ok(from) = (unsafe { handle(source) }) else {
            return ptr::null_mut();
        };
        // SAFETY: the caller's promise.
        let st = unsafe { place(destination) };
        let copy = from.copy(st);
        let callback = from.callbacks.clone;
        // SAFETY: it is a place for a handle.
        unsafe { (*st).handle = Box::into_raw(Box::new(copy)) };
        // SAFETY: the caller's function, called as its type says.
        let made = callback.map_or(codes::SUCCESS, |callback| unsafe { callback(st, source) });
        if made != codes::SUCCESS {
            // SAFETY: it was just made.
            unsafe { destroy(st) };
            return ptr::null_mut();
        }
        st
    })
}

/// Frees a handle, and its struct if it is ours.
///
/// # Safety
/// MC-1 of `given.rs`; it is not used any more.
pub(super) unsafe fn destroy(st: *mut memcached_st) {
    // SAFETY: the promise of this function.
    unsafe {
        let inner = std::mem::replace(&mut (*st).handle, ptr::null_mut());
        if !inner.is_null() {
            drop(Box::from_raw(inner));
        }
        if (*st).is_allocated == 1 {
            drop(Box::from_raw(st));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_free(ptr: *mut memcached_st) {
    frame((), || {
        // SAFETY: the caller's promise.
        let Ok(inner) = (unsafe { handle(ptr) }) else {
            return;
        };
        inner.disconnect();
        if let Some(cleanup) = inner.callbacks.cleanup {
            // SAFETY: the caller's function, called as its type says.
            unsafe { cleanup(ptr) };
        }
        // SAFETY: the caller's promise.
        unsafe { destroy(ptr) };
    });
}

/// As a free and a create.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_reset(ptr: *mut memcached_st) -> Code {
    code(inner!(ptr), |inner| {
        let memory = inner.memory;
        *inner = Handle::new(ptr);
        inner.memory = memory;
        Ok(codes::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_quit(ptr: *mut memcached_st) {
    frame((), || {
        let _ = with(inner!(ptr), |inner| {
            inner.disconnect();
            Ok(())
        });
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_servers_reset(ptr: *mut memcached_st) {
    frame((), || {
        let _ = with(inner!(ptr), |inner| {
            inner.disconnect();
            inner.servers.clear();
            inner.last_disconnect = None;
            Ok(())
        });
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tavola_compat_memcached_lib_version() -> *const c_char {
    c"1.1.4".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get_user_data(
    ptr: *const memcached_st,
) -> *mut c_void {
    read_handle(inner!(ptr), ptr::null_mut(), |inner| inner.user_data)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_set_user_data(
    ptr: *mut memcached_st,
    data: *mut c_void,
) -> *mut c_void {
    read_handle(inner!(ptr), ptr::null_mut(), |inner| {
        std::mem::replace(&mut inner.user_data, data)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_set_memory_allocators(
    ptr: *mut memcached_st,
    malloc: MallocFn,
    free: FreeFn,
    realloc: ReallocFn,
    calloc: CallocFn,
    context: *mut c_void,
) -> Code {
    let given = [
        malloc.is_some(),
        free.is_some(),
        realloc.is_some(),
        calloc.is_some(),
    ];
    let memory = Memory {
        malloc,
        free,
        realloc,
        calloc,
        context,
        owner: ptr,
    };
    code(inner!(ptr), |inner| {
        if given.contains(&true) && given.contains(&false) {
            return Err(Fault::new(
                codes::FAILURE,
                "give all four functions, or none",
            ));
        }
        inner.memory = memory;
        Ok(codes::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get_memory_allocators(
    ptr: *const memcached_st,
    malloc: *mut MallocFn,
    free: *mut FreeFn,
    realloc: *mut ReallocFn,
    calloc: *mut CallocFn,
) {
    frame((), || {
        // SAFETY: the caller's promise.
        unsafe {
            let Ok(inner) = handle(ptr) else { return };
            write(malloc, inner.memory.malloc);
            write(free, inner.memory.free);
            write(realloc, inner.memory.realloc);
            write(calloc, inner.memory.calloc);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get_memory_allocators_context(
    ptr: *const memcached_st,
) -> *mut c_void {
    read_handle(inner!(ptr), ptr::null_mut(), |inner| inner.memory.context)
}
