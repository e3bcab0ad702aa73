//! Stores, removals, expiry times.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, read_handle};
use super::fault::Fault;
use super::handle::Handle;
use super::settings::NOREPLY;
use super::types::memcached_st;
use crate::calls::OutcomeOnly;
use crate::given::given;
use std::ffi::c_void;
use tavola_client_core::{Batch, Outcome, Reply, StoreOptions};

/// Why a trigger cannot be called for a removal.
pub(super) const TRIGGER_WITHOUT_REPLY: &str =
    "a delete trigger needs the answer; switch NOREPLY and BUFFER_REQUESTS off";

/// An expiry time as the protocols have it.
pub(super) fn expiry(time: i64) -> i32 {
    time.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// The group of a request; `None` if its key places it.
pub(super) fn group(key: &[u8]) -> Option<&[u8]> {
    (!key.is_empty()).then_some(key)
}

/// Executes one request without a value.
pub(super) fn ask<'a>(
    inner: &mut Handle,
    group: Option<&[u8]>,
    key: &[u8],
    prepare: impl FnOnce(&mut Batch<'a>) -> usize,
) -> Result<Outcome, Fault> {
    inner.check_key(key)?;
    let fleet = inner.fleet()?;
    let target = fleet.target(group, key);
    let mut batch = Batch::new();
    prepare(&mut batch);
    let mut sink = OutcomeOnly::default();
    fleet.execute(target, &mut batch, &mut sink)?;
    let none = || Outcome::Refused("the request was not executed".to_string());
    let outcome = sink.outcome.unwrap_or_else(none);
    if outcome == Outcome::Queued {
        fleet.note_held(target);
    }
    match fleet.fault(target, &outcome) {
        Some(fault) => Err(fault),
        None => Ok(outcome),
    }
}

/// How a value is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// The code of an outcome that is no failure. The binary protocol has codes of its own.
fn code_of(inner: &Handle, verb: Option<Verb>, outcome: &Outcome) -> Code {
    let is_binary = inner.settings.is_binary();
    match (outcome, verb) {
        _ if inner.settings.is_on(NOREPLY) => codes::SUCCESS,
        (Outcome::Queued, _) => codes::BUFFERED,
        (Outcome::NotStored, Some(Verb::Add)) if is_binary => codes::DATA_EXISTS,
        (Outcome::NotStored, Some(Verb::Replace)) if is_binary => codes::NOTFOUND,
        (Outcome::NotStored, _) => codes::NOTSTORED,
        (Outcome::Exists, _) => codes::DATA_EXISTS,
        (Outcome::Miss, _) => codes::NOTFOUND,
        _ => codes::SUCCESS,
    }
}

/// A value to be stored.
struct Stored<'a> {
    group: &'a [u8],
    key: &'a [u8],
    value: &'a [u8],
    expiration: i64,
    flags: u32,
}

impl Stored<'_> {
    fn store(&self, inner: &mut Handle, verb: Verb) -> Result<Code, Fault> {
        let reply = inner.reply();
        let mut options = StoreOptions::ttl(expiry(self.expiration));
        (options.flags, options.reply) = (self.flags, reply);
        let (key, value) = (self.key, self.value);
        let outcome = ask(inner, group(self.group), key, |batch| match verb {
            Verb::Set => batch.set(key, value, options),
            Verb::Add => batch.add(key, value, options),
            Verb::Replace => batch.replace(key, value, options),
            Verb::Append => batch.append(key, value, reply),
            Verb::Prepend => batch.prepend(key, value, reply),
            Verb::Cas(cas) => batch.cas(key, value, cas, options),
        })?;
        Ok(code_of(inner, Some(verb), &outcome))
    }
}

/// Stores a value that a callback gave.
pub(super) fn set(
    inner: &mut Handle,
    key: &[u8],
    value: &[u8],
    expiration: i64,
    flags: u32,
) -> Result<Code, Fault> {
    let group = &[];
    let stored = Stored {
        group,
        key,
        value,
        expiration,
        flags,
    };
    stored.store(inner, Verb::Set)
}

