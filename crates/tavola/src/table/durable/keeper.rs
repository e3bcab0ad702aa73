//! The thread of a handle of a durable table: it writes out and syncs in time, makes files ahead,
//! and makes a snapshot when the journal has become long.

use super::snapshot::snapshot;
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::journal::{head, tail};
use crate::sync::Ordering;
use crate::sys::process::generation;
use crate::table::{Options, Table, lazy::Lazy};
use crate::values::Durability;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The pause between two rounds, if the policy does not say another one.
const PAUSE: Duration = Duration::from_millis(50);
/// A snapshot is due when the journal behind the last one has so many bytes, and as many as that
/// snapshot.
const LEAST_JOURNAL: u64 = 64 << 20;

struct StopSignal {
    asked: Mutex<bool>,
    changed: Condvar,
}

/// A running thread. Dropping this stops the thread and waits for it.
pub(crate) struct Keeper {
    stop: Arc<StopSignal>,
    thread: Option<JoinHandle<()>>,
    /// A forked child has the handle but not the thread.
    generation: u64,
}

impl Keeper {
    pub(crate) fn start(core: Arc<Core>) -> Result<Self> {
        let stop = Arc::new(StopSignal {
            asked: Mutex::new(false),
            changed: Condvar::new(),
        });
        let seen = Arc::clone(&stop);
        let path = core.path().to_path_buf();
        let thread = std::thread::Builder::new()
            .name("tavola-journal".to_string())
            .spawn(move || run(&core, &seen))
            .map_err(|source| Error::Io {
                op: "starting the thread of the journal",
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

fn run(core: &Arc<Core>, stop: &StopSignal) {
    let pause = match core.durability {
        Durability::Within(time) => time.clamp(Duration::from_millis(1), PAUSE),
        _ => PAUSE,
    };
    let path = core.path().to_path_buf();
    let table = Table::of(Lazy::shared(Arc::clone(core), path), Options::new());
    let mut retry = Retry::default();
    let mut asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
    while !*asked {
        drop(asked);
        // What fails here fails again in a call that needs it, and is reported there.
        let _ = keep(&table, &mut retry);
        asked = stop.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*asked {
            asked = stop
                .changed
                .wait_timeout(asked, pause)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
    drop(asked);
    let _ = keep(&table, &mut retry);
}

/// Does what is due.
fn keep(table: &Table, retry: &mut Retry) -> Result<()> {
    let core = table.core()?;
    let Some(files) = core.journal.as_deref() else {
        return Ok(());
    };
    let (region, me) = (core.region(), core.writer()?);
    let words = head(region);
    if files.check(region).is_err() {
        if retry.is_due() {
            snapshot(table)?;
        }
        return Ok(());
    }
    *retry = Retry::default();
    let end = tail(region);
    match core.durability {
        Durability::Within(_) => files.sync_to(region, me, end)?,
        _ if words.written.load(Ordering::Acquire) < end => files.write_out(region, me)?,
        _ => {}
    }
    let segment = words.segment.load(Ordering::Relaxed);
    files.extend(region, me, segment / 2)?;
    let since = end.saturating_sub(words.snapshot.load(Ordering::Acquire));
    let last = words.snapshot_bytes.load(Ordering::Relaxed);
    if since > LEAST_JOURNAL.max(last) {
        snapshot(table)?;
    }
    Ok(())
}

/// When a failed journal is tried again: after a second, then after twice the time, up to a minute.
#[derive(Default)]
struct Retry {
    last: Option<(Instant, Duration)>,
}

impl Retry {
    fn is_due(&mut self) -> bool {
        let Some((at, pause)) = self.last else {
            self.last = Some((Instant::now(), Duration::from_secs(1)));
            return false;
        };
        let is_due = at.elapsed() >= pause;
        if is_due {
            self.last = Some((Instant::now(), (2 * pause).min(Duration::from_secs(60))));
        }
        is_due
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let thread = self.thread.take();
        if self.generation != generation() {
            // This is a forked child: the thread runs in the parent.
            std::mem::forget(thread);
            return;
        }
        let asked = self.stop.asked.lock();
        *asked.unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
