//! Small measurements in one process: `open`, `iter`, `uid`, `tags`, `txn`, `copy`.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use tavola::{Attributes, Hint, Table};
use tavola_program::units::parse_count;

use crate::bytes::{Bytes, Expect, KeyWords, head};
use crate::latency::Latency;
use crate::order::Order;
use crate::scratch::Scratch;
use crate::stats::median;
use crate::table::joined;
use crate::{Emit, Error, Place, Result};

/// How large it is, and how often it is done.
#[derive(clap::Args)]
pub struct Config {
    /// Keys in the table [default: 1K for open, else 1M]
    #[arg(long, short, value_name = "N", value_parser = parse_count)]
    keys: Option<u64>,
    /// Bytes a value, of iter and tags [default: 8, 100]
    #[arg(long, short, value_name = "V")]
    value_bytes: Option<usize>,
    /// How often; medians count [default: 10K for open, 25 for copy, else 5]
    #[arg(long, short, value_name = "R", value_parser = parse_count)]
    repeat: Option<u64>,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    fn keys(&self) -> u64 {
        self.keys.unwrap_or(1_000_000).max(1)
    }

    fn repeat(&self, default: u64) -> u64 {
        self.repeat.unwrap_or(default).max(1)
    }
}

fn key(index: u64) -> [u8; 8] {
    KeyWords::new(8).of(index).to_le_bytes()
}

/// All numbers below `count`, in an order that `seed` fixes.
pub fn shuffled(count: u64, seed: u64) -> Vec<u64> {
    let (mut order, mut all) = (Order::shuffled(0..count, seed + 1), vec![0; count as usize]);
    let filled = order.fill(&mut all);
    debug_assert_eq!(filled, all.len());
    all
}

/// Does something with each and returns how many seconds that took.
pub fn timed<T>(all: &[T], mut each: impl FnMut(&T) -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    all.iter().try_for_each(&mut each)?;
    Ok(begin.elapsed().as_secs_f64())
}

fn none_wrong(phase: &str, wrong: u64) -> Result<()> {
    match wrong {
        0 => Ok(()),
        wrong => Err(Error::wrong(phase, format!("{wrong} answers"))),
    }
}

/// What it costs to open an existing table, get one key, and close it.
pub fn open(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, count) = (config.keys.unwrap_or(1000).max(1), config.repeat(10_000));
    let (scratch, table) = Scratch::create(&config.place)?;
    (0..keys).try_for_each(|index| table.set(key(index), key(index)))?;
    drop(table);
    let (mut spent, mut latency) = ([0; 3], Latency::new());
    for round in 0..count {
        let key = key(round % keys);
        let begin = Instant::now();
        let table = Table::options().open_existing(scratch.name())?;
        let opened = Instant::now();
        let found = table.get(key)?;
        let got = Instant::now();
        drop(table);
        let end = Instant::now();
        if found.as_deref() != Some(&key[..]) {
            let what = format!("key {key:02x?} gave {found:02x?}");
            return Err(Error::wrong("open", what));
        }
        for (sum, took) in spent
            .iter_mut()
            .zip([opened - begin, got - opened, end - got])
        {
            *sum += took.as_nanos() as u64;
        }
        latency.record((end - begin).as_nanos() as u64);
    }
    let us_each = |ns: u64| ns as f64 / count as f64 / 1e3;
    let [open_us, get_us, close_us] = spent.map(us_each);
    let line = json!({
        "phase": "open", "keys": keys, "count": count, "us_each": us_each(spent.iter().sum()),
        "open_us": open_us, "get_us": get_us, "close_us": close_us,
    });
    emit(&joined(line, &latency.percentiles()))
}

