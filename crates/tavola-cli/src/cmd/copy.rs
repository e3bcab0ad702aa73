//! `tavola copy`: copies a table to a new file while other processes use it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::args::{TableArg, warn_of};
use crate::durable;
use crate::error::CliError;
use crate::output::{Output, printable};
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola copy sessions /backup/sessions-monday
  tavola copy sessions ./sessions.table          into this directory
  tavola copy sessions trial                     another table in the same directory

Other processes can use the table meanwhile. Each key is copied with its value, expiry,
flags, tags, marks and version. A key that has a uid gets a new uid. Queues and logs of
the table are not copied. The copy appears under its name when it is complete; an existing
file is not replaced. Do not use 'cp': if a process writes meanwhile, a copied value may
mix the bytes of two writes.

The copy of a durable table is a table in memory. To make one durable:
  tavola create --durable ./users && tavola dump sessions | tavola load ./users";

/// Copy a table to a new file while other processes use it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The new table: a name, or a path if it contains a /
    #[arg(value_name = "FILE")]
    file: OsString,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if durable::home_of(&args.file).is_some() {
        let (from, to) = (args.table.label(), printable(args.file.as_bytes()));
        return Err(CliError::Sentence(format!(
            "{to} is a durable table, and 'copy' makes a new file; to add the keys to it, run: \
             tavola dump {from} | tavola load {to}"
        )));
    }
    let table = args.table.open_to_read()?;
    warn_of(&args.file);
    let keys = table.copy_to(&args.file)?;
    let label = args.table.label();
    let left_out = [(table.pools()?, "queue pool"), (table.logs()?, "log")];
    for (names, what) in left_out {
        if !names.is_empty() {
            eprintln!(
                "tavola: {} of {label} {} not copied: {}",
                counted(names.len() as u64, what),
                if names.len() == 1 { "is" } else { "are" },
                names.join(", ")
            );
        }
    }
    let path = tavola::names::path_of(&args.file)?;
    let mut out = Output::new();
    out.line(format!(
        "copied {} from {label} to {}",
        counted(keys, "key"),
        printable(path.as_os_str().as_encoded_bytes())
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
