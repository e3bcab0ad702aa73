//! The one thread a table may start, and only when asked to.

use super::core::Core;
use crate::error::{Error, Result};
use crate::sys::process::generation;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two rounds, and what is collapsed in one at most.
const PAUSE: Duration = Duration::from_millis(200);
const BYTES: u64 = 64 << 20;

struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

/// A running thread; dropped, it is stopped and waited for.
pub(crate) struct Background {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    /// A forked child has the handle but not the thread.
    generation: u64,
}

impl Background {
    pub(crate) fn start(core: Arc<Core>) -> Result<Self> {
        let stop = Arc::new(Stop {
            asked: Mutex::new(false),
            changed: Condvar::new(),
        });
        let seen = Arc::clone(&stop);
        let path = core.path().to_path_buf();
        let thread = std::thread::Builder::new()
            .name("tavola".to_string())
            .spawn(move || run(&core, &seen))
            .map_err(|source| Error::Io {
                op: "starting the background thread",
                path,
                source,
            })?;
        Ok(Self {
            stop,
            thread: Some(thread),
            generation: generation(),
        })
    }
}

fn run(core: &Core, stop: &Stop) {
    let mut asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
    while !*asked {
        drop(asked);
        // What fails here (a full file system, a kernel without the call) is tried again later and
        // shows where it matters, in the caller's own operations.
        let _ = core.maintain(BYTES);
        asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*asked {
            asked = stop
                .changed
                .wait_timeout(asked, PAUSE)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let thread = self.thread.take();
        if self.generation != generation() {
            // The thread is our parent's.
            std::mem::forget(thread);
            return;
        }
        *self
            .stop
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
