//! How much one side may send to the other.

/// The bytes of the longest key.
pub const KEY_BYTES: usize = 250;

/// The bytes of the longest line that memcached takes of most commands.
pub(crate) const LINE_BYTES: usize = 2048;
/// The same of gets, which may name many keys.
pub(crate) const KEYS_LINE_BYTES: usize = 1 << 20;

/// The bytes of the largest value that any memcached can be set to take, and what ends it.
const SWALLOW_BYTES: usize = (1 << 30) + 2;

/// How long lines and values may be. A decoder asks its caller to hold no more than these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the largest value. Larger ones are swallowed as they come and then refused.
    pub value_bytes: usize,
    /// The bytes of refused data that are swallowed before another request is whole. The
    /// connection of a client that announces more is closed.
    pub swallow_bytes: usize,
    /// The bytes a line may have before its end. The connection of a longer one is closed.
    pub line_bytes: usize,
    /// The same for the lines of `get`, `gets`, `gat` and `gats`, which may name many keys; of a
    /// longer one the client gets an error.
    pub keys_line_bytes: usize,
}

impl Default for Limits {
    /// Values of 1 MiB and lines of 2048 bytes, as memcached has them; lines of keys of 1 MiB; up
    /// to 1 GiB is swallowed.
    fn default() -> Self {
        Self {
            value_bytes: 1 << 20,
            swallow_bytes: SWALLOW_BYTES,
            line_bytes: LINE_BYTES,
            keys_line_bytes: KEYS_LINE_BYTES,
        }
    }
}

/// How much a server may send to a client at once. A decoder asks its caller to hold no more than
/// one line and one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// The bytes of the largest value.
    pub value_bytes: usize,
    /// The bytes a line may have before its end.
    pub line_bytes: usize,
}

impl Default for AnswerLimits {
    /// Values of 1 MiB, as memcached has them unless `-I` says otherwise, and lines of 2048 bytes.
    fn default() -> Self {
        Self {
            value_bytes: 1 << 20,
            line_bytes: LINE_BYTES,
        }
    }
}
