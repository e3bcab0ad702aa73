//! `tavola-bench trace`: arguments.

use std::path::PathBuf;

use tavola_bench::Result;
use tavola_bench::trace::{self, Config, Items, Synthetic, ValueBytes};
use tavola_program::units::parse_count;

use super::PlaceArgs;
use super::table::Printer;

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

JSON has trace, requests, keys, items_wanted, items_mean, hit, lru, s3fifo, byte_hit, capacity_bytes,
evicted_new (never read), evicted_old and ghost_hits (came back while remembered);
after several lines one with the means, whose trace is 'mean'.

Examples:
  tavola-bench trace web.u32.xz disk.u32 --items 5%,10%,25%
  tavola-bench trace --zipf 0.9 --scan 0.9 --items 10K
  tavola-bench trace web.u32.xz --items 10K --value-bytes 50-5000
  tavola-bench trace web.u32.xz --items 5% --json | jq '.hit - .s3fifo'";

/// How often a table with a capacity finds what a trace asks for, beside exact simulations
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Traces
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Items the table has room for, or percent of a trace's items; several with commas between
    #[arg(long, short, value_name = "N", required = true, value_delimiter = ',')]
    #[arg(value_parser = parse_items)]
    items: Vec<Items>,
    /// Bytes a value; from A to B, evenly in the logarithm, and the same for the same item
    #[arg(long, short, value_name = "V|A-B", default_value = "100", value_parser = parse_bytes)]
    value_bytes: ValueBytes,
    /// Makes a trace of items as popular as this exponent says, such as 0.9
    #[arg(long, value_name = "ALPHA")]
    zipf: Option<f64>,
    /// The same with scans mixed in
    #[arg(long, value_name = "ALPHA")]
    scan: Option<f64>,
    /// Items of a trace that is made
    #[arg(long, short, value_name = "N", default_value = "100K", value_parser = parse_u32)]
    keys: u32,
    /// Requests of a trace that is made
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    requests: u64,
    #[command(flatten)]
    place: PlaceArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
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

const COLUMNS: &[&str] = &[
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

pub fn run(args: Args) -> Result<()> {
    let as_json = args.json;
    let config = args.config();
    Printer::new(as_json, COLUMNS).each(|emit| trace::run(&config, emit))
}

impl Args {
    fn config(self) -> Config {
        let (keys, requests) = (self.keys, self.requests);
        let made = |has_scans| {
            move |alpha| Synthetic {
                alpha,
                has_scans,
                keys,
                requests,
            }
        };
        let zipf = self.zipf.map(made(false));
        let scan = self.scan.map(made(true));
        Config {
            place: self.place.into(),
            files: self.files,
            synthetic: zipf.into_iter().chain(scan).collect(),
            items: self.items,
            value_bytes: self.value_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
