//! A step of a history: a call that changed something on a simulated disk, or a promise.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A file, by the order in which the files of one home were created.
pub(crate) type FileNumber = usize;

/// The files of a disk after a power failure, when nothing is open and all is sure.
pub(crate) type DiskImage = BTreeMap<String, Arc<Vec<u8>>>;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create {
        name: String,
        file: FileNumber,
    },
    Rename {
        from: String,
        to: String,
        file: FileNumber,
    },
    Remove {
        name: String,
    },
    Write {
        file: FileNumber,
        offset: u64,
        bytes: Arc<[u8]>,
        /// Set if the call failed after these bytes.
        errno: Option<i32>,
    },
    /// A sync began: of a file, or of the directory.
    SyncBegun {
        file: Option<FileNumber>,
    },
    /// The sync that began at step `begun` returned.
    SyncEnded {
        file: Option<FileNumber>,
        begun: usize,
        errno: Option<i32>,
    },
    /// A call failed and changed nothing.
    Failed {
        call: String,
        errno: i32,
    },
    /// A caller was promised that operation `n` survives.
    Acknowledged(u64),
}

impl Step {
    /// Returns true if a cut after this step may differ from one before it.
    pub(super) fn matters(&self) -> bool {
        !matches!(self, Step::SyncBegun { .. } | Step::Failed { .. })
    }
}
