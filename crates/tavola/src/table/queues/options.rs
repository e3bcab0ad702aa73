//! How a pool of queues is made and opened.

use super::QueuePool;
use crate::error::{Error, Result};
use crate::layout::{
    ExtentName, Geometry, MAX_SIZE, MIN_SIZE, MOST_ELEMENTS, MOST_QUEUES, PAGE, QueueGeometry,
    QueueName,
};
use crate::lock::PATIENCE;
use crate::queue;
use crate::table::{Options, Table};
use std::collections::HashSet;
use std::ffi::OsStr;

/// How often a pool that another process is making is looked for, [`PATIENCE`] apart: half a
/// minute.
const TRIES: u32 = 3000;
/// The name of the pool in a file of its own.
pub(super) const ALONE: &str = "";

/// What a pool of queues is made with.
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
    mode: u32,
}

impl QueueOptions {
    /// A pool of so many elements, 1 to 2^30, of so many bytes each, with one queue, `free`.
    pub fn new(elements: u32, element_bytes: u32) -> Self {
        Self {
            elements,
            element_bytes,
            queues: vec!["free".to_owned()],
            mode: 0o600,
        }
    }

    /// The names of its queues, 1 to 4096 of 1 to 56 bytes each. In the first, all elements stand
    /// at the beginning.
    pub fn queues(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues = names.into_iter().map(Into::into).collect();
        self
    }

    /// The mode of the file of a pool that has one of its own; 0o600 when not set.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Opens a pool in a file of its own, making it when it is not there. An existing one keeps its
    /// own elements and queues.
    ///
    /// # Errors
    /// [`Error::NotThere`] when there is a table of that name which is no pool's; else as
    /// [`Options::open`] and [`QueueOptions::create`].
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<QueuePool> {
        let name = name.as_ref();
        for _ in 0..TRIES {
            match QueuePool::open(name) {
                Err(Error::NotFound { .. }) => {}
                outcome => return outcome,
            }
            match self.create(name) {
                Err(Error::AlreadyExists { .. }) => {}
                outcome => return outcome,
            }
        }
        QueuePool::open(name)
    }

    /// Makes a pool in a file of its own, which is a table as well, without room for keys.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; [`Error::BadOption`]; [`Error::Full`] when the file system has no
    /// room for all elements; else as [`Options::create`].
    ///
    /// # Crash
    /// The pool appears whole or not at all.
    pub fn create(&self, name: impl AsRef<OsStr>) -> Result<QueuePool> {
        let geometry = self.geometry()?;
        let table = self.file(&geometry)?.create_with(name, |core| {
            let queues = &self.queues;
            queue::create(
                core.region(),
                core.writer()?,
                ALONE.as_bytes(),
                &geometry,
                queues,
            )
        })?;
        QueuePool::find(&table, ALONE)
    }

    /// Opens a pool beside a table, in its file and within its `max_size`, making it when it is not
    /// there. There can be 16, and each stays as long as the table.
    ///
    /// # Errors
    /// As [`QueueOptions::create_beside`].
    pub fn open_beside(&self, table: &Table, name: &str) -> Result<QueuePool> {
        self.check_name(name)?;
        match QueuePool::find(table, name) {
            Err(Error::NotThere { .. }) => {}
            outcome => return outcome,
        }
        match self.make(table, name) {
            Err(Error::AlreadyThere { .. }) => QueuePool::find(table, name),
            outcome => outcome,
        }
    }

    /// Makes a pool beside a table.
    ///
    /// # Errors
    /// [`Error::AlreadyThere`]; [`Error::BadOption`]; [`Error::BadName`]; [`Error::ReadOnly`];
    /// [`Error::Full`] when the table has no such stretch of pages that were never used, or the
    /// file system no room.
    ///
    /// # Crash
    /// The pool appears whole or not at all. The memory of one whose maker died goes back to the
    /// table; for pools, its stretch of pages is used up.
    pub fn create_beside(&self, table: &Table, name: &str) -> Result<QueuePool> {
        self.check_name(name)?;
        self.make(table, name)
    }

    fn check_name(&self, name: &str) -> Result<()> {
        match !name.is_empty() && ExtentName::fits(name.as_bytes()) {
            true => Ok(()),
            false => Err(Error::BadName {
                name: name.to_owned(),
                why: "a queue pool's has 1 to 96 bytes, none of them 0",
            }),
        }
    }

    fn geometry(&self) -> Result<QueueGeometry> {
        let bad = |option, why: String| Err(Error::BadOption { option, why });
        if !(1..=MOST_ELEMENTS).contains(&self.elements) {
            return bad("elements", format!("{} is not 1 to 2^30", self.elements));
        }
        let count = self.queues.len();
        if !(1..=MOST_QUEUES as usize).contains(&count) {
            return bad("queues", format!("{count} is not 1 to {MOST_QUEUES}"));
        }
        let wrong = |name: &&String| name.is_empty() || !QueueName::fits(name.as_bytes());
        if let Some(name) = self.queues.iter().find(wrong) {
            return bad(
                "queues",
                format!("the name {name:?} has not 1 to 56 bytes, none of them 0"),
            );
        }
        let mut seen = HashSet::new();
        if let Some(name) = self.queues.iter().find(|name| !seen.insert(*name)) {
            return bad("queues", format!("the name {name:?} is there twice"));
        }
        match QueueGeometry::new(self.elements, self.element_bytes, count as u32) {
            Some(geometry) => Ok(geometry),
            None => bad("elements", "they take more than 8 TiB".to_owned()),
        }
    }

    /// A file with room for it and nothing else.
    fn file(&self, pool: &QueueGeometry) -> Result<Options> {
        let pages = pool.len.div_ceil(PAGE);
        // What else stands in the file is far less than the elements, or than 2 MiB.
        let mut size = (pages * PAGE + MIN_SIZE).max(MIN_SIZE);
        while size <= MAX_SIZE {
            if let Some(geometry) = Geometry::new(size, 0)
                && u64::from(geometry.max_pages - geometry.first_page) >= pages
            {
                return Ok(Options::new().max_size(size).shards(1).mode(self.mode));
            }
            size += (size / 256).next_multiple_of(PAGE);
        }
        Err(Error::BadOption {
            option: "elements",
            why: "they take more than 8 TiB".to_owned(),
        })
    }

    /// Makes it. One that somebody is just making is waited for.
    fn make(&self, table: &Table, name: &str) -> Result<QueuePool> {
        let geometry = self.geometry()?;
        let core = table.core()?;
        let me = core.writer()?;
        let make = || queue::create(core.region(), me, name.as_bytes(), &geometry, &self.queues);
        let mut made = make();
        for _ in 0..TRIES {
            let is_taken = matches!(made, Err(Error::AlreadyThere { .. }));
            if !is_taken || queue::open(core.region(), name.as_bytes())?.is_some() {
                break;
            }
            std::thread::sleep(PATIENCE);
            made = make();
        }
        made.and_then(|()| QueuePool::find(table, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_room_for_its_pool_and_not_much_more() {
        for (elements, bytes) in [(1, 0), (1000, 64), (100_000, 64), (1 << 20, 4096)] {
            let options = QueueOptions::new(elements, bytes);
            let pool = options.geometry().unwrap();
            let size = options.file(&pool).unwrap();
            assert!(format!("{size:?}").contains("shards: Some(1)"));
        }
        assert!(QueueOptions::new(1 << 30, 1 << 20).geometry().is_err());
    }
}
