//! What can go wrong in the command: each cause is one plain sentence that says what to do.
//!
//! `main` prints it as `tavola: SENTENCE` and ends with exit code 2.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::durable;

/// Why a command could not do what it was asked.
#[non_exhaustive]
#[derive(Debug)]
pub enum CliError {
    /// The table refused; its own sentence says why.
    Table(tavola::Error),
    /// Standard output could not be written. A broken pipe ends quietly instead.
    Output(io::Error),
    /// A file or standard input could not be read.
    Read { path: PathBuf, source: io::Error },
    /// A file or directory could not be written.
    Write { path: PathBuf, source: io::Error },
    /// Neither a value nor a file nor a pipe to read it from.
    NoInput { wanted: &'static str },
    /// A key that is not what `--hex` or `--base64` promised.
    BadKey {
        notation: &'static str,
        text: String,
    },
    /// A dump of bytes would garble the terminal.
    BinaryToTerminal,
    /// A dump that cannot be understood: damaged, cut short, or of another format.
    BadDump {
        path: PathBuf,
        line: Option<u64>,
        why: String,
    },
    /// A load that stopped half-way; what came before is in the table.
    Partial { loaded: u64, source: Box<CliError> },
    /// A constant file cannot be read or written; its own sentence says why.
    Constant(tavola_cdb::Error),
    /// A program that the command ran has failed; its exit code is passed on.
    Command { sentence: String, code: u8 },
    /// A cause only one command knows, as its own sentence.
    Sentence(String),
}

impl CliError {
    /// Returns the exit code of the whole command.
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Command { code, .. } => *code,
            _ => crate::ERROR,
        }
    }

    /// Whether the reader of standard output has gone away, which is no failure of ours.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, CliError::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // No command writes through a table that it opened read-only.
            CliError::Table(tavola::Error::ReadOnly) => f.write_str(
                "the table is on a read-only file system; mount it for writing, or use a table on \
                another one: by its path, or by its name with another TAVOLA_DIR",
            ),
            CliError::Table(source) => write_table_error(f, source),
            CliError::Output(source) => {
                write!(
                    f,
                    "cannot write to standard output ({source}); check where it is redirected"
                )
            }
            CliError::Read { path, source } => {
                write!(
                    f,
                    "cannot read {} ({source}); check the path",
                    path.display()
                )
            }
            CliError::Write { path, source } => {
                write!(
                    f,
                    "cannot write {} ({source}); choose another path",
                    path.display()
                )
            }
            CliError::NoInput { wanted } => {
                write!(
                    f,
                    "the {wanted} is missing: give it as an argument, in a file, or through a pipe"
                )
            }
            CliError::BadKey { notation, text } => write!(
                f,
                "'{text}' is not {notation}; encode the key, or leave out --{notation}"
            ),
            CliError::BinaryToTerminal => f.write_str(
                "a binary dump cannot be written to a terminal; name a file or use a \
                    pipe",
            ),
            CliError::BadDump {
                path,
                line: Some(line),
                why,
            } => {
                write!(f, "{}, line {line}: {why}", path.display())
            }
            CliError::BadDump {
                path,
                line: None,
                why,
            } => {
                write!(f, "{}: {why}", path.display())
            }
            CliError::Constant(source) => source.fmt(f),
            CliError::Partial { loaded: 0, source } => source.fmt(f),
            CliError::Partial { loaded, source } => {
                write!(
                    f,
                    "{source} (stopped here; the first {loaded} entries are loaded)"
                )
            }
            CliError::Sentence(sentence) | CliError::Command { sentence, .. } => {
                f.write_str(sentence)
            }
        }
    }
}

/// Writes an error of a table. If there is no table of a name, it points to a durable one of that
/// name in the working directory.
fn write_table_error(f: &mut fmt::Formatter<'_>, error: &tavola::Error) -> fmt::Result {
    write!(f, "{error}")?;
    let tavola::Error::NotFound { path } = error else {
        return Ok(());
    };
    match durable::near(path) {
        Some(home) => write!(f, "; or do you mean the durable table {home}?"),
        None => Ok(()),
    }
}

impl Error for CliError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CliError::Table(source) => Some(source),
            CliError::Output(source)
            | CliError::Read { source, .. }
            | CliError::Write { source, .. } => Some(source),
            CliError::Constant(source) => Some(source),
            CliError::Partial { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<tavola_cdb::Error> for CliError {
    fn from(source: tavola_cdb::Error) -> CliError {
        CliError::Constant(source)
    }
}

impl From<tavola::Error> for CliError {
    fn from(source: tavola::Error) -> CliError {
        CliError::Table(source)
    }
}

/// An I/O error that nothing else was made of is one of standard output.
impl From<io::Error> for CliError {
    fn from(source: io::Error) -> CliError {
        CliError::Output(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broken_standard_output_is_quiet() {
        assert!(CliError::from(io::Error::from(io::ErrorKind::BrokenPipe)).is_broken_pipe());
        assert!(!CliError::from(io::Error::from(io::ErrorKind::StorageFull)).is_broken_pipe());
        let file = CliError::Write {
            path: PathBuf::from("out"),
            source: io::Error::from(io::ErrorKind::BrokenPipe),
        };
        assert!(!file.is_broken_pipe());
    }

    #[test]
    fn a_write_that_is_refused_is_the_doing_of_the_file_system() {
        let refused = CliError::from(tavola::Error::ReadOnly).to_string();
        assert!(
            refused.contains("file system") && refused.contains("TAVOLA_DIR"),
            "{refused}"
        );
    }

    #[test]
    fn a_partial_load_reports_how_far_it_came() {
        let path = PathBuf::from("in.jsonl");
        let bad = CliError::BadDump {
            path,
            line: Some(7),
            why: "not JSON".to_string(),
        };
        let partial = CliError::Partial {
            loaded: 6,
            source: Box::new(bad),
        };
        assert!(
            partial
                .to_string()
                .starts_with("in.jsonl, line 7: not JSON")
        );
        assert!(partial.to_string().contains("6 entries"));
        assert!(partial.source().is_some());
    }
}
