//! Parts of values, and their lengths.

use super::Table;
use crate::error::Result;

impl Table {
    /// Returns the length of a key's value in bytes, or `None` if the key is missing. The value is
    /// not copied.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn value_len(&self, key: impl AsRef<[u8]>) -> Result<Option<usize>> {
        let found = self.get_entry_to_slice(key, &mut [])?;
        Ok(found.map(|(len, _)| len))
    }

    /// Returns a part of a key's value, at most `max` bytes from byte `start` on, or `None` if the
    /// key is missing. At the end of the value it returns fewer bytes, beyond the end an empty
    /// part.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set("song", "do re mi")?;
    /// assert_eq!(table.get_range("song", 3, 2)?.as_deref(), Some(&b"re"[..]));
    /// assert_eq!(table.get_range("song", 6, 100)?.as_deref(), Some(&b"mi"[..]));
    /// assert_eq!(table.get_range("song", 8, 100)?.as_deref(), Some(&b""[..]));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    ///
    /// # Concurrency
    /// As [`Table::get_view`]: of a value longer than some 16 KB, only this part is copied.
    pub fn get_range(
        &self,
        key: impl AsRef<[u8]>,
        start: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>> {
        let Some(view) = self.get_view(key)? else {
            return Ok(None);
        };
        let (mut skip, mut out) = (usize::try_from(start).unwrap_or(usize::MAX), Vec::new());
        for piece in view.pieces() {
            let part = piece.get(skip..).unwrap_or(&[]);
            skip = skip.saturating_sub(piece.len());
            out.extend_from_slice(&part[..part.len().min(max - out.len())]);
        }
        Ok(Some(out))
    }
}

#[cfg(test)]
mod tests {
    use crate::Table;

    #[test]
    fn a_range_is_that_part_of_the_value() {
        let table = Table::options().max_size(8 << 20).private().unwrap();
        let bytes = |len: usize| -> Vec<u8> { (0..len).map(|i| (i * 7 % 251) as u8).collect() };
        for len in [0, 1, 100, 16_384, 100_000, 1_000_000] {
            let value = bytes(len);
            table.set("key", &value).unwrap();
            assert_eq!(table.value_len("key").unwrap(), Some(len));
            for start in [0, 1, 99, 16_000, 16_384, 99_999, len, len + 1] {
                for max in [0, 1, 100, 20_000, usize::MAX] {
                    let from = start.min(len);
                    let wanted = &value[from..from.saturating_add(max).min(len)];
                    let got = table.get_range("key", start as u64, max).unwrap();
                    assert_eq!(got.as_deref(), Some(wanted), "{len} {start} {max}");
                }
            }
        }
        assert_eq!(table.get_range("missing", 0, 1).unwrap(), None);
        assert_eq!(table.value_len("missing").unwrap(), None);
        assert_eq!(table.get_range("key", u64::MAX, 1).unwrap().unwrap(), b"");
    }
}
