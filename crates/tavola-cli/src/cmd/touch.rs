//! `tavola touch`: changes the time to live of keys.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use tavola::Expiry;

use crate::args::{Notation, TableArg, parse_ttl};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola touch sessions alice --ttl 30m
  tavola touch sessions alice bob --never
  tavola touch sessions alice             the table's default TTL

The exit code is 1 if a key is missing or has expired. Values and flags do not change.";

/// Change the TTL of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    /// The new TTL: 90, 1.5s, 250ms, 2h, 7d [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl, conflicts_with = "never")]
    ttl: Option<Duration>,
    /// Keep the keys until they are removed
    #[arg(long)]
    never: bool,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let keys = args.notation.read_all(&args.keys)?;
    let table = args.table.keys_existing()?;
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
