//! Calls about servers: flush, versions, keys; and what is held.

use super::codes::{self, Code};
use super::entry::{code, frame, inner, read_handle, with};
use super::fault::Fault;
use super::handle::Handle;
use super::servers::note_version;
use super::types::{DumpFn, memcached_st};
use crate::given::{self, given};
use std::ffi::c_void;
use tavola_client_core::Error;

/// The code of calls to all servers: that of the failure if all failed.
pub(super) fn all<T>(answers: &[Result<T, Error>]) -> Result<Code, Fault> {
    let failed = answers.iter().enumerate();
    let mut failed = failed.filter_map(|(place, answer)| Some((place, answer.as_ref().err()?)));
    let Some((place, error)) = failed.next() else {
        return Ok(codes::SUCCESS);
    };
    let mut fault = Fault::of_error(error);
    fault.server = Some(place);
    if answers.iter().any(Result::is_ok) {
        fault.code = codes::SOME_ERRORS;
    }
    Err(fault)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_flush(
    ptr: *mut memcached_st,
    expiration: i64,
) -> Code {
    code(inner!(ptr), |inner| {
        let delay_s = u32::try_from(expiration);
        let delay_s = delay_s.map_err(|_| Fault::arguments("the time is not one"))?;
        all(&inner.fleet()?.whole().flush_all(delay_s))
    })
}

/// Sends what is held because of `BUFFER_REQUESTS` or `NOREPLY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_flush_buffers(ptr: *mut memcached_st) -> Code {
    code(inner!(ptr), |inner| {
        // Without a client nothing is held.
        inner.made_fleet().map_or(Ok(()), |fleet| fleet.flush())?;
        Ok(codes::SUCCESS)
    })
}

/// Asks the servers for their versions, and keeps them.
fn note_versions(inner: &mut Handle) -> Result<Code, Fault> {
    let answers = inner.fleet()?.whole().versions();
    for (server, answer) in inner.servers.iter_mut().zip(&answers) {
        if let Ok(version) = answer {
            note_version(server, version);
        }
    }
    all(&answers)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_version(ptr: *mut memcached_st) -> Code {
    code(inner!(ptr), note_versions)
}

/// Whether all servers have this version or a later one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_util_version_check(
    ptr: *mut memcached_st,
    major: u8,
    minor: u8,
    micro: u8,
) -> bool {
    frame(false, || {
        if code(inner!(ptr), note_versions) != codes::SUCCESS {
            return false;
        }
        read_handle(inner!(ptr), false, |inner| {
            inner.servers.iter().all(|server| {
                let has = [
                    server.major_version,
                    server.minor_version,
                    server.micro_version,
                ];
                has[0] != u8::MAX && has >= [major, minor, micro]
            })
        })
    })
}

/// The client cannot change how much a server logs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_verbosity(
    ptr: *mut memcached_st,
    _verbosity: u32,
) -> Code {
    code(inner!(ptr), |_| {
        let why = "the verbosity of a server is an option of the server";
        Err(Fault::new(codes::NOT_SUPPORTED, why))
    })
}

/// Hands the keys of all servers to the callbacks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_dump(
    ptr: *mut memcached_st,
    callbacks: *const DumpFn,
    context: *mut c_void,
    number_of_callbacks: u32,
) -> Code {
    frame(codes::FAILURE, || {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let dumped = with(inner!(ptr), |inner| {
            let servers = inner.servers.len();
            let client = inner.fleet()?.whole();
            let ask = |server| client.keys(server, &mut |key| keys.push(key.to_vec()));
            let answers: Vec<_> = (0..servers).map(ask).collect();
            all(&answers)
        });
        let end = dumped.unwrap_or_else(|code| code);
        if end != codes::SUCCESS && end != codes::SOME_ERRORS {
            return end;
        }
        frame(codes::FAILURE, || {
            // SAFETY: the caller's promise.
            let callbacks = unsafe { given::array(callbacks, number_of_callbacks as usize) };
            for key in &mut keys {
                let len = key.len();
                key.push(0);
                for callback in callbacks.iter().flatten() {
                    // SAFETY: the caller's function, called as its type says.
                    let said = unsafe { callback(ptr, key.as_ptr().cast(), len, context) };
                    if said != codes::SUCCESS {
                        return said;
                    }
                }
            }
            end
        })
    })
}

/// The place in the list of the server of a key; 0 without servers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_generate_hash(
    ptr: *const memcached_st,
    key: *const c_void,
    key_length: usize,
) -> u32 {
    frame(0, || {
        let place = with(inner!(ptr), |inner| {
            let key = given!(bytes key, key_length);
            Ok(inner.fleet()?.server_of(key) as u32)
        });
        place.unwrap_or(0)
    })
}

/// The hash of a key; 0 if there is no such hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_generate_hash_value(
    key: *const c_void,
    key_length: usize,
    hash: std::ffi::c_int,
) -> u32 {
    frame(0, || {
        // SAFETY: the caller's promise.
        let key = unsafe { given::bytes(key, key_length, "key") };
        match (key, super::settings::hash(hash as u64)) {
            (Ok(key), Ok(hash)) => hash.of(key),
            _ => 0,
        }
    })
}
