//! Callbacks, and the name space, which is set as one.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, with, write};
use super::fault::Fault;
use super::handle::Handle;
use super::store::TRIGGER_WITHOUT_REPLY;
use super::types::{CleanupFn, CloneFn, DeleteTriggerFn, TriggerKeyFn, memcached_st};
use crate::status::c_text;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr;
use tavola_client_core::Reply;

/// What the caller hands in.
type Given = *const c_void;

const NAMESPACE: c_int = 0;
const USER_DATA: c_int = 1;
const CLEANUP: c_int = 2;
const CLONE: c_int = 3;
const GET_FAILURE: c_int = 7;
const DELETE_TRIGGER: c_int = 8;

/// The most bytes of a name space.
const MOST: usize = 127;

pub(super) fn set_namespace(inner: &mut Handle, namespace: &[u8]) -> Result<Code, Fault> {
    if namespace.len() > MOST {
        let why = "the name space is too long; give 127 bytes at most";
        return Err(Fault::bad_key(why));
    }
    if namespace.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
        return Err(Fault::bad_key(
            "the name space has a space or a control character",
        ));
    }
    inner.namespace = c_text(&String::from_utf8_lossy(namespace));
    inner.settings.namespace = namespace.to_vec();
    inner.disconnect();
    Ok(codes::SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_callback_set(
    ptr: *mut memcached_st,
    flag: c_int,
    data: *const c_void,
) -> Code {
    code(inner!(ptr), |inner| {
        match flag {
            NAMESPACE => {
                let namespace = match data.is_null() {
                    true => &[],
                    // SAFETY: the caller's promise: text with a NUL.
                    false => unsafe { CStr::from_ptr(data.cast()) }.to_bytes(),
                };
                return set_namespace(inner, namespace);
            }
            USER_DATA => inner.user_data = data.cast_mut(),
            DELETE_TRIGGER if !data.is_null() && inner.reply() == Reply::None => {
                return Err(Fault::arguments(TRIGGER_WITHOUT_REPLY));
            }
            CLEANUP | CLONE | GET_FAILURE | DELETE_TRIGGER => {
                let callbacks = &mut inner.callbacks;
                // SAFETY: the caller's promise: NULL, or a function of the type of the flag.
                unsafe {
                    match flag {
                        CLEANUP => callbacks.cleanup = transmute::<Given, CleanupFn>(data),
                        CLONE => callbacks.clone = transmute::<Given, CloneFn>(data),
                        GET_FAILURE => {
                            callbacks.get_failure = transmute::<Given, TriggerKeyFn>(data);
                        }
                        _ => callbacks.delete_trigger = transmute::<Given, DeleteTriggerFn>(data),
                    }
                }
            }
            _ => return Err(Fault::new(codes::FAILURE, "there is no such callback")),
        }
        Ok(codes::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_callback_get(
    ptr: *mut memcached_st,
    flag: c_int,
    error: *mut Code,
) -> *mut c_void {
    frame(ptr::null_mut(), || {
        let got = with(inner!(ptr), |inner| {
            // SAFETY: a function or none has the size of a pointer, and none is NULL.
            let data: *mut c_void = unsafe {
                match flag {
                    NAMESPACE if inner.namespace.is_empty() => ptr::null_mut(),
                    NAMESPACE => {
                        let text: *const c_char = inner.namespace.as_ptr();
                        text.cast_mut().cast()
                    }
                    USER_DATA => inner.user_data,
                    CLEANUP => transmute::<CleanupFn, *mut c_void>(inner.callbacks.cleanup),
                    CLONE => transmute::<CloneFn, *mut c_void>(inner.callbacks.clone),
                    GET_FAILURE => {
                        transmute::<TriggerKeyFn, *mut c_void>(inner.callbacks.get_failure)
                    }
                    DELETE_TRIGGER => {
                        transmute::<DeleteTriggerFn, *mut c_void>(inner.callbacks.delete_trigger)
                    }
                    _ => return Err(Fault::new(codes::FAILURE, "there is no such callback")),
                }
            };
            let is_wanted = !matches!(flag, NAMESPACE | USER_DATA);
            match data.is_null() && is_wanted {
                true => Err(Fault::new(codes::FAILURE, "this callback is not set")),
                false => Ok(data),
            }
        });
        // SAFETY: the caller's promise.
        unsafe { write(error, got.err().unwrap_or(codes::SUCCESS)) };
        got.unwrap_or(ptr::null_mut())
    })
}
