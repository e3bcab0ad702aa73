//! Many keys at once, in waves: the cache misses of a batch overlap instead of following each
//! other.
//!
//! 1. Hash every key of the wave and have its bucket fetched.
//! 2. Match the tags and have the items fetched, or the other bucket where the home has no match.
//! 3. Match those, and have their items fetched.
//! 4. Do each operation as it is done alone; by now it finds its lines in the cache.

use super::Table;
use super::attributes::Attributes;
use super::core::Core;
use super::write::Beside;
use crate::error::Result;
use crate::index::Ahead;

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
            let ahead = core.warm(keys.len(), |i| keys[i].as_ref());
            for (i, (key, ahead)) in keys.iter().zip(&ahead).enumerate() {
                let hit = ahead.finish(core.region(), key.as_ref(), &mut value)?;
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
        self.set_many_with(pairs, Attributes::default())
    }

    /// As [`Table::set_many`]; all of them get these attributes.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    pub fn set_many_with<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        pairs: &[(K, V)],
        attributes: Attributes,
    ) -> Result<()> {
        let core = self.core()?;
        let me = core.writer()?;
        let stamping = core.stamping(attributes)?;
        let beside = Beside(Some(&stamping).filter(|given| !given.stamp.is_none()));
        for pairs in pairs.chunks(WAVE) {
            let ahead = core.warm(pairs.len(), |i| pairs[i].0.as_ref());
            for ((key, value), ahead) in pairs.iter().zip(&ahead) {
                let key = (key.as_ref(), ahead.hash);
                core.set_hashed(me, key, value.as_ref(), beside)?;
            }
        }
        Ok(())
    }
}
