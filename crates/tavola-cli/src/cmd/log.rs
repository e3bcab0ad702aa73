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
mod rotate;
mod show;
mod write;

const EXAMPLES: &str = "\
Examples:
  tavola log write events 'cart 3 is ready'     makes the log when it is not there
  tavola log show events                        the last lines, of killed processes too
  tavola log follow events                      and those to come
  tavola log drain events --file events.log --rotate 100M --keep 5
  tavola log create events --size 64M --when-full block

A log is a ring in shared memory: writing a line takes no system call. While a drain runs
it writes the lines out in the order of their times; while none does, each line is shown on
the standard error of the process that writes it, too, and stays for the next drain as long
as there is room. 'tavola stat' shows how many lines await a drain, or were dropped. A log
stands in a file of its own, or beside the keys of a table: --log NAME names one of those.";

/// Lines that all processes write: show, follow, write out
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
    /// The log, or the table it stands beside: a name, or a path when it has a / in it
    #[arg(value_name = "NAME")]
    name: OsString,
    /// Its name beside the table
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

    /// For a command that makes the log when it is not there.
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
