//! A drain that runs in a thread of its own.
//!
//! The thread is started only if it is asked for. It ends when its handle is stopped or dropped, or
//! at the exit of the process: then it writes out all lines first.

use super::Log;
use super::drain::{LogDrain, LogSink};
use super::draining::is_draining;
use crate::error::{Error, Result};
use crate::sys::process::{at_exit, generation};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Lines found in a pass, from which on the next begins at once.
const MANY: usize = 1000;

/// The pause after a pass that has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// For so long the exit of a process waits for the last lines.
const LAST: Duration = Duration::from_secs(10);

/// For so long a lock is waited for that nobody holds for longer than a moment, except a thread
/// that a forked child does not have.
const MOMENT: Duration = Duration::from_secs(1);

/// A thread of this process that writes out the lines of a log; from [`Log::start_drain`].
///
/// Dropping it stops the thread, which writes out all lines first. If it is not dropped, the thread
/// writes out all lines at the exit of the process: at `exit`, or when `main` returns; the exit
/// waits for at most 10 seconds. After `_exit` or a signal that kills, the lines stay in the log
/// for the next drain.
///
/// # Concurrency
/// A forked child has the handle, but not the thread: there, dropping it does nothing.
pub struct DrainThread {
    work: Arc<DrainWork>,
    thread: Option<JoinHandle<()>>,
    generation: u64,
}

/// What the thread and its handles share.
struct DrainWork {
    progress: Mutex<DrainProgress>,
    changed: Condvar,
}

#[derive(Default)]
struct DrainProgress {
    /// Whether the thread is asked to end.
    is_stopped: bool,
    has_ended: bool,
    lines: u64,
    /// Of the last pass, if that has failed.
    failure: Option<Error>,
}

