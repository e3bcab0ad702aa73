//! The metrics of tables, family by family.

use tavola::{
    DurableStats, Error, Holder, Latencies, LiveKeys, LogStats, Participant, Stats, Table,
};

use super::durability;
use super::openmetrics::{Kind, Page, Samples};
use crate::beside::{self, Depth};

/// Bytes of a page of a table.
const PAGE_BYTES: u64 = 16 << 10;

/// What a table said.
pub struct TableFigures {
    stats: Stats,
    participants: Vec<Participant>,
    logs: Vec<(String, LogStats)>,
    depths: Vec<Depth>,
    latencies: Latencies,
    keys: LiveKeys,
    holders: Vec<Holder>,
    shard_writes: u64,
    pub durable: Option<DurableStats>,
}

/// The name of a table, and what it said, or why it said nothing.
pub type NamedFigures = (String, Result<TableFigures, Error>);

impl TableFigures {
    pub fn at(table: &Table) -> Result<TableFigures, tavola::Error> {
        let shards = table.shard_stats()?;
        let writes = shards.iter().map(|shard| shard.writes);
        let mut participants = table.participants()?;
        participants.retain(|one| !one.is_this_process());
        Ok(TableFigures {
            stats: table.stats()?,
            participants,
            logs: beside::logs(table)?,
            depths: beside::depths(table)?,
            latencies: table.latencies()?,
            keys: table.live_keys()?,
            holders: table.lock_holders()?,
            shard_writes: writes.fold(0, u64::wrapping_add),
            durable: table.durable_stats()?,
        })
    }
}

/// The page: of each table its name, and what it said unless it could not be read.
pub fn page(tables: &[NamedFigures]) -> String {
    let mut page = Page::default();
    page.family("tavola_build", Kind::Info, "", "The exporter.", |out| {
        out.put(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    });
    let help = "1 if the table could be read, 0 if it is missing or unreadable.";
    page.family("tavola_up", Kind::Gauge, "", help, |out| {
        for (name, now) in tables {
            out.put(&[("table", name)], u8::from(now.is_ok()));
        }
    });
    let help = "Why a table could not be read.";
    page.family("tavola_unreadable", Kind::Info, "", help, |out| {
        for (name, now) in tables {
            if let Err(error) = now {
                out.put(&[("table", name), ("reason", super::reason(error))], 1);
            }
        }
    });
    for family in FAMILIES.iter().chain(durability::FAMILIES) {
        let Family(name, kind, unit, help, of) = family;
        page.family(name, *kind, unit, help, |out| {
            for (table, now) in tables {
                if let Ok(now) = now {
                    of(now, &mut Of { table, out });
                }
            }
        });
    }
    page.finish()
}

/// The samples of one table in one family.
pub struct Of<'a, 'p> {
    table: &'a str,
    out: &'a mut Samples<'p>,
}

impl Of<'_, '_> {
    pub fn put(&mut self, value: impl std::fmt::Display) {
        self.out.put(&[("table", self.table)], value);
    }

    fn put_by(&mut self, label: &str, which: &str, value: impl std::fmt::Display) {
        self.out
            .put(&[("table", self.table), (label, which)], value);
    }

    /// A number of each log beside the table.
    fn put_logs(&mut self, now: &TableFigures, of: impl Fn(&LogStats) -> u64) {
        for (name, stats) in &now.logs {
            self.put_by("log", name, of(stats));
        }
    }

    fn put_if(&mut self, is: bool, value: u64) {
        if is {
            self.put(value);
        }
    }

    fn put_buckets(&mut self, operation: &str, buckets: &[(u64, u64)]) {
        let labels = [("table", self.table), ("operation", operation)];
        self.out.buckets_ns(&labels, buckets);
    }
}

/// Name, kind, unit, help, and what a table puts there.
pub struct Family(
    pub &'static str,
    pub Kind,
    pub &'static str,
    pub &'static str,
    pub fn(&TableFigures, &mut Of<'_, '_>),
);

/// The families of all tables, and those that only caches have.
const FAMILIES: &[Family] = &[
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `the_dashboard_asks_for_what_is_there` in tests/command/exporter.rs holds it the other way
    /// round.
    #[test]
    fn the_dashboard_has_each_family() {
        let dashboard = include_str!("../../../../../contrib/grafana/tavola.json");
        let all = FAMILIES.iter().chain(durability::FAMILIES);
        let all = all.map(|family| (family.0, family.1));
        let others = [
            ("tavola_build", Kind::Info),
            ("tavola_up", Kind::Gauge),
            ("tavola_unreadable", Kind::Info),
        ];
        for (name, kind) in all.chain(others) {
            let sample = match kind {
                Kind::Info => format!("{name}_info"),
                Kind::Counter => format!("{name}_total"),
                Kind::Histogram => format!("{name}_bucket"),
                Kind::Gauge => name.to_string(),
            };
            let is_asked = dashboard.match_indices(&sample).any(|(at, _)| {
                let next = dashboard[at + sample.len()..].chars().next();
                next.is_some_and(|next| !next.is_ascii_alphanumeric() && next != '_')
            });
            assert!(is_asked, "the dashboard has no panel for {sample}");
        }
    }
}
