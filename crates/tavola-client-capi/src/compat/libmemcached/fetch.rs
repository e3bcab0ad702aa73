//! Gets of many keys: `memcached_mget` asks for all of them, and the others hand out what was
//! found.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, write};
use super::fault::Fault;
use super::fleet::Target;
use super::get::{Slot, Values, options};
use super::handle::{Handle, Pending};
use super::result;
use super::store::group;
use super::types::{ExecuteFn, Found, memcached_result_st, memcached_st};
use crate::given::{self, given};
use std::ffi::{c_char, c_void};
use std::ptr;
use tavola_client_core::Batch;

/// The keys of the caller.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn keys<'a>(
    keys: *const *const c_char,
    lengths: *const usize,
    count: usize,
) -> Result<Vec<&'a [u8]>, Fault> {
    if keys.is_null() || lengths.is_null() || count == 0 {
        return Err(Fault::arguments("there are no keys"));
    }
    // SAFETY: the promise of this function.
    let (keys, lengths) = unsafe { (given::array(keys, count), given::array(lengths, count)) };
    let key = |(key, len): (&*const c_char, &usize)| {
        let (key, len): (*const c_void, usize) = (key.cast(), *len);
        Ok(given!(bytes key, len))
    };
    keys.iter().zip(lengths).map(key).collect()
}

/// Asks for all keys at once. What was found is pending then.
fn ask_many(inner: &mut Handle, by: &[u8], keys: &[&[u8]]) -> Result<Code, Fault> {
    inner.pending = Pending::default();
    if inner.servers.is_empty() {
        return Err(Fault::new(codes::NO_SERVERS, "add a server first"));
    }
    keys.iter().try_for_each(|key| inner.check_key(key))?;
    let (options, memory) = (options(inner), inner.memory);
    let fleet = inner.fleet()?;
    let mut by_target: Vec<(Target, Vec<&[u8]>)> = Vec::new();
    for key in keys {
        let target = fleet.target(group(by), key);
        match by_target.iter_mut().find(|(known, _)| *known == target) {
            Some((_, keys)) => keys.push(key),
            None => by_target.push((target, vec![key])),
        }
    }
    let (mut pending, mut answered) = (Pending::default(), 0_usize);
    for (target, keys) in by_target {
        let mut batch = Batch::new();
        for key in &keys {
            batch.get(key, options);
        }
        let mut values = Values::new(memory, keys.len());
        fleet.execute(target, &mut batch, &mut values)?;
        for (slot, key) in values.slots.into_iter().zip(keys) {
            let outcome = slot.outcome.as_ref();
            let fault = outcome.and_then(|outcome| fleet.fault(target, outcome));
            match fault.map_or_else(|| Slot::found(slot, key), Err) {
                Ok(found) => {
                    answered += 1;
                    pending.found.extend(found);
                }
                Err(fault) => pending.end = pending.end.or(Some(fault)),
            }
        }
    }
    let failed = pending.end.clone();
    let has_found = !pending.found.is_empty();
    pending.end = pending
        .end
        .or_else(|| has_found.then(|| Fault::new(codes::END, "")));
    inner.pending = pending;
    match failed {
        None => Ok(codes::SUCCESS),
        Some(fault) if answered > 0 => Err(Fault {
            code: codes::SOME_ERRORS,
            ..fault
        }),
        Some(fault) => Err(fault),
    }
}

