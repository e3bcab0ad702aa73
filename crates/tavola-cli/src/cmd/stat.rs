//! `tavola stat`: what a table holds, what it costs, and who is attached.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tavola::serving::Serving;
use tavola::{Latencies, LiveKeys, Participant, Recent, ShardStats, Stats};
use tavola_cdb::{Constant, Format};

use super::ls::tables;
use crate::args::{TableArg, TablesArg};
use crate::beside;
use crate::constant;
use crate::durable;
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units::{age, count, counted, keys_in_words, size};

mod json;

const EXAMPLES: &str = "\
Examples:
  tavola stat sessions
  tavola stat                          all tables: a list, then each of them
  tavola stat sessions --json | jq .resident_bytes
  tavola stat sessions --shards        also each shard
  tavola stat ./words.cdb              a constant file
  watch -n1 tavola stat sessions";

/// The reported quantiles of latencies.
const QUANTILES: [f64; 2] = [0.5, 0.99];

/// Show the keys, memory, settings and users of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    tables: TablesArg,
    /// Also print the keys, bytes and writes of each shard; with --json they are always there
    #[arg(long)]
    shards: bool,
    /// Print all numbers as JSON, one object per line and table
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let listed = match args.tables.is_one() || args.json {
        true => ExitCode::SUCCESS,
        false => tables::list(false)?,
    };
    let shown = args.tables.each(|table| {
        if !args.tables.is_one() && !args.json {
            let mut out = Output::new();
            out.line("")?;
            out.finish()?;
        }
        show(table, &args)
    })?;
    Ok(if shown == ExitCode::SUCCESS {
        listed
    } else {
        shown
    })
}

