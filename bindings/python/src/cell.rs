//! State of an object that only the thread with the interpreter's lock may touch.

use pyo3::prelude::*;
use std::cell::UnsafeCell;

/// A value that is read and replaced under the interpreter's lock (GIL).
///
/// The module says that it needs this lock, so an interpreter without it takes it back when the
/// module is imported.
pub struct LockedCell<T>(UnsafeCell<T>);

// SAFETY: the value is only reached with a `Python` token, which one thread has at a time.
unsafe impl<T: Send> Sync for LockedCell<T> {}

impl<T> LockedCell<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Lends the value to the one that has the cell, such as a destructor.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// Calls `act` with the value. It must not run Python code, which could get here again.
    #[inline(always)]
    pub fn with<R>(&self, _py: Python<'_>, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the token shows that this thread has the lock, and `act` does not give it away.
        act(unsafe { &mut *self.0.get() })
    }

    /// Lends the value until the interpreter's lock is released.
    ///
    /// # Safety
    /// Until the borrow ends, no Python code runs and the lock is not released.
    #[inline(always)]
    pub unsafe fn borrow<'py>(&'py self, _py: Python<'py>) -> &'py T {
        // SAFETY: as in `with`; the caller keeps the lock.
        unsafe { &*self.0.get() }
    }
}
