//! `tavola compact`: gives memory back, all at once.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola compact sessions

Tables give memory back by themselves, a little at a time; this does all of it now,
while others go on using the table.";

/// Give back all memory that a table no longer needs
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let given_back_bytes = args.table.open_existing()?.compact()?;
    let mut out = Output::new();
    out.line(format!("{} given back", units::size(given_back_bytes)))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
