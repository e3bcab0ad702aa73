//! A key or a value inside an open file.

use std::ptr;

use super::Map;
#[cfg(doc)]
use crate::Error;
use crate::error::Result;

/// Bytes inside an open file: a key or a value.
///
/// They are not a `&[u8]`, because another process may write to the file. [`Span::to_vec`] and
/// [`Span::append_to`] copy them, and fail if the file was shortened meanwhile.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    pub(super) map: &'a Map,
    pub(super) at: usize,
    pub(super) bytes: usize,
}

impl<'a> Span<'a> {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the first bytes and the others.
    #[inline]
    pub(crate) fn split_at(self, bytes: u64) -> (Span<'a>, Span<'a>) {
        let first = Span {
            bytes: self.bytes.min(bytes as usize),
            ..self
        };
        let rest = Span {
            at: self.at + first.bytes,
            bytes: self.bytes - first.bytes,
            ..self
        };
        (first, rest)
    }

    /// Returns where the bytes begin, counted from the beginning of the file.
    pub fn position(&self) -> u64 {
        self.at as u64
    }

    /// Returns the first byte's address. It is valid as long as the open file.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        // SAFETY: the place is inside, or just behind the end (MAP-1).
        unsafe { self.map.start.as_ptr().add(self.at) }
    }

    /// Returns a copy of the bytes.
    ///
    /// # Errors
    /// [`Error::Lost`] if the file was shortened while it is open.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut copy = Vec::new();
        self.append_to(&mut copy)?;
        Ok(copy)
    }

    /// Appends the bytes to a buffer.
    ///
    /// # Errors
    /// [`Error::Lost`] if the file was shortened while it is open. The buffer is as before then.
    pub fn append_to(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let before = buffer.len();
        buffer.reserve(self.bytes);
        // SAFETY: the source is inside (MAP-1), the target is reserved and not a part of it.
        unsafe {
            let target = buffer.as_mut_ptr().add(before);
            ptr::copy_nonoverlapping(self.as_ptr(), target, self.bytes);
            buffer.set_len(before + self.bytes);
        }
        let checked = self.map.check();
        if checked.is_err() {
            buffer.truncate(before);
        }
        checked
    }

    /// Copies the bytes to the beginning of a slice. If it is shorter, the bytes that do not fit
    /// are left out.
    ///
    /// # Errors
    /// [`Error::Lost`] if the file was shortened while it is open. What was copied may be zeros
    /// then.
    #[inline]
    pub fn copy_to(&self, target: &mut [u8]) -> Result<()> {
        let bytes = self.bytes.min(target.len());
        // SAFETY: the source is inside (MAP-1), and the target is a slice, so no part of it.
        unsafe { ptr::copy_nonoverlapping(self.as_ptr(), target.as_mut_ptr(), bytes) };
        self.map.check()
    }

    /// Returns whether these are the bytes.
    #[inline]
    pub fn equals(&self, other: &[u8]) -> bool {
        if self.bytes != other.len() {
            return false;
        }
        let words = other.chunks_exact(size_of::<u64>());
        let (rest, mut at) = (words.remainder(), self.at as u64);
        for word in words {
            let wanted = word.try_into().map(u64::from_le_bytes).unwrap_or_default();
            if self.map.u64_at(at) != Some(wanted) {
                return false;
            }
            at += size_of::<u64>() as u64;
        }
        let mut places = self.at + self.bytes - rest.len()..;
        rest.iter()
            .all(|byte| places.next().map(|at| self.map.byte(at)) == Some(*byte))
    }

    /// Lends the bytes without a copy.
    ///
    /// # Safety
    /// No process writes to the file or shortens it as long as the slice is there.
    pub unsafe fn as_slice(&self) -> &'a [u8] {
        // SAFETY: the bytes are inside (MAP-1), and the caller vouches that they stay as they are.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }
}

impl std::fmt::Debug for Span<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_vec() {
            Ok(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Err(error) => write!(f, "({error})"),
        }
    }
}
