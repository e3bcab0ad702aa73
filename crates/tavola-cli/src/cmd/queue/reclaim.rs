//! `tavola queue reclaim`: returns the jobs of dead processes to the queue.

use std::process::ExitCode;

use super::jobs::QueueArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola queue reclaim jobs

'tavola queue pop' does this by itself if the queue is empty.";

/// Return jobs held by crashed workers to the queue
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let jobs = args.queue.open()?.reclaim()?;
    let mut out = Output::new();
    out.line(format!("{} returned to the queue", counted(jobs, "job")))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
