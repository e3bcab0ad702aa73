//! As whom a server runs, and the file with its number.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Gid, Resource, Uid, geteuid, getrlimit, setrlimit};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};

use crate::error::CliError;
use crate::owner;

/// Becomes another user, with the groups that /etc/group gives it, where this one is root. Only
/// this thread does, so that it must be the only one; those it starts later are of the same user.
pub fn become_user(name: &str) -> Result<(), CliError> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let accounts = Path::new("/etc/passwd");
    let text = fs::read(accounts).map_err(|source| CliError::Read {
        path: accounts.into(),
        source,
    })?;
    let (account, uid, gid) = find(&String::from_utf8_lossy(&text), name).ok_or_else(|| {
        CliError::Sentence(format!(
            "there is no user {name} in /etc/passwd; name an existing user"
        ))
    })?;
    let group = Gid::from_raw(gid);
    let others = owner::groups_with(&account).into_iter();
    let groups: Vec<Gid> = [gid].into_iter().chain(others).map(Gid::from_raw).collect();
    set_thread_groups(&groups)
        .and_then(|()| set_thread_gid(group))
        .and_then(|()| set_thread_uid(Uid::from_raw(uid)))
        .map_err(|errno| CliError::Sentence(format!("cannot become user {name} ({errno})")))
}

/// The name of a user, its number and that of its group, by name or by number.
fn find(accounts: &str, name: &str) -> Option<(String, u32, u32)> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (account, _, uid, gid) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let is_it = account == name || uid == name;
        is_it.then(|| Some((account.to_string(), uid.parse().ok()?, gid.parse().ok()?)))?
    })
}

/// Lets the system write whole images of a process that crashes.
pub fn allow_core_files() {
    let mut limit = getrlimit(Resource::Core);
    limit.current = limit.maximum;
    // Raising it as far as is allowed does not fail.
    let _ = setrlimit(Resource::Core, limit);
}

/// A file with the number of this process; removed with the value.
#[derive(Debug)]
pub struct PidFile(PathBuf);

impl PidFile {
    pub fn write(path: &Path) -> Result<PidFile, CliError> {
        write_whole(path, &format!("{}\n", std::process::id()))?;
        Ok(PidFile(path.to_path_buf()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let found = fs::read_to_string(&self.0).unwrap_or_default();
        // A successor has put its own there.
        if found.trim() == std::process::id().to_string() {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Writes a file that is whole as soon as it is there.
pub fn write_whole(path: &Path, text: &str) -> Result<(), CliError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|source: io::Error| {
        let _ = fs::remove_file(&beside);
        CliError::Write {
            path: path.to_path_buf(),
            source,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nbad:x:many:1::/:\nann:x:1000:1001::/:\n";
        let found = |name: &str, uid, gid| Some((name.to_string(), uid, gid));
        assert_eq!(find(accounts, "root"), found("root", 0, 0));
        assert_eq!(find(accounts, "ann"), found("ann", 1000, 1001));
        assert_eq!(find(accounts, "1000"), found("ann", 1000, 1001));
        for nobody in ["", "bob", "x", "bad", "100"] {
            assert_eq!(find(accounts, nobody), None, "{nobody}");
        }
    }
}
