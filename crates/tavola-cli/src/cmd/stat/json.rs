//! What `tavola stat` reports, as JSON.

use std::os::unix::ffi::OsStrExt;
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};
use tavola::{
    DurableStats, Holder, Latencies, LiveKeys, LivesWith, LogStats, Participant, Recent,
    ShardStats, Stats, Table,
};

use super::{QUANTILES, hit_ratio};
use crate::beside::Depth;
use crate::{beside, durable, output};

/// Everything but latencies and shards.
pub fn document(
    table: &Table,
    stats: &Stats,
    participants: &[Participant],
    logs: &[(String, LogStats)],
) -> Map<String, Value> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "path", table.path().as_os_str().as_bytes());
    let numbers = json!({
        "keys": stats.keys,
        "payload_bytes": stats.payload_bytes,
        "resident_bytes": stats.resident_bytes,
        "max_size": stats.max_size,
        "capacity": stats.capacity,
        "capacity_used": stats.capacity.map(|most| stats.resident_bytes as f64 / most as f64),
        "probationary_bytes": stats.probationary_bytes,
        "hits": stats.hits,
        "misses": stats.misses,
        "hit_ratio": hit_ratio(stats),
        "writes": stats.writes,
        "sets": stats.sets,
        "removes": stats.removes,
        "recent": stats.recent.iter().map(recent_as_json).collect::<Vec<_>>(),
        "evicted_new": stats.evicted_new,
        "evicted_old": stats.evicted_old,
        "ghost_hits": stats.ghost_hits,
        "key_bytes": stats.fixed.map(|(key, _)| key),
        "value_bytes": stats.fixed.map(|(_, value)| value),
        "shards": stats.shards,
        "segments": stats.segments,
        "index_load": stats.index_load,
        "index_bytes": stats.index_bytes,
        "slab_bytes": stats.slab_bytes,
        "large_bytes": stats.large_bytes,
        "queue_and_log_bytes": stats.queue_and_log_bytes,
        "uids": stats.uids,
        "tags": stats.tags,
        "expired": stats.expired,
        "ttl_ms": stats.ttl_ms,
        "versions": stats.has_versions,
        "uid_bytes": stats.uid_bytes,
        "free_bytes": stats.free_bytes,
        "recoveries": stats.recoveries,
        "leases_unrecorded": stats.leases_unrecorded,
        "format_version": stats.format_version,
        "created_unix_s": stats.created_unix_s,
        "uuid": uuid(stats.uuid),
        "participants": participants.iter().map(participant_as_json).collect::<Vec<_>>(),
        "logs": logs.iter().map(|(name, log)| log_as_json(name, log)).collect::<Vec<_>>(),
        "classes": stats.classes.iter().map(class_as_json).collect::<Vec<_>>(),
    });
    document.insert("lives_with".to_string(), lives_with(table).into());
    if let Value::Object(mut numbers) = numbers {
        document.append(&mut numbers);
    }
    document
}

/// The state of a journal; null if the table is not durable.
pub fn durable(stats: Option<&DurableStats>, made_unix_s: u64) -> Value {
    let Some(stats) = stats else {
        return Value::Null;
    };
    let made = stats.snapshot.map(|(made, _)| made);
    let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    json!({
        "home": stats.home.to_string_lossy(),
        "sync": durable::policy(stats.policy),
        "journal_bytes": stats.journal_bytes,
        "unwritten_bytes": stats.unwritten_bytes,
        "unsynced_bytes": stats.unsynced_bytes,
        "syncs": stats.syncs,
        "syncs_per_s": durable::syncs_per_s(stats, made_unix_s),
        "mean_sync_ns": stats.mean_sync().map(|time| time.as_nanos() as u64),
        "snapshot_bytes": stats.snapshot.map(|(_, bytes)| bytes),
        "snapshot_unix_s": made.map(|since| since.as_secs()),
        "state": if stats.failed.is_none() { "good" } else { "failed" },
        "failed_errno": stats.failed,
    })
}

