//! A constant file of any of the formats.

use std::path::Path;

use crate::cdb::head::Head as CdbHead;
use crate::cdb::reader::{Cdb, Record, Records};
use crate::error::Result;
use crate::frozen::head::MAGIC;
use crate::frozen::reader::{Frozen, FrozenRecords};
use crate::map::Map;

/// An open constant file, whose format was found out.
#[derive(Debug)]
pub enum Constant {
    /// A cdb file, of 32 or 64 bits.
    Cdb(Cdb),
    /// A frozen file.
    Frozen(Frozen),
}

impl Constant {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::NotConstant`](crate::Error::NotConstant) if it is of none of the formats.
    pub fn open(path: impl AsRef<Path>) -> Result<Constant> {
        let map = Map::open(path.as_ref())?;
        if map.u64_at(0) == Some(u64::from_le_bytes(MAGIC)) {
            return Frozen::of(map).map(Constant::Frozen);
        }
        let format = CdbHead::recognise(&map)?;
        Cdb::of(map, format).map(Constant::Cdb)
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        match self {
            Constant::Cdb(cdb) => cdb.len(),
            Constant::Frozen(frozen) => frozen.len(),
        }
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a copy of the first value of a key, or `None` if there is none.
    ///
    /// # Errors
    /// As [`Cdb::get`] and [`Frozen::get`].
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        match self {
            Constant::Cdb(cdb) => cdb.get(key),
            Constant::Frozen(frozen) => frozen.get(key),
        }
    }

    /// Returns all records.
    pub fn records(&self) -> ConstantRecords<'_> {
        match self {
            Constant::Cdb(cdb) => ConstantRecords::Cdb(cdb.records()),
            Constant::Frozen(frozen) => ConstantRecords::Frozen(frozen.records()),
        }
    }
}

/// All records of a file, made by [`Constant::records`]. Ends after an error.
#[derive(Clone, Debug)]
pub enum ConstantRecords<'a> {
    /// Those of a cdb file.
    Cdb(Records<'a>),
    /// Those of a frozen file.
    Frozen(FrozenRecords<'a>),
}

impl<'a> Iterator for ConstantRecords<'a> {
    type Item = Result<Record<'a>>;

    fn next(&mut self) -> Option<Result<Record<'a>>> {
        match self {
            ConstantRecords::Cdb(records) => records.next(),
            ConstantRecords::Frozen(records) => records.next(),
        }
    }
}