/// The next value, or the code that ends the fetch.
fn next(inner: &mut Handle) -> Result<Found, Code> {
    inner.last = None;
    if let Some(found) = inner.pending.found.pop_front() {
        return Ok(found);
    }
    match inner.pending.end.clone() {
        None => Err(codes::NOTFOUND),
        Some(fault) if fault.code == codes::END => Err(codes::END),
        Some(fault) => Err(inner.note(&fault)),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_mget_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    keys: *const *const c_char,
    key_length: *const usize,
    number_of_keys: usize,
) -> Code {
    code(inner!(ptr), |inner| {
        let by = given!(bytes group_key, group_key_length);
        // SAFETY: the caller's promise.
        let keys = unsafe { self::keys(keys, key_length, number_of_keys) }?;
        ask_many(inner, by, &keys)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_mget(
    ptr: *mut memcached_st,
    keys: *const *const c_char,
    key_length: *const usize,
    number_of_keys: usize,
) -> Code {
    let none = ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_compat_memcached_mget_by_key(ptr, none, 0, keys, key_length, number_of_keys) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_fetch_result(
    ptr: *mut memcached_st,
    result: *mut memcached_result_st,
    error: *mut Code,
) -> *mut memcached_result_st {
    frame(ptr::null_mut(), || {
        let found = match inner!(ptr) {
            Ok(inner) => next(inner),
            Err(fault) => Err(fault.code),
        };
        // SAFETY: the caller's promise.
        unsafe {
            write(
                error,
                { found.as_ref().err() }.copied().unwrap_or(codes::SUCCESS),
            );
            let Ok(found) = found else {
                return ptr::null_mut();
            };
            let place = match result.is_null() {
                true => result::create(ptr, result),
                false => result,
            };
            (*place).fill(found);
            place
        }
    })
}

/// The next value alone. `key` has room for `MEMCACHED_MAX_KEY` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_fetch(
    ptr: *mut memcached_st,
    key: *mut c_char,
    key_length: *mut usize,
    value_length: *mut usize,
    flags: *mut u32,
    error: *mut Code,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        let found = match inner!(ptr) {
            Ok(inner) => next(inner),
            Err(fault) => Err(fault.code),
        };
        // SAFETY: the caller's promise.
        unsafe {
            write(
                error,
                { found.as_ref().err() }.copied().unwrap_or(codes::SUCCESS),
            );
            let Ok(found) = found else {
                write(value_length, 0);
                return ptr::null_mut();
            };
            if !key.is_null() {
                ptr::copy_nonoverlapping(found.key.as_ptr(), key.cast(), found.key.len());
                key.add(found.key.len()).write(0);
            }
            write(key_length, found.key.len());
            write(value_length, found.value.len());
            write(flags, found.flags);
            found.value.into_raw()
        }
    })
}

/// Hands each value to the callbacks. Stops if one of them fails, and returns its code.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn execute(ptr: *mut memcached_st, callbacks: &[ExecuteFn], context: *mut c_void) -> Code {
    let mut result = memcached_result_st::of(ptr);
    let mut has_found = false;
    let end = loop {
        let found = match inner!(ptr) {
            Ok(inner) => next(inner),
            Err(fault) => Err(fault.code),
        };
        match found {
            Ok(found) => result.fill(found),
            Err(codes::END) => break codes::SUCCESS,
            Err(code) => break code,
        }
        has_found = true;
        for callback in callbacks.iter().flatten() {
            // SAFETY: the caller's function, called as its type says.
            let said = unsafe { callback(ptr, &raw mut result, context) };
            if said != codes::SUCCESS {
                result.clear();
                return said;
            }
        }
    };
    result.clear();
    match end {
        codes::NOTFOUND if has_found => codes::SUCCESS,
        end => end,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_fetch_execute(
    ptr: *mut memcached_st,
    callbacks: *const ExecuteFn,
    context: *mut c_void,
    number_of_callbacks: u32,
) -> Code {
    // SAFETY: the caller's promise.
    frame(codes::FAILURE, || unsafe {
        let callbacks = given::array(callbacks, number_of_callbacks as usize);
        execute(ptr, callbacks, context)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_mget_execute_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    keys: *const *const c_char,
    key_length: *const usize,
    number_of_keys: usize,
    callbacks: *const ExecuteFn,
    context: *mut c_void,
    number_of_callbacks: u32,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        unsafe {
            let asked = tavola_compat_memcached_mget_by_key(
                ptr,
                group_key,
                group_key_length,
                keys,
                key_length,
                number_of_keys,
            );
            if !matches!(asked, codes::SUCCESS | codes::SOME_ERRORS) {
                return asked;
            }
            let callbacks = given::array(callbacks, number_of_callbacks as usize);
            match frame(codes::FAILURE, || execute(ptr, callbacks, context)) {
                codes::NOTFOUND => codes::SUCCESS,
                end => end,
            }
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_mget_execute(
    ptr: *mut memcached_st,
    keys: *const *const c_char,
    key_length: *const usize,
    number_of_keys: usize,
    callbacks: *const ExecuteFn,
    context: *mut c_void,
    number_of_callbacks: u32,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        unsafe {
            tavola_compat_memcached_mget_execute_by_key(
                ptr,
                ptr::null(),
                0,
                keys,
                key_length,
                number_of_keys,
                callbacks,
                context,
                number_of_callbacks,
            )
        }
    })
}
