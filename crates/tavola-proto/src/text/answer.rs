//! Answers to the classic commands, appended to what is to be sent.

use crate::number;

/// To `set` and its kin.
pub const STORED: &[u8] = b"STORED\r\n";
/// To `add`, `replace`, `append`, `prepend` whose condition does not hold.
pub const NOT_STORED: &[u8] = b"NOT_STORED\r\n";
/// To `cas` whose unique number is no longer that of the item.
pub const EXISTS: &[u8] = b"EXISTS\r\n";
/// To commands about a key that has no item.
pub const NOT_FOUND: &[u8] = b"NOT_FOUND\r\n";
/// To `delete`.
pub const DELETED: &[u8] = b"DELETED\r\n";
/// To `touch`.
pub const TOUCHED: &[u8] = b"TOUCHED\r\n";
/// To commands that change the server.
pub const OK: &[u8] = b"OK\r\n";
/// To `stats reset`.
pub const RESET: &[u8] = b"RESET\r\n";
/// After the values of `get` and the figures of `stats`.
pub const END: &[u8] = b"END\r\n";
/// To a command that there is not.
pub const ERROR: &[u8] = b"ERROR\r\n";
/// To `incr` and `decr` of a value that is no number.
pub const NON_NUMERIC: &[u8] = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
/// To a value that the server finds too large by itself.
pub const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
/// To a value for which there is no room.
pub const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";
/// To `shutdown` where that is not allowed.
pub const SHUTDOWN_OFF: &[u8] = b"SERVER_ERROR: shutdown not enabled\r\n";
/// To `shutdown` in a way that there is not.
pub const SHUTDOWN_MODE: &[u8] = b"CLIENT_ERROR invalid shutdown mode\r\n";
/// To `flush_all` where that is not allowed.
pub const FLUSH_OFF: &[u8] = b"CLIENT_ERROR flush_all not allowed\r\n";
/// To a name and a password that do not belong together; `STORED` answers those that do.
pub const AUTH_FAILED: &[u8] = b"CLIENT_ERROR authentication failure\r\n";

/// One item of a `get`, with its unique number for `gets` and `gats`.
pub fn value(out: &mut Vec<u8>, key: &[u8], flags: u32, data: &[u8], cas: Option<u64>) {
    out.extend_from_slice(b"VALUE ");
    out.extend_from_slice(key);
    out.push(b' ');
    number::write(out, flags);
    out.push(b' ');
    number::write(out, data.len());
    if let Some(cas) = cas {
        out.push(b' ');
        number::write(out, cas);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

/// The new number after `incr` or `decr`.
pub fn count(out: &mut Vec<u8>, value: u64) {
    number::write(out, value);
    out.extend_from_slice(b"\r\n");
}

/// One figure of `stats`.
pub fn stat(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(b"STAT ");
    out.extend_from_slice(name.as_bytes());
    out.push(b' ');
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// One key of `stats cachedump`: the bytes of its value, and when it expires in seconds since
/// 1970.
pub fn dumped(out: &mut Vec<u8>, key: &[u8], size_bytes: usize, expires: u64) {
    out.extend_from_slice(b"ITEM ");
    out.extend_from_slice(key);
    out.extend_from_slice(b" [");
    number::write(out, size_bytes);
    out.extend_from_slice(b" b; ");
    number::write(out, expires);
    out.extend_from_slice(b" s]\r\n");
}

/// One prefix of keys of `stats detail dump`: how often it was got, found, set and deleted.
pub fn prefix(out: &mut Vec<u8>, prefix: &[u8], [gets, hits, sets, deletes]: [u64; 4]) {
    out.extend_from_slice(b"PREFIX ");
    out.extend_from_slice(prefix);
    for (name, count) in [
        (&b" get "[..], gets),
        (b" hit ", hits),
        (b" set ", sets),
        (b" del ", deletes),
    ] {
        out.extend_from_slice(name);
        number::write(out, count);
    }
    out.extend_from_slice(b"\r\n");
}

/// What a dump returns of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The bytes of its value.
    pub size_bytes: usize,
    /// When it expires, in seconds since 1970; none for never.
    pub expires_s: Option<u64>,
    /// What its client wants to find beside the value.
    pub flags: u32,
    /// Its unique number.
    pub cas: u64,
    /// The number of its class.
    pub class: u32,
    /// When it was last used, in seconds since 1970; 0 if that is not known.
    pub used_s: u64,
    /// Whether it was read since it was stored.
    pub is_fetched: bool,
}

/// One item of `lru_crawler metadump`.
pub fn metadump(out: &mut Vec<u8>, item: &Item<'_>) {
    out.extend_from_slice(b"key=");
    uri_encoded(out, item.key);
    out.extend_from_slice(b" exp=");
    match item.expires_s {
        Some(expires_s) => number::write(out, expires_s),
        None => out.extend_from_slice(b"-1"),
    }
    out.extend_from_slice(b" la=");
    number::write(out, item.used_s);
    out.extend_from_slice(b" cas=");
    number::write(out, item.cas);
    out.extend_from_slice(if item.is_fetched {
        b" fetch=yes cls="
    } else {
        b" fetch=no cls="
    });
    number::write(out, item.class);
    out.extend_from_slice(b" size=");
    number::write(out, item.key.len() + item.size_bytes);
    out.extend_from_slice(b" flags=");
    number::write(out, item.flags);
    out.extend_from_slice(b" \n");
}

/// A key in which all but letters, digits and `-._~` are two hexadecimal digits after a `%`.
pub fn uri_encoded(out: &mut Vec<u8>, key: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in key {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            let digit = |half: u8| DIGITS[usize::from(half)];
            out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

/// The server's version.
pub fn version(out: &mut Vec<u8>, version: &str) {
    out.extend_from_slice(b"VERSION ");
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn answers_are_lines() {
        let plain = written(|out| value(out, b"a", 7, b"x\r\ny", None));
        assert_eq!(plain, b"VALUE a 7 4\r\nx\r\ny\r\n");
        let with_cas = written(|out| value(out, b"a", u32::MAX, b"", Some(u64::MAX)));
        assert_eq!(
            with_cas,
            b"VALUE a 4294967295 0 18446744073709551615\r\n\r\n"
        );
        assert_eq!(written(|out| count(out, 10)), b"10\r\n");
        assert_eq!(written(|out| stat(out, "pid", b"1")), b"STAT pid 1\r\n");
        assert_eq!(written(|out| version(out, "1.6")), b"VERSION 1.6\r\n");
        assert_eq!(
            written(|out| dumped(out, b"a", 2, 0)),
            b"ITEM a [2 b; 0 s]\r\n"
        );
        assert_eq!(
            written(|out| prefix(out, b"a", [4, 3, 2, 1])),
            b"PREFIX a get 4 hit 3 set 2 del 1\r\n"
        );
        let item = Item {
            key: b"b%20\xff",
            size_bytes: 3,
            expires_s: None,
            flags: 5,
            cas: 9,
            class: 7,
            used_s: 11,
            is_fetched: true,
        };
        assert_eq!(
            written(|out| metadump(out, &item)),
            b"key=b%2520%FF exp=-1 la=11 cas=9 fetch=yes cls=7 size=8 flags=5 \n"
        );
    }
}
