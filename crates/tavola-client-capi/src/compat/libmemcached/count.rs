//! Counters.

use super::codes::{self, Code};
use super::entry::{code, inner, write};
use super::fault::Fault;
use super::handle::Handle;
use super::store::{ask, expiry, group};
use super::types::memcached_st;
use crate::given::given;
use std::ffi::c_void;
use tavola_client_core::{CountOptions, Outcome};

/// An expiration of `memcached_increment_with_initial`: a missing counter stays missing.
const NOT_ADD: i64 = 0xffff_ffff;

fn options(offset: u64) -> CountOptions {
    CountOptions::by(offset)
}

fn options_with_initial(offset: u64, initial: u64, expiration: i64) -> CountOptions {
    match expiration {
        NOT_ADD => CountOptions::by(offset),
        _ => CountOptions::by(offset).from(initial, expiry(expiration)),
    }
}

/// Counts, and writes the new number, or 2^64 - 1 if there is none.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn count(
    inner: &mut Handle,
    by: &[u8],
    key: &[u8],
    is_down: bool,
    options: CountOptions,
    value: *mut u64,
) -> Result<Code, Fault> {
    // SAFETY: the promise of this function.
    unsafe { write(value, u64::MAX) };
    let outcome = ask(inner, group(by), key, |batch| match is_down {
        true => batch.decr(key, options),
        false => batch.incr(key, options),
    })?;
    let Outcome::Count(number) = outcome else {
        return Ok(codes::NOTFOUND);
    };
    // SAFETY: the promise of this function.
    unsafe { write(value, number) };
    Ok(codes::SUCCESS)
}

/// The two functions of a way to count.
macro_rules! counts {
    ($($name:ident, $by_key:ident: $is_down:literal, $options:ident(
        $($argument:ident: $type:ty),*
    );)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $by_key(
            ptr: *mut memcached_st,
            group_key: *const c_void,
            group_key_length: usize,
            key: *const c_void,
            key_length: usize,
            $($argument: $type,)*
            value: *mut u64,
        ) -> Code {
            code(inner!(ptr), |inner| {
                let by = given!(bytes group_key, group_key_length);
                let key = given!(bytes key, key_length);
                let options = $options($($argument.into()),*);
                // SAFETY: the caller's promise.
                unsafe { count(inner, by, key, $is_down, options, value) }
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            ptr: *mut memcached_st,
            key: *const c_void,
            key_length: usize,
            $($argument: $type,)*
            value: *mut u64,
        ) -> Code {
            let none = std::ptr::null();
            // SAFETY: the caller's promise.
            unsafe { $by_key(ptr, none, 0, key, key_length, $($argument,)* value) }
        }
    )*};
}

counts! {
    tavola_compat_memcached_increment,
    tavola_compat_memcached_increment_by_key: false, options(offset: u32);
    tavola_compat_memcached_decrement,
    tavola_compat_memcached_decrement_by_key: true, options(offset: u32);
    tavola_compat_memcached_increment_with_initial,
    tavola_compat_memcached_increment_with_initial_by_key: false,
        options_with_initial(offset: u64, initial: u64, expiration: i64);
    tavola_compat_memcached_decrement_with_initial,
    tavola_compat_memcached_decrement_with_initial_by_key: true,
        options_with_initial(offset: u64, initial: u64, expiration: i64);
}
