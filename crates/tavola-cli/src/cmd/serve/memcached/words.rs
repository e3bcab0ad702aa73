//! Arguments as memcached reads them, in words that clap reads.

use std::ffi::{OsStr, OsString};

/// Turns arguments into such that clap understands as memcached does: blanks before the value of a
/// flag do not count, whether it is in a word of its own (`"-m" " 64"`) or not (`"-m 64"`, as a
/// container's list of arguments may have it), and `--verbose` may have a value, which says
/// nothing.
///
/// `takes` returns whether a letter is a flag with a value.
pub fn words(
    all: impl Iterator<Item = OsString>,
    takes: impl Fn(char) -> bool,
) -> impl Iterator<Item = OsString> {
    all.map(move |word| {
        word.to_str()
            .and_then(|text| read(text, &takes))
            .unwrap_or(word)
    })
}

/// Returns the word as clap reads it, or `None` if it does not change.
fn read(word: &str, takes: &impl Fn(char) -> bool) -> Option<OsString> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=')?;
        let is_verbose = name.starts_with("verb") && "verbose".starts_with(name);
        return Some(match is_verbose {
            true => OsStr::new("--verbose").into(),
            false => format!("--{name}={}", value.trim_start()).into(),
        });
    }
    let Some(letters) = word.strip_prefix('-') else {
        return Some(word.trim_start().into());
    };
    let value = letters.find(takes)? + 1;
    let (flags, value) = letters.split_at(value);
    Some(format!("-{flags}{}", value.trim_start()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str) -> String {
        let takes = |letter| "mlsPo".contains(letter);
        let read: Vec<_> = words([OsString::from(word)].into_iter(), takes).collect();
        read[0].to_string_lossy().into_owned()
    }

    #[test]
    fn blanks_before_a_value_do_not_count() {
        for (word, same) in [
            ("-m 64", "-m64"),
            ("-vm \t64", "-vm64"),
            (" 64", "64"),
            ("-s /a b", "-s/a b"),
            ("-P/a b", "-P/a b"),
            ("-Pm 5", "-Pm 5"),
            ("--memory-limit= 64", "--memory-limit=64"),
        ] {
            assert_eq!(read(word), same);
        }
        for word in [
            "-v", "-vv", "--", "-", "--daemon", "-m", "-l::1", "-p -1", "",
        ] {
            assert_eq!(read(word), word);
        }
    }

    #[test]
    fn verbose_may_have_a_value() {
        assert_eq!(read("--verbose=3"), "--verbose");
        assert_eq!(read("--verb=x"), "--verbose");
        assert_eq!(read("--version"), "--version");
        assert_eq!(read("--verbatim=3"), "--verbatim=3");
    }
}
