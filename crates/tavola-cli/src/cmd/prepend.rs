//! `tavola prepend`: adds bytes before a value; the arguments are those of `append`.

use std::process::ExitCode;

use super::append::{Addition, End};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola prepend notes today 'urgent: '
  tavola prepend stack items 'newest ' --create

The key keeps its time to live, flags and tags. Exit code 1, and nothing is changed, if
the key is missing, except with --create.";

/// Add bytes at the beginning of a value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    addition: Addition,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.addition.join(End::Front)
}
