//! `tavola del`: removes keys.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use tavola::Table;

use super::cas::report;
use crate::args::{Expected, Notation, TableArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola del sessions alice
  tavola del sessions alice bob carol
  tavola del locks nightly-report --if-value $$     not if another process holds it now
  tavola ls sessions tmp: -0 | xargs -0 tavola del sessions

If a key is missing, the exit code is 1; the other keys are removed anyway. With
--if-value or --if-token, a key that has another value stays, and the exit code is 1, too.";

/// Remove keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    expected: Expected,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let keys = args.notation.read_all(&args.keys)?;
    if args.expected.is_given() {
        return remove_if(&args, &keys);
    }
    let table = args.table.keys_existing()?;
    let mut missing = 0;
    for key in &keys {
        missing += usize::from(!table.remove(key)?);
    }
    if missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if io::stderr().is_terminal() {
        eprintln!("tavola: {missing} of {} keys were missing", keys.len());
    }
    Ok(ExitCode::from(crate::MISSING))
}

fn remove_if(args: &Args, keys: &[Vec<u8>]) -> Result<ExitCode, CliError> {
    let [key] = keys else {
        let why = "--if-value and --if-token work with one key only; give one key, or leave them \
            out";
        return Err(CliError::Sentence(why.to_string()));
    };
    let table = args.table.keys_existing()?;
    let remove = |table: &Table, token| table.compare_and_remove(key, token);
    let outcome = args.expected.attempt(&table, key, remove)?;
    Ok(report(outcome, "removed"))
}
