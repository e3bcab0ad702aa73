//! GETs that arrived together. Their keys are read in waves, so that their cache misses overlap.

use tavola::Result;
use tavola_proto::resp::answer::{self, Version};

use super::work::Work;
use crate::net::Output;

/// The most keys that are read together, which is as many as the table does.
const WAVE: usize = 32;
/// After a wave with more bytes of replies, the next has as many keys as fit into these.
const LARGE_WAVE_BYTES: usize = 256 * 1024;
/// The bytes of the head and the end of a string.
const HEAD_BYTES: usize = 32;

/// The keys that wait to be read.
pub(super) struct Gets<'a> {
    keys: [&'a [u8]; WAVE],
    count: usize,
    version: Version,
}

/// How many keys are read together.
#[derive(Debug)]
pub(super) struct WaveSize(usize);

impl Default for WaveSize {
    fn default() -> Self {
        Self(1)
    }
}

impl WaveSize {
    /// Sets the size of the next wave, after one of `count` keys. If values are large, a client
    /// that reads no replies holds few of them.
    fn fit(&mut self, count: usize, reply_bytes: usize) {
        self.0 = match reply_bytes {
            0..=LARGE_WAVE_BYTES => (self.0 * 2).min(WAVE),
            _ => (count * LARGE_WAVE_BYTES / reply_bytes).clamp(1, self.0),
        };
    }
}

impl<'a> Gets<'a> {
    pub(super) fn new(version: Version) -> Self {
        Self {
            keys: [&[]; WAVE],
            count: 0,
            version,
        }
    }

    /// Changes the version of the replies. No keys wait.
    pub(super) fn set_version(&mut self, version: Version) {
        debug_assert_eq!(self.count, 0);
        self.version = version;
    }

    /// Adds a key, and reads those that fill a wave.
    ///
    /// # Errors
    /// Those of the table. The replies of some keys may be written.
    pub(super) fn push(
        &mut self,
        key: &'a [u8],
        work: &mut Work,
        size: &mut WaveSize,
        output: &mut Output,
    ) -> Result<()> {
        self.keys[self.count] = key;
        self.count += 1;
        match self.count >= size.0 {
            true => self.read(work, size, output),
            false => Ok(()),
        }
    }

    /// Reads the keys and writes the replies.
    ///
    /// # Errors
    /// As [`Gets::push`].
    pub(super) fn read(
        &mut self,
        work: &mut Work,
        size: &mut WaveSize,
        output: &mut Output,
    ) -> Result<()> {
        let (count, before) = (std::mem::take(&mut self.count), output.len());
        let version = self.version;
        match &self.keys[..count] {
            [] => return Ok(()),
            [key] => {
                let mut value = work.borrow_value();
                let found = work.table().get_into(key, &mut value);
                if let Ok(has_found) = found {
                    write(work, output, has_found.then_some(&value), version);
                }
                work.give_back(value);
                found?;
            }
            keys => work
                .table()
                .get_many(keys, |_, value| write(work, output, value, version))?,
        }
        size.fit(count, output.len() - before);
        Ok(())
    }
}

fn write(work: &Work, output: &mut Output, value: Option<&[u8]>, version: Version) {
    work.count_read(value.is_some());
    let out = output.room(HEAD_BYTES + value.map_or(0, <[u8]>::len));
    match value {
        Some(value) => answer::bulk(out, value),
        None => answer::null(out, version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_of_large_values_is_followed_by_a_smaller_one() {
        let mut size = WaveSize::default();
        for expected in [2, 4, 8, 16, WAVE, WAVE] {
            size.fit(1, 10);
            assert_eq!(size.0, expected);
        }
        size.fit(WAVE, 4 * LARGE_WAVE_BYTES);
        assert_eq!(size.0, WAVE / 4);
        size.fit(8, 1 << 30);
        assert_eq!(size.0, 1);
    }
}
