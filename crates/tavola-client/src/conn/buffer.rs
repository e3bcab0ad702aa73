//! The bytes received and not used yet.

/// The bytes that a connection keeps for what it receives.
pub(crate) const ROOM: usize = 16 << 10;

/// Bytes received, used from the front and filled from the end.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; ROOM].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// Returns what was received and is not used.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Drops bytes from the front.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        assert!(self.start <= self.end, "only received bytes are used");
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Returns memory to receive into, as much as there is. It is empty only if [`ROOM`] bytes
    /// wait to be used.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start > 0 && self.bytes.len() - self.end < ROOM / 4 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Adds bytes that were received into [`Buffer::room`].
    pub(crate) fn fill(&mut self, count: usize) {
        self.end += count;
        assert!(self.end <= self.bytes.len(), "bytes are received into room");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_used_in_the_order_in_which_they_came() {
        let mut buffer = Buffer::new();
        let (mut next, mut expected) = (0_u8, 0_u8);
        for round in 0..2000_usize {
            let room = buffer.room();
            let count = room.len().min(1 + round * 7 % 3000);
            for byte in &mut room[..count] {
                *byte = next;
                next = next.wrapping_add(1);
            }
            buffer.fill(count);
            let used = buffer.bytes().len().min(round * 5 % 3001);
            for byte in &buffer.bytes()[..used] {
                assert_eq!(*byte, expected);
                expected = expected.wrapping_add(1);
            }
            buffer.consume(used);
            assert!(!buffer.room().is_empty() || buffer.bytes().len() == ROOM);
        }
        let rest = buffer.bytes().len();
        buffer.consume(rest);
        assert!(buffer.is_empty() && buffer.room().len() == ROOM);
    }
}
