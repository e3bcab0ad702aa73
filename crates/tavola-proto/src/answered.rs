//! A client's place in the bytes it receives.

use crate::decoder::Protocol;
use crate::error::Error;
use crate::limits::AnswerLimits;
use crate::{binary, meta, text};

/// An answer of any of the protocols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// To a classic command, or a refusal of any line.
    Text(text::Answer<'a>),
    /// To a meta command.
    Meta(meta::Answer<'a>),
    /// To a binary request.
    Binary(binary::Answer<'a>),
}

impl Answer<'_> {
    /// Whether no more answers to the same request follow.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Text(answer) => answer.is_last(),
            Self::Meta(_) => true,
            Self::Binary(answer) => answer.is_last(),
        }
    }
}

impl<'a> Answer<'a> {
    /// Gives a value to an answer that was read without its own.
    pub(crate) fn set_value(&mut self, value: &'a [u8]) {
        match self {
            Self::Text(text::Answer::Value(item)) => item.data = value,
            Self::Meta(meta::Answer::Item(item)) => item.value = Some(value),
            Self::Binary(answer) => answer.value = value,
            _ => {}
        }
    }
}

/// What is at the front of the bytes received. The caller drops the `used` bytes before it
/// asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerStep<'a> {
    /// A whole answer, or one of several to the same request.
    Answer {
        /// The answer, which borrows from the input.
        answer: Answer<'a>,
        /// The bytes it took.
        used: usize,
    },
    /// No whole answer yet.
    More {
        /// The bytes, from the front of the input, without which the next step finds nothing.
        needed: usize,
    },
}

/// What is at the front of the bytes received, for a caller that receives values elsewhere:
/// straight into the memory where they are to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerHead<'a> {
    /// An answer, whole if it has no value.
    Head {
        /// The answer, whose value is empty.
        answer: Answer<'a>,
        /// The bytes it took, without those of the value.
        used: usize,
        /// The bytes of the value, which follow; `None` if the answer has no value.
        value_bytes: Option<usize>,
        /// What follows the value. If it is something else, the connection is to be closed.
        end: &'static [u8],
    },
    /// No whole head yet.
    More {
        /// The bytes, from the front of the input, without which the next step finds nothing.
        needed: usize,
    },
}

/// Decodes what one client receives.
///
/// Every answer says by its first word or its header what it is and where it ends, so the decoder
/// need not know what was asked: requests of all kinds may be under way at once, quiet ones as
/// well, and an error may stand in the place of any answer. Whether the answer fits the request is
/// for the client to see, which knows the requests in their order or by their opaque.
///
/// Between two steps the bytes not yet used stay at the front of the input; more may be added at
/// its end. However they arrive, the answers and errors are the same, and the work is linear in the
/// bytes.
#[derive(Clone, Debug)]
pub struct AnswerDecoder {
    limits: AnswerLimits,
    protocol: Protocol,
    /// The bytes at the front of the input among which no line ends.
    searched: usize,
    /// The bytes without which there is no next step.
    needed: usize,
}

impl AnswerDecoder {
    /// A decoder of the answers to requests of this protocol.
    pub fn of(protocol: Protocol, limits: AnswerLimits) -> Self {
        Self {
            limits,
            protocol,
            searched: 0,
            needed: 1,
        }
    }

    /// Says what is at the front of `input`.
    ///
    /// # Errors
    /// [`Error::NotAnAnswer`], [`Error::LongAnswerLine`], [`Error::LargeAnswer`]: the connection is
    /// to be closed, and nothing that follows to be decoded.
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Result<AnswerStep<'a>, Error> {
        if input.len() < self.needed {
            return Ok(AnswerStep::More {
                needed: self.needed,
            });
        }
        let step = match self.protocol {
            Protocol::Text => text::read_answer(input, &mut self.searched, &self.limits)?,
            Protocol::Binary => binary::read_answer(input, &self.limits)?,
        };
        match step {
            AnswerStep::More { needed } => self.wait_for(needed, input.len()),
            AnswerStep::Answer { .. } => self.begin_answer(),
        }
        Ok(step)
    }

    /// Says what is at the front of `input`, and does not wait for the value of an answer. A caller
    /// that finds a head uses all of the answer, head and value, before the next step, or neither.
    ///
    /// # Errors
    /// As [`AnswerDecoder::step`].
    ///
    /// # Examples
    /// ```
    /// use tavola_proto::{AnswerDecoder, AnswerHead, AnswerLimits, Protocol};
    ///
    /// let mut decoder = AnswerDecoder::of(Protocol::Text, AnswerLimits::default());
    /// let AnswerHead::Head { used, value_bytes, end, .. } = decoder.head(b"VA 500000 O1\r\nabc")?
    /// else {
    ///     panic!("the line is whole");
    /// };
    /// assert_eq!((used, value_bytes, end), (14, Some(500_000), &b"\r\n"[..]));
    /// # Ok::<(), tavola_proto::Error>(())
    /// ```
    pub fn head<'a>(&mut self, input: &'a [u8]) -> Result<AnswerHead<'a>, Error> {
        if input.len() < self.needed {
            return Ok(AnswerHead::More {
                needed: self.needed,
            });
        }
        let head = match self.protocol {
            Protocol::Text => text::read_head(input, &mut self.searched, &self.limits)?,
            Protocol::Binary => binary::read_head(input, &self.limits)?,
        };
        match head {
            AnswerHead::More { needed } => self.wait_for(needed, input.len()),
            AnswerHead::Head { .. } => self.begin_answer(),
        }
        Ok(head)
    }

    /// Reads the answer to a request that is the next to be answered, if it is a meta request's
    /// and as it most often is. Returns it and the bytes of its line; the rest is as after
    /// [`AnswerDecoder::head`]. `None` says nothing: ask for the head.
    ///
    /// # Examples
    /// ```
    /// use tavola_proto::meta::{Expected, ExpectedAnswer};
    /// use tavola_proto::{AnswerDecoder, AnswerLimits, Protocol};
    ///
    /// let mut decoder = AnswerDecoder::of(Protocol::Text, AnswerLimits::default());
    /// let expected = Expected { key: [b"", b"apple"], opaque: 7 };
    /// let received = b"VA 5 f0 kapple O7\r\nfuzzy\r\n";
    /// let value = ExpectedAnswer::Value { flags: 0, size: 5 };
    /// assert_eq!(decoder.expected(received, &expected), Some((value, 19)));
    /// assert_eq!(decoder.expected(b"VA 5 f0 kpeach O7\r\n", &expected), None);
    /// ```
    pub fn expected(
        &mut self,
        input: &[u8],
        expected: &meta::Expected<'_>,
    ) -> Option<(meta::ExpectedAnswer, usize)> {
        let found = meta::read_expected(input, expected)?;
        if let (meta::ExpectedAnswer::Value { size, .. }, _) = found
            && size > self.limits.value_bytes
        {
            return None;
        }
        if found.1 > self.limits.line_bytes {
            return None;
        }
        self.begin_answer();
        Some(found)
    }

    fn wait_for(&mut self, needed: usize, received: usize) {
        debug_assert!(needed > received);
        self.needed = needed;
    }

    fn begin_answer(&mut self) {
        self.searched = 0;
        self.needed = 1;
    }
}
