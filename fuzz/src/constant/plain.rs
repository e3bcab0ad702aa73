//! A reader of cdb files from the description of the format: over a slice, so that a place outside
//! of the file cannot be read.

use tavola_cdb::{Format, hash};

/// The place of a key, the key and the value; `None` for an error, which ends a search.
pub(super) type Found = Vec<Option<(u64, Vec<u8>, Vec<u8>)>>;

pub(super) struct Plain<'a> {
    bytes: &'a [u8],
    format: Format,
    /// Bytes of a number.
    width: usize,
}

fn long_hash(key: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| hash.wrapping_mul(33) ^ u64::from(*byte);
    key.iter().fold(5381, step)
}

impl<'a> Plain<'a> {
    pub(super) fn of(bytes: &'a [u8], format: Format) -> Self {
        let width = match format {
            Format::Cdb => 4,
            Format::Cdb64 | Format::Cdb64Long => 8,
        };
        let plain = Self {
            bytes,
            format,
            width,
        };
        for (start, slots) in (0..256).map(|number| plain.table(number)) {
            let end = u128::from(start) + u128::from(slots) * 2 * width as u128;
            assert!(
                slots == 0 || end <= bytes.len() as u128,
                "a table is outside"
            );
        }
        plain
    }

    fn number(&self, at: u64) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(self.width)?)?;
        let mut number = [0; 8];
        number[..self.width].copy_from_slice(bytes);
        Some(u64::from_le_bytes(number))
    }

    fn pair(&self, at: u64) -> Option<(u64, u64)> {
        let first = self.number(at)?;
        Some((first, self.number(at.checked_add(self.width as u64)?)?))
    }

    /// Where a table begins, and its slots.
    fn table(&self, number: u64) -> (u64, u64) {
        let at = number * 2 * self.width as u64;
        self.pair(at).expect("a file that was opened has a head")
    }

    /// A record that ends before `end`.
    fn record(&self, at: u64, end: u64) -> Option<(u64, Vec<u8>, Vec<u8>)> {
        let (key_len, value_len) = self.pair(at)?;
        let key = at.checked_add(2 * self.width as u64)?;
        let value = key.checked_add(key_len)?;
        let after = value.checked_add(value_len).filter(|after| *after <= end)?;
        let slice = |from: u64, to: u64| self.bytes.get(from as usize..to as usize);
        Some((
            key,
            slice(key, value)?.to_vec(),
            slice(value, after)?.to_vec(),
        ))
    }

    pub(super) fn records(&self) -> Found {
        let mut at = 512 * self.width as u64;
        let tables = (0..256).map(|number| self.table(number));
        let starts = tables.filter(|table| table.1 > 0).map(|table| table.0);
        let end = starts.min().unwrap_or(at);
        let mut found = Found::new();
        while at < end {
            let record = self.record(at, end);
            at = match &record {
                Some((place, key, value)) => place + (key.len() + value.len()) as u64,
                None => end,
            };
            found.push(record);
        }
        found
    }

    pub(super) fn find(&self, key: &[u8]) -> Found {
        let (short, long) = (u64::from(hash(key)), long_hash(key));
        let hashes = match self.format {
            Format::Cdb => vec![short],
            _ if short == long => vec![short],
            Format::Cdb64 => vec![short, long],
            Format::Cdb64Long => vec![long, short],
        };
        let mut found = Found::new();
        for hash in hashes {
            let (start, slots) = self.table(hash % 256);
            for step in 0..slots {
                let slot = ((hash >> 8) % slots + step) % slots;
                let Some((other, place)) = self.pair(start + slot * 2 * self.width as u64) else {
                    found.push(None);
                    return found;
                };
                if place == 0 {
                    break;
                }
                if other != hash {
                    continue;
                }
                match self.record(place, self.bytes.len() as u64) {
                    Some(record) if record.1 == key => found.push(Some(record)),
                    Some(_) => {}
                    None => {
                        found.push(None);
                        return found;
                    }
                }
            }
        }
        found
    }
}
