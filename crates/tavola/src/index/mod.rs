//! The index: extendible hashing with buckets of one cache line. Every key has two possible buckets
//! in one segment, so a reader looks at two cache lines at most, and usually at one.
//!
//! A key's hash gives its shard, its *home* bucket in a segment, and a 24-bit tag whose low bits
//! lead through the directory to the segment. A key is in its home bucket, or in its one *other*
//! bucket, home ^ a number made from the tag. Each bucket number follows from the other one and the
//! tag, without reading the key. The meta bits of a slot say which of the two it is (`away`). A
//! home bucket counts how many of its keys are away (the hint), so that most misses end after one
//! cache line.
//!
//! If both buckets are full, up to two residents move to their own other buckets. If that fails,
//! too, the segment is split. Simulated and measured: a segment splits at load 0.98 with 78 % of
//! its keys at home; the halves have nearly all of them at home again.
//!
//! The directory is a trie in an array: entry `i` holds the segment of the tags whose low bits are
//! `i`, or 0. If the entry of a tag is 0, clear the highest bit of the index, repeatedly, until an
//! entry is not 0: that is the tag's segment. So doubling the directory is one store, and one store
//! publishes a split, whatever the size of the table.
//!
//! **IDX-1** Readers take no lock: what they copied counts only if the bucket's version and the
//! shard's layout word are afterwards what they were before (`read`). **IDX-2** A version rises
//! after a slot stopped leading to a block, and before the block is freed. **IDX-3** A key that
//! moves is in its new bucket, and that bucket's version has risen, before it leaves the old one.
//! **IDX-4** The layout word rises after the directory changed, and before a segment's bytes mean
//! something else. **IDX-6** A slot leads to a change of a transaction only while that has the lock
//! of the shard, or had it when it died ([`pending`]).

#[forbid(unsafe_code)]
mod ahead;
#[forbid(unsafe_code)]
mod by_uid;
#[forbid(unsafe_code)]
mod clear;
#[forbid(unsafe_code)]
mod commit;
#[forbid(unsafe_code)]
mod decided;
#[forbid(unsafe_code)]
mod dir;
#[forbid(unsafe_code)]
mod displace;
#[forbid(unsafe_code)]
mod evict;
#[forbid(unsafe_code)]
mod evicted;
#[forbid(unsafe_code)]
mod find;
#[forbid(unsafe_code)]
mod ghosts;
#[allow(unsafe_code)]
mod group;
#[forbid(unsafe_code)]
mod hash;
#[forbid(unsafe_code)]
mod keys;
#[forbid(unsafe_code)]
mod large;
#[forbid(unsafe_code)]
mod live;
#[forbid(unsafe_code)]
pub(crate) mod locate;
#[forbid(unsafe_code)]
mod pending;
#[forbid(unsafe_code)]
mod place;
#[forbid(unsafe_code)]
mod read;
#[forbid(unsafe_code)]
mod reading_process;
#[forbid(unsafe_code)]
mod record;
#[forbid(unsafe_code)]
mod record_pending;
#[forbid(unsafe_code)]
mod scan;
#[forbid(unsafe_code)]
mod shrink;
#[forbid(unsafe_code)]
mod slots;
#[forbid(unsafe_code)]
mod sought;
#[forbid(unsafe_code)]
mod split;
#[forbid(unsafe_code)]
mod tags;
#[forbid(unsafe_code)]
mod to_slice;
#[forbid(unsafe_code)]
mod unmapped;
#[forbid(unsafe_code)]
mod want;
#[forbid(unsafe_code)]
mod watched;

// For recovery and the check, which know the structures.
pub(crate) use clear::may_expire;
pub(crate) use decided::current;
pub(crate) use dir::{entries, lookup, publish_layout};
pub(crate) use hash::{Hash, other_bucket};
pub(crate) use tags::may_be_over;
pub(crate) use watched::all_changed;
