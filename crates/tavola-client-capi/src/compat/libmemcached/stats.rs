//! Figures of servers.

use super::about::all;
use super::codes::{self, Code};
use super::entry::{frame, inner, read_handle, with, write};
use super::memory::{Buffer, Memory};
use super::types::{StatFn, memcached_server_st, memcached_st};
use super::{life, parse, servers};
use crate::given::{self, given};
use crate::status::c_text;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use tavola_client_core::Stat;

/// The general figures of a server, by their names.
#[repr(C)]
#[derive(Default)]
pub struct memcached_stat_st {
    connection_structures: u64,
    curr_connections: u64,
    curr_items: u64,
    pointer_size: u64,
    rusage_system_microseconds: u64,
    rusage_system_seconds: u64,
    rusage_user_microseconds: u64,
    rusage_user_seconds: u64,
    threads: u64,
    time: u64,
    total_connections: u64,
    total_items: u64,
    uptime: u64,
    bytes: u64,
    bytes_read: u64,
    bytes_written: u64,
    cmd_get: u64,
    cmd_set: u64,
    evictions: u64,
    get_hits: u64,
    get_misses: u64,
    limit_maxbytes: u64,
    pid: c_int,
    version: [c_char; 24],
}

/// The numbers of the struct.
macro_rules! numbers {
    ($($name:ident)*) => {
        fn place<'a>(stat: &'a mut memcached_stat_st, name: &[u8]) -> Option<&'a mut u64> {
            $(if name == stringify!($name).as_bytes() {
                return Some(&mut stat.$name);
            })*
            None
        }
    };
}

numbers! {
    connection_structures curr_connections curr_items pointer_size threads time total_connections
    total_items uptime bytes bytes_read bytes_written cmd_get cmd_set evictions get_hits get_misses
    limit_maxbytes
}

/// The names of the figures.
const KEYS: [&CStr; 22] = [
    c"pid",
    c"uptime",
    c"time",
    c"version",
    c"pointer_size",
    c"rusage_user",
    c"rusage_system",
    c"curr_items",
    c"total_items",
    c"bytes",
    c"curr_connections",
    c"total_connections",
    c"connection_structures",
    c"cmd_get",
    c"cmd_set",
    c"get_hits",
    c"get_misses",
    c"evictions",
    c"bytes_read",
    c"bytes_written",
    c"limit_maxbytes",
    c"threads",
];

impl memcached_stat_st {
    fn note(&mut self, name: &[u8], value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        let (seconds, micros) = text.split_once('.').unwrap_or((&text, "0"));
        let seconds = seconds.parse().unwrap_or(0);
        let micros = format!("{micros:0<6.6}").parse().unwrap_or(0);
        match name {
            b"pid" => self.pid = text.parse().unwrap_or(0),
            b"version" => {
                let room = self.version.len() - 1;
                for (place, byte) in self.version.iter_mut().zip(value.iter().take(room)) {
                    *place = *byte as c_char;
                }
            }
            b"rusage_user" => {
                (self.rusage_user_seconds, self.rusage_user_microseconds) = (seconds, micros);
            }
            b"rusage_system" => {
                (self.rusage_system_seconds, self.rusage_system_microseconds) = (seconds, micros);
            }
            _ => {
                if let (Some(place), Ok(number)) = (place(self, name), text.parse()) {
                    *place = number;
                }
            }
        }
    }

