//! The formats of `dump` and `load`: entries on their way out of a table and into one.
//!
//! All of them but [`memcached`] carry any bytes, and [`rdb`] is only read:
//!
//! - [`jsonl`]: one JSON object per line, for other programs and for eyes;
//! - [`json`]: one JSON document, for programs that read no lines;
//! - [`csv`]: comma-separated values, for spreadsheets and databases;
//! - [`tsv`]: key and value between tabs, for `cut`, `awk` and `join`;
//! - [`folder`]: a file a key, in a folder;
//! - [`cdb`], [`mdb`], [`gdbm`], [`qdbm`], [`pgcopy`], [`memcached`], [`rdb`]: what other stores
//!   dump and load;
//! - [`binary`]: lengths and bytes with a count and a checksum at the end, for speed and safety.

pub mod binary;
pub mod cdb;
pub mod csv;
pub mod folder;
pub mod gdbm;
pub mod json;
pub mod jsonl;
pub mod mdb;
pub mod memcached;
pub mod pgcopy;
pub mod qdbm;
pub mod rdb;
pub mod tsv;

pub use tsv::letter_of;

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tavola::{Attributes, Expiry};

use crate::error::CliError;

/// A format of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Print one JSON object per line: {"key": ..., "value": ...}, base64 where it is not UTF-8
    Jsonl,
    /// One JSON document: a list of such objects; to load, also an object of keys and values
    Json,
    /// Comma-separated key and value with a header; no times, flags or tags
    Csv,
    /// Key, tab, value; tab, newline, return and backslash are written \t \n \r \\; no times,
    /// flags or tags
    Tsv,
    /// A stream of lengths and bytes that notices when it was cut short or damaged
    Binary,
    /// The text that cdb -d prints and cdb -c reads; no times, flags or tags
    Cdb,
    /// The text of mdb_dump and mdb_load (LMDB); to load, also that of db_dump (Berkeley DB); no
    /// times, flags or tags
    Mdb,
    /// The same as mdb_dump -p prints it: text, with \ and two digits for other bytes
    MdbPrint,
    /// Lines for mdb_load -T and db_load -T: a key, and its value in the next line
    MdbText,
    /// The text of db_dump and db_load (Berkeley DB); no times, flags or tags
    Bdb,
    /// The text of gdbm_dump and gdbm_load; to load, also its binary form; no times, flags or tags
    Gdbm,
    /// The text that dptsv export -bin prints and import -bin reads (QDBM); to load, also what
    /// dpmgr list -ox prints; no times, flags or tags
    Qdbm,
    /// The text of COPY (PostgreSQL); no times, flags or tags
    Pgcopy,
    /// The commands that memcached-tool dump prints; no tags
    Memcached,
    /// A snapshot of Redis or Valkey, as dump.rdb: its strings; only to load
    Rdb,
}

