//! What a table holds, and who is attached.

use super::tavola_table;
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::{Failure, tavola_status};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use tavola_core::{ClassStats, Participant, Stats};

/// The state of a table. Sizes are bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_stats {
    /// `sizeof(tavola_stats)`.
    pub size: usize,
    /// Keys; those that have expired, or lost a tag, count until they are removed:
    /// `tavola_get_live_keys` distinguishes them.
    pub keys: u64,
    /// Bytes of all keys and values, and of the names of tags; a counter's value counts as 8.
    pub payload_bytes: u64,
    /// What the system has allocated for the file, the index and all slack included.
    pub resident_bytes: u64,
    /// The most the table may grow to.
    pub max_size: u64,
    /// The length of all keys in a table of fixed lengths; else 0.
    pub fixed_key: u32,
    /// The length of all values then.
    pub fixed_value: u32,
    /// Keys with a uid, and tags.
    pub uids: u64,
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
    pub queue_and_log_bytes: u64,
    /// Pages in the pool that are still backed by memory.
    pub free_bytes: u64,
    /// Shards.
    pub shards: u32,
    /// Participants attached for writing, the dead ones' slots included.
    pub participants: u32,
    /// Recoveries of a shard, since the table was made.
    pub recoveries: u64,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// Its uuid.
    pub uuid: [u8; 16],
    /// Version of the format.
    pub format_version: u64,
    /// Keys that had expired, or lost a tag, and were removed for it, since the table was made.
    pub expired: u64,
    /// How many milliseconds keys live unless they are given another time; 0: forever.
    pub ttl_ms: u64,
    /// How many bytes a cache may take; 0: the table is no cache.
    pub capacity: u64,
    /// Key and value bytes of a cache's probationary, on probation.
    pub probationary_bytes: u64,
    /// Probationary that a cache evicted, since it was made.
    pub evicted_new: u64,
    /// Protected keys that a cache evicted, since it was made.
    pub evicted_old: u64,
    /// Keys that came back soon after a cache had evicted them, since it was made.
    pub ghost_hits: u64,
    /// Reads of a cache that found their key, since it was made. Those of handles that may not
    /// write are not counted, nor the first two reads after an open, by uid and `tavola_contains`.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Writes to a cache, since it was made: calls that set, change or remove a key, or try to.
    pub writes: u64,
    /// Tags.
    pub tags: u64,
    /// Of the writes those that set or change a key, or try to: all but the removes.
    pub sets: u64,
    /// Of the writes those that remove keys, or try to: `tavola_remove`, `tavola_take`,
    /// `tavola_remove_by_uid`, `tavola_update` where it removes, `tavola_invalidate_tag` and
    /// `tavola_clear`. Expired and evicted keys do not count.
    pub removes: u64,
}

// SAFETY: numbers without padding (the two pairs of `u32` fill 8 bytes each), the size first.
unsafe impl SizedStruct for tavola_stats {}

impl From<Stats> for tavola_stats {
    fn from(stats: Stats) -> Self {
        let (fixed_key, fixed_value) = stats.fixed.unwrap_or((0, 0));
        Self {
            size: size_of::<Self>(),
            keys: stats.keys,
            payload_bytes: stats.payload_bytes,
            resident_bytes: stats.resident_bytes,
            max_size: stats.max_size,
            fixed_key,
            fixed_value,
            uids: stats.uids,
            segments: stats.segments,
            index_load: stats.index_load,
            index_bytes: stats.index_bytes,
            slab_bytes: stats.slab_bytes,
            uid_bytes: stats.uid_bytes,
            large_bytes: stats.large_bytes,
            queue_and_log_bytes: stats.queue_and_log_bytes,
            free_bytes: stats.free_bytes,
            shards: stats.shards,
            participants: stats.participants,
            recoveries: stats.recoveries,
            created_unix_s: stats.created_unix_s,
            uuid: stats.uuid,
            format_version: u64::from(stats.format_version),
            expired: stats.expired,
            ttl_ms: stats.ttl_ms,
            capacity: stats.capacity.unwrap_or(0),
            probationary_bytes: stats.probationary_bytes,
            evicted_new: stats.evicted_new,
            evicted_old: stats.evicted_old,
            ghost_hits: stats.ghost_hits,
            hits: stats.hits,
            misses: stats.misses,
            writes: stats.writes,
            tags: stats.tags,
            sets: stats.sets,
            removes: stats.removes,
        }
    }
}

/// One size class of blocks that is in use.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_class {
    /// `sizeof(tavola_class)`, as the library knows it.
    pub size: usize,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Pages.
    pub pages: u64,
    /// Blocks in those pages.
    pub blocks: u64,
    /// Blocks in use.
    pub used: u64,
}

impl From<&ClassStats> for tavola_class {
    fn from(class: &ClassStats) -> Self {
        Self {
            size: size_of::<Self>(),
            block_bytes: u64::from(class.block_bytes),
            pages: class.pages,
            blocks: class.blocks,
            used: class.used,
        }
    }
}

