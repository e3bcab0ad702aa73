//! The folder a run works in: in memory, and gone afterwards.

use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "tavola-torture-";

/// A folder named after this process, removed when dropped by it.
pub(crate) struct Scratch {
    dir: PathBuf,
    owner: u32,
}

fn parent() -> PathBuf {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() {
        shm.to_path_buf()
    } else {
        std::env::temp_dir()
    }
}

impl Scratch {
    /// Makes it, and removes those that runs which were killed left behind.
    pub(crate) fn new() -> io::Result<Self> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let parent = parent();
        for entry in std::fs::read_dir(&parent)?.flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let pid = owner.and_then(|rest| rest.split('-').next());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let owner = std::process::id();
        let dir = parent.join(format!("{PREFIX}{owner}-{count}"));
        std::fs::create_dir(&dir)?;
        Ok(Self { dir, owner })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}
