//! A simulated disk: keeps everything in memory, and can say what a power failure may leave of it.
//!
//! Calls take effect at once, and are written down in a [`History`]. [`History::cut`] answers what
//! the disk may have if the power fails after any of them: the contract of the room above allows
//! many outcomes, and a [`Choice`] picks one. [`check_all_cuts`] takes every moment of a history
//! and every outcome, or a random sample of them, and asks a judge about each.
//!
//! A program under test marks its own promises: [`SimulatedHome::acknowledge`] says that a caller
//! was informed that an operation survives. The judge starts the program on what was left, and
//! checks that it finds these operations. What it does there is a history again, which can be cut
//! again.
//!
//! Faults are ordered in advance ([`SimulatedHome::fail_next`] and others). A failed `sync_data`
//! leaves the pages clean, and what is in them is never written: reads still return it, a second
//! `sync_data` succeeds, and a power failure takes it away.
//!
//! The disk may have a capacity ([`SimulatedHome::set_capacity`]): a write that makes a file longer
//! than there is room for fails with `ENOSPC`, after those bytes that fit.
//!
//! # Invariants
//!
//! - SIM-1 The order of the history is the order in which calls took effect.
//! - SIM-2 A sync is two steps. It makes sure what was written before it began; other threads, or
//!   [`SimulatedHome::while_syncing`], may write before it ends.
//! - SIM-3 An outcome has only bytes that were written to that place of that file, or zeros.

pub(crate) mod check;
pub(crate) mod choice;
pub(crate) mod fault;
pub(crate) mod history;
mod remains;
pub(crate) mod step;

use super::{DiskFile, HomeDir};
use fault::{CallKind, Fault, FaultPlan, PlannedFault};
use history::History;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use step::{DiskImage, FileNumber, Step};

/// Longer files are a mistake of the test.
const MAX_FILE_SIZE: u64 = 1 << 30;

/// A directory in memory. Clones are the same directory.
#[derive(Clone, Default)]
pub(crate) struct SimulatedHome {
    disk: Arc<Mutex<SimulatedDisk>>,
}

#[derive(Default)]
struct SimulatedDisk {
    names: BTreeMap<String, FileNumber>,
    /// The content as readers see it.
    files: Vec<Arc<Vec<u8>>>,
    history: History,
    faults: FaultPlan,
    while_syncing: Option<Box<dyn FnOnce() + Send>>,
    /// How often each file is open. One that has no name takes room for as long as it is.
    open: BTreeMap<FileNumber, usize>,
    /// The bytes of all files at most, if there is a limit.
    capacity: Option<u64>,
}

impl SimulatedHome {
    /// An empty directory.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A directory of files that are sure to be on the disk.
    pub(crate) fn from_image(start: DiskImage, acknowledged: Vec<u64>) -> Self {
        let disk = SimulatedDisk {
            names: start.keys().cloned().zip(0..).collect(),
            files: start.values().cloned().collect(),
            history: History {
                first_names: start.keys().cloned().collect(),
                start,
                acknowledged,
                steps: Vec::new(),
            },
            ..SimulatedDisk::default()
        };
        Self {
            disk: Arc::new(Mutex::new(disk)),
        }
    }

    /// Marks that a caller was informed that operation `n` survives.
    pub(crate) fn acknowledge(&self, n: u64) {
        self.lock().history.steps.push(Step::Acknowledged(n));
    }

    /// Returns all that happened until now.
    pub(crate) fn history(&self) -> History {
        self.lock().history.clone()
    }

    /// Returns all files as readers see them.
    pub(crate) fn image(&self) -> DiskImage {
        let disk = self.lock();
        let file = |(name, file): (&String, &FileNumber)| (name.clone(), disk.files[*file].clone());
        disk.names.iter().map(file).collect()
    }

    /// Returns the number of calls, of all kinds, that were made until now.
    pub(crate) fn calls(&self) -> usize {
        self.lock().faults.calls()
    }

    /// Lets the next call of this kind fail.
    pub(crate) fn fail_next(&self, kind: CallKind, fault: Fault) {
        self.fail_nth(Some(kind), 0, fault);
    }

