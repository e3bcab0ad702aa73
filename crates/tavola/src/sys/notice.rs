//! Sentences for the operator of the process, about what no call can report.
//!
//! They go to standard error unless the program takes them. A program that becomes a daemon may
//! have closed that, and its number may lead to a file of its own: so nothing is written unless
//! standard error is what it was when the table was opened.

use super::file::len_and_blocks;
use std::io::Write;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

type Handler = Arc<dyn Fn(&str) + Send + Sync>;

static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Passes notices of the library to `handler` instead of writing them to standard error, for
/// example that the file of an open table was removed. A notice is one or two sentences, without a
/// newline. The handler runs in the thread that noticed it, during a call, while no lock is held.
///
/// # Examples
/// ```
/// tavola::on_notice(|notice| eprintln!("my program: {notice}"));
/// ```
pub fn on_notice(handler: impl Fn(&str) + Send + Sync + 'static) {
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// The file of standard error, or `None` if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StandardError(Option<(u64, u64)>);

impl StandardError {
    pub(crate) fn now() -> Self {
        // SAFETY: any number may be asked about; it is not kept.
        let fd = unsafe { BorrowedFd::borrow_raw(libc::STDERR_FILENO) };
        Self(len_and_blocks(fd).ok().map(|info| (info.dev, info.ino)))
    }

    /// Gives a notice to the program's handler, or writes it if this is still standard error.
    pub(crate) fn notify(self, notice: &str) {
        let handler = HANDLER
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(handler) = handler {
            handler(notice);
        } else if self.0.is_some() && self == Self::now() {
            let _ = writeln!(std::io::stderr(), "tavola: {notice}");
        }
    }
}
