//! What it costs to walk over all records.

use std::time::Instant;

use serde::Serialize;
use tavola::Table;
use tavola_program::units::parse_count;

use crate::bytes::{Bytes, Expect, KeyWords, head};
use crate::scratch::Scratch;
use crate::stats::median;
use crate::{Error, Place, Result};

/// Walk over all records of a table
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench iter --keys 10M\n  tavola-bench iter --json")]
pub struct Config {
    /// Records in the table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub keys: u64,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 8)]
    pub value_bytes: usize,
    /// How often; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    pub repeat: u32,
    /// Huge pages first
    #[arg(long)]
    pub collapse: bool,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `iter`.
    pub phase: &'static str,
    /// Records in the table.
    pub keys: u64,
    /// Bytes a value.
    pub value_bytes: usize,
    /// Seconds the median walk took.
    pub seconds: f64,
    /// Million records a second, median.
    pub mops: f64,
    /// All walks, in the order they were made.
    pub runs: Vec<f64>,
}

/// Runs it.
///
/// # Errors
///
/// Whatever the table refuses, and a record missing, double or wrong.
pub fn run(config: &Config) -> Result<Report> {
    let table = Scratch::nameless(&config.place)?;
    fill(&table, config)?;
    if config.collapse {
        crate::kv::maintain_until_done(&table)?;
    }
    let mut seconds = Vec::new();
    for _ in 0..config.repeat.max(1) {
        seconds.push(walk(&table, config)?);
    }
    let runs = seconds
        .iter()
        .map(|seconds| config.keys as f64 / seconds / 1e6)
        .collect();
    let median = median(seconds);
    Ok(Report {
        phase: "iter",
        keys: config.keys,
        value_bytes: config.value_bytes,
        seconds: median,
        mops: config.keys as f64 / median / 1e6,
        runs,
    })
}

fn fill(table: &Table, config: &Config) -> Result<()> {
    let words = KeyWords::new(8);
    let mut value = Vec::blank(config.value_bytes);
    for index in 0..config.keys {
        let word = words.of(index);
        value.fill(word);
        table.set(word.to_le_bytes(), &value)?;
    }
    Ok(())
}

fn walk(table: &Table, config: &Config) -> Result<f64> {
    let expect = Expect {
        value_bytes: config.value_bytes,
        oldest: 0,
        newest: 0,
    };
    let (mut count, mut sum, mut wrong) = (0_u64, 0_u64, 0_u64);
    let begin = Instant::now();
    let mut records = table.iter();
    while let Some((key, value)) = records.next_entry()? {
        count += 1;
        sum = sum.wrapping_add(head(key));
        wrong += u64::from(!expect.holds(key, value));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let words = KeyWords::new(8);
    let all = (0..config.keys).fold(0_u64, |sum, index| sum.wrapping_add(words.of(index)));
    if count != config.keys || sum != all || wrong != 0 {
        let what = format!("{count} records of {}, {wrong} of them wrong", config.keys);
        return Err(Error::wrong("iter", what));
    }
    Ok(seconds)
}
