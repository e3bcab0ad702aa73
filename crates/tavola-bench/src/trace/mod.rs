//! How often a table with a capacity finds what is asked for, beside exact simulations.
//!
//! A trace goes through a real table: each request is a get, a miss is followed by a set. The
//! same requests then go through exact simulations of LRU and S3-FIFO, with room for as many items
//! as the table really held, so that what differs is the choice of what is evicted, not how tightly
//! it is packed:
//!
//! ```text
//! --items ──► bytes that so many items take ──► a table of this capacity ──► hit
//!                                                  │ items held, mean
//!                                                  └──► lru, s3fifo
//! ```

mod exact;
mod table;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tavola_program::units::parse_count;

use crate::{Emit, Error, Place, Result};

const HELP: &str = "\
Each request of a trace is a get; a miss is followed by a set. The table's capacity is what N of
the items take; it may hold a few more or fewer. Beside it are exact simulations of LRU and
S3-FIFO with room for as many items as the table held on the average, once it had to evict. Ratios
are percent of the requests.

A trace is a file with a number of 4 bytes a request, little-endian (unpack it first).

JSON has trace, requests, keys, items_wanted, items_mean, hit, lru, s3fifo, capacity_bytes,
evicted_new (never read), evicted_old and ghost_hits (came back while remembered); after several
lines one with the means, whose trace is 'mean'.

Examples:
  tavola-bench trace web.u32 disk.u32 --items 5%,10%,25%
  tavola-bench trace web.u32 --items 10K --value-bytes 1000
  tavola-bench trace web.u32 --items 5% --json | jq '.hit - .s3fifo'";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "trace",
    "requests",
    "keys",
    "items_wanted",
    "items_mean",
    "hit",
    "lru",
    "s3fifo",
    "capacity_bytes",
];

/// How often a table with a capacity finds what a trace asks for, beside exact simulations
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Traces
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Items the table has room for, or percent of a trace's items; several with commas between
    #[arg(long, short, value_name = "N", required = true, value_delimiter = ',')]
    #[arg(value_parser = parse_items)]
    items: Vec<Items>,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 100)]
    value_bytes: usize,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// A number of items, or percent of the different items of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Items {
    Count(u32),
    /// Rounded down, but one at least.
    Percent(f64),
}

impl Items {
    fn of(self, keys: u32) -> u32 {
        match self {
            Self::Count(items) => items,
            Self::Percent(percent) => ((f64::from(keys) * percent / 100.0) as u32).max(1),
        }
    }
}

/// Reads `5000`, `10K` or `2.5%`.
fn parse_items(text: &str) -> std::result::Result<Items, String> {
    let items = match text.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(Items::Percent),
        None => parse_count(text)
            .ok()
            .and_then(|count| count.try_into().ok())
            .map(Items::Count),
    };
    match items {
        Some(Items::Count(0)) => Err("a cache has room for one item at least".to_owned()),
        Some(Items::Percent(percent)) if !(percent > 0.0 && percent <= 100.0) => {
            Err("a share is above 0 % and at most 100 %".to_owned())
        }
        items => {
            items.ok_or_else(|| format!("'{text}' is not a number of items; write 5000, 10K or 5%"))
        }
    }
}

/// Replays all traces, each through a table of each size.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    let mut all: Vec<[f64; 3]> = Vec::new();
    for path in &config.files {
        let trace = Trace::read(path)?;
        for items in &config.items {
            let wanted = items.of(trace.keys);
            let done = table::replay(&config.place, &trace, wanted, config.value_bytes)?;
            let held = (done.items_mean.round() as u32).max(1);
            let requests = trace.requests.len();
            let hits = [
                done.hits,
                exact::lru_hits(&trace, held),
                exact::s3fifo_hits(&trace, held),
            ];
            let ratios = hits.map(|hits| 100.0 * hits as f64 / requests as f64);
            all.push(ratios);
            let [hit, lru, s3fifo] = ratios.map(hundredths);
            emit(&json!({
                "trace": trace.name, "requests": requests, "keys": trace.keys,
                "items_wanted": wanted, "items_mean": hundredths(done.items_mean),
                "hit": hit, "lru": lru, "s3fifo": s3fifo,
                "capacity_bytes": done.capacity_bytes, "evicted_new": done.evicted_new,
                "evicted_old": done.evicted_old, "ghost_hits": done.ghost_hits,
            }))?;
        }
    }
    if all.len() < 2 {
        return Ok(());
    }
    let mean = |at: usize| {
        let sum: f64 = all.iter().map(|ratios| ratios[at]).sum();
        hundredths(sum / all.len() as f64)
    };
    emit(&json!({
        "trace": "mean", "replays": all.len(), "hit": mean(0), "lru": mean(1), "s3fifo": mean(2),
    }))
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Requests for items that are numbered densely, in the order in which they come first.
struct Trace {
    /// What the name of its file has before the first dot.
    name: String,
    requests: Vec<u32>,
    /// How many different items it asks for.
    keys: u32,
}

impl Trace {
    fn new(name: impl Into<String>, mut ids: Vec<u32>) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for id in &mut ids {
            let next = numbers.len() as u32;
            *id = *numbers.entry(*id).or_insert(next);
        }
        Self {
            name: name.into(),
            requests: ids,
            keys: numbers.len() as u32,
        }
    }

    fn read(path: &Path) -> Result<Self> {
        let file = fs::read(path).map_err(|source| Error::file(path, source.to_string()))?;
        let (words, rest) = file.as_chunks::<4>();
        if !rest.is_empty() {
            let why = "its bytes are no multiple of 4; a trace has a little-endian number of 4 \
                       bytes for each request (if it is packed, unpack it first)";
            return Err(Error::file(path, why));
        }
        if words.is_empty() {
            return Err(Error::file(
                path,
                "it is empty; name a trace with a request",
            ));
        }
        let ids = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').find(|part| !part.is_empty());
        Ok(Self::new(stem.unwrap_or(&name), ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_counts_or_shares_which_are_rounded_down_but_one_is_left() {
        assert_eq!(parse_items("10K"), Ok(Items::Count(10_000)));
        assert_eq!(parse_items("2.5%"), Ok(Items::Percent(2.5)));
        for wrong in ["", "%", "5 percent", "-3", "9G", "0", "0%", "101%", "NaN%"] {
            assert!(parse_items(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Items::Percent(5.0).of(13_756), 687);
        assert_eq!(Items::Percent(1.0).of(99), 1);
        assert_eq!(Items::Count(70).of(3), 70);
    }
}
