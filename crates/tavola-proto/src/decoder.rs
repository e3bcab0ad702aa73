//! One connection's place in the bytes it receives.

use crate::limits::Limits;
use crate::refusal::{Refusal, TooLarge};
use crate::{binary, meta, text};

/// Which protocol a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Lines: the classic commands and the meta commands.
    Text,
    /// Headers of 24 bytes.
    Binary,
}

/// Whether clients of the binary protocol have to say who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sasl {
    /// They need not and cannot: the opcodes for it are unknown.
    #[default]
    Off,
    /// They must, and this one has not. All but its version is refused.
    Required,
    /// This one has.
    Done,
}

/// A request of any of the protocols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// A classic command.
    Text(text::Request<'a>),
    /// A meta command.
    Meta(meta::Request<'a>),
    /// A binary one.
    Binary(binary::Request<'a>),
}

/// What is at the front of the bytes received. The caller drops the `used` bytes before it
/// asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A whole request.
    Request {
        /// The request, which borrows from the input.
        request: Request<'a>,
        /// The bytes it took.
        used: usize,
    },
    /// The line or header of a request to store a value that is too large. The next steps swallow
    /// the value; the step after them refuses the request.
    TooLarge {
        /// What was to be stored.
        value: TooLarge<'a>,
        /// The bytes it took.
        used: usize,
    },
    /// A request that is not to be carried out. Its data was swallowed by the steps before: a
    /// client that is still sending takes an answer for that to another request.
    Refused {
        /// The answer to it.
        refusal: Refusal,
        /// The bytes it took, 0 if steps before took all of them.
        used: usize,
    },
    /// Bytes of a request that will be refused.
    Swallowed {
        /// How many they are.
        used: usize,
    },
    /// No whole request yet.
    More {
        /// The bytes, from the front of the input, without which the next step finds nothing.
        needed: usize,
    },
}

/// What a connection waits for after [`Step::More`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A request, or the rest of its line or header.
    Request,
    /// The rest of a value whose line or header is there.
    Value,
    /// The rest of a value that is thrown away.
    Discarded,
}

/// What a protocol finds.
pub(crate) enum Outcome<'a> {
    Whole {
        request: Request<'a>,
        used: usize,
    },
    /// Refused, and all of it is there.
    Refused {
        refusal: Refusal,
        used: usize,
    },
    /// Refused as soon as its data is swallowed.
    Swallow {
        refusal: Refusal,
        too_large: Option<TooLarge<'a>>,
        used: usize,
        /// The bytes of its data, which follow those used.
        data: usize,
    },
    /// The line or header of a request is not whole yet.
    Short {
        needed: usize,
    },
    /// The line or header is there, and its value is not whole yet.
    ShortValue {
        needed: usize,
    },
}

/// Decodes what one connection receives.
///
/// Between two steps the bytes not yet used stay at the front of the input; more may be added at
/// its end. However they arrive, the steps other than [`Step::More`] and the cuts between
/// [`Step::Swallowed`] are the same, and the work is linear in the bytes.
///
/// Data of refused requests is swallowed up to [`Limits::swallow_bytes`] in a row: the refusal of a
/// request that would exceed it does not wait for the data and closes the connection.
#[derive(Clone, Debug)]
pub struct Decoder {
    limits: Limits,
    protocol: Option<Protocol>,
    sasl: Sasl,
    /// Whether a password is asked for before lines are read as commands.
    is_locked: bool,
    /// The bytes at the front of the input among which no line ends.
    searched: usize,
    /// The bytes without which there is no next step.
    needed: usize,
    /// Whether those are a value whose line or header is there.
    needs_value: bool,
    /// The bytes still to be swallowed.
    swallow: usize,
    /// The refusal that follows them.
    refusal: Option<Refusal>,
    /// The bytes of data swallowed, or about to be, since a request was whole.
    swallowed: usize,
}

