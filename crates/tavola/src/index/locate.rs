//! The seam between the operations and the index. The modules `engine` and `table` name nothing
//! else of the index, and none of its structures: `cargo xtask tidy` checks that. So a second kind
//! of index, such as a tree whose keys have an order, can stand beside the hash: it answers the
//! same questions.
//!
//! - *Where is this key?* Without a lock: [`read`], [`glance`], [`Ahead`]. Under the shard's lock:
//!   [`find`], [`find_along`], which return a [`Spot`].
//! - *Put this there:* [`publish`], [`publish_copy`], [`change_word`], [`change_field`],
//!   [`drop_key`]; for several keys at once [`pend`], then [`finish`] or [`undo`].
//! - *What comes next?* Without a lock: [`ScanPosition`], [`sample_keys`]. Under the lock:
//!   [`clear_some`], [`sweep_step`], [`evict`].
//! - *Use less memory:* [`shrink_step`], [`free_root`], [`empty_slabs`], [`compact_some`].
//! - *Here is more memory:* [`allocate_directory`], [`note_directory`].
//!
//! A [`Spot`] is where a key is, or would be. It is valid under the lock under which it was found,
//! until the next change. Only the index knows what is in it: an operation asks it for the key's
//! item, its word, its uid. A [`Hash`] says in which shard a key is, and names it to watchers.
//!
//! All calls are static, and nothing is boxed: the short paths of a read and a write are inlined
//! through this file. A second kind of index would be chosen here, by a bit of the table's options.
//! Recovery and the check (`recover`) are below this seam: they rebuild and examine the structures
//! themselves, each kind its own.

pub(crate) use super::ahead::{Ahead, Warmed};
pub(crate) use super::by_uid::{HintOf, KeyOf, fetch_uid_entry, fetch_uid_item, word_by_uid};
pub(crate) use super::clear::{
    ClearCursor, ClearScope, SweepSize, clear_some, may_expire, sweep_step,
};
pub(crate) use super::commit::{
    Field, New, Why, change_field, change_word, change_word_unrecorded, count_tag, drop_key,
    publish_copy,
};
pub(crate) use super::dir::{allocate_directory, note_directory};
pub(crate) use super::evict::{evict, mark_accessed, restore_state};
pub(crate) use super::evicted::take_evicted;
pub(crate) use super::find::{find, find_along};
pub(crate) use super::hash::{Hash, of_value};
pub(crate) use super::keys::{glance, read, read_as, read_by_uid, read_by_uid_as};
pub(crate) use super::live::sample_keys;
pub(crate) use super::pending::{Pending, finish, pend, undo};
pub(crate) use super::place::publish;
pub(crate) use super::reading_process::{ReadingProcess, Take};
pub(crate) use super::record::is_lost;
pub(crate) use super::record_pending::record_pending;
pub(crate) use super::scan::{ScanPosition, ScanTarget};
pub(crate) use super::shrink::{
    Compacted, compact_some, empty_slabs, free_root, needs_maintenance, shrink_step,
};
pub(crate) use super::slots::{FoundKey, Spot, slots_in};
pub(crate) use super::tags::{is_over, read_tag, tag_name};
pub(crate) use super::to_slice::{Glanced, ToSlice};
pub(crate) use super::unmapped::read_unmapped;
pub(crate) use super::want::{NotesRead, Stamped, Value, Want};
pub(crate) use super::watched::is_watched;
