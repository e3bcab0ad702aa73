//! `tavola log create`: a new log, with its size and what it does when it is full.

use std::process::ExitCode;

use clap::ValueEnum;
use tavola::{LogOptions, Overload};

use super::LogArg;
use crate::args;
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;

/// Make a log
///
/// Lines stand on pieces of 16 KiB, and each thread that writes has one of them in hand, on which
/// no other thread writes: make the log several times as large as 16 KiB a thread. A line
/// takes 24 bytes and its text. What a drain has not written out is kept as long as there
/// is room; 'tavola stat' shows how many lines were dropped.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    log: LogArg,
    /// Room for lines, in whole pieces of 16 KiB
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "4M")]
    size: u64,
    /// What happens when a line finds no room, as the drain is too slow or there is none
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WhenFull::DropOldest)]
    overload: WhenFull,
    #[command(flatten)]
    rights: RightsArgs,
}

/// As in [`Overload`].
#[derive(Clone, Copy, ValueEnum)]
enum WhenFull {
    /// Overwrite the oldest lines, a piece at a time, and count them
    DropOldest,
    /// Do not write the new line, but count it: the first lines stay
    DropNewest,
    /// Let the writer wait, as long as the drain lives; without one as drop-newest
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
