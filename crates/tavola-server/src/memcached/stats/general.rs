//! `stats`.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::param::clock_ticks_per_second;
use tavola::{Result, Stats};

use super::{Reporter, limit};
use crate::memcached::VERSION;
use crate::memcached::tally::Event;
use crate::memcached::work::Work;

/// The bytes of a page of the table.
const PAGE_BYTES: u64 = 16 * 1024;
/// The slots of a segment of the index.
const SEGMENT_SLOTS: u64 = 256 * 7;

/// Reports all figures without a topic.
pub(in crate::memcached) fn general(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    process(work, report);
    commands(work, report);
    transport(work, &stats, report);
    housekeeping(work, report);
    items(work, &stats, report);
    saves(work, report);
    Ok(())
}

fn process(work: &Work, report: &mut Reporter<'_>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let net = work.meter.sum();
    let [user, system] = processor_times();
    report("pid", &std::process::id());
    report("uptime", &work.shared.started.elapsed().as_secs());
    report("time", &now.map_or(0, |now| now.as_secs()));
    report("version", &VERSION);
    // There is no libevent, but some tools expect the line.
    report("libevent", &"none");
    report("pointer_size", &usize::BITS);
    report("rusage_user", &user);
    report("rusage_system", &system);
    report("max_connections", &work.meter.setup().max_connections);
    report("curr_connections", &net.current_connections);
    report("total_connections", &net.total_connections);
    report("rejected_connections", &net.rejected_connections);
    report("connection_structures", &net.current_connections);
    zeros(
        report,
        &[
            "response_obj_oom",
            "response_obj_count",
            "response_obj_bytes",
            "read_buf_count",
            "read_buf_bytes",
            "read_buf_bytes_free",
            "read_buf_oom",
            "reserved_fds",
        ],
    );
}

/// Returns the seconds that this process had a processor, in its own code and in the system's.
fn processor_times() -> [String; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have any bytes in it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut ticks = fields.split_whitespace().skip(11);
    [(); 2].map(|()| {
        let ticks = ticks.next().and_then(|ticks| ticks.parse::<u64>().ok());
        let micros = ticks.unwrap_or(0) * 1_000_000 / clock_ticks_per_second().max(1);
        format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    })
}

fn commands(work: &Work, report: &mut Reporter<'_>) {
    let sums = work.shared.tallies.sums();
    let (hits, misses) = (sums.of(Event::GetHit), sums.of(Event::GetMiss));
    let (touched, untouched) = (sums.of(Event::TouchHit), sums.of(Event::TouchMiss));
    report("cmd_get", &(hits + misses));
    report("cmd_set", &sums.of(Event::Set));
    report("cmd_flush", &sums.of(Event::Flush));
    report("cmd_touch", &(touched + untouched));
    report("cmd_meta", &sums.of(Event::Meta));
    report("get_hits", &hits);
    report("get_misses", &misses);
    zeros(report, &["get_expired", "get_flushed"]);
    for (name, event) in [
        ("delete_misses", Event::DeleteMiss),
        ("delete_hits", Event::DeleteHit),
        ("incr_misses", Event::IncrMiss),
        ("incr_hits", Event::IncrHit),
        ("decr_misses", Event::DecrMiss),
        ("decr_hits", Event::DecrHit),
        ("cas_misses", Event::CasMiss),
        ("cas_hits", Event::CasHit),
        ("cas_badval", Event::CasBadval),
        ("touch_hits", Event::TouchHit),
        ("touch_misses", Event::TouchMiss),
        ("store_too_large", Event::TooLarge),
        ("store_no_memory", Event::NoMemory),
        ("auth_cmds", Event::Auth),
        ("auth_errors", Event::AuthError),
        ("auth_closed", Event::AuthClosed),
    ] {
        report(name, &sums.of(event));
    }
}

