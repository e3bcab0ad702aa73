//! From bytes to binary requests.

use super::answer::Status;
use super::request::{Command, Count, Get, Header, Request, Store, StoreVerb};
use super::{HEADER_BYTES, REQUEST_MAGIC, array};
use crate::decoder::{self, Outcome, Sasl};
use crate::key::Key;
use crate::limits::{KEY_BYTES, Limits};
use crate::refusal::{Refusal, TooLarge};

/// The longest body, which closes the connection where it is longer.
pub(super) const LONGEST_BODY: usize = 1 << 30;
/// The longest name of a mechanism of SASL.
const LONGEST_MECHANISM: usize = 32;
/// The most that a step of SASL may send.
const LONGEST_SASL: usize = 16 << 10;

/// A request whose header is there.
struct Head {
    header: Header,
    key: usize,
    extras: usize,
    body: usize,
    cas: u64,
}

/// What an opcode means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Get { with_key: bool },
    GetAndTouch { with_key: bool },
    Store(StoreVerb),
    Delete,
    Count { down: bool },
    Touch,
    Quit,
    Flush,
    Noop,
    Version,
    Stat,
    SaslList,
    SaslAuth,
    SaslStep,
}

/// What is at the front of `input`.
pub(crate) fn decode<'a>(input: &'a [u8], limits: &Limits, sasl: Sasl) -> Outcome<'a> {
    if input[0] != REQUEST_MAGIC {
        return Outcome::Refused {
            refusal: Refusal::hang_up(),
            used: 1,
        };
    }
    let Some(bytes) = input.first_chunk::<HEADER_BYTES>() else {
        return Outcome::Short {
            needed: HEADER_BYTES,
        };
    };
    let head = Head::read(bytes);
    let found = kind(head.header.opcode);
    let known = found.map(|(kind, _)| kind);
    if let Some(status) = head.fault(known, sasl) {
        return Outcome::Refused {
            refusal: Refusal::binary(head.header, status, true),
            used: HEADER_BYTES,
        };
    }
    let (Some((kind, quiet)), true) = (found, is_known(known, sasl)) else {
        let refusal = Refusal::binary(head.header, Status::UnknownCommand, false);
        return refused_after(refusal, None, HEADER_BYTES, head.body);
    };
    read(input, &head, kind, quiet, limits)
}

impl Head {
    fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        Self {
            header: Header {
                opcode: bytes[1],
                opaque: array(bytes, 12),
            },
            key: usize::from(u16::from_be_bytes(array(bytes, 2))),
            extras: usize::from(bytes[4]),
            body: u32::from_be_bytes(array(bytes, 8)) as usize,
            cas: u64::from_be_bytes(array(bytes, 16)),
        }
    }

    /// What is wrong with the header, so wrong that the connection ends.
    fn fault(&self, kind: Option<Kind>, sasl: Sasl) -> Option<Status> {
        if self.key + self.extras > self.body {
            return Some(Status::UnknownCommand);
        }
        if self.body > LONGEST_BODY {
            return Some(Status::InvalidArguments);
        }
        if sasl == Sasl::Required && !kind.is_some_and(is_open_to_all) {
            return Some(Status::AuthFailure);
        }
        let is_wrong = self.key > KEY_BYTES || kind.is_some_and(|kind| !self.has_shape(kind));
        is_wrong.then_some(Status::InvalidArguments)
    }

    fn has_shape(&self, kind: Kind) -> bool {
        let Self {
            key, extras, body, ..
        } = *self;
        let has_key = key > 0;
        let has_value = body > key + extras;
        match kind {
            Kind::Quit | Kind::Noop | Kind::Version | Kind::SaslList => body == 0,
            Kind::Flush => !has_key && !has_value && (extras == 0 || extras == 4),
            Kind::Get { .. } | Kind::Delete => has_key && extras == 0 && !has_value,
            Kind::Count { .. } => has_key && extras == 20 && !has_value,
            Kind::Store(StoreVerb::Append | StoreVerb::Prepend) => has_key && extras == 0,
            Kind::Store(_) => has_key && extras == 8,
            Kind::SaslAuth | Kind::SaslStep => has_key && extras == 0,
            Kind::Stat => extras == 0,
            // A value is not refused but read as the next request.
            Kind::Touch | Kind::GetAndTouch { .. } => has_key && extras == 4,
        }
    }
}

/// Refuses a request of which `data` bytes follow those used.
fn refused_after(
    refusal: Refusal,
    too_large: Option<TooLarge<'_>>,
    used: usize,
    data: usize,
) -> Outcome<'_> {
    if data == 0 {
        return Outcome::Refused { refusal, used };
    }
    Outcome::Swallow {
        refusal,
        too_large,
        used,
        data,
    }
}

/// What clients may ask before they have said who they are.
fn is_open_to_all(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::SaslList | Kind::SaslAuth | Kind::SaslStep | Kind::Version
    )
}

fn is_known(kind: Option<Kind>, sasl: Sasl) -> bool {
    let is_sasl = matches!(kind, Some(Kind::SaslList | Kind::SaslAuth | Kind::SaslStep));
    kind.is_some() && !(is_sasl && sasl == Sasl::Off)
}

