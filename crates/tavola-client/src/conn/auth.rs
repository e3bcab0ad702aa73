//! The first requests on a connection: they say who the client is, and find out the protocol.

use super::Speaks;
use super::broken::Broken;
use crate::cause::FailureCause;
use crate::options::{Login, Protocol, Settings};
use tavola_proto::binary::{self, Command};
use tavola_proto::{Answer, Error, meta, text};

/// The opaque of these requests in the binary protocol.
const OPAQUE: [u8; 4] = *b"open";

/// A request at the beginning of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// A name and a password, by text.
    Password,
    /// The same by SASL.
    Sasl,
    /// Which protocol is spoken, and whether the server answers at all.
    Probe,
}

/// What an answer to a greeting means.
pub(super) enum Greeted {
    /// The next greeting is to be sent.
    Next(Greeting),
    /// The connection can be used.
    Ready(Speaks),
}

impl Greeting {
    pub(super) fn first(settings: &Settings) -> Self {
        match &settings.login {
            Some(Login::Text { .. }) => Self::Password,
            Some(Login::Sasl { .. }) => Self::Sasl,
            None => Self::Probe,
        }
    }

    /// Appends the request.
    pub(super) fn write(
        self,
        out: &mut Vec<u8>,
        settings: &Settings,
        protocol: Protocol,
    ) -> Result<(), Error> {
        match (self, &settings.login) {
            (Self::Password, Some(login)) => {
                let (user, password) = login.parts();
                text::ask::authenticate(out, user, password)
            }
            (Self::Sasl, Some(login)) => {
                let (user, password) = login.parts();
                let data = [b"\0", user, b"\0", password].concat();
                let command = Command::SaslAuth {
                    mechanism: b"PLAIN",
                    data: &data,
                };
                binary::ask::request(out, OPAQUE, &command, false)
            }
            _ => match protocol {
                Protocol::Binary => binary::ask::request(out, OPAQUE, &Command::Noop, false),
                Protocol::Text => {
                    out.extend_from_slice(text::ask::VERSION);
                    Ok(())
                }
                Protocol::Auto | Protocol::Meta => {
                    out.extend_from_slice(meta::ask::NOOP);
                    Ok(())
                }
            },
        }
    }

    /// Says why a server may have ended the connection in place of an answer.
    pub(super) fn explain(self, broken: Broken) -> Broken {
        match (self, broken.cause) {
            (Self::Probe, FailureCause::Closed | FailureCause::Reset) => broken.and(
                "at the first request: if it asks for a user and a password, give them by \
                 text_auth or sasl; if it is a proxy that has no meta commands, choose the \
                 protocol Auto or Text",
            ),
            _ => broken,
        }
    }

    /// Judges the answer.
    pub(super) fn read(self, answer: &Answer<'_>, protocol: Protocol) -> Result<Greeted, Broken> {
        let greeted = match (self, answer) {
            (Self::Password, Answer::Text(text::Answer::Stored)) => Greeted::Next(Self::Probe),
            (Self::Sasl, Answer::Binary(answer)) if is_done(answer) => Greeted::Next(Self::Probe),
            (Self::Password | Self::Sasl, Answer::Text(text::Answer::ClientError(_)))
            | (Self::Sasl, Answer::Binary(_)) => {
                return Err(Broken::of(
                    FailureCause::Authentication,
                    "it does not accept the user and password; check both",
                ));
            }
            (Self::Probe, Answer::Binary(answer)) if is_done(answer) => {
                Greeted::Ready(Speaks::Binary)
            }
            (Self::Probe, Answer::Meta(meta::Answer::Noop)) if protocol != Protocol::Text => {
                Greeted::Ready(Speaks::Meta)
            }
            (Self::Probe, Answer::Text(text::Answer::Version(_))) if protocol == Protocol::Text => {
                Greeted::Ready(Speaks::Text)
            }
            // A server that does not know the meta commands.
            (Self::Probe, Answer::Text(text::Answer::Error(b""))) if protocol == Protocol::Auto => {
                Greeted::Ready(Speaks::Text)
            }
            (Self::Probe, Answer::Text(text::Answer::ClientError(why)))
                if why.starts_with(b"unauthenticated") =>
            {
                return Err(Broken::of(
                    FailureCause::Authentication,
                    "it asks for a user and a password; give them by text_auth",
                ));
            }
            (
                _,
                Answer::Text(
                    text::Answer::Error(why)
                    | text::Answer::ClientError(why)
                    | text::Answer::ServerError(why),
                ),
            ) => {
                let why = String::from_utf8_lossy(why);
                let why = if why.is_empty() { "ERROR" } else { &why };
                let cause = match self {
                    Self::Password | Self::Sasl => FailureCause::Authentication,
                    Self::Probe => FailureCause::Rejected,
                };
                let why = format!("it refused the first request: {why}");
                return Err(Broken::of(cause, why));
            }
            (_, answer) => {
                return Err(Broken::unexpected(format!(
                    "it answered the first request by {}",
                    super::shown(answer)
                )));
            }
        };
        Ok(greeted)
    }
}

fn is_done(answer: &binary::Answer<'_>) -> bool {
    answer.header.opaque == OPAQUE && answer.outcome == binary::Outcome::Done
}
