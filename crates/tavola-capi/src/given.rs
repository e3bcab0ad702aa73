//! What callers hand in: checked for NULL, then used as what it is said to be.
//!
//! **CAPI-1** The caller of a function keeps what the crate's head says: a pointer that is not NULL
//! leads to a living handle, to as many bytes as the length beside it says, to text that ends with
//! a NUL, or to room for what is written there; nobody changes these during the call.
//!
//! [`given!`] is the one place where this is relied on.

use crate::status::Failure;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};

/// An argument, by what it is: `given!(handle table)`, `given!(bytes key, key_len)`,
/// `given!(raw key)`, `given!(name path)`, `given!(text queue)`, `given!(out len)`,
/// `given!(maybe sum)`, `given!(buffer value)`, `given!(maybe_buffer value)`,
/// `given!(items keys, count)`, `given!(items_out elements, most)`, `given!(sized options)`,
/// `given!(sized_out stats)`, `given!(maybe_sized_out had)`.
macro_rules! given {
    ($kind:ident $pointer:ident $(, $len:ident)?) => {{
        // SAFETY: CAPI-1 of `given.rs`; the function around this is unsafe, its caller keeps it.
        unsafe { crate::given::$kind($pointer $(, $len)?, stringify!($pointer)) }?
    }};
}
pub(crate) use given;

/// A handle. As of every function here, the caller's promise is CAPI-1.
pub(crate) unsafe fn handle<'a, T>(
    pointer: *const T,
    argument: &'static str,
) -> Result<&'a T, Failure> {
    // SAFETY: CAPI-1.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(argument))
}

/// Compiles for handles that threads share, as [`handle`] has it.
pub(crate) const fn is_shared<T: Send + Sync>() {}

/// A handle or struct that is for one thread at a time.
pub(crate) unsafe fn buffer<'a, T>(
    pointer: *mut T,
    argument: &'static str,
) -> Result<&'a mut T, Failure> {
    // SAFETY: CAPI-1.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::null(argument))
}

/// As [`buffer`], where the caller may do without, by NULL.
pub(crate) unsafe fn maybe_buffer<'a, T>(
    pointer: *mut T,
    _argument: &'static str,
) -> Result<Option<&'a mut T>, Failure> {
    // SAFETY: CAPI-1.
    Ok(unsafe { pointer.as_mut() })
}

#[inline(always)]
pub(crate) unsafe fn bytes<'a>(
    data: *const c_void,
    len: usize,
    argument: &'static str,
) -> Result<&'a [u8], Failure> {
    // SAFETY: CAPI-1.
    unsafe { items(data.cast::<u8>(), len, argument) }
}

/// Bytes as a caller hands them in, not checked yet.
#[derive(Clone, Copy)]
pub(crate) struct RawBytes {
    data: *const c_void,
    len: usize,
}

impl RawBytes {
    #[inline(always)]
    pub(crate) fn new(data: *const c_void, len: usize) -> Self {
        Self { data, len }
    }
}

/// Checks bytes as [`bytes`] does.
#[inline(always)]
pub(crate) unsafe fn raw<'a>(given: RawBytes, argument: &'static str) -> Result<&'a [u8], Failure> {
    // SAFETY: CAPI-1.
    unsafe { bytes(given.data, given.len, argument) }
}

/// An array; nothing is read from it here.
#[inline(always)]
pub(crate) unsafe fn items<'a, T>(
    first: *const T,
    count: usize,
    argument: &'static str,
) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(Failure::null(argument));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::argument("a length is larger than any memory"));
    }
    // SAFETY: CAPI-1, and the length is one that a slice can have.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// Room for items.
pub(crate) unsafe fn items_out<'a, T>(
    first: *mut T,
    count: usize,
    argument: &'static str,
) -> Result<&'a mut [T], Failure> {
    // SAFETY: CAPI-1.
    let room = unsafe { items(first.cast_const(), count, argument) }?;
    if room.is_empty() {
        return Ok(&mut []);
    }
    // SAFETY: CAPI-1: the room is the caller's to write, and ours during the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
}

/// The name or path of a table: any bytes.
pub(crate) unsafe fn name<'a>(
    pointer: *const c_char,
    argument: &'static str,
) -> Result<&'a OsStr, Failure> {
    if pointer.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: CAPI-1.
    let text = unsafe { CStr::from_ptr(pointer) };
    Ok(OsStr::from_bytes(text.to_bytes()))
}

/// The name of something beside a table: UTF-8.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    argument: &'static str,
) -> Result<&'a str, Failure> {
    // SAFETY: CAPI-1.
    let name = unsafe { name(pointer, argument) }?;
    name.to_str()
        .ok_or_else(|| Failure::argument("names of pools, queues, logs and locks are UTF-8"))
}

