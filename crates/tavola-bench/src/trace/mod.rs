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
//!
//! `requests` (traces and their files) and `synthetic` (traces made here) give the requests,
//! `sizes` the bytes of values, `table` replays through a table, `exact` simulates; below them
//! `chance` (random numbers that are the same in every run).

mod chance;
mod exact;
mod requests;
mod sizes;
mod synthetic;
mod table;

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use tavola_program::units::parse_count;

pub use sizes::ValueBytes;
pub use synthetic::Synthetic;

use crate::{Error, Place, Result};
use requests::Trace;
use table::Replayed;

const HELP: &str = "\
Each request of a trace is a get; a miss is followed by a set. The table's capacity is what N of
the items take; it may hold a few more or fewer. Beside it are exact simulations of LRU and
S3-FIFO with room for as many items as the table held on the average, once it had to evict. Ratios
are percent of the requests; byte_hit is the table's, by bytes of values.

A file has a number of 4 bytes a request, little-endian; one whose name ends in .xz is unpacked.
--zipf and --scan make traces, the same ones in each run: of --requests requests for --keys items,
the item of rank r in proportion to 1 / r^ALPHA. In that of --scan a fifth of the requests are
runs of items that come once and never again.

Blocks come in whole pages: with few items, larger values come nearer to N.

JSON has trace, requests, keys, items_wanted, items_mean, hit, lru, s3fifo, byte_hit,
capacity_bytes, evicted_new (never read), evicted_old and ghost_hits (came back while remembered);
after several lines one with the means, whose trace is 'mean'.

Examples:
  tavola-bench trace web.u32.xz disk.u32 --items 5%,10%,25%
  tavola-bench trace --zipf 0.9 --scan 0.9 --items 10K
  tavola-bench trace web.u32.xz --items 10K --value-bytes 50-5000
  tavola-bench trace web.u32.xz --items 5% --json | jq '.hit - .s3fifo'";

/// What people see of a line.
pub const COLUMNS: &[&str] = &[
    "trace",
    "requests",
    "keys",
    "items_wanted",
    "items_mean",
    "hit",
    "lru",
    "s3fifo",
    "byte_hit",
    "capacity_bytes",
];

/// How often a table with a capacity finds what a trace asks for, beside exact simulations
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Traces
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Items the table has room for, or percent of a trace's items; several with commas between
    #[arg(long, short, value_name = "N", required = true, value_delimiter = ',')]
    #[arg(value_parser = parse_items)]
    pub items: Vec<Items>,
    /// Bytes a value; from A to B, evenly in the logarithm, and the same for the same item
    #[arg(long, short, value_name = "V|A-B", default_value = "100", value_parser = parse_bytes)]
    pub value_bytes: ValueBytes,
    /// Makes a trace of items as popular as this exponent says, such as 0.9
    #[arg(long, value_name = "ALPHA")]
    pub zipf: Option<f64>,
    /// The same with scans mixed in
    #[arg(long, value_name = "ALPHA")]
    pub scan: Option<f64>,
    /// Items of a trace that is made
    #[arg(long, short, value_name = "N", default_value = "100K", value_parser = parse_u32)]
    pub keys: u32,
    /// Requests of a trace that is made
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub requests: u64,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    /// The traces that are made.
    fn synthetic(&self) -> impl Iterator<Item = Synthetic> {
        let made = |(alpha, has_scans): (Option<f64>, bool)| {
            Some(Synthetic {
                alpha: alpha?,
                has_scans,
                keys: self.keys,
                requests: self.requests,
            })
        };
        [(self.zipf, false), (self.scan, true)]
            .into_iter()
            .filter_map(made)
    }
}

fn parse_u32(text: &str) -> std::result::Result<u32, String> {
    let count = parse_count(text)?;
    u32::try_from(count).map_err(|_| format!("'{text}' is more than a trace can have"))
}

/// `5000`, `10K` or `2.5%`.
fn parse_items(text: &str) -> std::result::Result<Items, String> {
    let wrong = || format!("'{text}' is not a number of items; write 5000, 10K or 5%");
    match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(Items::Percent).map_err(|_| wrong()),
        None => parse_u32(text).map(Items::Count).map_err(|_| wrong()),
    }
}

