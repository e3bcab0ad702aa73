//! `tavola set-capacity`: how much memory a cache may take, changed while it is in use.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tavola::{Stats, Table};

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola set-capacity pages 2G
  tavola set-capacity pages 512M --json | jq .resident_bytes

A cache is a table created with 'tavola create NAME --capacity SIZE'. If the new capacity
is smaller, keys are evicted and their memory is returned to the system, while other
processes use the cache.";

/// How long memory is waited for that cannot be given back at once, as a reader may look at it.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);

/// Change the capacity of a cache
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The memory for keys, values, index and free space: 64M, 8G, rounded down to 16 KiB
    #[arg(value_name = "SIZE", value_parser = units::parse_size)]
    size: u64,
    /// Print the memory in use as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.open_existing()?;
    table.set_capacity(args.size)?;
    let stats = fit(&table)?;
    let mut out = Output::new();
    match args.json {
        true => out.json(as_json(&stats))?,
        false => out.line(in_words(&stats))?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Has the cache give memory back until it takes no more than it may, or for some seconds.
fn fit(table: &Table) -> Result<Stats, CliError> {
    let until = Instant::now() + PATIENCE;
    loop {
        // No huge pages: they are what `tavola maintain` is for.
        table.maintain(0)?;
        let stats = table.stats()?;
        if is_within(&stats) || Instant::now() >= until {
            return Ok(stats);
        }
        thread::sleep(PAUSE);
    }
}

fn is_within(stats: &Stats) -> bool {
    stats
        .capacity
        .is_none_or(|bytes| stats.resident_bytes <= bytes)
}

fn in_words(stats: &Stats) -> String {
    let rest = match is_within(stats) {
        true => "",
        false => "; later writes release the rest",
    };
    format!(
        "uses {} of {}, {}{rest}",
        units::size(stats.resident_bytes),
        units::size(stats.capacity.unwrap_or_default()),
        units::counted(stats.keys, "key"),
    )
}

fn as_json(stats: &Stats) -> Map<String, Value> {
    let numbers = json!({
        "capacity": stats.capacity,
        "resident_bytes": stats.resident_bytes,
        "keys": stats.keys,
    });
    match numbers {
        Value::Object(document) => document,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_still_to_be_given_back_is_reported() {
        let mut stats = Stats::default();
        stats.keys = 1;
        stats.capacity = Some(2 << 20);
        stats.resident_bytes = 2 << 20;
        assert_eq!(in_words(&stats), "uses 2 MiB of 2 MiB, 1 key");
        stats.resident_bytes += 512 << 10;
        assert_eq!(
            in_words(&stats),
            "uses 2.5 MiB of 2 MiB, 1 key; later writes release the rest"
        );
    }
}
