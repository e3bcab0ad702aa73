//! `tavola replace`: stores a value only if the key has one.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::{AttributeArgs, Notation, TableArg, ValueArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola replace sessions alice '{\"cart\":4}'
  tavola replace sessions alice --file alice.json --ttl 30m

As with 'tavola set', the key gets the TTL and flags given here, and no tags. If the key
is missing, nothing is stored and the exit code is 1.";

/// Store a value only if the key exists
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
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let value = args.value.read()?;
    let table = args.table.keys_existing()?;
    if table.replace_with(&key, &value, args.attributes.attributes())? {
        return Ok(ExitCode::SUCCESS);
    }
    if io::stderr().is_terminal() {
        eprintln!("tavola: the key is missing, nothing was stored");
    }
    Ok(ExitCode::from(crate::MISSING))
}
