//! The metrics of tables, family by family.

use tavola::Stats;

use super::figures::{Family, TableFigures};
use super::openmetrics::Kind;

/// Bytes of a page of a table.
const PAGE_BYTES: u64 = 16 << 10;

/// The families of all tables, and those that only caches have.
pub const FAMILIES: &[Family] = &[
    Family(
        "tavola_queue_elements",
        Kind::Gauge,
        "",
        "Elements in a queue; the pool label is empty for a pool in its own file.",
        |now, out| {
            for one in &now.depths {
                let labels = [
                    ("table", out.table),
                    ("pool", &*one.pool),
                    ("queue", &*one.queue),
                ];
                out.out.put(&labels, one.elements);
            }
        },
    ),
    Family(
        "tavola_table",
        Kind::Info,
        "",
        "Identity of the table.",
        |now, out| {
            let format = now.stats.format_version.to_string();
            let uuid = now.stats.uuid.map(|byte| format!("{byte:02x}")).concat();
            let kind = if is_cache(now) { "cache" } else { "table" };
            let of = [("format", format.as_str()), ("uuid", &uuid), ("kind", kind)];
            let labels: Vec<(&str, &str)> = [("table", out.table)].into_iter().chain(of).collect();
            out.out.put(&labels, 1);
        },
    ),
    Family(
        "tavola_created_seconds",
        Kind::Gauge,
        "seconds",
        "Creation time of the table, in seconds since 1970.",
        |now, out| out.put(now.stats.created_unix_s),
    ),
    Family(
        "tavola_keys",
        Kind::Gauge,
        "",
        "Keys, including expired and invalidated ones that are not removed yet.",
        |now, out| out.put(now.stats.keys),
    ),
    Family(
        "tavola_live_keys",
        Kind::Gauge,
        "",
        "Keys that a read finds; an estimate if many keys expire.",
        |now, out| out.put(now.keys.live),
    ),
    Family(
        "tavola_unreclaimed_keys",
        Kind::Gauge,
        "",
        "Expired and invalidated keys that are not removed yet.",
        |now, out| out.put(now.keys.unreclaimed),
    ),
    Family(
        "tavola_payload_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes of keys and values.",
        |now, out| out.put(now.stats.payload_bytes),
    ),
    Family(
        "tavola_resident_bytes",
        Kind::Gauge,
        "bytes",
        "Total memory of the table.",
        |now, out| out.put(now.stats.resident_bytes),
    ),
    Family(
        "tavola_limit_bytes",
        Kind::Gauge,
        "bytes",
        "Maximum size of the table.",
        |now, out| out.put(now.stats.max_size),
    ),
    Family(
        "tavola_memory_bytes",
        Kind::Gauge,
        "bytes",
        "Pages of the table, by content.",
        |now, out| {
            for (kind, bytes) in memory(&now.stats) {
                out.put_by("kind", kind, bytes);
            }
        },
    ),
    Family(
        "tavola_class_bytes",
        Kind::Gauge,
        "bytes",
        "Pages of small items, by block size.",
        |now, out| {
            for class in &now.stats.classes {
                let bytes = class.pages * PAGE_BYTES;
                out.put_by("block_bytes", &class.block_bytes.to_string(), bytes);
            }
        },
    ),
    Family(
        "tavola_class_blocks",
        Kind::Gauge,
        "",
        "Blocks of small items, free and used, by block size.",
        |now, out| {
            for class in &now.stats.classes {
                out.put_by("block_bytes", &class.block_bytes.to_string(), class.blocks);
            }
        },
    ),
    Family(
        "tavola_class_used_blocks",
        Kind::Gauge,
        "",
        "Blocks of small items in use, by block size.",
        |now, out| {
            for class in &now.stats.classes {
                out.put_by("block_bytes", &class.block_bytes.to_string(), class.used);
            }
        },
    ),
    Family(
        "tavola_index_load_ratio",
        Kind::Gauge,
        "ratio",
        "Fill level of the index.",
        |now, out| out.put(now.stats.index_load),
    ),
    Family("tavola_shards", Kind::Gauge, "", "Shards.", |now, out| {
        out.put(now.stats.shards);
    }),
    Family(
        "tavola_uids",
        Kind::Gauge,
        "",
        "Number of keys with a uid, and of tags.",
        |now, out| {
            out.put(now.stats.uids);
        },
    ),
    Family("tavola_tags", Kind::Gauge, "", "Tags.", |now, out| {
        out.put(now.stats.tags);
    }),
    Family(
        "tavola_participants",
        Kind::Gauge,
        "",
        "Processes attached for writing, and dead ones that are not cleaned up yet.",
        |now, out| {
            let alive = now.participants.iter().filter(|one| one.alive).count();
            out.put_by("state", "alive", alive);
            out.put_by("state", "dead", now.participants.len() - alive);
        },
    ),
    Family(
        "tavola_stopped_participants",
        Kind::Gauge,
        "",
        "Attached processes of this PID namespace that are stopped by a signal or a debugger.",
        |now, out| {
            let stopped = now.participants.iter().filter(|one| one.is_stopped);
            out.put(stopped.count());
        },
    ),
    Family(
        "tavola_held_locks",
        Kind::Gauge,
        "",
        "Locks that a process has held for at least 40 ms; writers may be waiting.",
        |now, out| out.put(now.holders.len()),
    ),
    Family(
        "tavola_shard_writes",
        Kind::Counter,
        "",
        "Explicit sets, changes and removals of keys.",
        |now, out| out.put(now.shard_writes),
    ),
    Family(
        "tavola_expired",
        Kind::Counter,
        "",
        "Keys removed because they had expired or were invalidated.",
        |now, out| out.put(now.stats.expired),
    ),
    Family(
        "tavola_recoveries",
        Kind::Counter,
        "",
        "Shards repaired after a process died while writing.",
        |now, out| out.put(now.stats.recoveries),
    ),
    Family(
        "tavola_leases_unrecorded",
        Kind::Counter,
        "",
        "Leases granted without a record, because all records of the shard were in use.",
        |now, out| out.put(now.stats.leases_unrecorded),
    ),
    Family(
        "tavola_log_bytes",
        Kind::Gauge,
        "bytes",
        "Capacity of a log; the log label is empty for a log in its own file.",
        |now, out| out.put_logs(now, |log| log.bytes),
    ),
    Family(
        "tavola_log_used_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes in use by the lines of a log.",
        |now, out| out.put_logs(now, |log| log.used_bytes),
    ),
    Family(
        "tavola_log_lines",
        Kind::Gauge,
        "",
        "Lines of a log that can be read.",
        |now, out| out.put_logs(now, |log| log.lines),
    ),
    Family(
        "tavola_log_awaiting_lines",
        Kind::Gauge,
        "",
        "Lines of a log that are not drained yet.",
        |now, out| out.put_logs(now, |log| log.awaiting),
    ),
    Family(
        "tavola_log_dropped_lines",
        Kind::Counter,
        "",
        "Lines of a log that were lost: overwritten before a drain, or written when it was full.",
        |now, out| out.put_logs(now, |log| log.dropped),
    ),
    Family(
        "tavola_log_drained",
        Kind::Gauge,
        "",
        "1 if a drain is running.",
        |now, out| out.put_logs(now, |log| u64::from(log.has_drain)),
    ),
    Family(
        "tavola_capacity_bytes",
        Kind::Gauge,
        "bytes",
        "Capacity of a cache.",
        |now, out| out.put_if(is_cache(now), now.stats.capacity.unwrap_or(0)),
    ),
    Family(
        "tavola_probationary_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes of keys and values of a cache that are in its probationary queue.",
        |now, out| out.put_if(is_cache(now), now.stats.probationary_bytes),
    ),
    Family(
        "tavola_hits",
        Kind::Counter,
        "",
        "Cache hits.",
        |now, out| out.put_if(is_cache(now), now.stats.hits),
    ),
    Family(
        "tavola_misses",
        Kind::Counter,
        "",
        "Cache misses.",
        |now, out| out.put_if(is_cache(now), now.stats.misses),
    ),
    Family(
        "tavola_writes",
        Kind::Counter,
        "",
        "Calls to a cache that set, change or remove a key, including failed ones.",
        |now, out| out.put_if(is_cache(now), now.stats.writes),
    ),
    Family(
        "tavola_sets",
        Kind::Counter,
        "",
        "Writes to a cache that set or change a key, including failed ones.",
        |now, out| out.put_if(is_cache(now), now.stats.sets),
    ),
    Family(
        "tavola_removes",
        Kind::Counter,
        "",
        "Writes to a cache that remove keys, including failed ones.",
        |now, out| out.put_if(is_cache(now), now.stats.removes),
    ),
    Family(
        "tavola_evicted",
        Kind::Counter,
        "",
        "Keys that a cache evicted, by queue: never read (probationary) or read (main).",
        |now, out| {
            if is_cache(now) {
                out.put_by("kind", "probationary", now.stats.evicted_new);
                out.put_by("kind", "protected", now.stats.evicted_old);
            }
        },
    ),
    Family(
        "tavola_returned",
        Kind::Counter,
        "",
        "Keys that were set again soon after their eviction.",
        |now, out| out.put_if(is_cache(now), now.stats.ghost_hits),
    ),
    Family(
        "tavola_latency_seconds",
        Kind::Histogram,
        "seconds",
        "Sampled latency of calls to a cache.",
        |now, out| {
            if is_cache(now) {
                out.put_buckets("read", &now.latencies.reads);
                out.put_buckets("write", &now.latencies.writes);
            }
        },
    ),
];

fn is_cache(now: &TableFigures) -> bool {
    now.stats.capacity.is_some()
}

fn memory(stats: &Stats) -> [(&'static str, u64); 6] {
    [
        ("index", stats.index_bytes),
        ("small", stats.slab_bytes),
        ("large", stats.large_bytes),
        ("queues_and_logs", stats.queue_and_log_bytes),
        ("uids", stats.uid_bytes),
        ("spare", stats.free_bytes),
    ]
}
