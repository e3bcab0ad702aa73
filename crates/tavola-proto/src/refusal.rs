//! Requests that are not carried out.

use crate::binary::{self, Header, Status};
use crate::key::Key;

/// A request that is refused: the answer to it and what else it asks of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    reply: Reply,
    closes: bool,
    command: Option<Restricted>,
}

/// A value that was too large to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge<'a> {
    /// The key it was for.
    pub key: Key<'a>,
    /// How it was to be stored: `set`, `add`, `replace`, `append`, `prepend` or `cas`.
    pub verb: &'static str,
    /// Whether the item of the key is to be removed: the old value must not outlive the new one.
    pub forgets: bool,
}

/// A command that a server may not allow at all, and then says so whatever else is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restricted {
    /// `flush_all`.
    FlushAll,
    /// `stats detail`.
    Detail,
    /// `stats cachedump`.
    Cachedump,
    /// `watch`.
    Watch,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    None,
    Line(&'static str),
    Binary { header: Header, status: Status },
}

impl Refusal {
    /// Answered by a line.
    pub(crate) fn line(text: &'static str) -> Self {
        Self::of(Reply::Line(text), false)
    }

    /// Not answered, as the client asked for no reply.
    pub(crate) fn silent() -> Self {
        Self::of(Reply::None, false)
    }

    /// Not answered, and the connection ends.
    pub(crate) fn hang_up() -> Self {
        Self::of(Reply::None, true)
    }

    /// Answered by a binary error, after which the connection may end.
    pub(crate) fn binary(header: Header, status: Status, closes: bool) -> Self {
        Self::of(Reply::Binary { header, status }, closes)
    }

    fn of(reply: Reply, closes: bool) -> Self {
        Self {
            reply,
            closes,
            command: None,
        }
    }

    /// The connection ends after the answer.
    pub(crate) fn and_close(mut self) -> Self {
        self.closes = true;
        self
    }

    pub(crate) fn of_command(mut self, command: Option<Restricted>) -> Self {
        self.command = command;
        self
    }

    /// The command, where a server that does not allow it answers otherwise: nothing of this is
    /// to be written then. `None` also where the client gets no answer.
    pub fn restricted(&self) -> Option<Restricted> {
        self.command.filter(|_| self.reply != Reply::None)
    }

    /// Appends the answer; nothing where the client gets none.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.reply {
            Reply::None => {}
            Reply::Line(text) => {
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            Reply::Binary { header, status } => binary::answer::error(out, header, *status),
        }
    }

    /// Whether the connection is to be closed once the answer is sent. Nothing after this request
    /// is to be decoded.
    pub fn closes(&self) -> bool {
        self.closes
    }
}
