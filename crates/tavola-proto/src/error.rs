//! Why a request cannot be sent, or an answer not be read.

use std::fmt;

/// Why a request cannot be sent, or an answer not be read.
///
/// Of a request that cannot be sent nothing is written. After an answer that cannot be read nobody
/// knows where the next one begins: the connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A get names no key.
    NoKey,
    /// A key has no bytes.
    EmptyKey,
    /// A key has more than 250 bytes.
    LongKey,
    /// A key has a byte that lines cannot have.
    KeyBytes,
    /// A key that has to go as base64 has more than 186 bytes.
    LongEncodedKey,
    /// The answer would return a key that lines cannot have.
    UnreadableKey,
    /// A value is longer than memcached can count.
    LongValue,
    /// A line is longer than servers take.
    LongLine,
    /// A word is empty, has a byte that lines cannot have, or asks for no reply.
    Word,
    /// An opaque text is too long.
    LongOpaque,
    /// A meta command has too many flags.
    TooManyFlags,
    /// The request has no quiet form.
    NotQuiet,
    /// The bytes received are no answer.
    NotAnAnswer,
    /// A line received is longer than the limit.
    LongAnswerLine,
    /// A value received is larger than the limit.
    LargeAnswer,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoKey => "a get needs a key: leave it out where there is none to ask for",
            Self::EmptyKey => "a key is empty: give it 1 to 250 bytes",
            Self::LongKey => "a key has more than 250 bytes: shorten it, or send a hash of it",
            Self::KeyBytes => {
                "a key has a space or a control byte: send it by a meta command or as binary"
            }
            Self::LongEncodedKey => {
                "a key with a space or a control byte has more than 186 bytes: send it as binary"
            }
            Self::UnreadableKey => {
                "memcached may return a key with a space or a control byte as it is, so that its \
                 answer cannot be read: do not ask for the key, know the answer by its opaque"
            }
            Self::LongValue => "a value is longer than memcached can count: split it",
            Self::LongLine => "a line is longer than servers take: ask for fewer keys at once",
            Self::Word => {
                "a word is empty, is noreply, or has a space or a control byte: send another"
            }
            Self::LongOpaque => "an opaque text is too long: give it 31 bytes at most",
            Self::TooManyFlags => "a meta command has too many flags: leave some out",
            Self::NotQuiet => "this request has no quiet form: wait for its answer",
            Self::NotAnAnswer => {
                "the server sent what is no answer of memcached: close the connection"
            }
            Self::LongAnswerLine => {
                "the server sent a line above the limit: close the connection, or raise line_bytes"
            }
            Self::LargeAnswer => {
                "the server sent a value above the limit: close the connection, or raise \
                 value_bytes"
            }
        })
    }
}

impl std::error::Error for Error {}
