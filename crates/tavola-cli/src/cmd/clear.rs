//! `tavola clear`: removes all keys of a table, which stays.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola clear sessions

The table keeps its limits and options, and other processes can continue to use it. A key
that another process sets meanwhile may stay. 'tavola compact' returns the memory to the
system, and 'tavola drop' removes the table itself.";

/// Remove all keys of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.table.keys_existing()?.clear()?;
    Ok(ExitCode::SUCCESS)
}
