//! The files of a journal: records on their way from the ring to disk.
//!
//! ```text
//! HOME/journal-NUMBER   4096 B head; then the records from position NUMBER times the length of a
//!                       file on
//! head                  magic `TavolaJN`, id of the journal, number, from, checksum: 8 B each
//! ```
//!
//! Records cross the ends of files. `from` is the position at which the records before the file
//! end; that is where the file begins, unless a rebuild has cut the journal.
//!
//! **JRN-4** Only bytes between `written` and `tail` are written, to the place that their position
//! names. They do not change, so writing them again changes nothing; a holder of the write lock may
//! die at any moment. The files are synced in `sync`.

use super::home::path_in;
use super::ring::{copy_out, head};
use crate::error::{Error, Result};
use crate::layout::fold;
use crate::lock::{FileLock, Me, wake};
use crate::region::Region;
use crate::sync::Ordering;
use crate::sys::disk::{DiskFile, HomeDir};
use crate::values::Durability;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes before the records of a file.
pub(crate) const FILE_HEAD: u64 = 4096;
/// `TavolaJN`.
const MAGIC: u64 = u64::from_le_bytes(*b"TavolaJN");
/// Bytes written by one call: copied out of the ring, they are still in the processor's caches when
/// the kernel copies them.
const CHUNK: u64 = 64 << 10;
/// Zeroes written by one call.
const ZEROES: u64 = 1 << 20;
/// Files that a process keeps open.
const KEPT: usize = 4;
/// Why a snapshot was not made.
pub(crate) const NO_ROOM_FOR_SNAPSHOT: &str = "\
    the disk has no room for a snapshot, which takes as much as all keys; free space on the disk, \
    or move the table's directory to a larger one while no process uses it";
/// The state of a journal whose table lives on in other memory: not the number of an error.
pub(super) const RETIRED: u64 = 1 << 32;

/// The files of a journal, as one process has them open.
pub(crate) struct JournalFiles {
    pub(crate) home: Arc<dyn HomeDir>,
    path: PathBuf,
    room: Room,
    open: Mutex<Vec<(u64, Arc<dyn DiskFile>)>>,
}

/// Returns the name of a file.
pub(crate) fn name_of(number: u64) -> String {
    format!("journal-{number:016x}")
}

/// Returns the number in the name of a file.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (name_of(number) == name).then_some(number)
}

/// The head of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHead {
    pub(crate) id: u64,
    pub(crate) number: u64,
    /// Where the records before the file end.
    pub(crate) from: u64,
}

impl FileHead {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let words = [MAGIC, self.id, self.number, self.from];
        let sum = fold(&words);
        let all = words.into_iter().chain([sum]);
        all.flat_map(u64::to_le_bytes).collect()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |i: usize| super::record::word_at(bytes, 8 * i);
        let words = [word(0)?, word(1)?, word(2)?, word(3)?];
        let is_right = words[0] == MAGIC && word(4)? == fold(&words);
        is_right.then_some(Self {
            id: words[1],
            number: words[2],
            from: words[3],
        })
    }
}

/// How a new file gets room for its records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// Zeroes are written. Records that are written later change nothing but these bytes, which is
    /// what makes a sync fast: for tables that sync with each write.
    Written,
    /// The file system is asked for it: for tables that sync now and then.
    Reserved,
}

impl Room {
    pub(crate) fn of(durability: Durability) -> Self {
        match durability {
            Durability::Commit => Self::Written,
            _ => Self::Reserved,
        }
    }
}

/// Creates a file with room for its records, and returns when it survives a power failure. If that
/// fails, there is no file: it would take room on a disk that may have none.
pub(crate) fn create_file(
    home: &dyn HomeDir,
    file: &FileHead,
    segment: u64,
    room: Room,
) -> io::Result<()> {
    let name = name_of(file.number);
    match home.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let made = home.create(&name)?;
    let finished = fill_file(&*made, file, segment, room).and_then(|()| home.sync());
    if finished.is_err() {
        // No record is in it: `allocated` rises after this call.
        let _ = home.remove(&name);
    }
    finished
}

