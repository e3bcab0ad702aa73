//! Many keys at once: the cache misses of a batch overlap instead of following each other.

// In this order they stand in the header.
mod many;
mod operation;
mod prepared;

use crate::attributes::tavola_attributes;
use crate::entry::{Answer, OK};
use crate::given::given;
use crate::status::Failure;
use crate::table::tavola_table;
use std::ffi::c_void;
use std::ptr;

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
    /// CAPI-1 of `given.rs`.
    pub(crate) unsafe fn get<'a>(self) -> Result<&'a [u8], Failure> {
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

/// A key with its value, and what it gets beside it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_entry {
    /// The key.
    pub key: tavola_bytes,
    /// The value.
    pub value: tavola_bytes,
    /// NULL: those of `tavola_set`.
    pub attributes: *const tavola_attributes,
}

/// Does something with all that is given, in runs, as the core takes it; first of all, each is
/// looked at.
fn in_runs<'a, T, L: Copy>(
    all: &'a [T],
    empty: L,
    lend: impl Fn(&'a T) -> Result<L, Failure>,
    mut act: impl FnMut(usize, &[L]) -> tavola_core::Result<()>,
) -> Answer {
    all.iter().try_for_each(|each| lend(each).map(drop))?;
    let mut lent = [empty; RUN];
    for (run, all) in all.chunks(RUN).enumerate() {
        for (lent, each) in lent.iter_mut().zip(all) {
            *lent = lend(each)?;
        }
        act(run * RUN, &lent[..all.len()])?;
    }
    OK
}

/// Does the same with what changes a table, which waits for the disk once, at the end.
fn change_in_runs<'a, T, L: Copy>(
    table: &tavola_table,
    all: &'a [T],
    empty: L,
    lend: impl Fn(&'a T) -> Result<L, Failure>,
    mut act: impl FnMut(&[L]) -> tavola_core::Result<()>,
) -> Answer {
    table
        .inner
        .wait_once(|| in_runs(all, empty, lend, |_, lent| act(lent)))
}
