//! Answers to binary requests, as a client reads them.

use super::answer::{AUTH_CONTINUE, Status};
use super::request::Header;
use super::{ANSWER_MAGIC, HEADER_BYTES, array};
use crate::answered::{self, AnswerHead, AnswerStep};
use crate::error::Error;
use crate::limits::AnswerLimits;

/// The bytes of the flags, the extras of an item that was found.
const FLAGS_BYTES: usize = 4;
/// The bytes of a number that was counted.
const COUNT_BYTES: usize = 8;
const STAT: u8 = 0x10;
const TOUCH: u8 = 0x1c;

/// An answer to a binary request, or one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// What it repeats of the request.
    pub header: Header,
    /// What became of the request.
    pub outcome: Outcome,
    /// The item's unique number, or 0.
    pub cas: u64,
    /// What the client stored beside the value, of an item that get, touch or get and touch found.
    pub flags: u32,
    /// The key, where it was asked for; the name of a figure of stat.
    pub key: &'a [u8],
    /// The value; a figure of stat; the text of a failure, of the version, of SASL.
    pub value: &'a [u8],
}

/// What became of a binary request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// A further step of SASL is needed, for which the value has what to answer to.
    Continue,
    /// It failed.
    Failed(Status),
    /// It failed with a status that memcached does not have.
    Other(u16),
}

impl Answer<'_> {
    /// Whether no more answers to the same request follow: figures of stat come one by one, and
    /// one without a name ends them.
    pub fn is_last(&self) -> bool {
        self.header.opcode != STAT || self.key.is_empty()
    }

    /// The new number after increment or decrement.
    pub fn count(&self) -> Option<u64> {
        let is_count = is_count(self.header.opcode) && self.outcome == Outcome::Done;
        let bytes = self.value.first_chunk::<COUNT_BYTES>();
        bytes
            .filter(|_| is_count)
            .map(|bytes| u64::from_be_bytes(*bytes))
    }
}

/// What is at the front of `input`.
pub(crate) fn read_answer<'a>(
    input: &'a [u8],
    limits: &AnswerLimits,
) -> Result<AnswerStep<'a>, Error> {
    let Some(sizes) = read_sizes(input, limits)? else {
        return Ok(AnswerStep::More {
            needed: HEADER_BYTES,
        });
    };
    let head = sizes.head_bytes();
    let used = head.checked_add(sizes.value).ok_or(Error::LargeAnswer)?;
    let Some(whole) = input.get(..used) else {
        return Ok(AnswerStep::More { needed: used });
    };
    let mut answer = sizes.read(whole);
    answer.value = &whole[head..];
    Ok(AnswerStep::Answer {
        answer: answered::Answer::Binary(answer),
        used,
    })
}

/// The same without the value. That of a failure is its text and belongs to the head.
pub(crate) fn read_head<'a>(
    input: &'a [u8],
    limits: &AnswerLimits,
) -> Result<AnswerHead<'a>, Error> {
    let Some(sizes) = read_sizes(input, limits)? else {
        return Ok(AnswerHead::More {
            needed: HEADER_BYTES,
        });
    };
    if sizes.outcome != Outcome::Done || !returns_value(input[1]) {
        return Ok(match read_answer(input, limits)? {
            AnswerStep::More { needed } => AnswerHead::More { needed },
            AnswerStep::Answer { answer, used } => AnswerHead::Head {
                answer,
                used,
                value_bytes: None,
                end: b"",
            },
        });
    }
    let used = sizes.head_bytes();
    let Some(head) = input.get(..used) else {
        return Ok(AnswerHead::More { needed: used });
    };
    Ok(AnswerHead::Head {
        answer: answered::Answer::Binary(sizes.read(head)),
        used,
        value_bytes: Some(sizes.value),
        end: b"",
    })
}

/// What a header says of what follows it.
struct Sizes {
    outcome: Outcome,
    extras: usize,
    key: usize,
    value: usize,
}

/// The sizes of the answer at the front of `input`; `None` if its header is not whole.
fn read_sizes(input: &[u8], limits: &AnswerLimits) -> Result<Option<Sizes>, Error> {
    if input[0] != ANSWER_MAGIC {
        return Err(Error::NotAnAnswer);
    }
    let Some(head) = input.first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let key = usize::from(u16::from_be_bytes(array(head, 2)));
    let extras = usize::from(head[4]);
    let body = u32::from_be_bytes(array(head, 8)) as usize;
    let value = body.checked_sub(key + extras).ok_or(Error::NotAnAnswer)?;
    if value > limits.value_bytes {
        return Err(Error::LargeAnswer);
    }
    if key > limits.line_bytes {
        return Err(Error::LongAnswerLine);
    }
    let outcome = Outcome::of(u16::from_be_bytes(array(head, 6)));
    if outcome == Outcome::Done && !has_shape(head[1], extras, value) {
        return Err(Error::NotAnAnswer);
    }
    Ok(Some(Sizes {
        outcome,
        extras,
        key,
        value,
    }))
}

impl Sizes {
    /// The bytes of the header, the extras and the key.
    fn head_bytes(&self) -> usize {
        HEADER_BYTES + self.extras + self.key
    }

    /// Reads all of an answer except its value.
    fn read<'a>(&self, head: &'a [u8]) -> Answer<'a> {
        let extras = &head[HEADER_BYTES..HEADER_BYTES + self.extras];
        let flags = extras
            .first_chunk()
            .map_or(0, |flags| u32::from_be_bytes(*flags));
        Answer {
            header: Header {
                opcode: head[1],
                opaque: array(head, 12),
            },
            outcome: self.outcome,
            cas: u64::from_be_bytes(array(head, 16)),
            flags,
            key: &head[HEADER_BYTES + self.extras..self.head_bytes()],
            value: &[],
        }
    }
}

impl Outcome {
    fn of(status: u16) -> Self {
        match status {
            0 => Self::Done,
            AUTH_CONTINUE => Self::Continue,
            status => Status::of(status).map_or(Self::Other(status), Self::Failed),
        }
    }
}

/// Whether a success has what a client reads from it.
fn has_shape(opcode: u8, extras: usize, value: usize) -> bool {
    if is_count(opcode) {
        value == COUNT_BYTES
    } else {
        !returns_flags(opcode) || extras == FLAGS_BYTES
    }
}

fn is_count(opcode: u8) -> bool {
    matches!(opcode, 0x05 | 0x06 | 0x15 | 0x16)
}

/// Get, touch, and get and touch.
fn returns_flags(opcode: u8) -> bool {
    matches!(
        opcode,
        0x00 | 0x09 | 0x0c | 0x0d | TOUCH | 0x1d | 0x1e | 0x23 | 0x24
    )
}

/// Get, and get and touch.
fn returns_value(opcode: u8) -> bool {
    returns_flags(opcode) && opcode != TOUCH
}
