//! A durable table's directory with changed bytes: it is refused, or it is a table that is whole,
//! takes writes, and is rebuilt as it was.

use crate::watch::within_limit;
use arbitrary::{Arbitrary, Result, Unstructured};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tavola::{Attributes, Durability, Error, Expiry, Options, Table};

const MOST_CHANGES: usize = 12;
/// Bytes that a changed file may have at most.
const LONGEST: usize = 1 << 20;

type Files = BTreeMap<String, Vec<u8>>;
type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> Options {
    let options = Table::options().max_size(4 << 20).shards(1);
    options.durable(Durability::Os).journal_file_size(64 << 10)
}

/// A directory that is removed with the table's memory.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let parent = tempfile::Builder::new().prefix("tavola-fuzz-").tempdir();
        Self(parent.expect("a temporary directory"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn write(files: &Files) -> Self {
        let home = Self::new();
        std::fs::create_dir(home.path()).expect("a new directory");
        for (name, bytes) in files {
            std::fs::write(home.path().join(name), bytes).expect("a new file");
        }
        home
    }

    /// Returns all files.
    fn read(&self) -> Files {
        let names = std::fs::read_dir(self.path()).expect("a directory");
        let names = names.map(|entry| entry.expect("a name").path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        names
            .map(|path| (name(&path), std::fs::read(&path).expect("a file")))
            .collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = Table::options().remove(self.path());
    }
}

/// The files of a table with a snapshot, and records of all kinds behind it.
fn template() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let home = Home::new();
        let table = options().create(home.path()).expect("a new table");
        fill(&table).expect("room");
        table.snapshot().expect("no other snapshot");
        fill(&table).expect("room");
        table.sync().expect("a disk");
        drop(table);
        let mut files = home.read();
        // Where the memory was: it will be gone.
        files.get_mut("table").expect("a table")[2048..].fill(0);
        files
    })
}

fn fill(table: &Table) -> tavola::Result<()> {
    let soon = Attributes {
        expiry: Expiry::After(std::time::Duration::from_secs(100_000)),
        flags: 3,
    };
    for number in 0..20_u32 {
        table.set_with(number.to_le_bytes(), vec![1; 50], soon)?;
    }
    table.set(b"large", vec![2; 80_000])?;
    let tags = table.fetch_tags(&["tag", "other"])?;
    table.set_tagged(b"tagged", b"1", soon, &tags)?;
    table.incr(b"count", 5)?;
    table.incr(b"count", 5)?;
    table.set(b"word", [7; 8])?;
    table.set(b"word", [8; 8])?;
    table.touch(1_u32.to_le_bytes(), Expiry::Never)?;
    table.remove(2_u32.to_le_bytes())?;
    table.invalidate_tag("other")?;
    table.transaction(|t| {
        t.set(b"one", b"1")?;
        t.set(b"other", b"2")
    })
}

/// A change of a file.
#[derive(Arbitrary, Debug)]
enum Change {
    Flip { at: u32, bit: u8 },
    Word { at: u32, word: u64 },
    Shorten { len: u32 },
    Zeroes { at: u32, len: u16 },
    Copy { from: u32, to: u32, len: u16 },
    Bytes { at: u32, bytes: Vec<u8> },
    Remove,
    Rename { as_number: u8 },
}

fn change(files: &mut Files, source: &mut Unstructured<'_>) -> Result<()> {
    let names: Vec<String> = files.keys().cloned().collect();
    if names.is_empty() {
        return Ok(());
    }
    let name = source.choose(&names)?;
    let change = Change::arbitrary(source)?;
    if let Change::Remove = change {
        files.remove(name);
        return Ok(());
    }
    if let Change::Rename { as_number } = change {
        let bytes = files.remove(name).unwrap_or_default();
        let kind = ["journal", "snapshot"][usize::from(as_number % 2)];
        files.insert(format!("{kind}-{:016x}", as_number / 2), bytes);
        return Ok(());
    }
    let Some(file) = files.get_mut(name) else {
        return Ok(());
    };
    let len = file.len();
    let put = |file: &mut Vec<u8>, at: u32, bytes: &[u8]| {
        let at = at as usize % (len + 1);
        let end = (at + bytes.len()).min(LONGEST);
        file.resize(len.max(end), 0);
        file[at..end].copy_from_slice(&bytes[..end - at]);
    };
    match change {
        Change::Flip { at, bit } if len > 0 => file[at as usize % len] ^= 1 << (bit % 8),
        Change::Word { at, word } => put(file, at & !7, &word.to_le_bytes()),
        Change::Shorten { len: to } => file.truncate(to as usize % (len + 1)),
        Change::Zeroes { at, len } => put(file, at, &vec![0; usize::from(len)]),
        Change::Copy {
            from,
            to,
            len: part,
        } => {
            let from = from as usize % (len + 1);
            let part = file[from..(from + usize::from(part)).min(len)].to_vec();
            put(file, to, &part);
        }
        Change::Bytes { at, bytes } => put(file, at, &bytes),
        _ => {}
    }
    Ok(())
}

fn contents(table: &Table) -> Contents {
    table
        .iter()
        .map(|entry| entry.expect("no damage"))
        .collect()
}

/// Changes the files as the input says, and opens the table.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let mut files = template().clone();
    let cut = bool::arbitrary(&mut source).unwrap_or(false);
    for _ in 0..MOST_CHANGES {
        if source.is_empty() || change(&mut files, &mut source).is_err() {
            break;
        }
    }
    within_limit(|| {
        let home = Home::write(&files);
        let options = Table::options().cut_damage(cut);
        let table = match options.open_existing(home.path()) {
            Ok(table) => table,
            Err(error) => return assert_is_refusal(&error),
        };
        let found = contents(&table);
        let report = table.check().expect("a check");
        assert!(report.is_clean(), "{:?}", report.problems);
        if !matches!(
            table.set(b"after", b"all"),
            Ok(()) | Err(Error::Full { .. })
        ) {
            panic!("a table that takes no writes");
        }
        let all = contents(&table);
        assert!(all.len() <= found.len() + 1);
        table.sync().expect("a disk");
        drop(table);
        rebuilt(&home, &all);
    });
}

/// A table that was rebuilt once is rebuilt again, from the files alone.
fn rebuilt(home: &Home, all: &Contents) {
    let mut files = home.read();
    files.get_mut("table").expect("a table")[2048..].fill(0);
    let again = Home::write(&files);
    let table = Table::open(again.path()).expect("what was rebuilt before");
    assert!(contents(&table) == *all, "it is rebuilt otherwise");
}

fn assert_is_refusal(error: &Error) {
    let is_refusal = matches!(
        error,
        Error::DamagedJournal { .. }
            | Error::NotATable { .. }
            | Error::NotFound { .. }
            | Error::Io { .. }
            | Error::Full { .. }
    );
    assert!(is_refusal, "{error:?}");
}
