//! How a table is made and opened.

use super::durable::{find_home, is_home, refuse_memory, remove_home, rename_home};
use super::lazy::Lazy;
use super::owner::remove_if_over_at;
use super::{Options, Table};
use crate::engine::{Background, Core, not_durable};
use crate::error::{Error, Result};
use crate::layout::Owner;
use crate::region::{self, Location, Region, names};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// Races between opening and dropping that are sat out before giving up.
const TRIES: u32 = 100;

impl Options {
    /// Opens a table, and creates it if it is missing.
    ///
    /// # Errors
    /// [`Error::NotATable`], [`Error::Version`], [`Error::Endianness`] if the file cannot be used;
    /// [`Error::BadName`], [`Error::BadOption`], [`Error::Permission`], [`Error::Full`].
    ///
    /// # Concurrency
    /// If several processes do this at the same time, one creates the table and all open it.
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        let name = name.as_ref();
        for _ in 0..TRIES {
            match self.open_existing(name) {
                Err(Error::NotFound { .. }) => {}
                // A directory in which a durable table may be made.
                Err(Error::NotATable { .. }) if self.makes_home(name) => {}
                outcome => return outcome,
            }
            match self.create(name) {
                Err(Error::AlreadyExists { .. }) => {}
                outcome => return outcome,
            }
        }
        self.open_existing(name)
    }

    /// Creates a table.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; otherwise as [`Options::open`].
    ///
    /// # Crash
    /// The table appears completely or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        if self.durable.is_some() {
            return self.create_home(&names::path_of(&name)?);
        }
        self.create_with(name, |_| Ok(()))
    }

    /// Returns whether a durable table may be made in a directory of this name.
    fn makes_home(&self, name: &OsStr) -> bool {
        self.durable.is_some() && find_home(name).is_some_and(|path| !is_home(&path))
    }

    /// As [`Options::create`], with something put into it before others see it.
    pub(super) fn create_with(
        &self,
        name: impl AsRef<OsStr>,
        fill: impl FnOnce(&Core) -> Result<()>,
    ) -> Result<Table> {
        let path = names::path_of(&name)?;
        let (geometry, max_size) = self.geometry(Some(&path))?;
        region::make_directory(&path)?;
        let create = || {
            let at = self.location(name.as_ref())?;
            region::create(at, geometry, max_size, self.rights())
        };
        let made = match create() {
            Err(Error::AlreadyExists { .. }) if remove_if_over_at(&path) => create(),
            made => made,
        };
        let (region, unnamed) = made.map_err(no_directory)?;
        if self.core_dumps {
            let _ = region.set_in_core_dumps(true);
        }
        let core = Core::new(region, path.clone(), self.uid_policy);
        if let Some(bytes) = self.capacity {
            core.begin_cache(bytes)?;
        }
        fill(&core)?;
        if core.region().geometry().owner == Some(Owner::LastUser) {
            // Before anybody can find that it has no user.
            core.writer()?;
        }
        unnamed.publish(core.region()).map_err(no_directory)?;
        core.name.begin();
        self.table(Lazy::mapped(core, path))
    }

    /// Opens an existing table.
    ///
    /// # Errors
    /// [`Error::NotFound`]; otherwise as [`Options::open`]. [`Error::BadOption`] if a durable table
    /// is asked for and this one is not.
    pub fn open_existing(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        if let Some(path) = find_home(name.as_ref()) {
            return self.open_home(&path, true);
        }
        let at = self.location(name.as_ref())?;
        let file = region::open(&at, true)?.in_core_dumps(self.core_dumps);
        if file.geometry().is_durable {
            return Err(memory_of_durable());
        }
        if self.durable.is_some() {
            return Err(not_durable());
        }
        if file.geometry().owner.is_some() {
            return self.open_owned(&at, file);
        }
        self.table(Lazy::unmapped(file, at.path().into(), self.uid_policy))
    }

    /// Opens a table read-only, through a mapping that cannot be written to.
    ///
    /// Such a handle never delays writers. It cannot record which pages it reads: if a value of
    /// more than about 16 KB is replaced while it is copied, the read starts again, without a limit
    /// on retries. If writers replace such values all the time, use a handle that may write.
    ///
    /// # Errors
    /// [`Error::NotFound`]; otherwise as [`Options::open`].
    pub fn open_read_only(&self, name: impl AsRef<OsStr>) -> Result<Table> {
        if let Some(path) = find_home(name.as_ref()) {
            return self.open_home(&path, false);
        }
        let at = self.location(name.as_ref())?;
        let file = region::open(&at, false)?.in_core_dumps(self.core_dumps);
        if file.geometry().owner.is_some() {
            return self.open_owned(&at, file);
        }
        self.table(Lazy::unmapped(file, at.path().into(), self.uid_policy))
    }

    /// Creates a table in the memory of this process: it has no file, and is deleted when it is
    /// dropped. It is meant for tests. All of `max_size` is allocated at once.
    ///
    /// # Errors
    /// [`Error::BadOption`]. [`Error::Io`] if this process cannot have that much memory.
    pub fn private(&self) -> Result<Table> {
        if self.durable.is_some() {
            return Err(Error::BadOption {
                option: "durable",
                why: "a private table has no directory; open a named one".to_string(),
            });
        }
        let (geometry, _) = self.geometry(None)?;
        let path = PathBuf::from("private table");
        let region = Region::heap(geometry, 0x7A70_1A00, &path)?;
        let core = Core::new(region, path.clone(), self.uid_policy);
        if let Some(bytes) = self.capacity {
            core.begin_cache(bytes)?;
        }
        self.table(Lazy::mapped(core, path))
    }

    /// Removes a table, as [`names::remove`](crate::names::remove); with [`Options::any_owner`]
    /// also of another user.
    ///
    /// # Errors
    /// The errors of [`names::remove`](crate::names::remove).
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<()> {
        match find_home(name.as_ref()).filter(|path| is_home(path)) {
            Some(path) => remove_home(&path, self.any_owner),
            None => {
                refuse_memory(&names::path_of(&name)?)?;
                region::remove_of(name.as_ref(), self.any_owner)
            }
        }
    }

    /// Renames a table, as [`names::rename`](crate::names::rename); with [`Options::any_owner`]
    /// also of another user.
    ///
    /// # Errors
    /// The errors of [`names::rename`](crate::names::rename).
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<()> {
        match find_home(from.as_ref()).filter(|path| is_home(path)) {
            Some(path) => rename_home(self, &path, &names::path_of(to)?),
            None => {
                refuse_memory(&names::path_of(&from)?)?;
                region::rename_of(from.as_ref(), to.as_ref(), self.any_owner)
            }
        }
    }

    fn location(&self, name: &OsStr) -> Result<Location> {
        Location::of(name, self.any_owner)
    }

    pub(super) fn table(&self, lazy: Lazy) -> Result<Table> {
        let background = match self.background && lazy.is_writable() {
            true => Some(Background::maintain(Arc::clone(lazy.get()?))?),
            false => None,
        };
        let mut table = Table::of(lazy, self.clone());
        table._background = background;
        Ok(table)
    }
}

/// The error of a writer that opens the memory of a durable table by its name.
fn memory_of_durable() -> Error {
    Error::BadOption {
        option: "name",
        why: "this is the memory of a durable table; open the directory of that table".to_string(),
    }
}

/// Of a table that is being made, only its directory can be missing.
fn no_directory(error: Error) -> Error {
    match error {
        Error::NotFound { path } => Error::Io {
            op: "making the table",
            path,
            source: std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "its directory does not exist; create the directory first",
            ),
        },
        other => other,
    }
}
