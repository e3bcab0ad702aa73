//! `tavola queue create`: a new queue.

use std::process::ExitCode;

use tavola::QueueOptions;

use super::jobs::{FREE, JOBS, PREFIX, QueueArg};
use crate::args::is_any_owner;
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola queue create jobs
  tavola queue create jobs --places 100000 --size 4K
  tavola queue create ./jobs.tavola --group web

The memory for all places is allocated at once: places times size.";

/// Create a queue
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
    /// The maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 1024)]
    places: u32,
    /// The maximum size of a job
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "1K")]
    size: u64,
    #[command(flatten)]
    rights: RightsArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let bytes = u32::try_from(args.size)
        .ok()
        .and_then(|bytes| bytes.checked_add(PREFIX))
        .ok_or_else(|| {
            CliError::Sentence(
                "a job must be smaller than 4 GiB; give a smaller \
                --size"
                    .to_string(),
            )
        })?;
    let options = QueueOptions::new(args.places, bytes).queues([FREE, JOBS]);
    args.rights
        .give_queue(options)
        .any_owner(is_any_owner())
        .create(args.queue.name())?;
    Ok(ExitCode::SUCCESS)
}
