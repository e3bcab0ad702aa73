//! The five commands that the tour ends with: they work as printed, on the table it leaves behind.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::screen::Screen;
use crate::error::CliError;

pub fn show(screen: &Screen, table: &OsStr) -> Result<(), CliError> {
    let (tavola, table) = (program(), quoted(table));
    let commands = [
        (format!("{tavola} get {table} U+1F41A"), "one record"),
        (
            format!("{tavola} incr {table} count/So"),
            "count one more edit",
        ),
        (
            format!("{tavola} dump {table} --format tsv | grep 'CAT FACE'"),
            "search all of them",
        ),
        (
            format!("{tavola} stat {table}"),
            "its keys, memory and users",
        ),
        (
            format!("{tavola} drop {table}"),
            "remove it and free its memory",
        ),
    ];
    let width = commands
        .iter()
        .map(|(command, _)| command.chars().count())
        .max()
        .unwrap_or(0);
    screen.title("Try next, with the table of this tour")?;
    commands
        .iter()
        .try_for_each(|(command, purpose)| screen.hint(command, width, purpose))
}

/// How this program is called from here: by name if the shell finds it so, else by its path.
fn program() -> String {
    let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path)
        .map(|dir| dir.join("tavola"))
        .find(|it| it.is_file());
    let by_name = first.and_then(|found| found.canonicalize().ok()) == own && own.is_some();
    match std::env::args_os().next() {
        Some(called) if !by_name => quoted(&called),
        _ => "tavola".to_owned(),
    }
}

/// A word of a shell command.
pub fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte);
    match word.as_bytes().iter().all(plain) && !word.is_empty() {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(
            quoted(OsStr::new("./target/release/tavola")),
            "./target/release/tavola"
        );
        assert_eq!(quoted(OsStr::new("my table")), "'my table'");
        assert_eq!(quoted(OsStr::new("it's")), r"'it'\''s'");
        assert_eq!(quoted(OsStr::new("")), "''");
    }
}
