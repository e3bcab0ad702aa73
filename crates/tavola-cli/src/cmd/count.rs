//! `tavola count`: the number of keys.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::output::Output;
use crate::pattern::Pattern;

const EXAMPLES: &str = "\
Examples:
  tavola count sessions
  tavola count sessions user:            keys that begin with user:
  tavola count sessions 'user:*:cart'    keys that match

Without a pattern the number comes from counters and no key is read; if more than about
100,000 keys have a TTL, the number of expired keys is an estimate. With a pattern all
keys are read.";

/// Print the number of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// Only keys with this prefix, or keys that match if it contains *, ? or [
    #[arg(value_name = "PATTERN", allow_negative_numbers = true)]
    pattern: Option<OsString>,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.keys_to_read()?;
    let number = match &args.pattern {
        None => table.live_keys()?.live,
        Some(text) => {
            let pattern = Pattern::read(text, &args.notation)?;
            let (mut number, mut entries) = (0, table.iter());
            while let Some((key, _)) = entries.next_entry()? {
                number += u64::from(pattern.matches(key));
            }
            number
        }
    };
    let mut out = Output::new();
    out.line(number.to_string())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
