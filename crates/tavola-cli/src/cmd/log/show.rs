//! `tavola log show`: the last lines, whatever became of those who wrote them.

use std::io;
use std::process::ExitCode;

use tavola::LogSink;

use super::LogArg;
use super::lines::Form;
use crate::error::CliError;

/// Show the last lines
///
/// Includes lines that were drained, and lines of killed processes, unless they have been
/// overwritten. The exit code is 1 if there are no lines.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// The maximum number of lines
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
