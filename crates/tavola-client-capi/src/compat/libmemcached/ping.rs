//! Calls of libmemcachedutil that need no handle.

use super::codes::{self, Code};
use super::entry::{frame, write};
use super::types::memcached_st;
use super::{about, life, sasl, servers, stats};
use std::ffi::{c_char, c_int};
use std::ptr;

/// Runs a call on a handle of one server.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn with_server(
    hostname: *const c_char,
    port: u16,
    login: Option<[*const c_char; 2]>,
    error: *mut Code,
    call: impl FnOnce(*mut memcached_st) -> Code,
) -> bool {
    frame(false, || {
        // SAFETY: the promise of this function; the handle is ours.
        unsafe {
            let st = life::create(ptr::null_mut());
            let mut code =
                servers::tavola_compat_memcached_server_add_with_weight(st, hostname, port, 1);
            if let (codes::SUCCESS, Some([user, password])) = (code, login) {
                code = sasl::tavola_compat_memcached_set_sasl_auth_data(st, user, password);
            }
            if code == codes::SUCCESS {
                code = call(st);
            }
            life::tavola_compat_memcached_free(st);
            write(error, code);
            code == codes::SUCCESS
        }
    })
}

/// User and password, if there is a user.
fn login(user: *const c_char, password: *const c_char) -> Option<[*const c_char; 2]> {
    (!user.is_null()).then_some([user, password])
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_ping2(
    hostname: *const c_char,
    port: u16,
    username: *const c_char,
    password: *const c_char,
    error: *mut Code,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        with_server(hostname, port, login(username, password), error, |st| {
            about::tavola_compat_memcached_version(st)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_ping(
    hostname: *const c_char,
    port: u16,
    error: *mut Code,
) -> bool {
    let none = ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_compat_libmemcached_util_ping2(hostname, port, none, none, error) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_flush(
    hostname: *const c_char,
    port: u16,
    error: *mut Code,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        with_server(hostname, port, None, error, |st| {
            about::tavola_compat_memcached_flush(st, 0)
        })
    }
}

/// The number of the server's process, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_getpid2(
    hostname: *const c_char,
    port: u16,
    username: *const c_char,
    password: *const c_char,
    error: *mut Code,
) -> c_int {
    frame(-1, || {
        let mut pid = -1;
        // SAFETY: the caller's promise.
        unsafe {
            with_server(hostname, port, login(username, password), error, |st| {
                stats::pid(st, &mut pid)
            });
        }
        pid
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_getpid(
    hostname: *const c_char,
    port: u16,
    error: *mut Code,
) -> c_int {
    frame(-1, || {
        let none = ptr::null();
        // SAFETY: the caller's promise.
        unsafe { tavola_compat_libmemcached_util_getpid2(hostname, port, none, none, error) }
    })
}
