//! What clients may do.

use std::fmt;
use std::sync::Arc;

use tavola_proto::resp::CommandLimits;

use crate::memcached::{OnGuessing, Users};

/// The default number of commands in a row, as for clients of memcached.
const COMMANDS: usize = 256;
/// The bytes that a command may have beside its largest word.
const BESIDE_BYTES: usize = 1 << 20;

/// The permissions and limits of clients.
#[derive(Clone)]
pub struct RespRules {
    /// The bytes of the largest value, which is `proto-max-bulk-len` of Redis.
    pub value_bytes: usize,
    /// The most commands of a client that are carried out in a row, before others have their turn.
    pub commands: usize,
    /// The users that may connect, or `None` if there are no passwords.
    pub users: Option<Arc<Users>>,
    /// Whether clients may remove all keys at once.
    pub flush: bool,
    /// Whether clients may list keys.
    pub dumps: bool,
    /// Called when a connection is closed after several wrong passwords, with the address of the
    /// client, if it has one.
    pub on_guessing: Option<Arc<OnGuessing>>,
}

impl RespRules {
    /// Returns how large commands may be.
    pub(super) fn limits(&self) -> CommandLimits {
        let usual = CommandLimits::default();
        CommandLimits {
            word_bytes: self.value_bytes,
            bytes: usual
                .bytes
                .max(self.value_bytes.saturating_add(BESIDE_BYTES)),
            ..usual
        }
    }

    /// Returns the bytes of the largest command, of which a server has to keep as many for a
    /// connection: see [`crate::Options::input_bound`].
    pub fn input_bytes(&self) -> usize {
        self.limits().bytes
    }
}

impl Default for RespRules {
    fn default() -> Self {
        Self {
            value_bytes: CommandLimits::default().word_bytes,
            commands: COMMANDS,
            users: None,
            flush: true,
            dumps: true,
            on_guessing: None,
        }
    }
}

impl fmt::Debug for RespRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RespRules")
            .field("value_bytes", &self.value_bytes)
            .field("commands", &self.commands)
            .field("asks_for_password", &self.users.is_some())
            .field("flush", &self.flush)
            .field("dumps", &self.dumps)
            .field("on_guessing", &self.on_guessing.is_some())
            .finish()
    }
}
