//! What became of a request, as C gets it, and where its value goes.

use crate::given::{SizedStruct, sized};
use crate::status::{Failure, c_text, cause_of, status_of, tavola_mc_status};
use std::ffi::{CString, c_char, c_void};
use std::{ptr, slice};
use tavola_client_core::{Client, Outcome, Sink};

/// What became of a request. It is lent until the callback returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_mc_result {
    /// `sizeof(tavola_mc_result)` of the library.
    pub size: usize,
    /// One of `tavola_mc_status`.
    pub status: i32,
    /// `TAVOLA_MC_HIT`: what was stored beside the value.
    pub flags: u32,
    /// `TAVOLA_MC_HIT` of a gets: the item's unique number; else 0.
    pub cas: u64,
    /// `TAVOLA_MC_COUNT`: the new number.
    pub number: u64,
    /// An error: a sentence that says what to do; else "".
    pub why: *const c_char,
    /// `TAVOLA_MC_ERR_UNSENT` and `TAVOLA_MC_ERR_UNKNOWN`: one of `tavola_mc_cause`; else 0.
    pub cause: i32,
    /// 0.
    pub reserved: u32,
}

/// Returns memory for the value of a request: exactly `value_len` bytes, or NULL to drop the value.
/// It is called once at most for a request, and only if the key is there; `done` says whether the
/// value is whole. `index` counts the requests of the batch from 0.
pub type tavola_mc_room_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        index: usize,
        value_len: usize,
        flags: u32,
    ) -> *mut c_void,
>;

/// Takes what became of a request, exactly once for each.
pub type tavola_mc_done_fn = Option<
    unsafe extern "C-unwind" fn(user: *mut c_void, index: usize, result: *const tavola_mc_result),
>;

/// Where the results of a batch go. Begin with
/// `tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_mc_sink {
    /// `sizeof(tavola_mc_sink)`.
    pub size: usize,
    /// Gives memory for values; values are dropped if it is NULL.
    pub room: tavola_mc_room_fn,
    /// Takes what became of each request; may be NULL.
    pub done: tavola_mc_done_fn,
    /// Passed to the callbacks.
    pub user: *mut c_void,
}

// SAFETY: integers and pointers without padding, the size first; zero is a value of each.
unsafe impl SizedStruct for tavola_mc_sink {}

/// The status of a request that did not fail.
pub(crate) fn status_of_outcome(outcome: &Outcome) -> tavola_mc_status {
    use tavola_mc_status::*;
    match outcome {
        Outcome::Hit { .. } => TAVOLA_MC_HIT,
        Outcome::Miss => TAVOLA_MC_MISS,
        Outcome::Stored => TAVOLA_MC_STORED,
        Outcome::NotStored => TAVOLA_MC_NOT_STORED,
        Outcome::Exists => TAVOLA_MC_EXISTS,
        Outcome::Deleted => TAVOLA_MC_DELETED,
        Outcome::Touched => TAVOLA_MC_TOUCHED,
        Outcome::Count(_) => TAVOLA_MC_COUNT,
        Outcome::Queued => TAVOLA_MC_QUEUED,
        _ => TAVOLA_MC_ERR_OTHER,
    }
}

/// Hands the results of a batch to the callbacks of C.
pub(crate) struct Callbacks<'c> {
    client: &'c Client,
    sink: tavola_mc_sink,
}

impl<'c> Callbacks<'c> {
    pub(crate) fn of(client: &'c Client, given: *const tavola_mc_sink) -> Result<Self, Failure> {
        // SAFETY: MC-1 of `given.rs`, of the caller of the function that hands it in.
        let sink = unsafe { sized(given, "sink") }?;
        Ok(Self { client, sink })
    }
}

impl Sink for Callbacks<'_> {
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        let room = self.sink.room?;
        // SAFETY: the caller's function, called as its type says.
        let place = unsafe { room(self.sink.user, index, len, flags) };
        if place.is_null() {
            return None;
        }
        // SAFETY: MC-1 of `given.rs`: the callback returned memory of this size, ours until `done`.
        Some(unsafe { slice::from_raw_parts_mut(place.cast(), len) })
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        let Some(done) = self.sink.done else {
            return;
        };
        let mut result = tavola_mc_result {
            size: size_of::<tavola_mc_result>(),
            status: 0,
            flags: 0,
            cas: 0,
            number: 0,
            why: c"".as_ptr(),
            cause: 0,
            reserved: 0,
        };
        let why: CString;
        match self.client.checked(outcome) {
            Ok(outcome) => {
                result.status = status_of_outcome(&outcome) as i32;
                match outcome {
                    Outcome::Hit { flags, cas } => {
                        (result.flags, result.cas) = (flags, cas.unwrap_or(0));
                    }
                    Outcome::Count(number) => result.number = number,
                    _ => {}
                }
            }
            Err(error) => {
                why = c_text(&error.to_string());
                (result.status, result.why) = (status_of(&error) as i32, why.as_ptr());
                result.cause = cause_of(&error) as i32;
            }
        }
        // SAFETY: the caller's function, called as its type says.
        unsafe { done(self.sink.user, index, ptr::from_ref(&result)) };
    }
}
