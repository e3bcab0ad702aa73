//! The accused: a small durable list, with a log and snapshots, that can make each of the classic
//! mistakes.
//!
//! The list is in memory. `log-P` has the records from position P on, `snapshot-P` all values
//! before it. A record is its length, its position, a checksum of both and of the body, the body.
//! A snapshot is a file that is written, synced, renamed, and whose name is synced; then the log is
//! renamed for the positions that follow, and is written over from its beginning.
//!
//! After an error the log refuses all changes. A restart reads what is there, writes it again (what
//! a failed sync left in memory is not on the disk) with zeros behind it, and continues.

use super::super::simulated::SimulatedHome;
use super::super::{DiskFile, HomeDir};
use std::io;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    AcknowledgeBeforeSync,
    RenameBeforeSync,
    NoSyncOfNewName,
    RemoveBeforeSyncOfName,
    AppendBehindTornTail,
    KeepTornTail,
    NoChecksum,
    NoPosition,
    SyncAgainAfterFailure,
    TrustCacheAfterFailure,
    AcknowledgeByEarlierSync,
}

pub(super) struct ToyLog {
    home: SimulatedHome,
    mistake: Option<Mistake>,
    pub(super) values: Vec<Vec<u8>>,
    /// The position of the first byte of the log, and of the byte behind its last record.
    start: u64,
    tail: u64,
    log: Arc<dyn DiskFile>,
    pub(super) has_failed: bool,
}

const HEAD: usize = 24;

impl ToyLog {
    /// Reads what there is. Fails if it is damaged.
    pub(super) fn open(home: &SimulatedHome, mistake: Option<Mistake>) -> Result<ToyLog, String> {
        Self::try_open(home, mistake).map_err(|error| error.to_string())
    }

    fn try_open(home: &SimulatedHome, mistake: Option<Mistake>) -> io::Result<ToyLog> {
        let names = home.names()?;
        let position = |name: &String| name.strip_prefix("snapshot-")?.parse::<u64>().ok();
        let newest = names.iter().filter_map(position).max();
        let start = newest.unwrap_or(0);
        let log_name = format!("log-{start}");
        let log = if names.contains(&log_name) {
            home.open(&log_name)?
        } else {
            let log = home.create(&log_name)?;
            if mistake != Some(Mistake::NoSyncOfNewName) {
                home.sync()?;
            }
            log
        };
        let mut opened = ToyLog {
            home: home.clone(),
            mistake,
            values: Vec::new(),
            start,
            tail: start,
            log,
            has_failed: false,
        };
        if newest.is_some() {
            opened.read_snapshot(&format!("snapshot-{start}"))?;
        }
        opened.read_log()?;
        opened.remove_leftovers(&names)?;
        Ok(opened)
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn read_snapshot(&mut self, name: &str) -> io::Result<()> {
        let bytes = read_all(&*self.home.open(name)?)?;
        let mut at = 0;
        while let Some((body, len)) = self.record_at(&bytes[at..], at as u64) {
            self.values.push(body);
            at += len;
        }
        // An empty record is the end.
        match bytes.len() == at + HEAD && bytes[at..].iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(io::Error::other(format!("{name} is damaged at byte {at}"))),
        }
    }

    fn read_log(&mut self) -> io::Result<()> {
        let mut bytes = read_all(&*self.log)?;
        let mut at = 0;
        while let Some((body, len)) = self.record_at(&bytes[at..], self.start + at as u64) {
            self.values.push(body);
            at += len;
        }
        self.tail = self.start + at as u64;
        match self.mistake {
            Some(Mistake::AppendBehindTornTail) => self.tail = self.start + bytes.len() as u64,
            Some(Mistake::KeepTornTail) => {}
            Some(Mistake::TrustCacheAfterFailure) => {
                bytes[at..].fill(0);
                self.log.write_all_at(&bytes[at..], at as u64)?;
                self.log.sync_data()?;
            }
            _ => {
                bytes[at..].fill(0);
                self.log.write_all_at(&bytes, 0)?;
                self.log.sync_data()?;
            }
        }
        Ok(())
    }

    fn remove_leftovers(&self, names: &[String]) -> io::Result<()> {
        let kept = [
            format!("log-{}", self.start),
            format!("snapshot-{}", self.start),
        ];
        let mut left = names.iter().filter(|name| !kept.contains(name)).peekable();
        if left.peek().is_some() {
            self.home.sync()?;
        }
        left.try_for_each(|name| self.home.remove(name))
    }

