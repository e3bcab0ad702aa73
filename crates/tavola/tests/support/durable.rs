//! A directory for a durable table, whose memory can be lost as by a restart of the machine.

use std::path::{Path, PathBuf};
use tavola::Table;

/// A durable table's directory, removed with the table's memory when dropped.
pub struct DurableDir {
    _parent: tempfile::TempDir,
    path: PathBuf,
}

impl DurableDir {
    pub fn new() -> Self {
        let parent = tempfile::Builder::new()
            .prefix("tavola-test-")
            .tempdir()
            .unwrap();
        let path = parent.path().join("home");
        Self {
            _parent: parent,
            path,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the memory of the table.
    pub fn lose_memory(&self) {
        std::fs::remove_file(self.memory().unwrap()).unwrap();
    }

    /// Returns the path of the table's memory, which the file `table` names.
    pub fn memory(&self) -> Option<PathBuf> {
        let table = std::fs::read(self.path.join("table")).ok()?;
        let path = table.get(2048 + 56..)?;
        let len = u64::from_le_bytes(table.get(2048 + 48..2048 + 56)?.try_into().ok()?);
        let path = path.get(..len as usize)?;
        Some(PathBuf::from(String::from_utf8(path.to_vec()).ok()?))
    }

    /// Removes the table.
    pub fn remove(&self) {
        let _ = Table::options().remove(&self.path);
    }
}

impl Drop for DurableDir {
    fn drop(&mut self) {
        self.remove();
    }
}
