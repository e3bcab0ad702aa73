//! `tavola sync`: waits until all changes of a durable table are on disk.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::durable;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola sync /var/lib/app/users && echo saved

Returns when all changes that any process has made before survive a power failure. It is
needed for tables with --sync TIME or os, before what was written is reported to others.";

/// Wait until all changes of a durable table are on disk
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    durable::home(args.table.name())?;
    args.table.open_existing()?.sync()?;
    Ok(ExitCode::SUCCESS)
}
