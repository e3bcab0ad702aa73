//! Making a snapshot of a table that is in use.

use crate::engine::Core;
use crate::error::{Error, Result, corrupt};
use crate::journal::{
    ChangeRecord, Content, JournalFiles, MOST_PIECE, NO_ROOM_FOR_SNAPSHOT, Op, SnapshotWriter,
    begin_snapshot, head, is_full, number_of, remove_unfinished, snapshot_position, tail,
};
use crate::lock::{FileLock, Me};
use crate::sync::Ordering;
use crate::sys::clock;
use crate::table::Table;
use std::io;

/// Values from this length on are written in pieces.
const LARGE: usize = 64 << 10;

/// Writes a snapshot, and removes the files that are not needed any more. Returns false if another
/// process is doing that.
///
/// If the journal has failed, nothing is appended to it any more, and the memory of the table is
/// all there is. Then the snapshot is of just that, the journal continues behind it in a new file,
/// and writes are accepted again.
pub(super) fn snapshot(table: &Table) -> Result<bool> {
    let core = table.core()?;
    let Some(files) = core.journal.as_deref() else {
        return Err(core.no_journal());
    };
    let me = core.writer()?;
    let region = core.region();
    let words = head(region);
    let Some(_lock) = FileLock::try_unnoted(region, &words.snapshot_lock, me)? else {
        return Ok(false);
    };
    if files.is_retired(region) {
        files.check(region)?;
    }
    // Of a process that was killed, whose lock this is now. It may have the room that is needed.
    remove_unfinished(&*files.home).map_err(failed(files))?;
    let has_failed = files.check(region).is_err();
    let begun = begin_snapshot(region, me)?;
    let position = match has_failed {
        true => files.begin_again(region, me)?,
        false => begun,
    };
    let bytes = write(table, files, me, position, has_failed).inspect_err(|_| {
        if has_failed {
            files.stay_failed(region, position);
        }
    })?;
    words.snapshot_bytes.store(bytes, Ordering::Relaxed);
    words.snapshot_ms.store(clock::unix_ms(), Ordering::Relaxed);
    words.snapshot.store(position, Ordering::Release);
    if has_failed {
        files.continue_at(region, me, position)?;
    }
    // Files that stay are removed with the next one.
    let _ = remove_old(core, files, position);
    files.close_old(region);
    Ok(true)
}

/// Returns the error of a snapshot that could not be written: nothing of it is left.
fn failed(files: &JournalFiles) -> impl Fn(io::Error) -> Error {
    |source| match is_full(&source) {
        true => Error::Full {
            reason: NO_ROOM_FOR_SNAPSHOT,
        },
        false => Error::Io {
            op: "writing a snapshot",
            path: files.path().to_path_buf(),
            source,
        },
    }
}

/// Writes a snapshot that begins at a position, and returns its bytes when it survives a power
/// failure.
fn write(
    table: &Table,
    files: &JournalFiles,
    me: Me,
    position: u64,
    has_failed: bool,
) -> Result<u64> {
    let core = table.core()?;
    let (region, failed) = (core.region(), failed(files));
    let id = head(region).id.load(Ordering::Relaxed);
    let mut writer =
        SnapshotWriter::create(&*files.home, id, position, region.now_ms()).map_err(&failed)?;
    let keys = write_keys(table, &mut writer, &failed)?;
    let end = match has_failed {
        true => position,
        false => {
            let end = tail(region);
            files.sync_to(region, me, end)?;
            end
        }
    };
    writer
        .finish(end, keys, core.last_version())
        .map_err(failed)
}

fn write_keys(
    table: &Table,
    writer: &mut SnapshotWriter<'_>,
    failed: &impl Fn(io::Error) -> Error,
) -> Result<u64> {
    let mut keys = 0;
    let mut entries = table.iter();
    while let Some(entry) = entries.next_whole()? {
        let names = table.tag_names(&entry.tags)?;
        if names.len() != entry.tags.len() {
            // A tag was invalidated meanwhile, and the journal says so.
            continue;
        }
        let mut change = ChangeRecord::of(Op::Set, entry.key);
        change.content = Content::Here(entry.value);
        if entry.value.len() >= LARGE {
            let first = writer.pieces(entry.value, MOST_PIECE).map_err(failed)?;
            let Ok(len) = u32::try_from(entry.value.len()) else {
                return corrupt("an item");
            };
            change.content = Content::Pieces { first, len };
        }
        (change.client, change.marks) = (entry.shown.client, entry.shown.marks);
        (change.expiry_ms, change.version) = (entry.shown.expiry_ms, entry.shown.version);
        change.tags = names.iter().map(Vec::as_slice).collect();
        writer.draft().push_change(&change);
        writer.after_change().map_err(failed)?;
        keys += 1;
    }
    Ok(keys)
}

/// Removes snapshots and files of the journal that lie before a snapshot.
fn remove_old(core: &Core, files: &JournalFiles, position: u64) -> io::Result<()> {
    let segment = head(core.region()).segment.load(Ordering::Relaxed).max(1);
    for name in files.home.names()? {
        let is_old = snapshot_position(&name).is_some_and(|other| other < position)
            || number_of(&name).is_some_and(|number| (number + 1) * segment <= position);
        if is_old {
            files.home.remove(&name)?;
        }
    }
    Ok(())
}