/// A process that is attached for writing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_participant {
    /// `sizeof(tavola_participant)`, as the library knows it.
    pub size: usize,
    /// Its process id, in its own pid namespace.
    pub pid: u32,
    /// Its slot.
    pub slot: u32,
    /// When it attached, in seconds since 1970.
    pub attached_unix_s: u64,
    /// Its command line; NULL when it is not local or cannot be read.
    pub command: *const c_char,
    /// Whether it lives; a dead one's slot is freed by the next `tavola_reclaim`.
    pub alive: u64,
    /// Reads of a cache that found their key, by all that ever had its slot; as in `tavola_stats`.
    pub hits: u64,
    /// Those that did not.
    pub misses: u64,
    /// Writes to a cache.
    pub writes: u64,
    /// Those that set or change a key.
    pub sets: u64,
    /// Those that remove keys.
    pub removes: u64,
    /// 1: `pid` is a number of the caller's own pid namespace; 0: another process, or none, has
    /// that number here.
    pub is_local: u32,
    /// 1: a signal (SIGSTOP) or a debugger has stopped it; known of local ones only.
    pub is_stopped: u32,
}

/// Called with a size class, which is lent until it returns.
pub type tavola_each_class =
    Option<unsafe extern "C" fn(user: *mut c_void, class_: *const tavola_class)>;

/// Called with a participant, which is lent until it returns.
pub type tavola_each_participant =
    Option<unsafe extern "C" fn(user: *mut c_void, participant: *const tavola_participant)>;

/// Returns how many keys the table has. Keys that have expired or lost a tag count until they are
/// removed.
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_len(table: *const tavola_table, keys: *mut u64) -> tavola_status {
    entry(|| {
        let (table, keys) = (given!(handle table), given!(out keys));
        keys.put(table.inner.len()?);
        OK
    })
}

/// Returns the state of a table. It reads one word for each page: about 1 ms for 64 GiB.
///
/// # Examples
/// ```c
/// uint64_t keys = 0;
/// tavola_stats stats = TAVOLA_INIT(tavola_stats);
/// tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
/// tavola_len(table, &keys);
/// tavola_get_stats(table, &stats);
/// tavola_get_live_keys(table, &live);
/// printf("%llu keys in %llu bytes\n", (unsigned long long)live.live,
///        (unsigned long long)stats.resident_bytes);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_IO` if the size of the file cannot be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_get_stats(
    table: *const tavola_table,
    stats: *mut tavola_stats,
) -> tavola_status {
    entry(|| {
        let (table, stats) = (given!(handle table), given!(sized_out stats));
        stats.put(&table.inner.stats()?.into());
        OK
    })
}

/// Calls `each` with each size class of blocks that is in use.
///
/// # Examples
/// ```c
/// static void size_class(void *user, const tavola_class *one) {
///   (void)user;
///   printf("blocks of %llu bytes\n", (unsigned long long)one->block_bytes);
/// }
///
/// static void shard(void *user, const tavola_shard *one) {
///   (void)user;
///   printf("%llu writes\n", (unsigned long long)one->writes);
/// }
///
/// tavola_classes(table, size_class, NULL);
/// tavola_shard_stats(table, shard, NULL);
/// ```
///
/// # Errors
/// As `tavola_get_stats`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_classes(
    table: *const tavola_table,
    each: tavola_each_class,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        let each = each.ok_or_else(|| Failure::null("each"))?;
        for class in &table.inner.stats()?.classes {
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, &tavola_class::from(class)) };
        }
        OK
    })
}

/// Calls `each` with each process that is attached for writing. The table does not know processes
/// that only read.
///
/// # Examples
/// ```c
/// static void process(void *user, const tavola_participant *participant) {
///   (void)user;
///   printf("%u %s\n", participant->pid, participant->command ? participant->command : "?");
/// }
///
/// static void holder(void *user, const tavola_holder *holder) {
///   (void)user;
///   printf("process %u holds the lock of shard %lld\n", holder->pid, (long long)holder->shard);
/// }
///
/// uint32_t freed = 0;
/// tavola_participants(table, process, NULL);
/// tavola_lock_holders(table, holder, NULL);
/// tavola_reclaim(table, &freed);
/// ```
///
/// # Errors
/// At the first use of a table, the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_participants(
    table: *const tavola_table,
    each: tavola_each_participant,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let table = given!(handle table);
        each.ok_or_else(|| Failure::null("each"))?;
        for participant in table.inner.participants()? {
            pass_participant(each, user, participant);
        }
        OK
    })
}

fn pass_participant(each: tavola_each_participant, user: *mut c_void, of: Participant) {
    let Some(each) = each else { return };
    let command = of.command.and_then(|line| CString::new(line).ok());
    let participant = tavola_participant {
        size: size_of::<tavola_participant>(),
        pid: of.pid,
        slot: of.slot,
        attached_unix_s: of.attached_unix_s,
        command: command.as_ref().map_or(ptr::null(), |line| line.as_ptr()),
        alive: u64::from(of.alive),
        hits: of.hits,
        misses: of.misses,
        writes: of.writes,
        sets: of.sets,
        removes: of.removes,
        is_local: of.is_local.into(),
        is_stopped: of.is_stopped.into(),
    };
    // SAFETY: the caller's function, called as its type says.
    unsafe { each(user, &raw const participant) };
}
