//! The bytes of a client that are not served yet.

/// The size of a thread's own buffer, which is the most that it reads at once.
pub(crate) const BATCH_BYTES: usize = 64 * 1024;
/// The most bytes left over that are copied into the thread's buffer, so that it reads on behind
/// them.
const SMALL_BYTES: usize = 4 * 1024;
/// The most bytes left over that are copied out of the thread's buffer. If more are left, the
/// connection keeps the buffer itself.
const COPIED_BYTES: usize = 16 * 1024;

/// A buffer that is consumed from its front.
#[derive(Debug, Default)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
}

impl Input {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes `size` bytes from the front.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    pub(crate) fn consume(&mut self, size: usize) {
        assert!(size <= self.len(), "a service consumed what was not there");
        self.start += size;
    }

    /// Returns the buffer to append to, with room for at least some bytes.
    ///
    /// The buffer grows with the bytes that have come, not with the bytes that are `wanted`: a
    /// client that announces a large value and sends little of it costs little memory.
    pub(crate) fn room(&mut self, wanted: usize) -> &mut Vec<u8> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        let len = self.bytes.len();
        let missing = wanted.saturating_sub(len).max(1);
        if self.bytes.capacity() - len < missing.min(SMALL_BYTES) {
            let growth = missing.clamp(SMALL_BYTES, len.max(COPIED_BYTES));
            self.bytes.reserve_exact(growth);
        }
        &mut self.bytes
    }

    /// Takes the thread's buffer to read into, unless so many bytes are to come that the connection
    /// reads into a buffer of its own.
    pub(crate) fn borrow(&mut self, lent: &mut Vec<u8>, wanted: usize) {
        if self.len() > SMALL_BYTES || wanted > BATCH_BYTES {
            return;
        }
        let mut bytes = std::mem::take(lent);
        bytes.clear();
        bytes.reserve_exact(BATCH_BYTES);
        bytes.extend_from_slice(self.bytes());
        *self = Self { bytes, start: 0 };
    }

    /// Gives the thread's buffer back, and frees memory that the bytes left over do not need.
    pub(crate) fn give_back(&mut self, lent: &mut Vec<u8>) {
        let kept = match self.len() {
            0 => 0,
            len => 2 * len.max(SMALL_BYTES),
        };
        if self.len() > COPIED_BYTES || self.bytes.capacity() <= kept {
            return;
        }
        let rest = self.bytes().to_vec();
        let bytes = std::mem::replace(&mut self.bytes, rest);
        self.start = 0;
        if lent.capacity() == 0 && bytes.capacity() <= 2 * BATCH_BYTES {
            *lent = bytes;
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_buffer_is_borrowed_and_given_back() {
        let mut lent = Vec::new();
        let mut input = Input::default();
        for round in 0..3 {
            input.borrow(&mut lent, 0);
            assert_eq!(lent.capacity(), 0);
            input.room(0).extend_from_slice(b"half a request");
            input.consume(if round < 2 { 14 } else { 5 });
            input.give_back(&mut lent);
            assert!(lent.capacity() >= BATCH_BYTES);
            assert!(input.capacity() <= 14);
        }
        input.borrow(&mut lent, 0);
        assert_eq!(input.bytes(), b"a request");
    }

    #[test]
    fn a_buffer_grows_with_what_comes() {
        let mut input = Input::default();
        let wanted = 100 << 20;
        assert!(input.room(wanted).capacity() <= COPIED_BYTES);
        let mut moves = 0;
        while input.len() < wanted {
            let before = input.capacity();
            let bytes = input.room(wanted);
            moves += usize::from(bytes.capacity() != before);
            let spare = bytes.capacity() - bytes.len();
            bytes.resize(bytes.len() + spare.min(10_000), 1);
            assert!(input.capacity() <= 2 * input.len().max(COPIED_BYTES));
        }
        assert!(moves < 20, "moved {moves} times");
        assert!(input.len() < wanted + 2 * COPIED_BYTES);
    }
}
