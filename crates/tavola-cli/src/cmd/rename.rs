//! `tavola rename`: gives a table another name.

use std::ffi::OsString;
use std::process::ExitCode;

use tavola::{Error, names};

use crate::args::options;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola rename sessions sessions-old
  tavola load new entries.jsonl && tavola drop live && tavola rename new live

One step: other processes find the table under one of the names. A table that has the
new name is not replaced: that is an error. Processes that have the table open go on
with it, and are told on standard error that its name is gone. Both names are on one
file system; 'tavola copy' writes a table to another one.";

/// Rename a table, a queue or a log
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it has a / in it
    #[arg(value_name = "TABLE")]
    from: OsString,
    /// The new name
    #[arg(value_name = "NEW")]
    to: OsString,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    options().rename(&args.from, &args.to).map_err(|error| {
        let other_system = Some(rustix::io::Errno::XDEV.raw_os_error());
        if !matches!(error, Error::Io { .. }) || error.os_error() != other_system {
            return error.into();
        }
        let to = names::path_of(&args.to).unwrap_or_else(|_| (&args.to).into());
        CliError::Sentence(format!(
            "cannot rename the table to {}, on another file system; write it there with \
             'tavola copy', and drop the old one",
            to.display()
        ))
    })?;
    Ok(ExitCode::SUCCESS)
}
