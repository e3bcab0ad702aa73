//! What a table holds, and who is attached.

use super::Table;
use crate::error::Result;
use crate::values::{Participant, Stats};

impl Table {
    /// Returns the number of keys. Expired keys count until they are removed, see
    /// [`Attributes`](crate::Attributes). While others write, the number is not a snapshot of one
    /// moment.
    ///
    /// # Errors
    /// Currently none.
    pub fn len(&self) -> Result<u64> {
        Ok(self.core()?.len())
    }

    /// Returns whether there are no keys.
    ///
    /// # Errors
    /// As [`Table::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.core()?.len() == 0)
    }

    /// Returns statistics of the table. Reads one word per page, which takes about 1 ms for 64 GiB.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the size of the file cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        self.core()?.stats()
    }

    /// Returns the processes attached for writing. The table does not know processes that only
    /// read.
    ///
    /// # Errors
    /// Currently none.
    pub fn participants(&self) -> Result<Vec<Participant>> {
        Ok(self.core()?.participants())
    }

    /// Frees the slots of dead participants, reclaims their resources, and returns how many there
    /// were. Writes also do this from time to time.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub fn reclaim(&self) -> Result<u32> {
        self.core()?.reclaim()
    }
}
