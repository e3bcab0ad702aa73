//! Where the value of a get goes: into the caller's memory, or where a callback says.

use std::ffi::c_void;
use std::slice;
use tavola_client_core::{Outcome, Sink};

/// Returns memory for a value of `len` bytes, or NULL if there is none. The library calls it once,
/// with the exact length, and only if the key is there; `flags` are what was stored beside the
/// value.
pub type tavola_mc_value_room_fn =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, len: usize, flags: u32) -> *mut c_void>;

/// Says where the value of a get goes: to memory of the caller,
///
/// `tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);`
///
/// or to memory that `room` returns, for runtimes that create a string with its length:
///
/// `tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(begin, &string);`
#[repr(C)]
pub struct tavola_mc_value {
    /// The memory.
    pub data: *mut c_void,
    /// How many bytes it has room for.
    pub capacity: usize,
    /// The call sets it to the length of the value, also if the value is longer than `capacity`
    /// (`TAVOLA_MC_ERR_TOO_SMALL`) and was not copied.
    pub len: usize,
    /// The call sets it to the item's unique number, if it was asked for.
    pub cas: u64,
    /// The call sets it to what was stored beside the value.
    pub flags: u64,
    /// If not NULL, the library calls it and does not use `data`.
    pub room: tavola_mc_value_room_fn,
    /// Passed to the callback.
    pub user: *mut c_void,
}

/// Receives a value as the caller wants it.
pub(super) struct Into<'v> {
    value: &'v mut tavola_mc_value,
    pub(super) outcome: Option<Outcome>,
    /// The length of a value that the memory of the caller is too small for.
    pub(super) too_long: Option<usize>,
    /// Whether the callback gave no memory.
    pub(super) is_stopped: bool,
}

impl<'v> Into<'v> {
    pub(super) fn of(value: &'v mut tavola_mc_value) -> Self {
        Self {
            value,
            outcome: None,
            too_long: None,
            is_stopped: false,
        }
    }

    /// Notes what belongs to a value that was received whole.
    pub(super) fn note(self, flags: u32, cas: Option<u64>) {
        self.value.flags = flags.into();
        self.value.cas = cas.unwrap_or(0);
    }
}

impl Sink for Into<'_> {
    fn room(&mut self, _index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        let place = match self.value.room {
            // SAFETY: the caller's function, called as its type says.
            Some(room) => unsafe { room(self.value.user, len, flags) },
            None if len > self.value.capacity || self.value.data.is_null() => {
                self.value.len = len;
                self.too_long = (len > 0).then_some(len);
                return None;
            }
            None => self.value.data,
        };
        self.value.len = len;
        if place.is_null() {
            self.is_stopped = len > 0;
            return None;
        }
        // SAFETY: MC-1 of `given.rs`: the place has room for so many bytes, ours during the call.
        Some(unsafe { slice::from_raw_parts_mut(place.cast(), len) })
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}
