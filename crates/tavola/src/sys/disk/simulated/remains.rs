//! The bytes that are sure to be on the disk at a moment, and those that are not.
//!
//! The idea: a file is its sure bytes, plus for each sector that was written since a list of later
//! versions. A sync makes the newest version written before it began the sure one, and forgets the
//! older ones. A power failure picks one of sure and later, for each sector by itself.
//!
//! Names are the same with changes in place of sectors: a sync makes those before it sure, and a
//! power failure picks a subset of the others. A change happens only if all earlier changes that
//! concern one of its names have: no file system forgets the first of two changes of a name and
//! keeps the second. All other orders are possible, also those that ext4, xfs and btrfs exclude.
//!
//! After a failed sync, what was open when it failed stays open forever: the kernel takes the pages
//! for clean, so no later sync writes them. Only what is written again can become sure.

use super::choice::Choice;
use super::step::{DiskImage, FileNumber, Step};
use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::sync::Arc;

pub(crate) const SECTOR_SIZE: u64 = 512;

type SectorBytes = [u8; SECTOR_SIZE as usize];

#[derive(Clone)]
pub(super) struct Remains {
    files: Vec<FileRemains>,
    /// Names at the last sync.
    names: BTreeMap<String, FileNumber>,
    changes: Vec<NameChange>,
}

impl Remains {
    pub(super) fn new(start: &DiskImage) -> Self {
        let names = start.keys().cloned().zip(0..).collect();
        let files = start.values().map(FileRemains::of_sure).collect();
        let changes = Vec::new();
        Self {
            files,
            names,
            changes,
        }
    }

    /// Notes step `at`.
    pub(super) fn apply(&mut self, at: usize, step: &Step) {
        match step {
            Step::Create { name, file } => {
                assert_eq!(*file, self.files.len());
                self.files.push(FileRemains::default());
                self.change(at, vec![name.clone()], Some(*file));
            }
            Step::Rename { from, to, file } => {
                self.change(at, vec![to.clone(), from.clone()], Some(*file));
            }
            Step::Remove { name } => self.change(at, vec![name.clone()], None),
            Step::Write {
                file,
                offset,
                bytes,
                ..
            } => self.files[*file].write(at, *offset, bytes),
            Step::SyncEnded {
                file, begun, errno, ..
            } => match (file, errno) {
                (Some(file), None) => self.files[*file].sync(*begun),
                (Some(file), Some(_)) => self.files[*file].lost_before = at,
                (None, None) => self.sync_names(*begun),
                (None, Some(_)) => self.changes.iter_mut().for_each(|one| one.is_lost = true),
            },
            Step::SyncBegun { .. } | Step::Failed { .. } | Step::Acknowledged(_) => {}
        }
    }

    fn change(&mut self, at: usize, names: Vec<String>, file: Option<FileNumber>) {
        let is_lost = false;
        self.changes.push(NameChange {
            at,
            names,
            file,
            is_lost,
        });
    }

    /// Makes the changes before step `begun` sure, with all that they depend on.
    fn sync_names(&mut self, begun: usize) {
        let mut is_sure = vec![false; self.changes.len()];
        for (at, change) in self.changes.iter().enumerate().rev() {
            is_sure[at] = change.at < begun && !change.is_lost
                || (at + 1..is_sure.len())
                    .any(|later| is_sure[later] && self.changes[later].depends_on(change));
        }
        let mut is_sure = is_sure.into_iter();
        let names = &mut self.names;
        self.changes.retain(|change| {
            let sure = is_sure.next() == Some(true);
            if sure {
                change.apply(names);
            }
            !sure
        });
    }

    /// Decides what a power failure leaves now. `note` is given what was decided, for people.
    pub(super) fn leave(
        &self,
        choice: &mut dyn Choice,
        note: &mut dyn FnMut(Arguments<'_>),
    ) -> DiskImage {
        let mut names = self.names.clone();
        let mut happened: Vec<bool> = Vec::with_capacity(self.changes.len());
        for change in &self.changes {
            let is_possible = (happened.iter().zip(&self.changes))
                .all(|(happened, earlier)| *happened || !change.depends_on(earlier));
            let happens = is_possible && choice.pick(2) == 1;
            happened.push(happens);
            if happens {
                change.apply(&mut names);
            } else {
                note(format_args!("step {} is lost", change.at + 1));
            }
        }
        let mut leave_file = |(name, file): (String, FileNumber)| {
            let bytes = self.files[file].leave(choice, &mut |text| {
                note(format_args!("\"{name}\" (file {file}): {text}"));
            });
            (name, bytes)
        };
        names.into_iter().map(&mut leave_file).collect()
    }
}

/// A name changed: the first of `names` is the one that `file` has now, or that was removed.
#[derive(Clone)]
struct NameChange {
    at: usize,
    names: Vec<String>,
    file: Option<FileNumber>,
    is_lost: bool,
}

impl NameChange {
    fn depends_on(&self, earlier: &NameChange) -> bool {
        self.names.iter().any(|name| earlier.names.contains(name))
    }

