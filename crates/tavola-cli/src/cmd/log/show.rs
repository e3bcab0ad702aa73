//! `tavola log show`: the last lines, whatever became of those who wrote them.

use std::io;
use std::process::ExitCode;

use tavola::LogSink;

use super::LogArg;
use super::lines::Form;
use crate::error::CliError;

/// Show the last lines
///
/// Lines that were drained and those of processes that were killed are shown, too, as long
/// as they have not been overwritten. Exit code 1 when there is none.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// So many lines at most
    #[arg(long, short = 'n', value_name = "COUNT")]
    lines: Option<usize>,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let mut reader = args.log.open_to_read()?.reader();
    let all: Vec<_> = reader
        .lines()
        .filter(|line| args.form.shows(line))
        .collect();
    let first = all.len() - args.lines.unwrap_or(usize::MAX).min(all.len());
    let mut out = args.form.to(io::stdout().lock());
    for line in &all[first..] {
        out.line(line).map_err(CliError::Output)?;
    }
    out.flush().map_err(CliError::Output)?;
    Ok(match all.is_empty() {
        true => ExitCode::from(crate::MISSING),
        false => ExitCode::SUCCESS,
    })
}
