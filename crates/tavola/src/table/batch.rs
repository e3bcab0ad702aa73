//! Calls for many keys at once.

use super::Table;
use crate::engine::WAVE;
use crate::error::Result;
use crate::index::locate::Stamped;
use crate::values::{Attributes, Details};

impl Table {
    /// Reads many keys: calls `found` once for each key, in order, with its position and its value.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-many-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let table = tavola::Table::open(dir.join("t"))?;
    /// table.set_many(&[("a", "1"), ("b", "2")])?;
    /// let mut values = Vec::new();
    /// table.get_many(&["b", "x", "a"], |_, value| values.push(value.map(<[u8]>::to_vec)))?;
    /// assert_eq!(values, [Some(b"2".to_vec()), None, Some(b"1".to_vec())]);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; the keys before the one that failed were reported.
    ///
    /// # Concurrency
    /// Each key is read separately, as by [`Table::get`].
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        mut found: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let each = |i, value: Option<&Vec<u8>>| found(i, value.map(Vec::as_slice));
        self.core()?.read_many(keys, Vec::new(), each)
    }

    /// Reads many keys with their attributes, as [`Table::get_many`].
    ///
    /// # Errors
    /// As [`Table::get_many`].
    ///
    /// # Concurrency
    /// As [`Table::get_many`]. The value and attributes of a key belong together.
    pub fn get_many_entries<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        mut found: impl FnMut(usize, Option<(&[u8], Details)>),
    ) -> Result<()> {
        let core = self.core()?;
        core.read_many(keys, Stamped::of(Vec::new()), |i, entry| {
            found(
                i,
                entry.map(|entry| (&entry.value[..], core.details(entry.shown))),
            );
        })
    }

    /// Sets many keys, in order.
    ///
    /// # Errors
    /// As [`Table::set`]; the pairs before the one that failed are set.
    ///
    /// # Concurrency
    /// Each pair is set as by [`Table::set`]; others may see some of them before the rest.
    pub fn set_many<K: AsRef<[u8]>, V: AsRef<[u8]>>(&self, pairs: &[(K, V)]) -> Result<()> {
        self.set_many_with(pairs, Attributes::default())
    }

    /// Sets many keys, all with these attributes, as [`Table::set_many`].
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn set_many_with<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        pairs: &[(K, V)],
        attributes: Attributes,
    ) -> Result<()> {
        let core = self.core()?;
        let metadata = core.metadata(attributes)?;
        core.set_many(
            pairs,
            |(key, value)| (key.as_ref(), value.as_ref()),
            |_| Ok(metadata.clone()),
        )
    }

    /// Sets many keys, each with its own attributes, as [`Table::set_many`].
    ///
    /// # Errors
    /// As [`Table::set_with`]; the pairs before the one that failed are set.
    pub fn set_many_entries<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        entries: &[(K, V, Attributes)],
    ) -> Result<()> {
        let core = self.core()?;
        core.set_many(
            entries,
            |(key, value, _)| (key.as_ref(), value.as_ref()),
            |(_, _, attributes)| core.metadata(*attributes),
        )
    }

    /// Prefetches the memory that operations on these keys will read, so that their cache misses
    /// overlap. Use it right before several different operations, on about ten keys or more at a
    /// time.
    ///
    /// # Errors
    /// Those of mapping the table, if this is its first use.
    pub fn prefetch<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<()> {
        let core = self.core()?;
        for keys in keys.chunks(WAVE) {
            core.warm(keys.len(), |i| keys[i].as_ref());
        }
        Ok(())
    }
}
