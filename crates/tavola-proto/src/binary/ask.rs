//! Binary requests, appended to what is to be sent.

use super::decode::LONGEST_BODY;
use super::request::{Command, Count, Get, Store, StoreVerb};
use super::{HEADER_BYTES, REQUEST_MAGIC};
use crate::error::Error;
use crate::key;

/// What a request has beside its opcode and its opaque.
#[derive(Clone, Copy, Default)]
struct Parts<'a> {
    cas: u64,
    extras: &'a [u8],
    key: &'a [u8],
    value: &'a [u8],
}

/// A request, known by `opaque` in its answer. Where it is `quiet` the answer is left out if it
/// says little: a miss of get, the success of others.
///
/// # Errors
/// Where memcached would not take it for what it is: a key or a value too long, or no quiet form.
/// Then nothing is written.
pub fn request(
    out: &mut Vec<u8>,
    opaque: [u8; 4],
    command: &Command<'_>,
    quiet: bool,
) -> Result<(), Error> {
    let (loud, silent) = opcodes(command);
    let opcode = if quiet {
        silent.ok_or(Error::NotQuiet)?
    } else {
        loud
    };
    let mut write = |parts| write(out, opcode, opaque, parts);
    match command {
        Command::Get(get) => {
            let exptime = get.touch.unwrap_or_default().to_be_bytes();
            let extras = if get.touch.is_some() {
                &exptime[..]
            } else {
                &[]
            };
            write(Parts::of(get.key)?.with(extras))
        }
        Command::Store(store) => {
            let extras = pair(store.flags, store.exptime);
            let extras = match store.verb {
                StoreVerb::Append | StoreVerb::Prepend => &[],
                _ => &extras[..],
            };
            write(Parts {
                cas: store.cas,
                value: store.data,
                ..Parts::of(store.key)?.with(extras)
            })
        }
        Command::Delete { key, cas } => write(Parts {
            cas: *cas,
            ..Parts::of(key)?
        }),
        Command::Count(count) => write(Parts {
            cas: count.cas,
            ..Parts::of(count.key)?.with(&count_extras(count))
        }),
        Command::Touch { key, exptime } => write(Parts::of(key)?.with(&exptime.to_be_bytes())),
        Command::Flush { delay: 0 } => write(Parts::default()),
        Command::Flush { delay } => write(Parts::default().with(&delay.to_be_bytes())),
        Command::Quit | Command::Noop | Command::Version | Command::SaslList => {
            write(Parts::default())
        }
        Command::Stat { topic: [] } => write(Parts::default()),
        Command::Stat { topic } => write(Parts::of(topic)?),
        Command::SaslAuth { mechanism, data } | Command::SaslStep { mechanism, data } => {
            write(Parts {
                value: data,
                ..Parts::of(mechanism)?
            })
        }
    }
}

impl<'a> Parts<'a> {
    fn of(key: &'a [u8]) -> Result<Self, Error> {
        key::check(key)?;
        Ok(Self {
            key,
            ..Self::default()
        })
    }

    fn with(self, extras: &'a [u8]) -> Self {
        Self { extras, ..self }
    }
}

fn pair(flags: u32, exptime: u32) -> [u8; 8] {
    (u64::from(flags) << 32 | u64::from(exptime)).to_be_bytes()
}

fn count_extras(count: &Count<'_>) -> [u8; 20] {
    let mut extras = [0; 20];
    extras[..8].copy_from_slice(&count.delta.to_be_bytes());
    extras[8..16].copy_from_slice(&count.initial.to_be_bytes());
    extras[16..].copy_from_slice(&count.exptime.to_be_bytes());
    extras
}

/// The opcode of a command, and its quiet one.
fn opcodes(command: &Command<'_>) -> (u8, Option<u8>) {
    let (loud, quiet) = match command {
        Command::Get(Get {
            with_key, touch, ..
        }) => match (with_key, touch) {
            (false, None) => (0x00, 0x09),
            (true, None) => (0x0c, 0x0d),
            (false, Some(_)) => (0x1d, 0x1e),
            (true, Some(_)) => (0x23, 0x24),
        },
        Command::Store(Store { verb, .. }) => match verb {
            StoreVerb::Set => (0x01, 0x11),
            StoreVerb::Add => (0x02, 0x12),
            StoreVerb::Replace => (0x03, 0x13),
            StoreVerb::Append => (0x0e, 0x19),
            StoreVerb::Prepend => (0x0f, 0x1a),
        },
        Command::Delete { .. } => (0x04, 0x14),
        Command::Count(Count { down: false, .. }) => (0x05, 0x15),
        Command::Count(Count { down: true, .. }) => (0x06, 0x16),
        Command::Quit => (0x07, 0x17),
        Command::Flush { .. } => (0x08, 0x18),
        Command::Noop => return (0x0a, None),
        Command::Version => return (0x0b, None),
        Command::Stat { .. } => return (0x10, None),
        Command::Touch { .. } => return (0x1c, None),
        Command::SaslList => return (0x20, None),
        Command::SaslAuth { .. } => return (0x21, None),
        Command::SaslStep { .. } => return (0x22, None),
    };
    (loud, Some(quiet))
}

fn write(out: &mut Vec<u8>, opcode: u8, opaque: [u8; 4], parts: Parts<'_>) -> Result<(), Error> {
    let front = parts.extras.len() + parts.key.len();
    if parts.value.len() > LONGEST_BODY - front {
        return Err(Error::LongValue);
    }
    let body = front + parts.value.len();
    out.reserve(HEADER_BYTES + body);
    out.extend_from_slice(&[REQUEST_MAGIC, opcode]);
    out.extend_from_slice(&(parts.key.len() as u16).to_be_bytes());
    // The kind of data and what stands for the status are 0.
    out.extend_from_slice(&[parts.extras.len() as u8, 0, 0, 0]);
    out.extend_from_slice(&(body as u32).to_be_bytes());
    out.extend_from_slice(&opaque);
    out.extend_from_slice(&parts.cas.to_be_bytes());
    out.extend_from_slice(parts.extras);
    out.extend_from_slice(parts.key);
    out.extend_from_slice(parts.value);
    Ok(())
}
