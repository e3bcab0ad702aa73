//! What it costs to read values of some size, beside a plain copy of as many bytes.

use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;
use tavola::{Table, View};
use tavola_program::units::parse_size;

use crate::order::Order;
use crate::scratch::Scratch;
use crate::stats::median;
use crate::{Error, Place, Result};

/// Read values of 8 KB, 64 KB and 1 MB, beside a plain copy out of a mapping
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench copy\n  tavola-bench copy --total 128M --json")]
pub struct Config {
    /// Bytes of all values of a size together
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size)]
    pub total: u64,
    /// How often they are read; medians count
    #[arg(long, short, value_name = "R", default_value_t = 25)]
    pub repeat: u32,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What people see of a [`Report`].
pub const COLUMNS: &[&str] = &["value_bytes", "get_ns", "plain_ns", "get_ratio", "view_ns"];
/// The sizes of values.
const SIZES: [usize; 3] = [8 << 10, 64 << 10, 1 << 20];

/// What was measured of values of one size. Times are medians.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `copy`.
    pub phase: &'static str,
    /// Bytes a value.
    pub value_bytes: usize,
    /// Nanoseconds for a plain copy of so many bytes out of a mapping.
    pub plain_ns: f64,
    /// Nanoseconds for a get into a buffer that has room.
    pub get_ns: f64,
    /// Bytes a second of get to those of the plain copy, in the same round.
    pub get_ratio: f64,
    /// Nanoseconds until a value is lent, and is so no more.
    pub view_ns: f64,
}

/// Runs it: a report for each size.
///
/// # Errors
///
/// Whatever the tables refuse, and a wrong answer.
pub fn run(config: &Config) -> Result<Vec<Report>> {
    let plain = Scratch::nameless(&config.place)?;
    let largest = SIZES.into_iter().max().unwrap_or_default();
    let total = (config.total as usize)
        .next_multiple_of(largest)
        .max(largest);
    plain.set(b"all", vec![b'p'; total])?;
    let lent = plain.get_view(b"all")?;
    let lent = lent.ok_or_else(|| wrong("a key is missing"))?;
    let sizes = SIZES.into_iter();
    sizes.map(|size| measure(config, &lent, size)).collect()
}

fn measure(config: &Config, plain: &View<'_>, size: usize) -> Result<Report> {
    let table = Scratch::nameless(&config.place)?;
    let pieces = plain.pieces().flat_map(|piece| piece.chunks_exact(size));
    let pieces = pieces.collect::<Vec<_>>();
    if pieces.is_empty() {
        return Err(wrong("the pages of a value do not adjoin"));
    }
    for index in 0..pieces.len() {
        table.set(key(index), vec![b'v'; size])?;
    }
    let mut out = Vec::with_capacity(size);
    let (mut plain_ns, mut get_ns, mut view_ns) = (Vec::new(), Vec::new(), Vec::new());
    let mut ratios = Vec::new();
    for round in 0..config.repeat.max(1) {
        let mut order = vec![0; pieces.len()];
        Order::shuffled(0..pieces.len() as u64, u64::from(round) + 1).fill(&mut order);
        let per_value = |begin: Instant| begin.elapsed().as_secs_f64() * 1e9 / order.len() as f64;
        out.resize(size, 0);
        let begin = Instant::now();
        for index in &order {
            out.copy_from_slice(pieces[*index as usize]);
            black_box(&out);
        }
        let of_plain = per_value(begin);
        let begin = Instant::now();
        let mut found = 0;
        for index in &order {
            let there = table.get_into(key(*index as usize), &mut out)?;
            found += usize::from(there && out.len() == size);
        }
        let of_get = per_value(begin);
        if found != order.len() {
            return Err(wrong("keys are missing"));
        }
        let begin = Instant::now();
        lend_all(&table, &order)?;
        view_ns.push(per_value(begin));
        ratios.push(of_plain / of_get);
        plain_ns.push(of_plain);
        get_ns.push(of_get);
    }
    Ok(Report {
        phase: "copy",
        value_bytes: size,
        plain_ns: median(plain_ns),
        get_ns: median(get_ns),
        get_ratio: median(ratios),
        view_ns: median(view_ns),
    })
}

fn lend_all(table: &Table, order: &[u64]) -> Result<()> {
    for index in order {
        let view = table.get_view(key(*index as usize))?;
        if view.is_none_or(|view| view.is_empty()) {
            return Err(wrong("a key is missing"));
        }
    }
    Ok(())
}

fn key(index: usize) -> [u8; 8] {
    index.to_le_bytes()
}

fn wrong(what: &str) -> Error {
    Error::wrong("copy", what)
}
