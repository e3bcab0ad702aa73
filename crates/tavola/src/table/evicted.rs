//! Telling who watches in this process which keys it evicts.

use super::Table;
use super::attributes::Attributes;
use crate::alloc::Shown;
use crate::error::Result;
use crate::region::TOLD;

/// A key that this process has evicted; from [`Table::take_evictions`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction<'a> {
    /// The first 256 bytes of the key.
    pub key: &'a [u8],
    /// Bytes of the whole key.
    pub key_len: u64,
    /// Bytes of its value; of a counter 8.
    pub value_len: u64,
    /// Its flags, and how long it would still have lived.
    pub attributes: Attributes,
    /// As in [`Entry`](super::Entry).
    pub marks: u32,
}

impl Table {
    /// Whether keys are noted from now on that this process evicts, by whichever of its threads,
    /// for [`Table::take_evictions`]. What other processes evict is not told here. It holds for
    /// this handle, takes some 300 KiB from the first time on, and nothing until then.
    ///
    /// # Errors
    /// Those of mapping the table, where this is its first use.
    pub fn watch_evictions(&self, on: bool) -> Result<()> {
        self.core()?.region().watch_evicted(on);
        Ok(())
    }

    /// Calls `each` for the keys that were noted and not taken yet, in about the order in which
    /// they went; says how many were lost since the last call. 1024 wait at most, and what is
    /// evicted beyond is lost: nobody who writes waits for those who watch.
    ///
    /// # Examples
    /// ```
    /// let table = tavola::Table::options().capacity(4 << 20).max_size(16 << 20).private()?;
    /// table.watch_evictions(true)?;
    /// for number in 0..100_000u32 {
    ///     table.set(&number.to_le_bytes(), &[0; 100])?;
    /// }
    /// let mut taken = 0;
    /// let lost = table.take_evictions(|gone| {
    ///     assert_eq!((gone.key.len(), gone.value_len), (4, 100));
    ///     taken += 1;
    /// })?;
    /// let stats = table.stats()?;
    /// assert_eq!(taken + lost, stats.evicted_new + stats.evicted_old);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::watch_evictions`].
    pub fn take_evictions(&self, mut each: impl FnMut(&Eviction<'_>)) -> Result<u64> {
        let core = self.core()?;
        let mut key = [0; TOLD];
        while let Some(told) = core.region().take_evicted(&mut key) {
            let len = TOLD.min(told.key_len as usize);
            each(&Eviction {
                key: &key[..len],
                key_len: told.key_len,
                value_len: told.value_len,
                attributes: core.attributes(Shown {
                    expiry_ms: told.expiry_ms,
                    client: told.client as u32,
                    ..Shown::default()
                }),
                marks: (told.client >> 32) as u32,
            });
        }
        Ok(core.region().take_lost())
    }
}
