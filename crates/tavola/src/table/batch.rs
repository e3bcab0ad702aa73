//! Many keys at once, in waves: the cache misses of a batch overlap instead of following each
//! other.
//!
//! 1. Hash every key of the wave and have its bucket fetched.
//! 2. Match the tags and have the items fetched, or the other bucket where the home has no match.
//! 3. Match those, and have their items fetched.
//! 4. Do each operation as it is done alone; by now it finds its lines in the cache.

use super::Table;
use super::core::Core;
use crate::error::Result;
use crate::index::{Hash, warm_away, warm_home, warm_item};

/// Keys of one wave: as many as the processor can fetch lines for at once, and some more.
const WAVE: usize = 32;

impl Core {
    /// The first waves: fetches what the keys of a batch will need, and gives their hashes.
    #[inline(always)]
    fn warm<'k>(&self, count: usize, key: impl Fn(usize) -> &'k [u8]) -> [Hash; WAVE] {
        let region = self.region();
        let mut hashes = [Hash {
            shard: 0,
            home: 0,
            tag: 0,
        }; WAVE];
        let mut segments = [None; WAVE];
        for i in 0..count {
            hashes[i] = Hash::of(region, key(i));
            segments[i] = warm_home(region, hashes[i]);
        }
        let mut elsewhere = 0u32;
        for i in 0..count {
            if let Some(segment) = segments[i] {
                elsewhere |= u32::from(warm_item(region, segment, hashes[i])) << i;
            }
        }
        while elsewhere != 0 {
            let i = elsewhere.trailing_zeros() as usize;
            elsewhere &= elsewhere - 1;
            if let Some(segment) = segments[i] {
                warm_away(region, segment, hashes[i]);
            }
        }
        hashes
    }
}

impl Table {
    /// Reads many keys: calls `found` once for each, in order, with its position and its value.
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
    /// Each key is read as by [`Table::get`], at a moment of its own.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        mut found: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let core = self.core()?;
        let mut value = Vec::new();
        for (wave, keys) in keys.chunks(WAVE).enumerate() {
            let hashes = core.warm(keys.len(), |i| keys[i].as_ref());
            for (i, (key, hash)) in keys.iter().zip(&hashes).enumerate() {
                let hit = core.get_hashed(key.as_ref(), *hash, &mut value)?;
                found(wave * WAVE + i, hit.then_some(&value[..]));
            }
        }
        Ok(())
    }

    /// Sets many keys, in order.
    ///
    /// # Errors
    /// As [`Table::set`]; the pairs before the one that failed are set.
    ///
    /// # Concurrency
    /// Each pair is set as by [`Table::set`]; others may see some of them before the rest.
    pub fn set_many<K: AsRef<[u8]>, V: AsRef<[u8]>>(&self, pairs: &[(K, V)]) -> Result<()> {
        let core = self.core()?;
        let me = core.writer()?;
        for pairs in pairs.chunks(WAVE) {
            let hashes = core.warm(pairs.len(), |i| pairs[i].0.as_ref());
            for ((key, value), hash) in pairs.iter().zip(&hashes) {
                core.set_hashed(me, key.as_ref(), *hash, value.as_ref())?;
            }
        }
        Ok(())
    }
}