/// `100` or `50-5000`.
fn parse_bytes(text: &str) -> std::result::Result<ValueBytes, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) => Ok(ValueBytes { least, most }),
        _ => Err(format!("'{text}' are not bytes; write 100 or 50-5000")),
    }
}

/// A number of items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Items {
    /// So many.
    Count(u32),
    /// So many percent of the different items of a trace, rounded down, but one at least.
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

/// One line of the result. All ratios are percent.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A trace at a number of items.
    Replay(Replay),
    /// The means over all of them, when there are several.
    Mean(Mean),
}

/// A trace at a number of items.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// The name of its file up to the first dot, or `zipf`, or `scan`.
    pub trace: String,
    /// Requests in it.
    pub requests: u64,
    /// Different items in it.
    pub keys: u32,
    /// How many items of the trace would fill the capacity.
    pub items_wanted: u32,
    /// How many items the table held on the average, once it was full.
    #[serde(serialize_with = "hundredths")]
    pub items_mean: f64,
    /// Hit ratio of the table and of the simulations.
    #[serde(flatten)]
    pub ratios: Ratios,
    /// Capacity of the table.
    pub capacity_bytes: u64,
    /// Probationary that the table evicted before anybody read them.
    pub evicted_new: u64,
    /// Protected items that it evicted.
    pub evicted_old: u64,
    /// Items that came back while the table remembered them.
    pub ghost_hits: u64,
}

/// The means over several replays.
#[derive(Clone, Debug, Serialize)]
pub struct Mean {
    /// Always `mean`.
    pub trace: &'static str,
    /// How many replays.
    pub replays: usize,
    /// Each replay counts the same.
    #[serde(flatten)]
    pub ratios: Ratios,
}

/// How many requests in a hundred found their item.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Ratios {
    /// In the table.
    #[serde(serialize_with = "hundredths")]
    pub hit: f64,
    /// In an exact LRU with room for as many items as the table held, and so on.
    #[serde(serialize_with = "hundredths")]
    pub lru: f64,
    /// S3-FIFO with a tenth for probationary.
    #[serde(serialize_with = "hundredths")]
    pub s3fifo: f64,
    /// Of the bytes of all values asked for, those that the table had.
    #[serde(serialize_with = "hundredths")]
    pub byte_hit: f64,
}

impl Ratios {
    fn of(trace: &Trace, done: &Replayed) -> Self {
        let requests = trace.requests().len() as u64;
        let items = done.items_mean.round() as u32;
        Self {
            hit: percent(done.hits, requests),
            lru: percent(exact::lru_hits(trace, items), requests),
            s3fifo: percent(exact::s3fifo_hits(trace, items), requests),
            byte_hit: percent(done.hit_bytes, done.bytes),
        }
    }

    fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Self {
            hit: mean(|ratios| ratios.hit),
            lru: mean(|ratios| ratios.lru),
            s3fifo: mean(|ratios| ratios.s3fifo),
            byte_hit: mean(|ratios| ratios.byte_hit),
        }
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// With two places behind the point.
fn hundredths<S: Serializer>(number: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_f64((number * 100.0).round() / 100.0)
}

/// Runs it; `emit` gets each line as soon as it is known.
///
/// # Errors
///
/// A file that is no trace, an option out of its bounds, whatever the tables refuse, a wrong
/// answer, and what `emit` returns.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    config.check()?;
    let mut all = Vec::new();
    let files = config.files.iter().map(|path| Trace::read(path));
    let made = config.synthetic();
    let made = made.map(|one| Ok(Trace::new(one.name(), one.ids())));
    for trace in files.chain(made) {
        let trace = trace?;
        for &items in &config.items {
            let replay = replay(config, &trace, items.of(trace.keys()))?;
            all.push(replay.ratios);
            emit(&Line::Replay(replay))?;
        }
    }
    if all.len() < 2 {
        return Ok(());
    }
    emit(&Line::Mean(Mean {
        trace: "mean",
        replays: all.len(),
        ratios: Ratios::mean(&all),
    }))
}

