//! `tavola invalidate`: all keys with a tag are gone at once.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola set pages / --file index.html --tag home
  tavola invalidate pages home

The time does not depend on the number of keys. From then on the keys are missing for all
processes; later writes or 'tavola compact' reuse their memory. The exit code is 1 if
there is no such tag.";

/// Remove all keys that have a tag, in one step
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The tags
    #[arg(value_name = "TAG", required = true, allow_negative_numbers = true)]
    tags: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.keys_existing()?;
    let mut all = true;
    for tag in &args.tags {
        all &= table.invalidate_tag(tag.as_encoded_bytes())?;
    }
    Ok(match all {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::MISSING),
    })
}
