//! `tavola take`: removes a key and prints its value.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tavola take tokens alice
  token=$(tavola take tokens alice) || echo it was used before

If several processes take a key at the same time, one of them gets the value. The exit
code is 1 if the key is missing.";

/// Remove a key, and print its value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let table = args.table.keys_existing()?;
    let Some(value) = table.take(&key)? else {
        if io::stderr().is_terminal() {
            eprintln!("tavola: the key is missing");
        }
        return Ok(ExitCode::from(crate::MISSING));
    };
    let mut out = Output::new();
    out.value(&value)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