    fn apply(&self, names: &mut BTreeMap<String, FileNumber>) {
        for name in &self.names {
            names.remove(name);
        }
        if let Some(file) = self.file {
            names.insert(self.names[0].clone(), file);
        }
    }
}

/// A file, sure and open.
#[derive(Clone, Default)]
struct FileRemains {
    /// May be longer than `sure_len` by a part of a sector.
    sure: Arc<Vec<u8>>,
    sure_len: u64,
    newest: Vec<u8>,
    /// The versions of each sector after the sure one, oldest first.
    open: BTreeMap<u64, Vec<SectorVersion>>,
    /// The end of each write that is not sure: steps and offsets.
    ends: Vec<(usize, u64)>,
    /// Of earlier steps, nothing becomes sure any more.
    lost_before: usize,
}

#[derive(Clone)]
struct SectorVersion {
    at: usize,
    bytes: Box<SectorBytes>,
}

impl FileRemains {
    fn of_sure(bytes: &Arc<Vec<u8>>) -> Self {
        Self {
            sure: bytes.clone(),
            sure_len: bytes.len() as u64,
            newest: bytes.to_vec(),
            ..Self::default()
        }
    }

    fn write(&mut self, at: usize, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len() as u64;
        if self.newest.len() < end as usize {
            self.newest.resize(end as usize, 0);
        }
        self.newest[offset as usize..end as usize].copy_from_slice(bytes);
        self.ends.push((at, end));
        for sector in offset / SECTOR_SIZE..end.div_ceil(SECTOR_SIZE) {
            let bytes = Box::new(sector_of(&self.newest, sector));
            let version = SectorVersion { at, bytes };
            self.open.entry(sector).or_default().push(version);
        }
    }

    fn sync(&mut self, begun: usize) {
        let lost_before = self.lost_before;
        let becomes_sure = |at: usize| (lost_before..begun).contains(&at);
        let sure = Arc::make_mut(&mut self.sure);
        self.open.retain(|sector, versions| {
            let Some(last) = versions.iter().rposition(|one| becomes_sure(one.at)) else {
                return true;
            };
            let start = (sector * SECTOR_SIZE) as usize;
            let end = start + SECTOR_SIZE as usize;
            if sure.len() < end {
                sure.resize(end, 0);
            }
            sure[start..end].copy_from_slice(&versions[last].bytes[..]);
            versions.drain(..=last);
            !versions.is_empty()
        });
        for (_, end) in self.ends.iter().filter(|(at, _)| becomes_sure(*at)) {
            self.sure_len = self.sure_len.max(*end);
        }
        self.ends.retain(|(_, end)| *end > self.sure_len);
    }

    fn leave(&self, choice: &mut dyn Choice, note: &mut dyn FnMut(Arguments<'_>)) -> Arc<Vec<u8>> {
        let lengths = self.likely_lengths();
        let len = match lengths.len() {
            1 => lengths[0],
            _ => choice.pick_length(&lengths),
        };
        let longest = lengths[lengths.len() - 1];
        if len < longest {
            note(format_args!("{len} bytes long instead of {longest}"));
        }
        if self.open.is_empty() && self.sure.len() as u64 == len {
            return self.sure.clone();
        }
        let mut bytes = self.sure.to_vec();
        bytes.resize(len as usize, 0);
        for (sector, versions) in &self.open {
            let start = (sector * SECTOR_SIZE) as usize;
            if start >= bytes.len() {
                break;
            }
            let end = bytes.len().min(start + SECTOR_SIZE as usize);
            let place = &mut bytes[start..end];
            let mut distinct: Vec<&SectorVersion> = Vec::new();
            for version in versions {
                let seen = &version.bytes[..place.len()];
                if *seen != *place && distinct.iter().all(|one| one.bytes[..place.len()] != *seen) {
                    distinct.push(version);
                }
            }
            if distinct.is_empty() {
                continue;
            }
            match choice.pick(distinct.len() + 1) {
                0 => note(format_args!("sector at {start} is the one of before")),
                picked => {
                    let version = distinct[picked - 1];
                    place.copy_from_slice(&version.bytes[..end - start]);
                    if picked < distinct.len() {
                        let step = version.at + 1;
                        note(format_args!("sector at {start} is the one of step {step}"));
                    }
                }
            }
        }
        Arc::new(bytes)
    }

    /// Returns lengths that the file may have, ascending: those that writes gave it, the ends of
    /// sectors in between, and one between each two of these.
    fn likely_lengths(&self) -> Vec<u64> {
        let newest = self.ends.iter().map(|(_, end)| *end).max();
        let newest = newest.unwrap_or(0).max(self.sure_len);
        let mut lengths = vec![self.sure_len, newest];
        lengths.extend(self.ends.iter().map(|(_, end)| *end));
        let first = self.sure_len / SECTOR_SIZE + 1;
        lengths.extend((first..newest.div_ceil(SECTOR_SIZE)).map(|sector| sector * SECTOR_SIZE));
        lengths.retain(|len| *len >= self.sure_len);
        lengths.sort_unstable();
        lengths.dedup();
        let between: Vec<u64> = (lengths.windows(2))
            .filter(|pair| pair[0] + 1 < pair[1])
            .map(|pair| pair[0].midpoint(pair[1]))
            .collect();
        lengths.extend(between);
        lengths.sort_unstable();
        lengths
    }
}

fn sector_of(bytes: &[u8], sector: u64) -> SectorBytes {
    let mut all = [0; SECTOR_SIZE as usize];
    let start = (sector * SECTOR_SIZE) as usize;
    let end = bytes.len().min(start + all.len());
    all[..end - start].copy_from_slice(&bytes[start..end]);
    all
}
