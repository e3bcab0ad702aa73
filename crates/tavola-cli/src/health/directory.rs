//! The directory of tables: is it there, is it ours, who else may touch it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use tavola::names;

use super::Finding;
use super::shared::{self, Shared};
use crate::output::printable;

const TOPIC: &str = "directory";

/// Looks at the directory; it need not be there before the first table is made.
pub fn examine(directory: &Path) -> Vec<Finding> {
    let found = match fs::metadata(directory) {
        Ok(metadata) => judge(directory, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => vec![absent(directory)],
        Err(error) => vec![unreadable(directory, &error)],
    };
    // What the library refuses to use, it says best itself.
    match names::list() {
        Err(refused @ tavola::Error::Permission { .. })
            if directory == names::directory() && refused.os_error().is_none() =>
        {
            vec![of_sentence(&refused.to_string())]
        }
        _ => found,
    }
}

/// A sentence says what is the case and, after a semicolon, what to do.
fn of_sentence(sentence: &str) -> Finding {
    let (message, advice) = sentence
        .split_once("; ")
        .unwrap_or((sentence, "set TAVOLA_DIR to a directory of your own"));
    Finding::attention(TOPIC, message, advice)
}

fn judge(directory: &Path, metadata: &Metadata) -> Vec<Finding> {
    let path = shown(directory);
    if !metadata.is_dir() {
        let message = format!("{path} is not a directory");
        return vec![Finding::attention(
            TOPIC,
            message,
            "set TAVOLA_DIR to a directory",
        )];
    }
    let found = match access(
        directory,
        Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
    ) {
        Ok(()) => match Shared::of(directory, metadata) {
            Some(shared) => return shared.examine(),
            None => judge_rights(directory, metadata.mode(), metadata.uid()),
        },
        Err(Errno::ROFS) => {
            let message = format!("{path} is on a read-only file system");
            let advice = "mount it for writing, or set TAVOLA_DIR to another directory";
            Finding::attention(TOPIC, message, advice)
        }
        Err(_) => shared::refused(directory, metadata).unwrap_or_else(|| {
            let message = format!("you may not read and write {path}");
            let advice = "set TAVOLA_DIR to a directory of your own, or to one that \
                 'tavola dir create /dev/shm/shared --group GROUP' makes";
            Finding::attention(TOPIC, message, advice)
        }),
    };
    vec![found]
}

fn judge_rights(directory: &Path, mode: u32, owner: u32) -> Finding {
    judge_rights_for(geteuid().as_raw(), directory, mode, owner)
}

fn judge_rights_for(me: u32, directory: &Path, mode: u32, owner: u32) -> Finding {
    let (path, bits) = (shown(directory), mode & 0o7777);
    // Only its owner and root can change the mode.
    let change = |run: String, ask: &str| match owner == me || me == 0 {
        true => format!("run: {run}"),
        false => format!("ask user {owner} {ask}, or set TAVOLA_DIR to a directory of your own"),
    };
    if mode & 0o002 != 0 && mode & 0o1000 == 0 {
        let message = format!("everybody may replace the tables in {path} (mode {bits:o})");
        let advice = change(format!("chmod o-w {path}"), "to take that right away");
        return Finding::attention(TOPIC, message, advice);
    }
    if owner != me && owner != 0 {
        let message = format!(
            "{path} belongs to user {owner}, who can read, replace and remove every table in it"
        );
        let advice = "if you do not trust that user, set TAVOLA_DIR to a directory of your own";
        return Finding::attention(TOPIC, message, advice);
    }
    if mode & 0o002 != 0 {
        let message = format!("everybody may create tables in {path} (mode {bits:o})");
        let advice = "those of other users are refused; --any-owner allows them";
        return Finding::note(TOPIC, message, advice);
    }
    if mode & 0o077 != 0 {
        let message = format!("others may list {path} (mode {bits:o})");
        let advice = change(format!("chmod 700 {path}"), "to take that right away");
        return Finding::note(
            TOPIC,
            message,
            format!("fine if tables are shared; otherwise {advice}"),
        );
    }
    Finding::good(
        TOPIC,
        format!("{path} exists and is private (mode {bits:o})"),
    )
}

/// A path for a message.
fn shown(path: &Path) -> String {
    printable(path.as_os_str().as_encoded_bytes()).into_owned()
}

fn absent(directory: &Path) -> Finding {
    let path = shown(directory);
    let parent = directory
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if access(parent, Access::WRITE_OK | Access::EXEC_OK).is_ok() {
        let message = format!("{path} does not exist yet; the first table creates it");
        return Finding::good(TOPIC, message);
    }
    let message = format!(
        "{path} does not exist, and cannot be created in {}",
        shown(parent)
    );
    let advice = "create it, or set TAVOLA_DIR to a directory that you may write to";
    Finding::attention(TOPIC, message, advice)
}

fn unreadable(directory: &Path, error: &io::Error) -> Finding {
    let message = format!("{} cannot be examined ({error})", shown(directory));
    Finding::attention(
        TOPIC,
        message,
        "set TAVOLA_DIR to a directory that you may use",
    )
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn permissions_are_judged_by_which_other_users_may_write() {
        let me = geteuid().as_raw();
        let level = |mode| judge_rights(Path::new("/d"), mode, me).level;
        assert_eq!(level(0o40700), Level::Good);
        assert_eq!(level(0o40750), Level::Note);
        assert_eq!(level(0o41777), Level::Note);
        assert_eq!(level(0o40777), Level::Attention);
    }

    #[test]
    fn a_directory_of_another_user_is_reported_with_a_remedy() {
        let judge = |me, mode, owner| judge_rights_for(me, Path::new("/d"), mode, owner);
        for me in [0, 1000] {
            let other = judge(me, 0o40755, 1001);
            assert_eq!(other.level, Level::Attention, "{me}");
            assert!(other.message.contains("user 1001"), "{}", other.message);
        }
        assert_eq!(judge(1000, 0o40755, 0).level, Level::Note);
        for (me, owner, is_able) in [(1000, 1000, true), (0, 1001, true), (1000, 0, false)] {
            let advice = judge(me, 0o40777, owner).advice;
            assert_eq!(advice.contains("chmod"), is_able, "{advice}");
        }
    }

    #[test]
    fn a_file_in_place_of_the_directory_needs_attention() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(examine(file.path())[0].level, Level::Attention);
        assert_eq!(
            examine(&file.path().join("below"))[0].level,
            Level::Attention
        );
    }

    #[test]
    fn a_directory_that_is_not_there_yet_is_good_where_it_can_be_made() {
        let parent = tempfile::tempdir().unwrap();
        assert_eq!(examine(&parent.path().join("new"))[0].level, Level::Good);
        assert_eq!(
            examine(&parent.path().join("no/where"))[0].level,
            Level::Attention
        );
    }
}
