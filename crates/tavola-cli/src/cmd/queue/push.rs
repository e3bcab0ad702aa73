//! `tavola queue push`: adds jobs.

use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use super::jobs::{Jobs, QueueArg};
use crate::error::CliError;
use crate::{session, units};

/// Between two tries while all places are taken.
const PAUSE: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  tavola queue push jobs 'resize 17.jpg'
  tavola queue push jobs one two three
  find . -name '*.jpg' | tavola queue push jobs --lines --wait 1h

The exit code is 1 if the queue is still full after --wait; the jobs before that are
pushed.";

/// Add jobs at the end of a queue
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    queue: QueueArg,
    /// The jobs
    #[arg(
        value_name = "JOB",
        allow_negative_numbers = true,
        required_unless_present = "lines"
    )]
    jobs: Vec<OsString>,
    /// Read one job per line from standard input
    #[arg(long, conflicts_with = "jobs")]
    lines: bool,
    /// Wait for a free place at most this long
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "0")]
    wait: Duration,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let queue = args.queue.open()?;
    let mut are_pushed = true;
    if args.lines {
        if session::reads_standard_input() {
            return Err(CliError::NoInput { wanted: "job" });
        }
        let failed = |source| CliError::Read {
            path: "standard input".into(),
            source,
        };
        for line in io::stdin().lock().split(b'\n') {
            are_pushed = are_pushed && push(&queue, &line.map_err(failed)?, args.wait)?;
            if !are_pushed {
                break;
            }
        }
    } else {
        for job in args.jobs {
            are_pushed = are_pushed && push(&queue, &job.into_vec(), args.wait)?;
        }
    }
    if are_pushed {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "tavola: the queue is full ({} places)",
        queue.pool.elements()
    );
    Ok(ExitCode::from(crate::MISSING))
}

/// Pushes a job; waits for a free place.
fn push(queue: &Jobs, job: &[u8], wait: Duration) -> Result<bool, CliError> {
    let start = Instant::now();
    loop {
        if queue.push(job)? {
            return Ok(true);
        }
        queue.reclaim()?;
        if queue.free.is_empty() {
            if start.elapsed() >= wait {
                return Ok(false);
            }
            thread::sleep(PAUSE.min(wait));
        }
    }
}
