//! Checksums of blocks: made while a file is written, compared when a block is read first.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rapidhash::v3::RapidSecrets;

use super::head::Head;
use super::{SUM_SEED, hash, secrets};
use crate::error::Result;
use crate::map::Map;
use crate::output::Output;

/// Appends bytes behind the head of a file, and has a sum of each block.
pub(crate) struct Summed {
    output: Output,
    block_bytes: usize,
    block: Vec<u8>,
    sums: Vec<u8>,
    secrets: RapidSecrets,
}

impl Summed {
    pub(crate) fn new(output: Output, block_bytes: u32) -> Summed {
        Summed {
            output,
            block_bytes: block_bytes as usize,
            block: Vec::with_capacity(block_bytes as usize),
            sums: Vec::new(),
            secrets: secrets(SUM_SEED),
        }
    }

    /// Returns where the next byte will be in the file.
    pub(crate) fn end(&self) -> u64 {
        self.output.end() + self.block.len() as u64
    }

    #[inline]
    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while self.block.len() + bytes.len() >= self.block_bytes {
            let (now, rest) = bytes.split_at(self.block_bytes - self.block.len());
            self.block.extend_from_slice(now);
            self.end_block()?;
            bytes = rest;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        let sum = hash(&self.block, &self.secrets);
        self.sums.extend(sum.to_le_bytes());
        self.output.append(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Writes the sums, and returns the file with the sum of them all.
    pub(crate) fn finish(mut self) -> Result<(Output, u64)> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.output.append(&self.sums)?;
        let whole = hash(&self.sums, &self.secrets);
        Ok((self.output, whole))
    }
}

/// Which blocks of an open file are as they were written, as far as they were read.
#[derive(Debug)]
pub(crate) struct Checked {
    block_shift: u32,
    sums_start: u64,
    /// A bit for each block that was compared.
    blocks: Box<[AtomicU64]>,
}

impl Checked {
    pub(crate) fn new(head: &Head) -> Checked {
        let words = head.blocks().div_ceil(64) as usize;
        Checked {
            block_shift: head.block_bytes.trailing_zeros(),
            sums_start: head.sums_start,
            blocks: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Compares the sum of all sums.
    pub(crate) fn check_sums(&self, map: &Map, head: &Head) -> Result<()> {
        let bytes = head.file_bytes - head.sums_start;
        let outside = || map.damaged("the sums are outside of the file", head.sums_start);
        let sums = map.span(head.sums_start, bytes).ok_or_else(outside)?;
        match hash(&sums.to_vec()?, &secrets(SUM_SEED)) == head.whole_sum {
            true => Ok(()),
            false => Err(map.damaged("the checksum of the sums is wrong", head.sums_start)),
        }
    }

    /// Compares the sums of the blocks that have these bytes, unless that was done before.
    #[inline]
    pub(crate) fn require(&self, map: &Map, at: u64, bytes: u64) -> Result<()> {
        let first = at.wrapping_sub(Head::BYTES as u64) >> self.block_shift;
        let last = at.wrapping_add(bytes).saturating_sub(1).max(at);
        let last = last.wrapping_sub(Head::BYTES as u64) >> self.block_shift;
        for block in first..=last {
            let word = self.blocks.get((block / 64) as usize);
            if word.is_none_or(|word| word.load(Relaxed) >> (block % 64) & 1 == 0) {
                self.compare(map, block)?;
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn compare(&self, map: &Map, block: u64) -> Result<()> {
        let start = Head::BYTES as u64 + (block << self.block_shift);
        if start >= self.sums_start {
            return Err(map.damaged("a place is outside of the file", start));
        }
        let bytes = (self.sums_start - start).min(1 << self.block_shift);
        let outside = || map.damaged("a block is outside of the file", start);
        let content = map.span(start, bytes).ok_or_else(outside)?.to_vec()?;
        let sum = map
            .u64_at(self.sums_start + 8 * block)
            .ok_or_else(outside)?;
        if hash(&content, &secrets(SUM_SEED)) != sum {
            return Err(map.damaged("the checksum of a block is wrong", start));
        }
        if let Some(word) = self.blocks.get((block / 64) as usize) {
            word.fetch_or(1 << (block % 64), Relaxed);
        }
        Ok(())
    }
}
