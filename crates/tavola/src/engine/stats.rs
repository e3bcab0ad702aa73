//! Statistics: what a table holds, and who is attached.

use super::core::Core;
use super::recent::CallCounts;
use crate::alloc::capacity;
use crate::error::Result;
use crate::index::locate::slots_in;
use crate::layout::{CLASSES, Class, PAGE, PageWord, ShardHead};
use crate::lock::{Me, identity_of, is_alive, members, tally};
use crate::region::explained;
use crate::sync::Ordering;
use crate::sys;
use crate::sys::process::{Activity, activity, is_local};
use crate::values::Participant;
use crate::values::{ClassStats, Serving, Stats};

/// Returns how many keys a shard has: its items, without the tags.
pub(crate) fn keys_of(head: &ShardHead) -> u64 {
    let tags = u64::from(head.tags.load(Ordering::Relaxed));
    head.items.load(Ordering::Relaxed).saturating_sub(tags)
}

impl Core {
    pub(crate) fn len(&self) -> u64 {
        self.sum(keys_of)
    }

    pub(crate) fn stats(&self) -> Result<Stats> {
        let region = self.region();
        let superblock = region.superblock();
        let mut stats = Stats {
            keys: self.len(),
            tags: self.sum(|head| u64::from(head.tags.load(Ordering::Relaxed))),
            uids: self.sum(|head| head.uids.load(Ordering::Relaxed)),
            expired: self.sum(|head| head.expired.load(Ordering::Relaxed)),
            capacity: capacity(region),
            probationary_bytes: self.sum(|head| head.probationary.load(Ordering::Relaxed)),
            evicted_new: self.sum(|head| head.evicted_new.load(Ordering::Relaxed)),
            evicted_old: self.sum(|head| head.evicted_old.load(Ordering::Relaxed)),
            ghost_hits: self.sum(|head| head.ghost_hits.load(Ordering::Relaxed)),
            ttl_ms: region.geometry().ttl_ms,
            has_versions: region.geometry().has_versions,
            payload_bytes: self.sum(|head| head.payload.load(Ordering::Relaxed)),
            max_size: region.max_size(),
            shards: region.geometry().shards(),
            segments: self.sum(|head| u64::from(head.segments.load(Ordering::Relaxed))),
            participants: members(region).count() as u32,
            leases_unrecorded: superblock.leases_unrecorded.load(Ordering::Relaxed),
            recoveries: self.sum(|head| u64::from(head.recoveries.load(Ordering::Relaxed))),
            format_version: superblock.format.load(Ordering::Relaxed),
            created_unix_s: superblock.created.load(Ordering::Relaxed),
            classes: self.classes(),
            fixed: region.fixed().map(|fixed| (fixed.key_len, fixed.value_len)),
            ..Stats::default()
        };
        if region.is_cache() && self.participant().is_attached() {
            self.sample();
        }
        let (at_ms, calls) = (region.now_ms(), self.calls());
        (stats.hits, stats.misses) = (calls.hits, calls.misses);
        (stats.writes, stats.sets, stats.removes) = (calls.writes(), calls.sets, calls.removes);
        stats.recent = self.recent(&self.done_by(at_ms, &calls));
        for (half, word) in stats.uuid.chunks_exact_mut(8).zip(&superblock.uuid) {
            half.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        let slots = slots_in(stats.segments);
        stats.index_load = if slots == 0 {
            0.0
        } else {
            stats.keys as f64 / slots as f64
        };
        for page in region.geometry().first_page..region.high_water() {
            match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
                PageWord::Segment { .. } => stats.index_bytes += PAGE,
                PageWord::Slab { .. } => stats.slab_bytes += PAGE,
                PageWord::Uids { .. } => stats.uid_bytes += PAGE,
                PageWord::Large { .. } | PageWord::Build { .. } => stats.large_bytes += PAGE,
                PageWord::Extent { .. } => stats.queue_and_log_bytes += PAGE,
                PageWord::Free { .. } => stats.free_bytes += PAGE,
                _ => {}
            }
        }
        stats.resident_bytes = self.resident()?;
        Ok(stats)
    }

    pub(crate) fn resident(&self) -> Result<u64> {
        let Some(file) = self.region().file() else {
            return Ok(0);
        };
        let info = file
            .with(sys::file::len_and_blocks)
            .map_err(|source| explained("reading the size of the table", self.path(), source))?;
        Ok(info.allocated_bytes)
    }

    fn classes(&self) -> Vec<ClassStats> {
        let stats_of = |number: usize| {
            let class = Class::get(number as u32)?;
            let pages =
                self.sum(|head| u64::from(head.classes[number].pages.load(Ordering::Relaxed)));
            let used =
                self.sum(|head| u64::from(head.classes[number].used.load(Ordering::Relaxed)));
            (pages > 0).then(|| ClassStats {
                number: number as u32 + 1,
                block_bytes: class.block,
                pages,
                blocks: pages * u64::from(class.blocks),
                used,
            })
        };
        (0..CLASSES).filter_map(stats_of).collect()
    }

    pub(crate) fn participants(&self) -> Vec<Participant> {
        let me = if self.region().is_writable() {
            self.writer().unwrap_or(Me::NOBODY)
        } else {
            Me::NOBODY
        };
        members(self.region())
            .map(|member| {
                let alive = is_alive(self.region(), member.id, me);
                let slot = self.region().participant(member.slot);
                let calls = CallCounts::of(slot);
                let connections = slot.connections.load(Ordering::Relaxed);
                let identity = identity_of(self.region(), member.slot);
                let is_local = is_local(&identity);
                Participant {
                    pid: member.pid,
                    is_local,
                    is_stopped: alive && activity(&identity) == Activity::Stopped,
                    slot: member.slot,
                    alive,
                    attached_unix_s: member.attached_unix_s,
                    command: if alive && is_local {
                        sys::process::command_line(member.pid)
                    } else {
                        None
                    },
                    hits: calls.hits,
                    misses: calls.misses,
                    writes: calls.writes(),
                    sets: calls.sets,
                    removes: calls.removes,
                    serving: (connections > 0).then(|| Serving {
                        connections: connections - 1,
                        accepted: slot.accepted.load(Ordering::Relaxed),
                    }),
                }
            })
            .collect()
    }

    /// Reports a server's connections. Only this process writes its slot's words, and nothing
    /// depends on the two of them being of the same moment.
    pub(crate) fn report_serving(&self, serving: Serving) -> Result<()> {
        let slot = tally(self.region(), self.writer()?.id());
        let connections = serving.connections.saturating_add(1);
        for (word, now) in [
            (&slot.accepted, serving.accepted),
            (&slot.connections, connections),
        ] {
            if word.load(Ordering::Relaxed) != now {
                word.store(now, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
