//! Where the command `tavola` is, whose server is measured.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

const NAME: &str = "tavola";

/// Why what needs the command is left out, and what to do.
pub(crate) const MISSING: &str = "there is no program tavola beside this one or in PATH; \
    build it with 'make build', or name it with --tavola";

/// Returns the path of the command: the one that is named, else the one beside this program, else
/// the first in `PATH`. Returns `None` if there is none.
///
/// # Errors
///
/// `BadOption` when a program is named and missing.
pub fn find(named: Option<&OsStr>) -> Result<Option<PathBuf>> {
    let Some(name) = named else {
        let own = std::env::current_exe().ok();
        let beside = own.and_then(|own| Some(own.parent()?.join(NAME)));
        let beside = beside.filter(|path| path.is_file());
        return Ok(beside.or_else(|| program(OsStr::new(NAME))));
    };
    match program(name) {
        Some(path) => Ok(Some(absolute(&path))),
        None => Err(Error::option(
            NAME,
            format!("there is no program {}", name.display()),
        )),
    }
}

/// Returns the path of a program: a name that has a / in it is a path, others are looked for in
/// `PATH`.
pub(crate) fn program(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    let mut all = std::env::split_paths(&path).map(|dir| dir.join(name));
    all.find(|path| path.is_file())
}

/// Servers may start in another directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_named_is_taken_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("some");
        let refused = find(Some(named.as_os_str())).unwrap_err().to_string();
        assert!(refused.starts_with("--tavola: there is no"), "{refused}");
        std::fs::write(&named, "").unwrap();
        assert_eq!(find(Some(named.as_os_str())).unwrap(), Some(named));
    }

    #[test]
    fn names_are_searched_in_path() {
        assert!(program(OsStr::new("sh")).is_some_and(|path| path.is_absolute()));
        assert_eq!(program(OsStr::new("no-such-program-of-anybody")), None);
    }
}
