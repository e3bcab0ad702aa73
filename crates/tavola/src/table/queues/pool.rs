//! A pool of queues, as a user holds it.

use super::names::Names;
use super::options::is_name;
use super::{Queue, QueueOptions};
use crate::error::{Error, Result};
use crate::layout::{ExtentKind, QueueGeometry};
use crate::queue::{self, Ends};
use crate::recover::CheckReport;
use crate::sync::UserWord;
use crate::table::core::Core;
use crate::table::{Table, beside};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Elements in shared memory, and queues of them.
///
/// What moves between queues are the numbers of elements, 32 bits each; their bytes stay where they
/// are. Who popped an element holds it, and is the only one to touch its bytes, until it pushes it
/// to any of the pool's queues. All processes and threads may push and pop everywhere. What is
/// popped through a `QueuePool`, its clones and its queues is held by all threads that use these;
/// one of them at a time touches an element or pushes it. A pool that is opened once more in the
/// same process is another holder.
///
/// Made by [`QueueOptions`](crate::QueueOptions), in a file of its own or beside a table.
///
/// # Crash
/// Of a push or pop under way, all or nothing is done. What a dead process held is told by
/// [`QueuePool::lost`] and taken by [`QueuePool::reclaim`], and so is what was held when a pool was
/// closed. A forked child holds nothing of its parent's.
#[derive(Clone)]
pub struct QueuePool {
    pub(super) inner: Arc<Inner>,
}

/// One handle's view of a pool; queues share it.
pub(super) struct Inner {
    pub(super) core: Arc<Core>,
    base: u64,
    geometry: QueueGeometry,
    names: Mutex<Names>,
}

impl Inner {
    #[inline(always)]
    pub(super) fn ends(&self, queue: u32) -> Ends<'_> {
        Ends::of(self.core.region(), self.base, &self.geometry, queue)
    }

    /// Whether it is the same pool, by the same participant.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core) && self.base == other.base
    }

    /// How many queues have names.
    fn named(&self) -> Result<u32> {
        queue::named(self.core.region(), self.base, &self.geometry)
    }

    /// The number of the queue of that name, of the first `named`.
    fn find(&self, name: &str, named: u32) -> Option<u32> {
        let head = |queue| self.ends(queue).head;
        match self.names.try_lock() {
            Ok(mut names) => names.find(name.as_bytes(), named, |queue| head(queue).name.get()),
            // Another thread is at it, or was when this process was forked.
            Err(_) => (0..named).find(|queue| head(*queue).name.is(name.as_bytes())),
        }
    }
}

impl Table {
    /// Opens a pool of queues beside this table.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn pool(&self, name: &str) -> Result<QueuePool> {
        QueuePool::find(self, name)
    }

    /// The names of the pools beside this table.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn pools(&self) -> Result<Vec<String>> {
        Ok(self.core()?.names_beside(ExtentKind::QueuePool))
    }
}

impl QueuePool {
    /// As [`Table::set_lock_timeout`](crate::Table::set_lock_timeout), for the queues of this pool
    /// and the table that it was opened by.
    pub fn set_lock_timeout(&self, limit: Option<std::time::Duration>) {
        self.inner.core.region().set_lock_limit(limit);
    }

    /// Opens a pool that is there, in a file of its own.
    ///
    /// # Errors
    /// As [`Options::open_existing`](crate::Options::open_existing); [`Error::NotThere`] when that
    /// file has none.
    pub fn open(name: impl AsRef<OsStr>) -> Result<QueuePool> {
        beside::open_existing::<QueueOptions>(name.as_ref())
    }

    pub(super) fn find(table: &Table, name: &str) -> Result<QueuePool> {
        let core = table.lazy.get()?;
        match queue::open(core.region(), name.as_bytes())? {
            Some((base, geometry)) => Ok(QueuePool {
                inner: Arc::new(Inner {
                    core: Arc::clone(core),
                    base,
                    geometry,
                    names: Mutex::default(),
                }),
            }),
            None => Err(Error::NotThere {
                what: "queue pool",
                name: name.to_owned(),
            }),
        }
    }

