//! Behaviours: how a handle places keys, waits and speaks.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, read_handle};
use super::fault::Fault;
use super::handle::Handle;
use super::settings::{self, Buckets};
use super::types::memcached_st;
use crate::given;
use std::ffi::{c_char, c_int};

/// Sets a behaviour. Connections are made again by the next request.
pub(super) fn set(inner: &mut Handle, behavior: usize, value: u64) -> Result<Code, Fault> {
    inner.settings.set(behavior, value)?;
    inner.disconnect();
    Ok(codes::SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_set(
    ptr: *mut memcached_st,
    behavior: c_int,
    value: u64,
) -> Code {
    code(inner!(ptr), |inner| set(inner, behavior as usize, value))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_get(
    ptr: *mut memcached_st,
    behavior: c_int,
) -> u64 {
    read_handle(inner!(ptr), 0, |inner| {
        inner.settings.value(behavior as usize).unwrap_or(0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_set_distribution(
    ptr: *mut memcached_st,
    distribution: c_int,
) -> Code {
    code(inner!(ptr), |inner| {
        set(inner, settings::DISTRIBUTION, distribution as u64)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_get_distribution(
    ptr: *mut memcached_st,
) -> c_int {
    frame(-1, || {
        // SAFETY: the caller's promise.
        unsafe {
            tavola_compat_memcached_behavior_get(ptr, settings::DISTRIBUTION as c_int) as c_int
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_set_key_hash(
    ptr: *mut memcached_st,
    hash: c_int,
) -> Code {
    code(inner!(ptr), |inner| set(inner, settings::HASH, hash as u64))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_get_key_hash(
    ptr: *mut memcached_st,
) -> c_int {
    frame(-1, || {
        // SAFETY: the caller's promise.
        unsafe { tavola_compat_memcached_behavior_get(ptr, settings::HASH as c_int) as c_int }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_set_distribution_hash(
    ptr: *mut memcached_st,
    hash: c_int,
) -> Code {
    code(inner!(ptr), |inner| {
        set(inner, settings::KETAMA_HASH, hash as u64)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_behavior_get_distribution_hash(
    ptr: *mut memcached_st,
) -> c_int {
    frame(-1, || {
        // SAFETY: the caller's promise.
        unsafe {
            tavola_compat_memcached_behavior_get(ptr, settings::KETAMA_HASH as c_int) as c_int
        }
    })
}

/// The server of each virtual bucket. `forward_map` is of a fleet in transition, and must be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_bucket_set(
    ptr: *mut memcached_st,
    host_map: *const u32,
    forward_map: *const u32,
    buckets: u32,
    _replicas: u32,
) -> Code {
    // SAFETY: the caller's promise.
    let map = unsafe { given::array(host_map, buckets as usize) };
    code(inner!(ptr), |inner| {
        if !forward_map.is_null() {
            let why = "a forward map is not supported; hand in NULL";
            return Err(Fault::new(codes::NOT_SUPPORTED, why));
        }
        if map.is_empty() {
            return Err(Fault::arguments("there are no buckets"));
        }
        let count = inner.servers.len();
        if map.iter().any(|server| *server as usize >= count) {
            return Err(Fault::arguments(
                "a bucket is on a server that was not added",
            ));
        }
        let servers = map.to_vec();
        inner.settings.buckets = Some(Buckets { servers });
        set(inner, settings::DISTRIBUTION, settings::VIRTUAL_BUCKET)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tavola_compat_libmemcached_string_behavior(behavior: c_int) -> *const c_char {
    let name = settings::NAMES.get(behavior as usize);
    name.map_or(c"INVALID memcached_behavior_t".as_ptr(), |name| {
        name.as_ptr()
    })
}