    /// Returns the body of a record, and the record's length, if there is one that fits.
    fn record_at(&self, bytes: &[u8], position: u64) -> Option<(Vec<u8>, usize)> {
        let head = bytes.get(..HEAD)?;
        let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
        let len = usize::try_from(word(0)).ok().filter(|len| *len > 0)?;
        let body = bytes.get(HEAD..HEAD.checked_add(len)?)?;
        if word(8) != position && !self.makes(Mistake::NoPosition) {
            return None;
        }
        if word(16) != self.checksum(body, position) && !self.makes(Mistake::NoChecksum) {
            return None;
        }
        Some((body.to_vec(), HEAD + len))
    }

    fn record(&self, body: &[u8], position: u64) -> Vec<u8> {
        let words = [body.len() as u64, position, self.checksum(body, position)];
        let mut record: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        record.extend_from_slice(body);
        record
    }

    fn checksum(&self, body: &[u8], position: u64) -> u64 {
        let position = match self.makes(Mistake::NoPosition) {
            true => 0,
            false => position,
        };
        let words = body.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let mix =
            |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ sum >> 29;
        words.fold(mix(body.len() as u64 + 1, position), mix)
    }

    /// Appends a value, and acknowledges it. Fails if it may not survive.
    pub(super) fn append(&mut self, body: Vec<u8>) -> io::Result<()> {
        self.check_state()?;
        let record = self.record(&body, self.tail);
        self.write(&record, self.tail)?;
        if self.makes(Mistake::AcknowledgeBeforeSync) {
            self.add(body, &record);
            self.acknowledge_all();
            return self.sync();
        }
        self.sync()?;
        self.add(body, &record);
        self.acknowledge_all();
        Ok(())
    }

    /// Appends two values; the second is written while the first is being synced.
    pub(super) fn append_pair(&mut self, first: Vec<u8>, second: Vec<u8>) -> io::Result<()> {
        self.check_state()?;
        let record = self.record(&first, self.tail);
        self.write(&record, self.tail)?;
        self.add(first, &record);
        let record = self.record(&second, self.tail);
        let (log, at) = (self.log.clone(), self.tail - self.start);
        let bytes = record.clone();
        let write = move || log.write_all_at(&bytes, at).unwrap();
        self.home.while_syncing(write);
        self.sync()?;
        if !self.makes(Mistake::AcknowledgeByEarlierSync) {
            self.acknowledge_all();
            self.sync()?;
        }
        self.add(second, &record);
        self.acknowledge_all();
        Ok(())
    }

    fn check_state(&self) -> io::Result<()> {
        match self.has_failed {
            true => Err(io::Error::other("refused after an error")),
            false => Ok(()),
        }
    }

    fn write(&mut self, record: &[u8], position: u64) -> io::Result<()> {
        let written = self.log.write_all_at(record, position - self.start);
        self.has_failed |= written.is_err();
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut synced = self.log.sync_data();
        if synced.is_err() && self.makes(Mistake::SyncAgainAfterFailure) {
            synced = self.log.sync_data();
        }
        self.has_failed |= synced.is_err();
        synced
    }

    fn add(&mut self, body: Vec<u8>, record: &[u8]) {
        self.values.push(body);
        self.tail += record.len() as u64;
    }

    fn acknowledge_all(&self) {
        self.home.acknowledge(self.values.len() as u64 - 1);
    }

    /// Writes all values to a new snapshot, and begins a new log in the file of the old one.
    pub(super) fn snapshot(&mut self) -> io::Result<()> {
        self.check_state()?;
        if self.tail == self.start {
            return Ok(());
        }
        let done = self.try_snapshot();
        self.has_failed |= done.is_err();
        done
    }

    fn try_snapshot(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        for value in &self.values {
            bytes.extend(self.record(value, bytes.len() as u64));
        }
        bytes.extend([0; HEAD]);
        let file = self.home.create("snapshot.new")?;
        file.write_all_at(&bytes, 0)?;
        if !self.makes(Mistake::RenameBeforeSync) {
            file.sync_data()?;
        }
        let snapshot = |position: u64| format!("snapshot-{position}");
        let (old, new) = (self.start, self.tail);
        self.home.rename("snapshot.new", &snapshot(new))?;
        if self.makes(Mistake::RenameBeforeSync) {
            file.sync_data()?;
        }
        let has_old = self.home.names()?.contains(&snapshot(old));
        if has_old && self.makes(Mistake::RemoveBeforeSyncOfName) {
            self.home.remove(&snapshot(old))?;
        }
        self.home.sync()?;
        self.home
            .rename(&format!("log-{old}"), &format!("log-{new}"))?;
        if has_old && !self.makes(Mistake::RemoveBeforeSyncOfName) {
            self.home.remove(&snapshot(old))?;
        }
        self.home.sync()?;
        self.start = new;
        Ok(())
    }
}

fn read_all(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; file.len()? as usize];
    let count = file.read_at(&mut bytes, 0)?;
    bytes.truncate(count);
    Ok(bytes)
}
