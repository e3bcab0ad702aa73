//! What a run measures with, so that nobody goes on with the rows of another: files are told by
//! their length and by when they were changed last, addresses, which may have passwords, by a hash.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

use super::{Config, found};
use crate::crew;

/// The name of each for people, and what it is; what is not there, or was not given, is left out.
pub(super) type Measured = Vec<(String, String)>;

/// Of this run.
pub(super) fn measured(config: &Config) -> Measured {
    let given = &config.given;
    let dir = config.dir.as_deref();
    let dir = dir.map(|dir| std::path::absolute(dir).unwrap_or(dir.to_owned()));
    let all = [
        (
            "program",
            crew::program().ok().and_then(|file| stamp(&file)),
        ),
        ("command tavola", config.tavola.as_deref().and_then(stamp)),
        // One that the linker finds by itself is of an installation, as its program is.
        (
            "library for C",
            found::library().and_then(|file| stamp(&file)),
        ),
        (
            "--company-file",
            config.company_file.as_deref().and_then(stamp),
        ),
        ("--dir", dir.map(|dir| dir.display().to_string())),
        ("--postgres", given.postgres.as_deref().map(hash)),
        ("--odbc", given.odbc.as_deref().map(hash)),
    ];
    let there = all
        .into_iter()
        .filter_map(|(name, what)| Some((name.to_owned(), what?)));
    there.collect()
}

/// The first that differs.
pub(super) fn difference<'a>(before: &'a Measured, now: &'a Measured) -> Option<&'a str> {
    let new = now.iter().find(|one| !before.contains(one));
    let gone = before.iter().find(|one| !now.contains(one));
    new.or(gone).map(|(name, _)| name.as_str())
}

fn stamp(file: &Path) -> Option<String> {
    let status = fs::metadata(file).ok()?;
    let changed = status.modified().ok()?;
    let since = changed.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} bytes of {}", status.len(), since.as_nanos()))
}

/// The same in each run of the same program, and another program is told from it before.
fn hash(address: &str) -> String {
    let mut hasher = DefaultHasher::new();
    address.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_whichever_has_it() {
        let of = |program: &str, dir: Option<&str>| {
            let all = [("program", Some(program)), ("--dir", dir)].into_iter();
            let there = all.filter_map(|(name, what)| Some((name.to_owned(), what?.to_owned())));
            there.collect::<Measured>()
        };
        let one = of("1", None);
        assert_eq!(difference(&one, &one), None);
        assert_eq!(difference(&one, &of("2", None)), Some("program"));
        assert_eq!(difference(&one, &of("1", Some("x"))), Some("--dir"));
        assert_eq!(difference(&of("1", Some("x")), &one), Some("--dir"));
        // Rows of before tell nothing of their program.
        assert_eq!(difference(&Measured::new(), &one), Some("program"));
    }

    #[test]
    fn a_file_that_was_changed_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("program");
        assert_eq!(stamp(&file), None);
        fs::write(&file, "one").unwrap();
        let before = stamp(&file);
        assert!(before.is_some() && before == stamp(&file));
        fs::write(&file, "three").unwrap();
        assert_ne!(before, stamp(&file));
    }

    #[test]
    fn of_an_address_nothing_is_told() {
        let address = "postgres://me:secret@there/db";
        assert_eq!(hash(address), hash(address));
        assert_ne!(hash(address), hash("postgres://me:other@there/db"));
        assert!(!hash(address).contains("secret"));
    }
}
