//! What a log holds.

use super::log::number_of;
use super::tavola_log;
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::tavola_status;
use tavola_core::LogStats;

/// The state of a log. Sizes are bytes. Every line that was ever written to the log was written out
/// by a drain, or is one of the `awaiting` lines, or is counted in `dropped`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_log_stats {
    /// `sizeof(tavola_log_stats)`.
    pub size: usize,
    /// Room for lines: all pieces together.
    pub bytes: u64,
    /// Bytes that lines take.
    pub used_bytes: u64,
    /// Pieces of 16 KiB.
    pub pieces: u32,
    /// Pieces that a thread writes on, or that a dead one has left.
    pub pieces_in_hand: u32,
    /// Lines that can be read.
    pub lines: u64,
    /// Of these, lines that no drain has written out.
    pub awaiting: u64,
    /// Lines that were lost since the log was made; as `tavola_log_dropped`.
    pub dropped: u64,
    /// Whether a drain is at work, or was when it was last looked for.
    pub has_drain: u32,
    /// The policy for a full log: one of `tavola_overload`.
    pub overload: i32,
}

// SAFETY: integers without padding (the pairs of 32 bits fill 8 bytes each), the size first.
unsafe impl SizedStruct for tavola_log_stats {}

impl From<LogStats> for tavola_log_stats {
    fn from(stats: LogStats) -> Self {
        Self {
            size: size_of::<Self>(),
            bytes: stats.bytes,
            used_bytes: stats.used_bytes,
            pieces: stats.pieces,
            pieces_in_hand: stats.pieces_in_hand,
            lines: stats.lines,
            awaiting: stats.awaiting,
            dropped: stats.dropped,
            has_drain: u32::from(stats.has_drain),
            overload: number_of(stats.overload),
        }
    }
}

/// Returns the state of a log. It looks at each piece. While other processes write, the numbers are
/// not of one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_log_get_stats(
    log: *const tavola_log,
    stats: *mut tavola_log_stats,
) -> tavola_status {
    entry(|| {
        let (log, stats) = (given!(handle log), given!(sized_out stats));
        stats.put(&log.inner.stats().into());
        OK
    })
}
