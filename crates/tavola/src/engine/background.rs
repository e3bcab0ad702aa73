//! The threads that a table may start, and only if an option asks for it: one calls `maintain` at
//! intervals; that of a durable table keeps its journal (`table::durable`).

use super::core::Core;
use crate::error::{Error, Result};
use crate::sys::process::generation;
use std::path::PathBuf;
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

/// When a thread does its rounds.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    /// The thread's name.
    pub(crate) name: &'static str,
    /// The time between two rounds.
    pub(crate) pause: Duration,
    /// Whether there is one more when the thread is stopped.
    pub(crate) has_last: bool,
}

impl Background {
    /// Starts the thread that maintains a table.
    pub(crate) fn maintain(core: Arc<Core>) -> Result<Self> {
        let path = core.path().to_path_buf();
        let rounds = Rounds {
            name: "tavola",
            pause: PAUSE,
            has_last: false,
        };
        // A failure here (a full file system, a kernel without the call) is retried later; if it
        // matters, the caller's own operations report it.
        Self::start(rounds, path, move || drop(core.maintain(BYTES)))
    }

    /// Starts a thread that calls `round` again and again. `path` is that of the table, for errors.
    pub(crate) fn start(
        rounds: Rounds,
        path: PathBuf,
        mut round: impl FnMut() + Send + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(StopSignal {
            asked: Mutex::new(false),
            changed: Condvar::new(),
        });
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name(rounds.name.to_string())
            .spawn(move || run(rounds, &seen, &mut round))
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

fn run(rounds: Rounds, stop: &StopSignal, round: &mut impl FnMut()) {
    let mut asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
    while !*asked {
        drop(asked);
        round();
        asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*asked {
            asked = stop
                .changed
                .wait_timeout(asked, rounds.pause)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
    drop(asked);
    if rounds.has_last {
        round();
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
