//! Option strings: `--SERVER=host:port/?weight --BINARY-PROTOCOL ...`.

use super::codes::{self, Code};
use super::entry::{frame, write};
use super::fault::Fault;
use super::handle::Handle;
use super::parse;
use super::settings as behavior;
use super::types::memcached_st;
use super::{behaviors, callbacks, life, servers};
use crate::given;
use crate::status::c_text;
use std::ffi::{c_char, c_void};
use std::ptr;

/// Files may include files, but not in a circle.
const DEEPEST: u32 = 8;

/// What a string says beside what is in the handle.
#[derive(Default)]
pub(super) struct PoolOptions {
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
}

fn wrong(word: &str, why: &str) -> Fault {
    Fault::new(
        codes::PARSE_ERROR,
        format!("the option {word} is invalid: {why}"),
    )
}

/// The words of a string; blanks in quotes are part of a word, and `#` begins a comment.
fn words(text: &str) -> Result<Vec<String>, Fault> {
    let mut words = Vec::new();
    for line in text.lines() {
        let (mut word, mut quote, mut is_word) = (String::new(), None, false);
        for c in line.chars() {
            match (c, quote) {
                ('#', None) if !is_word => break,
                (c, Some(end)) if c == end => quote = None,
                ('"' | '\'', None) => (quote, is_word) = (Some(c), true),
                (c, None) if c.is_whitespace() => {
                    if is_word {
                        words.push(std::mem::take(&mut word));
                    }
                    is_word = false;
                }
                (c, _) => {
                    word.push(c);
                    is_word = true;
                }
            }
        }
        if quote.is_some() {
            return Err(wrong(&word, "its quote does not end"));
        }
        if is_word {
            words.push(word);
        }
    }
    Ok(words)
}

/// Options that set a behaviour to 1.
const FLAGS: [(&str, usize); 14] = [
    ("VERIFY-KEY", behavior::VERIFY_KEY),
    ("REMOVE-FAILED-SERVERS", behavior::REMOVE_FAILED_SERVERS),
    ("AUTO-EJECT-HOSTS", behavior::AUTO_EJECT_HOSTS),
    ("BINARY-PROTOCOL", behavior::BINARY_PROTOCOL),
    ("BUFFER-REQUESTS", behavior::BUFFER_REQUESTS),
    ("HASH-WITH-NAMESPACE", behavior::HASH_WITH_PREFIX_KEY),
    ("NOREPLY", behavior::NOREPLY),
    ("RANDOMIZE-REPLICA-READ", behavior::RANDOMIZE_REPLICA_READ),
    ("SORT-HOSTS", behavior::SORT_HOSTS),
    ("SUPPORT-CAS", behavior::SUPPORT_CAS),
    ("USE-UDP", behavior::USE_UDP),
    ("TCP-NODELAY", behavior::TCP_NODELAY),
    ("TCP-KEEPALIVE", behavior::TCP_KEEPALIVE),
    ("NO-BLOCK", behavior::NO_BLOCK),
];

/// Options that set a behaviour to a number.
const NUMBERS: [(&str, usize); 14] = [
    ("CONNECT-TIMEOUT", behavior::CONNECT_TIMEOUT),
    ("NUMBER-OF-REPLICAS", behavior::NUMBER_OF_REPLICAS),
    ("RETRY-TIMEOUT", behavior::RETRY_TIMEOUT),
    ("DEAD-TIMEOUT", behavior::DEAD_TIMEOUT),
    ("SERVER-FAILURE-LIMIT", behavior::SERVER_FAILURE_LIMIT),
    ("SND-TIMEOUT", behavior::SND_TIMEOUT),
    ("RCV-TIMEOUT", behavior::RCV_TIMEOUT),
    ("SOCKET-RECV-SIZE", behavior::SOCKET_RECV_SIZE),
    ("SOCKET-SEND-SIZE", behavior::SOCKET_SEND_SIZE),
    ("POLL-TIMEOUT", behavior::POLL_TIMEOUT),
    ("IO-BYTES-WATERMARK", behavior::IO_BYTES_WATERMARK),
    ("IO-KEY-PREFETCH", behavior::IO_KEY_PREFETCH),
    ("IO-MSG-WATERMARK", behavior::IO_MSG_WATERMARK),
    ("TCP-KEEPIDLE", behavior::TCP_KEEPIDLE),
];

const HASHES: [(&str, u64); 10] = [
    ("DEFAULT", 0),
    ("MD5", 1),
    ("CRC", 2),
    ("FNV1_64", 3),
    ("FNV1A_64", 4),
    ("FNV1_32", 5),
    ("FNV1A_32", 6),
    ("MURMUR", 8),
    ("JENKINS", 9),
    ("MURMUR3", 10),
];

