//! `tavola log create`: a new log, with its size and what it does when it is full.

use std::process::ExitCode;

use clap::ValueEnum;
use tavola::{LogOptions, Overload};

use super::LogArg;
use crate::args;
use crate::error::CliError;
use crate::units;

/// Make a log
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// Room for lines; each thread that writes has 16 KiB of it in hand
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "4M")]
    size: u64,
    /// What happens to lines when a drain is too slow
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WhenFull::DropOldest)]
    when_full: WhenFull,
}

/// As in [`Overload`].
#[derive(Clone, Copy, ValueEnum)]
enum WhenFull {
    /// Overwrite the oldest, and count them
    DropOldest,
    /// Do not write new ones, but count them
    DropNewest,
    /// Let writers wait, as long as the drain lives
    Block,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let overload = match args.when_full {
        WhenFull::DropOldest => Overload::DropOldest,
        WhenFull::DropNewest => Overload::DropNewest,
        WhenFull::Block => Overload::Block,
    };
    let options = LogOptions::new().bytes(args.size).when_full(overload);
    let (options, log) = (options.any_owner(args::is_any_owner()), &args.log);
    match log.log.as_str() {
        "" => options.create(&log.name)?,
        beside => options.create_beside(&args::options().open(&log.name)?, beside)?,
    };
    Ok(ExitCode::SUCCESS)
}
