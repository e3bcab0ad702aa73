//! `tavola save`: writes all keys of a table to a file, for `tavola restore`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::progress;
use crate::units::{counted, size};

const EXAMPLES: &str = "\
Examples:
  tavola save pages /var/cache/app/pages.saved
  tavola restore /var/cache/app/pages.saved pages      after a restart of the machine
  tavola journal --verify /var/cache/app/pages.saved   whether the file is whole

Other processes can use the table meanwhile. The file has each key with its value, flags,
tags, marks, version, the time at which it expires, and how often a cache found it read.
Uids, leases, queues and logs are not in it. Only its owner may read it. An existing file
is replaced when the new one is complete and on disk; until then that is FILE.new. To read
keys with other programs, use 'tavola dump'.";

/// Save all keys to a file from which 'restore' reads them
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The file to write
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.keys_to_read()?;
    let bar = progress::over_keys(table.len()?);
    let saved = table.save_with_progress(&args.file, |keys, _| bar.set_position(keys));
    bar.finish_and_clear();
    let saved = saved?;
    let mut out = Output::new();
    out.line(format!(
        "saved {}, {}",
        counted(saved.keys, "key"),
        size(saved.bytes)
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
