//! Explains why the system refused access to a table, and which command gives access.
//!
//! "Permission denied" leaves open whether the file's mode, its group or its directory is in the
//! way. This module looks at all three and names the one step that helps.

use super::location::Location;
use crate::error::{Advised, Shown};
use crate::sys::file::FileInfo;
use crate::sys::process::{effective_uid, is_in_group};
use std::io;
use std::path::Path;

/// Adds to the system's error of opening a table what prevents it, if access was refused.
pub(super) fn opening(at: &Location, writable: bool, source: io::Error) -> io::Error {
    let (dir, name) = at.parts();
    with_advice(source, || match (dir.info_of(name, true), dir.info()) {
        (Ok(file), _) => Some(for_file(at.path(), &file, needed(writable))),
        (Err(_), Ok(dir)) => Some(for_directory(at.path(), &dir)),
        (Err(_), Err(_)) => None,
    })
}

/// Adds to the system's error of creating a table what prevents it, if access was refused.
pub(super) fn creating(at: &Location, source: io::Error) -> io::Error {
    let dir = at.parts().0;
    with_advice(source, || {
        dir.info().ok().map(|dir| for_directory(at.path(), &dir))
    })
}

fn with_advice(source: io::Error, advice: impl FnOnce() -> Option<String>) -> io::Error {
    let Some(number @ libc::EACCES) = source.raw_os_error() else {
        return source;
    };
    match advice() {
        Some(advice) => {
            let advice = advice.into();
            io::Error::new(source.kind(), Advised { number, advice })
        }
        None => source,
    }
}

/// Returns the bits that the group of a table needs, as digits of the mode.
fn needed(writable: bool) -> u32 {
    match writable {
        true => 0o060,
        false => 0o040,
    }
}

fn for_file(path: &Path, file: &FileInfo, bits: u32) -> String {
    let (owner, group, mode) = (file.uid, file.gid, file.mode);
    let (me, path) = (effective_uid(), Shown(path));
    let is = format!("it belongs to user {owner} and group {group}, with mode {mode:o}");
    let has_bits = mode & bits == bits;
    match (has_bits, is_in_group(group)) {
        (false, true) if owner != me => {
            let mode = mode | bits;
            format!("{is}; user {owner} can run: chmod {mode:o} {path}")
        }
        (true, false) if owner != me => format!(
            "{is}, and user {me} is not in that group; \
             root can run: usermod -aG {group} USER; then log in again"
        ),
        (false, false) if owner != me => {
            let mode = mode | bits;
            format!(
                "{is}; user {owner} can run: chgrp GROUP {path} && chmod {mode:o} {path}, \
                 with a group that both users are in; \
                 'tavola dir create' makes a directory whose tables a group shares"
            )
        }
        _ if owner == me && mode & (bits << 3) != bits << 3 => {
            let mode = mode | bits << 3;
            format!("{is}; run: chmod {mode:o} {path}")
        }
        _ => format!("{is}; ask its owner for access, or use a TAVOLA_DIR of your own"),
    }
}

fn for_directory(path: &Path, dir: &FileInfo) -> String {
    let (owner, group, mode) = (dir.uid, dir.gid, dir.mode);
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let folder = Shown(folder.unwrap_or(Path::new(".")));
    let me = effective_uid();
    let is = format!(
        "its directory {folder} belongs to user {owner} and group {group}, with mode {mode:o}"
    );
    if mode & 0o030 == 0o030 && owner != me && !is_in_group(group) {
        return format!(
            "{is}, and user {me} is not in that group; \
             root can run: usermod -aG {group} USER; then log in again"
        );
    }
    format!(
        "{is}; to share tables, create a directory for a group that all their users are in, \
         as in: tavola dir create /dev/shm/shared --group GROUP; then set TAVOLA_DIR to it"
    )
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn info(uid: u32, gid: u32, mode: u32) -> FileInfo {
        FileInfo {
            len: 0,
            allocated_bytes: 0,
            mode,
            uid,
            gid,
            is_regular: true,
            kind: libc::S_IFREG,
            names: 1,
            dev: 0,
            ino: 0,
        }
    }

    #[test]
    fn each_obstacle_has_its_command() {
        let me = effective_uid();
        // SAFETY: always succeeds and passes no memory.
        let mine = unsafe { libc::getegid() };
        let (other, foreign) = (me + 7, 4_000_000_000);
        for (file, bits, words) in [
            (info(other, mine, 0o600), 0o060, "chmod 660 /t"),
            (info(other, mine, 0o600), 0o040, "chmod 640 /t"),
            (info(other, foreign, 0o660), 0o060, "usermod -aG 4000000000"),
            (info(other, foreign, 0o600), 0o060, "chgrp GROUP /t"),
            (info(me, mine, 0o400), 0o060, "run: chmod 600 /t"),
            (info(other, mine, 0o660), 0o060, "ask its owner"),
        ] {
            let text = for_file(Path::new("/t"), &file, bits);
            assert!(text.contains(words), "{text}");
        }
        let text = for_directory(Path::new("/d/t"), &info(other, foreign, 0o770));
        assert!(text.contains("usermod") && text.contains("/d "), "{text}");
        let text = for_directory(Path::new("/d/t"), &info(other, mine, 0o700));
        assert!(text.contains("tavola dir create"), "{text}");
    }
}