/// Room for a result.
pub(crate) struct Out<'a, T> {
    place: Option<NonNull<T>>,
    caller: PhantomData<&'a mut T>,
}

impl<T> Out<'_, T> {
    /// Whether the caller wants it.
    pub(crate) fn is_wanted(&self) -> bool {
        self.place.is_some()
    }

    #[inline(always)]
    pub(crate) fn put(self, value: T) {
        if let Some(place) = self.place {
            // SAFETY: CAPI-1: there is room for it; what was there needs no drop.
            unsafe { place.write(value) };
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn out<'a, T>(
    pointer: *mut T,
    argument: &'static str,
) -> Result<Out<'a, T>, Failure> {
    match NonNull::new(pointer) {
        None => Err(Failure::null(argument)),
        place => Ok(Out {
            place,
            caller: PhantomData,
        }),
    }
}

/// As [`out`], for a result that the caller may do without, by NULL.
#[inline(always)]
pub(crate) unsafe fn maybe<'a, T>(
    pointer: *mut T,
    _argument: &'static str,
) -> Result<Out<'a, T>, Failure> {
    Ok(Out {
        place: NonNull::new(pointer),
        caller: PhantomData,
    })
}

/// A struct of integers whose first field is its size as the caller knows it: headers differ, and
/// fields are added at the end.
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

/// What the caller's struct says, by the library's own: what an older header lacks is 0, what a
/// newer one has must be 0.
pub(crate) unsafe fn sized<T: SizedStruct>(
    pointer: *const T,
    argument: &'static str,
) -> Result<T, Failure> {
    // SAFETY: CAPI-1.
    let size = unsafe { size_of_given(pointer, argument) }?;
    // SAFETY: CAPI-1: so many bytes are there.
    let given = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let ours = size.min(size_of::<T>());
    if given[ours..].iter().any(|byte| *byte != 0) {
        return Err(Failure::argument(
            "a struct has fields that this version of the library does not know",
        ));
    }
    let mut read = T::new();
    // SAFETY: both have so many bytes, and any integers are a value.
    unsafe {
        ptr::copy_nonoverlapping(given.as_ptr(), ptr::from_mut(&mut read).cast::<u8>(), ours);
    }
    Ok(read)
}

unsafe fn size_of_given<T>(pointer: *const T, argument: &'static str) -> Result<usize, Failure> {
    if pointer.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: CAPI-1: the first field is there, whatever follows.
    match unsafe { pointer.cast::<usize>().read() } {
        size if (size_of::<usize>()..=4096).contains(&size) => Ok(size),
        _ => Err(Failure::argument(
            "the size of a struct is not set; begin with TAVOLA_INIT",
        )),
    }
}

/// Room for a struct with its size.
pub(crate) struct SizedOut<T> {
    place: *mut T,
    size: usize,
}

impl<T: SizedStruct> SizedOut<T> {
    /// Writes what the caller has room for; its size stays.
    pub(crate) fn put(self, value: &T) {
        let skip = size_of::<usize>();
        let len = self.size.min(size_of::<T>()) - skip;
        let from = ptr::from_ref(value).cast::<u8>();
        // SAFETY: CAPI-1, and `len` bytes after the size are there on both sides.
        unsafe {
            ptr::copy_nonoverlapping(from.add(skip), self.place.cast::<u8>().add(skip), len);
        }
    }
}

pub(crate) unsafe fn sized_out<T: SizedStruct>(
    pointer: *mut T,
    argument: &'static str,
) -> Result<SizedOut<T>, Failure> {
    // SAFETY: CAPI-1.
    let size = unsafe { size_of_given(pointer, argument) }?;
    Ok(SizedOut {
        place: pointer,
        size,
    })
}

/// As [`sized_out`], for a result that the caller may do without, by NULL.
pub(crate) unsafe fn maybe_sized_out<T: SizedStruct>(
    pointer: *mut T,
    argument: &'static str,
) -> Result<Option<SizedOut<T>>, Failure> {
    match pointer.is_null() {
        true => Ok(None),
        // SAFETY: CAPI-1.
        false => unsafe { sized_out(pointer, argument) }.map(Some),
    }
}

/// Closes a handle that was a box.
pub(crate) unsafe fn close<T>(handle: *mut T) {
    crate::entry::entry(|| {
        if !handle.is_null() {
            // SAFETY: the caller's promise: it was handed out as a box, and is used no more.
            drop(unsafe { Box::from_raw(handle) });
        }
        crate::entry::OK
    });
}
