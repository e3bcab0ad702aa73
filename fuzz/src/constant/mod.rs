//! A constant file with changed bytes: it is refused, or each key and value that is read is where
//! the file has it. A second, plain reader of cdb files, over a slice of bytes, gives the same
//! answers to each search, scan and check of a place. Of frozen files each changed byte is noticed,
//! unless the checksums were made again, too.

mod frozen;
mod plain;

use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use plain::Plain;
use std::path::Path;
use std::sync::OnceLock;
use tavola_cdb::{Cdb, Constant, Format, Frozen, FrozenWriter, Put, Record, Writer};

/// Changes of one input.
const MOST_CHANGES: usize = 24;
/// Longer files are mapped, and not copied.
const MAPPED_BYTES: usize = 40 << 10;
/// Words that mean something in lengths and places.
const WORDS: [u64; 8] = [
    0,
    1,
    7,
    2048,
    1 << 31,
    u32::MAX as u64,
    1 << 62,
    u64::MAX - 7,
];

/// The file that is changed.
#[derive(Arbitrary, Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Cdb,
    Cdb64,
    Cdb64Long,
    Uniform,
    Varied,
    /// The rest of the input is the file.
    Raw,
}

/// How a file is made of the template.
#[derive(Arbitrary, Debug)]
struct Settings {
    kind: Kind,
    /// Zeros follow, so that the file is mapped.
    is_large: bool,
    /// The checksums of a frozen file are made again after the changes.
    is_sealed: bool,
}

#[derive(Arbitrary, Debug)]
enum Change {
    Flip {
        at: u16,
        bit: u8,
    },
    Byte {
        at: u16,
        byte: u8,
    },
    Half {
        at: u16,
        half: u32,
    },
    Word {
        at: u16,
        word: u8,
    },
    Number {
        at: u16,
        number: u64,
    },
    /// Eight bytes of another place: words that mean something, where they do not belong.
    From {
        at: u16,
        from: u16,
    },
    Shorten {
        bytes: u16,
    },
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let mut put = |at: u16, new: &[u8]| {
            let at = usize::from(at) % len.max(1);
            for (place, byte) in bytes.iter_mut().skip(at).zip(new) {
                *place = *byte;
            }
        };
        match *self {
            Change::Byte { at, byte } => put(at, &[byte]),
            Change::Half { at, half } => put(at & !3, &half.to_le_bytes()),
            Change::Number { at, number } => put(at & !7, &number.to_le_bytes()),
            Change::Word { at, word } => {
                let word = WORDS[usize::from(word) % WORDS.len()];
                put(at & !7, &word.to_le_bytes());
            }
            Change::Flip { at, bit } => {
                if let Some(byte) = bytes.get_mut(usize::from(at) % len.max(1)) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Change::From { at, from } => {
                let from = usize::from(from & !7) % len.max(1);
                let word = bytes.iter().skip(from).take(8).copied().collect::<Vec<_>>();
                let at = usize::from(at & !7) % len.max(1);
                for (place, byte) in bytes.iter_mut().skip(at).zip(word) {
                    *place = byte;
                }
            }
            Change::Shorten { bytes: by } => bytes.truncate(len.saturating_sub(by.into())),
        }
    }
}

/// The keys that are put into a template and looked for; of cdb files, every third one twice.
fn keys(kind: Kind) -> Vec<Vec<u8>> {
    let key = |number: usize| match (kind, number) {
        (Kind::Uniform, _) => (number as u64).to_le_bytes().to_vec(),
        (_, 5) => Vec::new(),
        (_, 6) => vec![b'k'; 300],
        _ => format!("key {number}").into_bytes(),
    };
    (0..40).map(key).collect()
}

fn value(kind: Kind, number: usize) -> Vec<u8> {
    match (kind, number) {
        (Kind::Uniform, _) => vec![number as u8; 8],
        (_, 7) => vec![7; 3000],
        _ => vec![number as u8; number * 3 % 70],
    }
}

/// The bytes of a file that no one has changed.
fn template(kind: Kind) -> &'static [u8] {
    static FILES: [OnceLock<Vec<u8>>; 5] = [const { OnceLock::new() }; 5];
    let make = |path: &Path| match kind {
        Kind::Cdb => write_cdb(path, Format::Cdb),
        Kind::Cdb64 => write_cdb(path, Format::Cdb64),
        Kind::Cdb64Long => write_cdb(path, Format::Cdb64Long),
        Kind::Uniform | Kind::Varied | Kind::Raw => write_frozen(path, kind),
    };
    let Some(file) = FILES.get(kind as usize) else {
        return &[];
    };
    file.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        make(&path).expect("a disk");
        std::fs::read(&path).expect("a file")
    })
}

fn write_cdb(path: &Path, format: Format) -> tavola_cdb::Result<()> {
    let mut writer = Writer::options().format(format).sync(false).create(path)?;
    for (number, key) in keys(Kind::Cdb).iter().enumerate() {
        writer.put(key, value(Kind::Cdb, number), Put::Add)?;
        if number % 3 == 0 {
            writer.put(key, value(Kind::Cdb, number + 1), Put::Add)?;
        }
    }
    writer.put("key 4", "zeros", Put::ReplaceZero)?;
    writer.finish().map(drop)
}

