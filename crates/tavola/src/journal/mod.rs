//! The journal of a durable table: every change of a key is a record, first in a ring in shared
//! memory, then in files.
//!
//! - `record`: the bytes of records, and how they are read
//! - `draft`: a record that is being written
//! - `ring`: records in memory, and how a change and its record are one
//! - `files`: records on their way to disk
//! - `sync`: when they are on disk, and who waits for that
//! - `read`: records from disk
//! - `snapshot`: all keys at once, from which a journal continues
//! - `saved`: the same in a file without a journal, for a cache that starts warm
//! - `home`: the directory of a durable table

mod draft;
mod files;
mod home;
mod read;
mod record;
mod ring;
mod saved;
mod snapshot;
mod sync;
mod window;

pub(crate) use draft::Draft;
pub(crate) use files::{
    FileHead, JournalFiles, NO_ROOM_FOR_SNAPSHOT, Room, create_file, is_full, name_of, number_of,
};
pub(crate) use home::{Home, Place, TABLE, decode_policy, encode_policy, path_in};
pub(crate) use read::{End, JournalReader};
pub(crate) use record::{
    ChangeRecord, Content, Kind, MOST_KEY, MOST_PIECE, Op, Record, decode_change,
};
pub(crate) use ring::{
    Appended, begin_snapshot, finish_record, head, is_kept, most_bytes, most_inline, record,
    record_all, record_piece, tail, take_last,
};
pub(crate) use saved::{
    About, NOTE_AGAIN, NOTE_STATE, SAVED_FORMAT, SavedReader, SavedWriter, Unusable, decode_tag,
};
pub(crate) use snapshot::{
    SnapshotReader, SnapshotWriter, remove_unfinished, snapshot_name, snapshot_position,
};
