//! Operations on many keys, in waves of 32: the cache misses of a wave overlap instead of following
//! each other.
//!
//! 1. Hash every key of the wave and prefetch its bucket.
//! 2. Compare the tags and prefetch the items; if the home has no match, prefetch the other bucket.
//! 3. Compare the tags there and prefetch those items.
//! 4. Do each operation as if it were alone; by now its lines are in the cache.
//!
//! Nothing that was prefetched is relied on: step 4 reads everything again.

use super::core::Core;
use super::request::{Metadata, WriteCondition, WriteRequest};
use crate::error::Result;
use crate::index::locate::{Ahead, NotesRead, Want};

/// Keys of one wave: somewhat more than the processor can fetch lines for at once.
pub(crate) const WAVE: usize = 32;

impl Core {
    /// Does steps 1 to 3 for the keys of one wave.
    #[inline(always)]
    pub(crate) fn warm<'k>(
        &self,
        count: usize,
        key: impl Fn(usize) -> &'k [u8],
    ) -> [Ahead<'_>; WAVE] {
        let region = self.region();
        let mut wave = [Ahead::NONE; WAVE];
        for (i, ahead) in wave[..count].iter_mut().enumerate() {
            *ahead = Ahead::begin(region, key(i));
        }
        let mut elsewhere = 0u32;
        for (i, ahead) in wave[..count].iter_mut().enumerate() {
            elsewhere |= u32::from(ahead.fetch_home(region)) << i;
        }
        while elsewhere != 0 {
            let i = elsewhere.trailing_zeros() as usize;
            elsewhere &= elsewhere - 1;
            wave[i].fetch_away(region);
        }
        wave
    }

    /// Calls `found` for each key, in order, with what `want` took from it, or `None` for a missing
    /// key.
    #[inline(always)]
    pub(crate) fn read_many<K: AsRef<[u8]>, W: Want>(
        &self,
        keys: &[K],
        mut want: W,
        mut found: impl FnMut(usize, Option<&W>),
    ) -> Result<()> {
        let is_counted = self.region().is_cache() && self.region().is_writable();
        for (wave, keys) in keys.chunks(WAVE).enumerate() {
            let ahead = self.warm(keys.len(), |i| keys[i].as_ref());
            for (i, (key, ahead)) in keys.iter().zip(&ahead).enumerate() {
                let hit = match is_counted {
                    true => self.finish_in_cache(ahead, key.as_ref(), &mut want)?,
                    false => ahead.finish(self.region(), key.as_ref(), &mut want, self)?,
                };
                found(wave * WAVE + i, hit.then_some(&want));
            }
        }
        Ok(())
    }

    /// Reads one key like [`Ahead::finish`], and counts the read; for a cache.
    #[inline(never)]
    fn finish_in_cache(&self, ahead: &Ahead<'_>, key: &[u8], want: &mut impl Want) -> Result<bool> {
        let mut noted = NotesRead::new(want);
        let found = ahead.finish(self.region(), key, &mut noted, self)?;
        self.count_read(ahead.hash, found, noted.word, noted.tag);
        Ok(found)
    }

    /// Sets each of `all`: `pair` returns its key and value, `metadata` what the key gets beside
    /// the value.
    #[inline(always)]
    pub(crate) fn set_many<'a, T>(
        &self,
        all: &'a [T],
        pair: impl Fn(&'a T) -> (&'a [u8], &'a [u8]),
        metadata: impl Fn(&T) -> Result<Metadata<'static>>,
    ) -> Result<()> {
        if self.region().is_journaled() && !self.is_in_batch() {
            return self.in_batch(|| self.set_many(all, pair, metadata));
        }
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
                    condition: WriteCondition::Always,
                    uid_policy: self.uid_policy,
                    metadata: Some(&metadata).filter(|given| !given.stamp.is_none()),
                };
                self.write(&request, value)?;
                self.count_set(me);
            }
        }
        Ok(())
    }
}
