//! Options of tables.

use crate::given::{SizedStruct, given};
use crate::status::Failure;
use std::time::Duration;
use tavola_core::{Durability, LivesWith, Options, Table};

/// The meaning of a returned write for a power failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_durable {
    /// The table is in memory only.
    TAVOLA_DURABLE_NONE = 0,
    /// The change is on disk.
    TAVOLA_DURABLE_COMMIT = 1,
    /// The change is on disk after `sync_ms` at most, as long as a process has the table open for
    /// writing; a forked child does not count, and opens the table itself.
    TAVOLA_DURABLE_WITHIN = 2,
    /// The change is on disk when the system has written it.
    TAVOLA_DURABLE_OS = 3,
}

/// With whom a table goes. After the end of its owner the name leads to nothing: the next process
/// that opens or lists the table removes it. Processes that have it open can use it until they
/// close it.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tavola_lives_with {
    /// The table stays until it is removed.
    TAVOLA_LIVES_WITH_NOBODY = 0,
    /// It goes with a process, see `owner_pid`.
    TAVOLA_LIVES_WITH_PROCESS = 1,
    /// It goes with the last process that has it open for writing. A forked child counts from its
    /// first write on.
    TAVOLA_LIVES_WITH_LAST_USER = 2,
}

/// Options of a table. A field that is 0 means the default. Begin with `tavola_options options =
/// TAVOLA_INIT(tavola_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_options {
    /// `sizeof(tavola_options)`.
    pub size: usize,
    /// The most bytes that a new table may grow to, 1 MiB to 4 TiB. The default is 64 GiB on tmpfs
    /// and 4 GiB on other file systems, or twice the `capacity` if that is more. This reserves
    /// addresses and no memory. A table that exists keeps its own; see `tavola_set_max_size`.
    pub max_size: u64,
    /// The mode of the file of a new table, whatever the umask; 0600 by default.
    pub mode: u32,
    /// The shards of a new table, a power of two from 1 to 1024. The default follows from
    /// `max_size` or `capacity`.
    pub shards: u32,
    /// If not 0: all keys of a new table have this length, and each takes 8 bytes less.
    pub fixed_key: u32,
    /// The length of all values of such a table.
    pub fixed_value: u32,
    /// 1: every key that this handle stores gets a uid. 0: only keys that a uid is asked for. A
    /// table of fixed lengths has uids only if it is created with 1.
    pub uids: u32,
    /// 1: this handle may start one thread, which calls `tavola_maintain` from time to time.
    pub background: u32,
    /// How many milliseconds the keys of a new table live after they were set, if they have no time
    /// of their own (`tavola_attributes`); forever by default. Not with fixed lengths.
    pub ttl_ms: u64,
    /// Makes a new table a cache of so many bytes in all: keys, values, the index, free memory. If
    /// it has no room for a key, it evicts others, first those that were not read. 0: not a cache,
    /// and a full table is an error. A table that exists stays what it is; see
    /// `tavola_set_capacity`.
    pub capacity: u64,
    /// 1: each key of a new table has a version, which changes each time that the key is set or its
    /// value is changed. The token of a key is then its version and not a hash of its value. It
    /// takes 8 bytes for each key, and no value is changed in place. Not with fixed lengths. A
    /// table that exists keeps its own.
    pub versions: u32,
    /// 1: core dumps of this process include the table's bytes.
    pub core_dumps: u32,
    /// 1: opens tables of any owner, wherever they are. 0: in a directory where everybody may
    /// create files, such as `/tmp`, tables and symbolic links of other users except root are
    /// refused with `TAVOLA_ERR_PERMISSION`.
    pub any_owner: u32,
    /// The group of a new table's file, by its number; nobody sees the file with another group. The
    /// mode is then 0660 unless `mode` is set. 0: the group of a directory that has the setgid
    /// bit, else that of the process. If the user is not in the group, creating the table fails
    /// with `TAVOLA_ERR_PERMISSION`.
    pub group_id: u32,
    /// One of `tavola_durable`: whether a new table survives a restart of the machine, and when a
    /// change is on disk. The name of a durable table is the path of a directory, which is created
    /// if it is missing. A durable table that exists keeps its policy, unless this one is stricter:
    /// then it is that of this handle.
    pub durable: i32,
    /// The time of `TAVOLA_DURABLE_WITHIN`, in milliseconds; 0 means 50.
    pub sync_ms: u32,
    /// One of `tavola_lives_with`: with whom a new table goes. Not with `durable`. A table that
    /// exists keeps its own.
    pub lives_with: i32,
    /// The process of `TAVOLA_LIVES_WITH_PROCESS`, by its number; 0: this process.
    pub owner_pid: u32,
}

