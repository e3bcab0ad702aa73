//! Gets of one key.

use super::codes::{self, Code};
use super::entry::{code, frame, handle, inner, read_handle, with, write};
use super::fault::Fault;
use super::handle::Handle;
use super::memory::{Buffer, Memory};
use super::settings::SUPPORT_CAS;
use super::store::{ask, group, set};
use super::types::{Found, memcached_result_st, memcached_st};
use crate::given::given;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use tavola_client_core::{Batch, GetOptions, Outcome, Sink};

/// What a get asks for.
pub(super) fn options(inner: &Handle) -> GetOptions {
    match inner.settings.is_on(SUPPORT_CAS) || inner.settings.is_binary() {
        true => GetOptions::with_cas(),
        false => GetOptions::default(),
    }
}

/// Takes values into memory that the caller frees.
pub(super) struct Values {
    memory: Memory,
    pub(super) slots: Vec<Slot>,
}

/// What became of a get.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) value: Option<Buffer>,
    pub(super) outcome: Option<Outcome>,
}

impl Values {
    pub(super) fn new(memory: Memory, count: usize) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(count, Slot::default);
        Self { memory, slots }
    }
}

impl Sink for Values {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        let slot = &mut self.slots[index];
        slot.value = Buffer::new(self.memory, len);
        slot.value.as_mut().map(Buffer::bytes)
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.slots[index].outcome = Some(outcome);
    }
}

impl Slot {
    /// The value that was found, if the outcome says so.
    pub(super) fn found(self, key: &[u8]) -> Result<Option<Found>, Fault> {
        let Some(Outcome::Hit { flags, cas }) = self.outcome else {
            return Ok(None);
        };
        Ok(Some(Found {
            key: key.to_vec(),
            value: self.value.ok_or_else(Fault::no_memory)?,
            flags,
            cas: cas.unwrap_or(0),
        }))
    }
}

fn find(inner: &mut Handle, by: &[u8], key: &[u8]) -> Result<Option<Found>, Fault> {
    inner.check_key(key)?;
    let (options, memory) = (options(inner), inner.memory);
    let fleet = inner.fleet()?;
    let target = fleet.target(group(by), key);
    let mut batch = Batch::new();
    batch.get(key, options);
    let mut values = Values::new(memory, 1);
    fleet.execute(target, &mut batch, &mut values)?;
    let slot = values.slots.pop().unwrap_or_default();
    match { slot.outcome.as_ref() }.and_then(|outcome| fleet.fault(target, outcome)) {
        Some(fault) => Err(fault),
        None => slot.found(key),
    }
}

/// Asks the callback for a value that is missing, and stores it.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn read_through(ptr: *mut memcached_st, key: &[u8]) -> Option<memcached_result_st> {
    let callback = read_handle(inner!(ptr), None, |inner| inner.callbacks.get_failure)?;
    let mut result = memcached_result_st::of(ptr);
    // SAFETY: the caller's function, called as its type says.
    let said = unsafe { callback(ptr, key.as_ptr().cast(), key.len(), &raw mut result) };
    let is_given = matches!(said, codes::SUCCESS | codes::BUFFERED) && !result.value.is_null();
    let stored = is_given.then(|| {
        code(inner!(ptr), |inner| {
            let data: *const c_void = result.value.cast();
            let len = result.value_length;
            let value = given!(bytes data, len);
            set(inner, key, value, result.expiration, result.flags)
        })
    });
    match stored {
        Some(codes::SUCCESS | codes::BUFFERED) => Some(result),
        _ => {
            result.clear();
            None
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    key: *const c_void,
    key_length: usize,
    value_length: *mut usize,
    flags: *mut u32,
    error: *mut Code,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        let mut asked: &[u8] = &[];
        let found = with(inner!(ptr), |inner| {
            let by = given!(bytes group_key, group_key_length);
            asked = given!(bytes key, key_length);
            find(inner, by, asked)
        });
        let (value, len, its_flags, code) = match found {
            // As there, an empty value is NULL with MEMCACHED_SUCCESS.
            Ok(Some(found)) if found.value.len() == 0 => {
                (ptr::null_mut(), 0, found.flags, codes::SUCCESS)
            }
            Ok(Some(found)) => {
                let (len, flags) = (found.value.len(), found.flags);
                (found.value.into_raw(), len, flags, codes::SUCCESS)
            }
            // SAFETY: the caller's promise.
            Ok(None) => match unsafe { read_through(ptr, asked) } {
                Some(result) => (
                    result.value,
                    result.value_length,
                    result.flags,
                    codes::SUCCESS,
                ),
                None => (ptr::null_mut(), 0, 0, codes::NOTFOUND),
            },
            Err(code) => (ptr::null_mut(), 0, 0, code),
        };
        // SAFETY: the caller's promise.
        unsafe {
            write(value_length, len);
            write(flags, its_flags);
            write(error, code);
        }
        value
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
    value_length: *mut usize,
    flags: *mut u32,
    error: *mut Code,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        let none = ptr::null();
        // SAFETY: the caller's promise.
        unsafe {
            tavola_compat_memcached_get_by_key(
                ptr,
                none,
                0,
                key,
                key_length,
                value_length,
                flags,
                error,
            )
        }
    })
}

/// As `memcached_get`, for programs that keep the length in an `int`. A value that is longer than
/// an `int` can say is `MEMCACHED_E2BIG`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_get_int(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
    value_length: *mut c_int,
    flags: *mut u32,
    error: *mut Code,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        let mut len = 0;
        // SAFETY: the caller's promise.
        unsafe {
            let value =
                tavola_compat_memcached_get(ptr, key, key_length, &raw mut len, flags, error);
            let Ok(short) = c_int::try_from(len) else {
                let memory = handle(ptr).map(|inner| inner.memory);
                memory.iter().for_each(|memory| memory.put(value.cast()));
                write(error, codes::E2BIG);
                write(value_length, 0);
                return ptr::null_mut();
            };
            write(value_length, short);
            value
        }
    })
}

/// Says whether a key is there. Its value is received and dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_exist_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    key: *const c_void,
    key_length: usize,
) -> Code {
    code(inner!(ptr), |inner| {
        let by = given!(bytes group_key, group_key_length);
        let key = given!(bytes key, key_length);
        let options = GetOptions::default();
        let outcome = ask(inner, group(by), key, |batch| batch.get(key, options))?;
        Ok(match outcome {
            Outcome::Hit { .. } => codes::SUCCESS,
            _ => codes::NOTFOUND,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_exist(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
) -> Code {
    // SAFETY: the caller's promise.
    unsafe { tavola_compat_memcached_exist_by_key(ptr, ptr::null(), 0, key, key_length) }
}
