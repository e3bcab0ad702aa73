//! The binary stream: the fastest format, and the one that notices damage.
//!
//! ```text
//! header    8 bytes  89 54 41 56 4F 4C 41 0A  (0x89, "TAVOLA", newline)
//!           u32      version of this format, 2
//! entry     u32      length of the key          any number of entries
//!           u32      length of the value
//!           u64      when it expires, ms since 1970; 0: nothing is said of it
//!           u32      flags
//!           u32      number of tags, 16 at most
//!           u32 ...  length of the name of each, 4096 at most
//!           bytes    the key, then the value, then the names
//! trailer   u32 u32  FF FF FF FF FF FF FF FF
//!           u64      number of entries
//!           u32      CRC-32 (IEEE) of all bytes from the header up to here
//! ```
//!
//! Numbers are little-endian. A key and its value together have at most 2^32 - 1 bytes, so no
//! entry can look like the trailer. Nothing may follow the trailer. A reader hands out entries as
//! they come; only the trailer says that they were all of them, and right.

use std::io::{self, BufRead, Write};

use crc32fast::Hasher;

use super::{BadInput, Batch, Beside, Sink, Source, read_exactly};

/// How every binary stream begins; no text does.
pub const MAGIC: [u8; 8] = *b"\x89TAVOLA\n";
const VERSION: u32 = 2;
/// Bounds of what a reader takes memory for.
const MOST_TAGS: u32 = 16;
const LONGEST_TAG: u32 = 4096;
const END: [u8; 8] = [0xff; 8];

const NONE: BadInput = BadInput::Stream {
    why: "this is no binary dump; if it is text, say which with --format",
};
const NEWER: BadInput = BadInput::Stream {
    why: "this dump is of a newer format; load it with a newer tavola",
};
const OLDER: BadInput = BadInput::Stream {
    why: "this dump is of an older format; make it again with this tavola",
};
const CUT: BadInput = BadInput::Stream {
    why: "this dump is cut short; fetch or make it again",
};
const DAMAGED: BadInput = BadInput::Stream {
    why: "this dump is damaged; fetch or make it again",
};

/// Writes the stream.
pub struct Writer<W> {
    out: W,
    crc: Hasher,
    count: u64,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out,
            crc: Hasher::new(),
            count: 0,
        };
        writer.put(&MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.out.write_all(bytes)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], beside: &Beside) -> io::Result<()> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
        let (key_bytes, value_bytes) = (length(key)?, length(value)?);
        self.count += 1;
        self.put(&key_bytes.to_le_bytes())?;
        self.put(&value_bytes.to_le_bytes())?;
        self.put(&beside.expires.unwrap_or(0).to_le_bytes())?;
        self.put(&beside.flags.to_le_bytes())?;
        self.put(&(beside.tags.len() as u32).to_le_bytes())?;
        for tag in &beside.tags {
            self.put(&length(tag)?.to_le_bytes())?;
        }
        self.put(key)?;
        self.put(value)?;
        beside.tags.iter().try_for_each(|tag| self.put(tag))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.put(&END)?;
        self.put(&self.count.to_le_bytes())?;
        let crc = self.crc.clone().finalize();
        self.out.write_all(&crc.to_le_bytes())?;
        self.out.flush()
    }
}

