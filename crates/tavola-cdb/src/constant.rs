//! A constant file of any of the formats.

use std::path::Path;

use crate::cdb::head::Head as CdbHead;
use crate::cdb::reader::{Cdb, Find, Record, Records};
use crate::error::{Error, Result};
use crate::follow::Reopen;
use crate::frozen::head::MAGIC;
use crate::frozen::reader::{Frozen, FrozenRecords};
use crate::map::{Identity, Map};

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

    /// Returns the path by which the file was opened.
    pub fn path(&self) -> &Path {
        match self {
            Constant::Cdb(cdb) => cdb.path(),
            Constant::Frozen(frozen) => frozen.path(),
        }
    }

    /// Returns the length of the file in bytes.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Constant::Cdb(cdb) => cdb.size_bytes(),
            Constant::Frozen(frozen) => frozen.size_bytes(),
        }
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

    /// Finds the records of a key, in the order in which they were written. A frozen file has one
    /// at most.
    #[inline]
    pub fn find<'a, 'k>(&'a self, key: &'k [u8]) -> ConstantFind<'a, 'k> {
        match self {
            Constant::Cdb(cdb) => ConstantFind::Cdb(cdb.find(key)),
            Constant::Frozen(frozen) => ConstantFind::Frozen(frozen.find(key).transpose()),
        }
    }

    /// Checks the whole file. Returns the number of records.
    ///
    /// # Errors
    /// As [`Cdb::check`] and [`Frozen::check`].
    pub fn check(&self) -> Result<u64> {
        match self {
            Constant::Cdb(cdb) => cdb.check(),
            Constant::Frozen(frozen) => frozen.check(),
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

/// The records of a key, made by [`Constant::find`]. Ends after an error.
#[derive(Debug)]
pub enum ConstantFind<'a, 'k> {
    /// Those of a cdb file.
    Cdb(Find<'a, 'k>),
    /// That of a frozen file.
    Frozen(Option<Result<Record<'a>>>),
}

impl<'a> Iterator for ConstantFind<'a, '_> {
    type Item = Result<Record<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Record<'a>>> {
        match self {
            ConstantFind::Cdb(find) => find.next(),
            ConstantFind::Frozen(found) => found.take(),
        }
    }
}

impl Reopen for Constant {
    /// The new file may have another format.
    fn reopened(&self) -> Result<Option<Constant>> {
        let path = self.path();
        let now = Identity::at(path).map_err(Error::of("cannot examine", path))?;
        let open = match self {
            Constant::Cdb(cdb) => cdb.identity(),
            Constant::Frozen(frozen) => frozen.identity(),
        };
        match now == open {
            true => Ok(None),
            false => Constant::open(path).map(Some),
        }
    }
}

impl Constant {
    /// Opens the file that has the name now, if it is another one, or was written to. Returns
    /// whether it is. The new file may have another format.
    ///
    /// # Errors
    /// If the new file cannot be opened; the old one stays open then.
    pub fn refresh(&mut self) -> Result<bool> {
        let newer = self.reopened()?;
        let is_newer = newer.is_some();
        if let Some(newer) = newer {
            *self = newer;
        }
        Ok(is_newer)
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
