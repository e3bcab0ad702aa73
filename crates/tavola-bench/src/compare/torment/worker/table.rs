//! Tavola, as a table and as a cache.

use super::stores::Store;
use super::{Job, make_folder};

const CACHE_BYTES: u64 = 8 << 20;

pub(super) struct Table(tavola::Table);

impl Table {
    pub(super) fn open(job: &Job, cache: bool) -> Result<Box<dyn Store>, String> {
        make_folder(job)?;
        let options = match cache {
            true => tavola::Table::options().capacity(CACHE_BYTES),
            false => tavola::Table::options(),
        };
        let table = options.open(job.store.join("table")).map_err(told)?;
        Ok(Box::new(Self(table)))
    }
}

fn told(error: tavola::Error) -> String {
    error.to_string()
}

impl Store for Table {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.0.set(key, value).map_err(told)
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.0.get(key).map_err(told)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), String> {
        self.0.remove(key).map(drop).map_err(told)
    }

    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.0.incr(key, 1).map_err(told)?;
        Ok("an atomic increment")
    }

    fn hold(&mut self, key: &[u8]) -> Result<&'static str, String> {
        self.0.get(key).map_err(told)?;
        Ok("an open table, of which readers hold nothing")
    }
}
