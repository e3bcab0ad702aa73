//! What a table holds, and who is attached.

use super::core::Core;
use super::recent::Calls;
use super::{Recent, Table};
use crate::alloc::capacity;
use crate::error::Result;
use crate::layout::{BUCKETS, CLASSES, Class, PAGE, PageWord, SLOTS, ShardHead};
use crate::lock::{identity_of, is_alive, members, tally};
use crate::region::told;
use crate::sync::Ordering;
use crate::sys;
use crate::sys::process::{Activity, activity, is_local};

/// The state of a table; from [`Table::stats`]. Sizes are bytes.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Keys; those that have expired, or lost a tag, count until they are removed:
    /// [`Table::live_keys`] tells them apart.
    pub keys: u64,
    /// Bytes of all keys and values, and of the names of tags; a counter's value counts as 8.
    pub payload_bytes: u64,
    /// What the system has allocated for the file, the index and all slack included.
    pub resident_bytes: u64,
    /// The most the table may grow to now; [`Table::set_max_size`] raises it.
    pub max_size: u64,
    /// The length of all keys and of all values, in a table of fixed lengths.
    pub fixed: Option<(u32, u32)>,
    /// Shards.
    pub shards: u32,
    /// Keys with a uid, and tags.
    pub uids: u64,
    /// Tags.
    pub tags: u64,
    /// Keys that had expired, or lost a tag, and were removed for it, since the table was made.
    pub expired: u64,
    /// How many bytes a cache may take; none: the table is no cache.
    pub capacity: Option<u64>,
    /// Key and value bytes of a cache's newcomers, on probation.
    pub newcomer_bytes: u64,
    /// Reads of a cache that found their key, since it was made. Those of handles that may not
    /// write are not counted, nor the first two after an open, by uid and [`Table::contains`].
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Writes to a cache, since it was made: calls that set, change or remove a key, or try to, but
    /// for those that end with an error; of many at once, each key. Invalidating a tag and
    /// [`Table::clear`] are one. Making a tag is none, nor is asking for a lease, or ending it
    /// without a value.
    pub writes: u64,
    /// Of the writes those that set or change a key, or try to: all but the `removes`. To touch a
    /// key is one, and to store what was computed under a lease.
    pub sets: u64,
    /// Of the writes those that remove keys, or try to: [`Table::remove`], [`Table::take`],
    /// [`Table::remove_by_uid`], [`Table::update`] where it removes, [`Table::invalidate_tag`] and
    /// [`Table::clear`]. What goes by itself, expired or evicted, is none.
    pub removes: u64,
    /// What was done with a cache in the last second, the last ten and the last sixty.
    pub recent: [Recent; 3],
    /// Newcomers that a cache evicted, since it was made.
    pub evicted_new: u64,
    /// Protected keys that a cache evicted, since it was made.
    pub evicted_old: u64,
    /// Keys that came back soon after a cache had evicted them, since it was made.
    pub ghost_hits: u64,
    /// How long keys live unless they are given another time, in milliseconds; 0: for ever.
    pub ttl_ms: u64,
    /// Whether keys have versions: [`Options::versions`](super::Options::versions).
    pub has_versions: bool,
    /// Segments of the index.
    pub segments: u64,
    /// Keys divided by the slots of all segments, 0 to 1.
    pub index_load: f64,
    /// Pages of the index.
    pub index_bytes: u64,
    /// Pages of blocks.
    pub slab_bytes: u64,
    /// Pages of the uid table.
    pub uid_bytes: u64,
    /// Pages of large items.
    pub large_bytes: u64,
    /// Pages of the queue pools and logs beside the table.
    pub beside_bytes: u64,
    /// Pages in the pool that are still backed by memory.
    pub free_bytes: u64,
    /// Participants attached for writing, the dead ones' slots included.
    pub participants: u32,
    /// Recoveries of a shard, since the table was made.
    pub recoveries: u64,
    /// Leases that were given without a record, as all of their shard were taken; since the table
    /// was made.
    pub leases_unrecorded: u64,
    /// Version of the format.
    pub format_version: u32,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// Its uuid.
    pub uuid: [u8; 16],
    /// The size classes in use.
    pub classes: Vec<ClassStats>,
}

/// One size class in [`Stats`].
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// Its number, from 1, the same in every table of this format.
    pub number: u32,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Pages.
    pub pages: u64,
    /// Blocks in those pages.
    pub blocks: u64,
    /// Blocks in use.
    pub used: u64,
}

/// An attached process; from [`Table::participants`].
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Participant {
    /// Its process id, in its own pid namespace.
    pub pid: u32,
    /// Whether `pid` is a number of this process's own pid namespace: else another process, or
    /// none, has that number here.
    pub is_local: bool,
    /// Whether a signal (SIGSTOP) or a debugger has stopped it; known of local ones only.
    pub is_stopped: bool,
    /// Its slot.
    pub slot: u32,
    /// Whether it lives; a dead one's slot is freed by the next [`Table::reap`].
    pub alive: bool,
    /// When it attached, in seconds since 1970.
    pub attached_unix_s: u64,
    /// Its command line, when it is local and can be read.
    pub command: Option<String>,
    /// Reads of a cache that found their key, by all that ever had its slot; as [`Stats::hits`].
    pub hits: u64,
    /// Those that did not.
    pub misses: u64,
    /// Writes to a cache.
    pub writes: u64,
    /// Those that set or change a key; as [`Stats::sets`].
    pub sets: u64,
    /// Those that remove keys; as [`Stats::removes`].
    pub removes: u64,
    /// What it told of itself as a server; `None`: it is none.
    pub serving: Option<Serving>,
}

