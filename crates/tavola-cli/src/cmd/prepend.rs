//! `tavola prepend`: adds bytes before a value; the arguments are those of `append`.

use std::process::ExitCode;

use super::append::{Addition, End};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola prepend notes today 'urgent: '
  tavola prepend stack items 'newest ' --create

The key keeps its TTL, flags and tags. If the key is missing, nothing is changed and the
exit code is 1, except with --create.";

/// Prepend bytes to a value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    addition: Addition,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.addition.join(End::Front)
}
