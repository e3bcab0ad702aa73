//! `tavola compact`: gives memory back, all at once.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola compact sessions

Tables return memory to the system by themselves, a little at a time. This command does
all of it now, while other processes use the table.";

/// Return all unused memory of a table to the system
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let given_back_bytes = args.table.open_existing()?.compact()?;
    let mut out = Output::new();
    out.line(format!(
        "{} returned to the system",
        units::size(given_back_bytes)
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
