//! What codes mean, and the last failure.

use super::codes::{self, Code};
use super::entry::{inner, read_handle};
use super::types::memcached_st;
use std::ffi::{c_char, c_int};
use std::ptr;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_strerror(
    _ptr: *const memcached_st,
    code: Code,
) -> *const c_char {
    codes::text(code).as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_last_error(ptr: *const memcached_st) -> Code {
    read_handle(inner!(ptr), codes::INVALID_ARGUMENTS, |inner| {
        inner.last.as_ref().map_or(codes::SUCCESS, |last| last.code)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_last_error_message(
    ptr: *const memcached_st,
) -> *const c_char {
    read_handle(inner!(ptr), ptr::null(), |inner| {
        let text = inner.last_text().unwrap_or(codes::text(codes::SUCCESS));
        text.as_ptr()
    })
}

/// The number of the system's error; the message has it as text, so this is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_last_error_errno(
    _ptr: *const memcached_st,
) -> c_int {
    0
}
