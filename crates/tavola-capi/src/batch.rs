//! Many keys at once: the cache misses of a batch overlap instead of following each other.

use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{OK, entry};
use crate::given::{close, given};
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use tavola_core::Attributes;

/// Keys that the core takes together; of more, each so many.
const RUN: usize = 32;

/// Bytes that are lent.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_bytes {
    /// The first; NULL only where `len` is 0.
    pub data: *const c_void,
    /// How many.
    pub len: usize,
}

impl tavola_bytes {
    pub(crate) const EMPTY: Self = Self {
        data: ptr::null(),
        len: 0,
    };

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr().cast(),
            len: bytes.len(),
        }
    }

    /// # Safety
    /// I1 of `given.rs`.
    unsafe fn get<'a>(self) -> Result<&'a [u8], Failure> {
        let (data, len) = (self.data, self.len);
        Ok(given!(bytes data, len))
    }
}

/// A key with its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_pair {
    /// The key.
    pub key: tavola_bytes,
    /// The value.
    pub value: tavola_bytes,
}

/// Is told what the key at this position has, lent until it returns; NULL: the key is missing.
pub type tavola_found = Option<
    unsafe extern "C" fn(user: *mut c_void, index: usize, value: *const c_void, value_len: usize),
>;

/// Reads many keys: calls `each` once for each, in order.
///
/// # Errors
/// As `tavola_get`; the keys before the one that failed were told. A key that is NULL and has a
/// length: none was.
///
/// # Concurrency
/// Each key is read as by `tavola_get`, at a moment of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_many(
    table: *const tavola_table,
    keys: *const tavola_bytes,
    count: usize,
    each: tavola_found,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(items keys, count));
        let each = each.ok_or_else(|| Failure::null("each"))?;
        // SAFETY: the caller's promise.
        let mut checked = keys.iter().map(|key| unsafe { key.get() });
        checked.try_for_each(|key| key.map(drop))?;
        let mut lent = [&[][..]; RUN];
        for (run, keys) in keys.chunks(RUN).enumerate() {
            for (key, given) in lent.iter_mut().zip(keys) {
                // SAFETY: the caller's promise.
                *key = unsafe { given.get() }?;
            }
            table.inner.get_many(&lent[..keys.len()], |i, value| {
                let value = value.map_or(tavola_bytes::EMPTY, tavola_bytes::of);
                // SAFETY: the caller's function, called as its type says.
                unsafe { each(user, run * RUN + i, value.data, value.len) };
            })?;
        }
        OK
    })
}

/// Sets many keys, in order.
///
/// # Errors
/// As `tavola_set`; the pairs before the one that failed are set. A key or value that is NULL and
/// has a length: none is.
///
/// # Concurrency
/// Each pair is set as by `tavola_set`; others may see some of them before the rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many(
    table: *const tavola_table,
    pairs: *const tavola_pair,
    count: usize,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_set_many_with(table, pairs, count, ptr::null()) }
}

/// As `tavola_set_many`; all of them get these attributes; NULL: those of `tavola_set`.
///
/// # Errors
/// As `tavola_set_many` and `tavola_set_with`.
///
/// # Concurrency
/// As `tavola_set_many`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_many_with(
    table: *const tavola_table,
    pairs: *const tavola_pair,
    count: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (table, pairs) = (given!(handle table), given!(items pairs, count));
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        let both = pairs.iter().flat_map(|pair| [pair.key, pair.value]);
        // SAFETY: the caller's promise.
        let mut checked = both.map(|bytes| unsafe { bytes.get() });
        checked.try_for_each(|bytes| bytes.map(drop))?;
        let mut lent = [(&[][..], &[][..]); RUN];
        for pairs in pairs.chunks(RUN) {
            for (pair, given) in lent.iter_mut().zip(pairs) {
                // SAFETY: the caller's promise.
                *pair = unsafe { (given.key.get()?, given.value.get()?) };
            }
            table
                .inner
                .set_many_with(&lent[..pairs.len()], attributes)?;
        }
        OK
    })
}

/// Reads and writes that were prepared, to be executed together; for one thread at a time.
#[derive(Default)]
pub struct tavola_batch {
    /// Keys and values of the operations.
    given: Vec<u8>,
    operations: Vec<Operation>,
    /// Values that were read.
    results: Vec<u8>,
}

struct Operation {
    key: Range<usize>,
    /// `None`: a read.
    value: Option<Range<usize>>,
    /// Of a read: the defaults.
    attributes: Attributes,
    /// What was read.
    result: Option<Range<usize>>,
    is_done: bool,
}

