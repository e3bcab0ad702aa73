//! Named locks of a table, for `tavola.Lock`.

use crate::cell::LockedCell;
use crate::error::{OrRaise, refused};
use crate::lease::wait_in_slices;
use crate::table::Table;
use crate::text::bytes_of;
use crate::time::{duration, seconds};
use pyo3::prelude::*;
use std::process;
use std::time::Duration;
use tavola::{Hold, LockGuard, NamedLock};

/// One hold of a lock.
struct Held {
    hold: Hold,
    /// The process that has it. A forked child finds the holds of its parent here.
    pid: u32,
    is_shared: bool,
    owner_died: bool,
}

impl Held {
    fn new(guard: LockGuard<'_>) -> Self {
        Self {
            pid: process::id(),
            is_shared: guard.is_shared(),
            owner_died: guard.owner_died(),
            hold: guard.into_hold(),
        }
    }

    fn is_ours(&self) -> bool {
        self.pid == process::id()
    }
}

/// Returns whether handlers of signals may run in this thread: in the main thread. A forked child
/// may not know its new number yet, but it begins with a single thread, whose number is its pid.
fn runs_handlers(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let here: u32 = threading.call_method0("get_native_id")?.extract()?;
    if here == process::id() {
        return Ok(true);
    }
    let main = threading.call_method0("main_thread")?;
    main.getattr("native_id")?.eq(here)
}

/// A named lock, and how this object holds it.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct NativeLock {
    lock: NamedLock,
    /// The newest is the last. Threads that share the lock through one object have several.
    holds: LockedCell<Vec<Held>>,
}

impl NativeLock {
    /// Takes the lock. Returns `None` if it was not free in time.
    fn take(&self, is_shared: bool, limit: Duration) -> tavola::Result<Option<Held>> {
        let guard = match is_shared {
            true => self.lock.share_within(limit)?,
            false => self.lock.lock_within(limit)?,
        };
        Ok(guard.map(Held::new))
    }

    /// Returns what `ask` says of the newest hold, and false if this process has none.
    fn newest(&self, py: Python<'_>, ask: impl FnOnce(&Held) -> bool) -> bool {
        self.holds.with(py, |holds| {
            holds.last().is_some_and(|held| held.is_ours() && ask(held))
        })
    }
}

#[pymethods]
impl NativeLock {
    /// Takes the lock; waits for it at most for the seconds given; `None` and a negative number
    /// are no limit. Returns false if it was not free in time.
    fn acquire(&self, is_shared: bool, timeout: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = timeout.py();
        let limit = match timeout.is_none() || seconds("timeout", timeout)? < 0.0 {
            true => None,
            false => duration("timeout", timeout)?,
        };
        // Most locks are free, so the interpreter's lock is kept for the first attempt.
        let mut taken = self.take(is_shared, Duration::ZERO).or_raise(py)?;
        if taken.is_none() && limit != Some(Duration::ZERO) {
            if runs_handlers(py)? {
                wait_in_slices(py, limit, |slice| {
                    taken = self.take(is_shared, slice)?;
                    Ok(taken.is_some())
                })?;
            } else {
                // In one piece: between two slices others could share the lock again and again.
                let limit = limit.unwrap_or(Duration::MAX);
                taken = py.detach(|| self.take(is_shared, limit)).or_raise(py)?;
            }
        }
        let is_held = taken.is_some();
        self.holds.with(py, |holds| holds.extend(taken));
        Ok(is_held)
    }

    /// Releases the newest hold. Returns whether it was one of this process, or `None` without a
    /// hold.
    fn release(&self, py: Python<'_>) -> Option<bool> {
        let held = self.holds.with(py, Vec::pop)?;
        let is_ours = held.is_ours();
        // Without an effect on a hold of the parent.
        self.lock.release(held.hold);
        Some(is_ours)
    }

    #[getter]
    fn is_held(&self, py: Python<'_>) -> bool {
        self.newest(py, |_| true)
    }

    #[getter]
    fn is_shared(&self, py: Python<'_>) -> bool {
        self.newest(py, |held| held.is_shared)
    }

    #[getter]
    fn owner_died(&self, py: Python<'_>) -> bool {
        self.newest(py, |held| held.owner_died)
    }
}

impl Drop for NativeLock {
    fn drop(&mut self) {
        for held in self.holds.get_mut().drain(..) {
            self.lock.release(held.hold);
        }
    }
}

#[pymethods]
impl Table {
    /// Opens the lock of that name.
    #[pyo3(name = "_open_lock")]
    fn open_lock(&self, name: &Bound<'_, PyAny>) -> PyResult<NativeLock> {
        let py = name.py();
        let Some(bytes) = bytes_of(name)? else {
            let class = name.get_type();
            let why = format!("the name of a lock is str or bytes, not {}", class.name()?);
            return Err(pyo3::exceptions::PyTypeError::new_err(why));
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            let why = "the name of a lock is not UTF-8; choose another name";
            return Err(refused(py, "BAD_NAME", why));
        };
        let lock = self.change(py, |table| table.named_lock(text))?;
        Ok(NativeLock {
            lock,
            holds: LockedCell::new(Vec::new()),
        })
    }
}
