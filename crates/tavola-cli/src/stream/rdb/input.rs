//! Bytes of a snapshot, counted and summed up; lengths and strings.

use std::io::{BufRead, ErrorKind, Read};

use super::super::BadInput;

/// What is read, with the number of bytes so far and their checksum.
pub struct Input<R> {
    inner: R,
    at: u64,
    sum: u64,
    packed: Vec<u8>,
}

/// A length, or how a string without one is encoded.
enum Length {
    Bytes(u64),
    Encoded(u8),
}

const CUT: &str = "the file is cut short; make the snapshot again with SAVE";

/// The table of the checksum: CRC-64 with the polynomial of Jones, reflected.
const SUMS: [u64; 256] = sums();

const fn sums() -> [u64; 256] {
    const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u64, 0);
        while bit < 8 {
            sum = (sum >> 1) ^ (POLYNOMIAL * (sum & 1));
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

fn summed(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| {
        SUMS[usize::from(sum as u8 ^ byte)] ^ (sum >> 8)
    })
}

impl<R: BufRead> Input<R> {
    pub fn new(inner: R) -> Input<R> {
        Input {
            inner,
            at: 0,
            sum: 0,
            packed: Vec::new(),
        }
    }

    /// Returns the checksum of all bytes so far.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Makes an error at the place after the last byte that was read.
    pub fn bad(&self, why: &str) -> BadInput {
        BadInput::Document {
            why: format!("byte {}: {why}", self.at),
        }
    }

    fn note(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        self.sum = summed(self.sum, bytes);
    }

    pub fn exactly(&mut self, bytes: &mut [u8]) -> Result<(), BadInput> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.inner.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.note(&bytes[..filled]);
                    return Err(self.bad(CUT));
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.note(bytes);
        Ok(())
    }

    pub fn byte(&mut self) -> Result<u8, BadInput> {
        let mut byte = [0];
        self.exactly(&mut byte)?;
        Ok(byte[0])
    }

    pub fn u32(&mut self) -> Result<u32, BadInput> {
        let mut bytes = [0; 4];
        self.exactly(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn u64(&mut self) -> Result<u64, BadInput> {
        let mut bytes = [0; 8];
        self.exactly(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads so many bytes, in pieces: memory is taken for what is there.
    fn bytes(&mut self, count: u64, out: &mut Vec<u8>) -> Result<(), BadInput> {
        out.clear();
        out.shrink_to(1 << 20);
        let read = (&mut self.inner).take(count).read_to_end(out)?;
        self.note(out);
        match read as u64 == count {
            true => Ok(()),
            false => Err(self.bad(CUT)),
        }
    }

    /// Passes over so many bytes.
    pub fn skip(&mut self, mut count: u64) -> Result<(), BadInput> {
        while count > 0 {
            let there = match self.inner.fill_buf() {
                Ok(there) => there,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if there.is_empty() {
                return Err(self.bad(CUT));
            }
            let length = there
                .len()
                .min(usize::try_from(count).unwrap_or(usize::MAX));
            (self.sum, self.at) = (summed(self.sum, &there[..length]), self.at + length as u64);
            self.inner.consume(length);
            count -= length as u64;
        }
        Ok(())
    }

    pub fn is_at_end(&mut self) -> Result<bool, BadInput> {
        Ok(self.inner.fill_buf()?.is_empty())
    }

    fn any_length(&mut self) -> Result<Length, BadInput> {
        let first = self.byte()?;
        let low = u64::from(first & 63);
        Ok(match (first >> 6, first) {
            (0, _) => Length::Bytes(low),
            (1, _) => Length::Bytes(low << 8 | u64::from(self.byte()?)),
            (2, 0x80) => Length::Bytes(u64::from(self.u32()?.swap_bytes())),
            (2, 0x81) => Length::Bytes(self.u64()?.swap_bytes()),
            (3, _) => Length::Encoded(first & 63),
            _ => return Err(self.bad("not a length")),
        })
    }

    /// Reads a length or another number of that form.
    pub fn length(&mut self) -> Result<u64, BadInput> {
        match self.any_length()? {
            Length::Bytes(length) => Ok(length),
            Length::Encoded(_) => Err(self.bad("a string where a length is expected")),
        }
    }

    /// Reads a string.
    pub fn string(&mut self, out: &mut Vec<u8>) -> Result<(), BadInput> {
        let number = match self.any_length()? {
            Length::Bytes(length) => return self.bytes(length, out),
            Length::Encoded(0) => i64::from(self.byte()? as i8),
            Length::Encoded(1) => {
                let mut bytes = [0; 2];
                self.exactly(&mut bytes)?;
                i64::from(i16::from_le_bytes(bytes))
            }
            Length::Encoded(2) => i64::from(self.u32()? as i32),
            Length::Encoded(3) => return self.unpack(out),
            Length::Encoded(_) => return Err(self.bad("an unknown encoding of a string")),
        };
        out.clear();
        out.extend_from_slice(number.to_string().as_bytes());
        Ok(())
    }

    /// Passes over a string.
    pub fn skip_string(&mut self) -> Result<(), BadInput> {
        let length = match self.any_length()? {
            Length::Bytes(length) => length,
            Length::Encoded(kind @ 0..=2) => 1 << kind,
            Length::Encoded(3) => {
                let packed = self.length()?;
                self.length()?;
                packed
            }
            Length::Encoded(_) => return Err(self.bad("an unknown encoding of a string")),
        };
        self.skip(length)
    }

    /// Reads a compressed string.
    fn unpack(&mut self, out: &mut Vec<u8>) -> Result<(), BadInput> {
        let (packed, length) = (self.length()?, self.length()?);
        let mut bytes = std::mem::take(&mut self.packed);
        self.bytes(packed, &mut bytes)?;
        let is_whole = unpack(&bytes, length, out).is_some();
        self.packed = bytes;
        match is_whole {
            true => Ok(()),
            false => Err(self.bad("a compressed string that is damaged")),
        }
    }
}

/// Unpacks LZF: literals, and copies of what came before. Returns nothing if it is damaged or has
/// another length. A byte grows to at most 88, so the memory follows from what is there.
fn unpack(mut packed: &[u8], length: u64, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    while let Some((&head, rest)) = packed.split_first() {
        packed = rest;
        let count = usize::from(head >> 5);
        if count == 0 {
            let (literal, rest) = packed.split_at_checked(usize::from(head) + 1)?;
            out.extend_from_slice(literal);
            packed = rest;
        } else {
            let mut count = count + 2;
            if count == 9 {
                let (&more, rest) = packed.split_first()?;
                (count, packed) = (count + usize::from(more), rest);
            }
            let (&low, rest) = packed.split_first()?;
            packed = rest;
            let back = (usize::from(head & 31) << 8 | usize::from(low)) + 1;
            let from = out.len().checked_sub(back)?;
            // The copy may overlap with its source.
            for at in from..from + count {
                out.push(out[at]);
            }
        }
        if out.len() as u64 > length {
            return None;
        }
    }
    (out.len() as u64 == length).then_some(())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The file with its end and its checksum.
    pub fn sealed(file: &[u8]) -> Vec<u8> {
        let file = [file, &[super::super::code::END]].concat();
        let sum = summed(0, &file).to_le_bytes();
        [&file[..], &sum].concat()
    }

    #[test]
    fn the_checksum_is_that_of_redis() {
        // The check value of CRC-64/REDIS.
        assert_eq!(summed(0, b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }
}
