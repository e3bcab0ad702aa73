//! The servers of a handle, and lists of servers.

use super::codes::{self, Code};
use super::entry::{code, frame, handle, inner, read_handle, with, write};
use super::fault::Fault;
use super::fleet::host;
use super::handle::Handle;
use super::memory;
use super::parse;
use super::settings::SORT_HOSTS;
use super::types::{ServerFn, TCP, UNIX, memcached_server_st, memcached_st};
use crate::given::{self, given};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::{ptr, slice};

/// Adds servers, and sorts all if that is wanted.
pub(super) fn add(
    inner: &mut Handle,
    list: impl IntoIterator<Item = memcached_server_st>,
) -> Result<Code, Fault> {
    inner.disconnect();
    inner.servers.extend(list.into_iter().map(Box::new));
    for server in &mut inner.servers {
        server.count = 0;
    }
    if inner.settings.is_on(SORT_HOSTS) {
        inner
            .servers
            .sort_by_key(|server| (host(server), server.port));
    }
    Ok(codes::SUCCESS)
}

/// A server of arguments.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn server_of(
    name: *const c_char,
    port: u16,
    kind: c_int,
    weight: u32,
) -> Result<memcached_server_st, Fault> {
    let name = given!(maybe_text name);
    let (name, port) = match (kind, name, port) {
        (UNIX, name, _) if !name.starts_with('/') => {
            return Err(Fault::arguments("the path of a Unix socket begins with /"));
        }
        (UNIX, name, _) => (name, 0),
        (_, "", 0) => ("localhost", parse::PORT),
        (_, "", port) => ("localhost", port),
        (_, name, _) if name.starts_with('/') => {
            let server = parse::server(name.as_bytes(), 0, UNIX, weight);
            return server.ok_or_else(|| Fault::arguments("the path is too long"));
        }
        (_, name, 0) => (name, parse::PORT),
        (_, name, port) => (name, port),
    };
    let server = parse::server(name.as_bytes(), port, kind, weight);
    server.ok_or_else(|| Fault::arguments("the name of the host is too long"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_add_with_weight(
    ptr: *mut memcached_st,
    hostname: *const c_char,
    port: u16,
    weight: u32,
) -> Code {
    // SAFETY: the caller's promise.
    let server = unsafe { server_of(hostname, port, TCP, weight) };
    code(inner!(ptr), |inner| add(inner, [server?]))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_add_unix_socket_with_weight(
    ptr: *mut memcached_st,
    path: *const c_char,
    weight: u32,
) -> Code {
    // SAFETY: the caller's promise.
    let server = unsafe { server_of(path, 0, UNIX, weight) };
    code(inner!(ptr), |inner| add(inner, [server?]))
}

/// There is no UDP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_add_udp_with_weight(
    ptr: *mut memcached_st,
    _hostname: *const c_char,
    _port: u16,
    _weight: u32,
) -> Code {
    let why = "there is no UDP; call memcached_server_add";
    code(inner!(ptr), |_| {
        Err(Fault::new(codes::INVALID_HOST_PROTOCOL, why))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_push(
    ptr: *mut memcached_st,
    list: *const memcached_server_st,
) -> Code {
    // SAFETY: the caller's promise.
    let added = unsafe { list_of(list) };
    code(inner!(ptr), |inner| add(inner, added.iter().cloned()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_count(ptr: *const memcached_st) -> u32 {
    read_handle(inner!(ptr), 0, |inner| inner.servers.len() as u32)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_by_key(
    ptr: *mut memcached_st,
    key: *const c_void,
    key_length: usize,
    error: *mut Code,
) -> *const memcached_server_st {
    frame(ptr::null(), || {
        let found = with(inner!(ptr), |inner| {
            let key = given!(bytes key, key_length);
            if inner.servers.is_empty() {
                return Err(Fault::new(codes::NO_SERVERS, "add a server first"));
            }
            inner.check_key(key)?;
            let server = inner.fleet()?.server_of(key);
            Ok(ptr::from_ref(&*inner.servers[server]))
        });
        // SAFETY: the caller's promise.
        unsafe { write(error, found.err().unwrap_or(codes::SUCCESS)) };
        found.unwrap_or(ptr::null())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_instance_by_position(
    ptr: *const memcached_st,
    position: u32,
) -> *const memcached_server_st {
    read_handle(inner!(ptr), ptr::null(), |inner| {
        let server = inner.servers.get(position as usize);
        server.map_or(ptr::null(), |server| ptr::from_ref(&**server))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_get_last_disconnect(
    ptr: *const memcached_st,
) -> *const memcached_server_st {
    read_handle(inner!(ptr), ptr::null(), |inner| {
        let last = inner
            .last_disconnect
            .and_then(|last| inner.servers.get(last));
        last.map_or(ptr::null(), |server| ptr::from_ref(&**server))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_cursor(
    ptr: *const memcached_st,
    callbacks: *const ServerFn,
    context: *mut c_void,
    count: u32,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        let (servers, callbacks) = unsafe {
            let Ok(inner) = handle(ptr) else {
                return codes::INVALID_ARGUMENTS;
            };
            let servers: Vec<*const memcached_server_st> = inner
                .servers
                .iter()
                .map(|server| ptr::from_ref(&**server))
                .collect();
            (servers, given::array(callbacks, count as usize))
        };
        if servers.is_empty() {
            return codes::NO_SERVERS;
        }
        for server in servers {
            for callback in callbacks.iter().flatten() {
                // SAFETY: the caller's function, called as its type says.
                let said = unsafe { callback(ptr, server, context) };
                if said != codes::SUCCESS && said != codes::BUFFERED {
                    return said;
                }
            }
        }
        codes::SUCCESS
    })
}

/// The servers of a list.
///
/// # Safety
/// MC-1 of `given.rs`; the list was made here, or is NULL.
unsafe fn list_of<'a>(list: *const memcached_server_st) -> &'a [memcached_server_st] {
    match list.is_null() {
        true => &[],
        // SAFETY: the promise of this function.
        false => unsafe { slice::from_raw_parts(list, (*list).count as usize) },
    }
}

/// Puts servers behind those of a list. Returns the new list, NULL if there is no memory.
///
/// # Safety
/// As [`list_of`]; the old list is not used any more.
unsafe fn append(
    list: *mut memcached_server_st,
    more: &[memcached_server_st],
) -> *mut memcached_server_st {
    // SAFETY: the promise of this function; the memory has room for all of them.
    unsafe {
        let old = list_of(list).len();
        let size = (old + more.len()) * size_of::<memcached_server_st>();
        let new: *mut memcached_server_st = memory::realloc(list.cast(), size).cast();
        if new.is_null() {
            return new;
        }
        for (place, server) in more.iter().enumerate() {
            new.add(old + place).write(server.clone());
        }
        (*new).count = (old + more.len()) as u32;
        new
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_servers_parse(
    text: *const c_char,
) -> *mut memcached_server_st {
    frame(ptr::null_mut(), || {
        if text.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let list = parse::read_list(&text);
        // SAFETY: there is no old list.
        list.filter(|list| !list.is_empty())
            .map_or(ptr::null_mut(), |list| unsafe {
                append(ptr::null_mut(), &list)
            })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_list_append_with_weight(
    list: *mut memcached_server_st,
    hostname: *const c_char,
    port: u16,
    weight: u32,
    error: *mut Code,
) -> *mut memcached_server_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe {
            let (new, code) = match server_of(hostname, port, TCP, weight) {
                Ok(server) => match append(list, &[server]) {
                    new if new.is_null() => (new, codes::MEMORY_ALLOCATION_FAILURE),
                    new => (new, codes::SUCCESS),
                },
                Err(fault) => (ptr::null_mut(), fault.code),
            };
            write(error, code);
            new
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_list_count(
    list: *const memcached_server_st,
) -> u32 {
    // SAFETY: the caller's promise.
    frame(0, || unsafe { list_of(list) }.len() as u32)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_list_free(list: *mut memcached_server_st) {
    // SAFETY: the caller's promise: it was made here and is not used any more, or is NULL.
    frame((), || unsafe { memory::free(list.cast()) });
}

/// Reads a field of a server.
///
/// # Safety
/// MC-1 of `given.rs`.
unsafe fn field<T: Copy>(
    server: *const memcached_server_st,
    otherwise: T,
    read: impl FnOnce(&memcached_server_st) -> T,
) -> T {
    frame(otherwise, || {
        // SAFETY: the promise of this function.
        unsafe { server.as_ref() }.map_or(otherwise, read)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_name(
    server: *const memcached_server_st,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { field(server, ptr::null(), |server| server.hostname.as_ptr()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_port(
    server: *const memcached_server_st,
) -> u16 {
    // SAFETY: the caller's promise.
    unsafe { field(server, 0, |server| server.port) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_type(
    server: *const memcached_server_st,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { field(server, TCP, |server| server.kind) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_major_version(
    server: *const memcached_server_st,
) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { field(server, u8::MAX, |server| server.major_version) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_minor_version(
    server: *const memcached_server_st,
) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { field(server, u8::MAX, |server| server.minor_version) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_micro_version(
    server: *const memcached_server_st,
) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { field(server, u8::MAX, |server| server.micro_version) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_error_return(
    server: *const memcached_server_st,
) -> Code {
    // SAFETY: the caller's promise.
    unsafe { field(server, codes::INVALID_ARGUMENTS, |server| server.error) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_server_error(
    server: *const memcached_server_st,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe {
        field(server, ptr::null(), |server| match server.error {
            codes::SUCCESS => ptr::null(),
            code => codes::text(code).as_ptr(),
        })
    }
}

/// Sets what is known of the versions of the servers.
pub(super) fn note_version(server: &mut memcached_server_st, text: &str) {
    let mut numbers = text.split('.').map(|number| {
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(u8::MAX)
    });
    let mut next = || numbers.next().unwrap_or(u8::MAX);
    let version = [next(), next(), next()];
    [
        server.major_version,
        server.minor_version,
        server.micro_version,
    ] = version;
}
