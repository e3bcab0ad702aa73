//! Requests of a batch as the bytes of a protocol.

use super::names::Names;
use crate::batch::{Action, AskTtl, Initial, Request, Verb};
use crate::conn::{Conn, Speaks};
use tavola_proto::binary::{self, Command};
use tavola_proto::meta::ask::{self as meta, AskedKey, Flag, Flags};
use tavola_proto::text::{self, Count, Store, StoreVerb};
use tavola_proto::{Error, meta::Mode};

const NO_TTL: Refused = Refused::Unknown(
    "this server does not speak the meta commands, which alone return the time that an item has \
     left; use memcached 1.6 or later without SASL",
);

/// Why a request is not sent.
pub(super) enum Refused {
    /// The protocol cannot have it.
    Form(Error),
    /// The server does not know it.
    Unknown(&'static str),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Form(error) => error.fmt(f),
            Self::Unknown(why) => f.write_str(why),
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Form(error)
    }
}

/// How a request is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) opaque: u64,
    /// Whether a miss is not answered.
    pub(super) is_quiet: bool,
}

/// Appends a request that is answered to the output of a connection.
pub(super) fn write(
    conn: &mut Conn,
    request: &Request<'_>,
    names: &mut Names<'_>,
    form: Form,
) -> Result<(), Refused> {
    let key = whole_key(request, names)?;
    match conn.speaks {
        Speaks::Meta => write_meta(&mut conn.output, key.into(), request, form)?,
        Speaks::Text => write_text(&mut conn.output, key, request, false)?,
        Speaks::Binary => write_binary(&mut conn.output, key, request, form)?,
    }
    Ok(())
}

/// Appends a request that is not answered, as text.
pub(super) fn write_silent(
    out: &mut Vec<u8>,
    request: &Request<'_>,
    names: &mut Names<'_>,
) -> Result<(), Refused> {
    write_text(out, whole_key(request, names)?, request, true)
}

/// Whether a get may be one of a line of gets: the line has nothing but keys, and no answer to a
/// key that another request of the line could be blamed for.
pub(super) fn may_share_line(request: &Request<'_>, names: &Names<'_>) -> bool {
    let is_plain = matches!(
        request.action,
        Action::Get {
            touch: None,
            ttl: AskTtl::No,
            ..
        }
    );
    is_plain && names.is_word(request.key) && names.fits(request.key)
}

/// Appends a key to a line of gets, which it begins if `is_first`.
pub(super) fn write_in_line(
    out: &mut Vec<u8>,
    names: &Names<'_>,
    request: &Request<'_>,
    is_first: bool,
) {
    if is_first {
        out.extend_from_slice(if is_with_cas(request) {
            b"gets"
        } else {
            b"get"
        });
    }
    out.push(b' ');
    for part in names.parts(request.key) {
        out.extend_from_slice(part);
    }
}

pub(super) fn write_line_end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n");
}

pub(super) fn is_with_cas(request: &Request<'_>) -> bool {
    matches!(request.action, Action::Get { with_cas: true, .. })
}

/// The key behind the namespace, which alone is not a key.
fn whole_key<'k>(request: &Request<'k>, names: &'k mut Names<'_>) -> Result<&'k [u8], Error> {
    match request.key.is_empty() {
        true => Err(Error::EmptyKey),
        false => Ok(names.whole(request.key)),
    }
}

/// Appends what is answered once all before it is carried out.
pub(super) fn write_fence(out: &mut Vec<u8>, speaks: Speaks) {
    let fence = match speaks {
        Speaks::Text => text::ask::VERSION,
        Speaks::Meta | Speaks::Binary => meta::NOOP,
    };
    out.extend_from_slice(fence);
}

/// What a get always asks for.
const VALUE: Flags<'_> = Flags::of(&[Flag::ReturnValue, Flag::ReturnFlags]);

fn write_meta(
    out: &mut Vec<u8>,
    key: AskedKey<'_>,
    request: &Request<'_>,
    form: Form,
) -> Result<(), Error> {
    // The answer to a key as base64 could be what another client chose.
    let returns_key = |flags: Flags<'static>| flags.with(Flag::ReturnKey, key.is_word());
    let base = match request.action {
        Action::Get { with_cas, ttl, .. } => returns_key(VALUE)
            .with(Flag::ReturnCas, with_cas)
            .with(Flag::ReturnTtl, ttl != AskTtl::No)
            .with(Flag::Quiet, form.is_quiet),
        Action::Touch { .. } => returns_key(Flags::default()),
        Action::Count { .. } => Flags::of(&[Flag::ReturnValue, Flag::ReturnKey]),
        _ => Flags::of(&[Flag::ReturnKey]),
    };
    let flags = base.number(form.opaque);
    match request.action {
        Action::Get { touch: None, .. } => meta::get(out, key, &flags),
        Action::Get {
            touch: Some(exptime),
            ..
        }
        | Action::Touch { exptime } => meta::get(out, key, &flags.exptime(exptime)),
        Action::Store {
            verb,
            value,
            flags: client_flags,
            exptime,
        } => {
            let mode = match verb {
                Verb::Set | Verb::Cas(_) => Mode::Set,
                Verb::Add => Mode::Add,
                Verb::Replace => Mode::Replace,
                Verb::Append => Mode::Append,
                Verb::Prepend => Mode::Prepend,
            };
            let mut flags = flags;
            if client_flags != 0 {
                flags = flags.client_flags(client_flags);
            }
            if exptime != 0 {
                flags = flags.exptime(exptime);
            }
            if let Verb::Cas(cas) = verb {
                flags = flags.compare(cas);
            }
            meta::set(out, key, mode, value, &flags)
        }
        Action::Delete => meta::delete(out, key, &flags),
        Action::Count {
            is_down,
            delta,
            initial,
        } => {
            let mut flags = flags.delta(delta);
            if let Some(Initial { value, exptime }) = initial {
                flags = flags.vivify(exptime).initial(value);
            }
            meta::arithmetic(out, key, is_down, &flags)
        }
    }
}