fn transport(work: &Work, stats: &Stats, report: &mut Reporter<'_>) {
    let net = work.meter.sum();
    if work.meter.setup().idle_timeout.is_some() {
        report("idle_kicks", &net.idle_closed);
    }
    report("bytes_read", &net.bytes_read);
    report("bytes_written", &net.bytes_written);
    report("limit_maxbytes", &limit(stats));
    report("accepting_conns", &1);
    report("listen_disabled_num", &net.accept_stops);
    report("time_in_listen_disabled_us", &0);
    report("threads", &work.shared.tallies.threads());
    report("conn_yields", &work.shared.tallies.sums().of(Event::Yield));
    let slots = stats.segments * SEGMENT_SLOTS;
    report("hash_power_level", &slots.checked_ilog2().unwrap_or(0));
    report("hash_bytes", &stats.index_bytes);
    report("hash_is_expanding", &0);
}

/// Reports what memcached does for itself; little of that has a counterpart here.
fn housekeeping(work: &Work, report: &mut Reporter<'_>) {
    let (crawler, watchers) = (&work.shared.crawler, &work.shared.watchers);
    zeros(
        report,
        &[
            "slab_reassign_rescues",
            "slab_reassign_chunk_rescues",
            "slab_reassign_inline_reclaim",
            "slab_reassign_busy_items",
            "slab_reassign_busy_deletes",
            "slab_reassign_busy_nomem",
        ],
    );
    report("slab_reassign_last_busy_status", &"none");
    zeros(report, &["slab_reassign_running", "slabs_moved"]);
    report("lru_crawler_running", &u8::from(crawler.is_running()));
    report("lru_crawler_starts", &crawler.starts());
    zeros(
        report,
        &[
            "lru_maintainer_juggles",
            "malloc_fails",
            "log_worker_dropped",
        ],
    );
    report("log_worker_written", &watchers.written());
    report("log_watcher_skipped", &watchers.skipped());
    report("log_watcher_sent", &watchers.sent());
    report("log_watchers", &watchers.count());
    tls(work, report);
    zeros(report, &["unexpected_napi_ids", "round_robin_fallback"]);
}

/// Reports the figures of TLS, if the server speaks it.
fn tls(work: &Work, report: &mut Reporter<'_>) {
    let Some(tls) = work.meter.setup().tls() else {
        return;
    };
    let net = work.meter.sum();
    report("ssl_new_sessions", &net.tls_sessions);
    report("ssl_handshake_errors", &net.tls_handshake_errors);
    report("ssl_proto_errors", &net.tls_errors);
    report("time_since_server_cert_refresh", &tls.age().as_secs());
}

/// Reports the figures of the table, which include changes by other processes.
fn items(work: &Work, stats: &Stats, report: &mut Reporter<'_>) {
    report("bytes", &stats.payload_bytes);
    report("curr_items", &stats.keys);
    report("total_items", &work.shared.tallies.sums().of(Event::Stored));
    report("slab_global_page_pool", &(stats.free_bytes / PAGE_BYTES));
    zeros(report, &["expired_unfetched"]);
    report("evicted_unfetched", &stats.evicted_new);
    report("evicted_active", &stats.evicted_old);
    report("evictions", &(stats.evicted_new + stats.evicted_old));
    report("reclaimed", &stats.expired);
    zeros(
        report,
        &[
            "crawler_reclaimed",
            "crawler_items_checked",
            "lrutail_reflocked",
            "moves_to_cold",
            "moves_to_warm",
            "moves_within_lru",
            "direct_reclaims",
            "lru_bumps_dropped",
        ],
    );
}

/// Reports the saves to the file from which the table starts warm, if there is one. Memcached has
/// no such lines.
fn saves(work: &Work, report: &mut Reporter<'_>) {
    let Some(saves) = &work.shared.rules.saves else {
        return;
    };
    let [last_s, keys, failures] = saves.figures();
    report("tavola_save_time", &last_s);
    report("tavola_save_items", &keys);
    report("tavola_save_failures", &failures);
}

fn zeros(report: &mut Reporter<'_>, names: &[&str]) {
    for name in names {
        report(name, &0);
    }
}
