//! A directory that a group shares: whether each new table gets the group, its members, and which
//! tables they cannot read.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{getegid, geteuid, getgroups};
use tavola::names;

use super::Finding;
use crate::durable::short_name;
use crate::output::printable;
use crate::owner;

const TOPIC: &str = "directory";

/// At most so many names stand in a message.
const MOST_NAMES: usize = 8;

/// What is known of a directory that its group may write to.
pub struct Shared {
    path: String,
    gid: u32,
    group: String,
    mode: u32,
    owner: String,
    /// Whether this process may change the mode.
    can_change: bool,
}

impl Shared {
    /// Returns `None` if the group of the directory may not write to it.
    pub fn of(directory: &Path, metadata: &Metadata) -> Option<Shared> {
        let me = geteuid();
        let shared = Shared {
            path: printable(directory.as_os_str().as_encoded_bytes()).into_owned(),
            gid: metadata.gid(),
            group: owner::group_name(metadata.gid()),
            mode: metadata.mode() & 0o7777,
            owner: owner::name_of(metadata.uid()),
            can_change: me.is_root() || metadata.uid() == me.as_raw(),
        };
        shared.is_shared().then_some(shared)
    }

    fn is_shared(&self) -> bool {
        self.mode & 0o022 == 0o020
    }

    /// Returns what is to say of the group and of the tables in the directory.
    pub fn examine(&self) -> Vec<Finding> {
        let mut findings = vec![self.judge(&owner::members(self.gid))];
        findings.extend(self.unreached(&unreached_tables(self.gid)));
        findings
    }

    fn judge(&self, members: &[String]) -> Finding {
        let Shared {
            path, group, mode, ..
        } = self;
        if mode & 0o2000 == 0 {
            let message = format!(
                "new tables in {path} do not get its group {group} (mode {mode:o}, no setgid)"
            );
            let run = format!("chmod g+s {path}");
            let advice = match self.can_change {
                true => format!("run: {run}"),
                false => format!("ask its owner to run: {run}"),
            };
            return Finding::attention(TOPIC, message, advice);
        }
        if members.is_empty() {
            let message = format!("{path} is for group {group}, and nobody is in that group");
            let advice = format!("run: usermod -aG {group} USER, for each user; then log in again");
            return Finding::note(TOPIC, message, advice);
        }
        let (owner, names) = (&self.owner, listed(members));
        let message =
            format!("{path} of user {owner} is shared by group {group} (mode {mode:o}): {names}");
        Finding::good(TOPIC, message)
    }

    /// Says which tables the members of the group cannot open, though they share the directory.
    fn unreached(&self, tables: &[String]) -> Option<Finding> {
        if tables.is_empty() {
            return None;
        }
        let (path, group) = (&self.path, &self.group);
        let message = format!("members of group {group} cannot read: {}", listed(tables));
        let advice = format!(
            "if they are meant to, run for each: chgrp {group} {path}/TABLE && \
             chmod 660 {path}/TABLE; create new ones with --mode 660"
        );
        Some(Finding::note(TOPIC, message, advice))
    }
}

/// Returns why this user may not write to a directory that a group shares, and what to do.
pub fn refused(directory: &Path, metadata: &Metadata) -> Option<Finding> {
    let shared = Shared::of(directory, metadata)?;
    let (user, uid) = (owner::name_of(geteuid().as_raw()), geteuid().as_raw());
    let Shared {
        path, group, gid, ..
    } = &shared;
    if is_in(*gid) || metadata.uid() == uid {
        return None;
    }
    let message = format!("{path} is for group {group}, and this process is not in it");
    let advice = match owner::groups_with(&user).contains(gid) {
        true => format!("{user} was added to {group} after it logged in: log in again"),
        false => format!("run as root: usermod -aG {group} {user}; then log in again"),
    };
    Some(Finding::attention(TOPIC, message, advice))
}

fn is_in(gid: u32) -> bool {
    let others = getgroups().unwrap_or_default();
    getegid().as_raw() == gid || others.iter().any(|group| group.as_raw() == gid)
}

fn unreached_tables(gid: u32) -> Vec<String> {
    let is_unreached = |path: &Path| {
        let found = fs::metadata(path);
        found.is_ok_and(|file| {
            let by_group = file.gid() == gid && file.mode() & 0o040 != 0;
            !by_group && file.mode() & 0o004 == 0
        })
    };
    let tables = names::list().unwrap_or_default().into_iter();
    let unreached = tables.filter(|path| is_unreached(path));
    let name =
        |path: std::path::PathBuf| printable(short_name(&path).as_encoded_bytes()).into_owned();
    unreached.map(name).collect()
}

fn listed(names: &[String]) -> String {
    match names.len() {
        count if count > MOST_NAMES => {
            let rest = count - MOST_NAMES;
            format!("{} and {rest} more", names[..MOST_NAMES].join(", "))
        }
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn shared(mode: u32, can_change: bool) -> Shared {
        Shared {
            path: "/d".to_string(),
            gid: 50,
            group: "web".to_string(),
            mode,
            owner: "root".to_string(),
            can_change,
        }
    }

    #[test]
    fn a_shared_directory_needs_setgid_and_members() {
        let (ann, nobody) = (["ann".to_string()], []);
        let judge = |mode, members: &[String]| shared(mode, true).judge(members);
        let good = judge(0o2770, &ann);
        assert_eq!(good.level, Level::Good);
        assert!(good.message.contains("web") && good.message.contains("ann"));
        let empty = judge(0o2770, &nobody);
        assert_eq!(empty.level, Level::Note);
        assert!(empty.advice.contains("usermod -aG web"));
        let plain = judge(0o770, &ann);
        assert_eq!(plain.level, Level::Attention);
        assert!(plain.advice.starts_with("run: chmod g+s /d"));
        assert!(shared(0o770, false).judge(&ann).advice.contains("owner"));
    }

    #[test]
    fn tables_that_members_cannot_open_are_named() {
        assert!(shared(0o2770, true).unreached(&[]).is_none());
        let many: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
        let found = shared(0o2770, true).unreached(&many).unwrap();
        assert!(found.message.contains("t7 and 2 more"), "{}", found.message);
        assert!(found.advice.contains("chmod 660 /d/TABLE"));
    }
}
