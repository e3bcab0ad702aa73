//! What servers of a table need beside its operations: counts of clients, marks, evictions.

use super::Table;
use super::iter::scan_segment;
use crate::engine::WriteCondition;
use crate::error::Result;
use crate::values::{Condition, Eviction, Expiry, ExpiryCondition, Marks, Serving};

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

    /// Changes the TTL of a key if the key exists and `condition` holds. Returns whether it did, or
    /// `None` if the key is missing. The old TTL is compared and changed in one step.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use std::time::Duration;
    /// use tavola::Expiry;
    /// use tavola::serving::{ExpiryCondition, ServeTable};
    /// let hour = Expiry::After(Duration::from_secs(3600));
    /// table.set("k", "v")?;
    /// assert_eq!(table.touch_if(b"k", hour, ExpiryCondition::Expires)?, Some(false));
    /// assert_eq!(table.touch_if(b"k", hour, ExpiryCondition::Never)?, Some(true));
    /// assert_eq!(table.touch_if(b"no", hour, ExpiryCondition::Always)?, None);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`].
    ///
    /// # Crash
    /// If the process is killed in the call, the key has the old TTL or the new one.
    fn touch_if(
        &self,
        key: &[u8],
        expiry: Expiry,
        condition: ExpiryCondition,
    ) -> Result<Option<bool>>;

    /// Calls `each` for some keys of a scan, and returns the position after them, or `None` at the
    /// end. The first position is 0; no other one is. A position stays valid for any time and in
    /// any process, and any number is one: it may be kept by a client.
    ///
    /// A call reads a segment of the index, of up to 1792 keys, and passes over segments without
    /// keys. It does not copy values.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(8 << 20).private()?;
    /// use tavola::serving::ServeTable;
    /// for number in 0..5000 {
    ///     table.set(format!("key{number}"), "v")?;
    /// }
    /// let (mut count, mut position) = (0, Some(0));
    /// while let Some(at) = position {
    ///     position = table.scan_keys(at, &mut |_key| count += 1)?;
    /// }
    /// assert_eq!(count, 5000);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if an item of the segment could not be read,
    /// after the readable ones.
    ///
    /// # Concurrency
    /// As [`Table::iter`]: a key that exists during the whole scan is met at least once, even if
    /// the table grows or shrinks between two calls; it may be met twice.
    fn scan_keys(&self, position: u64, each: &mut dyn FnMut(&[u8])) -> Result<Option<u64>>;

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

    fn touch_if(
        &self,
        key: &[u8],
        expiry: Expiry,
        condition: ExpiryCondition,
    ) -> Result<Option<bool>> {
        let core = self.core()?;
        let request = core.request(key, WriteCondition::Always, None)?;
        let touched = core.touch_if(&request, expiry, condition)?;
        core.count_set(request.participant);
        Ok(touched.map(|touched| touched.is_changed))
    }

    fn scan_keys(&self, position: u64, each: &mut dyn FnMut(&[u8])) -> Result<Option<u64>> {
        scan_segment(self.core()?, position, each)
    }

    fn watch_evictions(&self, on: bool) -> Result<()> {
        self.core()?.region().evictions().listen(on);
        Ok(())
    }

    fn take_evictions(&self, each: &mut dyn FnMut(&Eviction<'_>)) -> Result<u64> {
        Ok(self.core()?.take_evictions(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn in_s(seconds: u64) -> Expiry {
        Expiry::After(Duration::from_secs(seconds))
    }

    #[test]
    fn a_ttl_changes_if_its_condition_holds() {
        use ExpiryCondition::{Always, Earlier, Expires, ExpiresAndEarlier, Later, Never};
        let table = Table::options().max_size(1 << 20).private().unwrap();
        let lasting = [true, true, false, false, true, false];
        let limited = [true, false, true, false, true, true];
        let all = [Always, Never, Expires, Later, Earlier, ExpiresAndEarlier];
        for (number, condition) in all.into_iter().enumerate() {
            table.set("k", "v").unwrap();
            let sooner = in_s(1000);
            let changed = table.touch_if(b"k", sooner, condition).unwrap();
            assert_eq!(changed, Some(lasting[number]), "{condition:?}");
            let changed = table.ttl("k").unwrap() != Some(Expiry::Never);
            assert_eq!(changed, lasting[number], "{condition:?}");
            table.touch("k", in_s(5000)).unwrap();
            let changed = table.touch_if(b"k", sooner, condition).unwrap();
            assert_eq!(changed, Some(limited[number]), "{condition:?}");
        }
        table.touch("k", in_s(1000)).unwrap();
        assert_eq!(table.touch_if(b"k", in_s(5000), Later).unwrap(), Some(true));
        assert_eq!(
            table.touch_if(b"k", in_s(5000), Earlier).unwrap(),
            Some(false)
        );
        assert_eq!(
            table.touch_if(b"k", Expiry::Never, Later).unwrap(),
            Some(true)
        );
        assert_eq!(table.touch_if(b"none", in_s(1), Always).unwrap(), None);
    }

    /// Threads that only make the TTL longer, at the same time: the longest stays.
    #[test]
    fn the_longest_ttl_of_many_stays() {
        const THREADS: u64 = 4;
        const EACH: u64 = 3000;
        let table = Table::options().max_size(1 << 20).private().unwrap();
        for _ in 0..5 {
            table.set_with("k", "v", in_s(1).into()).unwrap();
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let table = &table;
                    scope.spawn(move || {
                        for number in 0..EACH {
                            let longer = in_s(1000 * (1 + thread + number * THREADS));
                            table
                                .touch_if(b"k", longer, ExpiryCondition::Later)
                                .unwrap();
                        }
                    });
                }
            });
            let Some(Expiry::After(left)) = table.ttl("k").unwrap() else {
                panic!("the key has a TTL");
            };
            assert!(left.as_secs() > 1000 * THREADS * EACH - 1000, "{left:?}");
        }
    }
}
