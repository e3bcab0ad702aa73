//! The cost of durability: a durable table beside one in memory only, and beside the bare disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tavola::{Durability, Table};
use tavola_program::units::parse_count;

use crate::bytes::KeyWords;
use crate::small::{shuffled, timed};
use crate::stats::median;
use crate::{Emit, Error, Result};

/// The columns that people see of a line.
pub const COLUMNS: &[&str] = &["what", "rate", "unit", "beside", "ratio"];

/// Measure durable tables, beside a table in memory and the bare disk
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tavola-bench durable --dir /var/tmp --keys 1M")]
pub struct Config {
    /// Keys in the table
    #[arg(long, short, value_name = "N", value_parser = parse_count, default_value = "200K")]
    keys: u64,
    /// Bytes a value
    #[arg(long, short, value_name = "V", default_value_t = 100)]
    value_bytes: usize,
    /// How often; medians count
    #[arg(long, short, value_name = "R", default_value_t = 5)]
    repeat: u64,
    /// How long each part with a synced disk lasts, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    millis: u64,
    /// Threads that commit at once
    #[arg(long, value_name = "T", default_value_t = 16)]
    threads: usize,
    /// The directory on a disk under which the tables are made
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    dir: PathBuf,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// A durable table, or one in memory, removed at the end.
struct Made {
    table: Option<Table>,
    path: PathBuf,
}

impl Made {
    fn open(config: &Config, name: &str, durability: Option<Durability>) -> Result<Self> {
        let name = format!("tavola-bench-{}-{name}", std::process::id());
        let options = Table::options().max_size(4 << 30);
        let (path, options) = match durability {
            Some(durability) => (config.dir.join(name), options.durable(durability)),
            None => (tavola::names::directory().join(name), options),
        };
        let table = options.open(&path)?;
        Ok(Self {
            table: Some(table),
            path,
        })
    }

    fn table(&self) -> Result<&Table> {
        let none = || Error::worker("the table is closed");
        self.table.as_ref().ok_or_else(none)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.table = None;
        let _ = Table::options().remove(&self.path);
    }
}

fn key(index: u64) -> [u8; 16] {
    let words = KeyWords::new(8);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&words.of(index).to_le_bytes());
    key[8..].copy_from_slice(&index.to_le_bytes());
    key
}

/// Measures everything.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    in_memory(config, emit)?;
    committed(config, emit)?;
    rebuilt(config, emit)?;
    beside_a_snapshot(config, emit)
}

/// Gets and sets under policies that do not wait for the disk.
fn in_memory(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, value) = (config.keys.max(2), vec![b'v'; config.value_bytes]);
    let plain = Made::open(config, "plain", None)?;
    let within = Durability::Within(Duration::from_millis(50));
    let lasting = Made::open(config, "within", Some(within))?;
    for made in [&plain, &lasting] {
        let table = made.table()?;
        (0..keys).try_for_each(|index| table.set(key(index), &value))?;
    }
    let mut rounds: [Vec<[f64; 2]>; 3] = Default::default();
    for turn in 0..config.repeat.max(1) {
        let order = shuffled(keys, turn);
        let mut round = [[0.0; 2]; 3];
        for (i, made) in [&plain, &lasting].into_iter().enumerate() {
            let table = made.table()?;
            let mut out = Vec::new();
            round[0][i] = timed(&order, |&index| {
                match table.get_into(key(index), &mut out)? {
                    true => Ok(()),
                    false => Err(Error::wrong("durable", "a key is missing")),
                }
            })?;
            round[1][i] = timed(&order, |&index| Ok(table.set(key(index), &value)?))?;
            round[2][i] = timed(&order[..order.len() / 2], |&index| {
                let changed = table.transaction(|t| {
                    t.set(key(index), &value)?;
                    t.set(key((index + 1) % keys), &value)
                });
                Ok(changed?)
            })?;
        }
        rounds
            .iter_mut()
            .zip(round)
            .for_each(|(all, one)| all.push(one));
    }
    let names = [
        "get",
        "set, within 50 ms",
        "transaction of 2 keys, within 50 ms",
    ];
    for ((what, rounds), part) in names.into_iter().zip(&rounds).zip([1, 1, 2]) {
        let count = (keys / part) as f64;
        emit(&json!({
            "what": what, "unit": "million/s", "beside": "the same in memory only",
            "rate": median(rounds.iter().map(|round| count / round[1] / 1e6)),
            "ratio": median(rounds.iter().map(|round| round[0] / round[1])),
        }))?;
    }
    Ok(())
}