impl Format {
    /// The name of the format, as it is given to `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Binary => "binary",
            Format::Cdb => "cdb",
            Format::Mdb => "mdb",
            Format::MdbPrint => "mdb-print",
            Format::MdbText => "mdb-text",
            Format::Bdb => "bdb",
            Format::Gdbm => "gdbm",
            Format::Qdbm => "qdbm",
            Format::Pgcopy => "pgcopy",
            Format::Memcached => "memcached",
            Format::Rdb => "rdb",
        }
    }

    /// What the name of a file says of its format.
    pub fn of_name(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "json" => Some(Format::Json),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "tavola" => Some(Format::Binary),
            "rdb" => Some(Format::Rdb),
            _ => None,
        }
    }

    /// Returns a parser of the names of the formats that can be written.
    pub fn written() -> impl TypedValueParser<Value = Format> {
        let all = Format::value_variants().iter();
        let written = all.filter(|format| **format != Format::Rdb);
        let names = written.filter_map(ValueEnum::to_possible_value);
        let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
        parser.try_map(|name: String| Format::from_str(&name, false))
    }

    /// Something that writes this format.
    pub fn sink<'a>(self, out: impl Write + 'a) -> io::Result<Box<dyn Sink + 'a>> {
        Ok(match self {
            Format::Jsonl => Box::new(jsonl::Writer::new(out)),
            Format::Json => Box::new(json::Writer::new(out)?),
            Format::Csv => Box::new(csv::Writer::new(out)?),
            Format::Tsv => Box::new(tsv::Writer::new(out)),
            Format::Binary => Box::new(binary::Writer::new(out)?),
            Format::Cdb => Box::new(cdb::Writer::new(out)),
            Format::Mdb => Box::new(mdb::Writer::new(out, mdb::Form::Bytes)?),
            Format::MdbPrint => Box::new(mdb::Writer::new(out, mdb::Form::Print)?),
            Format::MdbText => Box::new(mdb::Writer::new(out, mdb::Form::Lines)?),
            Format::Bdb => Box::new(mdb::Writer::new(out, mdb::Form::BerkeleyDb)?),
            Format::Gdbm => Box::new(gdbm::Writer::new(out)?),
            Format::Qdbm => Box::new(qdbm::Writer::new(out)),
            Format::Pgcopy => Box::new(pgcopy::Writer::new(out)),
            Format::Memcached => Box::new(memcached::Writer::new(out)),
            Format::Rdb => return Err(io::Error::other("a snapshot of Redis is only read")),
        })
    }

    /// Something that reads this format; `columns` matters to TSV, CSV and COPY, `database` to
    /// snapshots of Redis.
    pub fn source<'a>(
        self,
        input: impl BufRead + 'a,
        columns: tsv::Columns,
        database: u32,
    ) -> Box<dyn Source + 'a> {
        match self {
            Format::Jsonl => Box::new(jsonl::Reader::new(input)),
            Format::Json => Box::new(json::Reader::new(input)),
            Format::Csv => Box::new(csv::Reader::new(input, columns)),
            Format::Tsv => Box::new(tsv::Reader::new(input, columns)),
            Format::Binary => Box::new(binary::Reader::new(input)),
            Format::Cdb => Box::new(cdb::Reader::new(input)),
            Format::Mdb | Format::MdbPrint | Format::Bdb => Box::new(mdb::Reader::new(input)),
            Format::MdbText => Box::new(mdb::Reader::of_lines(input)),
            Format::Gdbm => Box::new(gdbm::Reader::new(input)),
            Format::Qdbm => Box::new(qdbm::Reader::new(input)),
            Format::Pgcopy => Box::new(pgcopy::Reader::new(input, columns)),
            Format::Memcached => Box::new(memcached::Reader::new(input)),
            Format::Rdb => Box::new(rdb::Reader::new(input, database)),
        }
    }
}

/// What a key has beside its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// When it expires, in milliseconds since 1970, if the source says so.
    pub expires: Option<u64>,
    pub flags: u32,
    /// The names of its tags.
    pub tags: Vec<Vec<u8>>,
}

impl Beside {
    /// Of a key that was just read.
    pub fn of(attributes: Attributes, tags: Vec<Vec<u8>>) -> Beside {
        let expires = match attributes.expiry {
            Expiry::After(left) => SystemTime::now().checked_add(left),
            Expiry::At(time) => Some(time),
            Expiry::Never | Expiry::Default => None,
        };
        let since_1970 = expires.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Beside {
            expires: since_1970.and_then(|time| u64::try_from(time.as_millis()).ok()),
            flags: attributes.flags,
            tags,
        }
    }

    fn attributes(&self) -> Attributes {
        let time = self.expires.map(Duration::from_millis);
        let expiry = match time.map(|time| UNIX_EPOCH.checked_add(time)) {
            Some(Some(time)) => Expiry::At(time),
            Some(None) => Expiry::Never,
            None => Expiry::Default,
        };
        Attributes {
            expiry,
            flags: self.flags,
        }
    }
}

/// Takes entries one after the other and writes them out.
pub trait Sink {
    fn entry(&mut self, key: &[u8], value: &[u8], beside: &Beside) -> io::Result<()>;
    /// Writes what belongs at the end; without it the output is incomplete.
    fn finish(&mut self) -> io::Result<()>;
}

