//! Tables that go with their owner: a process that opens or lists one whose owner is gone removes
//! its name.

use super::lazy::Lazy;
use super::{Options, Table};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::Owner;
use crate::lock::{Me, has_users};
use crate::region::{self, Location, NameLock, Unmapped};
use crate::sys::process::{Liveness, identity, liveness};
use crate::values::LivesWith;
use std::path::Path;

impl Options {
    /// Opens a table with an owner, for reading or writing; `file` was opened just now.
    pub(super) fn open_owned(&self, at: &Location, mut file: Unmapped) -> Result<Table> {
        loop {
            let is_writable = file.is_writable();
            if is_writable && file.geometry().owner == Some(Owner::LastUser) {
                return self.open_as_user(at);
            }
            if !is_over(at, &file)? {
                let path = at.path().into();
                return self.table(Lazy::unmapped(file, path, self.uid_policy));
            }
            if remove_if_over(at, &file)? {
                return Err(missing(at));
            }
            // The name leads to another table by now.
            file = region::open(at, is_writable)?.in_core_dumps(self.core_dumps);
        }
    }

    /// Opens a table that goes with its last user, and attaches before anybody else can find that
    /// it has none.
    fn open_as_user(&self, at: &Location) -> Result<Table> {
        let Some(lock) = NameLock::of(at)? else {
            return Err(missing(at));
        };
        // What the name leads to may be another table by now.
        let file = region::open(at, true)?.in_core_dumps(self.core_dumps);
        if file.geometry().owner != Some(Owner::LastUser) {
            drop(lock);
            return self.open_owned(at, file);
        }
        let path = at.path();
        let core = Core::new(file.map(path)?, path.to_path_buf(), self.uid_policy);
        if !has_users(core.region(), Me::NOBODY) {
            lock.remove_name()?;
            return Err(missing(at));
        }
        core.writer()?;
        drop(lock);
        core.name.begin();
        self.table(Lazy::mapped(core, path.to_path_buf()))
    }
}

impl Table {
    /// Returns with whom the table goes, if it was created so. A process is named by its number in
    /// its own pid namespace.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn lives_with(&self) -> Result<Option<LivesWith>> {
        let owner = self.core()?.region().geometry().owner;
        Ok(owner.map(|owner| match owner {
            Owner::Process(process) => LivesWith::Process(process.pid),
            Owner::LastUser => LivesWith::LastUser,
        }))
    }
}

/// Removes the name of a table whose owner is gone. Returns whether it was.
pub(super) fn remove_if_over_at(path: &Path) -> bool {
    let Ok(at) = Location::of(path.as_os_str(), false) else {
        return false;
    };
    let file = region::open(&at, false);
    file.is_ok_and(|file| remove_if_over(&at, &file).unwrap_or(false))
}

