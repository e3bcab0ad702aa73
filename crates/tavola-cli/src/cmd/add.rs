//! `tavola add`: stores a value only if the key is missing.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::{AttributeArgs, Notation, TableArg, TagArgs, ValueArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola add locks nightly-report $$ || echo another process runs it
  tavola add locks import $$ --ttl 10m      expires by itself
  tavola add sessions alice --file default.json
  tavola add pages / --file index.html --tag home

If the key exists already, nothing is changed and the exit code is 1. If several processes
add the same key at the same time, exactly one gets exit code 0. 'tavola lock' also
releases a lock when its holder is killed.";

/// Store a value only if the key does not exist
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    #[command(flatten)]
    attributes: AttributeArgs,
    #[command(flatten)]
    tags: TagArgs,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let value = args.value.read()?;
    let table = args.table.keys_or_create()?;
    let tags = args.tags.of(&table)?;
    if table.add_tagged(&key, &value, args.attributes.attributes(), &tags)? {
        return Ok(ExitCode::SUCCESS);
    }
    if io::stderr().is_terminal() {
        eprintln!("tavola: the key exists already, nothing was changed");
    }
    Ok(ExitCode::from(crate::MISSING))
}
