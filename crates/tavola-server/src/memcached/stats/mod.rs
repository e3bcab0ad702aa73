//! Figures, for all protocols: names and values in memcached's order, those that are known here.

use std::fmt::Display;
use std::time::{SystemTime, UNIX_EPOCH};

use tavola::{Result, Stats};

use super::VERSION;
use super::tally::Event;
use super::work::Work;

/// What takes a name and a value.
pub(super) type Tell<'a> = dyn FnMut(&str, &dyn Display) + 'a;

/// `stats`.
pub(super) fn general(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    server(work, tell);
    commands(work, tell);
    memory(work, &stats, tell);
    Ok(())
}

fn server(work: &Work, tell: &mut Tell<'_>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let net = work.meter.sum();
    tell("pid", &std::process::id());
    tell("uptime", &work.shared.started.elapsed().as_secs());
    tell("time", &now.map_or(0, |now| now.as_secs()));
    tell("version", &VERSION);
    tell("pointer_size", &usize::BITS);
    tell("curr_connections", &net.current_connections);
    tell("total_connections", &net.total_connections);
    tell("rejected_connections", &net.rejected_connections);
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
    ] {
        tell(name, &sums.of(event));
    }
}

/// Of the table, whoever writes to it.
fn memory(work: &Work, stats: &Stats, tell: &mut Tell<'_>) {
    let net = work.meter.sum();
    tell("bytes_read", &net.bytes_read);
    tell("bytes_written", &net.bytes_written);
    tell("limit_maxbytes", &limit(stats));
    tell("accepting_conns", &1);
    tell("listen_disabled_num", &net.accept_stops);
    tell("threads", &work.shared.tallies.threads());
    tell("hash_bytes", &stats.index_bytes);
    tell("hash_is_expanding", &0);
    tell("bytes", &stats.payload_bytes);
    tell("curr_items", &stats.keys);
    tell("reclaimed", &stats.expired);
    tell("evictions", &(stats.evicted_new + stats.evicted_old));
}

/// What a cache may take; else what the table may grow to.
fn limit(stats: &Stats) -> u64 {
    stats.capacity.unwrap_or(stats.max_size)
}

/// `stats settings`.
pub(super) fn settings(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    let is_cache = stats.capacity.is_some();
    tell("maxbytes", &limit(&stats));
    tell("evictions", &if is_cache { "on" } else { "off" });
    tell("shutdown_command", &"no");
    tell("num_threads", &work.shared.tallies.threads());
    tell("detail_enabled", &"no");
    tell("cas_enabled", &"yes");
    tell("binding_protocol", &"auto-negotiate");
    tell("auth_enabled_sasl", &"no");
    tell("auth_enabled_ascii", &"no");
    tell("item_size_max", &work.shared.value_bytes);
    tell("lru_crawler", &"no");
    tell("flush_enabled", &"yes");
    tell("dump_enabled", &"no");
    tell("track_sizes", &"no");
    tell("client_flags_size", &size_of::<u32>());
    Ok(())
}

/// `stats items`: how many of each size class, numbered from 1.
pub(super) fn items(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let classes = work.table().stats()?.classes;
    for (number, class) in (1..).zip(&classes) {
        if class.used > 0 {
            tell(&format!("items:{number}:number"), &class.used);
        }
    }
    Ok(())
}

/// `stats slabs`: the memory of each size class.
pub(super) fn slabs(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    for (number, class) in (1..).zip(&stats.classes) {
        let mut one = |name: &str, value: u64| tell(&format!("{number}:{name}"), &value);
        one("chunk_size", class.block_bytes.into());
        one("chunks_per_page", class.blocks / class.pages.max(1));
        one("total_pages", class.pages);
        one("total_chunks", class.blocks);
        one("used_chunks", class.used);
        one("free_chunks", class.blocks.saturating_sub(class.used));
    }
    tell("active_slabs", &stats.classes.len());
    tell("total_malloced", &stats.resident_bytes);
    Ok(())
}
