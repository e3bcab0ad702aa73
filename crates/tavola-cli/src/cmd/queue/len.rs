//! `tavola queue len`: the number of jobs.

use std::process::ExitCode;

use super::jobs::QueueArg;
use crate::error::CliError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tavola queue len jobs

Jobs that a process has popped and is working on are not counted.";

/// Print the number of jobs in a queue
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let number = args.queue.open_to_read()?.jobs.len();
    let mut out = Output::new();
    out.line(number.to_string())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