fn replay(config: &Config, trace: &Trace, items_wanted: u32) -> Result<Replay> {
    let done = table::replay(&config.place, trace, items_wanted, config.value_bytes)?;
    Ok(Replay {
        trace: trace.name().to_owned(),
        requests: trace.requests().len() as u64,
        keys: trace.keys(),
        items_wanted,
        items_mean: done.items_mean,
        ratios: Ratios::of(trace, &done),
        capacity_bytes: done.capacity_bytes,
        evicted_new: done.evicted_new,
        evicted_old: done.evicted_old,
        ghost_hits: done.ghost_hits,
    })
}

/// The most requests of a trace that is made here, and the most items.
const MOST: u64 = 1 << 31;

impl Config {
    fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        let ValueBytes { least, most } = self.value_bytes;
        if least > most || (least == 0 && most > 0) {
            return bad("value-bytes", "write 100, or 50-5000 with 1 at least");
        }
        if self.items.is_empty() {
            return bad("items", "say how many items the table has room for");
        }
        for items in &self.items {
            match *items {
                Items::Count(0) => return bad("items", "a cache has room for one item at least"),
                Items::Percent(percent) if !(percent > 0.0 && percent <= 100.0) => {
                    return bad("items", "a share is above 0 % and at most 100 %");
                }
                _ => {}
            }
        }
        if self.files.is_empty() && self.synthetic().next().is_none() {
            return bad(
                "zipf",
                "name a file with a trace, or have one made: --zipf 0.9",
            );
        }
        self.synthetic().try_for_each(|one| match one {
            one if !(0.0..=10.0).contains(&one.alpha) => {
                let option = if one.has_scans { "scan" } else { "zipf" };
                bad(option, "the exponent is 0 to 10, such as 0.9")
            }
            one if one.keys == 0 || u64::from(one.keys) > MOST => {
                bad("keys", "1 to 2,147,483,648 items")
            }
            one if one.requests == 0 || one.requests > MOST => {
                bad("requests", "1 to 2,147,483,648 requests")
            }
            _ => Ok(()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_but_one_is_left() {
        assert_eq!(Items::Percent(5.0).of(13_756), 687);
        assert_eq!(Items::Percent(25.0).of(7_075), 1_768);
        assert_eq!(Items::Percent(100.0).of(3), 3);
        assert_eq!(Items::Percent(1.0).of(99), 1);
        assert_eq!(Items::Count(70).of(3), 70);
    }

    #[test]
    fn means_count_each_replay_the_same() {
        let one = Ratios {
            hit: 50.0,
            lru: 10.0,
            ..Ratios::default()
        };
        let other = Ratios {
            hit: 20.0,
            byte_hit: 4.0,
            ..Ratios::default()
        };
        let mean = Ratios::mean(&[one, other]);
        assert_eq!((mean.hit, mean.lru, mean.byte_hit), (35.0, 5.0, 2.0));
    }

    #[test]
    fn ratios_have_two_places() {
        let ratios = Ratios {
            hit: 100.0 / 3.0,
            ..Ratios::default()
        };
        let text = serde_json::to_string(&ratios).unwrap();
        assert!(text.starts_with(r#"{"hit":33.33,"lru":0.0"#), "{text}");
    }

    #[test]
    fn items_are_counts_or_shares_and_bytes_are_one_or_two() {
        assert_eq!(parse_items("10K"), Ok(Items::Count(10_000)));
        assert_eq!(parse_items("2.5%"), Ok(Items::Percent(2.5)));
        let bytes = |least, most| Ok(ValueBytes { least, most });
        assert_eq!(parse_bytes("100"), bytes(100, 100));
        assert_eq!(parse_bytes("50-5000"), bytes(50, 5000));
        for wrong in ["", "%", "5 percent", "-3", "9G"] {
            assert!(parse_items(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "-", "5-", "-5", "1-2-3", "1K"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
