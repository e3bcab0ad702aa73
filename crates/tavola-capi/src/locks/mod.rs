//! Named locks, semaphores, and memory of a program's own, in the file of a table.

// In this order they stand in the header.
mod lock;

mod semaphore;

mod area;

use crate::entry::Answer;
use crate::status::{Failure, tavola_status};
use std::sync::{Mutex, PoisonError};
use tavola_core::Hold;

/// The holds of all threads that use a handle. They are alike, so any of them can be given back.
#[derive(Default)]
struct Holds(Mutex<Vec<Hold>>);

impl Holds {
    /// Notes what was taken, if something was. Returns the status of the call.
    fn note(&self, taken: Option<Taken>) -> Answer {
        let Some(taken) = taken else {
            return Ok(tavola_status::TAVOLA_TIMEOUT);
        };
        self.all().push(taken.hold);
        Ok(match taken.owner_died {
            true => tavola_status::TAVOLA_OWNER_DIED,
            false => tavola_status::TAVOLA_OK,
        })
    }

    /// Returns one of them, to be given back.
    fn take(&self) -> Result<Hold, Failure> {
        let hold = self.all().pop();
        hold.ok_or_else(|| Failure::not_held("this handle does not hold it"))
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Hold>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call has taken.
struct Taken {
    hold: Hold,
    owner_died: bool,
}
