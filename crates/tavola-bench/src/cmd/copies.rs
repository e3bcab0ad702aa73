//! `tavola-bench copy`.

use tavola_bench::{Result, copy};
use tavola_program::units::parse_size;

use super::{PlaceArgs, human, json, show};

/// Read values of 8 KB, 64 KB and 1 MB, beside a plain copy out of a mapping
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench copy\n  tavola-bench copy --total 128M --json")]
pub struct Args {
    /// Bytes of all values of a size together
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size)]
    total: u64,
    /// How often they are read; medians count
    #[arg(long, short, value_name = "R", default_value_t = 25)]
    repeat: u32,
    #[command(flatten)]
    place: PlaceArgs,
    /// One JSON object a size
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    let reports = copy::run(&copy::Config {
        place: args.place.into(),
        total_bytes: args.total as usize,
        repeat: args.repeat,
    });
    for report in reports? {
        show(match args.json {
            true => json(&report),
            false => human::copy(&report),
        })?;
    }
    Ok(())
}
