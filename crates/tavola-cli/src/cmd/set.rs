//! `tavola set`: stores a value under a key.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{AttributeArgs, Notation, TableArg, TagArgs, ValueArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola set sessions alice '{\"cart\":3}'     makes the table when it is not there
  date +%s | tavola set jobs last-run
  tavola set pages /index.html --file index.html
  tavola set sessions bob '{}' --ttl 30m    gone half an hour from now
  tavola set pages / --file index.html --tag home --tag 'user 7'
  tavola set blobs --hex 00ff17 'a value under a binary key'
  tavola set temperatures oslo -- -5C

What comes by a pipe or from a file is stored exactly, its last newline included.";

/// Store a value under a key, whether or not the key was there
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
    let table = args.table.open_or_create()?;
    let tags = args.tags.of(&table)?;
    table.set_tagged(&key, &value, args.attributes.attributes(), &tags)?;
    Ok(ExitCode::SUCCESS)
}
