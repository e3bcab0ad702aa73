//! `tavola append`: adds bytes after a value. `prepend` shares the arguments.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::{Notation, TableArg, ValueArg};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola append notes today ', buy milk'
  date | tavola append notes log --create     creates the key if it is missing
  tavola append notes today --file more.txt

The key keeps its TTL, flags and tags. If the key is missing, nothing is changed and the
exit code is 1, except with --create.";

/// Append bytes to a value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    addition: Addition,
}

/// What is added to which key.
#[derive(clap::Args)]
pub struct Addition {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    /// Store the bytes as the value if the key is missing
    #[arg(long)]
    create: bool,
    #[command(flatten)]
    notation: Notation,
}

/// The end of the value at which bytes are added.
#[derive(Clone, Copy)]
pub enum End {
    Front,
    Back,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.addition.join(End::Back)
}

impl Addition {
    /// Adds the bytes to the value.
    pub fn join(self, end: End) -> Result<ExitCode, CliError> {
        let key = self.notation.read(&self.key)?;
        let more = self.value.read()?;
        let table = match self.create {
            true => self.table.keys_or_create()?,
            false => self.table.keys_existing()?,
        };
        let joined = table.update(&key, |old| match (old, end) {
            (Some(old), End::Back) => Some([old, &more].concat()),
            (Some(old), End::Front) => Some([&more, old].concat()),
            (None, _) => self.create.then(|| more.clone()),
        })?;
        if joined.is_some() {
            return Ok(ExitCode::SUCCESS);
        }
        if io::stderr().is_terminal() {
            eprintln!("tavola: the key is missing, nothing was changed");
        }
        Ok(ExitCode::from(crate::MISSING))
    }
}
