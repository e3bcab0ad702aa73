//! Names: a table's name stands for a file in the user's own directory; anything with a `/` in it
//! is a path.

use super::create::told;
use crate::error::{Error, Result};
use crate::layout::MAGIC;
use crate::sys;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const LONGEST: usize = 200;

/// The directory of named tables: `TAVOLA_DIR`, else `/dev/shm/tavola-UID`.
pub fn directory() -> PathBuf {
    match std::env::var_os("TAVOLA_DIR") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir),
        _ => PathBuf::from(format!("/dev/shm/tavola-{}", sys::process::effective_uid())),
    }
}

/// The file a name stands for.
///
/// # Errors
/// [`Error::BadName`] for an empty name, one of more than 200 bytes, one that begins with a dot,
/// and one with control characters.
pub fn path_of(name: impl AsRef<OsStr>) -> Result<PathBuf> {
    let name = name.as_ref();
    let bytes = name.as_bytes();
    let bad = |why| {
        Err(Error::BadName {
            name: format!("{name:?}"),
            why,
        })
    };
    if bytes.is_empty() {
        return bad("it is empty");
    }
    if bytes.contains(&0) {
        return bad("it holds a NUL byte");
    }
    if bytes.contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    if bytes.len() > LONGEST {
        return bad("it is longer than 200 bytes");
    }
    if bytes[0] == b'.' {
        return bad("it begins with a dot; those names are kept for files that are being made");
    }
    if bytes.iter().any(|b| b.is_ascii_control()) {
        return bad("it holds control characters");
    }
    Ok(directory().join(name))
}

/// Makes the directory of named tables, 0700.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    let dir = directory();
    if path.parent() != Some(dir.as_path()) {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(&dir)
        .map_err(|source| told("making the directory of tables", &dir, source))
}

/// Refuses the default directory when somebody else may write to it: it stands in one where
/// everybody may make it.
pub(crate) fn check_directory(path: &Path) -> Result<()> {
    if std::env::var_os("TAVOLA_DIR").is_some_and(|dir| !dir.is_empty()) {
        return Ok(());
    }
    let dir = directory();
    if path.parent() != Some(dir.as_path()) {
        return Ok(());
    }
    let meta = match std::fs::symlink_metadata(&dir) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(told("reading the directory of tables", &dir, source)),
    };
    let ours = meta.is_dir() && meta.uid() == sys::process::effective_uid();
    if !ours || meta.mode() & 0o022 != 0 {
        let source = std::io::Error::new(
            std::io::ErrorKind::PermissionDenied,
            "it must be a directory of your own that no one else can write to",
        );
        return Err(Error::Permission { path: dir, source });
    }
    Ok(())
}

/// All tables in the directory, sorted by name.
///
/// # Errors
/// Those of reading the directory; one that does not exist holds no tables.
pub fn list() -> Result<Vec<PathBuf>> {
    let dir = directory();
    let failed = |source| told("listing the tables", &dir, source);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let mut tables = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if has_magic(&path) {
            tables.push(path);
        }
    }
    tables.sort();
    Ok(tables)
}

/// Unlinks a table. Processes that have it open keep their mapping until they close it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::NotATable`] when the file is something else, which is left alone.
pub fn remove(name: impl AsRef<OsStr>) -> Result<()> {
    let path = path_of(name)?;
    let failed = |source| told("removing the table", &path, source);
    let meta = std::fs::metadata(&path).map_err(failed)?;
    if !meta.is_file() || !has_magic(&path) {
        return Err(Error::NotATable {
            path: path.clone(),
            why: "it does not begin with the magic word".to_string(),
        });
    }
    std::fs::remove_file(&path).map_err(failed)
}

fn has_magic(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 8];
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let read =
        is_file && std::fs::File::open(path).is_ok_and(|mut f| f.read_exact(&mut magic).is_ok());
    let word = u64::from_ne_bytes(magic);
    read && (word == MAGIC || word == MAGIC.swap_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_files_are_refused() {
        for bad in ["", ".hidden", "..", "a\nb", "a\0b", &"x".repeat(201)] {
            assert!(
                matches!(path_of(bad), Err(Error::BadName { .. })),
                "{bad:?}"
            );
        }
        for good in ["sessions", "with space", "größe", "a.b-c_d"] {
            assert_eq!(path_of(good).unwrap(), directory().join(good));
        }
        assert_eq!(path_of("./x").unwrap(), PathBuf::from("./x"));
    }
}
