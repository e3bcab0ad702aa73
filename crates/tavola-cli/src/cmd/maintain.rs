//! `tavola maintain`: housekeeping that no write does at once: the dead, the expired, huge pages,
//! memory given back.

use std::process::ExitCode;

use tavola::{Maintained, Table};

use crate::args::{TableArg, TablesArg};
use crate::error::CliError;
use crate::health::room;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola maintain sessions       after a large load: cold reads get faster
  tavola maintain                all tables

Reclaims the resources of dead processes, removes expired keys, moves the table to huge
pages if the kernel supports them (see 'tavola doctor'), and returns spare memory to the
system. Other processes can use the table meanwhile.";

/// How much one step may move, so that other users of the table are not kept waiting.
const STEP_BYTES: u64 = 64 << 20;

/// Run maintenance now: dead processes, expired keys, huge pages, spare memory
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    tables: TablesArg,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.tables.each(|table| {
        if !args.tables.is_one() {
            let mut out = Output::new();
            out.line(format!("{}:", table.label()))?;
            out.finish()?;
        }
        maintain(table)
    })
}

fn maintain(name: &TableArg) -> Result<ExitCode, CliError> {
    let table = name.open_existing()?;
    let reclaimed = table.reclaim()?;
    let total = maintain_all(&table)?;
    let mut out = Output::new();
    out.line(format!(
        "{} removed",
        units::counted(reclaimed.into(), "dead participant")
    ))?;
    match total.huge_pages_supported {
        true => out.line(format!(
            "{} moved to huge pages",
            units::size(total.collapsed_bytes)
        ))?,
        false if !room::is_in_memory(table.path()) => {
            out.line("no huge pages: only tables in memory, such as on /dev/shm, can have them")?;
        }
        false => out.line("no huge pages here; 'tavola doctor' says why")?,
    }
    out.line(format!(
        "{} returned to the system",
        units::size(total.given_back_bytes)
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn maintain_all(table: &Table) -> Result<Maintained, CliError> {
    table.remove_expired()?;
    let mut total = Maintained::default();
    loop {
        let step = table.maintain(STEP_BYTES)?;
        total.collapsed_bytes += step.collapsed_bytes;
        total.given_back_bytes += step.given_back_bytes;
        total.huge_pages_supported = step.huge_pages_supported;
        let idle = step.collapsed_bytes == 0 && step.given_back_bytes == 0;
        if step.done || idle {
            return Ok(total);
        }
    }
}
