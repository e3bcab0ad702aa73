//! The error type of the crate. Each cause has a sentence that says what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result type of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call failed. A missing key is not an error: it is `Ok(None)`.
#[non_exhaustive]
#[derive(Debug)]
pub enum Error {
    /// A system call failed.
    System {
        /// What was tried, as in "cannot open".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not a constant database, or only the beginning of one.
    NotConstant {
        /// The file.
        path: PathBuf,
        /// How it was recognised.
        why: String,
    },
    /// The file is damaged: what it says about itself does not fit.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
        /// Where, in bytes from the beginning of the file.
        at: u64,
    },
    /// Another process shortened the file, or the disk failed, while it was open.
    Lost {
        /// The file.
        path: PathBuf,
    },
    /// The record would make the file too large for its format.
    Full {
        /// The file that was to be made.
        path: PathBuf,
    },
    /// The key or the value is too long for the frozen format.
    TooLong {
        /// The file that was to be made.
        path: PathBuf,
    },
    /// The writer failed before; its file cannot be finished.
    Failed {
        /// The file that was to be made.
        path: PathBuf,
    },
}

impl Error {
    /// Returns a function that makes an error of this action on this file from an error of the
    /// system.
    pub(crate) fn of<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Error + use<'a> {
        move |source| Error::System {
            action,
            path: path.to_path_buf(),
            source,
        }
    }

    /// Returns the error number of the system, if a system call failed.
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Error::System { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::System {
                action,
                path,
                source,
            } => write!(f, "{action} {}: {source}", path.display()),
            Error::NotConstant { path, why } => {
                write!(f, "{} is not a constant database: {why}", path.display())
            }
            Error::Damaged { path, what, at } => write!(
                f,
                "{} is damaged at byte {at}: {what}; make it again from its source",
                path.display()
            ),
            Error::Lost { path } => write!(
                f,
                "{} was shortened, or could not be read, while it was open; replace such files by \
                 renaming a new one over them, and open it again",
                path.display()
            ),
            Error::Full { path } => write!(
                f,
                "{} would be larger than 4 GiB, the limit of cdb files; use the 64-bit format",
                path.display()
            ),
            Error::TooLong { path } => write!(
                f,
                "a record of {} is too long; keys have at most 16 MiB, values less than 1 TiB",
                path.display()
            ),
            Error::Failed { path } => write!(
                f,
                "an earlier write to {} failed; begin again with a new writer",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
