//! What a table holds, and who is attached.

use super::core::Core;
use super::recent::Calls;
use super::{Recent, Table};
use crate::alloc::capacity;
use crate::error::Result;
use crate::layout::{BUCKETS, CLASSES, Class, PAGE, PageWord, SLOTS, ShardHead};
use crate::lock::{Me, identity_of, is_alive, members, tally};
use crate::region::told;
use crate::sync::Ordering;
use crate::sys;
use crate::sys::process::{Activity, activity, is_local};

/// The state of a table; from [`Table::stats`]. Sizes are bytes.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Keys, including expired and invalidated ones that are not removed yet: [`Table::live_keys`]
    /// counts them separately.
    pub keys: u64,
    /// Bytes of all keys and values, and of the names of tags; a counter's value counts as 8.
    pub payload_bytes: u64,
    /// Memory that the system has allocated for the file, including the index and unused space.
    pub resident_bytes: u64,
    /// The current maximum size; [`Table::set_max_size`] raises it.
    pub max_size: u64,
    /// The length of all keys and of all values, in a table of fixed lengths.
    pub fixed: Option<(u32, u32)>,
    /// Shards.
    pub shards: u32,
    /// The number of keys with a uid, and of tags.
    pub uids: u64,
    /// Tags.
    pub tags: u64,
    /// Expired and invalidated keys that were removed since the table was created.
    pub expired: u64,
    /// The capacity of a cache in bytes, or `None` if the table is not a cache.
    pub capacity: Option<u64>,
    /// Key and value bytes in the probationary queue of a cache.
    pub newcomer_bytes: u64,
    /// Reads of a cache that found their key, since its creation. Not counted are reads by
    /// read-only handles, the first two reads after an open, reads by uid, and [`Table::contains`].
    pub hits: u64,
    /// Reads that did not find their key.
    pub misses: u64,
    /// Writes to a cache since its creation: calls that set, change or remove a key, or try to,
    /// except those that return an error. In batches each key counts. Invalidating a tag and
    /// [`Table::clear`] count as one write. Creating a tag, asking for a lease, and ending a lease
    /// without a value do not count.
    pub writes: u64,
    /// Writes that set or change a key, or try to: all writes except `removes`. Touching a key and
    /// storing the value of a lease count, too.
    pub sets: u64,
    /// Writes that remove keys, or try to: [`Table::remove`], [`Table::take`],
    /// [`Table::remove_by_uid`], [`Table::update`] if it removes the key, [`Table::invalidate_tag`]
    /// and [`Table::clear`]. Expired and evicted keys do not count.
    pub removes: u64,
    /// Activity of a cache in the last 1, 10 and 60 seconds.
    pub recent: [Recent; 3],
    /// Keys that a cache evicted from its probationary queue, since its creation.
    pub evicted_new: u64,
    /// Keys that a cache evicted from its main queue, since its creation.
    pub evicted_old: u64,
    /// Keys that were set again soon after a cache evicted them, since its creation.
    pub ghost_hits: u64,
    /// The default TTL of keys in milliseconds; 0 means that they do not expire.
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
    /// Pages of the queue pools and logs of the table.
    pub beside_bytes: u64,
    /// Pages in the pool that are still backed by memory.
    pub free_bytes: u64,
    /// Participants attached for writing, including slots of dead ones.
    pub participants: u32,
    /// Recoveries of a shard since the table was created.
    pub recoveries: u64,
    /// Leases granted without a record since the table was created, because all records of the
    /// shard were in use.
    pub leases_unrecorded: u64,
    /// Version of the format.
    pub format_version: u32,
    /// The time of creation, in seconds since 1970.
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
    /// Whether `pid` belongs to the pid namespace of this process. If not, the number may name
    /// another process here.
    pub is_local: bool,
    /// Whether a signal (SIGSTOP) or a debugger has stopped it; known for local processes only.
    pub is_stopped: bool,
    /// Its slot.
    pub slot: u32,
    /// Whether it is alive. The next [`Table::reap`] frees the slot of a dead one.
    pub alive: bool,
    /// The time of attaching, in seconds since 1970.
    pub attached_unix_s: u64,
    /// Its command line, if it is local and readable.
    pub command: Option<String>,
    /// Reads of a cache that found their key, by all processes that ever had this slot; as
    /// [`Stats::hits`].
    pub hits: u64,
    /// Reads that did not find their key.
    pub misses: u64,
    /// Writes to a cache.
    pub writes: u64,
    /// Writes that set or change a key; as [`Stats::sets`].
    pub sets: u64,
    /// Writes that remove keys; as [`Stats::removes`].
    pub removes: u64,
    /// What it reported as a server, or `None` if it is not a server.
    pub serving: Option<Serving>,
}

impl Participant {
    /// Returns whether it is the calling process.
    pub fn is_this_process(&self) -> bool {
        self.is_local && self.pid == std::process::id()
    }

    /// Returns its process id as text: `pid 4711`, or `pid 1 in another pid namespace`.
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
    /// Connections that were accepted since the start.
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
            self.writer().unwrap_or(Me::NOBODY)
        } else {
            Me::NOBODY
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

impl Table {
    /// Returns the number of keys. Expired keys count until they are removed, see
    /// [`Attributes`](crate::Attributes). While others write, the number is not a snapshot of one
    /// moment.
    ///
    /// # Errors
    /// Currently none.
    pub fn len(&self) -> Result<u64> {
        Ok(self.core()?.len())
    }

    /// Returns whether there are no keys.
    ///
    /// # Errors
    /// As [`Table::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.core()?.len() == 0)
    }

    /// Returns statistics of the table. Reads one word per page, which takes about 1 ms for 64 GiB.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the size of the file cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        self.core()?.stats()
    }

    /// Returns the processes attached for writing. The table does not know processes that only
    /// read.
    ///
    /// # Errors
    /// Currently none.
    pub fn participants(&self) -> Result<Vec<Participant>> {
        Ok(self.core()?.participants())
    }

    /// Frees the slots of dead participants, reclaims their resources, and returns how many there
    /// were. Writes also do this from time to time.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    pub fn reap(&self) -> Result<u32> {
        self.core()?.reap()
    }
}
