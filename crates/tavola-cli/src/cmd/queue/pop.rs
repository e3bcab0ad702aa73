//! `tavola queue pop`: takes the first job, and prints it or runs a command with it.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::jobs::{Jobs, QueueArg};
use crate::command;
use crate::error::CliError;
use crate::output::Output;
use crate::units;

/// How often a process that waits looks for jobs of dead processes.
const CHECK_EVERY: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  tavola queue pop jobs
  tavola queue pop jobs --wait 10s
  while tavola queue pop jobs --wait 1h -- ./work.sh; do :; done

With a COMMAND, the job is its standard input. If the command succeeds, the job is done.
If it fails, the job returns to the end of the queue and the exit code of the command is
passed on. If 'tavola queue pop' is killed, the job returns, too; the command may still be
running. Without a COMMAND, the job is done when it is printed.

The exit code is 1 if the queue is still empty after --wait.";

/// Remove the first job of a queue; print it, or run a command with it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
    /// Wait for a job at most this long
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "0")]
    wait: Duration,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let queue = args.queue.open()?;
    let Some(element) = pop(&queue, args.wait)? else {
        return Ok(ExitCode::from(crate::MISSING));
    };
    let job = match queue.read(element) {
        Ok(job) => job,
        Err(error) => {
            queue.jobs.push(element)?;
            return Err(error);
        }
    };
    if let Err(error) = work(args, &job) {
        queue.jobs.push(element)?;
        return Err(error);
    }
    queue.finish(element)?;
    Ok(ExitCode::SUCCESS)
}

/// Does with a job what was asked for.
fn work(args: &Args, job: &[u8]) -> Result<(), CliError> {
    if args.command.is_empty() {
        let mut out = Output::new();
        out.line(job)?;
        return out.finish();
    }
    command::feed(&args.command, job).map_err(|failure| CliError::Command {
        sentence: format!(
            "the command failed ({}); the job is back in the queue",
            failure.why
        ),
        code: failure.code,
    })
}

/// Takes an element with a job. Jobs that dead processes held come when there are no others.
fn pop(queue: &Jobs, wait: Duration) -> Result<Option<u32>, CliError> {
    let start = Instant::now();
    loop {
        if let Some(element) = queue.jobs.pop()? {
            return Ok(Some(element));
        }
        queue.reclaim()?;
        let left = wait.saturating_sub(start.elapsed());
        if let Some(element) = queue.jobs.pop_wait(left.min(CHECK_EVERY))? {
            return Ok(Some(element));
        }
        if left <= CHECK_EVERY {
            return Ok(None);
        }
    }
}
