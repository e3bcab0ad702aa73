//! Errors, in Redis' words.

use std::borrow::Cow;

use tavola::Error;
use tavola_proto::resp::answer;

/// Why a command is not carried out.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The text of the answer: a code, a space, a sentence.
    Text(Cow<'static, str>),
    /// The table failed.
    Table(Error),
}

pub(super) const SYNTAX: Refusal = Refusal::plain("ERR syntax error");
pub(super) const NOT_AN_INTEGER: Refusal =
    Refusal::plain("ERR value is not an integer or out of range");
pub(super) const NOT_A_FLOAT: Refusal = Refusal::plain("ERR value is not a valid float");
pub(super) const NOT_FINITE: Refusal =
    Refusal::plain("ERR increment would produce NaN or Infinity");
pub(super) const OVERFLOW: Refusal = Refusal::plain("ERR increment or decrement would overflow");
pub(super) const NEGATIVE_OVERFLOW: Refusal = Refusal::plain("ERR decrement would overflow");
pub(super) const OFFSET: Refusal = Refusal::plain("ERR offset is out of range");
pub(super) const TOO_LONG: Refusal =
    Refusal::plain("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
pub(super) const CURSOR: Refusal = Refusal::plain("ERR invalid cursor");
pub(super) const NO_AUTHENTICATION: Refusal = Refusal::plain("NOAUTH Authentication required.");
pub(super) const NO_SUCH_DATABASE: Refusal = Refusal::plain("ERR DB index is out of range");
pub(super) const LONG_KEY: Refusal = Refusal::plain("ERR the key is longer than 8192 bytes");
pub(super) const LARGE_REPLY: Refusal =
    Refusal::plain("ERR the reply would be larger than 64 MiB: ask for fewer keys at once");

impl Refusal {
    pub(super) const fn plain(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(super) fn text(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }

    /// Returns the refusal of a command with too few or too many words.
    pub(super) fn arity(command: &str) -> Self {
        Self::text(format!(
            "ERR wrong number of arguments for '{command}' command"
        ))
    }

    /// Returns the refusal of a time to expire that is zero, negative or too large.
    pub(super) fn expire_time(command: &str) -> Self {
        Self::text(format!("ERR invalid expire time in '{command}' command"))
    }

    /// Returns the refusal of what the rules forbid.
    pub(super) fn permission(command: &str) -> Self {
        Self::text(format!(
            "NOPERM this user has no permissions to run the '{command}' command"
        ))
    }

    /// Appends the reply.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => answer::error(out, text.as_bytes()),
            Self::Table(Error::Full { .. }) => {
                let text = "OOM command not allowed when used memory > 'maxmemory'.";
                answer::error(out, text.as_bytes());
            }
            Self::Table(Error::TooLarge { .. }) => TOO_LONG.write(out),
            Self::Table(error) => answer::error(out, format!("ERR {error}").as_bytes()),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}
