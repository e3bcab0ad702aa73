//! `tavola log drain`: writes the lines out, to standard output or to a file that is rotated.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tavola::{Error, Log, LogOptions, LogSink, RotatingFile};

use super::LogArg;
use super::lines::Form;
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::{interrupt, units};

/// Lines found in a pass, from which on the next begins at once.
const MANY: usize = 1000;

/// Write lines out in time order, until Ctrl-C
///
/// Creates the log if it is missing. Starts with the lines that were written before. A log has one
/// drain at a time. If the drain is killed, lines wait for the next drain, which repeats the lines
/// that were written out last. If the drain ends by itself or by Ctrl-C, it first writes out all
/// lines written until then.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// Append to a file instead of standard output
    #[arg(long, short, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Start a new file when this one exceeds SIZE: PATH becomes PATH.1, PATH.1 becomes PATH.2, ...
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, requires = "file")]
    rotate: Option<u64>,
    /// The number of old files to keep
    #[arg(long, value_name = "COUNT", default_value_t = 5, requires = "rotate")]
    keep: u32,
    /// Exit when all existing lines are written out
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    rights: RightsArgs,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let interrupted = interrupt::install_handlers()?;
    let log = match args.once {
        true => args.log.open_existing()?,
        false => args
            .log
            .open_or_create(&args.rights.give_log(LogOptions::new()))?,
    };
    match &args.file {
        None => drain(&args, &log, io::stdout(), &interrupted, CliError::Output)?,
        Some(path) => {
            let failed = |source| CliError::Write {
                path: path.clone(),
                source,
            };
            let file = RotatingFile::open(path, args.rotate, args.keep).map_err(failed)?;
            drain(&args, &log, file, &interrupted, failed)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn drain(
    args: &Args,
    log: &Log,
    out: impl Write,
    interrupted: &AtomicBool,
    failed: impl Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    let mut sink = args.form.to(out);
    let mut drain = log.drain()?;
    let explained = |error| match error {
        Error::Sink { source } => failed(source),
        other => CliError::Table(other),
    };
    while !args.once && !interrupted.load(Ordering::Relaxed) {
        if drain.pass(&mut sink).map_err(explained)? < MANY {
            drain.wait(Duration::MAX);
        }
    }
    drain.finish(&mut sink).map_err(explained)?;
    sink.flush().map_err(failed)
}
