//! Options of a queue pool: how it is created and opened.

use super::QueuePool;
use super::names::is_name;
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::{MOST_ELEMENTS, MOST_QUEUES, QueueGeometry};
use crate::queue;
use crate::table::Table;
use crate::table::beside::{self, SideObject};
use std::collections::HashSet;
use std::ffi::OsStr;

/// Options of a queue pool.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-queue-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("jobs");
/// use tavola::QueueOptions;
///
/// let pool = QueueOptions::new(1000, 256).queues(["free", "todo"]).open(&path)?;
/// let (free, todo) = (pool.queue("free")?, pool.queue("todo")?);
///
/// let job = free.pop()?.expect("one of 1000");
/// pool.write(job, 0, b"resize 17.jpg")?;
/// todo.push(job)?;
/// assert_eq!((free.len(), todo.len()), (999, 1));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueueOptions {
    elements: u32,
    element_bytes: u32,
    queues: Vec<String>,
    queue_room: Option<u32>,
    mode: u32,
    group: Option<u32>,
    any_owner: bool,
}

impl QueueOptions {
    /// Returns options for a pool with this number of elements (1 to 2^30) of this size in bytes,
    /// and one queue, `free`.
    pub fn new(elements: u32, element_bytes: u32) -> Self {
        Self {
            elements,
            element_bytes,
            queues: vec!["free".to_owned()],
            queue_room: None,
            mode: 0o600,
            group: None,
            any_owner: false,
        }
    }

    /// Sets the names of the queues: 1 to 65,536 names of 1 to 56 bytes. The first queue initially
    /// holds all elements. More queues can be added later, see [`QueueOptions::queue_room`].
    pub fn queues(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum number of queues, up to 65,536: the named ones, and those that
    /// [`QueuePool::add_queue`] adds. The default is the number of named queues. Each takes 256
    /// bytes, and 4 bytes per element (rounded up to a power of two elements), from the beginning.
    pub fn queue_room(mut self, queues: u32) -> Self {
        self.queue_room = Some(queues);
        self
    }

    /// Sets the mode of the pool's own file; 0o600 if not set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the group of the file of a pool that has one of its own, see
    /// [`Options::group`](crate::Options::group). The mode stays as it is.
    pub fn group(mut self, gid: u32) -> Self {
        self.group = Some(gid);
        self
    }

    /// Allows a file of any owner, see [`Options::any_owner`](crate::Options::any_owner).
    pub fn any_owner(mut self, on: bool) -> Self {
        self.any_owner = on;
        self
    }

    /// Opens a pool in its own file, and creates it if it is missing. An existing pool keeps its
    /// elements and queues.
    ///
    /// # Errors
    /// [`Error::NotThere`] if the file of that name is not a pool; otherwise as
    /// [`Options::open`](crate::Options::open) and [`QueueOptions::create`].
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<QueuePool> {
        beside::open(self, name.as_ref())
    }

    /// Creates a pool in its own file. The file is also a table, without space for keys.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; [`Error::BadOption`]; [`Error::Full`] if the file system has no
    /// space for all elements; otherwise as [`Options::create`](crate::Options::create).
    ///
    /// # Crash
    /// The pool appears completely or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<QueuePool> {
        beside::create(self, name.as_ref())
    }

    /// Opens a pool in the file of a table, and creates it if it is missing. It counts towards the
    /// table's `max_size`. A table can have 16 pools, logs and areas, which stay as long as the
    /// table.
    ///
    /// # Errors
    /// As [`QueueOptions::create_in`].
    pub fn open_in(&self, table: &Table, name: &str) -> Result<QueuePool> {
        beside::open_in(self, table, name)
    }

    /// Creates a pool in the file of a table.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`]; [`Error::BadOption`]; [`Error::BadName`]; [`Error::ReadOnly`];
    /// [`Error::Full`] if the table has too few adjacent unused pages, or the file system has no
    /// space.
    ///
    /// # Crash
    /// The pool appears completely or not at all. If its creator died, the memory returns to the
    /// table, but its page numbers cannot be used for another pool.
    pub fn create_in(&self, table: &Table, name: &str) -> Result<QueuePool> {
        beside::create_in(self, table, name)
    }

    fn geometry(&self) -> Result<QueueGeometry> {
        let bad = |option, why: String| Err(Error::BadOption { option, why });
        if !(1..=MOST_ELEMENTS).contains(&self.elements) {
            return bad(
                "elements",
                format!("{} is not between 1 and 2^30", self.elements),
            );
        }
        let count = self.queues.len();
        if !(1..=MOST_QUEUES as usize).contains(&count) {
            return bad(
                "queues",
                format!("{count} is not between 1 and {MOST_QUEUES}"),
            );
        }
        let room = self.queue_room.unwrap_or(count as u32);
        if !(count as u32..=MOST_QUEUES).contains(&room) {
            return bad(
                "queue_room",
                format!("{room} is not between {count} and {MOST_QUEUES}"),
            );
        }
        if let Some(name) = self.queues.iter().find(|name| !is_name(name)) {
            return bad(
                "queues",
                format!(
                    "the name {name:?} is invalid: a name has 1 to 56 bytes, without zero \
                    bytes"
                ),
            );
        }
        let mut seen = HashSet::new();
        if let Some(name) = self.queues.iter().find(|name| !seen.insert(*name)) {
            return bad("queues", format!("the name {name:?} is given twice"));
        }
        match QueueGeometry::new(self.elements, self.element_bytes, room) {
            Some(geometry) => Ok(geometry),
            None => bad("elements", "together they exceed 4 TiB".to_owned()),
        }
    }
}

impl QueuePool {
    /// Opens an existing pool in its own file.
    ///
    /// # Errors
    /// As [`Options::open_existing`](crate::Options::open_existing); [`Error::NotThere`] if the
    /// file is not a pool.
    pub fn open(name: impl AsRef<OsStr>) -> Result<QueuePool> {
        beside::open_existing::<QueueOptions>(name.as_ref())
    }
}

impl SideObject for QueueOptions {
    type Made = QueuePool;

    fn len(&self) -> Result<u64> {
        Ok(self.geometry()?.len)
    }

    fn mode(&self) -> u32 {
        self.mode
    }

    fn group(&self) -> Option<u32> {
        self.group
    }

    fn any_owner(&self) -> bool {
        self.any_owner
    }

    fn build(&self, core: &Core, name: &str) -> Result<()> {
        let (geometry, me) = (self.geometry()?, core.writer()?);
        queue::create(core.region(), me, name.as_bytes(), &geometry, &self.queues)
    }

    fn find(table: &Table, name: &str) -> Result<QueuePool> {
        QueuePool::find(table, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_would_not_fit_anywhere_is_refused() {
        assert!(QueueOptions::new(1 << 30, 64).geometry().is_ok());
        assert!(QueueOptions::new(1 << 30, 1 << 20).geometry().is_err());
    }
}
