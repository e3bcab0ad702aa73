//! Scans over a part of the entries: only keys, only values, or those with a prefix.

use super::Iter;
use crate::error::Result;
use crate::table::Table;

impl<'t> IntoIterator for &'t Table {
    type Item = Result<(Vec<u8>, Vec<u8>)>;
    type IntoIter = Iter<'t>;

    fn into_iter(self) -> Iter<'t> {
        self.iter()
    }
}

impl Table {
    /// Returns an iterator over all keys, without values, in no particular order.
    ///
    /// # Errors
    /// As [`Table::iter`].
    ///
    /// # Concurrency
    /// As [`Table::iter`].
    pub fn keys(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        self.keys_with_prefix("")
    }

    /// Returns an iterator over all values, without keys, in no particular order.
    ///
    /// # Errors
    /// As [`Table::iter`].
    ///
    /// # Concurrency
    /// As [`Table::iter`].
    pub fn values(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        select(self.iter(), |_, value| Some(value.to_vec()))
    }

    /// Returns an iterator over the entries whose keys have this prefix, in no particular order. It
    /// scans all keys of the table, because keys are not ordered.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set("user:1", "alice")?;
    /// table.set("cart:1", "[]")?;
    /// let users: Vec<_> = table.iter_prefix("user:").collect::<Result<_, _>>()?;
    /// assert_eq!(users, [(b"user:1".to_vec(), b"alice".to_vec())]);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::iter`].
    ///
    /// # Concurrency
    /// As [`Table::iter`].
    pub fn iter_prefix<'t>(
        &'t self,
        prefix: impl AsRef<[u8]> + 't,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>> + 't {
        select(self.iter(), move |key, value| {
            let is_meant = key.starts_with(prefix.as_ref());
            is_meant.then(|| (key.to_vec(), value.to_vec()))
        })
    }

    /// Returns an iterator over the keys with this prefix, without values, see
    /// [`Table::iter_prefix`].
    ///
    /// # Errors
    /// As [`Table::iter`].
    ///
    /// # Concurrency
    /// As [`Table::iter`].
    pub fn keys_with_prefix<'t>(
        &'t self,
        prefix: impl AsRef<[u8]> + 't,
    ) -> impl Iterator<Item = Result<Vec<u8>>> + 't {
        select(self.iter(), move |key, _| {
            let is_meant = key.starts_with(prefix.as_ref());
            is_meant.then(|| key.to_vec())
        })
    }

    /// Removes the keys with this prefix, and returns how many it removed. It scans all keys of the
    /// table. To remove any number of keys in constant time, give them a tag and call
    /// [`Table::invalidate_tag`].
    ///
    /// # Errors
    /// As [`Table::iter`] and [`Table::remove`]. Keys that were already removed stay removed.
    ///
    /// # Concurrency
    /// Each key is removed on its own. A key that is set meanwhile may stay.
    ///
    /// # Crash
    /// Some of the keys are removed, each of them whole.
    pub fn remove_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<u64> {
        let (prefix, mut entries, mut removed) = (prefix.as_ref(), self.iter(), 0);
        self.core()?.in_batch(|| {
            while let Some((key, _)) = entries.next_entry()? {
                if key.starts_with(prefix) {
                    removed += u64::from(self.remove(key)?);
                }
            }
            Ok(removed)
        })
    }
}

/// Returns what `select` makes of each entry, without the entries for which it returns `None`.
fn select<'t, T: 't>(
    mut entries: Iter<'t>,
    select: impl Fn(&[u8], &[u8]) -> Option<T> + 't,
) -> impl Iterator<Item = Result<T>> + 't {
    std::iter::from_fn(move || {
        loop {
            match entries.next_entry() {
                Ok(Some((key, value))) => match select(key, value) {
                    Some(selected) => return Some(Ok(selected)),
                    None => continue,
                },
                Ok(None) => return None,
                Err(error) => return Some(Err(entries.end_with(error))),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::{Result, Table};
    use std::collections::BTreeSet;

    fn table() -> Table {
        let table = Table::options().max_size(8 << 20).private().unwrap();
        for number in 0..1000 {
            let kind = if number % 10 == 0 { "a" } else { "b" };
            table
                .set(format!("{kind}:{number}"), number.to_string())
                .unwrap();
        }
        table
    }

    fn set_of(all: impl Iterator<Item = Result<Vec<u8>>>) -> BTreeSet<String> {
        all.map(|one| String::from_utf8(one.unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn keys_and_values_are_those_of_the_entries() {
        let table = table();
        let (mut keys, mut values) = (BTreeSet::new(), BTreeSet::new());
        for entry in &table {
            let (key, value) = entry.unwrap();
            keys.insert(String::from_utf8(key).unwrap());
            values.insert(String::from_utf8(value).unwrap());
        }
        assert_eq!((keys.len(), values.len()), (1000, 1000));
        assert_eq!(set_of(table.keys()), keys);
        assert_eq!(set_of(table.values()), values);
    }

    #[test]
    fn a_prefix_selects_and_removes() {
        let table = table();
        assert_eq!(table.iter_prefix("a:").count(), 100);
        let keys = set_of(table.keys_with_prefix("a:99"));
        assert_eq!(keys, BTreeSet::from(["a:990".to_string()]));
        assert_eq!(table.remove_prefix("a:").unwrap(), 100);
        assert_eq!(table.remove_prefix("a:").unwrap(), 0);
        assert_eq!(table.len().unwrap(), 900);
        assert_eq!(table.remove_prefix("").unwrap(), 900);
        assert!(table.is_empty().unwrap());
    }
}
