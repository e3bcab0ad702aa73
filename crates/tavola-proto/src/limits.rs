//! How much a client may send.

/// The bytes of the longest key.
pub const KEY_BYTES: usize = 250;

/// How long lines and values may be. A decoder asks its caller to hold no more than these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the largest value. Larger ones are refused and thrown away as they come.
    pub value_bytes: usize,
    /// The bytes a line may have before its end. The connection of a longer one is closed.
    pub line_bytes: usize,
    /// The same for the lines of `get`, `gets`, `gat` and `gats`, which may name many keys.
    pub keys_line_bytes: usize,
}

impl Default for Limits {
    /// Values of 1 MiB and lines of 2048 bytes, as memcached has them; lines of keys of 1 MiB.
    fn default() -> Self {
        Self {
            value_bytes: 1 << 20,
            line_bytes: 2048,
            keys_line_bytes: 1 << 20,
        }
    }
}
