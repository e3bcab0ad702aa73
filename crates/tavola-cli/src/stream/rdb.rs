//! A snapshot of Redis or Valkey (`dump.rdb`): its keys whose values are strings. It is only read.
//!
//! ```text
//! REDIS0011                                 the version of the format; Valkey: VALKEY080
//! [FA name value] ...                       what the server says of itself
//! [FE number] [FB keys expiring]            a database
//! [FC milliseconds] type key value          a key; its times and numbers are before it
//! FF checksum                               8 bytes, the lowest first; 0 if there is none
//! ```
//!
//! Keys that have expired are left out; so are those of other types and of other databases, which
//! the load reports. Every length is checked by what is there: no memory is taken for a promise. A
//! crate was considered (rdb 0.4.0), but it takes the memory that a compressed string promises, and
//! does not compare the checksum.
//!
//! - [`input`]: bytes, counted and summed up; lengths and strings
//! - [`skip`]: values of the types that are left out

mod input;
mod skip;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;
use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use self::input::Input;
use super::{BadInput, Batch, Beside, Source};

/// How a snapshot begins.
const REDIS: &[u8; 5] = b"REDIS";
const VALKEY: &[u8; 6] = b"VALKEY";
/// The versions of the format that are read: all that have a checksum.
const VERSIONS: [RangeInclusive<u32>; 2] = [5..=12, 80..=80];

/// What comes before a key, or in its place.
mod code {
    pub const SLOT: u8 = 244;
    pub const FUNCTION: u8 = 245;
    pub const MODULE_AUX: u8 = 247;
    pub const IDLE: u8 = 248;
    pub const FREQUENCY: u8 = 249;
    pub const AUX: u8 = 250;
    pub const RESIZE: u8 = 251;
    pub const EXPIRES_MS: u8 = 252;
    pub const EXPIRES_S: u8 = 253;
    pub const DATABASE: u8 = 254;
    pub const END: u8 = 255;
}

/// The type of a string.
const STRING: u8 = 0;

/// Returns whether these first bytes are those of a snapshot.
pub fn is_meant(first: &[u8]) -> bool {
    let is_version =
        |text: Option<&[u8]>| text.is_some_and(|text| text.iter().all(u8::is_ascii_digit));
    first.starts_with(REDIS) && is_version(first.get(5..9))
        || first.starts_with(VALKEY) && is_version(first.get(6..9))
}

