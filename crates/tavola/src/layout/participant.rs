//! The slot of a participant: who it is, what it holds, and what it has counted.

use super::{PINS, assert_layout};
use crate::sync::{W32, W64};

/// Participant slots of a table. Slot 0 is never given out: a lock word of 0 means free.
pub(crate) const PARTICIPANTS: u32 = 1024;

/// One attached process.
#[repr(C, align(64))]
pub(crate) struct Participant {
    /// How often the slot was given out; together with the slot's number it identifies a
    /// participant.
    pub(crate) generation: W32,
    /// 0 free, 1 attached.
    pub(crate) state: W32,
    /// Process id, in the process's own pid namespace.
    pub(crate) pid: W32,
    /// A dead participant whose slot this one took over and whose resources are not reclaimed yet;
    /// 0: none.
    pub(crate) predecessor: W32,
    /// Start of the process in clock ticks since boot.
    pub(crate) start_time: W64,
    /// Inode of its pid namespace.
    pub(crate) pid_ns: W64,
    /// Inode of its time namespace.
    pub(crate) time_ns: W64,
    /// Seconds since 1970 at which it attached.
    pub(crate) attached: W64,
    /// If the process is a server: its number of connections when last reported, plus 1; else 0.
    pub(crate) connections: W64,
    /// Connections that it has accepted since it attached.
    pub(crate) accepted: W64,
    /// Reads of a cache that found their key, by all users of the slot so far.
    pub(crate) hits: W64,
    /// Reads that did not.
    pub(crate) misses: W64,
    /// Writes to a cache that set or change a key.
    pub(crate) sets: W64,
    /// Writes that remove keys.
    pub(crate) removes: W64,
    /// Chains of pages that its threads are reading: see [`PinWord`](super::PinWord).
    pub(crate) pins: [W32; PINS],
    /// 32 bits of the inode number of the file that the process attached to; 0: unknown.
    pub(crate) file_ino: W32,
    /// 32 bits of the time at which that file was created; 0: its file system does not say.
    pub(crate) file_born: W32,
}
assert_layout!(Participant, size 128, {
    generation: 0, state: 4, pid: 8, predecessor: 12, start_time: 16, pid_ns: 24, time_ns: 32,
    attached: 40, connections: 48, accepted: 56, hits: 64, misses: 72, sets: 80, removes: 88,
    pins: 96, file_ino: 120, file_born: 124,
});