/// Removes the name of a table whose owner is gone. Returns whether it was: then the name leads to
/// nothing, or to a file that only others may remove. Otherwise the name may lead to another table
/// than `file`.
///
/// # Errors
/// Those of removing it.
fn remove_if_over(at: &Location, file: &Unmapped) -> Result<bool> {
    if !is_over(at, file)? {
        return Ok(false);
    }
    let lock = match NameLock::of(at) {
        // A reader that may not write leaves the name to others.
        Err(_) if !file.is_writable() => None,
        lock => lock?,
    };
    let Some(lock) = lock else {
        return Ok(true);
    };
    // Again, as the name may lead to another table by now.
    match region::open(at, false) {
        Ok(now) if !is_over(at, &now)? => return Ok(false),
        Ok(_) => lock.remove_name()?,
        Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(true)
}

/// Returns whether the owner of a table is gone.
fn is_over(at: &Location, file: &Unmapped) -> Result<bool> {
    Ok(match file.geometry().owner {
        None => false,
        Some(Owner::Process(process)) => liveness(&process, &identity()) == Liveness::Dead,
        Some(Owner::LastUser) => !has_users(&file.map(at.path())?, Me::NOBODY),
    })
}

fn missing(at: &Location) -> Error {
    Error::NotFound {
        path: at.path().to_path_buf(),
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::sys::process::Identity;
    use std::sync::Barrier;

    const THREADS: usize = 8;

    /// Makes a table of this owner, whatever that is, with a key.
    fn make(path: &Path, owner: Owner) {
        let options = Table::options().max_size(1 << 20);
        let (mut geometry, max_size) = options.geometry(Some(path)).unwrap();
        geometry.owner = Some(owner);
        let at = Location::of(path.as_os_str(), false).unwrap();
        let made = region::create(at, geometry, max_size, options.rights());
        let (region, unnamed) = made.unwrap();
        let core = Core::new(region, path.to_path_buf(), options.uid_policy);
        unnamed.publish(core.region()).unwrap();
        let table = options
            .table(Lazy::mapped(core, path.to_path_buf()))
            .unwrap();
        table.set(b"of", b"the dead").unwrap();
        // Detaches, and leaves the file as a kill does.
        let kept = path.with_extension("kept");
        std::fs::hard_link(path, &kept).unwrap();
        drop(table);
        match path.exists() {
            true => std::fs::remove_file(kept).unwrap(),
            false => std::fs::rename(kept, path).unwrap(),
        }
    }

    /// An owner that had this process's number before it.
    fn earlier() -> Owner {
        let me = identity();
        Owner::Process(Identity {
            start_time: me.start_time - 1,
            ..me
        })
    }

    #[test]
    fn a_number_that_is_used_again_is_not_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        make(&path, Owner::Process(identity()));
        assert_eq!(Table::open_read_only(&path).unwrap().len().unwrap(), 1);
        assert!(!remove_if_over_at(&path) && path.exists());
        std::fs::remove_file(&path).unwrap();

        make(&path, earlier());
        let opened = Table::open_read_only(&path);
        assert!(matches!(opened, Err(Error::NotFound { .. })) && !path.exists());
        make(&path, earlier());
        let opened = Table::options().open_existing(&path);
        assert!(matches!(opened, Err(Error::NotFound { .. })) && !path.exists());
        make(&path, earlier());
        assert!(remove_if_over_at(&path) && !path.exists());
    }

    #[test]
    fn many_that_find_the_owner_gone_meet_in_one_new_table() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = dir.path().join(format!("t{round}"));
            let owner = [earlier(), Owner::LastUser][round % 2];
            make(&path, owner);
            let together = Barrier::new(THREADS);
            let options = Table::options().max_size(1 << 20);
            let options = match round % 2 {
                0 => options,
                _ => options.lives_with(LivesWith::LastUser),
            };
            std::thread::scope(|scope| {
                for thread in 0..THREADS as u64 {
                    let (together, options, path) = (&together, &options, &path);
                    scope.spawn(move || {
                        together.wait();
                        let table = options.open(path).unwrap();
                        table.set(thread.to_ne_bytes(), b"here").unwrap();
                        together.wait();
                        assert_eq!(table.len().unwrap(), THREADS as u64);
                        together.wait();
                    });
                }
            });
            assert_eq!(path.exists(), round % 2 == 0, "round {round}");
        }
    }

    #[test]
    fn an_owner_that_cannot_be_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |outcome: Result<Table>| {
            let option = "lives_with";
            assert!(
                matches!(outcome, Err(Error::BadOption { option: found, .. }) if found == option)
            );
        };
        let options = |owner| Table::options().max_size(1 << 20).lives_with(owner);
        for pid in [0, u32::MAX, i32::MAX as u32] {
            refused(options(LivesWith::Process(pid)).create(dir.path().join("t")));
        }
        refused(options(LivesWith::LastUser).private());
        let durable = options(LivesWith::LastUser).durable(crate::values::Durability::Os);
        refused(durable.create(dir.path().join("d")));
        assert!(!dir.path().join("t").exists());
    }
}
