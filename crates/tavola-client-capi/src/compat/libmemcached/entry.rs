//! The frame of each call: no panic crosses it, and a failure is kept for
//! `memcached_last_error`.

use super::codes::{self, Code};
use super::fault::Fault;
use super::handle::Handle;
use super::types::memcached_st;
use crate::entry::entry;
use crate::given;

/// The handle of a `memcached_st`.
///
/// # Safety
/// MC-1 of `given.rs`; nobody else uses it as long as this is lent.
pub(super) unsafe fn handle<'a>(ptr: *const memcached_st) -> Result<&'a mut Handle, Fault> {
    // SAFETY: MC-1.
    let st = unsafe { given::handle(ptr, "ptr") }?;
    // SAFETY: it is NULL or a box of `memcached_create`, which one thread uses at a time.
    let handle = unsafe { st.handle.as_mut() };
    handle.ok_or_else(|| Fault::arguments("the memcached_st was not made by memcached_create"))
}

/// Runs the inside of a function, without a handle. A panic is `otherwise`.
pub(super) fn frame<T>(otherwise: T, inside: impl FnOnce() -> T) -> T {
    let mut value = otherwise;
    entry(|| {
        value = inside();
        crate::entry::OK
    });
    value
}

/// The handle of a `memcached_st`, or why there is none: `inner!(ptr)`.
macro_rules! inner {
    ($pointer:expr) => {
        // SAFETY: MC-1 of `given.rs`; the function around this is unsafe, its caller keeps it.
        unsafe { crate::compat::libmemcached::entry::handle($pointer) }
    };
}
pub(super) use inner;

/// Runs the inside of a function with its handle, and keeps a failure in it.
pub(super) fn with<T>(
    handle: Result<&mut Handle, Fault>,
    inside: impl FnOnce(&mut Handle) -> Result<T, Fault>,
) -> Result<T, Code> {
    let handle = handle.map_err(|fault| fault.code)?;
    frame(Err(codes::FAILURE), || {
        handle.last = None;
        inside(handle).map_err(|fault| handle.note(&fault))
    })
}

/// As [`with`], of a function that returns a code.
pub(super) fn code(
    handle: Result<&mut Handle, Fault>,
    inside: impl FnOnce(&mut Handle) -> Result<Code, Fault>,
) -> Code {
    with(handle, inside).unwrap_or_else(|code| code)
}

/// Reads something of a handle, and leaves its last failure.
pub(super) fn read_handle<T>(
    handle: Result<&mut Handle, Fault>,
    otherwise: T,
    inside: impl FnOnce(&mut Handle) -> T,
) -> T {
    match handle {
        Ok(handle) => frame(otherwise, || inside(handle)),
        Err(_) => otherwise,
    }
}

/// Writes a result where the caller wants it, if anywhere.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(super) unsafe fn write<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: MC-1.
        unsafe { place.write(value) };
    }
}
