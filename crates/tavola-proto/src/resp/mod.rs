//! The protocol of Redis, RESP2 and RESP3, in both directions, without input or output.
//!
//! | a server | a client |
//! |---|---|
//! | reads commands by a [`CommandDecoder`] | writes them by [`ask`] |
//! | writes replies by [`answer`] | reads them by a [`ReplyDecoder`] |
//!
//! A decoder belongs to one connection and looks at the front of the bytes received. What it finds
//! borrows from them. Its work is linear in the bytes, however they arrive, and it asks its caller
//! to hold no more than its limits say.
//!
//! ```
//! use tavola_proto::resp::{CommandDecoder, CommandLimits, CommandStep};
//!
//! let mut decoder = CommandDecoder::new(CommandLimits::default());
//! let received = b"*2\r\n$3\r\nGET\r\n$5\r\napple\r\nPING\r\n*1\r\n$4\r\nPI";
//!
//! let CommandStep::Command { args, used } = decoder.step(received) else {
//!     panic!("a whole command is there");
//! };
//! assert_eq!(args.iter().collect::<Vec<_>>(), [&b"GET"[..], b"apple"]);
//!
//! // A command may also be a line of words.
//! let received = &received[used..];
//! let CommandStep::Command { args, used } = decoder.step(received) else {
//!     panic!("a whole command is there");
//! };
//! assert_eq!(args.iter().collect::<Vec<_>>(), [b"PING"]);
//!
//! // The word is to have 4 bytes and a line end.
//! assert_eq!(decoder.step(&received[used..]), CommandStep::More { needed: 14 });
//! ```
//!
//! A client gets replies and pushes in the order in which the server has sent them; a push is a
//! reply of that kind, so it cannot overtake one:
//!
//! ```
//! use tavola_proto::resp::{Reply, ReplyDecoder, ReplyLimits, ReplyStep, ask};
//!
//! let mut sent = Vec::new();
//! ask::command(&mut sent, &[b"GET", b"apple"]);
//! assert_eq!(sent, b"*2\r\n$3\r\nGET\r\n$5\r\napple\r\n");
//!
//! let mut decoder = ReplyDecoder::new(ReplyLimits::default());
//! let received = b"$5\r\nfuzzy\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$5\r\napple\r\n";
//! let ReplyStep::Reply { reply, used } = decoder.step(received)? else {
//!     panic!("a whole reply is there");
//! };
//! assert_eq!(reply, Reply::Bulk(b"fuzzy"));
//! let ReplyStep::Reply { reply: Reply::Push(mut push), .. } = decoder.step(&received[used..])?
//! else {
//!     panic!("a whole push is there");
//! };
//! assert_eq!(push.next(), Some(Reply::Bulk(b"invalidate")));
//! # Ok::<(), tavola_proto::resp::NotAReply>(())
//! ```
//!
//! # Why there is no crate of others below
//!
//! The crate `redis-protocol` (6.0) reads and writes both versions, and its frames can borrow from
//! the input. It is not used here, for what it lacks is most of what a decoder in front of hostile
//! peers has to have:
//!
//! - It has no limits. Its parser calls itself for each level, so a peer that sends `*1\r\n` often
//!   enough overflows the stack, which ends the process. Strings have no bound either.
//! - A frame that has come in part is parsed from its beginning with each further piece. A command
//!   of many short words that arrives slowly costs time in the square of its length.
//! - It does not say how many bytes are missing, by which a server collects a large value without
//!   being called in between.
//! - It allocates a `Vec` for each command and a hash map for each map, whose order is lost.
//! - A server has to read lines of words, too (inline commands), and answer what is wrong with
//!   Redis' own sentences; the crate has neither.
//!
//! A scan that checks all that first would have to find the same bounds as the parser, which is
//! then a loop over them. Its order of pushes and replies is the same as here: that of the bytes.

mod args;
mod command;
mod inline;
mod number;
mod reply;
mod reply_decoder;

pub mod answer;
pub mod ask;

pub use args::Args;
pub use command::{CommandDecoder, CommandLimits, CommandStep, ProtocolError};
pub use number::read_i64;
pub use reply::{NotAReply, Replies, Reply};
pub use reply_decoder::{ReplyDecoder, ReplyLimits, ReplyStep};
