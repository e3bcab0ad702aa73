//! A file a key, written over in place, as scripts do it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use super::stores::Store;
use super::{Job, make_folder};

pub(super) struct Files {
    folder: PathBuf,
    held: Option<File>,
}

impl Files {
    pub(super) fn open(job: &Job) -> Result<Box<dyn Store>, String> {
        make_folder(job)?;
        let folder = job.store.clone();
        Ok(Box::new(Self { folder, held: None }))
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        self.folder.join(String::from_utf8_lossy(key).as_ref())
    }
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

impl Store for Files {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        fs::write(self.path(key), value).map_err(told)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.path(key)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(told(error)),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), String> {
        match fs::remove_file(self.path(key)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(told(error)),
            _ => Ok(()),
        }
    }

    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String> {
        let lock = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(b"lock"));
        let lock = lock.map_err(told)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(told)?;
        let mut text = String::new();
        if let Ok(mut file) = File::open(self.path(key)) {
            file.read_to_string(&mut text).map_err(told)?;
        }
        let number: u64 = text.trim().parse().unwrap_or(0);
        let mut file = File::create(self.path(key)).map_err(told)?;
        write!(file, "{}", number + 1).map_err(told)?;
        Ok("flock around read and write")
    }

    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.held = File::open(self.path(key)).ok();
        Ok("an open file")
    }
}
