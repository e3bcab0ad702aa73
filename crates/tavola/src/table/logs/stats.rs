//! Statistics of a log.

use super::{Log, Overload};
use crate::sync::Ordering;

/// The state of a log; from [`Log::stats`]. Sizes are bytes.
///
/// Every line ever written to the log was written out by a drain, or counts in `awaiting` or in
/// `dropped`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogStats {
    /// The space for lines: all buffers together.
    pub bytes: u64,
    /// The number of buffers of 16 KiB.
    pub pieces: u32,
    /// Buffers that are in use by a thread, or were left by a dead one.
    pub pieces_in_hand: u32,
    /// Bytes in use by lines.
    pub used_bytes: u64,
    /// Lines that can be read.
    pub lines: u64,
    /// Of these, lines that no drain has written out.
    pub awaiting: u64,
    /// Lines lost since the log was created; as [`Log::dropped`].
    pub dropped: u64,
    /// Whether a drain is running, or was at the last check.
    pub has_drain: bool,
    /// What happens when the log is full.
    pub overload: Overload,
}

impl Log {
    /// Returns statistics of the log. While others write, they are not a snapshot of one moment.
    /// Scans all buffers.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(16 << 20).private()?;
    /// let log = tavola::LogOptions::new().create_in(&table, "events")?;
    /// log.show_on_stderr(false);
    /// log.line(tavola::Level::Info, "cart 3 is ready")?;
    /// let stats = log.stats();
    /// assert_eq!((stats.lines, stats.awaiting, stats.dropped), (1, 1, 0));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    pub fn stats(&self) -> LogStats {
        let ring = self.inner.ring();
        let mut stats = LogStats {
            bytes: self.bytes(),
            pieces: ring.geometry.sheets,
            pieces_in_hand: 0,
            used_bytes: 0,
            lines: 0,
            awaiting: 0,
            dropped: self.dropped(),
            has_drain: ring.head.drain.load(Ordering::Relaxed) != 0,
            overload: self.overload(),
        };
        for sheet in ring.uses() {
            stats.pieces_in_hand += u32::from(sheet.is_in_hand);
            stats.used_bytes += u64::from(sheet.words) * 8;
            stats.lines += u64::from(sheet.lines);
            stats.awaiting += u64::from(sheet.awaiting);
        }
        stats
    }
}