impl tavola_batch {
    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.given.len();
        self.given.extend_from_slice(bytes);
        start..self.given.len()
    }

    fn add(&mut self, key: &[u8], value: Option<&[u8]>, attributes: Attributes) -> usize {
        let operation = Operation {
            key: self.keep(key),
            value: value.map(|value| self.keep(value)),
            attributes,
            result: None,
            is_done: false,
        };
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// Executes what follows each other and is of one kind together.
    fn execute(&mut self, table: &tavola_table) -> tavola_core::Result<()> {
        let Self {
            given,
            operations,
            results,
        } = self;
        results.clear();
        operations.iter_mut().for_each(Operation::begin);
        for run in operations.chunk_by_mut(Operation::is_like) {
            if run[0].value.is_some() {
                let pair = |operation: &Operation| {
                    let value = operation.value.clone().unwrap_or_default();
                    (&given[operation.key.clone()], &given[value])
                };
                let pairs: Vec<_> = run.iter().map(pair).collect();
                table.inner.set_many_with(&pairs, run[0].attributes)?;
            } else {
                let keys: Vec<_> = run.iter().map(|read| &given[read.key.clone()]).collect();
                table.inner.get_many(&keys, |i, value| {
                    run[i].result = value.map(|value| {
                        results.extend_from_slice(value);
                        results.len() - value.len()..results.len()
                    });
                })?;
            }
            run.iter_mut()
                .for_each(|operation| operation.is_done = true);
        }
        Ok(())
    }
}

impl Operation {
    fn begin(&mut self) {
        self.result = None;
        self.is_done = false;
    }

    /// Whether the two may be executed together.
    fn is_like(&self, other: &Self) -> bool {
        (self.value.is_some(), self.attributes) == (other.value.is_some(), other.attributes)
    }
}

/// Makes an empty batch. It belongs to no table, and can be executed and cleared again and again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_open(batch: *mut *mut tavola_batch) -> tavola_status {
    entry(|| {
        given!(out batch).put(Box::into_raw(Box::default()));
        OK
    })
}

/// Prepares a read; `index`, unless it is NULL, gets its number for `tavola_batch_result`: 0, 1,
/// ...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_get(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    index: *mut usize,
) -> tavola_status {
    entry(|| {
        let (batch, key) = (given!(buffer batch), given!(bytes key, key_len));
        given!(maybe index).put(batch.add(key, None, Attributes::default()));
        OK
    })
}

/// Prepares a write; `index`, unless it is NULL, gets its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_set(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    index: *mut usize,
) -> tavola_status {
    let default = ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_batch_set_with(batch, key, key_len, value, value_len, default, index) }
}

/// Prepares a write with attributes; NULL: those of `tavola_set`. A `ttl_ms` counts from when it is
/// executed. `index`, unless it is NULL, gets its number.
///
/// # Errors
/// `TAVOLA_ERR_ARGUMENT`: two times, or a `ttl_ms` that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_set_with(
    batch: *mut tavola_batch,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    index: *mut usize,
) -> tavola_status {
    entry(|| {
        let (batch, key) = (given!(buffer batch), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        given!(maybe index).put(batch.add(key, Some(value), attributes));
        OK
    })
}

/// Executes what was prepared, in order: a read finds what a write before it in the batch has set.
///
/// # Errors
/// As `tavola_get` and `tavola_set_with`; the writes before the one that failed are done.
///
/// # Concurrency
/// Each operation has a moment of its own; others may see some of them before the rest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_execute(
    batch: *mut tavola_batch,
    table: *const tavola_table,
) -> tavola_status {
    entry(|| {
        let (batch, table) = (given!(buffer batch), given!(handle table));
        batch.execute(table)?;
        OK
    })
}

/// What a read came to, lent until the batch is executed, changed or closed. Of a write: nothing,
/// and `TAVOLA_OK`.
///
/// # Errors
/// `TAVOLA_MISSING`: there is no such key. `TAVOLA_ERR_ARGUMENT`: there is no such number, or it
/// was not executed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_result(
    batch: *const tavola_batch,
    index: usize,
    value: *mut tavola_bytes,
) -> tavola_status {
    entry(|| {
        let (batch, out) = (given!(handle batch), given!(out value));
        match batch.operations.get(index) {
            Some(operation) if operation.is_done => {
                let range = match (&operation.result, &operation.value) {
                    (Some(range), _) => range.clone(),
                    (None, Some(_)) => 0..0,
                    (None, None) => return Ok(tavola_status::TAVOLA_MISSING),
                };
                out.put(tavola_bytes::of(&batch.results[range]));
                OK
            }
            _ => Err(Failure::argument(
                "the batch has no operation of that number that was executed",
            )),
        }
    })
}

/// Makes a batch empty; its memory is kept for what is prepared next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_clear(batch: *mut tavola_batch) -> tavola_status {
    entry(|| {
        let batch = given!(buffer batch);
        batch.given.clear();
        batch.operations.clear();
        batch.results.clear();
        OK
    })
}

/// Closes a batch. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_batch_close(batch: *mut tavola_batch) {
    // SAFETY: the caller's promise: it came from `tavola_batch_open` and is used no more.
    unsafe { close(batch) };
}
