//! `tavola exists`: says by its exit code whether keys are there.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{Notation, TableArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola exists sessions alice && echo she is here
  tavola exists sessions alice bob       0 only if both exist

The exit code is 0 if all keys exist, 1 if one is missing. Prints nothing.";

/// Check whether keys exist; the result is the exit code
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let keys = args.notation.read_all(&args.keys)?;
    let table = args.table.keys_to_read()?;
    for key in keys {
        if !table.contains(&key)? {
            return Ok(ExitCode::from(crate::MISSING));
        }
    }
    Ok(ExitCode::SUCCESS)
}