    /// One of its queues. A handle reads each name once.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn queue(&self, name: &str) -> Result<Queue> {
        match self.inner.find(name, self.inner.named()?) {
            Some(number) => Ok(Queue::new(Arc::clone(&self.inner), number)),
            None => Err(Error::NotThere {
                what: "queue",
                name: name.to_owned(),
            }),
        }
    }

    /// Adds a queue, without elements, for which the pool was made with room
    /// ([`QueueOptions::queue_room`]). It stays as long as the pool.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-add-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let path = dir.join("jobs");
    /// use tavola::{Error, QueueOptions};
    ///
    /// let pool = QueueOptions::new(1000, 256).queue_room(100).open(&path)?;
    /// // Of all processes that want this queue one adds it.
    /// let urgent = match pool.add_queue("urgent") {
    ///     Err(Error::AlreadyThere { .. }) => pool.queue("urgent")?,
    ///     added => added?,
    /// };
    /// pool.queue("free")?.pass(&urgent, 1)?;
    /// assert_eq!(urgent.len(), 1);
    /// assert_eq!((pool.queues().len(), pool.queue_room()), (2, 100));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::AlreadyThere`] when there is one of that name; [`Error::BadName`] when it has not 1
    /// to 56 bytes; [`Error::Full`] when the pool has no room for another; [`Error::Corrupt`];
    /// [`Error::ReadOnly`]; [`Error::Reentrant`]; what attaching gives, see [`Table::set`].
    ///
    /// # Concurrency
    /// Whoever has the pool open finds the queue by its name at once. Of those that add one of the
    /// same name at once, one does.
    ///
    /// # Crash
    /// The queue is there whole or not at all.
    pub fn add_queue(&self, name: &str) -> Result<Queue> {
        if !is_name(name) {
            return Err(Error::BadName {
                name: name.to_owned(),
                why: "a queue has a name of 1 to 56 bytes, without zero bytes",
            });
        }
        let (core, seen) = (&self.inner.core, self.inner.named()?);
        let (me, pool) = (core.writer()?, (self.inner.base, &self.inner.geometry));
        let added = match self.inner.find(name, seen) {
            Some(_) => None,
            None => queue::add(core.region(), me, pool, name.as_bytes(), seen)?,
        };
        match added {
            Some(number) => Ok(Queue::new(Arc::clone(&self.inner), number)),
            None => Err(Error::AlreadyThere {
                what: "queue",
                name: name.to_owned(),
            }),
        }
    }

    /// The names of its queues, the one that had all elements at the beginning first. None when how
    /// many there are was damaged.
    pub fn queues(&self) -> Vec<String> {
        let name = |queue| self.inner.ends(queue).head.name.get();
        let all = (0..self.inner.named().unwrap_or(0)).map(name);
        all.map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect()
    }

    /// How many queues it has room for, those that it has among them.
    pub fn queue_room(&self) -> u32 {
        self.inner.geometry.queues
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        self.inner.core.path()
    }

    /// How many elements it has.
    pub fn elements(&self) -> u32 {
        self.inner.geometry.elements
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u32 {
        self.inner.geometry.element_bytes
    }

    #[inline]
    fn place(&self, element: u32) -> u64 {
        let geometry = &self.inner.geometry;
        assert!(
            element < geometry.elements,
            "the pool has no element {element}"
        );
        self.inner.base + geometry.elements_off + u64::from(element) * geometry.stride
    }

    /// The bytes of an element, aligned to 8, at the same place as long as the pool is open here.
    /// Only who holds the element may read or write them, and of its threads one at a time; where
    /// the pool is open read-only, writing ends the process.
    ///
    /// # Panics
    /// When the pool has no such element.
    #[inline]
    pub fn element_ptr(&self, element: u32) -> *mut u8 {
        let place = self.place(element);
        let region = self.inner.core.region();
        region.bytes(place, u64::from(self.inner.geometry.element_bytes))
    }

    /// The words of an element (`AtomicU64`), at the same place as [`QueuePool::element_ptr`]: for
    /// work in place without `unsafe`. The last is whole, whatever the bytes of an element. Relaxed
    /// order will do: pushing and popping hand on what was written.
    ///
    /// # Panics
    /// When the pool has no such element; by a signal, when it is open read-only and is written to.
    #[inline]
    pub fn words(&self, element: u32) -> &[UserWord] {
        let count = self.inner.geometry.stride / 8;
        let region = self.inner.core.region();
        region.user_words(self.place(element), count as u32)
    }

    /// Copies bytes of an element that this handle holds, from `at` on.
    ///
    /// # Errors
    /// [`Error::NotHeld`]; else as [`Queue::push`].
    ///
    /// # Panics
    /// When the element has no such bytes.
    pub fn read(&self, element: u32, at: u32, out: &mut [u8]) -> Result<()> {
        let place = self.held(element, at, out.len())?;
        self.inner.core.region().copy_from(place, out);
        Ok(())
    }

    /// Copies bytes into an element that this handle holds, from `at` on.
    ///
    /// # Errors
    /// As [`QueuePool::read`].
    ///
    /// # Panics
    /// As [`QueuePool::read`].
    pub fn write(&self, element: u32, at: u32, bytes: &[u8]) -> Result<()> {
        let place = self.held(element, at, bytes.len())?;
        self.inner.core.region().copy_to(place, bytes);
        Ok(())
    }

    fn held(&self, element: u32, at: u32, len: usize) -> Result<u64> {
        let me = self.inner.core.writer()?;
        if !self.inner.ends(0).is_held(me, element) {
            return Err(Error::NotHeld { element });
        }
        let end = u64::from(at) + len as u64;
        assert!(
            end <= u64::from(self.element_bytes()),
            "bytes beyond the end of an element"
        );
        Ok(self.place(element) + u64::from(at))
    }

    /// The elements that are held by processes which died or closed the pool.
    ///
    /// # Errors
    /// As [`QueuePool::reclaim`].
    ///
    /// # Concurrency
    /// As [`QueuePool::reclaim`].
    pub fn lost(&self) -> Result<Vec<u32>> {
        let (core, geometry) = (&self.inner.core, &self.inner.geometry);
        queue::lost(core.region(), core.writer()?, self.inner.base, geometry)
    }

    /// Takes those elements: this process holds them now, and can look at them and push them. Each
    /// goes to one, however many reclaim at once. Work that grows with the number of elements and
    /// with the room for queues.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Reentrant`]; what attaching gives, see [`Table::set`].
    ///
    /// # Concurrency
    /// Passes the locks of all queues once, and so waits for a process that is stopped in a push
    /// or pop.
    pub fn reclaim(&self) -> Result<Vec<u32>> {
        let (core, geometry) = (&self.inner.core, &self.inner.geometry);
        queue::reclaim(core.region(), core.writer()?, self.inner.base, geometry)
    }

    /// Checks the file that the pool is in; see [`Table::check`].
    ///
    /// # Errors
    /// As [`Table::check`].
    ///
    /// # Concurrency
    /// All queues stand still while they are looked at.
    pub fn check(&self) -> Result<CheckReport> {
        self.inner.core.check()
    }
}

impl fmt::Debug for QueuePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuePool")
            .field("path", &self.inner.core.path())
            .field("elements", &self.elements())
            .field("element_bytes", &self.element_bytes())
            .finish_non_exhaustive()
    }
}
