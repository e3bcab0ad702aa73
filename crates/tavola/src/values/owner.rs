//! Whom a table lives with.

/// With whom a table goes; see [`Options::lives_with`](crate::Options::lives_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LivesWith {
    /// With a process, by its number in the pid namespace of the caller.
    Process(u32),
    /// With the last process that has the table open for writing.
    LastUser,
}
