//! Whether a table that is open still has its name: a file can be removed or replaced while
//! processes have it open, and they go on in the old one then.

use super::Table;
use super::core::Core;
use crate::error::Result;
use crate::region::NameState;
use crate::sync::{Ordering, W32};
use crate::sys::clock;
use crate::sys::notice::StandardError;

/// When a handle looks at its name.
pub(super) struct NameWatch {
    /// The second of the last look, 0 if the table has no name yet, or the constant below if it
    /// has no name any more.
    looked: W32,
    standard_error: StandardError,
}

/// A value of `looked`: the notice was given.
const TOLD: u32 = u32::MAX;

impl NameWatch {
    pub(super) fn new() -> Self {
        Self {
            looked: W32::new(0),
            standard_error: StandardError::now(),
        }
    }

    /// From now on the table has a name.
    pub(super) fn begin(&self) {
        self.looked.store(now(), Ordering::Relaxed);
    }

    /// Whether it is time for a look; of several threads one gets it.
    fn is_due(&self) -> bool {
        let (looked, now) = (self.looked.load(Ordering::Relaxed), now());
        ![0, TOLD, now].contains(&looked) && self.looked.cas(looked, now, Ordering::Relaxed).is_ok()
    }
}

fn now() -> u32 {
    (clock::monotonic_s() as u32).clamp(1, TOLD - 1)
}

impl Core {
    /// Looks at the name, once a second at most, and says once what became of it.
    pub(super) fn look_at_name(&self) {
        if !self.name.is_due() {
            return;
        }
        let path = self.path().display();
        let notice = match self.region().name_state() {
            NameState::Same => return,
            NameState::Gone => format!(
                "the table {path} was removed while this process has it open; this process still \
                uses the removed file, which others cannot open. Open the table again (or see \
                refresh). If you did not remove it, the system may have done so at logout: see \
                tavola doctor"
            ),
            NameState::Other => format!(
                "the table {path} was replaced while this process has it open; this process \
                still uses the old file, while others open the new one. Open the table again (or \
                see refresh)"
            ),
        };
        self.name.looked.store(TOLD, Ordering::Relaxed);
        self.name.standard_error.notify(&notice);
    }
}

impl Table {
    /// Opens the table again, with the same options, if its file was removed or replaced meanwhile
    /// (`mv new live`, a logout). Without this call a handle continues to use the old file. Returns
    /// whether it was opened again; if not, the call costs one system call.
    ///
    /// A handle that writes checks this at most once a second, and reports it with a notice
    /// ([`on_notice`](crate::on_notice)). It does not switch to the new file by itself, because
    /// data read from the old table could then be written to the new one. Set a lock timeout again
    /// after a refresh.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if there is no table of that name any more;
    /// otherwise as [`Options::open_existing`](super::Options::open_existing). On an error the
    /// handle does not change.
    pub fn refresh(&mut self) -> Result<bool> {
        let reopened = self.reopened()?;
        let is_moved = reopened.is_some();
        if let Some(table) = reopened {
            *self = table;
        }
        Ok(is_moved)
    }

    /// Returns the table that has the name now, or `None` if it is this one. It is
    /// [`Table::refresh`] for shared handles: this handle stays open in any case.
    ///
    /// # Errors
    /// As [`Table::refresh`].
    pub fn reopened(&self) -> Result<Option<Table>> {
        if self.lazy.name_state() == NameState::Same {
            return Ok(None);
        }
        let opened = match self.is_read_only() {
            true => self.options.open_read_only(self.path()),
            false => self.options.open_existing(self.path()),
        };
        opened.map(Some)
    }
}
