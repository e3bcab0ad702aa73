//! Answers to binary requests, appended to what is to be sent.

use super::request::Header;
use super::{ANSWER_MAGIC, HEADER_BYTES};

/// What became of a request that failed, with the text that memcached adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Status {
    /// There is no item of this key.
    NotFound = 0x01,
    /// The item's unique number is another, or there is an item.
    Exists = 0x02,
    /// The value is too large.
    TooLarge = 0x03,
    /// The request has not the shape that its opcode asks for.
    InvalidArguments = 0x04,
    /// The condition does not hold.
    NotStored = 0x05,
    /// The value is no number.
    NonNumeric = 0x06,
    /// The client has not said who it is, or cannot prove it.
    AuthFailure = 0x20,
    /// There is no such opcode.
    UnknownCommand = 0x81,
    /// There is no room for the value.
    OutOfMemory = 0x82,
    /// Something else failed; memcached has no such status, but its clients know it.
    Internal = 0x84,
}

impl Status {
    pub(super) fn of(code: u16) -> Option<Self> {
        Some(match code {
            0x01 => Self::NotFound,
            0x02 => Self::Exists,
            0x03 => Self::TooLarge,
            0x04 => Self::InvalidArguments,
            0x05 => Self::NotStored,
            0x06 => Self::NonNumeric,
            0x20 => Self::AuthFailure,
            0x81 => Self::UnknownCommand,
            0x82 => Self::OutOfMemory,
            _ => return None,
        })
    }

    fn text(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Exists => "Data exists for key.",
            Self::TooLarge => "Too large.",
            Self::InvalidArguments => "Invalid arguments",
            Self::NotStored => "Not stored.",
            Self::NonNumeric => "Non-numeric server-side value for incr or decr",
            Self::AuthFailure => "Auth failure.",
            Self::UnknownCommand => "Unknown command",
            Self::OutOfMemory => "Out of memory",
            Self::Internal => "Internal error",
        }
    }
}

/// The status of a step of SASL after which another is needed.
pub(super) const AUTH_CONTINUE: u16 = 0x21;

/// What an answer has beside what it repeats. The status of success is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    status: u16,
    cas: u64,
    extras: &'a [u8],
    key: &'a [u8],
    value: &'a [u8],
}

/// A failure and its text.
pub fn error(out: &mut Vec<u8>, header: &Header, status: Status) {
    let parts = Parts {
        status: status as u16,
        value: status.text().as_bytes(),
        ..Parts::default()
    };
    write(out, header, parts);
}

/// [`Status::OutOfMemory`], and for what there is no room.
pub fn no_memory(out: &mut Vec<u8>, header: &Header, text: &[u8]) {
    let parts = Parts {
        status: Status::OutOfMemory as u16,
        value: text,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// A success that says nothing else, with the unique number of what was stored or 0.
pub fn done(out: &mut Vec<u8>, header: &Header, cas: u64) {
    let parts = Parts {
        cas,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// A success with a text: the version, the mechanisms of SASL, `Authenticated`.
pub fn text(out: &mut Vec<u8>, header: &Header, text: &[u8]) {
    let parts = Parts {
        value: text,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// An item that get, or get and touch, found. `key` is empty where it is not asked for.
pub fn value(out: &mut Vec<u8>, header: &Header, key: &[u8], flags: u32, data: &[u8], cas: u64) {
    let parts = Parts {
        cas,
        extras: &flags.to_be_bytes(),
        key,
        value: data,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// To get, or get and touch, that returns the key and found nothing.
pub fn miss_of(out: &mut Vec<u8>, header: &Header, key: &[u8]) {
    let parts = Parts {
        status: Status::NotFound as u16,
        key,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// To touch: the item's flags and its unique number.
pub fn touched(out: &mut Vec<u8>, header: &Header, flags: u32, cas: u64) {
    value(out, header, &[], flags, &[], cas);
}

/// The new number after increment or decrement.
pub fn count(out: &mut Vec<u8>, header: &Header, value: u64, cas: u64) {
    let parts = Parts {
        cas,
        value: &value.to_be_bytes(),
        ..Parts::default()
    };
    write(out, header, parts);
}

/// One figure of stat; one with neither name nor value ends them.
pub fn stat(out: &mut Vec<u8>, header: &Header, name: &[u8], value: &[u8]) {
    let parts = Parts {
        key: name,
        value,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// To a step of SASL after which another is needed.
pub fn challenge(out: &mut Vec<u8>, header: &Header, data: &[u8]) {
    let parts = Parts {
        status: AUTH_CONTINUE,
        value: data,
        ..Parts::default()
    };
    write(out, header, parts);
}

/// Keys have 250 bytes at most and values less than 4 GiB, so that their lengths fit.
fn write(out: &mut Vec<u8>, header: &Header, parts: Parts<'_>) {
    let body = parts.extras.len() + parts.key.len() + parts.value.len();
    out.reserve(HEADER_BYTES + body);
    out.extend_from_slice(&[ANSWER_MAGIC, header.opcode]);
    out.extend_from_slice(&(parts.key.len() as u16).to_be_bytes());
    // The kind of data is always 0.
    out.extend_from_slice(&[parts.extras.len() as u8, 0]);
    out.extend_from_slice(&parts.status.to_be_bytes());
    out.extend_from_slice(&(body as u32).to_be_bytes());
    out.extend_from_slice(&header.opaque);
    out.extend_from_slice(&parts.cas.to_be_bytes());
    out.extend_from_slice(parts.extras);
    out.extend_from_slice(parts.key);
    out.extend_from_slice(parts.value);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        opcode: 0x0c,
        opaque: [1, 2, 3, 4],
    };

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn an_item_has_its_flags_its_key_and_its_value() {
        let expected = b"\x81\x0c\x00\x01\x04\x00\x00\x00\x00\x00\x00\x07\x01\x02\x03\x04\
            \x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x05kxy";
        let out = written(|out| value(out, &HEADER, b"k", 5, b"xy", 9));
        assert_eq!(out, expected);
    }

    #[test]
    fn failures_have_a_text_and_misses_their_key() {
        let out = written(|out| error(out, &HEADER, Status::NotFound));
        assert_eq!(out[6..12], [0, 1, 0, 0, 0, 9]);
        assert_eq!(&out[HEADER_BYTES..], b"Not found");
        let out = written(|out| miss_of(out, &HEADER, b"nk"));
        assert_eq!(out[2..12], [0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(&out[HEADER_BYTES..], b"nk");
    }

    #[test]
    fn the_rest_is_a_header_and_what_belongs_to_it() {
        assert_eq!(written(|out| done(out, &HEADER, 7))[23], 7);
        assert_eq!(
            &written(|out| count(out, &HEADER, 258, 7))[23..],
            [7, 0, 0, 0, 0, 0, 0, 1, 2]
        );
        assert_eq!(&written(|out| text(out, &HEADER, b"1.6"))[24..], b"1.6");
        assert_eq!(written(|out| touched(out, &HEADER, 5, 7)).len(), 28);
        assert_eq!(written(|out| challenge(out, &HEADER, b"x"))[7], 0x21);
        let figure = written(|out| stat(out, &HEADER, b"pid", b"12"));
        assert_eq!(&figure[24..], b"pid12");
        assert_eq!(figure[2..4], [0, 3]);
    }
}
