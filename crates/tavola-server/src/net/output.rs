//! Answers on their way to a client.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

/// The size of the chunks in which small pieces are collected.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;
/// The least number of bytes that a chunk has room for.
const FIRST_BYTES: usize = 1024;
/// The least size of a piece given away whole that becomes a chunk of its own.
const OWN_BYTES: usize = 4 * 1024;
/// The most chunks that one call sends.
const SLICES: usize = 64;

/// The answers to a client, written by a service and sent by its thread.
///
/// ```text
///  first chunk            large value         last chunk
///  ┌───────┬─────────┐   ┌───────────────┐   ┌─────────┬ ─ ─ ─ ┐
///  │ sent  │ to send │   │ to send       │   │ to send │  room │
///  └───────┴─────────┘   └───────────────┘   └─────────┴ ─ ─ ─ ┘
/// ```
///
/// Small answers are copied into a chunk. A large one is not copied: the service writes it into a
/// chunk through [`Output::room`], or hands over a `Vec` of its own by [`Output::push`].
///
/// - **OUT-1** Nothing is written to a chunk after a part of it was sent.
/// - **OUT-2** `sealed` counts the bytes of all chunks except the last.
#[derive(Debug)]
pub struct Output {
    chunks: VecDeque<Vec<u8>>,
    /// The bytes of the first chunk that are sent.
    sent: usize,
    sealed: usize,
    bound: usize,
}

