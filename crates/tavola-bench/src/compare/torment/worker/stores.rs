//! What a trial asks of a store, and the stores that this program can use by itself.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::compare::torment::job::Job;

/// A store that is open. An error is the store's own sentence.
pub(crate) trait Store {
    /// Sets a key.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String>;
    /// The value, if there is the key.
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String>;
    /// Removes a key; it need not be there.
    fn remove(&mut self, key: &[u8]) -> Result<(), String>;
    /// Adds one to a counter by the best means there is, and names it.
    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String>;
    /// Reads, and keeps what a reader of this store keeps; names it.
    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String>;
    /// Closes in good order.
    fn close(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Opens the store that the job names, or makes it.
pub(super) fn open(job: &Job) -> Result<Box<dyn Store>, String> {
    fs::create_dir_all(&job.store).map_err(to_text)?;
    let table = |options: tavola::Options| -> Result<Box<dyn Store>, String> {
        let table = options.open(job.store.join("table")).map_err(to_text)?;
        Ok(Box::new(Table(table)))
    };
    match job.peer.as_str() {
        "tavola" => table(tavola::Table::options()),
        "tavola-cache" => table(tavola::Table::options().capacity(CACHE_BYTES)),
        "tavola-commit" => table(tavola::Table::options().durable(tavola::Durability::Commit)),
        "tavola-os" => table(tavola::Table::options().durable(tavola::Durability::Os)),
        "files-plain" => Ok(Box::new(Files {
            folder: job.store.clone(),
            held: None,
        })),
        other => Err(format!("this program cannot use {other} by itself")),
    }
}

fn to_text(error: impl ToString) -> String {
    error.to_string()
}

/// Of Tavola as a cache.
const CACHE_BYTES: u64 = 8 << 20;

struct Table(tavola::Table);

impl Store for Table {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.0.set(key, value).map_err(to_text)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.0.get(key).map_err(to_text)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), String> {
        self.0.remove(key).map(drop).map_err(to_text)
    }

    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.0.incr(key, 1).map_err(to_text)?;
        Ok("an atomic increment")
    }

    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.0.get(key).map_err(to_text)?;
        Ok("an open table, of which readers hold nothing")
    }
}

/// A file a key, written over in place, as scripts do it.
struct Files {
    folder: PathBuf,
    held: Option<File>,
}

impl Files {
    fn path(&self, key: &[u8]) -> PathBuf {
        self.folder.join(String::from_utf8_lossy(key).as_ref())
    }
}

impl Store for Files {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        fs::write(self.path(key), value).map_err(to_text)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.path(key)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(to_text(error)),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), String> {
        match fs::remove_file(self.path(key)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(to_text(error)),
            _ => Ok(()),
        }
    }

    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String> {
        let lock = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(b"lock"));
        let lock = lock.map_err(to_text)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(to_text)?;
        let text = fs::read_to_string(self.path(key)).unwrap_or_default();
        let number: u64 = text.trim().parse().unwrap_or(0);
        fs::write(self.path(key), (number + 1).to_string()).map_err(to_text)?;
        Ok("flock around read and write")
    }

    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.held = File::open(self.path(key)).ok();
        Ok("an open file")
    }
}
