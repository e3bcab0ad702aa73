//! The binary protocol: a header of 24 bytes, then extras, a key and a value.
//!
//! ```text
//! byte  0      magic, 0x80 for requests and 0x81 for answers
//!       1      opcode
//!       2..4   bytes of the key
//!       4      bytes of the extras
//!       5      kind of data, not looked at
//!       6..8   status of an answer, not looked at in requests
//!       8..12  bytes of extras, key and value
//!      12..16  opaque, as the client sent it
//!      16..24  cas, the item's unique number
//! ```
//!
//! Numbers are big-endian. What a request has to have:
//!
//! | opcode (quiet) | | extras | key | value |
//! |---|---|---|---|---|
//! | 00 (09), 0c (0d) | get, with the key | | yes | |
//! | 01 (11), 02 (12), 03 (13) | set, add, replace | flags, expiry time | yes | any |
//! | 04 (14) | delete | | yes | |
//! | 05 (15), 06 (16) | increment, decrement | delta, initial, expiry time | yes | |
//! | 07 (17) | quit | | | |
//! | 08 (18) | flush | perhaps a delay | | |
//! | 0a, 0b | no-op, version | | | |
//! | 0e (19), 0f (1a) | append, prepend | | yes | any |
//! | 10 | stat | | any | |
//! | 1c | touch | expiry time | yes | |
//! | 1d (1e), 23 (24) | get and touch, with the key | expiry time | yes | |
//! | 20 | list of SASL's mechanisms | | | |
//! | 21, 22 | first step of SASL, more steps | | mechanism | any |
//!
//! Others are unknown to memcached, `verbosity` among them. A request of another shape ends the
//! connection.
//!
//! An answer to get, touch, and get and touch has the client's flags as its extras, one to
//! increment and decrement the number as a value of 8 bytes. A failure has a text as its value, or
//! the key where a get that returns it found nothing. Stat is answered by a figure each, with its
//! name as the key, and one without a name.

pub mod answer;
mod answered;
pub mod ask;
mod decode;
mod request;

pub use answer::Status;
pub use answered::{Answer, Outcome};
pub(crate) use answered::{read_answer, read_head};
pub(crate) use decode::decode;
pub use request::{Command, Count, Get, Header, Request, Store, StoreVerb};

/// The first byte of a request.
pub const REQUEST_MAGIC: u8 = 0x80;
/// The first byte of an answer.
const ANSWER_MAGIC: u8 = 0x81;
/// The bytes of a header.
const HEADER_BYTES: usize = 24;

/// The bytes from `at` on.
fn array<const COUNT: usize>(bytes: &[u8], at: usize) -> [u8; COUNT] {
    let mut array = [0; COUNT];
    array.copy_from_slice(&bytes[at..at + COUNT]);
    array
}
