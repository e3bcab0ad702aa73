//! Which keys are meant: those with a prefix, or those that match a glob.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::args::Notation;
use crate::error::CliError;
use crate::output::printable;

/// A prefix or a glob.
pub enum Pattern {
    Prefix(Vec<u8>),
    Glob(GlobMatcher),
}

impl Pattern {
    /// Reads a pattern that was given as an argument. A text without `*`, `?` and `[` is a prefix,
    /// and so is one in hexadecimal or base64.
    pub fn read(text: &OsStr, notation: &Notation) -> Result<Pattern, CliError> {
        let is_glob = text.as_bytes().iter().any(|byte| b"*?[".contains(byte));
        if !is_glob || !notation.is_plain() {
            return Ok(Pattern::Prefix(notation.read(text)?));
        }
        let wrong = |why: &str| {
            let text = printable(text.as_bytes());
            CliError::Sentence(format!(
                "'{text}' is not a pattern ({why}); write \\ before a literal *, ?, [ or {{"
            ))
        };
        let glob = text.to_str().ok_or_else(|| wrong("it is not UTF-8"))?;
        let glob = GlobBuilder::new(glob).backslash_escape(true).build();
        glob.map(|glob| Pattern::Glob(glob.compile_matcher()))
            .map_err(|error| wrong(&error.kind().to_string()))
    }

    pub fn matches(&self, key: &[u8]) -> bool {
        match self {
            Pattern::Prefix(prefix) => key.starts_with(prefix),
            Pattern::Glob(glob) => glob.is_match(Path::new(OsStr::from_bytes(key))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, key: &[u8]) -> bool {
        let pattern = Pattern::read(OsStr::new(pattern), &Notation::plain());
        pattern.expect("a pattern").matches(key)
    }

    #[test]
    fn a_glob_matches_the_whole_key_and_a_prefix_its_beginning() {
        assert!(matches("user:", b"user:1") && !matches("user:", b"a user:"));
        assert!(matches("user:*", b"user:1/2\n3") && !matches("user:*", b"a user:1"));
        assert!(matches("*", b"") && matches("", b"x") && matches("*", b"\xff\xfe/"));
        assert!(matches("k?", b"k1") && !matches("k?", b"k12"));
        assert!(matches("k[0-4]", b"k3") && !matches("k[0-4]", b"k7"));
        assert!(matches("a\\*b*", b"a*bc") && !matches("a\\*b*", b"axbc"));
        assert!(matches("*/*", b"a/b") && matches("*:{a,b}", b"k:b"));
    }

    #[test]
    fn a_glob_that_cannot_be_read_is_an_error() {
        for wrong in ["[", "*[a", "{a,*"] {
            assert!(
                Pattern::read(OsStr::new(wrong), &Notation::plain()).is_err(),
                "{wrong}"
            );
        }
    }
}
