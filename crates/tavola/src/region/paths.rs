//! Paths of tables' files: in the user's own directory, or as given.

use crate::error::{Error, Result};
use crate::sys;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const LONGEST: usize = 200;

/// Returns the directory of named tables: `TAVOLA_DIR`, or `/dev/shm/tavola-UID` if it is not set.
pub fn directory() -> PathBuf {
    match std::env::var_os("TAVOLA_DIR") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir),
        _ => PathBuf::from(format!("/dev/shm/tavola-{}", sys::process::effective_uid())),
    }
}

/// Returns the path of the file for a name.
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
        return bad("it contains a NUL byte");
    }
    if bytes.contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    if bytes.len() > LONGEST {
        return bad("it is longer than 200 bytes");
    }
    if bytes[0] == b'.' {
        return bad("it begins with a dot; such names are reserved for temporary files");
    }
    if bytes.iter().any(|b| b.is_ascii_control()) {
        return bad("it contains control characters");
    }
    Ok(directory().join(name))
}

/// Returns whether the user named no directory.
pub(super) fn is_default_directory() -> bool {
    std::env::var_os("TAVOLA_DIR").is_none_or(|dir| dir.is_empty())
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
