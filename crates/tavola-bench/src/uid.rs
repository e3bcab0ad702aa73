//! What uids save and what they cost: the same keys asked for by key and by uid.

use std::time::Instant;

use serde::Serialize;
use tavola::{Hint, Table};
use tavola_program::units::parse_count;

use crate::bytes::KeyWords;
use crate::order::Order;
use crate::scratch::Scratch;
use crate::stats::median;
use crate::{Error, Place, Result};

/// Get and overwrite the same keys by key and by uid
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench uid --keys 10M\n  tavola-bench uid --json")]
pub struct Config {
    /// Keys in the table
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    pub keys: u64,
    /// How often; the median counts
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    pub repeat: u32,
    /// Where the table is made.
    #[command(flatten)]
    pub place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What was measured. Rates are million operations a second; ratios are medians of the ratios
/// within each round.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `uid`.
    pub phase: &'static str,
    /// Keys in each table.
    pub keys: u64,
    /// Get by key, from a table without uids.
    pub plain_get_mops: f64,
    /// Get by key, from the table of which every key has a uid.
    pub get_mops: f64,
    /// Get by uid.
    pub uid_get_mops: f64,
    /// Overwrite by key, in the table with uids.
    pub set_mops: f64,
    /// Overwrite by uid.
    pub uid_set_mops: f64,
    /// Get by uid to get by key, in one table.
    pub get_ratio: f64,
    /// Get by uid to get by key from the table without uids.
    pub plain_get_ratio: f64,
    /// Overwrite by uid to overwrite by key.
    pub set_ratio: f64,
    /// Memory a key, of the table with uids and of the one without.
    pub bytes_per_key: f64,
    /// As above.
    pub plain_bytes_per_key: f64,
}

/// Seconds of one round.
#[derive(Clone, Copy)]
struct Round {
    plain_get: f64,
    get: f64,
    uid_get: f64,
    set: f64,
    uid_set: f64,
}

/// Runs it.
///
/// # Errors
///
/// Whatever the tables refuse, and a wrong answer.
pub fn run(config: &Config) -> Result<Report> {
    let plain = Scratch::nameless(&config.place)?;
    let named = Scratch::nameless(&config.place)?;
    let words = KeyWords::new(8);
    let mut all = Vec::new();
    for index in 0..config.keys {
        let key = words.of(index).to_le_bytes();
        plain.set(key, key)?;
        all.push((key, named.set_uid(key, key)?));
    }
    let rounds = (0..config.repeat.max(1))
        .map(|turn| round(&plain, &named, &all, u64::from(turn)))
        .collect::<Result<Vec<_>>>()?;
    let keys = config.keys as f64;
    let middle = |of: fn(&Round) -> f64| median(rounds.iter().map(of));
    let rate = |of: fn(&Round) -> f64| median(rounds.iter().map(|round| keys / of(round) / 1e6));
    Ok(Report {
        phase: "uid",
        keys: config.keys,
        plain_get_mops: rate(|round| round.plain_get),
        get_mops: rate(|round| round.get),
        uid_get_mops: rate(|round| round.uid_get),
        set_mops: rate(|round| round.set),
        uid_set_mops: rate(|round| round.uid_set),
        get_ratio: middle(|round| round.get / round.uid_get),
        plain_get_ratio: middle(|round| round.plain_get / round.uid_get),
        set_ratio: middle(|round| round.set / round.uid_set),
        bytes_per_key: named.stats()?.resident_bytes as f64 / keys,
        plain_bytes_per_key: plain.stats()?.resident_bytes as f64 / keys,
    })
}

type Named = ([u8; 8], Hint);

/// Each operation once over all keys, in an order that is made before.
fn round(plain: &Table, named: &Table, all: &[Named], turn: u64) -> Result<Round> {
    let mut order = Order::shuffled(0..all.len() as u64, turn * 5 + 1);
    let mut indices = vec![0; all.len()];
    let count = order.fill(&mut indices);
    let shuffled: Vec<Named> = indices[..count]
        .iter()
        .map(|at| all[*at as usize])
        .collect();
    let value = |key: &[u8; 8], turn: u64| u64::from_le_bytes(*key).wrapping_add(turn);
    let mut out = Vec::with_capacity(64);
    let mut wrong = 0_u64;
    let mut check = |found: bool, out: &[u8], wanted: u64| {
        wrong += u64::from(!found || out != wanted.to_le_bytes());
    };
    let plain_get = timed(&shuffled, |(key, _)| {
        let found = plain.get_into(key, &mut out)?;
        check(found, &out, value(key, 0));
        Ok(())
    })?;
    let get = timed(&shuffled, |(key, _)| {
        let found = named.get_into(key, &mut out)?;
        check(found, &out, value(key, 2 * turn));
        Ok(())
    })?;
    let uid_get = timed(&shuffled, |(key, hint)| {
        let found = named.get_by_uid_into(*hint, &mut out)?;
        check(found, &out, value(key, 2 * turn));
        Ok(())
    })?;
    let set = timed(&shuffled, |(key, _)| {
        Ok(named.set(key, value(key, 2 * turn + 1).to_le_bytes())?)
    })?;
    let uid_set = timed(&shuffled, |(key, hint)| {
        let value = value(key, 2 * turn + 2).to_le_bytes();
        let found = named.set_by_uid(*hint, value)?;
        check(found, &value, u64::from_le_bytes(value));
        Ok(())
    })?;
    if wrong != 0 {
        let what = format!("{wrong} answers of {} keys", all.len());
        return Err(Error::wrong("uid", what));
    }
    Ok(Round {
        plain_get,
        get,
        uid_get,
        set,
        uid_set,
    })
}

fn timed(all: &[Named], mut each: impl FnMut(&Named) -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    all.iter().try_for_each(&mut each)?;
    Ok(begin.elapsed().as_secs_f64())
}
