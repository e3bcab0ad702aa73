//! Takes what servers answer. It is called without the interpreter's lock.

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use tavola_client::{Outcome, Sink};

/// A value from this size on goes straight into its object. A shorter one goes to memory of the
/// call, and is copied, which takes less time than to get the interpreter's lock.
const STRAIGHT_BYTES: usize = 16 << 10;
/// How many values of a call do: if other threads are busy, each has to wait for the lock.
const MOST_STRAIGHT: usize = 8;

/// The answers to the requests of a call.
pub struct Answers {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    straight: usize,
}

#[derive(Default)]
pub struct Slot {
    data: Data,
    pub outcome: Option<Outcome>,
}

#[derive(Default)]
enum Data {
    #[default]
    Nothing,
    /// A part of the memory of the call.
    Part(Range<usize>),
    Object(Py<PyBytes>),
}

impl Answers {
    pub fn of(count: usize) -> Self {
        Self {
            bytes: Vec::new(),
            slots: std::iter::repeat_with(Slot::default).take(count).collect(),
            straight: 0,
        }
    }

    /// Returns the outcome of a request.
    pub fn outcome(&mut self, index: usize) -> Option<Outcome> {
        self.slots[index].outcome.take()
    }

    /// Returns the value of a request that was a hit.
    pub fn value<'py>(&mut self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        match std::mem::take(&mut self.slots[index].data) {
            Data::Part(range) => Ok(PyBytes::new(py, &self.bytes[range])),
            Data::Object(object) => Ok(object.into_bound(py)),
            Data::Nothing => Err(PyMemoryError::new_err("there is no memory for the value")),
        }
    }
}

/// Returns a new object for so many bytes, which the caller fills; `None` without memory.
fn new_object(len: usize) -> Option<Py<PyBytes>> {
    let len = ffi::Py_ssize_t::try_from(len).ok()?;
    Python::try_attach(|py| {
        // SAFETY: the thread has the lock; without a source the bytes are not initialised.
        let object = unsafe { ffi::PyBytes_FromStringAndSize(std::ptr::null(), len) };
        // SAFETY: it is a new reference, or NULL with an exception.
        match unsafe { Bound::from_owned_ptr_or_err(py, object) } {
            // SAFETY: the call returns an object of this type.
            Ok(object) => Some(unsafe { object.cast_into_unchecked::<PyBytes>() }.unbind()),
            Err(_) => None,
        }
    })
    .flatten()
}

/// Lends the bytes of an object that nobody else has yet.
///
/// # Safety
/// The object was made by `new_object` with this length, and is in no other hands until the borrow
/// ends.
unsafe fn bytes_of_new(object: &mut Py<PyBytes>, len: usize) -> &mut [u8] {
    // SAFETY: the call reads the address alone, which is the same as long as the object lives; it
    // cannot fail, as the object is of this type, so it needs no lock.
    let data = unsafe { ffi::PyBytes_AsString(object.as_ptr()) }.cast::<u8>();
    // SAFETY: the object has so many bytes, which nobody else reads or writes. They are
    // initialised first.
    unsafe {
        data.write_bytes(0, len);
        std::slice::from_raw_parts_mut(data, len)
    }
}

impl Sink for Answers {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        if len >= STRAIGHT_BYTES && self.straight < MOST_STRAIGHT {
            self.straight += 1;
            let slot = &mut self.slots[index];
            slot.data = new_object(len).map_or(Data::Nothing, Data::Object);
            return match &mut slot.data {
                // SAFETY: it was made with this length, and has no other owner.
                Data::Object(object) => Some(unsafe { bytes_of_new(object, len) }),
                _ => None,
            };
        }
        let start = self.bytes.len();
        self.bytes.resize(start + len, 0);
        self.slots[index].data = Data::Part(start..start + len);
        Some(&mut self.bytes[start..])
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.slots[index].outcome = Some(outcome);
    }
}
