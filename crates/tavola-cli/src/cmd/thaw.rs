//! `tavola thaw`: the records of a constant file in a table.

use std::path::PathBuf;
use std::process::ExitCode;

use tavola_cdb::Constant;

use crate::args::TableArg;
use crate::constant;
use crate::error::CliError;
use crate::rights::RightsArgs;

const EXAMPLES: &str = "\
Examples:
  tavola thaw ./words.frozen words
  tavola thaw /etc/aliases.cdb aliases

Creates the table if it is missing; an existing key gets the new value. The format is that
of 'tavola freeze' or a cdb file of 32 or 64 bits, and is found out. If a cdb file has
several records of a key, the table has the first one, as a search in the file finds it.
If the file is damaged, the exit code is 2; the records before that place stay in the
table.";

/// Set all keys of a constant file in a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    table: TableArg,
    #[command(flatten)]
    rights: RightsArgs,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let file = Constant::open(&args.file)?;
    let table = args.table.keys_or_create_with(args.rights)?;
    constant::each(&file, |key, value| {
        table.set(key, value)?;
        Ok(true)
    })?;
    Ok(ExitCode::SUCCESS)
}