/// Gives entries one after the other.
pub trait Source {
    /// Adds the next entry to the batch; false at the end. After an error the batch holds what it
    /// held before.
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput>;

    /// Returns what was left out so far, or nothing if it was all taken.
    fn left_out(&self) -> Option<String> {
        None
    }
}

/// Why a source cannot continue.
#[derive(Debug)]
pub enum BadInput {
    Io(io::Error),
    Line {
        line: u64,
        why: String,
    },
    Stream {
        why: &'static str,
    },
    Document {
        why: String,
    },
    /// A file of a folder.
    File {
        path: PathBuf,
        source: io::Error,
    },
}

impl BadInput {
    /// The same, of a certain file.
    pub fn of(self, path: &Path) -> CliError {
        let path = path.to_path_buf();
        match self {
            BadInput::Io(source) => CliError::Read { path, source },
            BadInput::Line { line, why } => CliError::BadDump {
                path,
                line: Some(line),
                why,
            },
            BadInput::Stream { why } => CliError::BadDump {
                path,
                line: None,
                why: why.to_string(),
            },
            BadInput::Document { why } => CliError::BadDump {
                path,
                line: None,
                why,
            },
            BadInput::File { path, source } => CliError::Read { path, source },
        }
    }
}

impl From<io::Error> for BadInput {
    fn from(source: io::Error) -> BadInput {
        BadInput::Io(source)
    }
}

/// Entries gathered for one `set_many`, all bytes in one piece of memory.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Where each entry's key starts, its value starts, and its value ends.
    spans: Vec<([usize; 3], Beside)>,
}

/// A key and its value.
pub type Pair<'a> = (&'a [u8], &'a [u8]);

impl Batch {
    const ENTRIES: usize = 1024;
    const BYTES: usize = 1 << 20;

    pub fn push(&mut self, key: &[u8], value: &[u8], beside: Beside) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.spans
            .push(([start, start + key.len(), self.bytes.len()], beside));
    }

    /// Whether it is time to store what is here.
    pub fn is_full(&self) -> bool {
        self.spans.len() >= Self::ENTRIES || self.bytes.len() >= Self::BYTES
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// The entries, those together that follow each other with the same beside them; with the names
    /// of their tags.
    pub fn runs(&self) -> impl Iterator<Item = (Vec<Pair<'_>>, Attributes, &[Vec<u8>])> {
        let pair = |&([key, value, end], _): &([usize; 3], Beside)| {
            (&self.bytes[key..value], &self.bytes[value..end])
        };
        let runs = self.spans.chunk_by(|one, next| one.1 == next.1);
        runs.map(move |run| {
            let beside = &run[0].1;
            let pairs = run.iter().map(pair).collect();
            (pairs, beside.attributes(), &beside.tags[..])
        })
    }

    pub fn clear(&mut self) {
        self.spans.clear();
        self.bytes.clear();
        // One huge value must not hold its memory for the rest of the load.
        self.bytes.shrink_to(Self::BYTES * 4);
    }
}

/// Reads a line without its newline into `line`; false at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(true)
}