fn fill_file(made: &dyn DiskFile, file: &FileHead, segment: u64, room: Room) -> io::Result<()> {
    match room {
        Room::Written => write_zeroes(made, segment)?,
        Room::Reserved => match made.allocate(FILE_HEAD + segment) {
            // Some file systems cannot: of FUSE, 9p.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                write_zeroes(made, segment)?;
            }
            allocated => allocated?,
        },
    }
    made.write_all_at(&file.encode(), 0)?;
    made.sync_data()
}

fn write_zeroes(file: &dyn DiskFile, segment: u64) -> io::Result<()> {
    let zeroes = vec![0; ZEROES.min(segment) as usize];
    let mut at = FILE_HEAD;
    while at < FILE_HEAD + segment {
        let len = (FILE_HEAD + segment - at).min(ZEROES);
        file.write_all_at(&zeroes[..len as usize], at)?;
        at += len;
    }
    Ok(())
}

impl JournalFiles {
    pub(crate) fn new(home: Arc<dyn HomeDir>, path: &Path, room: Room) -> Self {
        Self {
            home,
            room,
            path: path.to_path_buf(),
            open: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a file. If this process cannot open it, the journal has not failed: others may.
    pub(super) fn file(&self, number: u64) -> Result<Arc<dyn DiskFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = open.iter().find(|(n, _)| *n == number) {
            return Ok(Arc::clone(file));
        }
        let opened = self.home.open(&name_of(number));
        let file = opened.map_err(|source| Error::Io {
            op: "opening a file of the journal",
            path: path_in(&self.path, &name_of(number)),
            source,
        })?;
        if open.len() == KEPT {
            open.remove(0);
        }
        open.push((number, Arc::clone(&file)));
        Ok(file)
    }

    /// Returns the error for which the journal has failed, if it has.
    pub(crate) fn check(&self, region: &Region) -> Result<()> {
        match head(region).state.load(Ordering::Acquire) {
            0 => Ok(()),
            RETIRED => Err(self.failed(io::Error::other(
                "its memory was removed, and the table was rebuilt in other memory; refresh this \
                 handle, or open the table again",
            ))),
            errno => Err(self.failed(io::Error::from_raw_os_error(errno as i32))),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::NotDurable {
            path: self.path.clone(),
            source,
        }
    }

    /// Notes that the journal has failed, and wakes all who wait for it.
    pub(super) fn fail(&self, region: &Region, source: io::Error) -> Error {
        let errno = source.raw_os_error().unwrap_or(libc::EIO).max(1);
        let head = head(region);
        let _ = head.state.cas(0, errno as u64, Ordering::Release);
        wake_all(region);
        self.failed(source)
    }

    /// Writes all records from the ring to the files.
    pub(crate) fn write_out(&self, region: &Region, me: Me) -> Result<()> {
        let (_lock, _) = FileLock::acquire(region, &head(region).write_lock, me)?;
        self.write_locked(region)
    }

    pub(super) fn write_locked(&self, region: &Region) -> Result<()> {
        let head = head(region);
        // Pairs with the release in `append`: the records before it are in the ring.
        let tail = head.tail.load(Ordering::Acquire);
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        let mut written = head.written.load(Ordering::Relaxed);
        let mut buffer = Vec::new();
        while written < tail {
            let in_file = written % segment;
            let len = (tail - written).min(segment - in_file).min(CHUNK);
            buffer.resize(len as usize, 0);
            copy_out(region, written, &mut buffer);
            let file = self.file(written / segment)?;
            let done = file.write_all_at(&buffer, FILE_HEAD + in_file);
            done.map_err(|source| self.fail(region, source))?;
            written += len;
            // Pairs with the acquire in `fits`: these bytes of the ring may be overwritten.
            head.written.store(written, Ordering::Release);
        }
        Ok(())
    }

    /// Makes room for so many bytes in the ring and in the files.
    pub(crate) fn make_room(&self, region: &Region, me: Me, bytes: u64) -> Result<()> {
        self.check(region)?;
        self.extend(region, me, bytes)?;
        self.write_out(region, me)
    }

    /// Makes files until there is room for so many bytes.
    pub(crate) fn extend(&self, region: &Region, me: Me, bytes: u64) -> Result<()> {
        let head = head(region);
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        let (_lock, _) = FileLock::acquire(region, &head.extend_lock, me)?;
        loop {
            // Under the lock: the one who lets a failed journal go on has made the next file.
            self.check(region)?;
            let allocated = head.allocated.load(Ordering::Relaxed);
            if head.tail.load(Ordering::Acquire) + bytes <= allocated {
                return Ok(());
            }
            let file = FileHead {
                id: head.id.load(Ordering::Relaxed),
                number: allocated / segment,
                from: allocated,
            };
            create_file(&*self.home, &file, segment, self.room).map_err(|source| {
                self.no_room(
                    source,
                    "the disk of the journal is full; free space on it, or make a snapshot, \
                     which removes what the journal no longer needs",
                )
            })?;
            head.allocated.store(allocated + segment, Ordering::Release);
        }
    }

    /// Returns the error of a file that could not be made: nothing was changed, and the journal has
    /// not failed. `reason` is for a full disk.
    fn no_room(&self, source: io::Error, reason: &'static str) -> Error {
        match is_full(&source) {
            true => Error::Full { reason },
            false => Error::Io {
                op: "making a file of the journal",
                path: self.path.clone(),
                source,
            },
        }
    }

    /// Makes the file in which a failed journal continues, and returns the position at which that
    /// begins. As the journal has failed, nobody appends to it.
    pub(crate) fn begin_again(&self, region: &Region, me: Me) -> Result<u64> {
        let head = head(region);
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        // Nobody makes this file meanwhile, nor later: the journal has failed (`extend`).
        let (_lock, _) = FileLock::acquire(region, &head.extend_lock, me)?;
        let allocated = head.allocated.load(Ordering::Relaxed);
        let file = FileHead {
            id: head.id.load(Ordering::Relaxed),
            number: allocated / segment,
            from: allocated,
        };
        create_file(&*self.home, &file, segment, self.room)
            .map_err(|source| self.no_room(source, NO_ROOM_FOR_SNAPSHOT))?;
        Ok(allocated)
    }

    /// Removes the file that [`Self::begin_again`] made at a position, as no snapshot leads to it.
    /// The journal is still failed.
    pub(crate) fn stay_failed(&self, region: &Region, position: u64) {
        let segment = head(region).segment.load(Ordering::Relaxed).max(1);
        let _ = self.home.remove(&name_of(position / segment));
    }

    /// Closes files of which a snapshot has taken the place, so that the disk gets their room back.
    pub(crate) fn close_old(&self, region: &Region) {
        let head = head(region);
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        let first = head.snapshot.load(Ordering::Acquire) / segment;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(number, _)| *number >= first);
    }

    /// Lets a failed journal continue from a position at which a snapshot begins. The state comes
    /// last: if this process dies before, it is still failed.
    pub(crate) fn continue_at(&self, region: &Region, me: Me, position: u64) -> Result<()> {
        let head = head(region);
        let segment = head.segment.load(Ordering::Relaxed).max(1);
        let (sync, _) = FileLock::acquire(region, &head.sync_lock, me)?;
        let (write, _) = FileLock::acquire_next(region, &head.write_lock, me)?;
        head.allocated.store(position + segment, Ordering::Release);
        for word in [&head.keep, &head.written, &head.synced, &head.tail] {
            word.store(position, Ordering::Release);
        }
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        head.state.store(0, Ordering::Release);
        drop((write, sync));
        wake_all(region);
        Ok(())
    }

    /// Returns whether the table lives on in other memory.
    pub(crate) fn is_retired(&self, region: &Region) -> bool {
        head(region).state.load(Ordering::Acquire) == RETIRED
    }
}

/// Returns whether an error says that the disk is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// Wakes all who wait for a sync.
pub(super) fn wake_all(region: &Region) {
    let head = head(region);
    head.syncs.fetch_add(1, Ordering::SeqCst);
    if head.sleepers.load(Ordering::SeqCst) > 0 {
        wake(&head.syncs, u32::MAX >> 1);
    }
}
