//! A queue as a file descriptor, for `poll` and `epoll`: a thread waits on the queue, and raises an
//! eventfd when it is not empty.

use super::queue::{Queue, Wait};
use crate::error::{Error, Result};
use crate::sync::{Ordering, W32};
use crate::sys::{event::Event, process::generation};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A file descriptor that is readable while a queue is not empty; from
/// [`Queue::watch`](crate::Queue::watch).
///
/// When it is readable, clear it first ([`Watch::clear`], or read 8 bytes from the descriptor),
/// then pop until the queue is empty, and poll again. It is a non-blocking eventfd, which only the
/// thread of this watch raises; dropping the watch ends the thread. If the program closes the
/// descriptor, the watch ends; it never writes to another file with the same number.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<WatchShared>,
    queue: Queue,
    thread: Option<JoinHandle<()>>,
    /// Distinguishes a forked child from its parent: the child has the handle but not the thread.
    generation: u64,
}

#[derive(Debug)]
struct WatchShared {
    event: Event,
    stop: Event,
    is_over: W32,
}

impl Queue {
    /// Returns a file descriptor that is readable while the queue is not empty. Starts a thread.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the descriptor or the thread cannot be created;
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub fn watch(&self) -> Result<Watch> {
        self.pool.core.writer()?;
        Watch::start(self.clone())
    }
}

impl Watch {
    pub(super) fn start(queue: Queue) -> Result<Self> {
        let made = |source| failed(queue.path(), source);
        let shared = Arc::new(WatchShared {
            event: Event::new().map_err(made)?,
            stop: Event::new().map_err(made)?,
            is_over: W32::new(0),
        });
        let (theirs, watched) = (Arc::clone(&shared), queue.clone());
        let thread = thread::Builder::new()
            .name("tavola watch".to_owned())
            .spawn(move || theirs.run(&watched))
            .map_err(made)?;
        Ok(Self {
            shared,
            queue,
            thread: Some(thread),
            generation: generation(),
        })
    }

    /// Makes the descriptor unreadable until the thread checks the queue again, which is at once if
    /// the queue is not empty.
    pub fn clear(&self) {
        self.shared.event.lower();
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io {
        op: "watching a queue",
        path: path.to_path_buf(),
        source,
    }
}

impl WatchShared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) != 0
    }

    fn run(&self, queue: &Queue) {
        while !self.is_over() {
            let mut wait = Wait::new(Duration::MAX);
            while queue.is_empty() {
                if self.is_over() {
                    return;
                }
                // If waiting fails, the descriptor becomes readable, so that the user's pop reports
                // the error.
                if queue.wait(&mut wait).is_err() {
                    break;
                }
            }
            queue.woken(&wait);
            if !self.event.raise() || self.event.wait_lowered(&self.stop).is_err() {
                return;
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.event.as_fd()
    }
}

impl AsRawFd for Watch {
    fn as_raw_fd(&self) -> RawFd {
        self.shared.event.as_raw_fd()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let thread = self.thread.take();
        if self.generation != generation() {
            // This is a forked child: the thread runs in the parent.
            std::mem::forget(thread);
            return;
        }
        self.shared.is_over.store(1, Ordering::Relaxed);
        self.shared.stop.raise();
        self.queue.stir();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