/// The two functions of a way to store.
macro_rules! stores {
    ($($name:ident, $by_key:ident: $verb:expr $(, $cas:ident)?;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            ptr: *mut memcached_st,
            key: *const c_void,
            key_length: usize,
            value: *const c_void,
            value_length: usize,
            expiration: i64,
            flags: u32,
            $($cas: u64,)?
        ) -> Code {
            code(inner!(ptr), |inner| {
                let key = given!(bytes key, key_length);
                let value = given!(bytes value, value_length);
                let group = &[];
                let stored = Stored { group, key, value, expiration, flags };
                stored.store(inner, $verb)
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $by_key(
            ptr: *mut memcached_st,
            group_key: *const c_void,
            group_key_length: usize,
            key: *const c_void,
            key_length: usize,
            value: *const c_void,
            value_length: usize,
            expiration: i64,
            flags: u32,
            $($cas: u64,)?
        ) -> Code {
            code(inner!(ptr), |inner| {
                let group = given!(bytes group_key, group_key_length);
                let key = given!(bytes key, key_length);
                let value = given!(bytes value, value_length);
                let stored = Stored { group, key, value, expiration, flags };
                stored.store(inner, $verb)
            })
        }
    )*};
}

stores! {
    tavola_compat_memcached_set, tavola_compat_memcached_set_by_key: Verb::Set;
    tavola_compat_memcached_add, tavola_compat_memcached_add_by_key: Verb::Add;
    tavola_compat_memcached_replace, tavola_compat_memcached_replace_by_key: Verb::Replace;
    tavola_compat_memcached_append, tavola_compat_memcached_append_by_key: Verb::Append;
    tavola_compat_memcached_prepend, tavola_compat_memcached_prepend_by_key: Verb::Prepend;
    tavola_compat_memcached_cas, tavola_compat_memcached_cas_by_key: Verb::Cas(cas), cas;
}

/// Removes a key. `expiration` had a meaning for servers before memcached 1.4, and must be 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_delete_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    key: *const c_void,
    key_length: usize,
    expiration: i64,
) -> Code {
    frame(codes::FAILURE, || {
        let mut removed: &[u8] = &[];
        let code = code(inner!(ptr), |inner| {
            let by = given!(bytes group_key, group_key_length);
            let key = given!(bytes key, key_length);
            if expiration != 0 {
                let why = "no server removes a key later; hand in 0 as the expiration";
                return Err(Fault::arguments(why));
            }
            removed = key;
            let reply = inner.reply();
            if inner.callbacks.delete_trigger.is_some() && reply == Reply::None {
                return Err(Fault::arguments(TRIGGER_WITHOUT_REPLY));
            }
            let outcome = ask(inner, group(by), key, |batch| batch.delete(key, reply))?;
            Ok(code_of(inner, None, &outcome))
        });
        let trigger = read_handle(inner!(ptr), None, |inner| inner.callbacks.delete_trigger);
        if let (codes::SUCCESS, Some(trigger)) = (code, trigger) {
            // SAFETY: the caller's function, called as its type says. As there, what it returns
            // does not count.
            unsafe { trigger(ptr, removed.as_ptr().cast(), removed.len()) };
        }
        code
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_delete(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
    expiration: i64,
) -> Code {
    frame(codes::FAILURE, || {
        let none = std::ptr::null();
        // SAFETY: the caller's promise.
        unsafe { tavola_compat_memcached_delete_by_key(ptr, none, 0, key, key_length, expiration) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_touch_by_key(
    ptr: *mut memcached_st,
    group_key: *const c_void,
    group_key_length: usize,
    key: *const c_void,
    key_length: usize,
    expiration: i64,
) -> Code {
    code(inner!(ptr), |inner| {
        let by = given!(bytes group_key, group_key_length);
        let (key, reply) = (given!(bytes key, key_length), inner.touch_reply());
        let time = expiry(expiration);
        let outcome = ask(inner, group(by), key, |batch| batch.touch(key, time, reply))?;
        Ok(match outcome {
            Outcome::Queued => codes::BUFFERED,
            Outcome::Miss => codes::NOTFOUND,
            _ => codes::SUCCESS,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_touch(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
    expiration: i64,
) -> Code {
    let none = std::ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_compat_memcached_touch_by_key(ptr, none, 0, key, key_length, expiration) }
}
