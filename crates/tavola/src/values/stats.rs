//! What a table holds, and who is attached.

use crate::values::Recent;

/// The state of a table; from [`Table::stats`](crate::Table::stats). Sizes are bytes.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Keys, including expired and invalidated ones that are not removed yet:
    /// [`Table::live_keys`](crate::Table::live_keys) counts them separately.
    pub keys: u64,
    /// Bytes of all keys and values, and of the names of tags; a counter's value counts as 8.
    pub payload_bytes: u64,
    /// Memory that the system has allocated for the file, including the index and unused space.
    pub resident_bytes: u64,
    /// The current maximum size; [`Table::set_max_size`](crate::Table::set_max_size) raises it.
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
    pub probationary_bytes: u64,
    /// Reads of a cache that found their key, since its creation. Not counted are reads by
    /// read-only handles, the first two reads after an open, reads by uid, and
    /// [`Table::contains`](crate::Table::contains).
    pub hits: u64,
    /// Reads that did not find their key.
    pub misses: u64,
    /// Writes to a cache since its creation: calls that set, change or remove a key, or try to,
    /// except those that return an error. In batches each key counts. Invalidating a tag and
    /// [`Table::clear`](crate::Table::clear) count as one write. Creating a tag, asking for a
    /// lease, and ending a lease without a value do not count.
    pub writes: u64,
    /// Writes that set or change a key, or try to: all writes except `removes`. Touching a key and
    /// storing the value of a lease count, too.
    pub sets: u64,
    /// Writes that remove keys, or try to: [`Table::remove`](crate::Table::remove),
    /// [`Table::take`](crate::Table::take), [`Table::remove_by_uid`](crate::Table::remove_by_uid),
    /// [`Table::update`](crate::Table::update) if it removes the key,
    /// [`Table::invalidate_tag`](crate::Table::invalidate_tag) and
    /// [`Table::clear`](crate::Table::clear). Expired and evicted keys do not count.
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
    /// Whether keys have versions: [`Options::versions`](crate::Options::versions).
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
    pub queue_and_log_bytes: u64,
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

/// An attached process; from [`Table::participants`](crate::Table::participants).
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
    /// Whether it is alive. The next [`Table::reclaim`](crate::Table::reclaim) frees the slot of a
    /// dead one.
    pub alive: bool,
    /// The time of attaching, in seconds since 1970.
    pub attached_unix_s: u64,
    /// Its command line, if it is local and readable.
    pub command: Option<String>,
    /// Reads of a cache that found their key, by all processes that ever had this slot; as
    /// [`Stats::hits`](crate::Stats::hits).
    pub hits: u64,
    /// Reads that did not find their key.
    pub misses: u64,
    /// Writes to a cache.
    pub writes: u64,
    /// Writes that set or change a key; as [`Stats::sets`](crate::Stats::sets).
    pub sets: u64,
    /// Writes that remove keys; as [`Stats::removes`](crate::Stats::removes).
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
    pub fn process_label(&self) -> String {
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
