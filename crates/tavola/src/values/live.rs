//! How many keys are live.

/// The number of live and expired keys; from [`Table::live_keys`](crate::Table::live_keys).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveKeys {
    /// Keys that a read finds.
    pub live: u64,
    /// Keys that have expired or were invalidated, and use memory until they are removed.
    pub unreclaimed: u64,
    /// Whether both numbers are estimates from a part of the keys, because many keys of the table
    /// expire.
    pub is_estimate: bool,
}