// SAFETY: integers without padding (a `usize`, a `u64`, six `u32`, two `u64`, four `u32`, an `i32`,
// a `u32`, an `i32`, a `u32`), the size first.
unsafe impl SizedStruct for tavola_options {}

/// The options that a caller means; NULL: the defaults.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn options_of(options: *const tavola_options) -> Result<Options, Failure> {
    let mut made = Table::options();
    if options.is_null() {
        return Ok(made);
    }
    let given = given!(sized options);
    if given.max_size != 0 {
        made = made.max_size(given.max_size);
    }
    if given.mode != 0 {
        made = made.mode(given.mode);
    }
    if given.group_id != 0 {
        made = made.group(given.group_id);
    }
    if given.shards != 0 {
        made = made.shards(given.shards);
    }
    if (given.fixed_key, given.fixed_value) != (0, 0) {
        made = made.fixed(given.fixed_key, given.fixed_value);
    }
    if given.ttl_ms != 0 {
        made = made.ttl(Duration::from_millis(given.ttl_ms));
    }
    if given.capacity != 0 {
        made = made.capacity(given.capacity);
    }
    if let Some(durability) = durability_of(&given)? {
        made = made.durable(durability);
    }
    if let Some(owner) = owner_of(&given)? {
        made = made.lives_with(owner);
    }
    made = made
        .versions(given.versions != 0)
        .core_dumps(given.core_dumps != 0)
        .any_owner(given.any_owner != 0);
    Ok(made.uids(given.uids != 0).background(given.background != 0))
}

fn owner_of(given: &tavola_options) -> Result<Option<LivesWith>, Failure> {
    use tavola_lives_with::*;
    let is = |known: tavola_lives_with| known as i32 == given.lives_with;
    let pid = match given.owner_pid {
        0 => std::process::id(),
        pid => pid,
    };
    if is(TAVOLA_LIVES_WITH_PROCESS) {
        return Ok(Some(LivesWith::Process(pid)));
    }
    if given.owner_pid != 0 {
        return Err(Failure::argument(
            "an owner_pid needs lives_with = TAVOLA_LIVES_WITH_PROCESS",
        ));
    }
    match is(TAVOLA_LIVES_WITH_NOBODY) {
        true => Ok(None),
        false if is(TAVOLA_LIVES_WITH_LAST_USER) => Ok(Some(LivesWith::LastUser)),
        false => Err(Failure::argument(
            "lives_with is not one of tavola_lives_with",
        )),
    }
}

/// The time of `TAVOLA_DURABLE_WITHIN`, if none is given.
const SYNC_MS: u32 = 50;

fn durability_of(given: &tavola_options) -> Result<Option<Durability>, Failure> {
    use tavola_durable::*;
    let all = [
        (TAVOLA_DURABLE_NONE, None),
        (TAVOLA_DURABLE_COMMIT, Some(Durability::Commit)),
        (TAVOLA_DURABLE_WITHIN, Some(within(given.sync_ms))),
        (TAVOLA_DURABLE_OS, Some(Durability::Os)),
    ];
    let found = all.into_iter().find(|one| one.0 as i32 == given.durable);
    match found {
        Some((_, durability)) => Ok(durability),
        None => Err(Failure::argument("durable is not one of tavola_durable")),
    }
}

fn within(sync_ms: u32) -> Durability {
    let ms = if sync_ms == 0 { SYNC_MS } else { sync_ms };
    Durability::Within(Duration::from_millis(ms.into()))
}

/// Returns a policy as one of `tavola_durable`, and the milliseconds of `TAVOLA_DURABLE_WITHIN`.
pub(crate) fn durable_of(durability: Option<Durability>) -> (tavola_durable, u32) {
    use tavola_durable::*;
    match durability {
        None => (TAVOLA_DURABLE_NONE, 0),
        Some(Durability::Commit) => (TAVOLA_DURABLE_COMMIT, 0),
        Some(Durability::Within(time)) => {
            let ms = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
            (TAVOLA_DURABLE_WITHIN, ms)
        }
        // A policy that the header does not have is called the weakest.
        Some(_) => (TAVOLA_DURABLE_OS, 0),
    }
}