/// Reads the stream.
pub struct Reader<R> {
    input: R,
    crc: Hasher,
    count: u64,
    begun: bool,
    /// Key and value of the entry at hand.
    entry: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            crc: Hasher::new(),
            count: 0,
            begun: false,
            entry: Vec::new(),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], BadInput> {
        let mut bytes = [0; N];
        self.input
            .read_exact(&mut bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => CUT,
                _ => BadInput::Io(error),
            })?;
        Ok(bytes)
    }

    fn take_summed<const N: usize>(&mut self) -> Result<[u8; N], BadInput> {
        let bytes = self.take()?;
        self.crc.update(&bytes);
        Ok(bytes)
    }

    fn header(&mut self) -> Result<(), BadInput> {
        let magic: [u8; 8] = self.take_summed()?;
        if magic != MAGIC {
            return Err(NONE);
        }
        match u32::from_le_bytes(self.take_summed()?) {
            VERSION => Ok(()),
            ..VERSION => Err(OLDER),
            _ => Err(NEWER),
        }
    }

    fn trailer(&mut self) -> Result<(), BadInput> {
        let count = u64::from_le_bytes(self.take_summed()?);
        let expected = self.crc.clone().finalize();
        let crc = u32::from_le_bytes(self.take()?);
        let at_end = self.input.fill_buf()?.is_empty();
        if count == self.count && crc == expected && at_end {
            Ok(())
        } else {
            Err(DAMAGED)
        }
    }

    fn tag_lengths(&mut self) -> Result<Vec<usize>, BadInput> {
        let count = u32::from_le_bytes(self.take_summed()?);
        if count > MOST_TAGS {
            return Err(DAMAGED);
        }
        let length = |_| match u32::from_le_bytes(self.take_summed()?) {
            length @ 0..=LONGEST_TAG => Ok(length as usize),
            _ => Err(DAMAGED),
        };
        (0..count).map(length).collect()
    }

    fn body(&mut self, bytes: u64) -> Result<(), BadInput> {
        if !read_exactly(&mut self.input, bytes, &mut self.entry)? {
            return Err(CUT);
        }
        self.crc.update(&self.entry);
        Ok(())
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        if !self.begun {
            self.header()?;
            self.begun = true;
        }
        let lengths: [u8; 8] = self.take_summed()?;
        if lengths == END {
            return self.trailer().map(|()| false);
        }
        let [key_bytes, value_bytes] = split(lengths);
        let bytes = u64::from(key_bytes) + u64::from(value_bytes);
        if bytes > u64::from(u32::MAX) {
            return Err(DAMAGED);
        }
        let expires = u64::from_le_bytes(self.take_summed()?);
        let beside = Beside {
            expires: (expires != 0).then_some(expires),
            flags: u32::from_le_bytes(self.take_summed()?),
            tags: Vec::new(),
        };
        let tags = self.tag_lengths()?;
        let of_tags: u64 = tags.iter().map(|len| *len as u64).sum();
        self.body(bytes + of_tags)?;
        let (entry, mut names) = self.entry.split_at(bytes as usize);
        let (key, value) = entry.split_at(key_bytes as usize);
        let mut beside = beside;
        for len in tags {
            let (name, rest) = names.split_at(len);
            beside.tags.push(name.to_vec());
            names = rest;
        }
        batch.push(key, value, beside);
        self.count += 1;
        Ok(true)
    }
}

fn split(lengths: [u8; 8]) -> [u32; 2] {
    let both = u64::from_le_bytes(lengths);
    [both as u32, (both >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, written};
    use super::super::{BadInput, Format};

    fn sample() -> Vec<u8> {
        let entries = [(b"alice".to_vec(), b"1".to_vec()), (Vec::new(), Vec::new())];
        written(Format::Binary, &entries)
    }

    #[test]
    fn the_stream_is_as_documented() {
        let stream = sample();
        assert_eq!(&stream[..12], b"\x89TAVOLA\n\x02\0\0\0");
        assert_eq!(&stream[12..20], b"\x05\0\0\0\x01\0\0\0");
        assert_eq!(&stream[20..28], &4_795_000_000_005u64.to_le_bytes());
        assert_eq!(&stream[28..36], b"\x02\0\0\0\x01\0\0\0");
        assert_eq!(&stream[36..51], b"\x05\0\0\0alice1alice");
        assert_eq!(&stream[51..75], &[0; 24]);
        assert_eq!(
            &stream[75..91],
            b"\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0"
        );
        assert_eq!(&stream[91..], &crc32fast::hash(&stream[..91]).to_le_bytes());
    }

    #[test]
    fn a_stream_cut_anywhere_is_noticed_and_whole_entries_are_kept() {
        let stream = sample();
        for length in 0..stream.len() {
            let (entries, error) = read(Format::Binary, &stream[..length]);
            assert!(
                matches!(error, Some(BadInput::Stream { .. })),
                "{length}: {error:?}"
            );
            assert_eq!(
                entries.len(),
                usize::from(length >= 51) + usize::from(length >= 75)
            );
        }
        assert!(read(Format::Binary, &stream).1.is_none());
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed() {
        let stream = sample();
        for at in 0..stream.len() {
            for bit in 0..8 {
                let mut flipped = stream.clone();
                flipped[at] ^= 1 << bit;
                let (_, error) = read(Format::Binary, &flipped);
                assert!(
                    matches!(error, Some(BadInput::Stream { .. })),
                    "byte {at}, bit {bit}"
                );
            }
        }
    }

    #[test]
    fn what_follows_the_trailer_is_an_error() {
        let mut stream = sample();
        stream.push(0);
        assert!(read(Format::Binary, &stream).1.is_some());
    }
}