impl Log {
    /// Starts a thread that is the drain of the log until it is stopped.
    ///
    /// # Examples
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("tavola-drain-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let log = tavola::LogOptions::new().open(dir.join("events"))?;
    /// use tavola::{Level, LogText, RotatingFile};
    /// let file = RotatingFile::open(dir.join("events.log"), Some(100 << 20), 5)?;
    /// let drain = log.start_drain(LogText::new(file))?;
    /// log.line(Level::Info, "cart 3 is ready")?;
    /// assert_eq!(drain.stop()?, 1);
    /// assert!(std::fs::read_to_string(dir.join("events.log"))?.ends_with("cart 3 is ready\n"));
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::AlreadyDrained`]; [`Error::ReadOnly`]; [`Error::Io`] if the thread cannot be
    /// started.
    ///
    /// # Concurrency
    /// If the sink fails, the thread tries again every 100 ms; the lines come again.
    ///
    /// # Crash
    /// As [`Log::drain`].
    pub fn start_drain(&self, sink: impl LogSink + Send + 'static) -> Result<DrainThread> {
        let drain = self.drain()?;
        let failed = |source| Error::Io {
            op: "starting the drain",
            path: self.path().to_path_buf(),
            source,
        };
        let work = Arc::new(DrainWork {
            progress: Mutex::new(DrainProgress::default()),
            changed: Condvar::new(),
        });
        note(&work).map_err(failed)?;
        let seen = Arc::clone(&work);
        let thread = std::thread::Builder::new()
            .name("tavola-drain".to_string())
            .spawn(move || seen.run(drain, sink))
            .map_err(failed)?;
        Ok(DrainThread {
            work,
            thread: Some(thread),
            generation: generation(),
        })
    }
}

impl DrainThread {
    /// Returns how many lines the thread has written out.
    pub fn lines(&self) -> u64 {
        match self.is_own() {
            true => self.work.progress().lines,
            false => 0,
        }
    }

    /// Returns whether the last attempt to write lines has failed. They are in the log, and the
    /// thread tries again.
    pub fn has_failed(&self) -> bool {
        self.is_own() && self.work.progress().failure.is_some()
    }

    /// Returns whether this is the process that has started the thread, and not a forked child: in
    /// a child, the lock may be held by a thread that the child does not have.
    fn is_own(&self) -> bool {
        self.generation == generation()
    }

    /// Writes out all lines, ends the thread, and returns how many lines it has written out.
    ///
    /// # Errors
    /// [`Error::Sink`] if the last lines could not be written; they stay in the log.
    /// [`Error::AlreadyDrained`] in a forked child.
    pub fn stop(mut self) -> Result<u64> {
        if !self.is_own() {
            return Err(Error::AlreadyDrained);
        }
        self.end();
        let mut progress = self.work.progress();
        match progress.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(progress.lines),
        }
    }

    fn end(&mut self) {
        let thread = self.thread.take();
        if !self.is_own() {
            // This is a forked child: the thread runs in the parent.
            std::mem::forget(thread);
            return;
        }
        self.work.progress().is_stopped = true;
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for DrainThread {
    fn drop(&mut self) {
        self.end();
    }
}

impl DrainWork {
    fn progress(&self) -> MutexGuard<'_, DrainProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut drain: LogDrain, mut sink: impl LogSink) {
        // Also if the sink panics.
        let _end = AtEnd(self);
        while !self.progress().is_stopped {
            let outcome = drain.pass(&mut sink);
            let begun = Instant::now();
            let wanted = match &outcome {
                Ok(MANY..) => Duration::ZERO,
                Ok(_) => Duration::from_millis(1),
                Err(_) => PAUSE,
            };
            self.note(outcome);
            while begun.elapsed() < wanted && !self.progress().is_stopped {
                drain.wait(Duration::MAX);
            }
        }
        let outcome = drain.finish(&mut sink);
        // The log has no drain any more before anybody learns that this one has ended.
        drop(drain);
        self.note(outcome);
    }

    fn note(&self, outcome: Result<usize>) {
        let mut progress = self.progress();
        match outcome {
            Ok(lines) => {
                progress.lines += lines as u64;
                progress.failure = None;
            }
            Err(failure) => progress.failure = Some(failure),
        }
    }

    /// Lets the thread write out the last lines, and waits for that.
    fn end_at_exit(&self) {
        let mut progress = self.progress();
        progress.is_stopped = true;
        let is_running = |progress: &mut DrainProgress| !progress.has_ended;
        let _ = self.changed.wait_timeout_while(progress, LAST, is_running);
    }
}

/// Reports, when it is dropped, that the thread has ended.
struct AtEnd<'a>(&'a DrainWork);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.progress().has_ended = true;
        self.0.changed.notify_all();
    }
}

/// The drains that may run in a process, each with the generation of its process.
type Drains = Vec<(u64, Weak<DrainWork>)>;

static RUNNING: Mutex<Drains> = Mutex::new(Drains::new());

/// Locks the list of drains; not if a thread held it that a forked child does not have.
fn running() -> Option<MutexGuard<'static, Drains>> {
    let begun = Instant::now();
    loop {
        match RUNNING.try_lock() {
            Ok(running) => return Some(running),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() > MOMENT => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}

/// Notes a drain for the exit of the process.
fn note(work: &Arc<DrainWork>) -> std::io::Result<()> {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| at_exit(end_all));
    let mut running = running().ok_or(std::io::ErrorKind::WouldBlock)?;
    running.retain(|(_, work)| work.strong_count() > 0);
    running.push((generation(), Arc::downgrade(work)));
    Ok(())
}

extern "C" fn end_all() {
    // The sink of a drain may end the process: its own thread must not wait for itself.
    if is_draining() {
        return;
    }
    let own = |(generation, work): &(u64, Weak<DrainWork>)| {
        (*generation == self::generation()).then(|| work.upgrade())?
    };
    let Some(running) = running() else {
        return;
    };
    let all: Vec<_> = running.iter().filter_map(own).collect();
    drop(running);
    all.iter().for_each(|work| work.end_at_exit());
}

impl fmt::Debug for DrainThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DrainThread")
            .field("lines", &self.lines())
            .finish_non_exhaustive()
    }
}