    /// Lets a call of this kind, or of any, fail after `calls_before` that succeed.
    pub(crate) fn fail_nth(&self, kind: Option<CallKind>, calls_before: usize, fault: Fault) {
        self.plan(kind, calls_before, false, fault);
    }

    /// Lets all calls of this kind, or of any, fail after `calls_before` that succeed, until
    /// [`Self::stop_failing`].
    pub(crate) fn fail_from(&self, kind: Option<CallKind>, calls_before: usize, fault: Fault) {
        self.plan(kind, calls_before, true, fault);
    }

    fn plan(&self, kind: Option<CallKind>, calls_before: usize, lasts: bool, fault: Fault) {
        self.lock().faults.add(PlannedFault {
            kind,
            calls_before,
            lasts,
            fault,
        });
    }

    /// Forgets all faults that are still to come.
    pub(crate) fn stop_failing(&self) {
        self.lock().faults.clear();
    }

    /// Limits the bytes of all files, or lifts the limit.
    pub(crate) fn set_capacity(&self, capacity: Option<u64>) {
        self.lock().capacity = capacity;
    }

    /// Returns the bytes of all files that have a name or are open.
    pub(crate) fn used(&self) -> u64 {
        self.lock().used()
    }

    /// Runs `body` once, between the begin and the end of the next sync of a file or of the
    /// directory.
    pub(crate) fn while_syncing(&self, body: impl FnOnce() + Send + 'static) {
        self.lock().while_syncing = Some(Box::new(body));
    }