impl Output {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            sent: 0,
            sealed: 0,
            bound,
        }
    }

    /// Returns the number of bytes that wait to be sent.
    pub fn len(&self) -> usize {
        self.sealed + self.chunks.back().map_or(0, Vec::len) - self.sent
    }

    /// Returns whether nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the number of waiting bytes from which on the output is full. Returns the earlier
    /// number.
    pub(crate) fn bind(&mut self, bound: usize) -> usize {
        std::mem::replace(&mut self.bound, bound)
    }

    /// Returns whether so much waits that the service should stop and return
    /// [`crate::Next::Again`]. Writing is possible anyway, so that a service can complete an
    /// answer.
    pub fn is_full(&self) -> bool {
        self.len() >= self.bound
    }

    /// Appends a copy of `bytes`.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).extend_from_slice(bytes);
    }

    /// Returns a buffer to append about `size` bytes to. It may already hold answers that are not
    /// sent yet.
    pub fn room(&mut self, size: usize) -> &mut Vec<u8> {
        if !self.tail_takes(size) {
            self.seal(Vec::new());
        }
        let tail = self.chunks.back_mut().expect("a tail was just made");
        if tail.capacity() - tail.len() < size {
            // Doubles the buffer up to the size of a chunk: a larger one is not kept for the next
            // answers.
            let capacity = (2 * tail.capacity()).clamp(FIRST_BYTES, CHUNK_BYTES);
            let capacity = capacity.max(tail.len() + size);
            tail.reserve_exact(capacity - tail.len());
        }
        tail
    }

    /// Appends `bytes`; copies them only if they are few.
    pub fn push(&mut self, bytes: Vec<u8>) {
        if bytes.len() < OWN_BYTES {
            self.extend(&bytes);
        } else {
            self.seal(bytes);
        }
    }

    fn tail_takes(&self, size: usize) -> bool {
        let begun = self.chunks.len() == 1 && self.sent > 0;
        self.chunks.back().is_some_and(|tail| {
            let fits = tail.len() + size <= tail.capacity().max(CHUNK_BYTES);
            !begun && (fits || tail.is_empty())
        })
    }

    fn seal(&mut self, chunk: Vec<u8>) {
        self.sealed += self.chunks.back().map_or(0, Vec::len);
        self.chunks.push_back(chunk);
    }

    /// Calls `send` with as much of the waiting answers as one call takes. `send` returns how many
    /// bytes it sent.
    pub(crate) fn send_by(
        &mut self,
        send: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut skip = self.sent;
        if let Some(piece) = self.piece() {
            let size = send(&[IoSlice::new(piece)])?;
            self.advance(size);
            return Ok(size);
        }
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut count = 0;
        for chunk in self.chunks.iter().take(SLICES) {
            slices[count] = IoSlice::new(&chunk[skip..]);
            skip = 0;
            count += 1;
        }
        let size = send(&slices[..count])?;
        self.advance(size);
        Ok(size)
    }

    /// Returns the waiting answers if they are in one piece.
    pub(crate) fn piece(&self) -> Option<&[u8]> {
        let only = self.chunks.front().filter(|_| self.chunks.len() == 1)?;
        Some(&only[self.sent..])
    }

    /// Removes the first bytes, which were sent.
    pub(crate) fn advance(&mut self, size: usize) {
        self.sent += size;
        while self.chunks.len() > 1 && self.sent >= self.chunks[0].len() {
            let first = self.chunks.pop_front().expect("more than one");
            self.sent -= first.len();
            self.sealed -= first.len();
        }
        if self.is_empty() {
            self.restart();
        }
    }

    /// Empties the output and keeps one chunk of the usual size for the next answers.
    fn restart(&mut self) {
        self.sent = 0;
        self.chunks.truncate(1);
        match self.chunks.front_mut() {
            Some(chunk) if chunk.capacity() <= CHUNK_BYTES => chunk.clear(),
            _ => self.chunks.clear(),
        }
    }

    /// Drops all waiting answers.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.sent = 0;
        self.sealed = 0;
    }

    /// Returns the bytes of memory that the output takes.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.iter().map(Vec::capacity).sum()
    }

    /// Frees memory that the waiting answers do not need.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() {
            self.chunks = VecDeque::new();
        }
        for chunk in &mut self.chunks {
            if chunk.capacity() > 2 * chunk.len() {
                chunk.shrink_to_fit();
            }
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends all in pieces of `step` bytes.
    fn sent(output: &mut Output, step: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while !output.is_empty() {
            let size = output.send_by(|slices| {
                let mut left = step;
                for slice in slices {
                    let part = left.min(slice.len());
                    all.extend_from_slice(&slice[..part]);
                    left -= part;
                }
                Ok(step - left)
            });
            assert!(size.expect("sends") > 0);
        }
        all
    }

    #[test]
    fn all_goes_out_in_order_whatever_its_size() {
        let pieces = [1, 100, 70_000, 5, 4096, 200_000, 3, 65_536, 65_535, 1];
        for step in [1_000, 64 * 1024, 1 << 30] {
            let mut output = Output::new(1 << 20);
            let mut expected = Vec::new();
            for round in 0..3_u8 {
                for (number, &size) in pieces.iter().enumerate() {
                    let piece = vec![round * 16 + number as u8; size];
                    expected.extend_from_slice(&piece);
                    if number % 2 == 0 {
                        output.extend(&piece);
                    } else {
                        output.push(piece);
                    }
                }
                assert_eq!(output.len(), expected.len());
            }
            assert!(sent(&mut output, step) == expected, "step {step}");
            assert_eq!(output.len(), 0);
        }
    }

    #[test]
    fn a_chunk_that_is_partly_sent_is_not_written_to() {
        let mut output = Output::new(100);
        output.extend(b"one two");
        let size = output.send_by(|slices| Ok(slices[0].len() - 3));
        assert_eq!(size.expect("sends"), 4);
        assert!(output.room(6).is_empty());
        output.extend(b" three");
        assert_eq!(sent(&mut output, 100), b"two three");
    }

    #[test]
    fn what_is_sent_takes_no_memory_after_a_shrink() {
        let mut output = Output::new(100);
        for _ in 0..100 {
            output.extend(&[1; 1000]);
        }
        assert_eq!(sent(&mut output, 5000).len(), 100_000);
        assert!((1..=CHUNK_BYTES).contains(&output.capacity()));
        output.shrink();
        assert_eq!(output.capacity(), 0);
    }

    #[test]
    fn a_large_value_is_not_copied() {
        let mut output = Output::new(100);
        output.extend(b"VALUE ");
        let value = vec![7; 1 << 20];
        let place = value.as_ptr();
        output.push(value);
        output.extend(b"END");
        assert!(output.is_full());
        let size = output.send_by(|slices| {
            assert_eq!(slices.len(), 3);
            assert_eq!(slices[1].as_ptr(), place);
            Ok(0)
        });
        assert_eq!(size.expect("sends"), 0);
    }
}
