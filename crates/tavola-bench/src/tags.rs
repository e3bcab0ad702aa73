//! What tags cost: keys with none, one, two, ... and the moment when one of them is invalidated.

use std::time::Instant;

use serde::Serialize;
use tavola::{Attributes, Table, Tags};
use tavola_program::units::parse_count;

use crate::bytes::KeyWords;
use crate::order::Order;
use crate::scratch::Scratch;
use crate::stats::median;
use crate::{Error, Place, Result};

/// Set and get keys with tags, invalidate a tag of all
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench tags --keys 10M\n  tavola-bench tags --json")]
pub struct Config {
    /// Keys in each table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub keys: u64,
    /// Bytes a value
    #[arg(long, short, value_name = "BYTES", default_value_t = 100)]
    pub value_bytes: usize,
    /// How often keys are read; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    pub repeat: u32,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What people see of a [`Report`].
pub const COLUMNS: &[&str] = &[
    "tags",
    "keys",
    "get_mops",
    "get_ratio",
    "set_mops",
    "bytes_per_key",
    "invalidate_us",
];
/// How many tags the keys have, one table each.
const COUNTS: [usize; 5] = [0, 1, 2, 4, 16];
/// Keys that have the same tags but for the first, which all have.
const ALIKE: u64 = 100;

/// What was measured of keys with so many tags. Rates are million operations a second.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `tags`.
    pub phase: &'static str,
    /// Keys in the table.
    pub keys: u64,
    /// Tags of each key: one of all keys, the others of 100 each.
    pub tags: usize,
    /// New keys, their tags asked for by name each time.
    pub set_mops: f64,
    /// Get by key.
    pub get_mops: f64,
    /// Get to get of keys without tags, medians of both.
    pub get_ratio: f64,
    /// Memory a key, all told.
    pub bytes_per_key: f64,
    /// How long it took to invalidate the tag of all keys.
    pub invalidate_us: Option<f64>,
}

/// Runs it: a report for each number of tags.
///
/// # Errors
///
/// Whatever the tables refuse, and a wrong answer.
pub fn run(config: &Config) -> Result<Vec<Report>> {
    let mut reports: Vec<Report> = Vec::new();
    for count in COUNTS {
        let mut report = measure(config, count)?;
        let without = reports
            .first()
            .map_or(report.get_mops, |first| first.get_mops);
        report.get_ratio = report.get_mops / without;
        reports.push(report);
    }
    Ok(reports)
}

fn measure(config: &Config, tags: usize) -> Result<Report> {
    let table = Scratch::nameless(&config.place)?;
    let words = KeyWords::new(8);
    let key = |index: u64| words.of(index).to_le_bytes();
    let value = vec![b'v'; config.value_bytes];
    let keys = config.keys as f64;
    let begin = Instant::now();
    for index in 0..config.keys {
        let tags = tags_of(&table, index, tags)?;
        table.set_tagged(key(index), &value, Attributes::default(), &tags)?;
    }
    let set_mops = keys / begin.elapsed().as_secs_f64() / 1e6;
    let bytes_per_key = table.stats()?.resident_bytes as f64 / keys;
    let mut rates = Vec::new();
    let mut out = Vec::with_capacity(config.value_bytes);
    for turn in 0..config.repeat.max(1) {
        let mut indices = vec![0; config.keys as usize];
        let filled = Order::shuffled(0..config.keys, u64::from(turn) + 1).fill(&mut indices);
        let mut found = 0;
        let begin = Instant::now();
        for index in &indices[..filled] {
            found += u64::from(table.get_into(key(*index), &mut out)? && out.len() == value.len());
        }
        rates.push(keys / begin.elapsed().as_secs_f64() / 1e6);
        right(found == config.keys, "keys are missing")?;
    }
    let begin = Instant::now();
    let invalidate_us = match table.invalidate_tag(b"all")? {
        true => Some(begin.elapsed().as_secs_f64() * 1e6),
        false => None,
    };
    let is_there = table.contains(key(config.keys / 2))?;
    right(
        !is_there || tags == 0,
        "a key of an invalidated tag is there",
    )?;
    Ok(Report {
        phase: "tags",
        keys: config.keys,
        tags,
        set_mops,
        get_mops: median(rates),
        get_ratio: 1.0,
        bytes_per_key,
        invalidate_us,
    })
}

fn tags_of(table: &Table, index: u64, count: usize) -> Result<Tags> {
    let of_group = |n| format!("{n}:{}", index / ALIKE);
    let names = (0..count).map(|n| {
        if n == 0 {
            "all".to_string()
        } else {
            of_group(n)
        }
    });
    Ok(table.fetch_tags(&names.collect::<Vec<_>>())?)
}

fn right(is_right: bool, what: &str) -> Result<()> {
    is_right
        .then_some(())
        .ok_or_else(|| Error::wrong("tags", what))
}