fn write_text(
    out: &mut Vec<u8>,
    key: &[u8],
    request: &Request<'_>,
    noreply: bool,
) -> Result<(), Refused> {
    match request.action {
        Action::Get {
            ttl: AskTtl::Yes, ..
        } => return Err(NO_TTL),
        Action::Get {
            with_cas,
            touch: None,
            ..
        } => text::ask::get(out, [key], with_cas)?,
        Action::Get {
            with_cas,
            touch: Some(exptime),
            ..
        } => text::ask::get_and_touch(out, exptime, [key], with_cas)?,
        Action::Store {
            verb,
            value,
            flags,
            exptime,
        } => {
            let verb = match verb {
                Verb::Set => StoreVerb::Set,
                Verb::Add => StoreVerb::Add,
                Verb::Replace => StoreVerb::Replace,
                Verb::Append => StoreVerb::Append,
                Verb::Prepend => StoreVerb::Prepend,
                Verb::Cas(cas) => StoreVerb::Cas(cas),
            };
            let store = Store {
                verb,
                key,
                flags,
                exptime,
                data: value,
                noreply,
            };
            text::ask::store(out, &store)?;
        }
        Action::Delete => text::ask::delete(out, key, noreply)?,
        Action::Count {
            initial: Some(_), ..
        } => {
            return Err(Refused::Unknown(
                "the server has no meta commands, which a counter with an initial value needs: \
                 add the key first, then count",
            ));
        }
        Action::Count { is_down, delta, .. } => {
            let count = Count {
                key,
                delta,
                down: is_down,
                noreply,
            };
            text::ask::count(out, &count)?;
        }
        Action::Touch { exptime } => text::ask::touch(out, key, exptime, noreply)?,
    }
    Ok(())
}

/// A counter that is missing stays so, in the binary protocol.
const NEVER_MADE: u32 = u32::MAX;
/// The binary protocol has no expiry times below 0. The least that is a date is long past.
const PAST: u32 = 60 * 60 * 24 * 30 + 1;

fn wire_exptime(exptime: i32) -> u32 {
    u32::try_from(exptime).unwrap_or(PAST)
}

fn write_binary(
    out: &mut Vec<u8>,
    key: &[u8],
    request: &Request<'_>,
    form: Form,
) -> Result<(), Refused> {
    let command = match request.action {
        Action::Get {
            ttl: AskTtl::Yes, ..
        } => return Err(NO_TTL),
        Action::Get { touch, .. } => Command::Get(binary::Get {
            key,
            with_key: true,
            touch: touch.map(wire_exptime),
        }),
        Action::Store {
            verb,
            value,
            flags,
            exptime,
        } => {
            let (verb, cas) = match verb {
                Verb::Cas(0) => {
                    return Err(Refused::Unknown(
                        "no item has the unique number 0, which the binary protocol takes for \
                         any: give that of a get",
                    ));
                }
                Verb::Set => (binary::StoreVerb::Set, 0),
                Verb::Cas(cas) => (binary::StoreVerb::Set, cas),
                Verb::Add => (binary::StoreVerb::Add, 0),
                Verb::Replace => (binary::StoreVerb::Replace, 0),
                Verb::Append => (binary::StoreVerb::Append, 0),
                Verb::Prepend => (binary::StoreVerb::Prepend, 0),
            };
            Command::Store(binary::Store {
                verb,
                key,
                flags,
                exptime: wire_exptime(exptime),
                cas,
                data: value,
            })
        }
        Action::Delete => Command::Delete { key, cas: 0 },
        Action::Count {
            is_down,
            delta,
            initial,
        } => Command::Count(binary::Count {
            key,
            delta,
            down: is_down,
            initial: initial.map_or(0, |initial| initial.value),
            exptime: initial.map_or(NEVER_MADE, |initial| wire_exptime(initial.exptime)),
            cas: 0,
        }),
        Action::Touch { exptime } => Command::Touch {
            key,
            exptime: wire_exptime(exptime),
        },
    };
    binary::ask::request(out, wire_opaque(form.opaque), &command, false)?;
    Ok(())
}

/// The opaque of a binary request, which is shorter.
pub(super) fn wire_opaque(opaque: u64) -> [u8; 4] {
    (opaque as u32).to_be_bytes()
}
