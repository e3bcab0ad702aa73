//! `stats`.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::param::clock_ticks_per_second;
use tavola::{Result, Stats};

use super::{Tell, limit};
use crate::memcached::VERSION;
use crate::memcached::tally::Event;
use crate::memcached::work::Work;

/// The bytes of a page of the table.
const PAGE_BYTES: u64 = 16 * 1024;
/// Slots that a segment of the index has.
const SEGMENT_SLOTS: u64 = 256 * 7;

/// All figures without a topic.
pub(in crate::memcached) fn general(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    process(work, tell);
    commands(work, tell);
    transport(work, &stats, tell);
    housekeeping(work, tell);
    items(work, &stats, tell);
    Ok(())
}

fn process(work: &Work, tell: &mut Tell<'_>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let net = work.meter.sum();
    let [user, system] = processor_times();
    tell("pid", &std::process::id());
    tell("uptime", &work.shared.started.elapsed().as_secs());
    tell("time", &now.map_or(0, |now| now.as_secs()));
    tell("version", &VERSION);
    // There is none; some tools want the line.
    tell("libevent", &"none");
    tell("pointer_size", &usize::BITS);
    tell("rusage_user", &user);
    tell("rusage_system", &system);
    tell("max_connections", &work.meter.setup().max_connections);
    tell("curr_connections", &net.current_connections);
    tell("total_connections", &net.total_connections);
    tell("rejected_connections", &net.rejected_connections);
    tell("connection_structures", &net.current_connections);
    zeros(
        tell,
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

/// Seconds that this process had a processor, in its own code and in the system's.
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

fn commands(work: &Work, tell: &mut Tell<'_>) {
    let sums = work.shared.tallies.sums();
    let (hits, misses) = (sums.of(Event::GetHit), sums.of(Event::GetMiss));
    let (touched, untouched) = (sums.of(Event::TouchHit), sums.of(Event::TouchMiss));
    tell("cmd_get", &(hits + misses));
    tell("cmd_set", &sums.of(Event::Set));
    tell("cmd_flush", &sums.of(Event::Flush));
    tell("cmd_touch", &(touched + untouched));
    tell("cmd_meta", &sums.of(Event::Meta));
    tell("get_hits", &hits);
    tell("get_misses", &misses);
    zeros(tell, &["get_expired", "get_flushed"]);
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
        tell(name, &sums.of(event));
    }
}

fn transport(work: &Work, stats: &Stats, tell: &mut Tell<'_>) {
    let net = work.meter.sum();
    if work.meter.setup().idle_timeout.is_some() {
        tell("idle_kicks", &net.idle_closed);
    }
    tell("bytes_read", &net.bytes_read);
    tell("bytes_written", &net.bytes_written);
    tell("limit_maxbytes", &limit(stats));
    tell("accepting_conns", &1);
    tell("listen_disabled_num", &net.accept_stops);
    tell("time_in_listen_disabled_us", &0);
    tell("threads", &work.shared.tallies.threads());
    tell("conn_yields", &work.shared.tallies.sums().of(Event::Yield));
    let slots = stats.segments * SEGMENT_SLOTS;
    tell("hash_power_level", &slots.checked_ilog2().unwrap_or(0));
    tell("hash_bytes", &stats.index_bytes);
    tell("hash_is_expanding", &0);
}

/// What memcached does for itself, of which little has a counterpart.
fn housekeeping(work: &Work, tell: &mut Tell<'_>) {
    let (crawler, watchers) = (&work.shared.crawler, &work.shared.watchers);
    zeros(
        tell,
        &[
            "slab_reassign_rescues",
            "slab_reassign_chunk_rescues",
            "slab_reassign_inline_reclaim",
            "slab_reassign_busy_items",
            "slab_reassign_busy_deletes",
            "slab_reassign_busy_nomem",
        ],
    );
    tell("slab_reassign_last_busy_status", &"none");
    zeros(tell, &["slab_reassign_running", "slabs_moved"]);
    tell("lru_crawler_running", &u8::from(crawler.is_running()));
    tell("lru_crawler_starts", &crawler.starts());
    zeros(
        tell,
        &[
            "lru_maintainer_juggles",
            "malloc_fails",
            "log_worker_dropped",
        ],
    );
    tell("log_worker_written", &watchers.written());
    tell("log_watcher_skipped", &watchers.skipped());
    tell("log_watcher_sent", &watchers.sent());
    tell("log_watchers", &watchers.count());
    tls(work, tell);
    zeros(tell, &["unexpected_napi_ids", "round_robin_fallback"]);
}

/// Nothing where it is not spoken.
fn tls(work: &Work, tell: &mut Tell<'_>) {
    let Some(tls) = work.meter.setup().tls() else {
        return;
    };
    let net = work.meter.sum();
    tell("ssl_new_sessions", &net.tls_sessions);
    tell("ssl_handshake_errors", &net.tls_handshake_errors);
    tell("ssl_proto_errors", &net.tls_errors);
    tell("time_since_server_cert_refresh", &tls.age().as_secs());
}

/// Of the table, whoever writes to it.
fn items(work: &Work, stats: &Stats, tell: &mut Tell<'_>) {
    tell("bytes", &stats.payload_bytes);
    tell("curr_items", &stats.keys);
    tell("total_items", &work.shared.tallies.sums().of(Event::Stored));
    tell("slab_global_page_pool", &(stats.free_bytes / PAGE_BYTES));
    zeros(tell, &["expired_unfetched"]);
    tell("evicted_unfetched", &stats.evicted_new);
    tell("evicted_active", &stats.evicted_old);
    tell("evictions", &(stats.evicted_new + stats.evicted_old));
    tell("reclaimed", &stats.expired);
    zeros(
        tell,
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

fn zeros(tell: &mut Tell<'_>, names: &[&str]) {
    for name in names {
        tell(name, &0);
    }
}
