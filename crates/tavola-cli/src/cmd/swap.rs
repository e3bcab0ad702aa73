//! `tavola swap`: stores a value and prints the one it replaces.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{Notation, TableArg, ValueArg};
use crate::error::CliError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tavola swap leaders europe node-7       prints the previous leader
  tavola swap counters hits 0             reads a counter and resets it

The key gets the table's default TTL, and no flags or tags. If the key was missing, the
value is stored and the exit code is 1.";

/// Store a value, and print the previous one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let value = args.value.read()?;
    let Some(old) = args.table.keys_or_create()?.swap(&key, &value)? else {
        return Ok(ExitCode::from(crate::MISSING));
    };
    let mut out = Output::new();
    out.value(&old)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
