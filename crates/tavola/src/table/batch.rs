//! Many keys at once, in waves: the cache misses of a batch overlap instead of following each
//! other.
//!
//! 1. Hash every key of the wave and have its bucket fetched.
//! 2. Match the tags and have the items fetched, or the other bucket where the home has no match.
//! 3. Match those, and have their items fetched.
//! 4. Do each operation as it is done alone; by now it finds its lines in the cache.

use super::Table;
use super::core::Core;
use super::request::{Metadata, When, WriteRequest};
use crate::error::Result;
use crate::index::{Ahead, Noted, Stamped, Want};
use crate::values::{Attributes, Details};

/// Keys of one wave: as many as the processor can fetch lines for at once, and some more.
const WAVE: usize = 32;

impl Core {
    /// The waves before the last.
    #[inline(always)]
    fn warm<'k>(&self, count: usize, key: impl Fn(usize) -> &'k [u8]) -> [Ahead<'_>; WAVE] {
        let region = self.region();
        let mut wave = [Ahead::NONE; WAVE];
        for (i, ahead) in wave[..count].iter_mut().enumerate() {
            *ahead = Ahead::begin(region, key(i));
        }
        let mut elsewhere = 0u32;
        for (i, ahead) in wave[..count].iter_mut().enumerate() {
            elsewhere |= u32::from(ahead.look_home(region)) << i;
        }
        while elsewhere != 0 {
            let i = elsewhere.trailing_zeros() as usize;
            elsewhere &= elsewhere - 1;
            wave[i].look_away(region);
        }
        wave
    }

    /// Calls `found` for each key, in order, with what `want` took of it.
    #[inline(always)]
    fn read_many<K: AsRef<[u8]>, W: Want>(
        &self,
        keys: &[K],
        mut want: W,
        mut found: impl FnMut(usize, Option<&W>),
    ) -> Result<()> {
        let is_told = self.region().is_cache() && self.region().is_writable();
        for (wave, keys) in keys.chunks(WAVE).enumerate() {
            let ahead = self.warm(keys.len(), |i| keys[i].as_ref());
            for (i, (key, ahead)) in keys.iter().zip(&ahead).enumerate() {
                let hit = match is_told {
                    true => self.finish_in_cache(ahead, key.as_ref(), &mut want)?,
                    false => ahead.finish(self.region(), key.as_ref(), &mut want, self)?,
                };
                found(wave * WAVE + i, hit.then_some(&want));
            }
        }
        Ok(())
    }

    /// As [`Ahead::finish`]; also counts the read in a cache.
    #[inline(never)]
    fn finish_in_cache(&self, ahead: &Ahead<'_>, key: &[u8], want: &mut impl Want) -> Result<bool> {
        let mut noted = Noted::new(want);
        let found = ahead.finish(self.region(), key, &mut noted, self)?;
        self.tell(ahead.hash, found, (noted.word, noted.tag));
        Ok(found)
    }

    /// Sets what `pair` says of each of them, with what `metadata` says beside it.
    #[inline(always)]
    fn set_many<'a, T>(
        &self,
        all: &'a [T],
        pair: impl Fn(&'a T) -> (&'a [u8], &'a [u8]),
        metadata: impl Fn(&T) -> Result<Metadata<'static>>,
    ) -> Result<()> {
        let me = self.writer()?;
        for all in all.chunks(WAVE) {
            let ahead = self.warm(all.len(), |i| pair(&all[i]).0);
            for (each, ahead) in all.iter().zip(&ahead) {
                let (key, value) = pair(each);
                let metadata = metadata(each)?;
                let request = WriteRequest {
                    participant: me,
                    key,
                    hash: ahead.hash,
                    condition: When::Always,
                    naming: self.naming,
                    metadata: Some(&metadata).filter(|given| !given.stamp.is_none()),
                };
                self.write(&request, value)?;
                self.count_set(me);
            }
        }
        Ok(())
    }
}

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
                entry.map(|entry| (&entry.value[..], core.details(entry.told))),
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
