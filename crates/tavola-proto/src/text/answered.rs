//! Answers to classic commands, as a client reads them.

use super::line::{self, Found};
use super::tokens::Words;
use crate::answered::{self, AnswerHead, AnswerStep};
use crate::error::Error;
use crate::key::Key;
use crate::limits::AnswerLimits;
use crate::{meta, number};

/// The line end after a value.
const END: &[u8] = b"\r\n";

/// An answer to a classic command, or one of several. Lines of refusals answer meta commands too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer<'a> {
    /// `VALUE`: an item that a get found. More follow, then [`Answer::End`].
    Value(Value<'a>),
    /// `END`: no more values, figures or keys.
    End,
    /// `STORED`.
    Stored,
    /// `NOT_STORED`: the condition does not hold.
    NotStored,
    /// `EXISTS`: the item's unique number is another.
    Exists,
    /// `NOT_FOUND`.
    NotFound,
    /// `DELETED`.
    Deleted,
    /// `TOUCHED`.
    Touched,
    /// `OK`.
    Ok,
    /// `RESET`.
    Reset,
    /// The new number after `incr` or `decr`.
    Count(u64),
    /// `VERSION`.
    Version(&'a [u8]),
    /// `STAT`: one figure. More follow, then [`Answer::End`].
    Stat {
        /// Its name.
        name: &'a [u8],
        /// The figure, perhaps empty.
        value: &'a [u8],
    },
    /// `ITEM`: one key of `stats cachedump`. More follow, then [`Answer::End`]. memcached returns
    /// keys as they are: those that binary requests made may have spaces and line ends, after which
    /// nothing can be relied on.
    Dumped {
        /// The key.
        key: &'a [u8],
        /// The bytes of its value.
        size_bytes: u64,
        /// When it expires, in seconds since 1970.
        expires: u64,
    },
    /// `PREFIX`: the rest of a line of `stats detail dump`. More follow, then [`Answer::End`].
    Prefix(&'a [u8]),
    /// `key=`: a line of `lru_crawler metadump`. More follow, then [`Answer::End`].
    Crawled(&'a [u8]),
    /// `mg`: a key of `lru_crawler mgdump`. More follow, then a miss of meta. The same holds for
    /// keys that binary requests made.
    Key(Key<'a>),
    /// A line that `watch` sends. More follow as long as the connection stays.
    Event(&'a [u8]),
    /// What a command about the server cannot do, and why: `BUSY`, `BADCLASS` and their kin.
    Unable(&'a [u8]),
    /// `ERROR`: there is no such command; with a text, what else is wrong.
    Error(&'a [u8]),
    /// `CLIENT_ERROR`: the request is wrong, and what is wrong with it.
    ClientError(&'a [u8]),
    /// `SERVER_ERROR`: the server cannot do it, and why.
    ServerError(&'a [u8]),
}

/// An item that a get found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The key.
    pub key: &'a [u8],
    /// What the client stored beside the value.
    pub flags: u32,
    /// The value.
    pub data: &'a [u8],
    /// The item's unique number, for `gets` and `gats`.
    pub cas: Option<u64>,
}

impl Answer<'_> {
    /// Whether no more answers to the same request follow. memcached 1.6.45 begins what it answers
    /// to `lru_crawler metadump` and `mgdump` with [`Answer::Ok`], which 1.6.18 does not.
    pub fn is_last(&self) -> bool {
        !matches!(
            self,
            Self::Value(_)
                | Self::Stat { .. }
                | Self::Dumped { .. }
                | Self::Prefix(_)
                | Self::Crawled(_)
                | Self::Key(_)
                | Self::Event(_)
        )
    }
}

/// What is at the front of `input`, whose first `searched` bytes have no line end.
pub(crate) fn read_answer<'a>(
    input: &'a [u8],
    searched: &mut usize,
    limits: &AnswerLimits,
) -> Result<AnswerStep<'a>, Error> {
    let (mut answer, line_bytes, size) = match read_head(input, searched, limits)? {
        AnswerHead::More { needed } => return Ok(AnswerStep::More { needed }),
        AnswerHead::Head {
            answer,
            used,
            value_bytes: None,
            ..
        } => return Ok(AnswerStep::Answer { answer, used }),
        AnswerHead::Head {
            answer,
            used,
            value_bytes: Some(size),
            ..
        } => (answer, used, size),
    };
    match read_data(input, line_bytes, size)? {
        Data::Short { needed } => Ok(AnswerStep::More { needed }),
        Data::Whole { data, used } => {
            answer.set_value(data);
            Ok(AnswerStep::Answer { answer, used })
        }
    }
}

/// The same without the value of an answer that has one.
pub(crate) fn read_head<'a>(
    input: &'a [u8],
    searched: &mut usize,
    limits: &AnswerLimits,
) -> Result<AnswerHead<'a>, Error> {
    let line = match line::find_of(input, searched, limits.line_bytes) {
        Found::Line(line) => line,
        Found::Short => {
            return Ok(AnswerHead::More {
                needed: input.len() + 1,
            });
        }
        Found::TooLong(_) => return Err(Error::LongAnswerLine),
    };
    // Bytes are compared without a call, unlike strings.
    let (kind, rest) = match line.text {
        [first, second] => (meta::Kind::of([*first, *second]), &[][..]),
        [first, second, b' ', rest @ ..] => (meta::Kind::of([*first, *second]), rest),
        _ => (None, &[][..]),
    };
    let (answer, size) = if let Some(kind) = kind {
        let (answer, size) = meta::read_answer(kind, rest).ok_or(Error::NotAnAnswer)?;
        (answered::Answer::Meta(answer), size)
    } else {
        let (answer, size) = read_classic(line.text).ok_or(Error::NotAnAnswer)?;
        (answered::Answer::Text(answer), size)
    };
    Ok(AnswerHead::Head {
        answer,
        used: line.bytes,
        value_bytes: size.map(|size| check_size(size, limits)).transpose()?,
        end: END,
    })
}

/// The answer of a line that is not one of meta, and the bytes of its value.
fn read_classic(line: &[u8]) -> Option<(Answer<'_>, Option<u64>)> {
    let (word, rest) = split(line);
    if word == b"VALUE" {
        let (value, size) = read_value_line(rest)?;
        return Some((Answer::Value(value), Some(size)));
    }
    Some((read_line(line, word, rest)?, None))
}

/// The first word of `text`, and what is behind the space after it.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b' ') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

/// An answer that is a line and nothing else.
fn read_line<'a>(text: &'a [u8], word: &'a [u8], rest: &'a [u8]) -> Option<Answer<'a>> {
    if word.len() == text.len()
        && let Some(answer) = read_word(word)
    {
        return Some(answer);
    }
    Some(match word {
        b"STAT" => {
            let (name, value) = split(rest);
            Answer::Stat { name, value }
        }
        b"VERSION" => Answer::Version(rest),
        b"ITEM" => read_dumped(rest)?,
        b"PREFIX" => Answer::Prefix(rest),
        b"mg" => read_key(rest)?,
        // One of memcached's has a colon: shutdown is off.
        b"ERROR" | b"ERROR:" => Answer::Error(rest),
        b"CLIENT_ERROR" => Answer::ClientError(rest),
        b"SERVER_ERROR" | b"SERVER_ERROR:" => Answer::ServerError(rest),
        b"BUSY"
        | b"BADCLASS"
        | b"NOSPARE"
        | b"NOTFULL"
        | b"UNSAFE"
        | b"SAME"
        | b"MEMLIMIT_TOO_SMALL"
        | b"MEMLIMIT_ADJUST_FAILED" => Answer::Unable(text),
        _ if word.starts_with(b"key=") => Answer::Crawled(text),
        _ if word.starts_with(b"ts=") || word.starts_with(b"skipped=") => Answer::Event(text),
        _ => return None,
    })
}

/// An answer that is a word and nothing else.
fn read_word(word: &[u8]) -> Option<Answer<'_>> {
    Some(match word {
        b"END" => Answer::End,
        b"STORED" => Answer::Stored,
        b"NOT_STORED" => Answer::NotStored,
        b"EXISTS" => Answer::Exists,
        b"NOT_FOUND" => Answer::NotFound,
        b"DELETED" => Answer::Deleted,
        b"TOUCHED" => Answer::Touched,
        b"OK" => Answer::Ok,
        b"RESET" => Answer::Reset,
        [b'0'..=b'9', ..] => Answer::Count(number::read_u64(word)?),
        _ => return None,
    })
}

