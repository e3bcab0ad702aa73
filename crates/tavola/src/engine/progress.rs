//! How far a rebuild is, for programs that show it.

use crate::values::Rebuilding;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

type Handler = Arc<dyn Fn(&Rebuilding) + Send + Sync>;

static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Bytes between two calls of the handler.
const EVERY: u64 = 4 << 20;

/// Calls `handler` now and then while this process rebuilds a durable table, and at the end. It
/// must be quick, and must not use the table.
///
/// # Examples
/// ```
/// tavola::durable::on_rebuild(|now| {
///     eprintln!("{}: {} of {}", now.home.display(), now.done_bytes, now.total_bytes);
/// });
/// ```
pub fn on_rebuild(handler: impl Fn(&Rebuilding) + Send + Sync + 'static) {
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// The progress of one rebuild.
pub(crate) struct Progress {
    handler: Option<Handler>,
    now: Rebuilding,
    reported_bytes: u64,
}

impl Progress {
    pub(crate) fn begin(home: &Path, total_bytes: u64) -> Self {
        let handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            handler: handler.clone(),
            now: Rebuilding {
                home: home.to_path_buf(),
                done_bytes: 0,
                total_bytes,
                is_done: false,
            },
            reported_bytes: 0,
        }
    }

    /// Notes that so many bytes were read.
    pub(crate) fn advance(&mut self, bytes: u64) {
        self.now.done_bytes += bytes;
        if self.now.done_bytes - self.reported_bytes >= EVERY {
            self.reported_bytes = self.now.done_bytes;
            self.report();
        }
    }

    fn report(&self) {
        if let Some(handler) = &self.handler {
            handler(&self.now);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.now.is_done = true;
        self.report();
    }
}
