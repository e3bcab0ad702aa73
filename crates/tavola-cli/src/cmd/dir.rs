//! `tavola dir`: directories of tables that several users share.

use std::process::ExitCode;

use crate::error::CliError;

mod create;
mod tmpfiles;

const EXAMPLES: &str = "\
Examples:
  tavola dir create /dev/shm/web --group web
  sudo tavola dir create /dev/shm/web --group web --tmpfiles=/etc/tmpfiles.d/web.conf
  TAVOLA_DIR=/dev/shm/web tavola create pages --mode 660

All members of the group create, open and remove tables in the directory. Each program
finds it by TAVOLA_DIR.";

/// Create a directory of tables for a group
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Create(create::Args),
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.verb {
        Verb::Create(args) => create::run(&args),
    }
}
