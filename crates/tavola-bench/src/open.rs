//! What it costs to open an existing table, get one key, and close it.

use std::time::Instant;

use serde::Serialize;
use tavola::Table;
use tavola_program::units::parse_count;

use crate::bytes::mix64;
use crate::latency::{Latency, Merged, Percentiles};
use crate::scratch::Scratch;
use crate::{Error, Place, Result};

/// Open an existing table, get one key, close
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench open --count 100000\n  tavola-bench open --json")]
pub struct Config {
    /// How often
    #[arg(long, short, value_name = "N", default_value = "10K", value_parser = parse_count)]
    pub count: u64,
    /// Keys in the table
    #[arg(long, short, value_name = "N", default_value = "1K", value_parser = parse_count)]
    pub keys: u64,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What was measured; times are microseconds each.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `open`.
    pub phase: &'static str,
    /// Records in the table.
    pub keys: u64,
    /// How often it was opened.
    pub count: u64,
    /// Mean of open + get + close.
    pub us_each: f64,
    /// Of which: opening.
    pub open_us: f64,
    /// Of which: the get.
    pub get_us: f64,
    /// Of which: closing.
    pub close_us: f64,
    /// Of all three together.
    #[serde(flatten)]
    pub latency: Percentiles,
}

/// Runs it.
///
/// # Errors
///
/// Whatever the table refuses, and an answer that is wrong.
pub fn run(config: &Config) -> Result<Report> {
    let (scratch, table) = Scratch::create(&config.place)?;
    for index in 0..config.keys {
        let key = mix64(index).to_le_bytes();
        table.set(key, key)?;
    }
    drop(table);
    let mut spent = Spent::default();
    let mut latency = Latency::new();
    for round in 0..config.count {
        let key = mix64(round % config.keys.max(1)).to_le_bytes();
        latency.record(once(config, &scratch, &key, &mut spent)?);
    }
    let mut merged = Merged::new();
    merged.add(&latency.summary());
    let us_each = |ns: u64| ns as f64 / config.count.max(1) as f64 / 1e3;
    Ok(Report {
        phase: "open",
        keys: config.keys,
        count: config.count,
        us_each: us_each(spent.open_ns + spent.get_ns + spent.close_ns),
        open_us: us_each(spent.open_ns),
        get_us: us_each(spent.get_ns),
        close_us: us_each(spent.close_ns),
        latency: merged.percentiles(),
    })
}

#[derive(Default)]
struct Spent {
    open_ns: u64,
    get_ns: u64,
    close_ns: u64,
}

fn once(config: &Config, scratch: &Scratch, key: &[u8; 8], spent: &mut Spent) -> Result<u64> {
    let begin = Instant::now();
    let table = Table::options().open_existing(scratch.name())?;
    let opened = Instant::now();
    let found = table.get(key)?;
    let got = Instant::now();
    drop(table);
    let end = Instant::now();
    let right = if config.keys > 0 {
        found.as_deref() == Some(key)
    } else {
        found.is_none()
    };
    if !right {
        let what = format!("key {key:02x?} gave {found:02x?}");
        return Err(Error::wrong("open", what));
    }
    spent.open_ns += (opened - begin).as_nanos() as u64;
    spent.get_ns += (got - opened).as_nanos() as u64;
    spent.close_ns += (end - got).as_nanos() as u64;
    Ok((end - begin).as_nanos() as u64)
}
