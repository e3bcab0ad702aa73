//! `tavola log`: lines that processes write into shared memory, shown, followed and written out.

use std::ffi::OsString;
use std::process::ExitCode;

use tavola::{Error, Level, Log, LogOptions, Table};

use crate::args::{is_any_owner, options, warn_of};
use crate::error::CliError;

mod create;
mod drain;
mod follow;
mod lines;
mod show;
mod write;

const EXAMPLES: &str = "\
Examples:
  tavola log write events 'cart 3 is ready'     creates the log if it is missing
  tavola log show events                        the last lines, also of killed processes
  tavola log follow events                      the last lines, then new ones
  tavola log drain events --file events.log --rotate 100M --keep 5
  tavola log show events --format short
  tavola log create events --size 64M --overload block

A log is a ring buffer in shared memory: writing a line takes no system call. 'tavola log
drain' writes the lines out in time order. While no drain runs, each line also appears on
the standard error of the process that writes it, and stays in the log for the next drain
as long as there is room. 'tavola stat' shows how many lines wait for a drain or were
dropped. A log is in its own file, or belongs to a table: --log NAME selects such a log.";

/// Write, show, follow and drain a log shared by all processes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Show(show::Args),
    Follow(follow::Args),
    Drain(drain::Args),
    Write(write::Args),
    Create(create::Args),
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.what {
        What::Show(args) => show::run(args),
        What::Follow(args) => follow::run(args),
        What::Drain(args) => drain::run(args),
        What::Write(args) => write::run(&args),
        What::Create(args) => create::run(&args),
    }
}

/// Which log.
#[derive(clap::Args)]
struct LogArg {
    /// The log, or the table it belongs to: a name, or a path if it contains a /
    #[arg(value_name = "NAME")]
    name: OsString,
    /// The name of a log that belongs to a table
    #[arg(
        long,
        value_name = "LOG",
        default_value = "",
        hide_default_value = true
    )]
    log: String,
}

impl LogArg {
    /// For a command that only looks.
    fn open_to_read(&self) -> Result<Log, CliError> {
        warn_of(&self.name);
        Ok(self.find(&options().open_read_only(&self.name)?)?)
    }

    /// For a command that writes to what is there.
    fn open_existing(&self) -> Result<Log, CliError> {
        warn_of(&self.name);
        Ok(self.find(&options().open_existing(&self.name)?)?)
    }

    /// For a command that creates the log if it is missing.
    fn open_or_create(&self, log_options: &LogOptions) -> Result<Log, CliError> {
        match self.open_existing() {
            Err(CliError::Table(Error::NotFound { .. } | Error::NotThere { .. })) => {}
            outcome => return outcome,
        }
        Ok(match self.log.is_empty() {
            true => log_options
                .clone()
                .any_owner(is_any_owner())
                .open(&self.name)?,
            false => log_options.open_in(&options().open(&self.name)?, &self.log)?,
        })
    }

    /// A table's only log needs no name.
    fn find(&self, table: &Table) -> Result<Log, Error> {
        match table.log(&self.log) {
            Err(missing @ Error::NotThere { .. }) if self.log.is_empty() => {
                match table.logs()?.as_slice() {
                    [only] => table.log(only),
                    _ => Err(missing),
                }
            }
            outcome => outcome,
        }
    }
}

fn parse_level(text: &str) -> Result<Level, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not a level; write error, warn, info, debug or trace"))
}
