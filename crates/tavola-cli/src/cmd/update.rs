//! `tavola update`: changes a value by a command, a filter.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::args::{Notation, TableArg};
use crate::command;
use crate::error::CliError;
use crate::output::printable;

const EXAMPLES: &str = "\
Examples:
  tavola update sessions alice -- jq -c '.cart += 1'
  tavola update notes today -- sort -u
  tavola update lists queue -- sh -c 'cat; echo another line'

The command reads the value on standard input; its exact standard output becomes the new
value. If another process changes the key meanwhile, the command runs again with the new
value, so use only commands that may run twice. If the key is missing, the input is empty
and the key is created. An existing key keeps its TTL, flags and tags.

If the command fails, nothing is stored and its exit code is passed on.";

/// Change a value with a command that reads the old one and writes the new one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    notation: Notation,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let table = args.table.keys_or_create()?;
    table.try_update(&key, |old| {
        let value = command::output_of(&args.command, Some(old.unwrap_or_default()));
        value.map(Some).map_err(|failure| CliError::Command {
            sentence: format!(
                "the command failed ({}); {} was not changed",
                failure.why,
                printable(args.key.as_bytes())
            ),
            code: failure.code,
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