const DISTRIBUTIONS: [(&str, u64); 6] = [
    ("MODULA", behavior::MODULA),
    ("CONSISTENT", behavior::CONSISTENT_KETAMA),
    ("RANDOM", behavior::RANDOM),
    ("KETAMA", behavior::CONSISTENT_KETAMA),
    ("KETAMA-SPY", behavior::CONSISTENT_KETAMA_SPY),
    ("CONSISTENT-WEIGHTED", behavior::CONSISTENT_WEIGHTED),
];

/// The value of a name, in capitals or not.
fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    let same = |(known, _): &&(&str, T)| known.eq_ignore_ascii_case(name);
    list.iter().find(same).map(|(_, value)| *value)
}

/// Carries out an option with a value.
fn set(inner: &mut Handle, pool: &mut PoolOptions, name: &str, value: &str) -> Result<Code, Fault> {
    let number = || {
        value
            .parse::<u32>()
            .map_err(|_| wrong(name, "give it a number"))
    };
    if let Some(flag) = named(&NUMBERS, name) {
        return behaviors::set(inner, flag, number()?.into());
    }
    match name.to_ascii_uppercase().as_str() {
        "SERVER" | "SOCKET" => {
            let server = parse::read(value);
            let server = server.ok_or_else(|| wrong(name, "it names no server"))?;
            return servers::add(inner, [server]);
        }
        "NAMESPACE" => return callbacks::set_namespace(inner, value.as_bytes()),
        "HASH" => {
            let hash = named(&HASHES, value);
            let hash = hash.ok_or_else(|| wrong(name, "there is no such hash"))?;
            return behaviors::set(inner, behavior::HASH, hash);
        }
        "DISTRIBUTION" => {
            let (distribution, hash) = value.split_once(',').unwrap_or((value, ""));
            let distribution = named(&DISTRIBUTIONS, &distribution.replace('_', "-"));
            let distribution =
                distribution.ok_or_else(|| wrong(name, "there is no such distribution"))?;
            behaviors::set(inner, behavior::DISTRIBUTION, distribution)?;
            if !hash.is_empty() {
                let hash = named(&HASHES, hash);
                let hash = hash.ok_or_else(|| wrong(name, "there is no such hash"))?;
                inner.settings.set_points_hash(hash)?;
            }
        }
        "POOL-MIN" => pool.min = Some(number()?),
        "POOL-MAX" => pool.max = Some(number()?),
        _ => return Err(wrong(name, "there is no such option")),
    }
    Ok(codes::SUCCESS)
}

fn read_file(path: &str) -> Result<String, Fault> {
    let text = std::fs::read_to_string(path);
    text.map_err(|error| Fault::new(codes::ERRNO, format!("{path} cannot be read: {error}")))
}

/// Removes all that was configured.
fn reset(inner: &mut Handle, pool: &mut PoolOptions) {
    let memory = inner.memory;
    *inner = Handle::new(memory.owner);
    inner.memory = memory;
    *pool = PoolOptions::default();
}

/// Carries out the options of a string. Returns false behind `END`.
fn apply(
    inner: &mut Handle,
    pool: &mut PoolOptions,
    text: &str,
    depth: u32,
) -> Result<bool, Fault> {
    let words = words(text)?;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else {
            match word.to_ascii_uppercase().as_str() {
                "END" => return Ok(false),
                "ERROR" => {
                    let why = "the options say ERROR";
                    return Err(Fault::new(codes::PARSE_USER_ERROR, why));
                }
                "RESET" => reset(inner, pool),
                "INCLUDE" => {
                    let path = words.next();
                    let path = path.ok_or_else(|| wrong(word, "the file is missing"))?;
                    if depth == DEEPEST {
                        return Err(wrong(word, "files include each other"));
                    }
                    if !apply(inner, pool, &read_file(path)?, depth + 1)? {
                        return Ok(false);
                    }
                }
                _ => return Err(wrong(word, "options begin with --")),
            }
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let name = name.replace('_', "-");
        match (named(&FLAGS, &name), value) {
            (Some(flag), None) => drop(behaviors::set(inner, flag, 1)?),
            (Some(_), Some(_)) => return Err(wrong(&name, "it has no value")),
            (None, Some(path)) if name.eq_ignore_ascii_case("CONFIGURE-FILE") => {
                if depth == DEEPEST {
                    return Err(wrong(&name, "files include each other"));
                }
                reset(inner, pool);
                apply(inner, pool, &read_file(path)?, depth + 1)?;
            }
            (None, Some(value)) => drop(set(inner, pool, &name, value)?),
            (None, None) => return Err(wrong(&name, "there is no such option, or it has a value")),
        }
    }
    Ok(true)
}

