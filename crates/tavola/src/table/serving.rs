//! What servers of a table need beside its operations: counts of clients, marks, evictions.

use super::Table;
use crate::error::Result;
use crate::values::{Condition, Eviction, Marks, Serving};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::table::Table {}
}

/// Operations on a [`Table`] for programs that serve it to clients.
pub trait ServeTable: sealed::Sealed {
    /// Reports how many clients this process serves; [`Table::participants`] of any process shows
    /// it. A server calls this now and then.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::serving::{ServeTable, Serving};
    /// let serving = Serving { connections: 2, accepted: 70 };
    /// table.report_serving(serving)?;
    /// assert_eq!(table.participants()?[0].serving, Some(serving));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly), and the errors of attaching.
    ///
    /// # Crash
    /// If the process is killed in the call, each of the numbers is the old or the new one.
    fn report_serving(&self, serving: Serving) -> Result<()>;

    /// Clears and sets marks of a key in one step, if the key exists and `condition` holds. Returns
    /// the marks it had before, or `None` if it is missing or has another token. Its value, version
    /// and attributes do not change. A set removes the marks; a change of the value keeps them.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::Condition;
    /// use tavola::serving::ServeTable;
    /// table.set("k", "v")?;
    /// assert_eq!(table.mark(b"k", Condition::Always, 0, 0b11)?, Some(0));
    /// assert_eq!(table.mark(b"k", Condition::Always, 0b01, 0b100)?, Some(0b11));
    /// let mut value = Vec::new();
    /// assert_eq!(table.get_entry_into("k", &mut value)?.unwrap().marks, 0b110);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`]; [`Error::BadOption`](crate::Error::BadOption) for more than 24 bits.
    ///
    /// # Crash
    /// If the process is killed in the call, the key has the old marks or the new ones.
    fn mark(&self, key: &[u8], condition: Condition, clear: u32, set: u32) -> Result<Option<u32>>;

    /// Turns on or off the recording of keys that this process evicts, in any thread, for
    /// [`ServeTable::take_evictions`]. Evictions by other processes are not recorded. It applies to
    /// this handle, and takes about 300 KiB from the first time on.
    ///
    /// # Errors
    /// Those of mapping the table, if this is its first use.
    fn watch_evictions(&self, on: bool) -> Result<()>;

    /// Calls `each` for the recorded keys that were not taken yet, approximately in the order of
    /// eviction, and returns how many were lost since the last call. At most 1024 are kept; further
    /// ones are lost, so that writers never wait.
    ///
    /// # Examples
    /// ```
    /// use tavola::serving::ServeTable;
    /// let table = tavola::Table::options().capacity(4 << 20).max_size(16 << 20).private()?;
    /// table.watch_evictions(true)?;
    /// for number in 0..100_000u32 {
    ///     table.set(number.to_le_bytes(), [0; 100])?;
    /// }
    /// let mut taken = 0;
    /// let lost = table.take_evictions(&mut |evicted| {
    ///     assert_eq!((evicted.key.len(), evicted.value_len), (4, 100));
    ///     taken += 1;
    /// })?;
    /// let stats = table.stats()?;
    /// assert_eq!(taken + lost, stats.evicted_new + stats.evicted_old);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ServeTable::watch_evictions`].
    fn take_evictions(&self, each: &mut dyn FnMut(&Eviction<'_>)) -> Result<u64>;
}

impl ServeTable for Table {
    fn report_serving(&self, serving: Serving) -> Result<()> {
        self.core()?.report_serving(serving)
    }

    fn mark(&self, key: &[u8], condition: Condition, clear: u32, set: u32) -> Result<Option<u32>> {
        self.core()?.mark_if(key, condition, Marks { clear, set })
    }

    fn watch_evictions(&self, on: bool) -> Result<()> {
        self.core()?.region().evictions().listen(on);
        Ok(())
    }

    fn take_evictions(&self, each: &mut dyn FnMut(&Eviction<'_>)) -> Result<u64> {
        Ok(self.core()?.take_evictions(each))
    }
}