fn show(name: &TableArg, args: &Args) -> Result<ExitCode, CliError> {
    let json = args.json;
    if let Some(file) = constant::open(name.name())? {
        return show_constant(&name.label(), &file, json);
    }
    let table = name.open_to_read()?;
    let stats = table.stats()?;
    let latencies = table.latencies()?;
    let mut participants = table.participants()?;
    participants.retain(|one| !one.is_this_process());
    let (keys, holders) = (table.live_keys()?, table.lock_holders()?);
    let (logs, depths) = (beside::logs(&table)?, beside::depths(&table)?);
    let durable = table.durable_stats()?;
    let mut out = Output::new();
    if json {
        let mut document = json::document(&table, &stats, &participants, &logs);
        json::put_keys(&mut document, &keys);
        document.insert("locked".to_string(), json::locked(&holders));
        document.insert("latencies".to_string(), json::latencies(&latencies));
        document.insert("queues".to_string(), json::queues(&depths));
        let journal = json::durable(durable.as_ref(), stats.created_unix_s);
        document.insert("durable".to_string(), journal);
        let shards = table.shard_stats()?;
        let shards = shards.iter().map(json::shard).collect();
        document.insert("each_shard".to_string(), Value::Array(shards));
        out.json(document)?;
    } else {
        out.line(format!("{}  ({})", name.label(), table.path().display()))?;
        let of_journal = durable.as_ref().map_or(Vec::new(), |durable| {
            durable::describe(durable, stats.created_unix_s)
        });
        for (name, text) in summary(&stats, &keys, &latencies)
            .into_iter()
            .chain(of_journal)
        {
            out.line(format!("  {name:<13} {text}"))?;
        }
        for holder in &holders {
            let text = format!("{} by {holder}: writers are waiting", holder.lock);
            out.line(format!("  {:<13} {text}", "locked"))?;
        }
        for (name, stats) in &logs {
            let (label, text) = (beside::label(name), beside::describe_log(stats));
            out.line(format!("  {label:<13} {text}"))?;
        }
        for depth in &depths {
            let (label, elements) = (depth.label(), counted(depth.elements, "element"));
            out.line(format!("  {label:<13} {elements}"))?;
        }
        if let Some(owner) = json::lives_with(&table) {
            out.line(format!("  {:<13} {owner}", "lives with"))?;
        }
        if let Some(served) = served(&participants) {
            out.line(format!("  {:<13} {served}", "served by"))?;
        }
        write_participants(&mut out, &participants)?;
        write_classes(&mut out, &stats)?;
        if args.shards {
            write_shards(&mut out, &table.shard_stats()?)?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_constant(label: &str, file: &Constant, json: bool) -> Result<ExitCode, CliError> {
    let (format, bytes) = match file {
        Constant::Cdb(cdb) if cdb.format() == Format::Cdb => ("cdb", cdb.size_bytes()),
        Constant::Cdb(cdb) => ("cdb of 64 bits", cdb.size_bytes()),
        Constant::Frozen(frozen) => ("frozen", frozen.size_bytes()),
    };
    let keys = file.len();
    let mut out = Output::new();
    if json {
        let mut document = Map::new();
        document.insert("name".to_string(), label.into());
        document.insert("kind".to_string(), "constant file".into());
        document.insert("format".to_string(), format.into());
        document.insert("keys".to_string(), keys.into());
        document.insert("file_bytes".to_string(), bytes.into());
        out.json(document)?;
    } else {
        out.line(format!("{label}  (constant file)"))?;
        out.line(format!("  {:<13} {format}", "format"))?;
        out.line(format!("  {:<13} {}", "records", count(keys)))?;
        let each = match keys {
            0 => String::new(),
            keys => format!(", {:.1} bytes a record", bytes as f64 / keys as f64),
        };
        out.line(format!("  {:<13} {}{each}", "file", size(bytes)))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn summary(stats: &Stats, keys: &LiveKeys, latencies: &Latencies) -> Vec<(&'static str, String)> {
    let memory = format!(
        "{} of at most {}",
        size(stats.resident_bytes),
        size(stats.max_size)
    );
    let each = match stats.keys {
        0 => String::new(),
        keys => format!(
            ", {:.1} bytes a key",
            stats.resident_bytes as f64 / keys as f64
        ),
    };
    let index = format!(
        "{} in {} and {}, {:.0} % full",
        size(stats.index_bytes),
        counted(stats.shards.into(), "shard"),
        counted(stats.segments, "segment"),
        stats.index_load * 100.0
    );
    let made = format!(
        "{} ago, format {}, uuid {}",
        age(now_unix_s().saturating_sub(stats.created_unix_s)),
        stats.format_version,
        json::uuid(stats.uuid)
    );
    let mut lines = vec![
        ("keys", keys_in_words(keys)),
        (
            "payload",
            format!("{} of keys and values", size(stats.payload_bytes)),
        ),
        ("memory", memory + &each),
        ("index", index),
        ("small items", size(stats.slab_bytes)),
        ("large items", size(stats.large_bytes)),
        ("queues, logs", size(stats.queue_and_log_bytes)),
        (
            "uids",
            format!("{} in {}", count(stats.uids), size(stats.uid_bytes)),
        ),
        ("tags", count(stats.tags)),
        ("spare", size(stats.free_bytes)),
        ("made", made),
    ];
    if let Some(capacity) = stats.capacity {
        let memory = lines.iter().position(|(name, _)| *name == "memory");
        let at = memory.map_or(lines.len(), |at| at + 1);
        lines.splice(at..at, of_cache(stats, latencies, capacity));
    }
    if stats.ttl_ms > 0 || stats.expired > 0 {
        let ttl = match stats.ttl_ms {
            0 => String::new(),
            ms => format!(", by default after {} s", ms as f64 / 1000.0),
        };
        lines.insert(1, ("expired", format!("{}{ttl}", count(stats.expired))));
    }
    if stats.leases_unrecorded > 0 {
        let leases = counted(stats.leases_unrecorded, "lease");
        let text = format!("{leases} granted without a record");
        lines.insert(lines.len() - 1, ("leases", text));
    }
    if let Some((key, value)) = stats.fixed {
        lines.insert(
            1,
            ("lengths", format!("keys of {key} bytes, values of {value}")),
        );
    }
    lines
}

/// Returns the part of counted reads that found their key, or `None` if there were no reads.
fn hit_ratio(stats: &Stats) -> Option<f64> {
    let reads = stats.hits as f64 + stats.misses as f64;
    (reads > 0.0).then(|| stats.hits as f64 / reads)
}

/// How often reads found their key lately, as far as it is known; once for each time spanned.
fn lately(recent: &[Recent]) -> Option<String> {
    let mut recent = recent.to_vec();
    recent.dedup_by_key(|one| one.spanned);
    let parts: Vec<String> = recent
        .iter()
        .filter_map(|one| {
            let (ratio, seconds) = (one.hit_ratio()?, one.spanned.as_secs_f64());
            Some(format!("{:.2} % in {seconds:.1} s", ratio * 100.0))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("hits {}", parts.join(", ")))
}

/// How long calls take, as far as some were timed.
fn timed(latencies: &Latencies) -> Option<String> {
    let kinds = [("read", &latencies.reads), ("write", &latencies.writes)];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter_map(|(kind, buckets)| {
            let [half, most] = QUANTILES.map(|part| Latencies::quantile_ns(buckets, part));
            let (half, most) = (count(half?), count(most?));
            Some(format!("half of {kind}s in {half} ns, 99 % in {most} ns"))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn of_cache(stats: &Stats, latencies: &Latencies, capacity: u64) -> Vec<(&'static str, String)> {
    let percent = |bytes: u64| bytes as f64 * 100.0 / capacity as f64;
    let taken = format!(
        "{}, {:.1} % in use, {:.1} % by keys and values",
        size(capacity),
        percent(stats.resident_bytes),
        percent(stats.payload_bytes)
    );
    let evicted = format!(
        "{}, {}",
        counted(stats.evicted_new, "probationary key"),
        counted(stats.evicted_old, "protected key")
    );
    let ratio = hit_ratio(stats).map_or(String::new(), |r| format!(", {:.2} % hits", r * 100.0));
    let used = format!(
        "{}, {}, {}{ratio}",
        counted(stats.hits.wrapping_add(stats.misses), "read"),
        counted(stats.sets, "set"),
        counted(stats.removes, "remove")
    );
    let back = format!(
        "{} set again soon after eviction",
        counted(stats.ghost_hits, "key")
    );
    let mut lines = vec![("capacity", taken), ("used by", used)];
    lines.extend(lately(&stats.recent).map(|text| ("lately", text)));
    lines.extend(timed(latencies).map(|text| ("takes", text)));
    let probationary = format!("{} of keys and values", size(stats.probationary_bytes));
    lines.push(("probationary", probationary));
    lines.extend([("evicted", evicted), ("came back", back)]);
    lines
}

/// Returns how many processes serve the table to clients, and to how many, or `None` if no process
/// does.
fn served(participants: &[Participant]) -> Option<String> {
    let alive = participants.iter().filter(|one| one.alive);
    let servers: Vec<Serving> = alive.filter_map(|one| one.serving).collect();
    let sum = |of: fn(&Serving) -> u64| servers.iter().map(of).sum();
    (!servers.is_empty()).then(|| {
        let many = match servers.len() {
            1 => "1 process".to_owned(),
            many => format!("{} processes", count(many as u64)),
        };
        let now = counted(sum(|one| one.connections), "connection");
        let ever = count(sum(|one| one.accepted));
        format!("{many}, {now} now, {ever} in total")
    })
}

fn write_participants(out: &mut Output, participants: &[Participant]) -> Result<(), CliError> {
    out.line(format!("  {:<13} {}", "attached", participants.len()))?;
    for one in participants {
        let state = if one.alive {
            ""
        } else {
            "  (dead; 'tavola maintain' removes it)"
        };
        let command = match one.is_local {
            true => one.command.clone().unwrap_or_else(|| "?".to_owned()),
            false => one.process_label(),
        };
        let command = output::printable(command.as_bytes());
        let stopped = if one.is_stopped { ", stopped" } else { "" };
        let since = age(now_unix_s().saturating_sub(one.attached_unix_s));
        let clients = one.serving.filter(|_| one.alive).map(|serving| {
            let now = counted(serving.connections, "connection");
            format!(", {now} of {}", count(serving.accepted))
        });
        let clients = clients.unwrap_or_default();
        let line = format!(
            "    {:>8}  {command}, for {since}{clients}{stopped}{state}",
            one.pid
        );
        out.line(line)?;
    }
    Ok(())
}

fn write_classes(out: &mut Output, stats: &Stats) -> Result<(), CliError> {
    if stats.classes.is_empty() {
        return Ok(());
    }
    out.line(format!(
        "  {:>13} {:>10} {:>14} {:>14}",
        "block bytes", "pages", "blocks", "used"
    ))?;
    for class in &stats.classes {
        let [bytes, pages] = [class.block_bytes.into(), class.pages].map(count);
        let [blocks, used] = [class.blocks, class.used].map(count);
        out.line(format!("  {bytes:>13} {pages:>10} {blocks:>14} {used:>14}"))?;
    }
    Ok(())
}

fn write_shards(out: &mut Output, shards: &[ShardStats]) -> Result<(), CliError> {
    out.line(format!(
        "  {:>13} {:>10} {:>14} {:>14} {:>14} {:>12}",
        "shard", "keys", "payload bytes", "writes", "evicted", "recoveries"
    ))?;
    for one in shards {
        let [number, recoveries] = [one.number.into(), one.recoveries.into()].map(count);
        let [keys, bytes] = [one.keys, one.payload_bytes].map(count);
        let [writes, evicted] = [one.writes, one.evicted].map(count);
        let rest = format!("{writes:>14} {evicted:>14} {recoveries:>12}");
        out.line(format!("  {number:>13} {keys:>10} {bytes:>14} {rest}"))?;
    }
    Ok(())
}

fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_uuid_is_written_in_five_groups() {
        let bytes: [u8; 16] = std::array::from_fn(|index| index as u8 * 17);
        assert_eq!(json::uuid(bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn each_time_span_is_shown_once() {
        let of = |ms, hits, misses| {
            let mut one = Recent::default();
            one.spanned = Duration::from_millis(ms);
            (one.hits, one.misses) = (hits, misses);
            one
        };
        let paused = [of(8_200, 9, 1), of(8_200, 9, 1), of(60_100, 3, 1)];
        let expected = "hits 90.00 % in 8.2 s, 75.00 % in 60.1 s";
        assert_eq!(lately(&paused).as_deref(), Some(expected));
        assert_eq!(lately(&[of(0, 0, 0); 3]), None);
    }
}
