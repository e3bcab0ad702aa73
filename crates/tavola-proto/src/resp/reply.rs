//! What a client receives: replies and pushes.

use std::fmt;

use memchr::memchr;

use super::number::read_i64;

/// A reply, or a push, which borrows from the bytes received.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// A word, such as `OK`.
    Simple(&'a [u8]),
    /// An error: a code in capitals, a space, a sentence.
    Error(&'a [u8]),
    /// A number.
    Integer(i64),
    /// A string of any bytes.
    Bulk(&'a [u8]),
    /// Nothing, in place of a string or an array.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A number with a fraction, as text.
    Double(&'a [u8]),
    /// A number of any length, as digits.
    BigNumber(&'a [u8]),
    /// A text, and three letters that say of which kind.
    Text {
        /// Such as `txt` or `mkd`.
        kind: &'a [u8],
        /// The text.
        text: &'a [u8],
    },
    /// Several replies.
    Array(Replies<'a>),
    /// Keys and values in turn, in the order in which they came.
    Map(Replies<'a>),
    /// Several replies, in the order in which they came.
    Set(Replies<'a>),
    /// Something that was not asked for. It answers no command.
    Push(Replies<'a>),
}

/// The replies within an array, a map, a set or a push: an iterator.
#[derive(Clone, PartialEq, Eq)]
pub struct Replies<'a> {
    bytes: &'a [u8],
    left: usize,
}

/// The bytes received are no reply, or one above a limit. Nobody knows where the next one begins:
/// the connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAReply {
    /// A reply begins with an unknown byte, or a number is not one.
    Malformed,
    /// A string, or a whole reply, is longer than the limit.
    TooLarge,
    /// A line is longer than the limit.
    LongLine,
    /// Too many arrays are in each other.
    TooDeep,
}

impl fmt::Display for NotAReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the server sent what is no reply of Redis: close the connection",
            Self::TooLarge => {
                "the server sent a reply above the limit: close the connection, or raise \
                 string_bytes and bytes"
            }
            Self::LongLine => {
                "the server sent a line above the limit: close the connection, or raise line_bytes"
            }
            Self::TooDeep => {
                "the server sent too many arrays in each other: close the connection, or raise \
                 depth"
            }
        })
    }
}

impl std::error::Error for NotAReply {}

/// What a line begins.
pub(super) enum Head<'a> {
    /// A whole reply.
    Scalar(Reply<'a>),
    /// A string of this many bytes and a line end.
    String { kind: u8, length: usize },
    /// As many replies.
    Several { kind: u8, count: usize },
}

/// Reads a line without its end.
pub(super) fn head(line: &[u8]) -> Result<Head<'_>, NotAReply> {
    let (&kind, text) = line.split_first().ok_or(NotAReply::Malformed)?;
    let number = || read_i64(text).ok_or(NotAReply::Malformed);
    let scalar = match kind {
        b'+' => Reply::Simple(text),
        b'-' => Reply::Error(text),
        b':' => Reply::Integer(number()?),
        b'_' if text.is_empty() => Reply::Null,
        b'#' if text == b"t" => Reply::Boolean(true),
        b'#' if text == b"f" => Reply::Boolean(false),
        b',' => Reply::Double(text),
        b'(' => Reply::BigNumber(text),
        b'$' | b'*' if text == b"-1" => Reply::Null,
        b'$' | b'!' | b'=' => {
            let length = usize::try_from(number()?).map_err(|_| NotAReply::Malformed)?;
            if kind == b'=' && length < 4 {
                return Err(NotAReply::Malformed);
            }
            return Ok(Head::String { kind, length });
        }
        b'*' | b'%' | b'~' | b'>' | b'|' => {
            let count = usize::try_from(number()?).map_err(|_| NotAReply::Malformed)?;
            let each = if matches!(kind, b'%' | b'|') { 2 } else { 1 };
            let count = count.checked_mul(each).ok_or(NotAReply::TooLarge)?;
            return Ok(Head::Several { kind, count });
        }
        _ => return Err(NotAReply::Malformed),
    };
    Ok(Head::Scalar(scalar))
}

impl<'a> Replies<'a> {
    /// Returns the replies of bytes that hold one reply.
    pub(super) fn one(bytes: &'a [u8]) -> Self {
        Self { bytes, left: 1 }
    }

    /// Returns the number of replies that are left.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Returns whether no replies are left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Takes the head at the front, and what follows it if that is a string. The bytes are those of
    /// whole replies, which a decoder has checked.
    fn take_head(&mut self) -> Option<(Head<'a>, &'a [u8])> {
        let end = memchr(b'\n', self.bytes)?;
        let (line, rest) = self.bytes.split_at(end + 1);
        let head = head(line.strip_suffix(b"\r\n")?).ok()?;
        let length = match &head {
            Head::String { length, .. } => *length,
            _ => {
                self.bytes = rest;
                return Some((head, &[]));
            }
        };
        let string = rest.get(..length)?;
        self.bytes = rest.get(length + 2..)?;
        Some((head, string))
    }

    /// Takes `count` replies with all that is in them, and returns their bytes.
    fn take(&mut self, mut count: usize) -> Option<&'a [u8]> {
        let all = self.bytes;
        while count > 0 {
            count -= 1;
            if let (Head::Several { kind, count: inner }, _) = self.take_head()? {
                count += inner + usize::from(kind == b'|');
            }
        }
        Some(&all[..all.len() - self.bytes.len()])
    }
}

impl<'a> Iterator for Replies<'a> {
    type Item = Reply<'a>;

    fn next(&mut self) -> Option<Reply<'a>> {
        if self.left == 0 {
            return None;
        }
        loop {
            let (head, string) = self.take_head()?;
            let reply = match head {
                Head::Scalar(reply) => reply,
                Head::String { kind: b'!', .. } => Reply::Error(string),
                Head::String { kind: b'=', .. } => Reply::Text {
                    kind: &string[..3],
                    text: &string[4..],
                },
                Head::String { .. } => Reply::Bulk(string),
                Head::Several { kind, count } => {
                    let bytes = self.take(count)?;
                    let inner = Replies { bytes, left: count };
                    match kind {
                        b'|' => continue,
                        b'%' => Reply::Map(inner),
                        b'~' => Reply::Set(inner),
                        b'>' => Reply::Push(inner),
                        _ => Reply::Array(inner),
                    }
                }
            };
            self.left -= 1;
            return Some(reply);
        }
    }
}

impl fmt::Debug for Replies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
