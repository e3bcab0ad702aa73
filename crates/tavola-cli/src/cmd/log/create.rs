//! `tavola log create`: a new log, with its size and what it does when it is full.

use std::process::ExitCode;

use clap::ValueEnum;
use tavola::{LogOptions, Overload};

use super::LogArg;
use crate::args;
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;

/// Create a log
///
/// Each thread that writes uses its own buffer of 16 KiB in the log, so make the log several times
/// as large as 16 KiB per thread. A line takes 24 bytes plus its text. Lines that are not drained
/// are kept as long as there is room; 'tavola stat' shows how many were dropped.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// The space for lines, rounded to buffers of 16 KiB
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "4M")]
    size: u64,
    /// What to do with a line when the log is full, because the drain is too slow or not running
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WhenFull::DropOldest)]
    overload: WhenFull,
    #[command(flatten)]
    rights: RightsArgs,
}

/// As in [`Overload`].
#[derive(Clone, Copy, ValueEnum)]
enum WhenFull {
    /// Overwrite the oldest lines, 16 KiB at a time, and count them
    DropOldest,
    /// Drop the new line and count it; the oldest lines stay
    DropNewest,
    /// Let the writer wait while a drain runs; otherwise as drop-newest
    Block,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let overload = match args.overload {
        WhenFull::DropOldest => Overload::DropOldest,
        WhenFull::DropNewest => Overload::DropNewest,
        WhenFull::Block => Overload::Block,
    };
    let options = LogOptions::new().bytes(args.size).overload(overload);
    let options = args.rights.give_log(options);
    let (options, log) = (options.any_owner(args::is_any_owner()), &args.log);
    args::warn_of(&log.name);
    match log.log.as_str() {
        "" => options.create(&log.name)?,
        beside => options.create_in(&args.rights.give(args::options()).open(&log.name)?, beside)?,
    };
    Ok(ExitCode::SUCCESS)
}
