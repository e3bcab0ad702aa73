//! A command that is carried out.

use tavola_proto::resp::answer::{self, Version};
use tavola_proto::resp::{Args, read_i64};

use super::client::Client;
use super::refusal::{NOT_AN_INTEGER, Refusal};
use super::scan::KeyList;
use super::work::Work;
use crate::net::Output;

/// The bytes of a reply without a value.
const SHORT_BYTES: usize = 32;

/// A command of Redis.
#[derive(Debug)]
pub(super) struct Command {
    /// In small letters.
    pub(super) name: &'static str,
    /// The number of words; if it is negative, the least number.
    pub(super) arity: i32,
    /// As in the reply to COMMAND.
    pub(super) flags: &'static [&'static str],
    pub(super) keys: Keys,
    pub(super) run: fn(&mut Call<'_>) -> Result<After, Refusal>,
}

/// Which words of a command are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    None,
    First,
    /// All words after the name.
    All,
    /// Each other word after the name.
    Pairs,
}

/// What the service does after a command.
#[derive(Debug)]
pub(super) enum After {
    NextCommand,
    /// End the connection, as its client asked for it.
    Quit,
    /// Count a wrong name or password.
    WrongPassword,
    /// List keys before anything else.
    List(Box<KeyList>),
}

/// What a command gets.
pub(super) struct Call<'c> {
    pub(super) work: &'c mut Work,
    pub(super) client: &'c mut Client,
    pub(super) args: Args<'c>,
    pub(super) output: &'c mut Output,
    pub(super) command: &'static Command,
}

/// What most commands return.
pub(super) type Done = Result<After, Refusal>;

impl Call<'_> {
    pub(super) fn version(&self) -> Version {
        self.client.version
    }

    pub(super) fn ok(&mut self) -> Done {
        self.output.extend(answer::OK);
        Ok(After::NextCommand)
    }

    pub(super) fn integer(&mut self, number: i64) -> Done {
        answer::integer(self.output.room(SHORT_BYTES), number);
        Ok(After::NextCommand)
    }

    pub(super) fn truth(&mut self, is_true: bool) -> Done {
        self.integer(is_true.into())
    }

    pub(super) fn count(&mut self, count: usize) -> Done {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub(super) fn null(&mut self) -> Done {
        answer::null(self.output.room(SHORT_BYTES), self.client.version);
        Ok(After::NextCommand)
    }

    pub(super) fn bulk(&mut self, bytes: &[u8]) -> Done {
        answer::bulk(self.output.room(SHORT_BYTES + bytes.len()), bytes);
        Ok(After::NextCommand)
    }

    /// Answers with a string, or with nothing.
    pub(super) fn bulk_or_null(&mut self, bytes: Option<&[u8]>) -> Done {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.null(),
        }
    }

    /// Answers with what was written elsewhere.
    pub(super) fn push(&mut self, reply: Vec<u8>) -> Done {
        self.output.push(reply);
        Ok(After::NextCommand)
    }

    /// Reads a word as a number.
    pub(super) fn number(&self, at: usize) -> Result<i64, Refusal> {
        read_i64(&self.args[at]).ok_or(NOT_AN_INTEGER)
    }
}

/// Returns whether a word is this option, in letters of any case.
pub(super) fn is(word: &[u8], option: &str) -> bool {
    word.eq_ignore_ascii_case(option.as_bytes())
}
