//! `tavola resize`: raises the most that a table may grow to, while it is in use.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola resize sessions 32G
  tavola resize ./sessions.table 8G

Processes that have the table open see the new size at once. The limit is 16 times the
--max-size of the table's creation, and at most 64 GiB. The size cannot be reduced. The
capacity of a cache does not change; use 'tavola set-capacity'. For more space, create a
larger table and copy the keys:
  tavola create large --max-size 1T
  tavola dump sessions | tavola load large";

/// Raise the maximum size of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The new --max-size: 8G, 128G, rounded up to 16 KiB
    #[arg(value_name = "SIZE", value_parser = units::parse_size)]
    size: u64,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.open_existing()?;
    let before = table.stats()?.max_size;
    table.set_max_size(args.size)?;
    let now = table.stats()?.max_size;
    let mut out = Output::new();
    out.line(format!(
        "{} may now grow to {}; it was {}",
        args.table.label(),
        units::size(now),
        units::size(before)
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