impl Participant {
    /// Whether it is the calling process.
    pub fn is_this_process(&self) -> bool {
        self.is_local && self.pid == std::process::id()
    }

    /// Its process id in words: `pid 4711`, or `pid 1 in another pid namespace`.
    pub fn who(&self) -> String {
        match self.is_local {
            true => format!("pid {}", self.pid),
            false => format!("pid {} in another pid namespace", self.pid),
        }
    }
}

/// What a process that serves a table reports of its clients, by
/// [`ServeTable::report_serving`](crate::serving::ServeTable::report_serving).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// Connections that are open.
    pub connections: u64,
    /// Connections that were accepted, ever.
    pub accepted: u64,
}

/// Keys of a shard.
pub(super) fn keys_of(head: &ShardHead) -> u64 {
    let tags = u64::from(head.tags.load(Ordering::Relaxed));
    head.items.load(Ordering::Relaxed).saturating_sub(tags)
}

impl Core {
    /// Sums a counter over all shards.
    pub(super) fn sum(&self, count: impl Fn(&ShardHead) -> u64) -> u64 {
        let region = self.region();
        (0..region.geometry().shards()).fold(0, |sum: u64, shard| {
            sum.wrapping_add(count(region.shard(shard)))
        })
    }

    fn len(&self) -> u64 {
        self.sum(keys_of)
    }

    fn stats(&self) -> Result<Stats> {
        let region = self.region();
        let superblock = region.superblock();
        let mut stats = Stats {
            keys: self.len(),
            tags: self.sum(|head| u64::from(head.tags.load(Ordering::Relaxed))),
            uids: self.sum(|head| head.uids.load(Ordering::Relaxed)),
            expired: self.sum(|head| head.expired.load(Ordering::Relaxed)),
            capacity: capacity(region),
            newcomer_bytes: self.sum(|head| head.newcomers.load(Ordering::Relaxed)),
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
        if region.is_cache() && self.participant() != 0 {
            self.sample();
        }
        let (at_ms, calls) = (region.now_ms(), self.calls());
        (stats.hits, stats.misses) = (calls.hits, calls.misses);
        (stats.writes, stats.sets, stats.removes) = (calls.writes(), calls.sets, calls.removes);
        stats.recent = self.recent(&self.done_by(at_ms, &calls));
        for (half, word) in stats.uuid.chunks_exact_mut(8).zip(&superblock.uuid) {
            half.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        let slots = stats.segments * (BUCKETS * SLOTS) as u64;
        stats.index_load = if slots == 0 {
            0.0
        } else {
            stats.keys as f64 / slots as f64
        };
        for page in region.geometry().first_page..region.frontier() {
            match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
                PageWord::Segment { .. } => stats.index_bytes += PAGE,
                PageWord::Slab { .. } => stats.slab_bytes += PAGE,
                PageWord::Uids { .. } => stats.uid_bytes += PAGE,
                PageWord::Large { .. } | PageWord::Build { .. } => stats.large_bytes += PAGE,
                PageWord::Extent { .. } => stats.beside_bytes += PAGE,
                PageWord::Free { .. } => stats.free_bytes += PAGE,
                _ => {}
            }
        }
        stats.resident_bytes = self.resident()?;
        Ok(stats)
    }

    pub(super) fn resident(&self) -> Result<u64> {
        let Some(file) = self.region().file() else {
            return Ok(0);
        };
        let info = file
            .with(sys::file::len_and_blocks)
            .map_err(|source| told("reading the size of the table", self.path(), source))?;
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

    fn participants(&self) -> Vec<Participant> {
        let me = if self.region().is_writable() {
            self.writer().unwrap_or(0)
        } else {
            0
        };
        members(self.region())
            .map(|member| {
                let alive = is_alive(self.region(), member.id, me);
                let slot = self.region().participant(member.slot);
                let calls = Calls::of(slot);
                let connections = slot.connections.load(Ordering::Relaxed);
                let who = identity_of(self.region(), member.slot);
                let is_local = is_local(&who);
                Participant {
                    pid: member.pid,
                    is_local,
                    is_stopped: alive && activity(&who) == Activity::Stopped,
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

    /// Only this process writes its slot's words, and nothing depends on them: they are two.
    pub(super) fn report_serving(&self, serving: Serving) -> Result<()> {
        let slot = tally(self.region(), self.writer()?);
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

impl Table {
    /// How many keys there are, at no one moment while others write. One that has expired counts
    /// until it is removed, see [`Attributes`](super::Attributes).
    ///
    /// # Errors
    /// None today; the type leaves room.
    pub fn len(&self) -> Result<u64> {
        Ok(self.core()?.len())
    }

    /// Whether there are no keys.
    ///
    /// # Errors
    /// As [`Table::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.core()?.len() == 0)
    }

    /// What the table holds. Reads a word a page: ~1 ms for 64 GiB.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the file's size cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        self.core()?.stats()
    }

    /// The processes attached for writing. Those that only read are not known to the table.
    ///
    /// # Errors
    /// None today; the type leaves room.
    pub fn participants(&self) -> Result<Vec<Participant>> {
        Ok(self.core()?.participants())
    }

    /// Frees the slots of participants that died, and wins back what they held; says how many.
    /// Writes do so by themselves from time to time.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub fn reap(&self) -> Result<u32> {
        self.core()?.reap()
    }
}