/// Reads so many bytes into `bytes`; false if there are fewer. Takes memory for what is there, not
/// for what a length promises.
fn read_exactly(input: &mut impl BufRead, count: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
    bytes.clear();
    bytes.shrink_to(1 << 20);
    let read = Read::take(input, count).read_to_end(bytes)?;
    Ok(read as u64 == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) type Entries = Vec<(Vec<u8>, Vec<u8>)>;
    type Read = Vec<(Vec<u8>, Vec<u8>, Attributes, Vec<Vec<u8>>)>;

    /// Entries that try every format: empty, separators, escapes, UTF-8 and none, all bytes.
    fn odd_entries() -> Entries {
        let all: Vec<u8> = (0..=255).collect();
        let texts: [(&[u8], &[u8]); 8] = [
            (b"", b""),
            (b"empty value", b""),
            (b"tab\tkey", b"line\nbreak\r\n"),
            (b"back\\slash", b"\\t is not a tab\\"),
            ("Grüße".as_bytes(), "🦀 \"quoted\"".as_bytes()),
            (b"\xff\xfe", b"\xc3\x28"),
            (b"\x00", b"\x00\x00"),
            (b"{\"key\":1}", b"\x89TAVOLA\n"),
        ];
        let mut entries: Vec<_> = texts
            .iter()
            .map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect();
        entries.push((all.clone(), all));
        entries
    }

    pub(super) fn written(format: Format, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sink = format.sink(&mut out).unwrap();
        for (key, value) in entries {
            sink.entry(key, value, &beside_of(key)).unwrap();
        }
        sink.finish().unwrap();
        drop(sink);
        out
    }

    pub(super) fn read(format: Format, bytes: &[u8]) -> (Read, Option<BadInput>) {
        read_with(format, bytes, tsv::Columns::default())
    }

    pub(super) fn read_with(
        format: Format,
        bytes: &[u8],
        columns: tsv::Columns,
    ) -> (Read, Option<BadInput>) {
        let mut batch = Batch::default();
        let mut source = format.source(bytes, columns, 0);
        let error = loop {
            match source.next(&mut batch) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error),
            }
        };
        let mut entries = Vec::new();
        for (pairs, attributes, tags) in batch.runs() {
            let owned =
                |(key, value): Pair<'_>| (key.to_vec(), value.to_vec(), attributes, tags.to_vec());
            entries.extend(pairs.into_iter().map(owned));
        }
        (entries, error)
    }

    /// What a key of these tests has, by its length.
    fn beside_of(key: &[u8]) -> Beside {
        Beside {
            expires: (key.len() % 2 == 1).then_some(4_795_000_000_000 + key.len() as u64),
            flags: key.len() as u32 % 3,
            tags: vec![key.to_vec(); key.len() % 4],
        }
    }

    #[test]
    fn every_format_carries_any_bytes() {
        let all = Format::value_variants().iter().copied();
        for format in all.filter(|format| !matches!(format, Format::Memcached | Format::Rdb)) {
            let bytes = written(format, &odd_entries());
            let (entries, error) = read(format, &bytes);
            assert!(error.is_none(), "{format:?}: {error:?}");
            let expected = odd_entries().into_iter().map(|(key, value)| {
                let beside = match format {
                    Format::Jsonl | Format::Json | Format::Binary => beside_of(&key),
                    _ => Beside::default(),
                };
                (key, value, beside.attributes(), beside.tags)
            });
            assert_eq!(entries, expected.collect::<Read>(), "{format:?}");
        }
    }

    #[test]
    fn text_formats_write_one_line_an_entry() {
        for format in [Format::Jsonl, Format::Tsv] {
            let bytes = written(format, &odd_entries());
            let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(lines, odd_entries().len(), "{format:?}");
        }
    }

    #[test]
    fn the_name_of_a_file_shows_its_format() {
        assert_eq!(Format::of_name(Path::new("a/b.tsv")), Some(Format::Tsv));
        assert_eq!(Format::of_name(Path::new("b.jsonl")), Some(Format::Jsonl));
        assert_eq!(Format::of_name(Path::new("b.tavola")), Some(Format::Binary));
        assert_eq!(Format::of_name(Path::new("b.csv")), Some(Format::Csv));
        assert_eq!(Format::of_name(Path::new("b.json")), Some(Format::Json));
        assert_eq!(Format::of_name(Path::new("dump.rdb")), Some(Format::Rdb));
        assert_eq!(Format::of_name(Path::new("b.txt")), None);
        assert_eq!(Format::of_name(Path::new("-")), None);
    }

    #[test]
    fn a_batch_is_full_by_entries_or_by_bytes() {
        let mut batch = Batch::default();
        for _ in 0..Batch::ENTRIES {
            assert!(!batch.is_full());
            batch.push(b"k", b"v", Beside::default());
        }
        assert!(batch.is_full());
        batch.clear();
        assert_eq!(batch.len(), 0);
        batch.push(b"k", &vec![0; Batch::BYTES], Beside::default());
        assert!(batch.is_full());
    }
}
