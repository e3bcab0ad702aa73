//! Why a chore did not succeed, each a sentence that says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) enum Failure {
    Usage(&'static str),
    File {
        path: PathBuf,
        source: io::Error,
    },
    Spawn {
        program: &'static str,
        source: io::Error,
    },
    Exit {
        program: &'static str,
        stderr: String,
    },
    Findings {
        count: usize,
        files: usize,
    },
    Layout(crate::layout::Fault),
    /// What cbindgen said.
    Header(String),
    StaleHeader {
        path: String,
        line: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(usage) => f.write_str(usage),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Spawn { program, source } => {
                write!(
                    f,
                    "cannot run {program}: {source}; is it installed and on PATH?"
                )
            }
            Self::Exit { program, stderr } => write!(f, "{program} failed:\n{stderr}"),
            Self::Findings { count, files } => {
                write!(
                    f,
                    "tidy: {count} findings in {files} files looked at; mend the lines above"
                )
            }
            Self::Layout(fault) => fault.fmt(f),
            Self::Header(why) => write!(f, "the header cannot be made: {why}"),
            Self::StaleHeader { path, line } => write!(
                f,
                "{path}:{line} differs from the code; run `cargo xtask header`, read what changed"
            ),
        }
    }
}