/// What it costs to walk over all records.
pub fn iter(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, value_bytes) = (config.keys(), config.value_bytes.unwrap_or(8));
    let table = Scratch::nameless(&config.place)?;
    let (words, mut value) = (KeyWords::new(8), Vec::blank(value_bytes));
    let mut all = 0_u64;
    for index in 0..keys {
        let word = words.of(index);
        value.fill(word);
        table.set(word.to_le_bytes(), &value)?;
        all = all.wrapping_add(word);
    }
    let expect = Expect {
        value_bytes,
        oldest: 0,
        newest: 0,
    };
    let mut runs = Vec::new();
    for _ in 0..config.repeat(5) {
        let (mut count, mut sum, mut wrong) = (0, 0_u64, 0_u64);
        let begin = Instant::now();
        let mut records = table.iter();
        while let Some((key, value)) = records.next_entry()? {
            count += 1;
            sum = sum.wrapping_add(head(key));
            wrong += u64::from(!expect.holds(key, value));
        }
        runs.push(keys as f64 / begin.elapsed().as_secs_f64() / 1e6);
        if count != keys || sum != all || wrong != 0 {
            let what = format!("{count} records of {keys}, {wrong} of them wrong");
            return Err(Error::wrong("iter", what));
        }
    }
    emit(&json!({
        "phase": "iter", "keys": keys, "value_bytes": value_bytes,
        "mops": median(runs.iter().copied()), "runs": runs,
    }))
}

/// What uids save and what they cost: the same keys asked for by key and by uid, in one round each
/// operation once over all keys.
pub fn uid(config: &Config, emit: Emit<'_>) -> Result<()> {
    let keys = config.keys();
    let plain = Scratch::nameless(&config.place)?;
    let named = Scratch::nameless(&config.place)?;
    let mut all: Vec<([u8; 8], Hint)> = Vec::new();
    for index in 0..keys {
        let key = key(index);
        plain.set(key, key)?;
        all.push((key, named.set_uid(key, key)?));
    }
    let (mut rounds, mut wrong, mut out) = (Vec::new(), 0, Vec::with_capacity(64));
    for turn in 0..config.repeat(5) {
        let order = shuffled(keys, turn);
        let order: Vec<_> = order.into_iter().map(|at| all[at as usize]).collect();
        let value = |key: &[u8; 8], turn: u64| u64::from_le_bytes(*key).wrapping_add(turn);
        let mut check = |found: bool, out: &[u8], wanted: u64| {
            wrong += u64::from(!found || out != wanted.to_le_bytes());
            Ok(())
        };
        rounds.push([
            timed(&order, |(key, _)| {
                let found = plain.get_into(key, &mut out)?;
                check(found, &out, value(key, 0))
            })?,
            timed(&order, |(key, _)| {
                let found = named.get_into(key, &mut out)?;
                check(found, &out, value(key, 2 * turn))
            })?,
            timed(&order, |(key, hint)| {
                let found = named.get_by_uid_into(*hint, &mut out)?;
                check(found, &out, value(key, 2 * turn))
            })?,
            timed(&order, |(key, _)| {
                Ok(named.set(key, value(key, 2 * turn + 1).to_le_bytes())?)
            })?,
            timed(&order, |(key, hint)| {
                let value = value(key, 2 * turn + 2);
                let found = named.set_by_uid(*hint, value.to_le_bytes())?;
                check(found, &value.to_le_bytes(), value)
            })?,
        ]);
    }
    none_wrong("uid", wrong)?;
    let rate = |at: usize| median(rounds.iter().map(|round| keys as f64 / round[at] / 1e6));
    let ratio = |at: usize, by: usize| median(rounds.iter().map(|round| round[at] / round[by]));
    let bytes =
        |table: &Table| -> Result<f64> { Ok(table.stats()?.resident_bytes as f64 / keys as f64) };
    emit(&json!({
        "phase": "uid", "keys": keys, "plain_get_mops": rate(0), "get_mops": rate(1),
        "uid_get_mops": rate(2), "set_mops": rate(3), "uid_set_mops": rate(4),
        "get_ratio": ratio(1, 2), "plain_get_ratio": ratio(0, 2), "set_ratio": ratio(3, 4),
        "bytes_per_key": bytes(&named)?, "plain_bytes_per_key": bytes(&plain)?,
    }))
}

