//! What housekeeping did.

/// What a call of [`Table::maintain`](crate::Table::maintain) did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default)]
pub struct Maintained {
    /// Bytes that were moved to huge pages, or were found to be on huge pages already.
    pub collapsed_bytes: u64,
    /// Bytes returned to the system.
    pub given_back_bytes: u64,
    /// Whether the kernel supports it: Linux 6.1 or newer, with transparent huge pages.
    pub huge_pages_supported: bool,
    /// Whether nothing is left to move to huge pages.
    pub done: bool,
}
