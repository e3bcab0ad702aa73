//! The metrics that only durable tables have.

use std::time::UNIX_EPOCH;

use super::figures::Family;
use super::openmetrics::Kind;

/// As `metrics::FAMILIES`.
pub const FAMILIES: &[Family] = &[
    Family(
        "tavola_journal_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes of the journal since the last snapshot.",
        |now, out| {
            if let Some(durable) = &now.durable {
                out.put(durable.journal_bytes);
            }
        },
    ),
    Family(
        "tavola_journal_unsynced_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes of the journal that would not survive a power failure now.",
        |now, out| {
            if let Some(durable) = &now.durable {
                out.put(durable.unsynced_bytes);
            }
        },
    ),
    Family(
        "tavola_journal_failed",
        Kind::Gauge,
        "",
        "1 if the disk of the journal has failed: writes are refused.",
        |now, out| {
            if let Some(durable) = &now.durable {
                out.put(u8::from(durable.failed.is_some()));
            }
        },
    ),
    Family(
        "tavola_syncs",
        Kind::Counter,
        "",
        "Syncs of the journal.",
        |now, out| {
            if let Some(durable) = &now.durable {
                out.put(durable.syncs);
            }
        },
    ),
    Family(
        "tavola_sync_seconds",
        Kind::Counter,
        "seconds",
        "How long all syncs of the journal took.",
        |now, out| {
            if let Some(durable) = &now.durable {
                out.put(durable.sync_time.as_secs_f64());
            }
        },
    ),
    Family(
        "tavola_snapshot_bytes",
        Kind::Gauge,
        "bytes",
        "Bytes of the last snapshot.",
        |now, out| {
            if let Some((_, bytes)) = now.durable.as_ref().and_then(|one| one.snapshot) {
                out.put(bytes);
            }
        },
    ),
    Family(
        "tavola_snapshot_timestamp_seconds",
        Kind::Gauge,
        "seconds",
        "When the last snapshot was made, in seconds since 1970.",
        |now, out| {
            let made = now.durable.as_ref().and_then(|one| one.snapshot);
            let since = made.and_then(|(made, _)| made.duration_since(UNIX_EPOCH).ok());
            if let Some(since) = since {
                out.put(since.as_secs_f64());
            }
        },
    ),
];
