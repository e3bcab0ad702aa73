//! The protocols of memcached in both directions, without input or output: a server reads requests
//! and writes answers, a client writes requests and reads answers. The same for the protocol of
//! Redis is in [`resp`].
//!
//! | protocol | a request begins with | client writes | server reads |
//! |---|---|---|---|
//! | text | any first byte but `0x80` | [`text::ask`] | [`text::Request`] |
//! | meta | `mn`, `me`, `mg`, `ms`, `md`, `ma` | [`meta::ask`] | [`meta::Request`] |
//! | binary | `0x80` | [`binary::ask`] | [`binary::Request`] |
//!
//! | protocol | an answer begins with | server writes | client reads |
//! |---|---|---|---|
//! | text | a word in capitals, or digits | [`text::answer`] | [`text::Answer`] |
//! | meta | `HD`, `VA`, `EN`, `NF`, `NS`, `EX`, `MN`, `ME` | [`meta::answer`] | [`meta::Answer`] |
//! | binary | `0x81` | [`binary::answer`] | [`binary::Answer`] |
//!
//! # A server
//!
//! A [`Decoder`] belongs to one connection. It looks at the front of the bytes received and says
//! what is there: a whole request that borrows from them, a request refused with the answer
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
//! # A client
//!
//! What asks appends to the bytes to be sent, or writes nothing and says in an [`Error`] why not:
//! what would be read as another request is never sent. An [`AnswerDecoder`] looks at the front of
//! the bytes received and finds a whole answer that borrows from them, how many bytes are needed,
//! or that the server does not speak memcached's protocol. It allocates nothing either.
//!
//! ```
//! use tavola_proto::meta::ask::{self, Flag, Flags};
//! use tavola_proto::{Answer, AnswerDecoder, AnswerLimits, AnswerStep, Protocol, meta};
//!
//! // Two requests at once; only hits are answered, each with its opaque.
//! let mut sent = Vec::new();
//! let flags = Flags::of(&[Flag::ReturnValue, Flag::Quiet]);
//! for (number, key) in [b"apple", b"peach"].into_iter().enumerate() {
//!     ask::get(&mut sent, key, &flags.number(number as u64))?;
//! }
//! sent.extend_from_slice(ask::NOOP);
//! assert_eq!(sent, b"mg apple v q O0\r\nmg peach v q O1\r\nmn\r\n");
//!
//! let mut decoder = AnswerDecoder::of(Protocol::Text, AnswerLimits::default());
//! let received = b"VA 5 O1\r\nfuzzy\r\nMN\r\n";
//! let AnswerStep::Answer { answer: Answer::Meta(meta::Answer::Item(item)), used } =
//!     decoder.step(received)?
//! else {
//!     panic!("a whole answer is there");
//! };
//! assert_eq!(item.facts.opaque_number(), Some(1));
//! assert_eq!(item.value, Some(&b"fuzzy"[..]));
//!
//! let answer = Answer::Meta(meta::Answer::Noop);
//! assert_eq!(decoder.step(&received[used..])?, AnswerStep::Answer { answer, used: 4 });
//! # Ok::<(), tavola_proto::Error>(())
//! ```
//!
//! # Where memcached does otherwise
//!
//! What is refused, and how, is what memcached 1.6.45 does. These are the places where it is not:
//!
//! - A get with a key that is too long is answered by one line, as memcached 1.6.18 does; 1.6.45
//!   adds an empty line, which the client takes for the answer to its next request, and drops the
//!   answers to requests before it that are not sent yet.
//! - A line without an end is cut off at [`Limits::line_bytes`] however it arrives; memcached takes
//!   longer lines where they arrive at once. `gat` and `gats` may be as long as `get`, whose lines
//!   have a limit too.
//! - `ma` with a text of `O` that is too long is refused before it counts; memcached counts first.
//! - An `ms` whose data is wrong leaves nothing behind; memcached gives the unique number of its
//!   flag `E` to what the connection stores next.
//! - `me KEY b` decodes the key, as documented; memcached 1.6.45 wants one more word after it.
//! - A binary request of an unknown opcode ends where its header says; memcached throws away as
//!   many bytes again as its key and its extras have.
//! - A binary request that ends the connection is answered when its header is there; memcached
//!   waits for the key, and gives no answer where that is longer than its buffer.
//! - A step of SASL may send 16 KiB; memcached takes half a mebibyte.

#![forbid(unsafe_code)]

mod answered;
mod block;
mod decoder;
mod error;
mod key;
mod limits;
mod number;
mod refusal;

pub mod binary;
pub mod meta;
pub mod resp;
pub mod text;

pub use answered::{Answer, AnswerDecoder, AnswerHead, AnswerStep};
pub use decoder::{Awaited, Decoder, Protocol, Request, Sasl, Step};
pub use error::Error;
pub use key::{Key, KeyRoom, is_word};
pub use limits::{AnswerLimits, KEY_BYTES, Limits};
pub use refusal::{Refusal, Restricted, TooLarge};
