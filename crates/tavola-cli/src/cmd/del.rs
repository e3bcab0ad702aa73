//! `tavola del`: removes keys.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::{Notation, TableArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola del sessions alice
  tavola del sessions alice bob carol
  tavola ls sessions tmp: | xargs -d '\\n' tavola del sessions

Exit code 1 when a key was missing; the others are removed all the same.";

/// Remove keys
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
    let table = args.table.open_existing()?;
    let keys = args.notation.read_all(&args.keys)?;
    let mut missing = 0;
    for key in &keys {
        missing += usize::from(!table.remove(key)?);
    }
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if io::stderr().is_terminal() {
        eprintln!("tavola: {missing} of {} keys were missing", keys.len());
    }
    Ok(ExitCode::from(crate::MISSING))
}
