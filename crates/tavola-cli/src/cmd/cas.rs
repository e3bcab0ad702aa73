//! `tavola cas`: stores a value if nobody has changed the key since it was read.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use tavola::{CasOutcome, Table};

use crate::args::{AttributeArgs, Expected, Notation, TableArg, ValueArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola cas leaders europe node-8 --if-value node-7
  token=$(tavola get sessions alice --token)
  tavola cas sessions alice '{\"cart\":4}' --if-token $token || echo changed meanwhile

A token is a hash of the value: if another process changes the value and changes it back,
the token is the same. In a table created with --versions the token is a version number,
which increases with each change. As with 'tavola set', the key gets the TTL and flags
given here, and no tags. If the key has another value or is missing, nothing is stored and
the exit code is 1.";

/// Store a value only if the key still has the expected value (compare and swap)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("expected").args(["if_value", "if_token"]).required(true))]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    #[command(flatten)]
    expected: Expected,
    #[command(flatten)]
    attributes: AttributeArgs,
    #[command(flatten)]
    notation: Notation,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let value = args.value.read()?;
    let attributes = args.attributes.attributes();
    let table = args.table.keys_existing()?;
    let outcome = args
        .expected
        .attempt(&table, &key, |table: &Table, token| {
            table.compare_and_swap_with(&key, token, &value, attributes)
        })?;
    Ok(report(outcome, "stored"))
}

/// Returns the exit code, and says on a terminal why nothing was done.
pub fn report(outcome: CasOutcome, done: &str) -> ExitCode {
    let why = match outcome {
        CasOutcome::Swapped => return ExitCode::SUCCESS,
        CasOutcome::Changed => "the key has another value",
        CasOutcome::NotFound => "the key is missing",
    };
    if io::stderr().is_terminal() {
        eprintln!("tavola: {why}, nothing was {done}");
    }
    ExitCode::from(crate::MISSING)
}
