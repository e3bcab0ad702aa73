//! The table a measurement runs on, and files beside it: nobody else's, and gone afterwards.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tavola::{Log, LogOptions, Options, QueueOptions, QueuePool, Table, names};
use tavola_program::units::parse_size;

use crate::{Error, Result};

/// Where the table is made, and how.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Place {
    /// The directory for the table [default: where tables live]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Largest size of the table, such as 8G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_size: Option<u64>,
    /// Shards of the table, a power of two
    #[arg(long, value_name = "S")]
    pub shards: Option<u32>,
    /// Lengths of all keys and of all values; items have headers if none are given.
    #[arg(skip)]
    pub fixed: Option<(u32, u32)>,
    /// How long keys live; forever if none is given.
    #[arg(skip)]
    pub ttl: Option<Duration>,
    /// What a cache may take.
    #[arg(skip)]
    pub capacity: Option<u64>,
}

impl Place {
    pub(crate) fn options(&self) -> Options {
        let mut options = Table::options();
        if let Some(bytes) = self.max_size {
            options = options.max_size(bytes);
        }
        if let Some(count) = self.shards {
            options = options.shards(count);
        }
        if let Some((key, value)) = self.fixed {
            options = options.fixed(key, value);
        }
        if let Some(ttl) = self.ttl {
            options = options.ttl(ttl);
        }
        if let Some(bytes) = self.capacity {
            options = options.capacity(bytes);
        }
        options
    }
}

/// A table under a name of its own, removed when dropped.
pub(crate) struct Scratch {
    name: OsString,
    listed: bool,
}

impl Scratch {
    pub(crate) fn create(place: &Place) -> Result<(Self, Table)> {
        Self::create_with(place, |options| options)
    }

    /// A table with more options than a place has.
    pub(crate) fn create_with(
        place: &Place,
        more: impl FnOnce(Options) -> Options,
    ) -> Result<(Self, Table)> {
        let name = fresh_name(place.dir.as_deref())?;
        let table = more(place.options()).create(&name)?;
        Ok((Self { name, listed: true }, table))
    }

    /// A table whose name is gone already: nobody else finds it.
    pub(crate) fn nameless(place: &Place) -> Result<Table> {
        let (mut scratch, table) = Self::create(place)?;
        scratch.unlink()?;
        Ok(table)
    }

    /// A pool of queues instead, in a file of its own.
    pub(crate) fn create_pool(
        dir: Option<&Path>,
        options: &QueueOptions,
    ) -> Result<(Self, QueuePool)> {
        let name = fresh_name(dir)?;
        let pool = options.create(&name)?;
        Ok((Self { name, listed: true }, pool))
    }

    /// A log instead, in a file of its own.
    pub(crate) fn create_log(dir: Option<&Path>, options: &LogOptions) -> Result<(Self, Log)> {
        let name = fresh_name(dir)?;
        let log = options.create(&name)?;
        Ok((Self { name, listed: true }, log))
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Takes the name away now: attached processes continue, and the memory is free again as soon
    /// as the last of them ends, however it ends.
    pub(crate) fn unlink(&mut self) -> Result<()> {
        self.listed = false;
        Ok(names::remove(&self.name)?)
    }
}

/// A file to append to, without a name: gone as soon as nobody has it open.
pub(crate) fn nameless_file(dir: Option<&Path>) -> Result<File> {
    let doing = "making a file for the lines";
    if dir.is_none() {
        // As the library makes it.
        let mut tables = DirBuilder::new();
        let made = tables.mode(0o700).recursive(true);
        made.create(names::directory()).map_err(Error::io(doing))?;
    }
    let path = names::path_of(fresh_name(dir)?)?;
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).create_new(true).open(&path);
    let file = file.map_err(Error::io(doing))?;
    std::fs::remove_file(&path).map_err(Error::io(doing))?;
    Ok(file)
}

fn fresh_name(dir: Option<&Path>) -> Result<OsString> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let file = format!("bench-{}-{count}", std::process::id());
    match dir {
        Some(dir) => std::path::absolute(dir)
            .map_err(Error::io("finding the directory for the table"))
            .map(|dir| dir.join(file).into_os_string()),
        None => Ok(file.into()),
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.listed {
            let _ = names::remove(&self.name);
        }
    }
}
