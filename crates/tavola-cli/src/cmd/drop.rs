//! `tavola drop`: removes whole tables.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use tavola::Error;

use crate::args::options;
use crate::error::CliError;
use crate::output::printable;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola drop sessions
  tavola drop scratch --if-exists     no error if it is missing
  tavola drop /var/lib/app/users      a durable table, with its files

Processes that have the table open can use it until they close it. A process that opens
the name later gets a new table. Of a durable table, the files in its directory are
removed, and the directory if nothing else is in it; processes that have it open cannot
write any more.";

/// Remove tables and all their keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The tables: names, or paths if they contain a /
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<OsString>,
    /// Do not fail if a table is missing
    #[arg(long)]
    if_exists: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    for name in &args.tables {
        let users = other_users(name);
        match options().remove(name) {
            Err(Error::NotFound { .. }) if args.if_exists => {}
            removed => removed?,
        }
        if users > 0 {
            let name = printable(name.as_bytes());
            let users = units::counted(users, "process");
            eprintln!(
                "tavola: {name} is dropped, but still open in {users}; \
                 its memory is freed when it is closed"
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns how many other processes are attached. A table that cannot be read can be dropped, too.
fn other_users(name: &OsString) -> u64 {
    let participants = options()
        .open_read_only(name)
        .and_then(|table| table.participants());
    let others = participants.unwrap_or_default().into_iter();
    others
        .filter(|one| one.alive && !one.is_this_process())
        .count() as u64
}