/// What people see of a line of `tags`.
pub const TAGS_COLUMNS: &[&str] = &[
    "tags",
    "keys",
    "get_mops",
    "get_ratio",
    "set_mops",
    "bytes_per_key",
    "invalidate_us",
];
/// Keys that have the same tags, except for the first tag, which all keys have.
const ALIKE: u64 = 100;

/// What tags cost: keys with none, one, two, ... and the moment when one of them is invalidated.
pub fn tags(config: &Config, emit: Emit<'_>) -> Result<()> {
    let keys = config.keys();
    let value = vec![b'v'; config.value_bytes.unwrap_or(100)];
    let mut without = None;
    for count in [0, 1, 2, 4, 16] {
        let table = Scratch::nameless(&config.place)?;
        let begin = Instant::now();
        for index in 0..keys {
            let names = (0..count).map(|at| match at {
                0 => "all".to_owned(),
                at => format!("{at}:{}", index / ALIKE),
            });
            let tags = table.fetch_tags(&names.collect::<Vec<_>>())?;
            table.set_tagged(key(index), &value, Attributes::default(), &tags)?;
        }
        let set_mops = keys as f64 / begin.elapsed().as_secs_f64() / 1e6;
        let bytes_per_key = table.stats()?.resident_bytes as f64 / keys as f64;
        let (mut rates, mut wrong, mut out) = (Vec::new(), 0, Vec::with_capacity(value.len()));
        for turn in 0..config.repeat(5) {
            let seconds = timed(&shuffled(keys, turn), |index| {
                let found = table.get_into(key(*index), &mut out)?;
                wrong += u64::from(!found || out.len() != value.len());
                Ok(())
            })?;
            rates.push(keys as f64 / seconds / 1e6);
        }
        let get_mops = median(rates);
        let begin = Instant::now();
        let is_invalidated = table.invalidate_tag(b"all")?;
        let invalidate_us = is_invalidated.then(|| begin.elapsed().as_secs_f64() * 1e6);
        wrong += u64::from(table.contains(key(keys / 2))? != (count == 0));
        none_wrong("tags", wrong)?;
        emit(&json!({
            "phase": "tags", "keys": keys, "tags": count, "set_mops": set_mops,
            "get_mops": get_mops, "get_ratio": get_mops / *without.get_or_insert(get_mops),
            "bytes_per_key": bytes_per_key, "invalidate_us": invalidate_us,
        }))?;
    }
    Ok(())
}

/// What people see of a line of `txn`.
pub const TXN_COLUMNS: &[&str] = &["changes", "txn_kops", "txn_key_mops", "set_mops", "ratio"];

/// What transactions cost: keys overwritten by transactions of one, two, ... keys, beside as many
/// sets; and two keys read and changed, as when money moves from one to the other.
pub fn txn(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, value) = (config.keys(), vec![b'v'; config.value_bytes.unwrap_or(8)]);
    let table = Scratch::nameless(&config.place)?;
    (0..keys).try_for_each(|index| table.set(key(index), &value))?;
    for changes in [1_usize, 2, 10, 100] {
        let mut rounds = Vec::new();
        for turn in 0..config.repeat(5) {
            let order = shuffled(keys, turn);
            let whole = &order[..order.len() / changes * changes];
            let sets = timed(whole, |index| Ok(table.set(key(*index), &value)?))?;
            let sets_of: Vec<&[u64]> = whole.chunks_exact(changes).collect();
            let transactions = timed(&sets_of, |indexes| {
                let changed = table.transaction(|t| {
                    indexes
                        .iter()
                        .try_for_each(|index| t.set(key(*index), &value))
                });
                Ok(changed?)
            })?;
            rounds.push((whole.len() as f64, sets, transactions));
        }
        let rate = |seconds: fn(&(f64, f64, f64)) -> f64| {
            median(rounds.iter().map(|round| round.0 / seconds(round) / 1e6))
        };
        emit(&json!({
            "phase": "txn", "keys": keys, "changes": changes, "set_mops": rate(|round| round.1),
            "txn_key_mops": rate(|round| round.2),
            "txn_kops": rate(|round| round.2) * 1e3 / changes as f64,
            "ratio": median(rounds.iter().map(|round| round.1 / round.2)),
        }))?;
    }
    move_money(config, emit)
}

