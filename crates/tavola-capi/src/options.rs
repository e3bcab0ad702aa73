//! Options of tables.

use crate::given::{SizedStruct, given};
use crate::status::Failure;
use std::time::Duration;
use tavola_core::{Options, Table};

/// Options of a table; what is 0 has a default that needs no tuning. Begin with
/// `tavola_options options = TAVOLA_INIT(tavola_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_options {
    /// `sizeof(tavola_options)`.
    pub size: usize,
    /// The most bytes a new table may grow to, 1 MiB to 8 TiB; 64 GiB when 0, or twice the
    /// `capacity` if that is more. A reservation of addresses, not of memory; a table that is there
    /// keeps its own.
    pub max_size: u64,
    /// The mode of a new table's file, whatever the umask; 0600 when 0.
    pub mode: u32,
    /// Shards of a new table, a power of two from 1 to 1024; by `max_size` or `capacity` when
    /// 0.
    pub shards: u32,
    /// Makes a new table for keys of so many bytes only, where not 0: a key takes 8 bytes less.
    pub fixed_key: u32,
    /// The bytes of all values then.
    pub fixed_value: u32,
    /// 1: gives a uid to every key that this handle stores; 0: to those it is asked for. A table of
    /// fixed lengths has uids only if it is made with 1.
    pub uids: u32,
    /// 1: allows this handle one thread, which calls `tavola_maintain` from time to time.
    pub background: u32,
    /// How many milliseconds keys of a new table live after they were set, unless they are given
    /// another time (`tavola_attributes`); for ever when 0. Not with fixed lengths.
    pub ttl_ms: u64,
    /// Makes a new table a cache of so many bytes, all told: keys, values, the index, free memory.
    /// Where it has no room for a key, it evicts others, best such as were not read. 0: no cache,
    /// full is an error. A table that is there stays what it is; see `tavola_set_capacity`.
    pub capacity: u64,
    /// 1: gives each key of a new table a version, another one each time that it is set or its
    /// value is changed: a token stands for that then, and not for the value. 8 bytes a key, and no
    /// value is changed in place; not with fixed lengths. A table that is there keeps its own.
    pub versions: u32,
    /// 1: includes the table's bytes in core dumps of this process; they are left out when 0.
    pub core_dumps: u32,
    /// 1: opens tables of any owner, wherever they are; 0: in a directory where everybody may make
    /// files, such as `/tmp`, tables and symbolic links of other users (root excepted) are refused
    /// with `TAVOLA_ERR_PERMISSION`.
    pub any_owner: u32,
    /// The group of a new table's file, by its number; nobody sees the file with another group. The
    /// mode is then 0660 unless `mode` is set. 0: the group of a directory that has the setgid
    /// bit, else that of the process. If the user is not in the group, creating the table fails
    /// with `TAVOLA_ERR_PERMISSION`.
    pub group_id: u32,
}

// SAFETY: integers without padding (a `usize`, a `u64`, six `u32`, two `u64`, four `u32`), the size
// first.
unsafe impl SizedStruct for tavola_options {}

/// The options that a caller means; NULL: the defaults.
///
/// # Safety
/// I1 of `given.rs`.
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
    made = made
        .versions(given.versions != 0)
        .core_dumps(given.core_dumps != 0)
        .any_owner(given.any_owner != 0);
    Ok(made.uids(given.uids != 0).background(given.background != 0))
}
