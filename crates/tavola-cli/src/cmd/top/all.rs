//! All tables in one list, with their rates.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use tavola::Stats;

use super::{FIRST, nap};
use crate::args::TablesArg;
use crate::beside;
use crate::error::CliError;
use crate::kind::Kind;
use crate::units::{count, counted, size};

/// Moves to the first line and clears the terminal.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// What a table reported at one moment.
struct Sample {
    at: Instant,
    stats: Stats,
    kind: Kind,
    /// How many keys, elements or lines, and the word for one.
    held: (u64, &'static str),
    processes: usize,
    /// Keys set, changed or removed.
    changes: u64,
}

type Samples = HashMap<String, Sample>;

/// Prints the list again and again.
pub fn show(
    interval: Duration,
    count: Option<u64>,
    as_text: bool,
    ended: &AtomicBool,
) -> Result<(), CliError> {
    let mut before = sample()?;
    let mut pause = FIRST.min(interval);
    let mut shown = 0;
    while nap(pause, ended) {
        let now = sample()?;
        let mut out = io::stdout().lock();
        if out.is_terminal() && !as_text {
            out.write_all(CLEAR.as_bytes())?;
        }
        out.write_all(text(&before, &now).as_bytes())?;
        out.flush()?;
        shown += 1;
        if count == Some(shown) {
            break;
        }
        (before, pause) = (now, interval);
    }
    Ok(())
}

/// Reads all tables; leaves out those that cannot be read.
fn sample() -> Result<Samples, CliError> {
    let mut samples = Samples::new();
    for table in TablesArg::all()? {
        let Ok(opened) = table.open_to_read() else {
            continue;
        };
        let mut participants = opened.participants()?;
        participants.retain(|one| one.alive && !one.is_this_process());
        let (shards, kind) = (opened.shard_stats()?, Kind::of(&opened)?);
        let changes = shards.iter().map(|shard| shard.writes);
        let sample = Sample {
            at: Instant::now(),
            stats: opened.stats()?,
            kind,
            held: beside::held(&opened, kind)?,
            processes: participants.len(),
            changes: changes.fold(0, u64::wrapping_add),
        };
        samples.insert(table.label(), sample);
    }
    Ok(samples)
}

fn text(before: &Samples, now: &Samples) -> String {
    let time = humantime::format_rfc3339_seconds(SystemTime::now());
    let memory = now.values().map(|one| one.stats.resident_bytes).sum();
    let tables = counted(now.len() as u64, "table");
    let mut out = format!("{time}  {tables}, {}\n", size(memory));
    let width = now.keys().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max(5);
    let _ = writeln!(
        out,
        "{:<width$}  KIND   {:>20}  {:>10}  {:>10}  {:>10}  {:>9}",
        "TABLE", "HOLDS", "CHANGES/S", "READS/S", "MEMORY", "PROCESSES"
    );
    let mut names: Vec<&String> = now.keys().collect();
    names.sort();
    for name in names {
        let one = &now[name];
        let old = before
            .get(name)
            .filter(|old| old.stats.uuid == one.stats.uuid);
        let since = |old: &Sample| one.at.duration_since(old.at).as_secs_f64().max(0.001);
        let rate = |of: fn(&Sample) -> u64| {
            old.map_or("-".to_string(), |old| {
                count((of(one).wrapping_sub(of(old)) as f64 / since(old)) as u64)
            })
        };
        // Queues and logs count no changes: they show what they hold more, or less.
        let growth = || {
            old.map_or("-".to_string(), |old| {
                let more = one.held.0 as f64 - old.held.0 as f64;
                let sign = if more < 0.0 { "-" } else { "+" };
                format!("{sign}{}", count((more.abs() / since(old)).round() as u64))
            })
        };
        // Only caches count reads.
        let reads = match one.kind {
            Kind::Cache => rate(|one| one.stats.hits.wrapping_add(one.stats.misses)),
            _ => "-".to_string(),
        };
        let changes = match one.kind {
            Kind::Table | Kind::Cache => rate(|one| one.changes),
            Kind::Queue | Kind::Log => growth(),
        };
        let (kind, held) = (one.kind.name(), counted(one.held.0, one.held.1));
        let memory = size(one.stats.resident_bytes);
        let _ = writeln!(
            out,
            "{name:<width$}  {kind:<5}  {held:>20}  {changes:>10}  {reads:>10}  {memory:>10}  \
             {:>9}",
            one.processes
        );
    }
    out + "\n"
}
