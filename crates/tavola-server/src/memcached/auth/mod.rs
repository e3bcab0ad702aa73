//! Authentication: names and passwords, if the server asks for them.
//!
//! A client of the text protocol sends them as the data of its first `set`, one of the binary
//! protocol by the mechanism PLAIN of SASL. Until then nothing else is carried out: the decoder of
//! the connection sees to that ([`tavola_proto::Decoder`]), and learns here when it may stop.
//!
//! | file | what it holds |
//! |---|---|
//! | `users` | names and passwords, compared in a time that does not depend on where they differ |

mod users;

use std::time::Duration;

use tavola_proto::binary::{self, Command, Header, Status, answer};
use tavola_proto::text::{self, answer as line};
use tavola_proto::{Decoder, Protocol, Request, Sasl};

use super::tally::Event;
use super::work::{After, Work};
use crate::net::Output;

pub use users::{BadUsers, Users};

/// The mechanisms of SASL that are spoken.
const MECHANISMS: &[u8] = b"PLAIN";
/// The number of wrong passwords that end a connection.
pub(crate) const MOST_WRONG: u32 = 3;
/// How long the answer to the last of them is delayed, so that guessing takes its time.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);
/// The most bytes of an answer.
const ANSWER_BYTES: usize = 64;

/// Makes a decoder ask a new client for its password. `first` is the first byte that came, by which
/// clients show their protocol if both are spoken.
pub(super) fn ask(decoder: &mut Decoder, first: u8) {
    match decoder.protocol() {
        Some(Protocol::Binary) => decoder.set_sasl(Sasl::Required),
        None if first == binary::REQUEST_MAGIC => decoder.set_sasl(Sasl::Required),
        Some(Protocol::Text) | None => decoder.set_locked(true),
    }
}

/// Answers an authentication request. Returns `None` for any other request.
pub(super) fn answer(
    work: &Work,
    decoder: &mut Decoder,
    request: &Request<'_>,
    output: &mut Output,
) -> Option<After> {
    let users = work.shared.rules.users.as_ref()?;
    match request {
        Request::Text(text::Request::Authenticate { name, password }) => {
            let is_known = users.know(name, password);
            count(work, is_known);
            decoder.set_locked(!is_known);
            output.extend(match is_known {
                true => line::STORED,
                false => line::AUTH_FAILED,
            });
            Some(after(is_known))
        }
        Request::Binary(request) => step(work, users, decoder, request, output),
        _ => None,
    }
}

fn after(is_known: bool) -> After {
    match is_known {
        true => After::NextRequest,
        false => After::WrongPassword,
    }
}

fn step(
    work: &Work,
    users: &Users,
    decoder: &mut Decoder,
    request: &binary::Request<'_>,
    output: &mut Output,
) -> Option<After> {
    let header = &request.header;
    let is_known = match &request.command {
        Command::SaslList => {
            answer::text(output.room(ANSWER_BYTES), header, MECHANISMS);
            return Some(After::NextRequest);
        }
        Command::SaslAuth { mechanism, data } => {
            *mechanism == MECHANISMS
                && plain(data).is_some_and(|(name, password)| users.know(name, password))
        }
        // PLAIN has one step.
        Command::SaslStep { .. } => false,
        _ => return None,
    };
    count(work, is_known);
    write_reply(decoder, header, is_known, output);
    Some(after(is_known))
}

fn count(work: &Work, is_known: bool) {
    work.count(Event::Auth);
    if !is_known {
        work.count(Event::AuthError);
    }
}

fn write_reply(decoder: &mut Decoder, header: &Header, is_known: bool, output: &mut Output) {
    let out = output.room(ANSWER_BYTES);
    if is_known {
        decoder.set_sasl(Sasl::Done);
        answer::text(out, header, b"Authenticated");
    } else {
        decoder.set_sasl(Sasl::Required);
        answer::error(out, header, Status::AuthFailure);
    }
}

/// Reads name and password of the mechanism PLAIN (RFC 4616). The user on whose behalf the client
/// wants to act comes first and is ignored.
fn plain(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut parts = data.splitn(3, |byte| *byte == 0).skip(1);
    Some((parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_is_three_parts() {
        assert_eq!(plain(b"\0ann\0x\0y"), Some((&b"ann"[..], &b"x\0y"[..])));
        assert_eq!(plain(b"root\0ann\0"), Some((&b"ann"[..], &b""[..])));
        for wrong in [&b""[..], b"ann", b"ann\0x"] {
            assert_eq!(plain(wrong), None);
        }
    }
}
