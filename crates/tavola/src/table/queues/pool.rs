//! A pool of queues, as a user has it open.

use super::Queue;
use super::handle::PoolInner;
use super::names::is_name;
use crate::error::{Error, Result};
use crate::layout::ExtentKind;
use crate::queue;
use crate::recover::CheckReport;
use crate::sync::UserWord;
use crate::table::Table;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A pool of elements in shared memory, with queues that pass them between processes.
///
/// Queues hold the numbers of elements, 32 bits each; the bytes of an element never move. The
/// process that popped an element holds it: only this process may access the bytes, until it pushes
/// the element to any queue of the pool. All processes and threads may push and pop. Elements
/// popped through a `QueuePool`, its clones and its queues are held by all threads that use these
/// handles; only one thread at a time may access an element or push it. A second open of the pool
/// in the same process is a separate holder.
///
/// [`QueueOptions`](crate::QueueOptions) creates a pool, in its own file or in the file of a table.
///
/// # Crash
/// An interrupted push or pop took effect completely or not at all. [`QueuePool::lost`] lists the
/// elements that were held by a dead process or a closed handle, and [`QueuePool::reclaim`] takes
/// them. A forked child does not hold the elements of its parent.
#[derive(Clone)]
pub struct QueuePool {
    pub(super) inner: Arc<PoolInner>,
}

impl Table {
    /// Opens a queue pool in the file of this table.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn pool(&self, name: &str) -> Result<QueuePool> {
        QueuePool::find(self, name)
    }

    /// Returns the names of the pools in the file of this table.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn pools(&self) -> Result<Vec<String>> {
        Ok(self.core()?.side_names(ExtentKind::QueuePool))
    }
}

impl QueuePool {
    /// Sets the lock timeout of the queues of this pool and of the table it was opened with, see
    /// [`Table::set_lock_timeout`](crate::Table::set_lock_timeout).
    pub fn set_lock_timeout(&self, limit: Option<std::time::Duration>) {
        self.inner.core.region().set_lock_limit(limit);
    }

    pub(super) fn find(table: &Table, name: &str) -> Result<QueuePool> {
        let core = table.lazy.get()?;
        match queue::open(core.region(), name.as_bytes())? {
            Some((base, geometry)) => Ok(QueuePool {
                inner: Arc::new(PoolInner {
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

    /// Returns a queue of the pool. A handle reads each name once.
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

    /// Adds an empty queue, if the pool has space for it
    /// ([`QueueOptions::queue_room`](crate::QueueOptions::queue_room)). It stays as long as the
    /// pool.
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
    /// [`Error::AlreadyThere`] if a queue has the name; [`Error::BadName`] if the name does not
    /// have 1 to 56 bytes; [`Error::Full`] if the pool has no space for another queue;
    /// [`Error::Corrupt`]; [`Error::ReadOnly`]; [`Error::Reentrant`]; the errors of attaching, see
    /// [`Table::set`].
    ///
    /// # Concurrency
    /// All processes that have the pool open find the queue by its name at once. If several add a
    /// queue of the same name at the same time, one succeeds.
    ///
    /// # Crash
    /// The queue is added completely or not at all.
    pub fn add_queue(&self, name: &str) -> Result<Queue> {
        if !is_name(name) {
            return Err(Error::BadName {
                name: format!("{name:?}"),
                why: "a queue has a name of 1 to 56 bytes, without zero bytes",
            });
        }
        let (core, seen) = (&self.inner.core, self.inner.named()?);
        let (me, base, pool) = (core.writer()?, self.inner.base, &self.inner.geometry);
        let added = match self.inner.find(name, seen) {
            Some(_) => None,
            None => queue::add(core.region(), me, base, pool, name.as_bytes(), seen)?,
        };
        match added {
            Some(number) => Ok(Queue::new(Arc::clone(&self.inner), number)),
            None => Err(Error::AlreadyThere {
                what: "queue",
                name: name.to_owned(),
            }),
        }
    }

    /// Returns the names of the queues; the first is the one that initially held all elements. The
    /// list is empty if the number of queues is damaged.
    pub fn queues(&self) -> Vec<String> {
        let name = |queue| self.inner.ends(queue).head.name.get();
        let all = (0..self.inner.named().unwrap_or(0)).map(name);
        all.map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect()
    }

    /// Returns the maximum number of queues, including the existing ones.
    pub fn queue_room(&self) -> u32 {
        self.inner.geometry.queues
    }

    /// Returns the path of its file.
    pub fn path(&self) -> &Path {
        self.inner.core.path()
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> u32 {
        self.inner.geometry.elements
    }

    /// Returns the size of an element in bytes.
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

    /// Returns a pointer to the bytes of an element, aligned to 8. It is valid while this handle is
    /// open. Only the holder of the element may read or write them, one thread at a time. If the
    /// pool is open read-only, writing ends the process with a signal.
    ///
    /// # Panics
    /// If the pool has no such element.
    #[inline]
    pub fn element_ptr(&self, element: u32) -> *mut u8 {
        let place = self.place(element);
        let region = self.inner.core.region();
        region.bytes(place, u64::from(self.inner.geometry.element_bytes))
    }

    /// Returns the words of an element (`AtomicU64`), for access in place without `unsafe`; the
    /// address is that of [`QueuePool::element_ptr`]. The last word is complete, whatever the size
    /// of an element. Relaxed ordering is enough, because push and pop synchronise.
    ///
    /// # Panics
    /// If the pool has no such element. A write to a pool that is open read-only ends the process
    /// with a signal.
    #[inline]
    pub fn words(&self, element: u32) -> &[UserWord] {
        let count = self.inner.geometry.stride / 8;
        let region = self.inner.core.region();
        region.user_words(self.place(element), count)
    }

    /// Copies bytes from an element that this handle holds, starting at `at`.
    ///
    /// # Errors
    /// [`Error::NotHeld`]; otherwise as [`Queue::push`].
    ///
    /// # Panics
    /// If the range is not within the element.
    pub fn read(&self, element: u32, at: u32, out: &mut [u8]) -> Result<()> {
        let place = self.held(element, at, out.len())?;
        self.inner.core.region().copy_from(place, out);
        Ok(())
    }

    /// Copies bytes into an element that this handle holds, starting at `at`.
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

    /// Returns the elements held by processes that died or closed the pool.
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

    /// Takes over the elements held by processes that died or closed the pool, and returns them:
    /// this process then holds them, and can read and push them. If several processes reclaim at
    /// the same time, each element goes to one of them. The time grows with the number of elements
    /// and with the maximum number of queues.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Reentrant`]; the errors of attaching, see [`Table::set`].
    ///
    /// # Concurrency
    /// Takes the lock of each queue once, so it waits for a process that is stopped in a push or
    /// pop.
    pub fn reclaim(&self) -> Result<Vec<u32>> {
        let (core, geometry) = (&self.inner.core, &self.inner.geometry);
        queue::reclaim(core.region(), core.writer()?, self.inner.base, geometry)
    }

    /// Checks the file of the pool; see [`Table::check`].
    ///
    /// # Errors
    /// As [`Table::check`].
    ///
    /// # Concurrency
    /// Each queue is locked while it is checked.
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
