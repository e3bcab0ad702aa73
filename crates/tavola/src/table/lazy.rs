//! A table is mapped when it is first needed; the very first reads do without
//! (`index::read_unmapped`).

use crate::engine::{Core, UidPolicy};
use crate::error::Result;
use crate::index::locate::read_unmapped;
use crate::region::{NameState, Unmapped};
use crate::sync::{Ordering, W32};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Reads that are done without mapping: a mapping pays from about the third on.
const UNMAPPED_READS: u32 = 2;

/// The way to a [`Core`] that may not be there yet.
pub(super) struct Lazy {
    core: OnceLock<Arc<Core>>,
    /// What is mapped when the time comes; a table that was just made is mapped already.
    file: Option<Unmapped>,
    /// Reads done without; approximate when threads race, which costs nothing.
    unmapped_reads: W32,
    path: PathBuf,
    writable: bool,
    uid_policy: UidPolicy,
}

impl Lazy {
    pub(super) fn mapped(core: Core, path: PathBuf) -> Self {
        Self::shared(Arc::new(core), path)
    }

    /// A core that others have as well.
    pub(super) fn shared(core: Arc<Core>, path: PathBuf) -> Self {
        let (writable, uid_policy) = (core.region().is_writable(), core.uid_policy);
        Self {
            core: OnceLock::from(core),
            file: None,
            unmapped_reads: W32::new(0),
            path,
            writable,
            uid_policy,
        }
    }

    pub(super) fn unmapped(file: Unmapped, path: PathBuf, uid_policy: UidPolicy) -> Self {
        let writable = file.is_writable();
        Self {
            core: OnceLock::new(),
            file: Some(file),
            unmapped_reads: W32::new(0),
            path,
            writable,
            uid_policy,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writable
    }

    #[inline(always)]
    pub(super) fn get(&self) -> Result<&Arc<Core>> {
        match (self.core.get(), &self.file) {
            (Some(core), _) => Ok(core),
            (None, Some(file)) => self.map(file),
            (None, None) => unreachable!("a table is mapped or has a file to map"),
        }
    }

    /// Threads that come here at once each map; one mapping stays, the others go.
    #[cold]
    fn map(&self, file: &Unmapped) -> Result<&Arc<Core>> {
        let region = file.map(&self.path)?;
        let core = Arc::new(Core::new(region, self.path.clone(), self.uid_policy));
        core.name.begin();
        Ok(self.core.get_or_init(|| core))
    }

    /// What the name of the table's file leads to now.
    pub(super) fn name_state(&self) -> NameState {
        match (self.core.get(), &self.file) {
            (Some(core), _) => core.region().name_state(),
            (None, Some(file)) => file.name_state(),
            (None, None) => NameState::Same,
        }
    }

    /// The core, if the table is mapped.
    #[inline(always)]
    pub(super) fn ready(&self) -> Option<&Core> {
        self.core.get().map(|core| &**core)
    }

    /// A read without the mapping: `None` when there had better be one. A key that is found has
    /// these client flags, and neither expiry nor version nor marks.
    #[cold]
    pub(super) fn read_unmapped(&self, key: &[u8], out: &mut Vec<u8>) -> Option<Option<u32>> {
        let file = self.file.as_ref()?;
        if self.unmapped_reads.fetch_add(1, Ordering::Relaxed) >= UNMAPPED_READS {
            return None;
        }
        let found = read_unmapped(file, key, out)?;
        if found.is_none() {
            out.clear();
        }
        Some(found)
    }
}