    fn text(&mut self, name: &[u8]) -> Option<String> {
        Some(match name {
            b"pid" => self.pid.to_string(),
            b"version" => {
                let bytes = self.version.iter().map(|byte| *byte as u8);
                let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            b"rusage_user" => {
                let micros = self.rusage_user_microseconds;
                format!("{}.{micros:06}", self.rusage_user_seconds)
            }
            b"rusage_system" => {
                let micros = self.rusage_system_microseconds;
                format!("{}.{micros:06}", self.rusage_system_seconds)
            }
            name => place(self, name)?.to_string(),
        })
    }

    fn of(figures: &[Stat]) -> Self {
        let mut stat = Self::default();
        for [name, value] in figures {
            stat.note(name, value);
        }
        stat
    }
}

/// The figures of each server of a handle, with its place; and a code.
type Figures = Vec<(*const memcached_server_st, Vec<Stat>)>;

fn figures(ptr: *const memcached_st, topic: *const c_char) -> (Figures, Code) {
    let mut figures = Figures::new();
    let code = with(inner!(ptr), |inner| {
        let topic = given!(maybe_text topic);
        let answers = inner.fleet()?.whole().stats(topic);
        let code = all(&answers);
        for (server, answer) in inner.servers.iter().zip(answers) {
            if let Ok(answer) = answer {
                figures.push((ptr::from_ref(&**server), answer));
            }
        }
        code
    });
    (figures, code.unwrap_or_else(|code| code))
}

/// An array with one element for each server; those that failed have zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat(
    ptr: *mut memcached_st,
    args: *const c_char,
    error: *mut Code,
) -> *mut memcached_stat_st {
    frame(ptr::null_mut(), || {
        let (figures, mut code) = figures(ptr, args);
        let (memory, servers) = read_handle(inner!(ptr), (None, Vec::new()), |inner| {
            let servers = inner.servers.iter().map(|server| ptr::from_ref(&**server));
            (Some(inner.memory), servers.collect())
        });
        let mut array: *mut memcached_stat_st = ptr::null_mut();
        if let (Some(memory), false) = (memory, figures.is_empty()) {
            array = memory
                .get(servers.len() * size_of::<memcached_stat_st>())
                .cast();
            if array.is_null() {
                code = codes::MEMORY_ALLOCATION_FAILURE;
            }
        }
        // SAFETY: the caller's promise; the array has room for all servers.
        unsafe {
            write(error, code);
            for (place, server) in servers.iter().enumerate() {
                if array.is_null() {
                    break;
                }
                let of_server = figures.iter().find(|(known, _)| known == server);
                let stat = of_server.map(|(_, figures)| memcached_stat_st::of(figures));
                array.add(place).write(stat.unwrap_or_default());
            }
        }
        array
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat_free(
    ptr: *const memcached_st,
    stat: *mut memcached_stat_st,
) {
    frame((), || {
        let memory = read_handle(inner!(ptr), Memory::usual(ptr), |inner| inner.memory);
        // SAFETY: the caller's promise: it is of `memcached_stat`, and is not used any more.
        unsafe { memory.put(stat.cast()) };
    })
}

/// The names of the figures, in an array that the caller frees, with a NULL at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat_get_keys(
    ptr: *mut memcached_st,
    _stat: *mut memcached_stat_st,
    error: *mut Code,
) -> *mut *mut c_char {
    frame(ptr::null_mut(), || {
        let memory = read_handle(inner!(ptr), Memory::usual(ptr), |inner| inner.memory);
        let array: *mut *mut c_char = memory
            .get((KEYS.len() + 1) * size_of::<*mut c_char>())
            .cast();
        // SAFETY: the caller's promise; the array has room for all keys and the NULL.
        unsafe {
            if array.is_null() {
                write(error, codes::MEMORY_ALLOCATION_FAILURE);
                return array;
            }
            for (place, key) in KEYS.iter().enumerate() {
                array.add(place).write(key.as_ptr().cast_mut());
            }
            array.add(KEYS.len()).write(ptr::null_mut());
            write(error, codes::SUCCESS);
        }
        array
    })
}

/// The text of a figure, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat_get_value(
    ptr: *const memcached_st,
    stat: *mut memcached_stat_st,
    key: *const c_char,
    error: *mut Code,
) -> *mut c_char {
    frame(ptr::null_mut(), || {
        let memory = read_handle(inner!(ptr), Memory::usual(ptr), |inner| inner.memory);
        // SAFETY: the caller's promise.
        let (stat, key) = unsafe { (stat.as_mut(), given::text(key, "key")) };
        let text = match (stat, key) {
            (Some(stat), Ok(key)) => stat.text(key.as_bytes()).ok_or(codes::NOTFOUND),
            _ => Err(codes::INVALID_ARGUMENTS),
        };
        let text = text.and_then(|text| {
            let buffer = Buffer::of(memory, text.as_bytes());
            buffer.ok_or(codes::MEMORY_ALLOCATION_FAILURE)
        });
        // SAFETY: the caller's promise.
        unsafe {
            write(
                error,
                { text.as_ref().err() }.copied().unwrap_or(codes::SUCCESS),
            )
        };
        text.map_or(ptr::null_mut(), Buffer::into_raw)
    })
}

/// Hands each figure of each server to a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat_execute(
    ptr: *mut memcached_st,
    args: *const c_char,
    each: StatFn,
    context: *mut c_void,
) -> Code {
    frame(codes::FAILURE, || {
        let (figures, code) = figures(ptr, args);
        let Some(each) = each else { return code };
        for (server, figures) in figures {
            for [name, value] in figures {
                let (key, text) = (c_text(&lossy(&name)), c_text(&lossy(&value)));
                let (key_len, len) = (key.as_bytes().len(), text.as_bytes().len());
                let (key, text) = (key.as_ptr(), text.as_ptr());
                // SAFETY: the caller's function, called as its type says.
                let said = unsafe { each(server, key, key_len, text, len, context) };
                if said != codes::SUCCESS {
                    return said;
                }
            }
        }
        code
    })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The figures of one server, without a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_stat_servername(
    stat: *mut memcached_stat_st,
    args: *const c_char,
    hostname: *const c_char,
    port: u16,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(stat) = stat.as_mut() else {
                return codes::INVALID_ARGUMENTS;
            };
            let st = life::create(ptr::null_mut());
            let port = if port == 0 { parse::PORT } else { port };
            let added =
                servers::tavola_compat_memcached_server_add_with_weight(st, hostname, port, 1);
            let (figures, code) = match added {
                codes::SUCCESS => self::figures(st, args),
                code => (Figures::new(), code),
            };
            if let Some((_, figures)) = figures.first() {
                *stat = memcached_stat_st::of(figures);
            }
            life::destroy(st);
            code
        }
    })
}

/// The number of the process of the one server of a handle.
pub(super) fn pid(st: *const memcached_st, pid: &mut c_int) -> Code {
    let (figures, code) = figures(st, ptr::null());
    if let Some((_, figures)) = figures.first() {
        *pid = memcached_stat_st::of(figures).pid;
    }
    code
}
