//! Bytes of a file that were read ahead.

/// Bytes, of which the first ones are used up.
#[derive(Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    used: usize,
}

impl Window {
    /// Returns the bytes that are not used up.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    /// Uses up so many bytes.
    pub(crate) fn consume(&mut self, len: usize) {
        self.used += len;
    }

    /// Makes room for `len` more bytes, and lets `read` fill it, which returns how many there were.
    pub(crate) fn extend<E>(
        &mut self,
        len: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        // The rest is less than a record; a chunk follows it.
        self.bytes.drain(..self.used);
        self.used = 0;
        let had = self.bytes.len();
        self.bytes.resize(had + len, 0);
        let got = read(&mut self.bytes[had..]);
        self.bytes
            .truncate(had + got.as_ref().map_or(0, |got| *got));
        got
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.used = 0;
    }
}