impl Decoder {
    /// Returns a decoder that recognises the protocol by the first byte.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            protocol: None,
            sasl: Sasl::default(),
            is_locked: false,
            searched: 0,
            needed: 1,
            needs_value: false,
            swallow: 0,
            refusal: None,
            swallowed: 0,
        }
    }

    /// A decoder of one protocol alone.
    pub fn of(protocol: Protocol, limits: Limits) -> Self {
        Self {
            protocol: Some(protocol),
            ..Self::new(limits)
        }
    }

    /// The protocol, once it is known.
    pub fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// Returns what the connection waits for, if the last step found no whole request.
    pub fn awaits(&self) -> Awaited {
        match (self.swallow, self.needs_value) {
            (0, false) => Awaited::Request,
            (0, true) => Awaited::Value,
            _ => Awaited::Discarded,
        }
    }

    /// Changes who may ask for what from the next request on.
    pub fn set_sasl(&mut self, sasl: Sasl) {
        self.sasl = sasl;
    }

    /// Asks for a name and a password before lines are read as commands, or no longer. A
    /// connection that is asked speaks text and nothing else.
    pub fn set_locked(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
        if is_locked {
            self.protocol = Some(Protocol::Text);
        }
    }

    /// Says what is at the front of `input`.
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Step<'a> {
        if input.len() < self.needed {
            return Step::More {
                needed: self.needed,
            };
        }
        if self.swallow > 0 {
            let used = self.swallow.min(input.len());
            self.swallow -= used;
            self.needed = usize::from(self.swallow > 0);
            return Step::Swallowed { used };
        }
        if let Some(refusal) = self.refusal.take() {
            self.needed = 1;
            return Step::Refused { refusal, used: 0 };
        }
        let protocol = *self.protocol.get_or_insert(match input[0] {
            binary::REQUEST_MAGIC => Protocol::Binary,
            _ => Protocol::Text,
        });
        let outcome = match protocol {
            Protocol::Text => text::decode(input, &mut self.searched, &self.limits, self.is_locked),
            Protocol::Binary => binary::decode(input, &self.limits, self.sasl),
        };
        match outcome {
            Outcome::Short { needed } => self.wait(input, needed, false),
            Outcome::ShortValue { needed } => self.wait(input, needed, true),
            Outcome::Whole { request, used } => {
                self.begin_request();
                self.swallowed = 0;
                Step::Request { request, used }
            }
            Outcome::Refused { refusal, used } => {
                self.begin_request();
                Step::Refused { refusal, used }
            }
            Outcome::Swallow {
                refusal,
                too_large,
                used,
                data,
            } => {
                self.begin_request();
                self.begin_to_swallow(refusal, data);
                match too_large {
                    Some(value) => Step::TooLarge { value, used },
                    None => Step::Swallowed { used },
                }
            }
        }
    }

    fn wait<'a>(&mut self, input: &[u8], needed: usize, needs_value: bool) -> Step<'a> {
        debug_assert!(needed > input.len());
        self.needed = needed;
        self.needs_value = needs_value;
        Step::More { needed }
    }

    fn begin_request(&mut self) {
        self.searched = 0;
        self.needed = 1;
        self.needs_value = false;
    }

    /// Swallows `data` bytes before the refusal, or none if they are too many.
    fn begin_to_swallow(&mut self, refusal: Refusal, data: usize) {
        let swallowed = self.swallowed.saturating_add(data);
        let is_too_much = swallowed > self.limits.swallow_bytes;
        self.swallow = if is_too_much { 0 } else { data };
        self.swallowed = swallowed;
        self.needed = usize::from(self.swallow > 0);
        self.refusal = Some(if is_too_much {
            refusal.and_close()
        } else {
            refusal
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a decoder awaits that has received `input`, however it arrived.
    fn awaited(input: &[u8]) -> Awaited {
        let at_once = received(&[input]);
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(received(&bytes), at_once, "{input:?}");
        at_once
    }

    fn received(parts: &[&[u8]]) -> Awaited {
        let limits = Limits {
            value_bytes: 10,
            ..Limits::default()
        };
        let (mut decoder, mut input) = (Decoder::new(limits), Vec::new());
        for part in parts {
            input.extend_from_slice(part);
            while let Step::Request { used, .. }
            | Step::TooLarge { used, .. }
            | Step::Refused { used, .. }
            | Step::Swallowed { used } = decoder.step(&input)
            {
                input.drain(..used);
            }
        }
        decoder.awaits()
    }

    #[test]
    fn a_value_is_awaited_from_the_end_of_its_line_on() {
        for (input, expected) in [
            (&b""[..], Awaited::Request),
            (b"set a 0 0 5\r", Awaited::Request),
            (b"set a 0 0 5\r\n", Awaited::Value),
            (b"set a 0 0 5\r\nhello\r", Awaited::Value),
            (b"set a 0 0 5\r\nhello\r\n", Awaited::Request),
            (b"set a 0 0 5\r\nhello\r\nget a", Awaited::Request),
            (b"ms a 5\r\n", Awaited::Value),
            (b"set a 0 0 11\r\nhello", Awaited::Discarded),
            (b"set a 0 0 11\r\nhello world\r\n", Awaited::Request),
            (b"\x80\x01", Awaited::Request),
        ] {
            assert_eq!(awaited(input), expected, "{input:?}");
        }
    }
}