    fn lock(&self) -> MutexGuard<'_, SimulatedDisk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, number: FileNumber) -> Arc<dyn DiskFile> {
        *self.lock().open.entry(number).or_default() += 1;
        let home = self.clone();
        Arc::new(SimulatedFile { home, number })
    }

    fn sync_target(&self, kind: CallKind, file: Option<FileNumber>) -> io::Result<()> {
        let (begun, fault, body) = {
            let mut disk = self.lock();
            let fault = disk.faults.meet(kind);
            let begun = disk.history.steps.len();
            disk.history.steps.push(Step::SyncBegun { file });
            (begun, fault, disk.while_syncing.take())
        };
        match body {
            Some(body) => body(),
            None => std::thread::yield_now(),
        }
        let errno = fault.map(|fault| fault.errno);
        self.lock()
            .history
            .steps
            .push(Step::SyncEnded { file, begun, errno });
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

impl SimulatedDisk {
    /// Counts a call. Fails if it is to fail; then it changes nothing.
    fn begin(&mut self, kind: CallKind, describe: impl FnOnce() -> String) -> io::Result<()> {
        let Some(fault) = self.faults.meet(kind) else {
            return Ok(());
        };
        self.history.steps.push(Step::Failed {
            call: describe(),
            errno: fault.errno,
        });
        Err(fault.error())
    }

    fn used(&self) -> u64 {
        let is_used = |number: FileNumber| {
            self.open.contains_key(&number) || self.names.values().any(|named| *named == number)
        };
        let files = self.files.iter().enumerate();
        let used = files.filter(|(number, _)| is_used(*number));
        used.map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Returns how many of the bytes that are written at `offset` have room.
    fn fitting(&self, file: FileNumber, offset: u64, bytes: usize) -> usize {
        let Some(capacity) = self.capacity else {
            return bytes;
        };
        let longest = self.files[file].len() as u64 + capacity.saturating_sub(self.used());
        bytes.min(longest.saturating_sub(offset) as usize)
    }

    /// Writes bytes, or those before the fault.
    fn write(
        &mut self,
        file: FileNumber,
        bytes: &[u8],
        offset: u64,
        fault: Option<Fault>,
    ) -> io::Result<()> {
        let fitting = self.fitting(file, offset, bytes.len());
        let is_full = fitting < bytes.len();
        let fault = fault.or(is_full.then(|| Fault::after_bytes(libc::ENOSPC, fitting)));
        let written = fault.map_or(bytes.len(), |fault| fault.written.min(fitting));
        let bytes = &bytes[..written];
        let end = offset + bytes.len() as u64;
        assert!(end <= MAX_FILE_SIZE, "a file of {end} bytes");
        if !bytes.is_empty() {
            let content = Arc::make_mut(&mut self.files[file]);
            if content.len() < end as usize {
                content.resize(end as usize, 0);
            }
            content[offset as usize..end as usize].copy_from_slice(bytes);
        }
        self.history.steps.push(Step::Write {
            file,
            offset,
            bytes: bytes.into(),
            errno: fault.map(|fault| fault.errno),
        });
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }

    fn find(&self, name: &str) -> io::Result<FileNumber> {
        let file = self.names.get(name).copied();
        file.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }
}

fn assert_name(name: &str) {
    let is_name = !["", ".", ".."].contains(&name) && !name.contains(['/', '\0']);
    assert!(is_name, "not a name in a directory: {name:?}");
}

impl HomeDir for SimulatedHome {
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        assert_name(name);
        let number = {
            let mut disk = self.lock();
            disk.begin(CallKind::Open, || format!("open \"{name}\""))?;
            disk.find(name)?
        };
        Ok(self.file(number))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        assert_name(name);
        let number = {
            let mut disk = self.lock();
            disk.begin(CallKind::Create, || format!("create \"{name}\""))?;
            if disk.names.contains_key(name) {
                return Err(io::Error::from_raw_os_error(libc::EEXIST));
            }
            let file = disk.files.len();
            let name = name.to_string();
            disk.files.push(Arc::default());
            disk.names.insert(name.clone(), file);
            disk.history.first_names.push(name.clone());
            disk.history.steps.push(Step::Create { name, file });
            file
        };
        Ok(self.file(number))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        assert_name(from);
        assert_name(to);
        let mut disk = self.lock();
        disk.begin(CallKind::Rename, || {
            format!("rename \"{from}\" to \"{to}\"")
        })?;
        let file = disk.find(from)?;
        disk.names.remove(from);
        disk.names.insert(to.to_string(), file);
        let (from, to) = (from.to_string(), to.to_string());
        disk.history.steps.push(Step::Rename { from, to, file });
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        assert_name(name);
        let mut disk = self.lock();
        disk.begin(CallKind::Remove, || format!("remove \"{name}\""))?;
        disk.find(name)?;
        disk.names.remove(name);
        let name = name.to_string();
        disk.history.steps.push(Step::Remove { name });
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut disk = self.lock();
        disk.begin(CallKind::Names, || "read the names".to_string())?;
        Ok(disk.names.keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_target(CallKind::Sync, None)
    }
}

struct SimulatedFile {
    home: SimulatedHome,
    number: FileNumber,
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        let mut disk = self.home.lock();
        let number = self.number;
        disk.begin(CallKind::Len, || format!("length of file {number}"))?;
        Ok(disk.files[number].len() as u64)
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut disk = self.home.lock();
        let number = self.number;
        disk.begin(CallKind::Read, || format!("read file {number} at {offset}"))?;
        let bytes = &disk.files[number];
        let start = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let count = out.len().min(bytes.len() - start);
        out[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut disk = self.home.lock();
        let fault = disk.faults.meet(CallKind::Write);
        disk.write(self.number, bytes, offset, fault)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let mut disk = self.home.lock();
        let fault = disk.faults.meet(CallKind::Allocate);
        let had = disk.files[self.number].len() as u64;
        let zeroes = vec![0; len.saturating_sub(had) as usize];
        disk.write(self.number, &zeroes, had, fault)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.home.sync_target(CallKind::SyncData, Some(self.number))
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let mut disk = self.home.lock();
        if let Some(count) = disk.open.get_mut(&self.number) {
            *count -= 1;
            if *count == 0 {
                disk.open.remove(&self.number);
            }
        }
    }
}

/// Returns 1 in `make test-long`, which tries everything; otherwise the first number, or the second
/// under valgrind.
pub(crate) fn one_in(usual: usize, few: usize) -> usize {
    match std::env::var_os("TAVOLA_LONG") {
        Some(_) => 1,
        None => count_of(usual, few),
    }
}

/// Returns the first number, or the second under valgrind, which takes thirty times as long.
pub(crate) fn count_of(usual: usize, few: usize) -> usize {
    match std::env::var_os("TAVOLA_ONE_AT_A_TIME") {
        None => usual,
        Some(_) => few,
    }
}