/// Two keys read and changed in each transaction; their sum stays.
fn move_money(config: &Config, emit: Emit<'_>) -> Result<()> {
    let keys = config.keys().max(2);
    let table = Scratch::nameless(&config.place)?;
    (0..keys).try_for_each(|index| table.set(key(index), b"1000"))?;
    let mut rates = Vec::new();
    for turn in 0..config.repeat(5) {
        let order = shuffled(keys, turn);
        let pairs: Vec<&[u64]> = order.chunks_exact(2).collect();
        let seconds = timed(&pairs, |pair| {
            let moved = table.transaction(|t| {
                t.add_number(key(pair[0]), -1)?;
                t.add_number(key(pair[1]), 1)
            });
            moved?;
            Ok(())
        })?;
        rates.push(pairs.len() as f64 / seconds / 1e3);
    }
    let mut sum = 0_i64;
    for entry in table.iter() {
        let (_, value) = entry?;
        let text = String::from_utf8_lossy(&value).into_owned();
        sum += text.parse::<i64>().unwrap_or(i64::MIN / 4);
    }
    none_wrong("txn", u64::from(sum != 1000 * keys as i64))?;
    emit(&json!({
        "phase": "txn", "keys": keys, "changes": "2, read", "txn_kops": median(rates),
    }))
}

/// What people see of a line of `copy`.
pub const COPY_COLUMNS: &[&str] = &["value_bytes", "get_ns", "plain_ns", "get_ratio", "view_ns"];
/// Bytes of all values of a size together.
const COPIED: usize = 16 << 20;

/// What it costs to read values of some size, beside a plain copy of as many bytes out of a
/// mapping.
pub fn copy(config: &Config, emit: Emit<'_>) -> Result<()> {
    let plain = Scratch::nameless(&config.place)?;
    plain.set(b"all", vec![b'p'; COPIED])?;
    let missing = || Error::wrong("copy", "a key is missing");
    let lent = plain.get_view(b"all")?.ok_or_else(missing)?;
    for size in [8 << 10, 64 << 10, 1 << 20] {
        let pieces = lent.pieces().flat_map(|piece| piece.chunks_exact(size));
        let pieces: Vec<&[u8]> = pieces.collect();
        let count = pieces.len() as u64;
        if count == 0 {
            return Err(Error::worker("the pages of a value do not adjoin"));
        }
        let table = Scratch::nameless(&config.place)?;
        (0..count).try_for_each(|index| table.set(key(index), vec![b'v'; size]))?;
        let (mut rounds, mut wrong, mut out) = (Vec::new(), 0, vec![0; size]);
        for turn in 0..config.repeat(25) {
            let order = shuffled(count, turn);
            rounds.push([
                timed(&order, |index| {
                    out.copy_from_slice(pieces[*index as usize]);
                    black_box(&out);
                    Ok(())
                })?,
                timed(&order, |index| {
                    let found = table.get_into(key(*index), &mut out)?;
                    wrong += u64::from(!found || out.len() != size);
                    Ok(())
                })?,
                timed(&order, |index| {
                    let view = table.get_view(key(*index))?;
                    wrong += u64::from(view.is_none_or(|view| view.is_empty()));
                    Ok(())
                })?,
            ]);
        }
        none_wrong("copy", wrong)?;
        let ns = |at: usize| median(rounds.iter().map(|round| round[at] * 1e9 / count as f64));
        emit(&json!({
            "phase": "copy", "value_bytes": size, "plain_ns": ns(0), "get_ns": ns(1),
            "get_ratio": median(rounds.iter().map(|round| round[0] / round[1])), "view_ns": ns(2),
        }))?;
    }
    Ok(())
}
