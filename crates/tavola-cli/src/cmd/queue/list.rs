//! `tavola queue ls`: what a queue holds.

use std::process::ExitCode;

use serde_json::json;

use super::jobs::QueueArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units::{count, counted, size};

const EXAMPLES: &str = "\
Examples:
  tavola queue ls jobs
  tavola queue ls jobs --json | jq .jobs

Prints numbers only; a job can be read only by popping it.";

/// Show how many jobs a queue holds, and how many are being worked on
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
    /// Print the numbers as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let queue = args.queue.open_to_read()?;
    let (jobs, free) = (queue.jobs.len() as u64, queue.free.len() as u64);
    let places = u64::from(queue.pool.elements());
    let held = places.saturating_sub(jobs + free);
    let bytes = queue.job_bytes();
    let mut out = Output::new();
    if args.json {
        let document = json!({
            "jobs": jobs, "held": held, "free": free, "places": places, "job_bytes": bytes,
        });
        out.line(document.to_string())?;
    } else {
        out.line(format!(
            "{}  ({})",
            args.queue.label(),
            queue.pool.path().display()
        ))?;
        out.line(format!("  jobs   {}", count(jobs)))?;
        out.line(format!(
            "  held   {} by processes that work on them",
            count(held)
        ))?;
        let room = counted(places, "place");
        out.line(format!(
            "  free   {} of {room}, {} each",
            count(free),
            size(bytes.into())
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
