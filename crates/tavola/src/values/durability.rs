//! The meaning of a returned write for a power failure.

use std::time::Duration;

/// The meaning of a returned write to a durable table. A process that is killed loses nothing in
/// any case; the policy is about power failures and crashes of the system, after which the table is
/// as it was at one moment.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The change is on disk.
    #[default]
    Commit,
    /// The change is on disk after at most this time, as long as a process has the table open for
    /// writing. Threads of the handle see to that; a forked child has none, and opens the table
    /// itself.
    Within(Duration),
    /// The change is on disk when the system has written it.
    Os,
}
