//! The directory of tables: is it there, is it ours, who else may touch it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::Finding;

const TOPIC: &str = "directory";

/// Looks at the directory; it need not be there before the first table is made.
pub fn examine(directory: &Path) -> Vec<Finding> {
    match fs::symlink_metadata(directory) {
        Ok(metadata) if metadata.is_symlink() => match fs::metadata(directory) {
            Ok(target) => vec![judge(directory, &target)],
            Err(error) => vec![unreadable(directory, &error)],
        },
        Ok(metadata) => vec![judge(directory, &metadata)],
        Err(error) if error.kind() == io::ErrorKind::NotFound => vec![absent(directory)],
        Err(error) => vec![unreadable(directory, &error)],
    }
}

fn judge(directory: &Path, metadata: &Metadata) -> Finding {
    let path = directory.display();
    if !metadata.is_dir() {
        let message = format!("{path} is not a directory");
        return Finding::attention(TOPIC, message, "move it away, or set TAVOLA_DIR to another");
    }
    match access(
        directory,
        Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
    ) {
        Ok(()) => judge_rights(directory, metadata.mode(), metadata.uid()),
        Err(Errno::ROFS) => {
            let message = format!("{path} is on a file system that can only be read");
            let advice = "mount it for writing, or set TAVOLA_DIR to another directory";
            Finding::attention(TOPIC, message, advice)
        }
        Err(_) => {
            let message = format!("you may not read and write {path}");
            let advice =
                "ask its owner for the right to, or set TAVOLA_DIR to a directory of your own";
            Finding::attention(TOPIC, message, advice)
        }
    }
}

fn judge_rights(directory: &Path, mode: u32, owner: u32) -> Finding {
    let path = directory.display();
    let bits = mode & 0o7777;
    if mode & 0o002 != 0 && mode & 0o1000 == 0 {
        let message = format!("everybody may replace the tables in {path} (mode {bits:o})");
        return Finding::attention(TOPIC, message, format!("run: chmod o-w {path}"));
    }
    let (me, shared) = (geteuid().as_raw(), mode & 0o077 != 0);
    if owner != me && me != 0 {
        let message = format!("{path} belongs to user {owner} (mode {bits:o})");
        return Finding::note(TOPIC, message, "fine when you share tables with that user");
    }
    if shared {
        let message = format!("others may look into {path} (mode {bits:o})");
        let advice = format!("fine when tables are shared; else run: chmod 700 {path}");
        return Finding::note(TOPIC, message, advice);
    }
    Finding::good(
        TOPIC,
        format!("{path} is there, and private (mode {bits:o})"),
    )
}

fn absent(directory: &Path) -> Finding {
    let path = directory.display();
    let parent = directory
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if access(parent, Access::WRITE_OK | Access::EXEC_OK).is_ok() {
        let message = format!("{path} is not there yet; the first table makes it");
        return Finding::good(TOPIC, message);
    }
    let message = format!(
        "{path} is not there, and cannot be made in {}",
        parent.display()
    );
    let advice = "make it, or set TAVOLA_DIR to a directory that you may write to";
    Finding::attention(TOPIC, message, advice)
}

fn unreadable(directory: &Path, error: &io::Error) -> Finding {
    let message = format!("{} cannot be looked at ({error})", directory.display());
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
    fn rights_are_judged_by_who_else_may_write() {
        let me = geteuid().as_raw();
        let level = |mode| judge_rights(Path::new("/d"), mode, me).level;
        assert_eq!(level(0o40700), Level::Good);
        assert_eq!(level(0o40750), Level::Note);
        assert_eq!(level(0o41777), Level::Note);
        assert_eq!(level(0o40777), Level::Attention);
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