/// Sets that return when they are on disk, beside writing and syncing as many bytes.
fn committed(config: &Config, emit: Emit<'_>) -> Result<()> {
    let value = vec![b'v'; config.value_bytes];
    let made = Made::open(config, "commit", Some(Durability::Commit))?;
    let table = made.table()?;
    let span = Duration::from_millis(config.millis);
    let mut rounds = Vec::new();
    for turn in 0..config.repeat.max(1) {
        let bare = bare_syncs(&config.dir, span, 48 + 16 + config.value_bytes)?;
        let begun = Instant::now();
        let mut sets = 0_u64;
        while begun.elapsed() < span {
            table.set(key(turn << 32 | sets), &value)?;
            sets += 1;
        }
        rounds.push([bare, sets as f64 / begun.elapsed().as_secs_f64()]);
    }
    let one = median(rounds.iter().map(|round| round[1]));
    emit(&json!({
        "what": "set, committed, one thread", "unit": "1/s", "beside": "pwrite and fdatasync",
        "rate": one, "ratio": median(rounds.iter().map(|round| round[1] / round[0])),
    }))?;
    let syncs = || Ok::<_, Error>(table.durable_stats()?.map_or(0, |stats| stats.syncs));
    let (mut rounds, mut records) = (Vec::new(), Vec::new());
    for turn in 0..config.repeat.max(1) {
        let before = syncs()?;
        let (stop, sets) = (AtomicBool::new(false), AtomicU64::new(0));
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..config.threads as u64 {
                let (stop, sets, value) = (&stop, &sets, &value);
                scope.spawn(move || {
                    let mut index = turn << 48 | thread << 40;
                    while !stop.load(Ordering::Relaxed) && table.set(key(index), value).is_ok() {
                        index += 1;
                        sets.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            std::thread::sleep(span);
            stop.store(true, Ordering::Relaxed);
        });
        let (sets, synced) = (sets.into_inner() as f64, syncs()? - before);
        rounds.push(sets / begun.elapsed().as_secs_f64());
        records.push(sets / synced.max(1) as f64);
    }
    let all = median(rounds);
    emit(&json!({
        "what": format!("set, committed, {} threads", config.threads), "unit": "1/s",
        "beside": "one thread", "rate": all, "ratio": all / one,
    }))?;
    // One thread has one record a sync.
    let records = median(records);
    emit(&json!({
        "what": "records a sync of these", "unit": "records", "beside": "one thread",
        "rate": records, "ratio": records,
    }))
}

/// Returns how often a second so many bytes can be written and synced, one after the other, in a
/// file that was written before.
fn bare_syncs(dir: &Path, span: Duration, len: usize) -> Result<f64> {
    let path = dir.join(format!("tavola-bench-{}-bare", std::process::id()));
    let failed = Error::io("writing to the disk");
    let file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&path)
        .map_err(failed)?;
    let written: std::io::Result<f64> = (|| {
        let room = vec![0; 1 << 20];
        (0..16).try_for_each(|i| file.write_all_at(&room, i << 20))?;
        file.sync_all()?;
        let (begun, mut count) = (Instant::now(), 0_u64);
        while begun.elapsed() < span {
            file.write_all_at(&room[..len], count % (15 << 20) / len as u64 * len as u64)?;
            file.sync_data()?;
            count += 1;
        }
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    })();
    let _ = std::fs::remove_file(&path);
    written.map_err(Error::io("writing to the disk"))
}

/// Rebuilding a table beside setting all its keys.
fn rebuilt(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, value) = (config.keys.max(1), vec![b'v'; config.value_bytes]);
    for with_snapshot in [false, true] {
        let mut rounds = Vec::new();
        for _ in 0..config.repeat.clamp(1, 3) {
            let plain = Made::open(config, "many", None)?;
            let pairs: Vec<_> = (0..keys).map(|index| (key(index), &value)).collect();
            let begun = Instant::now();
            plain.table()?.set_many(&pairs)?;
            let set = begun.elapsed().as_secs_f64();
            drop(plain);
            let mut made = Made::open(config, "rebuilt", Some(Durability::Os))?;
            made.table()?.set_many(&pairs)?;
            if with_snapshot {
                made.table()?.snapshot()?;
            }
            made.table = None;
            lose_memory(&made.path)?;
            let begun = Instant::now();
            let table = Table::open(&made.path)?;
            rounds.push([set, begun.elapsed().as_secs_f64()]);
            if table.len()? != keys {
                return Err(Error::wrong("durable", "a rebuilt table lacks keys"));
            }
            made.table = Some(table);
        }
        let what = match with_snapshot {
            true => "rebuild from a snapshot",
            false => "rebuild from the journal",
        };
        emit(&json!({
            "what": what, "unit": "million keys/s", "beside": "set_many of the same (time)",
            "rate": median(rounds.iter().map(|round| keys as f64 / round[1] / 1e6)),
            "ratio": median(rounds.iter().map(|round| round[1] / round[0])),
        }))?;
    }
    Ok(())
}