/// A handle of a string; with NULL, of the variable `LIBMEMCACHED`, if there is one.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(super) unsafe fn made(
    text: *const c_char,
    length: usize,
) -> Result<(*mut memcached_st, PoolOptions), Fault> {
    let data: *const c_void = text.cast();
    let text = match text.is_null() {
        true => std::env::var("LIBMEMCACHED").unwrap_or_default(),
        false if length == 0 => return Err(Fault::arguments("the options are empty")),
        false => {
            // SAFETY: the promise of this function.
            let bytes = unsafe { given::bytes(data, length, "string") }?;
            let text = std::str::from_utf8(bytes);
            let text = text.map_err(|_| Fault::arguments("the options are not UTF-8"))?;
            text.trim_end_matches('\0').to_owned()
        }
    };
    // SAFETY: as above; the handle is new.
    unsafe {
        let st = life::create(ptr::null_mut());
        let mut pool = PoolOptions::default();
        match apply(&mut *(*st).handle, &mut pool, &text, 0) {
            Ok(_) => Ok((st, pool)),
            Err(fault) => {
                life::destroy(st);
                Err(fault)
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached(
    string: *const c_char,
    length: usize,
) -> *mut memcached_st {
    frame(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let made = unsafe { made(string, length) };
        made.map_or(ptr::null_mut(), |(st, _)| st)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_libmemcached_check_configuration(
    string: *const c_char,
    length: usize,
    error_buffer: *mut c_char,
    error_buffer_size: usize,
) -> Code {
    frame(codes::FAILURE, || {
        // SAFETY: the caller's promise; `made` returns a handle that is ours.
        unsafe {
            let fault = match made(string, length) {
                Ok((st, _)) => {
                    life::destroy(st);
                    return codes::SUCCESS;
                }
                Err(fault) => fault,
            };
            if !error_buffer.is_null() && error_buffer_size > 0 {
                let text = c_text(&fault.why);
                let len = text.as_bytes().len().min(error_buffer_size - 1);
                ptr::copy_nonoverlapping(text.as_ptr(), error_buffer, len);
                write(error_buffer.add(len), 0);
            }
            fault.code
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Handle, PoolOptions), Fault> {
        let (mut inner, mut pool) = (Handle::new(ptr::null()), PoolOptions::default());
        apply(&mut inner, &mut pool, text, 0).map(|_| (inner, pool))
    }

    #[test]
    fn options_are_carried_out() {
        let text = "--SERVER=host10:1/?5 --SOCKET=\"/a b\" --BINARY-PROTOCOL # a comment
                    --CONNECT-TIMEOUT=7 --POOL-MIN=2 --POOL_MAX=3 --NAMESPACE=\"n:\" --HASH=MD5
                    --DISTRIBUTION=consistent,MD5 END --nothing";
        let (inner, pool) = read(text).unwrap();
        let servers = inner.servers.iter();
        let servers: Vec<_> = servers
            .map(|server| super::super::fleet::host(server))
            .collect();
        assert_eq!(servers, ["host10", "/a b"]);
        assert_eq!((inner.servers[0].port, inner.servers[0].weight), (1, 5));
        assert!(inner.settings.is_on(behavior::BINARY_PROTOCOL));
        assert_eq!(inner.settings.value(behavior::CONNECT_TIMEOUT), Some(7));
        assert_eq!(inner.settings.namespace, b"n:");
        assert_eq!((pool.min, pool.max), (Some(2), Some(3)));
        assert_eq!(
            read("--SERVER=a RESET --SERVER=b").unwrap().0.servers.len(),
            1
        );
    }

    #[test]
    fn what_is_no_option_is_refused_by_name() {
        for (text, code) in [
            ("--SERVER=", codes::PARSE_ERROR),
            ("--SERVER=a --FOO", codes::PARSE_ERROR),
            ("--BINARY-PROTOCOL=1", codes::PARSE_ERROR),
            ("a", codes::PARSE_ERROR),
            ("--NAMESPACE=\"a", codes::PARSE_ERROR),
            ("--CONNECT-TIMEOUT=x", codes::PARSE_ERROR),
            ("--USE-UDP", codes::NOT_SUPPORTED),
            ("ERROR", codes::PARSE_USER_ERROR),
            ("INCLUDE /nowhere", codes::ERRNO),
        ] {
            assert_eq!(
                read(text).err().map(|fault| fault.code),
                Some(code),
                "{text}"
            );
        }
    }
}
