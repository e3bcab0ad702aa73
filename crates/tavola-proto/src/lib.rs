//! The protocols of memcached as a server sees them: bytes in, requests out; answers in, bytes out.
//!
//! | protocol | begins with | requests | answers |
//! |---|---|---|---|
//! | text | any first byte but `0x80` | [`text::Request`] | [`text::answer`] |
//! | meta | `mn`, `me`, `mg`, `ms`, `md`, `ma` | [`meta::Request`] | [`meta::answer`] |
//! | binary | `0x80` | [`binary::Request`] | [`binary::answer`] |
//!
//! A [`Decoder`] belongs to one connection. It looks at the front of the bytes received and says
//! what stands there: a whole request that borrows from them, a request refused with the answer
//! that memcached gives, bytes to throw away, or how many bytes are needed. It reads and writes
//! nothing itself and allocates nothing.
//!
//! ```
//! use tavola_proto::{Decoder, Limits, Request, Step, text};
//!
//! let mut decoder = Decoder::new(Limits::default());
//! let received = b"get apple pear\r\nset a 0 0 5\r\nhel";
//!
//! let Step::Request { request: Request::Text(text::Request::Get(get)), used } =
//!     decoder.step(received)
//! else {
//!     panic!("a whole request is there");
//! };
//! assert_eq!(get.keys.collect::<Vec<_>>(), [&b"apple"[..], b"pear"]);
//!
//! // The line takes 13 bytes, the data 5 and a line end of 2.
//! assert_eq!(decoder.step(&received[used..]), Step::More { needed: 20 });
//! ```
//!
//! What is refused, and how, is what memcached 1.6.45 does. These are the places where it is not:
//!
//! - A get with a key that is too long is answered by one line, as memcached 1.6.18 does; 1.6.45
//!   adds an empty line, which the client takes for the answer to its next request, and drops the
//!   answers to requests before it that are not sent yet.
//! - A line without an end is cut off at [`Limits::line_bytes`] however it arrives; memcached takes
//!   longer lines where they arrive at once. `gat` and `gats` may be as long as `get`, whose lines
//!   have a limit too.
//! - `me KEY b` decodes the key, as documented; memcached 1.6.45 wants one more word after it.
//! - A binary request of an unknown opcode ends where its header says; memcached throws away as
//!   many bytes again as its key and its extras have.
//! - A binary request that ends the connection is answered when its header is there; memcached
//!   waits for the key, and gives no answer where that is longer than its buffer.
//! - A step of SASL may send 16 KiB; memcached takes half a mebibyte.

#![forbid(unsafe_code)]

mod block;
mod decoder;
mod key;
mod limits;
mod number;
mod refusal;

pub mod binary;
pub mod meta;
pub mod text;

pub use decoder::{Decoder, Protocol, Request, Sasl, Step};
pub use key::{Key, KeyRoom};
pub use limits::{KEY_BYTES, Limits};
pub use refusal::Refusal;
