//! `tavola touch`: lets keys expire at another time, or never.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use tavola::Expiry;

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola touch sessions alice --ttl 30m
  tavola touch sessions alice bob --never
  tavola touch sessions alice             as long as keys live in this table by default

Exit code 1 when a key is missing, or has expired. Values and flags stay as they are.";

/// Let keys expire at another time than they would, or never
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    /// How long they are there, from now on: 90, 1.5s, 250ms, 2h, 7d [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, conflicts_with = "never")]
    ttl: Option<Duration>,
    /// They do not expire
    #[arg(long)]
    never: bool,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let keys = args.notation.read_all(&args.keys)?;
    let table = args.table.open_existing()?;
    let expiry = match args.ttl {
        Some(ttl) => Expiry::After(ttl),
        None if args.never => Expiry::Never,
        None => Expiry::Default,
    };
    let mut code = ExitCode::SUCCESS;
    for key in keys {
        if !table.touch(&key, expiry)? {
            code = ExitCode::from(crate::MISSING);
        }
    }
    Ok(code)
}
