//! The folders of a run: for stores in memory, and for those on a disk and the peers' programs.
//!
//! They are gone at the end of the run. Those of a run that was killed are removed by the next:
//! their name has the number of a process that is no more, and nobody holds their lock (processes
//! of another container, whose numbers say nothing here, may use the same `/dev/shm`).

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, geteuid, test_kill_process};

use super::Config;
use crate::{Error, Result};

const NAME: &str = "tavola-compare-";

/// The folders of a run, gone at its end.
pub(super) struct Folders {
    pub(super) memory: PathBuf,
    pub(super) disk: PathBuf,
    /// Locked until then.
    _held: [Option<File>; 2],
}

impl Folders {
    pub(super) fn make(config: &Config) -> Result<Self> {
        let memory = config.dir.as_deref().unwrap_or(Path::new("/dev/shm"));
        let (memory, held_memory) = folder_in(memory)?;
        let (disk, held_disk) = folder_in(&config.out)?;
        Ok(Self {
            memory,
            disk,
            _held: [held_memory, held_disk],
        })
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.memory);
        let _ = fs::remove_dir_all(&self.disk);
    }
}

/// A folder of this process, locked where the file system can.
fn folder_in(place: &Path) -> Result<(PathBuf, Option<File>)> {
    let place = std::path::absolute(place).map_err(Error::io("finding the folder for stores"))?;
    remove_those_of_the_dead(&place);
    let folder = place.join(format!("{NAME}{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(Error::io("making the folder for stores"))?;
    let held = held(&folder);
    Ok((folder, held))
}

/// The folder's lock, unless somebody has it.
fn held(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// What cannot be removed stays; it is in nobody's way.
fn remove_those_of_the_dead(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let Some(pid) = number.and_then(|number| Pid::from_raw(number.parse().ok()?)) else {
            continue;
        };
        // Not what a link leads to.
        let Ok(about) = entry.metadata() else {
            continue;
        };
        let is_own = about.is_dir() && about.uid() == geteuid().as_raw();
        let is_gone = test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        if is_own && is_gone && held(&entry.path()).is_some() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_killed_run_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let mut dead = Command::new("/bin/true").spawn().unwrap();
        let number = dead.id();
        dead.wait().unwrap();
        let make = |name: String| {
            let folder = dir.path().join(name);
            fs::create_dir_all(folder.join("store/deep")).unwrap();
            fs::write(folder.join("store/deep/file"), "left").unwrap();
            folder
        };
        let left = make(format!("{NAME}{number}"));
        let others = [
            make(format!("{NAME}1")),
            make(format!("{NAME}x{number}")),
            make(format!("another-{number}")),
        ];
        let held_by_another = held(&left).unwrap();
        remove_those_of_the_dead(dir.path());
        assert!(left.exists(), "who holds it may be of another container");
        drop(held_by_another);
        let (own, lock) = folder_in(dir.path()).unwrap();
        assert!(!left.exists());
        assert!(own.is_dir() && lock.is_some() && held(&own).is_none());
        for folder in others {
            assert!(folder.join("store/deep/file").exists(), "{folder:?}");
        }
    }
}
