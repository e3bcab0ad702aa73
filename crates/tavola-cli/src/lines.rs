//! Commands that are one a line: of `batch` and `shell`.

#[cfg(feature = "terminal")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use crate::cli::{self, Command};
use crate::error::CliError;

/// What keeps a process for itself, or has no use in one that runs many commands.
const NOT_IN_SESSIONS: [&str; 11] = [
    "batch",
    "bench",
    "completions",
    "exporter",
    "lock",
    "man",
    "memcached",
    "serve",
    "shell",
    "top",
    "tour",
];

/// Runs lines of words, quoted as for a shell. The description of the arguments is made once.
pub struct Lines {
    arguments: clap::Command,
    table: Option<OsString>,
}

/// What became of a line.
pub enum Ran {
    /// The line is empty or a comment.
    Nothing,
    Code(ExitCode),
    Help(String),
}

impl Lines {
    /// With a table, commands for a table get its name before their other arguments.
    pub fn new(table: Option<OsString>) -> Lines {
        Lines {
            arguments: cli::command(),
            table,
        }
    }

    #[cfg(feature = "terminal")]
    pub fn table(&self) -> Option<&OsStr> {
        self.table.as_deref()
    }

    #[cfg(feature = "terminal")]
    pub fn set_table(&mut self, table: OsString) {
        self.table = Some(table);
    }

    /// Runs one line.
    pub fn run(&mut self, line: &[u8]) -> Result<Ran, CliError> {
        let words = split(line)?;
        let Some(verb) = words.first() else {
            return Ok(Ran::Nothing);
        };
        let verb = verb.to_string_lossy().into_owned();
        if NOT_IN_SESSIONS.contains(&&*verb) {
            return Err(CliError::Sentence(format!(
                "'{verb}' cannot run in a batch or shell; run 'tavola {verb}' separately"
            )));
        }
        match self.parse(&verb, words) {
            Ok(command) => command.run().map(Ran::Code),
            Err(usage) => explain(&usage),
        }
    }

    fn parse(&mut self, verb: &str, words: Vec<OsString>) -> Result<Command, clap::Error> {
        let mut words = words.into_iter();
        let mut all = vec![OsString::from("tavola")];
        all.extend(words.next());
        if let Some(table) = self
            .table
            .clone()
            .filter(|_| is_on_table(&self.arguments, verb))
        {
            all.push(table);
        }
        all.extend(words);
        let matches = self.arguments.try_get_matches_from_mut(all);
        Command::from_arg_matches(&matches.map_err(cli::with_hint)?)
    }
}

/// Returns whether a verb works on one table, its first argument.
pub fn is_on_table(arguments: &clap::Command, verb: &str) -> bool {
    // These change which tables there are, so they name theirs.
    const NAMED: [&str; 4] = ["create", "drop", "rename", "copy"];
    let found = arguments.find_subcommand(verb);
    let first = found.and_then(|found| found.get_positionals().next());
    let names = first
        .and_then(clap::Arg::get_value_names)
        .unwrap_or_default();
    let is_table = names.iter().any(|name| name == "TABLE");
    is_table && !found.is_some_and(|found| NAMED.contains(&found.get_name()))
}

/// Splits a line into words.
pub fn split(line: &[u8]) -> Result<Vec<OsString>, CliError> {
    let words = shlex::bytes::split(line).ok_or_else(|| {
        CliError::Sentence("a quote is not closed, or \\ ends the line; quote as in sh".to_string())
    })?;
    Ok(words.into_iter().map(OsString::from_vec).collect())
}

/// Returns the help that was asked for, or what is wrong in one sentence.
fn explain(usage: &clap::Error) -> Result<Ran, CliError> {
    let text = usage.render().to_string();
    if matches!(
        usage.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return Ok(Ran::Help(text));
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut lines = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:"));
    let first = lines.next().unwrap_or_default().to_string();
    let rest = lines.filter(|line| !line.is_empty());
    let sentence = rest.fold(first, |all, line| format!("{all} {line}"));
    Err(CliError::Sentence(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_words_as_in_a_shell() {
        let words = |line: &[u8]| split(line).map(|words| words.len()).ok();
        assert_eq!(words(b"set t 'a b' \"c d\" # e"), Some(4));
        assert_eq!(words(b"  # nothing"), Some(0));
        assert_eq!(words(b"set \xff x"), Some(3));
        assert_eq!(words(b"set 'x"), None);
    }

    #[test]
    fn commands_for_one_table_are_known() {
        let arguments = cli::command();
        for verb in [
            "get", "set", "rm", "keys", "ls", "stat", "count", "dump", "load",
        ] {
            assert!(is_on_table(&arguments, verb), "{verb}");
        }
        for verb in [
            "create", "drop", "rename", "doctor", "help", "log", "queue", "nothing",
        ] {
            assert!(!is_on_table(&arguments, verb), "{verb}");
        }
    }
}
