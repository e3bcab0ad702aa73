//! `tavola log write`: one line from the arguments, or each line of standard input.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use tavola::{Level, LogOptions};

use super::{LogArg, parse_level};
use crate::error::CliError;

/// Write a line, or each line of standard input
///
/// Creates the log if it is missing.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// The line [default: lines of standard input]
    #[arg(value_name = "TEXT", allow_negative_numbers = true)]
    text: Option<OsString>,
    /// The severity: error, warn, info, debug or trace
    #[arg(long, short, value_parser = parse_level, default_value = "info")]
    level: Level,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    if args.text.is_none() && io::stdin().is_terminal() {
        return Err(CliError::NoInput { wanted: "a line" });
    }
    let log = args.log.open_or_create(&LogOptions::new())?;
    if let Some(text) = &args.text {
        log.line(args.level, text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut input, mut line) = (io::stdin().lock(), Vec::new());
    let failed = |source| CliError::Read {
        path: PathBuf::from("-"),
        source,
    };
    while input.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        log.line(args.level, line.strip_suffix(b"\n").unwrap_or(&line))?;
        line.clear();
    }
    Ok(ExitCode::SUCCESS)
}
