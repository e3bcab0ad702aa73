//! The records of one group.

use super::head::{Head, UNIFORM};
use super::sums::Checked;
use super::{VARINT_BYTES, tag_of};
use crate::cdb::reader::Record;
use crate::error::Result;
use crate::map::Map;

/// What is needed to read groups: the file, its head, and which blocks were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) map: &'a Map,
    pub(crate) head: &'a Head,
    pub(crate) checked: &'a Checked,
}

/// A group: where it is, and where its records are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    source: Source<'a>,
    /// Where the group ends.
    end: u64,
    count: u64,
    tags: u64,
    /// Where the lengths of the next record are, if they differ.
    lengths: u64,
    /// Where the next record begins.
    record: u64,
    /// The number of the next record.
    next: u64,
}

impl<'a> Group<'a> {
    /// Reads the beginning of a group.
    #[inline]
    pub(crate) fn new(source: Source<'a>, start: u64, end: u64) -> Result<Group<'a>> {
        let mut group = Group {
            source,
            end,
            count: 0,
            tags: start,
            lengths: end,
            record: end,
            next: 0,
        };
        if start == end {
            return Ok(group);
        }
        if source.head.kind == UNIFORM {
            group.count = (end - start) / (1 + source.head.key_bytes + source.head.value_bytes);
            source.checked.require(source.map, start, group.count)?;
            group.record = start + group.count;
            return Ok(group);
        }
        let mut at = start;
        group.count = group.varint(&mut at)?;
        group.tags = at;
        group.lengths = at
            .checked_add(group.count)
            .filter(|at| *at <= end)
            .ok_or_else(|| {
                source
                    .map
                    .damaged("a group has more tags than bytes", start)
            })?;
        source.checked.require(source.map, at, group.count)?;
        let mut at = group.lengths;
        for _ in 0..group.count {
            group.varint(&mut at)?;
            group.varint(&mut at)?;
        }
        group.record = at;
        Ok(group)
    }

    /// Reads a varint, and moves the place behind it.
    #[inline]
    fn varint(&self, at: &mut u64) -> Result<u64> {
        let Source { map, checked, .. } = self.source;
        let start = *at;
        checked.require(map, start, 1)?;
        let mut number = 0u64;
        for index in 0..VARINT_BYTES {
            if *at >= self.end {
                break;
            }
            if index == 1 {
                checked.require(map, start, (self.end - start).min(VARINT_BYTES as u64))?;
            }
            let Some(byte) = map.byte_at(*at) else { break };
            *at += 1;
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(map.damaged("a length does not end inside its group", start))
    }

    /// Returns the next record, without a check of the blocks that have it.
    #[inline]
    fn step(&mut self) -> Result<(u64, u64, u64)> {
        let head = self.source.head;
        let (key, value) = match head.kind {
            UNIFORM => (head.key_bytes, head.value_bytes),
            _ => {
                let mut at = self.lengths;
                let key = self.varint(&mut at)?;
                let value = self.varint(&mut at)?;
                self.lengths = at;
                (key, value)
            }
        };
        let at = self.record;
        let end = at.checked_add(key).and_then(|end| end.checked_add(value));
        self.record = end.filter(|end| *end <= self.end).ok_or_else(|| {
            self.source
                .map
                .damaged("a record does not end inside its group", at)
        })?;
        self.next += 1;
        Ok((at, key, value))
    }

    /// Returns a record whose blocks were checked.
    #[inline]
    fn record(&self, at: u64, key: u64, value: u64) -> Result<Record<'a>> {
        let Source { map, checked, .. } = self.source;
        checked.require(map, at, key + value)?;
        let both = map.span(at, key + value);
        let both = both.ok_or_else(|| map.damaged("a record is outside of the file", at))?;
        let (key, value) = both.split_at(key);
        Ok(Record { key, value })
    }

    /// Returns where the records begin, and how many there are.
    #[inline]
    pub(crate) fn records(&self) -> (u64, u64) {
        (self.record, self.count)
    }

    /// Returns the next record, or `None` behind the last one.
    #[inline]
    pub(crate) fn next_record(&mut self) -> Result<Option<Record<'a>>> {
        if self.next >= self.count {
            return Ok(None);
        }
        let (at, key, value) = self.step()?;
        self.record(at, key, value).map(Some)
    }

    /// Finds a key. Goes through the tags, 16 at once: almost every group has no more.
    ///
    /// The place of the tag decides no branch: it is known only when the group has come from
    /// memory, and a branch that is predicted wrongly would wait for that, and with it the reads of
    /// the keys after this one.
    #[inline]
    pub(crate) fn find(mut self, key: &[u8], hash: u64) -> Result<Option<Record<'a>>> {
        let map = self.source.map;
        let wanted = u64::from_le_bytes([tag_of(hash); 8]);
        let mut first = 0;
        while first < self.count {
            let at = self.tags + first;
            // There are bytes behind the tags: at least the index and the sums.
            let Some((low, high)) = map.u64_at(at).zip(map.u64_at(at + 8)) else {
                break;
            };
            let equal = zero_bytes(low ^ wanted) as u128;
            let mut equal = equal | (zero_bytes(high ^ wanted) as u128) << 64;
            let bits = 8 * (self.count - first).min(16) as u32;
            equal &= u128::MAX.checked_shr(128 - bits).unwrap_or(0);
            while equal != 0 {
                let number = first + u64::from(equal.trailing_zeros() / 8);
                if let Some(record) = self.compare(number, key)? {
                    return Ok(Some(record));
                }
                equal &= equal - 1;
            }
            first += 16;
        }
        Ok(None)
    }

    /// Returns a record if it has the key. Numbers must rise.
    #[inline]
    fn compare(&mut self, number: u64, key: &[u8]) -> Result<Option<Record<'a>>> {
        let head = self.source.head;
        if head.kind == UNIFORM {
            if key.len() as u64 != head.key_bytes {
                return Ok(None);
            }
            let stride = head.key_bytes + head.value_bytes;
            let at = self.record + number * stride;
            let record = self.record(at, head.key_bytes, head.value_bytes)?;
            return Ok(record.key.equals(key).then_some(record));
        }
        while self.next < number {
            self.step()?;
        }
        let (at, key_bytes, value_bytes) = self.step()?;
        if key_bytes != key.len() as u64 {
            return Ok(None);
        }
        let record = self.record(at, key_bytes, value_bytes)?;
        Ok(record.key.equals(key).then_some(record))
    }
}

/// Returns the highest bit of each byte that is 0.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_zero_are_found_and_no_others() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let mut bytes = [1, 0x80, 0xff, 2, 0x7f, 3, 0x81, 4];
                bytes[place] = byte;
                let expected = if byte == 0 { 0x80 << (8 * place) } else { 0 };
                assert_eq!(zero_bytes(u64::from_le_bytes(bytes)), expected);
            }
        }
    }
}
