//! Whether a table that is open still has its name.

use super::Table;
use crate::error::Result;
use crate::region::NameState;

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
    /// handle does not change. Of a durable table, [`Error::InUseElsewhere`](
    /// crate::Error::InUseElsewhere) if other processes still use the memory that was removed; if
    /// none does, this handle refuses writes from here on, and all that it has written is on disk.
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
        self.leave_memory()?;
        let opened = match self.is_read_only() {
            true => self.options.open_read_only(self.path()),
            false => self.options.open_existing(self.path()),
        };
        opened.map(Some)
    }
}
