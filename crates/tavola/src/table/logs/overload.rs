//! What a log does with new lines when it is full.

use crate::layout::{BLOCK, DROP_NEWEST, DROP_OLDEST};

/// What happens to a line when the log is full: all buffers that no thread uses hold lines that are
/// not written out, because the drain is too slow or there is none. Each lost line is counted
/// ([`Log::dropped`](super::Log::dropped)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// The oldest lines are overwritten, one buffer of 16 KiB at a time: of the sampled buffers,
    /// the one whose last line is the oldest. The newest lines stay.
    DropOldest,
    /// The new line is not written. The oldest lines stay until a drain has written them out.
    DropNewest,
    /// The writer waits for the drain while it is alive. Without a drain it is as
    /// [`Overload::DropNewest`].
    Block,
}

impl Overload {
    pub(super) fn code(self) -> u32 {
        match self {
            Self::DropOldest => DROP_OLDEST,
            Self::DropNewest => DROP_NEWEST,
            Self::Block => BLOCK,
        }
    }

    /// Returns the policy of a code. A log with another code cannot be opened.
    pub(super) fn of(code: u32) -> Self {
        match code {
            DROP_OLDEST => Self::DropOldest,
            DROP_NEWEST => Self::DropNewest,
            _ => Self::Block,
        }
    }
}