/// `KEY [BYTES b; SECONDS s]`.
fn read_dumped(rest: &[u8]) -> Option<Answer<'_>> {
    let (key, about) = split(rest);
    let (size, about) = split(about.strip_prefix(b"[")?);
    let (expires, end) = split(about.strip_prefix(b"b; ")?);
    if key.is_empty() || end != b"s]" {
        return None;
    }
    Some(Answer::Dumped {
        key,
        size_bytes: read_number(size)?,
        expires: read_number(expires)?,
    })
}

/// `KEY`, or `KEY b` where it is base64.
fn read_key(rest: &[u8]) -> Option<Answer<'_>> {
    let (token, flag) = split(rest);
    let key = match flag {
        b"" if !token.is_empty() => Key::plain(token),
        b"b" => Key::encoded(token)?,
        _ => return None,
    };
    Some(Answer::Key(key))
}

/// `KEY FLAGS BYTES [CAS]`: the item without its data, and the bytes of that.
fn read_value_line(rest: &[u8]) -> Option<(Value<'_>, u64)> {
    let mut words = Words::new(rest);
    let key = words.next()?;
    let flags = number::read_u32(words.next()?)?;
    let size = read_number(words.next()?)?;
    let cas = match words.next() {
        Some(cas) => Some(read_number(cas)?),
        None => None,
    };
    let value = Value {
        key,
        flags,
        data: &[],
        cas,
    };
    words.next().is_none().then_some((value, size))
}

/// What is behind the line of a value.
enum Data<'a> {
    /// All of it, and where it ends.
    Whole { data: &'a [u8], used: usize },
    /// Not all of it yet.
    Short { needed: usize },
}

/// The size of a value, which has to be within the limits.
fn check_size(size: u64, limits: &AnswerLimits) -> Result<usize, Error> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size > limits.value_bytes {
        return Err(Error::LargeAnswer);
    }
    Ok(size)
}

/// Reads `size` bytes and a line end from `input`, after a line of `line_bytes`.
fn read_data(input: &[u8], line_bytes: usize, size: usize) -> Result<Data<'_>, Error> {
    let end = line_bytes.checked_add(size).ok_or(Error::LargeAnswer)?;
    let used = end.checked_add(END.len()).ok_or(Error::LargeAnswer)?;
    let Some(block) = input.get(line_bytes..used) else {
        return Ok(Data::Short { needed: used });
    };
    match block.strip_suffix(END) {
        Some(data) => Ok(Data::Whole { data, used }),
        None => Err(Error::NotAnAnswer),
    }
}

/// Digits, at least one.
pub(crate) fn read_number(token: &[u8]) -> Option<u64> {
    (!token.is_empty()).then(|| number::read_u64(token))?
}
