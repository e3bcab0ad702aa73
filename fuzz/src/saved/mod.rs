//! A saved file with changed bytes or records: it is refused before a key is set, or each of its
//! keys is set or counted, and the table is whole, and can be saved and restored again.

mod records;

use crate::watch::within_limit;
use arbitrary::{Arbitrary, Result, Unstructured};
use records::File;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tavola::{Attributes, Error, Expiry, Options, Restored, Table};

const MOST_CHANGES: usize = 12;
/// Bytes that a changed file may have at most.
const LONGEST: usize = 1 << 20;
/// The words of a record that are numbers of the format: lengths, positions, a version.
const WORDS: [u64; 8] = [0, 1, 7, 64, 1 << 31, u32::MAX as u64, 1 << 62, u64::MAX];

type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

/// The table into which a file is restored.
#[derive(Arbitrary, Clone, Copy, PartialEq, Eq, Debug)]
enum Into {
    Plain,
    Versions,
    Full,
    Cache,
    Fixed,
}

impl Into {
    fn options(self) -> Options {
        let options = Table::options().max_size(4 << 20).shards(1);
        match self {
            Self::Plain => options,
            Self::Versions => options.versions(true),
            Self::Full => options.max_size(1 << 20),
            Self::Cache => options.capacity(256 << 10),
            Self::Fixed => options.fixed(4, 50),
        }
    }
}

/// A file of a cache with versions, whose keys have all that keys can have; for a table of fixed
/// lengths, one of such a table.
fn template(into: Into) -> &'static File {
    static FILES: [OnceLock<File>; 2] = [const { OnceLock::new() }; 2];
    let is_fixed = into == Into::Fixed;
    FILES[usize::from(is_fixed)].get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let options = match is_fixed {
            true => Into::Fixed.options(),
            false => Into::Cache.options().capacity(3 << 20).versions(true),
        };
        let table = options.private().expect("memory");
        for number in 0..20_u32 {
            table.set(number.to_le_bytes(), vec![1; 50]).expect("room");
        }
        if !is_fixed {
            fill(&table).expect("room");
        }
        let path = dir.path().join("saved");
        table.save(&path).expect("a disk");
        let bytes = std::fs::read(&path).expect("a file");
        let file = File::of(&bytes);
        assert!(file.sealed() == bytes, "the format is not as described");
        file
    })
}

fn fill(table: &Table) -> tavola::Result<()> {
    let soon = Attributes {
        expiry: Expiry::After(Duration::from_secs(100_000)),
        flags: 3,
    };
    for number in 0..4_u32 {
        table.set_with(format!("soon {number}"), vec![1; 9], soon)?;
        table.get(number.to_le_bytes())?;
    }
    table.set(b"large", vec![2; 80_000])?;
    table.set(vec![b'k'; 300], b"long")?;
    let tags = table.fetch_tags(&["tag", "other"])?;
    table.set_tagged(b"tagged", b"1", soon, &tags)?;
    table.incr(b"count", 5).map(drop)
}

/// A change of the file's records, before it is sealed.
#[derive(Arbitrary, Debug)]
enum Edit {
    Flip { at: u16, bit: u8 },
    Word { at: u16, word: u8 },
    Number { at: u16, number: u64 },
    Changes { count: u32 },
    Kind { kind: u8 },
    Shorten { len: u16 },
    Bytes { bytes: Vec<u8> },
    Remove,
    Repeat,
    Swap { with: u8 },
    Head { at: u8, number: u64 },
}

fn edit(file: &mut File, source: &mut Unstructured<'_>) -> Result<()> {
    let (at, edit) = <(u8, Edit)>::arbitrary(source)?;
    let count = file.records.len();
    if let Edit::Head { at, number } = edit {
        file.head[usize::from(at) % 4] = number;
        return Ok(());
    }
    if count == 0 {
        return Ok(());
    }
    let at = usize::from(at) % count;
    let record = &mut file.records[at];
    let len = record.body.len();
    let mut put = |at: u16, word: u64| {
        let at = usize::from(at) % (len / 8).max(1) * 8;
        if let Some(place) = record.body.get_mut(at..at + 8) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    };
    match edit {
        Edit::Flip { at, bit } if len > 0 => {
            record.body[usize::from(at) % len] ^= 1 << (bit % 8);
        }
        Edit::Word { at, word } => put(at, WORDS[usize::from(word) % WORDS.len()]),
        Edit::Number { at, number } => put(at, number),
        Edit::Changes { count } => record.changes = count % (1 << 24),
        Edit::Kind { kind } => record.kind = kind,
        Edit::Shorten { len: to } => record.body.truncate(usize::from(to) % (len + 1)),
        Edit::Bytes { bytes } => record.body = bytes,
        Edit::Remove => drop(file.records.remove(at)),
        Edit::Repeat => {
            let again = record.clone();
            file.records.insert(at, again);
        }
        Edit::Swap { with } => file.records.swap(at, usize::from(with) % count),
        Edit::Flip { .. } | Edit::Head { .. } => {}
    }
    Ok(())
}