/// Removes the memory of a durable table, whose path its file `table` has.
fn lose_memory(home: &Path) -> Result<()> {
    let failed = || Error::worker("the file of a durable table is too short");
    let bytes = std::fs::read(home.join("table")).map_err(Error::io("reading a durable table"))?;
    let len = bytes.get(2096..2104).ok_or_else(failed)?;
    let len = u64::from_le_bytes(len.try_into().map_err(|_| failed())?) as usize;
    let path = bytes.get(2104..2104 + len).ok_or_else(failed)?;
    let path = String::from_utf8_lossy(path).into_owned();
    std::fs::remove_file(path).map_err(Error::io("removing a table"))
}

/// Writes a snapshot, after another one that the table's own thread may be writing.
fn snapshot(table: &Table) -> Result<()> {
    while !table.snapshot()? {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Sets while a snapshot is written, beside sets before.
fn beside_a_snapshot(config: &Config, emit: Emit<'_>) -> Result<()> {
    let (keys, value) = (config.keys.max(1), vec![b'v'; config.value_bytes]);
    let made = Made::open(config, "beside", Some(Durability::Os))?;
    let table = made.table()?;
    (0..keys).try_for_each(|index| table.set(key(index), &value))?;
    let mut rounds = Vec::new();
    for turn in 0..config.repeat.max(1) {
        let order = shuffled(keys, turn);
        // Otherwise the table's own thread may find one due, and write it now.
        snapshot(table)?;
        let alone = timed(&order, |&index| Ok(table.set(key(index), &value)?))?;
        let done = AtomicBool::new(false);
        let beside = std::thread::scope(|scope| {
            let (done, order, value) = (&done, &order, &value);
            let writer = scope.spawn(move || {
                let (begun, mut sets) = (Instant::now(), 0_u64);
                while !done.load(Ordering::Relaxed) {
                    let index = order[sets as usize % order.len()];
                    table.set(key(index), value)?;
                    sets += 1;
                }
                Ok::<_, Error>(sets as f64 / begun.elapsed().as_secs_f64())
            });
            let written = snapshot(table);
            done.store(true, Ordering::Relaxed);
            written?;
            writer
                .join()
                .map_err(|_| Error::worker("a writer has ended"))?
        })?;
        rounds.push([keys as f64 / alone, beside]);
    }
    emit(&json!({
        "what": "set beside a snapshot", "unit": "million/s", "beside": "the same without",
        "rate": median(rounds.iter().map(|round| round[1] / 1e6)),
        "ratio": median(rounds.iter().map(|round| round[1] / round[0])),
    }))
}
