//! `stats items`, `stats slabs`: figures by size class.

use tavola::Result;

use super::Reporter;
use crate::memcached::work::Work;

/// The figures of a class of items that memcached counts and this server does not.
const OF_ITEMS: [&str; 20] = [
    "evicted",
    "evicted_nonzero",
    "evicted_time",
    "outofmemory",
    "tailrepairs",
    "reclaimed",
    "expired_unfetched",
    "evicted_unfetched",
    "evicted_active",
    "crawler_reclaimed",
    "crawler_items_checked",
    "lrutail_reflocked",
    "moves_to_cold",
    "moves_to_warm",
    "moves_within_lru",
    "direct_reclaims",
    "hits_to_hot",
    "hits_to_warm",
    "hits_to_cold",
    "hits_to_temp",
];
/// The figures of a class of blocks that memcached counts and this server does not.
const OF_SLABS: [&str; 9] = [
    "free_chunks_end",
    "get_hits",
    "cmd_set",
    "delete_hits",
    "incr_hits",
    "decr_hits",
    "cas_hits",
    "cas_badval",
    "touch_hits",
];

/// Reports `stats items`. All items are in one order, which is reported as memcached's cold one.
pub(in crate::memcached) fn items(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    for class in &work.table().stats()?.classes {
        if class.used == 0 {
            continue;
        }
        let mut one = |name: &str, value: u64| {
            report(&format!("items:{}:{name}", class.number), &value);
        };
        one("number", class.used);
        one("number_hot", 0);
        one("number_warm", 0);
        one("number_cold", class.used);
        one("age_hot", 0);
        one("age_warm", 0);
        one("age", 0);
        one("mem_requested", class.used * u64::from(class.block_bytes));
        for name in OF_ITEMS {
            one(name, 0);
        }
    }
    Ok(())
}

/// Reports `stats slabs`.
pub(in crate::memcached) fn slabs(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    for class in &stats.classes {
        let mut one = |name: &str, value: u64| report(&format!("{}:{name}", class.number), &value);
        one("chunk_size", class.block_bytes.into());
        one("chunks_per_page", class.blocks / class.pages.max(1));
        one("total_pages", class.pages);
        one("total_chunks", class.blocks);
        one("used_chunks", class.used);
        one("free_chunks", class.blocks.saturating_sub(class.used));
        for name in OF_SLABS {
            one(name, 0);
        }
    }
    report("active_slabs", &stats.classes.len());
    report("total_malloced", &stats.resident_bytes);
    Ok(())
}
