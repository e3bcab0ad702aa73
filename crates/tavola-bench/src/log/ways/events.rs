//! The ways over tracing-appender, whose thread writes what the writers hand it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

use super::CHUNK;
use crate::log::Way;
use crate::log::pen::Pen;
use crate::{Error, Result};

/// How often is looked whether the thread is done.
const LOOK: Duration = Duration::from_micros(100);
/// A thread that has written nothing for so long writes no more.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process' thread, as long as this lives.
pub(in crate::log) struct Appender {
    pub(in crate::log) handle: NonBlocking,
    written: Arc<AtomicU64>,
    flushed: Arc<AtomicU64>,
    _guard: WorkerGuard,
}

impl Appender {
    pub(in crate::log) fn new(way: Way, file: File) -> Self {
        match way {
            Way::TracingBuffered => Self::over(BufWriter::with_capacity(CHUNK, file)),
            _ => Self::over(file),
        }
    }

    fn over(out: impl Write + Send + 'static) -> Self {
        let written = Arc::new(AtomicU64::new(0));
        let flushed = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            out,
            written: Arc::clone(&written),
            flushed: Arc::clone(&flushed),
        };
        let builder = NonBlockingBuilder::default().lossy(false);
        let (handle, guard) = builder.finish(counted);
        Self {
            handle,
            written,
            flushed,
            _guard: guard,
        }
    }

    /// From now on events of this process go there.
    pub(in crate::log) fn subscribe(&self) -> Result<()> {
        let subscriber = tracing_subscriber::fmt()
            .with_writer(self.handle.clone())
            .with_target(false)
            .with_thread_ids(true)
            .finish();
        let first = tracing::subscriber::set_global_default(subscriber);
        first.map_err(|error| Error::Worker {
            what: error.to_string(),
        })
    }

    /// Waits until so many lines are in the file, or no more come. The guard would wait a second.
    pub(in crate::log) fn wait_for(&self, lines: u64) {
        let (mut seen, mut since) = (0, Instant::now());
        while self.flushed.load(Ordering::Acquire) < lines && since.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
            let written = self.written.load(Ordering::Relaxed);
            if written != seen {
                (seen, since) = (written, Instant::now());
            }
        }
    }
}

/// Counts the lines that the thread writes, and those it has flushed; it does both itself.
struct Counted<W> {
    out: W,
    written: Arc<AtomicU64>,
    flushed: Arc<AtomicU64>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    /// The thread calls it once a line.
    fn write_all(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.out.write_all(line)?;
        let written = self.written.load(Ordering::Relaxed) + 1;
        self.written.store(written, Ordering::Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()?;
        let written = self.written.load(Ordering::Relaxed);
        // Pairs with the load in `wait_for`.
        self.flushed.store(written, Ordering::Release);
        Ok(())
    }
}

/// A writer's, over this process' subscriber.
pub(in crate::log) struct Events;

impl Pen for Events {
    #[inline]
    fn line(&mut self, text: &str) -> Result<()> {
        tracing::info!("{text}");
        Ok(())
    }
}
