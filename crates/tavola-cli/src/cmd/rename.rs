//! `tavola rename`: gives a table another name.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use tavola::{Error, names};

use crate::args::options;
use crate::durable;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola rename sessions sessions-old
  tavola load new entries.jsonl && tavola drop live && tavola rename new live

The rename is atomic. It fails if a table has the new name already. Processes that have
the table open can continue to use it; they print a warning on standard error that its
name is gone. The directory of a durable table is renamed only if no process has it open.
Both names must be on the same file system; 'tavola copy' writes a table to
another one.";

/// Rename a table, a queue or a log
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it contains a /
    #[arg(value_name = "TABLE")]
    from: OsString,
    /// The new name
    #[arg(value_name = "NEW")]
    to: OsString,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if durable::home_of(&args.from).is_some() && !args.to.as_bytes().contains(&b'/') {
        durable::check_home(&args.to)?;
    }
    options().rename(&args.from, &args.to).map_err(|error| {
        let other_system = Some(rustix::io::Errno::XDEV.raw_os_error());
        if !matches!(error, Error::Io { .. }) || error.os_error() != other_system {
            return error.into();
        }
        let to = names::path_of(&args.to).unwrap_or_else(|_| (&args.to).into());
        CliError::Sentence(format!(
            "cannot rename the table to {}: it is on another file system; copy the table with \
            'tavola copy', then drop the old one",
            to.display()
        ))
    })?;
    Ok(ExitCode::SUCCESS)
}