fn write_frozen(path: &Path, kind: Kind) -> tavola_cdb::Result<()> {
    let mut writer = FrozenWriter::create(path)?;
    for (number, key) in keys(kind).iter().enumerate() {
        writer.put(key, value(kind, number))?;
    }
    writer.finish().map(drop)
}

/// Changes a file as the input says, and reads it.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let settings = Settings::arbitrary(&mut source).unwrap_or(Settings {
        kind: Kind::Cdb,
        is_large: false,
        is_sealed: false,
    });
    let kind = settings.kind;
    let mut bytes = match kind {
        Kind::Raw => source.bytes(source.len()).unwrap_or_default().to_vec(),
        _ => template(kind).to_vec(),
    };
    for _ in 0..MOST_CHANGES {
        if source.is_empty() {
            break;
        }
        let Ok(change) = Change::arbitrary(&mut source) else {
            break;
        };
        change.apply(&mut bytes);
    }
    if settings.is_sealed {
        frozen::seal(&mut bytes);
    }
    let is_changed = bytes != template(kind);
    if settings.is_large {
        bytes.resize(bytes.len().max(MAPPED_BYTES), 0);
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("file");
    std::fs::write(&path, &bytes).expect("a new file");
    within_limit(|| {
        let Ok(file) = Constant::open(&path) else {
            assert!(is_changed, "the file of a writer is refused");
            return;
        };
        assert!(file.size_bytes() <= bytes.len() as u64);
        match &file {
            Constant::Cdb(cdb) => read_cdb(cdb, &bytes, kind),
            Constant::Frozen(open) => read_frozen(open, &bytes, &settings),
        }
        assert!(is_changed || file.check().is_ok(), "{:?}", file.check());
    });
}

/// Returns the record's place, key and value, which are in the file there.
fn taken(record: &Record<'_>, bytes: &[u8]) -> (u64, Vec<u8>, Vec<u8>) {
    let copy = |span: &tavola_cdb::Span<'_>| {
        let (at, len) = (span.position() as usize, span.len());
        let there = bytes.get(at..at.saturating_add(len));
        let there = there.unwrap_or_else(|| panic!("{len} bytes at {at} are outside"));
        let copy = span.to_vec().expect("nobody shortens the file");
        assert!(copy == there, "other bytes than there are at {at}");
        assert!(span.equals(&copy), "the bytes at {at} are not themselves");
        copy
    };
    (
        record.key.position(),
        copy(&record.key),
        copy(&record.value),
    )
}

fn read_cdb(cdb: &Cdb, bytes: &[u8], kind: Kind) {
    let plain = Plain::of(bytes, cdb.format());
    let mut keys = keys(kind);
    let mut scanned = Vec::new();
    for record in cdb.records() {
        let record = record.ok().map(|record| taken(&record, bytes));
        keys.extend(record.iter().take(1).map(|(_, key, _)| key.clone()));
        scanned.push(record);
    }
    assert_eq!(scanned, plain.records(), "a scan");
    for key in keys.iter().take(200) {
        let found = cdb.find(key);
        let found: Vec<_> = found
            .map(|record| record.ok().map(|record| taken(&record, bytes)))
            .collect();
        assert_eq!(found, plain.find(key), "{:?}", key.escape_ascii());
    }
    if let Ok(records) = cdb.check() {
        assert!(records <= cdb.len() && scanned.iter().all(Option::is_some));
    }
}

fn read_frozen(file: &Frozen, bytes: &[u8], settings: &Settings) {
    let whole = &bytes[..file.size_bytes() as usize];
    let is_template = template(settings.kind) == whole;
    let checked = file.check();
    if !is_template && !settings.is_sealed && settings.kind != Kind::Raw {
        assert!(checked.is_err(), "a changed byte was not noticed");
    }
    let mut keys = keys(settings.kind);
    let (mut count, mut is_whole, mut last_end) = (0, true, 0);
    for record in file.records() {
        match record {
            Ok(record) => {
                let (at, key, value) = taken(&record, bytes);
                assert!(last_end <= at, "a record begins inside the one before it");
                last_end = at + (key.len() + value.len()) as u64;
                keys.push(key);
                count += 1;
            }
            Err(_) => is_whole = false,
        }
    }
    assert!(checked.is_err() || is_whole, "a file without problems");
    assert!(checked.is_err() || checked.is_ok_and(|keys| keys == count));
    for key in keys.iter().take(200) {
        if let Ok(Some(record)) = file.find(key) {
            assert!(taken(&record, bytes).1 == *key, "another key was found");
        }
        let found = file.get(key).ok().flatten();
        let number = keys.iter().position(|one| one == key).unwrap_or_default();
        if is_template {
            assert_eq!(found, Some(value(settings.kind, number)), "{number}");
        }
    }
}
