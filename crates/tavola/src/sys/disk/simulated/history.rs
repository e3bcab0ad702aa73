//! The history of a simulated disk: each call that changed something, in order, and what the
//! callers were promised.

use super::SimulatedHome;
use super::choice::Choice;
use super::remains::Remains;
use super::step::{DiskImage, FileNumber, Step};
use std::fmt;

/// All steps since a disk was as `start`.
#[derive(Clone, Default, Debug)]
pub(crate) struct History {
    pub(super) start: DiskImage,
    /// Acknowledged before the start.
    pub(super) acknowledged: Vec<u64>,
    pub(super) steps: Vec<Step>,
    /// The first name of each file.
    pub(super) first_names: Vec<String>,
}

impl History {
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns what a power failure may leave after the first `after` steps.
    ///
    /// A cut within a call needs no other number: a write whose power fails halfway is a write that
    /// is not synced, and a sync that did not return may have done any part of its work.
    pub(crate) fn cut(&self, after: usize, choice: &mut dyn Choice) -> SimulatedHome {
        let mut remains = Remains::new(&self.start);
        for (at, step) in self.steps[..after].iter().enumerate() {
            remains.apply(at, step);
        }
        let image = remains.leave(choice, &mut |_| {});
        SimulatedHome::from_image(image, self.acknowledged_by(after))
    }

    /// Returns the operations that were acknowledged before the first `after` steps were over.
    pub(crate) fn acknowledged_by(&self, after: usize) -> Vec<u64> {
        let mut all = self.acknowledged.clone();
        all.extend(self.steps[..after].iter().filter_map(|step| match step {
            Step::Acknowledged(n) => Some(*n),
            _ => None,
        }));
        all
    }

    /// Returns a step as a line for people.
    pub(super) fn describe(&self, step: &Step) -> String {
        let file = |file: &FileNumber| format!("file {file} (\"{}\")", self.first_names[*file]);
        let of = |of: &Option<FileNumber>| match of {
            Some(number) => file(number),
            None => "the directory".to_string(),
        };
        match step {
            Step::Create { name, file } => format!("create \"{name}\", file {file}"),
            Step::Rename { from, to, .. } => format!("rename \"{from}\" to \"{to}\""),
            Step::Remove { name } => format!("remove \"{name}\""),
            Step::Write {
                file: number,
                offset,
                bytes,
                errno,
            } => {
                let end = offset + bytes.len() as u64;
                let failed = failure(*errno);
                format!("write {} bytes {offset} to {end}{failed}", file(number))
            }
            Step::SyncBegun { file } => format!("begin to sync {}", of(file)),
            Step::SyncEnded {
                file, begun, errno, ..
            } => {
                let failed = failure(*errno);
                format!("end the sync of {} of step {}{failed}", of(file), begun + 1)
            }
            Step::Failed { call, errno } => format!("{call}{}", failure(Some(*errno))),
            Step::Acknowledged(n) => format!("acknowledge operation {n}"),
        }
    }
}

fn failure(errno: Option<i32>) -> String {
    errno.map_or(String::new(), |errno| {
        format!(
            ", which fails: {}",
            std::io::Error::from_raw_os_error(errno)
        )
    })
}

impl fmt::Display for History {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bytes) in &self.start {
            writeln!(out, "  before: \"{name}\", {} bytes", bytes.len())?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            writeln!(out, "{:>5}  {}", at + 1, self.describe(step))?;
        }
        Ok(())
    }
}