/// The keys that are live, and those that are not reclaimed yet.
pub fn put_keys(document: &mut Map<String, Value>, keys: &LiveKeys) {
    document.insert("live_keys".to_string(), keys.live.into());
    document.insert("unreclaimed_keys".to_string(), keys.unreclaimed.into());
    let is_estimate = keys.is_estimate.into();
    document.insert("live_keys_are_estimated".to_string(), is_estimate);
}

/// The locks that a process has held for a while.
pub fn locked(holders: &[Holder]) -> Value {
    let one = |holder: &Holder| {
        json!({
            "lock": holder.lock.to_string(),
            "pid": holder.pid,
            "in_this_pid_namespace": holder.is_local,
            "stopped": holder.is_stopped,
            "alive": holder.is_alive,
        })
    };
    holders.iter().map(one).collect()
}

fn log_as_json(name: &str, stats: &LogStats) -> Value {
    json!({
        "name": name,
        "bytes": stats.bytes,
        "used_bytes": stats.used_bytes,
        "pieces": stats.pieces,
        "pieces_in_hand": stats.pieces_in_hand,
        "overload": beside::policy(stats.overload),
        "lines": stats.lines,
        "awaiting": stats.awaiting,
        "dropped": stats.dropped,
        "has_drain": stats.has_drain,
    })
}

pub fn queues(depths: &[Depth]) -> Value {
    let one = |depth: &Depth| {
        let (pool, name) = (&depth.pool, &depth.queue);
        json!({ "pool": pool, "name": name, "elements": depth.elements })
    };
    depths.iter().map(one).collect()
}

fn participant_as_json(one: &Participant) -> Value {
    json!({
        "pid": one.pid,
        "in_this_pid_namespace": one.is_local,
        "stopped": one.is_stopped,
        "slot": one.slot,
        "alive": one.alive,
        "attached_unix_s": one.attached_unix_s,
        "command": one.command,
        "hits": one.hits,
        "misses": one.misses,
        "writes": one.writes,
        "sets": one.sets,
        "removes": one.removes,
        "connections": one.serving.map(|serving| serving.connections),
        "connections_accepted": one.serving.map(|serving| serving.accepted),
    })
}

fn recent_as_json(one: &Recent) -> Value {
    json!({
        "wanted_s": one.wanted.as_secs_f64(),
        "spanned_s": one.spanned.as_secs_f64(),
        "hits": one.hits,
        "misses": one.misses,
        "writes": one.writes,
        "evicted": one.evicted,
        "expired": one.expired,
        "hit_ratio": one.hit_ratio(),
    })
}

pub fn latencies(latencies: &Latencies) -> Value {
    let kind = |buckets: &[(u64, u64)]| {
        let [p50_ns, p99_ns] = QUANTILES.map(|part| Latencies::quantile_ns(buckets, part));
        let buckets: Vec<Value> = buckets
            .iter()
            .map(|(end_ns, count)| {
                let end_ns = Some(end_ns).filter(|end_ns| **end_ns != u64::MAX);
                json!({ "below_ns": end_ns, "count": count })
            })
            .collect();
        json!({ "p50_ns": p50_ns, "p99_ns": p99_ns, "buckets": buckets })
    };
    json!({ "reads": kind(&latencies.reads), "writes": kind(&latencies.writes) })
}

pub fn shard(one: &ShardStats) -> Value {
    json!({
        "number": one.number,
        "keys": one.keys,
        "payload_bytes": one.payload_bytes,
        "writes": one.writes,
        "evicted": one.evicted,
        "recoveries": one.recoveries,
    })
}

fn class_as_json(class: &tavola::ClassStats) -> Value {
    json!({
        "block_bytes": class.block_bytes,
        "pages": class.pages,
        "blocks": class.blocks,
        "used": class.used,
    })
}

pub fn uuid(bytes: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Returns with whom the table goes, if it goes with somebody.
pub fn lives_with(table: &Table) -> Option<String> {
    match table.lives_with().ok().flatten()? {
        LivesWith::Process(pid) => Some(format!("process {pid}")),
        LivesWith::LastUser => Some("its last user".to_string()),
        _ => None,
    }
}