/// What an opcode means, and whether it is quiet.
fn kind(opcode: u8) -> Option<(Kind, bool)> {
    let loud = |kind| Some((kind, false));
    let quiet = |kind| Some((kind, true));
    match opcode {
        0x00 => loud(Kind::Get { with_key: false }),
        0x01 => loud(Kind::Store(StoreVerb::Set)),
        0x02 => loud(Kind::Store(StoreVerb::Add)),
        0x03 => loud(Kind::Store(StoreVerb::Replace)),
        0x04 => loud(Kind::Delete),
        0x05 => loud(Kind::Count { down: false }),
        0x06 => loud(Kind::Count { down: true }),
        0x07 => loud(Kind::Quit),
        0x08 => loud(Kind::Flush),
        0x09 => quiet(Kind::Get { with_key: false }),
        0x0a => loud(Kind::Noop),
        0x0b => loud(Kind::Version),
        0x0c => loud(Kind::Get { with_key: true }),
        0x0d => quiet(Kind::Get { with_key: true }),
        0x0e => loud(Kind::Store(StoreVerb::Append)),
        0x0f => loud(Kind::Store(StoreVerb::Prepend)),
        0x10 => loud(Kind::Stat),
        0x11 => quiet(Kind::Store(StoreVerb::Set)),
        0x12 => quiet(Kind::Store(StoreVerb::Add)),
        0x13 => quiet(Kind::Store(StoreVerb::Replace)),
        0x14 => quiet(Kind::Delete),
        0x15 => quiet(Kind::Count { down: false }),
        0x16 => quiet(Kind::Count { down: true }),
        0x17 => quiet(Kind::Quit),
        0x18 => quiet(Kind::Flush),
        0x19 => quiet(Kind::Store(StoreVerb::Append)),
        0x1a => quiet(Kind::Store(StoreVerb::Prepend)),
        0x1c => loud(Kind::Touch),
        0x1d => loud(Kind::GetAndTouch { with_key: false }),
        0x1e => quiet(Kind::GetAndTouch { with_key: false }),
        0x20 => loud(Kind::SaslList),
        0x21 => loud(Kind::SaslAuth),
        0x22 => loud(Kind::SaslStep),
        0x23 => loud(Kind::GetAndTouch { with_key: true }),
        0x24 => quiet(Kind::GetAndTouch { with_key: true }),
        _ => None,
    }
}

/// Reads a request of the right shape.
fn read<'a>(input: &'a [u8], head: &Head, kind: Kind, quiet: bool, limits: &Limits) -> Outcome<'a> {
    let key_at = HEADER_BYTES + head.extras;
    let value_at = key_at + head.key;
    let Some(front) = input.get(..value_at) else {
        return Outcome::Short { needed: value_at };
    };
    let extras = &front[HEADER_BYTES..key_at];
    let key = &front[key_at..];
    let with_value = match kind {
        Kind::Store(_) | Kind::SaslAuth | Kind::SaslStep => head.body - head.extras - head.key,
        _ => 0,
    };
    if let Some((status, too_large)) = refuse_value(kind, key, with_value, limits) {
        let refusal = Refusal::binary(head.header, status, false);
        return refused_after(refusal, too_large, value_at, with_value);
    }
    let used = value_at + with_value;
    let Some(value) = input.get(value_at..used) else {
        return Outcome::ShortValue { needed: used };
    };
    Outcome::Whole {
        request: decoder::Request::Binary(Request {
            header: head.header,
            command: command(head, kind, extras, key, value),
            quiet,
        }),
        used,
    }
}

/// What becomes of a value that is too large.
fn refuse_value<'a>(
    kind: Kind,
    key: &'a [u8],
    size: usize,
    limits: &Limits,
) -> Option<(Status, Option<TooLarge<'a>>)> {
    match kind {
        Kind::Store(verb) if size > limits.value_bytes => {
            let too_large = TooLarge {
                key: Key::plain(key),
                verb: match verb {
                    StoreVerb::Set => "set",
                    StoreVerb::Add => "add",
                    StoreVerb::Replace => "replace",
                    StoreVerb::Append => "append",
                    StoreVerb::Prepend => "prepend",
                },
                forgets: verb == StoreVerb::Set,
            };
            Some((Status::TooLarge, Some(too_large)))
        }
        Kind::SaslAuth | Kind::SaslStep if key.len() > LONGEST_MECHANISM => {
            Some((Status::InvalidArguments, None))
        }
        Kind::SaslAuth | Kind::SaslStep if size > LONGEST_SASL => Some((Status::OutOfMemory, None)),
        _ => None,
    }
}

fn command<'a>(
    head: &Head,
    kind: Kind,
    extras: &[u8],
    key: &'a [u8],
    value: &'a [u8],
) -> Command<'a> {
    let time = |at| u32::from_be_bytes(array(extras, at));
    match kind {
        Kind::Get { with_key } => Command::Get(Get {
            key,
            with_key,
            touch: None,
        }),
        Kind::GetAndTouch { with_key } => Command::Get(Get {
            key,
            with_key,
            touch: Some(time(0)),
        }),
        Kind::Store(verb) => {
            let has_extras = !extras.is_empty();
            Command::Store(Store {
                verb,
                key,
                flags: if has_extras { time(0) } else { 0 },
                exptime: if has_extras { time(4) } else { 0 },
                cas: head.cas,
                data: value,
            })
        }
        Kind::Delete => Command::Delete { key, cas: head.cas },
        Kind::Count { down } => Command::Count(Count {
            key,
            delta: u64::from_be_bytes(array(extras, 0)),
            down,
            initial: u64::from_be_bytes(array(extras, 8)),
            exptime: time(16),
            cas: head.cas,
        }),
        Kind::Touch => Command::Touch {
            key,
            exptime: time(0),
        },
        Kind::Quit => Command::Quit,
        Kind::Flush => Command::Flush {
            delay: if extras.is_empty() { 0 } else { time(0) },
        },
        Kind::Noop => Command::Noop,
        Kind::Version => Command::Version,
        Kind::Stat => Command::Stat { topic: key },
        Kind::SaslList => Command::SaslList,
        Kind::SaslAuth => Command::SaslAuth {
            mechanism: key,
            data: value,
        },
        Kind::SaslStep => Command::SaslStep {
            mechanism: key,
            data: value,
        },
    }
}
