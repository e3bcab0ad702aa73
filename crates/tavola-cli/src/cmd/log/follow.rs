//! `tavola log follow`: lines as they come, beside the drain if there is one.

use std::io;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tavola::LogSink;

use super::LogArg;
use super::lines::Form;
use crate::error::CliError;
use crate::interrupt;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Show new lines until Ctrl-C
///
/// Lines stay in the log for the drain, and read permission is enough. A message on standard error
/// reports when lines came too fast and some were missed.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// Show this many existing lines first
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    lines: usize,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let interrupted = interrupt::install_handlers()?;
    let mut reader = args.log.open_to_read()?.reader();
    let mut out = args.form.to(io::stdout().lock());
    let mut missed = 0;
    let there = reader.lines().filter(|line| args.form.shows(line));
    let there: Vec<_> = there.collect();
    for line in &there[there.len().saturating_sub(args.lines)..] {
        out.line(line).map_err(CliError::Output)?;
    }
    while !interrupted.load(Ordering::Relaxed) {
        for line in reader.follow() {
            out.line(&line).map_err(CliError::Output)?;
        }
        out.flush().map_err(CliError::Output)?;
        if reader.missed() > missed {
            missed = reader.missed();
            eprintln!("tavola: lines came faster than they could be shown; some were missed");
        }
        thread::sleep(PAUSE);
    }
    Ok(ExitCode::SUCCESS)
}