/// A change of the file's bytes, after it was sealed.
#[derive(Arbitrary, Debug)]
enum Damage {
    Flip { at: u32, bit: u8 },
    Zeroes { at: u32, len: u16 },
    Shorten { len: u32 },
    Bytes { at: u32, bytes: Vec<u8> },
}

fn damage(bytes: &mut Vec<u8>, source: &mut Unstructured<'_>) -> Result<()> {
    let len = bytes.len();
    let mut put = |at: u32, new: &[u8]| {
        let at = at as usize % (len + 1);
        let end = (at + new.len()).min(LONGEST);
        bytes.resize(len.max(end), 0);
        bytes[at..end].copy_from_slice(&new[..end - at]);
    };
    match Damage::arbitrary(source)? {
        Damage::Flip { at, bit } if len > 0 => bytes[at as usize % len] ^= 1 << (bit % 8),
        Damage::Flip { .. } => {}
        Damage::Zeroes { at, len } => put(at, &vec![0; usize::from(len)]),
        Damage::Shorten { len: to } => bytes.truncate(to as usize % (len + 1)),
        Damage::Bytes { at, bytes: new } => put(at, &new),
    }
    Ok(())
}

fn contents(table: &Table) -> Contents {
    table
        .iter()
        .map(|entry| entry.expect("no damage"))
        .collect()
}

/// Changes the file as the input says, and restores it.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let into = Into::arbitrary(&mut source).unwrap_or(Into::Plain);
    let edits = usize::from(u8::arbitrary(&mut source).unwrap_or(0)) % MOST_CHANGES;
    let mut file = template(into).clone();
    for _ in 0..edits {
        if source.is_empty() || edit(&mut file, &mut source).is_err() {
            break;
        }
    }
    let mut bytes = file.sealed();
    for _ in 0..MOST_CHANGES {
        if source.is_empty() || damage(&mut bytes, &mut source).is_err() {
            break;
        }
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("saved");
    std::fs::write(&path, &bytes).expect("a new file");
    let is_changed = bytes != template(into).sealed();
    within_limit(|| restored(into, &path, is_changed));
}

fn restored(into: Into, path: &Path, is_changed: bool) {
    let table = into.options().private().expect("memory");
    // It is in the file, too, and newer.
    table.set(1_u32.to_le_bytes(), vec![9; 50]).expect("room");
    if into == Into::Full {
        let mut fillers = 0..u32::MAX;
        let fill = |number: u32| table.set(format!("filler {number}"), vec![4; 5000]).is_ok();
        assert!(fillers.any(|number| !fill(number)));
    }
    let before = table.len().expect("no damage");
    let verified = tavola::serving::verify_saved(path);
    let outcome = table.restore(path);
    match &outcome {
        Ok(counts) => {
            let file = verified.as_ref().expect("a file that was just restored");
            assert_counts(into, &table, counts, before);
            let sum = counts.keys + counts.present + counts.left_out;
            assert!(is_changed || sum == file.keys, "{counts:?} of {file:?}");
        }
        Err(error) => {
            assert_is_refusal(into, error);
            let len = table.len().expect("no damage");
            assert_eq!(len, before, "a key was set: {error}");
            let is_lengths = matches!(error, Error::Lengths { .. } | Error::BadOption { .. });
            assert!(verified.is_err() || is_lengths, "{error}");
        }
    }
    if !is_changed {
        outcome.expect("nothing was changed");
    }
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
    let found = contents(&table);
    if into != Into::Cache {
        let newer = found.get(1_u32.to_le_bytes().as_slice());
        assert_eq!(newer, Some(&vec![9; 50]), "a newer key was replaced");
    }
    match table.set(2_u32.to_le_bytes(), vec![3; 50]) {
        Ok(()) | Err(Error::Full { .. }) => {}
        Err(error) => panic!("a table that takes no writes: {error}"),
    }
    again(&table, path.with_extension("again"));
}

/// The keys that were set are there.
fn assert_counts(into: Into, table: &Table, counts: &Restored, before: u64) {
    let len = table.len().expect("no damage");
    match into {
        Into::Cache => assert!(
            len <= counts.keys + before,
            "{counts:?}, {len} in the table"
        ),
        _ => assert_eq!(len, counts.keys + before, "{counts:?}"),
    }
}

fn assert_is_refusal(into: Into, error: &Error) {
    let is_refusal = match error {
        Error::NotRestorable { .. } => true,
        Error::Lengths { .. } | Error::BadOption { .. } => into == Into::Fixed,
        _ => false,
    };
    assert!(is_refusal, "{error:?}");
}

/// What was restored can be saved, and comes back.
fn again(table: &Table, path: PathBuf) {
    let saved = table.save(&path).expect("a disk");
    let all = contents(table);
    assert_eq!(saved.keys, all.len() as u64);
    let options = Table::options().max_size(8 << 20).shards(1);
    let other = options.private().expect("memory");
    let counts = other.restore(&path).expect("a file that was just saved");
    let has_all = counts.keys + counts.expired == saved.keys;
    assert!(has_all && counts.left_out == 0, "{counts:?} of {saved:?}");
    if counts.expired == 0 {
        assert!(contents(&other) == all, "it is restored otherwise");
    }
}
