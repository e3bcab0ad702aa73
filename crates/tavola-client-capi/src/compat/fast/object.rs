//! Where results go: what `client_reset` gets.

use std::ffi::{c_int, c_void};
use std::{ptr, slice};
use tavola_client_core::{Outcome, Sink};

/// What is known of a value beside its bytes.
#[repr(C)]
pub struct meta_object {
    flags: u32,
    use_cas: c_int,
    cas: u64,
}

/// Where results go.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct result_object {
    alloc: Option<unsafe extern "C-unwind" fn(usize, *mut *mut c_void) -> *mut c_void>,
    store: Option<unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, c_int, *mut c_void)>,
    free: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    arg: *mut c_void,
}

impl Default for result_object {
    /// Drops all results.
    fn default() -> Self {
        Self {
            alloc: None,
            store: None,
            free: None,
            arg: ptr::null_mut(),
        }
    }
}

/// A request, as its result is handed out.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) key_index: c_int,
    pub(super) wants: Wants,
}

/// What a request returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// Whether it was done.
    Done,
    Value {
        with_cas: bool,
    },
    Number,
}

impl result_object {
    /// Memory for a value, and what stands for the value.
    fn alloc(&self, len: usize) -> Option<(*mut u8, *mut c_void)> {
        let mut opaque = ptr::null_mut();
        let alloc = self.alloc?;
        // SAFETY: the caller's function, called as its type says.
        let memory = unsafe { alloc(len, &raw mut opaque) };
        (!memory.is_null()).then_some((memory.cast(), opaque))
    }

    pub(super) fn store(&self, opaque: *mut c_void, key_index: c_int, meta: *mut meta_object) {
        if let Some(store) = self.store {
            // SAFETY: the caller's function, called as its type says.
            unsafe { store(self.arg, opaque, key_index, meta.cast()) };
        }
    }

    /// Whether something was done: 1 or NULL in the place of a value.
    pub(super) fn store_done(&self, is_done: bool, key_index: c_int) {
        let done = match is_done {
            true => ptr::without_provenance_mut(1),
            false => ptr::null_mut(),
        };
        self.store(done, key_index, ptr::null_mut());
    }

    /// Stores a text of ours.
    pub(super) fn store_text(&self, text: &str, key_index: c_int) {
        let Some((memory, opaque)) = self.alloc(text.len()) else {
            return;
        };
        // SAFETY: the callback returned memory for so many bytes.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), memory, text.len()) };
        self.store(opaque, key_index, ptr::null_mut());
    }
}

/// Hands results to the callbacks.
pub(super) struct Results<'r> {
    object: result_object,
    kinds: &'r [Kind],
    /// What stands for the value of each request that was given memory.
    values: Vec<Option<*mut c_void>>,
    /// The worst outcome.
    pub(super) worst: c_int,
}

impl<'r> Results<'r> {
    pub(super) fn new(object: result_object, kinds: &'r [Kind]) -> Self {
        Self {
            object,
            kinds,
            values: vec![None; kinds.len()],
            worst: super::SUCCESS,
        }
    }

    fn store_value(&mut self, index: usize, flags: u32, cas: Option<u64>) {
        let kind = self.kinds[index];
        let with_cas = kind.wants == Wants::Value { with_cas: true };
        let mut meta = meta_object {
            flags,
            use_cas: with_cas.into(),
            cas: cas.unwrap_or(0),
        };
        let value = match self.values[index].take() {
            Some(value) => Some(value),
            // Of an empty value.
            None => self.object.alloc(0).map(|(_, value)| value),
        };
        if let Some(value) = value {
            self.object.store(value, kind.key_index, &raw mut meta);
        }
    }
}

impl Sink for Results<'_> {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        let (memory, opaque) = self.object.alloc(len)?;
        self.values[index] = Some(opaque);
        // SAFETY: the callback returned memory for so many bytes, ours until the value is stored.
        Some(unsafe { slice::from_raw_parts_mut(memory, len) })
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        let Kind { key_index, wants } = self.kinds[index];
        let failed = match (outcome, wants) {
            (Outcome::Hit { flags, cas }, _) => return self.store_value(index, flags, cas),
            // As there, so that it is true in Perl.
            (Outcome::Count(0), _) => return self.object.store_text("0E0", key_index),
            (Outcome::Count(number), _) => {
                return self.object.store_text(&number.to_string(), key_index);
            }
            (Outcome::Stored | Outcome::Deleted | Outcome::Touched, _) => {
                return self.object.store_done(true, key_index);
            }
            (Outcome::NotStored | Outcome::Exists | Outcome::Miss, Wants::Done) => {
                return self.object.store_done(false, key_index);
            }
            (Outcome::Miss, Wants::Number) => return self.object.store_text("", key_index),
            (Outcome::Refused(_), _) => super::ERROR,
            (Outcome::Unsent(_), _) => super::CLOSED,
            (Outcome::Unknown(_), _) => super::UNKNOWN,
            _ => super::SUCCESS,
        };
        self.worst = self.worst.max(failed);
        if let (Some(value), Some(free)) = (self.values[index].take(), self.object.free) {
            // SAFETY: the caller's function, called as its type says.
            unsafe { free(value) };
        }
    }
}