/// Reads the strings of one database.
pub struct Reader<R> {
    input: Input<R>,
    /// The database that is loaded.
    wanted: u32,
    /// The database of the next key.
    database: u64,
    has_begun: bool,
    is_valkey: bool,
    is_ended: bool,
    now_ms: u64,
    key: Vec<u8>,
    value: Vec<u8>,
    /// How many keys of each type are left out.
    others: BTreeMap<&'static str, u64>,
    /// How many keys of other databases are.
    elsewhere: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads the keys of the database of that number.
    pub fn new(input: R, database: u32) -> Reader<R> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Reader {
            input: Input::new(input),
            wanted: database,
            database: 0,
            has_begun: false,
            is_valkey: false,
            is_ended: false,
            now_ms: now.map_or(0, |now| now.as_millis() as u64),
            key: Vec::new(),
            value: Vec::new(),
            others: BTreeMap::new(),
            elsewhere: 0,
        }
    }

    fn header(&mut self) -> Result<(), BadInput> {
        let mut head = [0; 9];
        self.input.exactly(&mut head)?;
        self.is_valkey = head.starts_with(VALKEY);
        let name = if self.is_valkey {
            VALKEY.len()
        } else {
            REDIS.len()
        };
        let version = std::str::from_utf8(&head[name..]).ok();
        let version: Option<u32> = version.and_then(|text| text.parse().ok());
        match version {
            _ if !is_meant(&head) => Err(self.input.bad("not a snapshot of Redis or Valkey")),
            Some(version) if VERSIONS[usize::from(self.is_valkey)].contains(&version) => Ok(()),
            _ => Err(self.input.bad(
                "a version of the format that this program does not know; have a server of Redis \
                7 load the file, and save it",
            )),
        }
    }

    /// Reads up to the next key, and returns its type and when it expires; nothing at the end.
    fn head_of_key(&mut self) -> Result<Option<(u8, Option<u64>)>, BadInput> {
        let mut expires = None;
        loop {
            match self.input.byte()? {
                code::DATABASE => self.database = self.input.length()?,
                code::RESIZE => self.skip_lengths(2)?,
                code::SLOT => self.skip_lengths(3)?,
                code::IDLE => self.skip_lengths(1)?,
                code::FREQUENCY => self.input.skip(1)?,
                code::EXPIRES_MS => expires = Some(self.input.u64()?),
                code::EXPIRES_S => expires = Some(u64::from(self.input.u32()?) * 1000),
                code::AUX => {
                    self.input.skip_string()?;
                    self.input.skip_string()?;
                }
                code::FUNCTION => self.input.skip_string()?,
                code::MODULE_AUX => {
                    self.skip_lengths(3)?;
                    self.input.skip_module()?;
                }
                code::END => return self.end().map(|()| None),
                kind => return Ok(Some((kind, expires))),
            }
        }
    }

    fn skip_lengths(&mut self, count: u32) -> Result<(), BadInput> {
        (0..count).try_for_each(|_| self.input.length().map(drop))
    }

    /// Compares the checksum at the end.
    fn end(&mut self) -> Result<(), BadInput> {
        self.is_ended = true;
        let counted = self.input.sum();
        let sum = self.input.u64()?;
        if sum != 0 && sum != counted {
            return Err(self
                .input
                .bad("the checksum does not fit, so the file is damaged"));
        }
        match self.input.is_at_end()? {
            true => Ok(()),
            false => Err(self
                .input
                .bad("bytes after the end of the snapshot; cut them off")),
        }
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        if !self.has_begun {
            self.header()?;
            self.has_begun = true;
        }
        while !self.is_ended {
            let Some((kind, expires)) = self.head_of_key()? else {
                break;
            };
            if self.database != u64::from(self.wanted) {
                self.input.skip_string()?;
                self.input.skip_value(kind, self.is_valkey)?;
                self.elsewhere += 1;
                continue;
            }
            if kind != STRING {
                self.input.skip_string()?;
                let name = self.input.skip_value(kind, self.is_valkey)?;
                *self.others.entry(name).or_default() += 1;
                continue;
            }
            self.input.string(&mut self.key)?;
            self.input.string(&mut self.value)?;
            if expires.is_none_or(|time| time > self.now_ms) {
                let beside = Beside {
                    expires,
                    ..Beside::default()
                };
                batch.push(&self.key, &self.value, beside);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn left_out(&self) -> Option<String> {
        let mut text = String::new();
        for (name, count) in &self.others {
            let comma = if text.is_empty() { "" } else { ", " };
            // A string takes all that is written to it.
            let _ = write!(text, "{comma}{count} of the type {name}");
        }
        if self.elsewhere > 0 {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(
                text,
                "{comma}{} of other databases than {} (--database N)",
                self.elsewhere, self.wanted
            );
        }
        (!text.is_empty()).then(|| format!("keys that were left out: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::super::{BadInput, Format, tsv};
    use super::input::tests::sealed;
    use super::*;

    /// A snapshot with this after its header.
    fn snapshot(body: &[u8]) -> Vec<u8> {
        sealed(&[b"REDIS0010", body].concat())
    }

    fn left_out(bytes: &[u8], database: u32) -> (usize, Option<String>) {
        let mut source = Format::Rdb.source(bytes, tsv::Columns::default(), database);
        let mut batch = Batch::default();
        while source.next(&mut batch).unwrap() {}
        (batch.len(), source.left_out())
    }

    #[test]
    fn strings_of_all_encodings_are_read() {
        let long = [&[0x40 | 1, 0x2c][..], &[b'x'; 300]].concat();
        let bodies: [(&[u8], Vec<u8>); 8] = [
            (b"\x05Hello", b"Hello".to_vec()),
            (b"\x00", Vec::new()),
            (b"\xc0\xf6", b"-10".to_vec()),
            (b"\xc1\x39\x30", b"12345".to_vec()),
            (b"\xc2\x15\xcd\x5b\x07", b"123456789".to_vec()),
            (b"\x80\0\0\0\x01a", b"a".to_vec()),
            // A literal of 1 byte, and 9 more bytes that are 1 byte back: 2 + 7.
            (b"\xc3\x05\x0a\x00a\xe0\x00\x00", b"aaaaaaaaaa".to_vec()),
            (&long, vec![b'x'; 300]),
        ];
        for (encoded, value) in bodies {
            let (entries, error) = read(
                Format::Rdb,
                &snapshot(&[b"\xfa\x03ver\x017\xfe\x00\xfb\x01\x00\x00\x01k", encoded].concat()),
            );
            assert!(error.is_none(), "{encoded:?}: {error:?}");
            assert_eq!(entries.len(), 1);
            assert_eq!((&entries[0].0[..], &entries[0].1), (&b"k"[..], &value));
        }
    }

    #[test]
    fn times_are_kept_and_what_has_expired_is_left_out() {
        let later = 4_795_000_000_000u64.to_le_bytes();
        let body = [
            &b"\xfc"[..],
            &later,
            b"\x00\x01a\x01x\xfc\x01\0\0\0\0\0\0\0\x00\x01b\x01x",
            b"\xfd\x01\0\0\0\x00\x01c\x01x\xf9\x07\xf8\x07\x00\x01d\x01x",
        ]
        .concat();
        let (entries, error) = read(Format::Rdb, &snapshot(&body));
        assert!(error.is_none(), "{error:?}");
        let keys: Vec<_> = entries.iter().map(|entry| &entry.0[..]).collect();
        assert_eq!(keys, [b"a", b"d"]);
        let time = UNIX_EPOCH + std::time::Duration::from_millis(4_795_000_000_000);
        assert_eq!(entries[0].2.expiry, tavola::Expiry::At(time));
        assert_eq!(entries[1].2.expiry, tavola::Expiry::Default);
    }

    #[test]
    fn other_types_and_databases_are_counted() {
        let body = b"\x00\x01a\x01x\x01\x01l\x02\x01x\x01y\x04\x01h\x01\x01f\x01v\x0b\x01i\x03abc\
            \xfe\x02\x00\x01b\x01y";
        let bytes = snapshot(body);
        assert_eq!(
            left_out(&bytes, 0),
            (
                1,
                Some(
                    "keys that were left out: 1 of the type hash, 1 of the type list, \
                    1 of the type set, 1 of other databases than 0 (--database N)"
                        .to_string()
                )
            )
        );
        assert_eq!(left_out(&bytes, 2).0, 1);
        assert_eq!(left_out(&snapshot(b"\x00\x01a\x01x"), 0), (1, None));
    }

    /// Type 22 is of Valkey alone: each field has a time behind it.
    #[test]
    fn a_snapshot_of_valkey_is_read() {
        let hash =
            b"\x16\x01h\x02\x01f\x01v\xff\xff\xff\xff\xff\xff\xff\xff\x01g\x01v\0\0\0\0\0\0\0\0";
        let body = [&b"\x00\x01a\x01x"[..], hash, b"\x00\x01b\x01y"].concat();
        let bytes = sealed(&[b"VALKEY080", &body[..]].concat());
        let rest = "keys that were left out: 1 of the type hash".to_string();
        assert_eq!(left_out(&bytes, 0), (2, Some(rest)));
        assert!(read(Format::Rdb, &snapshot(&body)).1.is_some());
    }

    #[test]
    fn a_file_cut_anywhere_is_noticed() {
        let bytes = snapshot(b"\xfe\x00\x00\x01a\xc3\x05\x0a\x00a\xe0\x00\x00\x01\x01l\x01\x01x");
        for length in 0..bytes.len() {
            let (_, error) = read(Format::Rdb, &bytes[..length]);
            let Some(BadInput::Document { why }) = error else {
                panic!("{length}: {error:?}")
            };
            assert!(
                why.starts_with(&format!("byte {length}:")),
                "{length}: {why}"
            );
        }
        assert!(read(Format::Rdb, &bytes).1.is_none());
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let bytes = snapshot(b"\x00\x01a\x05Hello");
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert!(read(Format::Rdb, &damaged).1.is_some(), "bit {at}");
        }
    }

    #[test]
    fn hostile_lengths_take_no_memory() {
        let bodies: [&[u8]; 7] = [
            b"\x00\x01a\x81\x7f\xff\xff\xff\xff\xff\xff\xffx",
            // Compressed: 5 bytes that promise 2^63 - 1.
            b"\x00\x01a\xc3\x05\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x00a\xe0\x00\x00",
            // More than is promised, and a place before the beginning.
            b"\x00\x01a\xc3\x05\x03\x00a\xe0\x00\x00",
            b"\x00\x01a\xc3\x03\x0a\xe0\x00\x07",
            b"\x01\x01a\x81\x7f\xff\xff\xff\xff\xff\xff\xff",
            b"\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x63\x01a\x01x",
        ];
        for body in bodies {
            let (entries, error) = read(Format::Rdb, &snapshot(body));
            assert!(entries.is_empty());
            assert!(
                matches!(error, Some(BadInput::Document { .. })),
                "{error:?}"
            );
        }
        for text in [
            &b"REDIS00a1"[..],
            b"REDIS0004\xff",
            b"REDIS0099\xff",
            b"VALKEY099\xff",
            b"REDIS",
        ] {
            assert!(read(Format::Rdb, text).1.is_some());
        }
    }
}
