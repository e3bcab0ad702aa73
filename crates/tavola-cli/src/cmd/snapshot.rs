//! `tavola snapshot`: writes all keys of a durable table to its directory.

use std::process::ExitCode;

use crate::args::TableArg;
use crate::durable;
use crate::error::CliError;
use crate::output::Output;
use crate::units::size;

const EXAMPLES: &str = "\
Examples:
  tavola snapshot /var/lib/app/users
  tavola snapshot ./users && cp -r ./users /backup/users-monday

Afterwards a rebuild reads the snapshot instead of the journal before it, which is
removed. Snapshots are also made automatically, when the journal has grown by 64 MiB and
by as much as the last snapshot has. Other processes can write meanwhile. If the disk had
failed, a snapshot that succeeds lets writes go on. The exit code is 1 if another process
is just making one.";

/// Write a snapshot of a durable table, which shortens its journal
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    durable::home(args.table.name())?;
    let table = args.table.open_existing()?;
    if !table.snapshot()? {
        eprintln!(
            "tavola: another process is just making a snapshot of {}",
            args.table.label()
        );
        return Ok(ExitCode::from(crate::MISSING));
    }
    let stats = table.durable_stats()?;
    let bytes = stats
        .and_then(|stats| stats.snapshot)
        .map_or(0, |made| made.1);
    let mut out = Output::new();
    out.line(format!("{} written", size(bytes)))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
