//! Tavola through its crate: processes that share a table, which may be durable.

use std::time::Duration;

use tavola::{Durability, Table, Transaction};

use super::Store;
use crate::compare::job::Job;
use crate::{Error, Result};

pub(super) struct Shared {
    table: Table,
    is_durable: bool,
}

/// The policy of a durable peer.
fn durability(peer: &str) -> Option<Durability> {
    match peer {
        "tavola-commit" => Some(Durability::Commit),
        "tavola-within" => Some(Durability::Within(Duration::from_millis(10))),
        "tavola-os" => Some(Durability::Os),
        _ => None,
    }
}

impl Shared {
    /// The first process makes it.
    pub(super) fn open(job: &Job) -> Result<Self> {
        let durability = durability(&job.peer);
        let options = match durability {
            Some(durability) => Table::options().max_size(1 << 30).durable(durability),
            None => Table::options(),
        };
        Ok(Self {
            table: options.open(job.dir.join("table"))?,
            is_durable: durability.is_some(),
        })
    }

    /// Removes the memory of a durable table, which is not in the folder. The first process does,
    /// in the end.
    pub(super) fn remove(self, job: &Job) -> Result<()> {
        if !self.is_durable || job.case.proc != 0 {
            return Ok(());
        }
        drop(self);
        Ok(Table::options().remove(job.dir.join("table"))?)
    }
}

impl Store for Shared {
    #[inline]
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        Ok(self.table.set(key, value)?)
    }

    #[inline]
    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(self.table.get_into(key, value)?)
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.table.remove(key)?)
    }

    fn put_many(&self, pairs: &[([u8; 8], Vec<u8>)]) -> Result<()> {
        if !self.is_durable {
            return Ok(self.table.set_many(pairs)?);
        }
        let all =
            |t: &mut Transaction<'_>| pairs.iter().try_for_each(|(key, value)| t.set(key, value));
        Ok(self.table.transaction(all)?)
    }

    fn get_many(&self, keys: &[[u8; 8]], each: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        self.table
            .get_many(keys, each)
            .map(drop)
            .map_err(Error::Table)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.table.len()?)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.table.stats()?.resident_bytes)
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}
