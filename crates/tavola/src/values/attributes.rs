//! What a key has beside its value: when it expires, and flags of the user's.

use std::time::{Duration, SystemTime};

/// When a key expires. From then on it is missing for all processes at the same moment.
///
/// Times are stored in milliseconds of a clock that nobody can set: changing the wall clock does
/// not affect existing keys (as long as their processes can read `/proc`). The resolution is the
/// kernel's tick, 1 to 10 ms. After a restart of the machine, a table on a disk uses the wall clock
/// of that moment.
///
/// The clock stops while the machine sleeps: after 8 hours of sleep, each key that was stored
/// before lives 8 hours longer, and a key with [`Expiry::At`] expires 8 hours late. Keys that are
/// stored afterwards expire on time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// After the default TTL of the table ([`Options::ttl`](crate::Options::ttl)), or never.
    #[default]
    Default,
    /// Never.
    Never,
    /// After this time, plus or minus a tick. A time of zero is refused with
    /// [`Error::BadOption`](crate::Error::BadOption): in other stores it means never, or the
    /// default, or at once. Those are [`Expiry::Never`], [`Expiry::Default`] and [`Expiry::PAST`].
    After(Duration),
    /// At this time of the wall clock; at once if it has passed. The table stores the remaining
    /// time: if the wall clock is changed later, or the machine sleeps, the key expires earlier or
    /// later by that clock.
    At(SystemTime),
}

impl Expiry {
    /// A time that has passed: the key expires at once.
    pub const PAST: Expiry = Expiry::At(SystemTime::UNIX_EPOCH);
}

/// The condition under which
/// [`ServeTable::touch_if`](crate::serving::ServeTable::touch_if) changes the TTL of a key. A key
/// without a TTL expires later than any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpiryCondition {
    /// Always.
    #[default]
    Always,
    /// If the key has no TTL.
    Never,
    /// If the key has a TTL.
    Expires,
    /// If the key expires earlier now, so that it would live longer.
    Later,
    /// If the key expires later now, so that it would live shorter.
    Earlier,
    /// If the key has a TTL, and expires later now.
    ExpiresAndEarlier,
}

/// The TTL and flags of a key. `set`, `add`, `replace` and `swap` replace them; changes of the
/// value (`update`, `append`, `incr`) keep them, and `touch` changes only the TTL.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-ttl-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let table = tavola::Table::open(dir.join("t"))?;
/// use std::time::Duration;
/// use tavola::{Attributes, Expiry};
/// table.set_with(b"alice", b"{}", Attributes::ttl(Duration::from_secs(60)))?;
/// table.set_with(b"bob", b"{}", Attributes::from(Expiry::PAST).with_flags(7))?;
/// assert!(table.contains(b"alice")? && !table.contains(b"bob")?);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// When the key expires.
    pub expiry: Expiry,
    /// A number for the caller's own use, which the table only stores.
    pub flags: u32,
}

impl Attributes {
    /// Returns attributes with this TTL, which is above zero, see [`Expiry::After`].
    pub fn ttl(ttl: Duration) -> Self {
        Self {
            expiry: Expiry::After(ttl),
            flags: 0,
        }
    }

    /// Returns the attributes with these flags.
    pub fn with_flags(self, flags: u32) -> Self {
        Self { flags, ..self }
    }
}

impl From<Expiry> for Attributes {
    fn from(expiry: Expiry) -> Self {
        Self { expiry, flags: 0 }
    }
}
