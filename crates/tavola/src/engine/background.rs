//! The one thread that a table may start, and only if an option asks for it: it calls `maintain` at
//! intervals.

use super::core::Core;
use crate::error::{Error, Result};
use crate::sys::process::generation;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The pause between two rounds, and the most bytes that one round collapses to huge pages.
const PAUSE: Duration = Duration::from_millis(200);
const BYTES: u64 = 64 << 20;

struct StopSignal {
    asked: Mutex<bool>,
    changed: Condvar,
}

/// A running thread. Dropping this stops the thread and waits for it.
pub(crate) struct Background {
    stop: Arc<StopSignal>,
    thread: Option<JoinHandle<()>>,
    /// Distinguishes a forked child from its parent: the child has the handle but not the thread.
    generation: u64,
}

impl Background {
    pub(crate) fn start(core: Arc<Core>) -> Result<Self> {
        let stop = Arc::new(StopSignal {
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

fn run(core: &Core, stop: &StopSignal) {
    let mut asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
    while !*asked {
        drop(asked);
        // A failure here (a full file system, a kernel without the call) is retried later; if it
        // matters, the caller's own operations report it.
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
            // This is a forked child: the thread runs in the parent.
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
