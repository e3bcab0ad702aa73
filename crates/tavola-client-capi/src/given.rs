//! What callers hand in: checked for NULL, then used as what it is said to be.
//!
//! **MC-1** The caller of a function keeps what the crate's head says: a pointer that is not NULL
//! leads to a living handle, to as many bytes as the length beside it says, to text that ends with
//! a NUL, or to room for what is written there; nobody changes these during the call. Keys and
//! values of a batch stay until the batch is cleared or freed.
//!
//! [`given!`] is the one place where this is relied on.

use crate::status::Failure;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// An argument, by what it is: `given!(handle client)`, `given!(bytes key, key_len)`,
/// `given!(text servers)`, `given!(maybe_text topic)`, `given!(exclusive batch)`,
/// `given!(maybe number)`, `given!(sized options)`.
macro_rules! given {
    ($kind:ident $pointer:ident $(, $len:ident)?) => {{
        // SAFETY: MC-1 of `given.rs`; the function around this is unsafe, its caller keeps it.
        unsafe { crate::given::$kind($pointer $(, $len)?, stringify!($pointer)) }?
    }};
}
pub(crate) use given;

/// A handle that threads share. As of every function here, the caller's promise is MC-1.
pub(crate) unsafe fn handle<'a, T>(
    pointer: *const T,
    argument: &'static str,
) -> Result<&'a T, Failure> {
    // SAFETY: MC-1.
    unsafe { pointer.as_ref() }.ok_or(Failure::Null(argument))
}

/// A handle or struct that is for one thread at a time, or room for a result.
pub(crate) unsafe fn exclusive<'a, T>(
    pointer: *mut T,
    argument: &'static str,
) -> Result<&'a mut T, Failure> {
    // SAFETY: MC-1.
    unsafe { pointer.as_mut() }.ok_or(Failure::Null(argument))
}

/// As [`exclusive`], where the caller may do without, by NULL.
pub(crate) unsafe fn maybe<'a, T>(
    pointer: *mut T,
    _argument: &'static str,
) -> Result<Option<&'a mut T>, Failure> {
    // SAFETY: MC-1.
    Ok(unsafe { pointer.as_mut() })
}

/// Bytes; the pointer may be NULL if there are none.
pub(crate) unsafe fn bytes<'a>(
    data: *const c_void,
    len: usize,
    argument: &'static str,
) -> Result<&'a [u8], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Failure::Null(argument));
    }
    if len > isize::MAX as usize {
        return Err(Failure::argument("a length is larger than any memory"));
    }
    // SAFETY: MC-1, and the length is one that a slice can have.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// Bytes as they are handed in.
#[derive(Clone, Copy)]
pub(crate) struct RawBytes(pub(crate) *const c_void, pub(crate) usize);

/// An array; the pointer may be NULL if it is empty.
pub(crate) unsafe fn array<'a, T>(data: *const T, count: usize) -> &'a [T] {
    match data.is_null() || count == 0 {
        true => &[],
        // SAFETY: MC-1.
        false => unsafe { std::slice::from_raw_parts(data, count) },
    }
}

/// Text in UTF-8 that ends with a NUL.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    argument: &'static str,
) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::Null(argument));
    }
    // SAFETY: MC-1.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| Failure::Argument(format!("{argument} is not UTF-8; hand in UTF-8")))
}

/// As [`text`]; NULL is empty text.
pub(crate) unsafe fn maybe_text<'a>(
    pointer: *const c_char,
    argument: &'static str,
) -> Result<&'a str, Failure> {
    match pointer.is_null() {
        true => Ok(""),
        // SAFETY: MC-1.
        false => unsafe { text(pointer, argument) },
    }
}

/// A struct of integers and pointers whose first field is its size as the caller knows it: headers
/// differ, and fields are added at the end.
///
/// # Safety
/// All bytes zero is a value, it has no padding, and its first field is `size: usize`.
pub(crate) unsafe trait SizedStruct: Copy {
    /// All zero except its size.
    fn new() -> Self {
        // SAFETY: zero is a value; the size is the first field.
        unsafe {
            let mut zero: Self = std::mem::zeroed();
            ptr::from_mut(&mut zero)
                .cast::<usize>()
                .write(size_of::<Self>());
            zero
        }
    }
}

/// What the caller's struct says, as the library's own: all zero for NULL, a field that an older
/// header lacks is 0, and one that only a newer header has must be 0.
pub(crate) unsafe fn sized<T: SizedStruct>(
    pointer: *const T,
    argument: &'static str,
) -> Result<T, Failure> {
    let mut read = T::new();
    if pointer.is_null() {
        return Ok(read);
    }
    // SAFETY: MC-1: the first field is there, whatever follows.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(size_of::<usize>()..=4096).contains(&size) {
        return Err(Failure::Argument(format!(
            "the size of {argument} is not set; begin with TAVOLA_MC_INIT"
        )));
    }
    // SAFETY: MC-1: so many bytes are there.
    let given = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let ours = size.min(size_of::<T>());
    if given[ours..].iter().any(|byte| *byte != 0) {
        return Err(Failure::Argument(format!(
            "{argument} has fields that this version of the library does not know; install the \
             version of the header"
        )));
    }
    // SAFETY: both have so many bytes, and any integers are a value.
    unsafe {
        ptr::copy_nonoverlapping(given.as_ptr(), ptr::from_mut(&mut read).cast::<u8>(), ours);
    }
    Ok(read)
}

/// Closes a handle that was a box.
pub(crate) unsafe fn close<T>(handle: *mut T) {
    crate::entry::entry(|| {
        if !handle.is_null() {
            // SAFETY: MC-1: it was handed out as a box, and is used no more.
            drop(unsafe { Box::from_raw(handle) });
        }
        crate::entry::OK
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct Old {
        size: usize,
        a: u64,
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct New {
        size: usize,
        a: u64,
        b: u64,
    }

    // SAFETY: integers without padding, the size first.
    unsafe impl SizedStruct for Old {}
    // SAFETY: integers without padding, the size first.
    unsafe impl SizedStruct for New {}

    #[test]
    fn structs_of_older_and_newer_headers_are_read() {
        let old = Old { size: 16, a: 7 };
        // SAFETY: the size says how many bytes are read.
        let read: New = unsafe { sized(ptr::from_ref(&old).cast(), "options") }.unwrap();
        assert_eq!((read.a, read.b), (7, 0));
        let mut new = New {
            size: 24,
            a: 7,
            b: 0,
        };
        // SAFETY: as above.
        let read: Old = unsafe { sized(ptr::from_ref(&new).cast(), "options") }.unwrap();
        assert_eq!(read.a, 7);
        new.b = 1;
        // SAFETY: as above.
        let wrong = unsafe { sized::<Old>(ptr::from_ref(&new).cast(), "options") };
        assert!(wrong.unwrap_err().to_string().contains("does not know"));
        new.size = 0;
        // SAFETY: as above.
        let wrong = unsafe { sized(&raw const new, "options") };
        assert!(wrong.unwrap_err().to_string().contains("TAVOLA_MC_INIT"));
        // SAFETY: NULL is fine.
        let none: New = unsafe { sized(ptr::null(), "options") }.unwrap();
        assert_eq!((none.size, none.a, none.b), (24, 0, 0));
    }
}
