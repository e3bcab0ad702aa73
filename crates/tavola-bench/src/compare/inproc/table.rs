//! Tavola through its crate: processes that share a table.

use tavola::Table;

use super::Store;
use crate::compare::job::Job;
use crate::{Error, Result};

pub(super) struct Shared(Table);

impl Shared {
    /// The first process makes it.
    pub(super) fn open(job: &Job) -> Result<Self> {
        let path = job.dir.join("table");
        Ok(Self(Table::options().open(path)?))
    }
}

impl Store for Shared {
    #[inline]
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value)?)
    }

    #[inline]
    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(self.0.get_into(key, value)?)
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.0.remove(key)?)
    }

    fn put_many(&self, pairs: &[([u8; 8], Vec<u8>)]) -> Result<()> {
        Ok(self.0.set_many(pairs)?)
    }

    fn get_many(&self, keys: &[[u8; 8]], each: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        self.0.get_many(keys, each).map(drop).map_err(Error::Table)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.len()?)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.0.stats()?.resident_bytes)
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}
