//! The report of a check.

/// How many problems are described in words; further ones are only counted.
const MOST_DESCRIBED: usize = 100;

/// The findings of [`Table::check`](crate::Table::check).
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The number of keys found.
    pub keys: u64,
    /// Bytes of the blocks, segments and large pages that the index leads to.
    pub bytes_reachable: u64,
    /// Bytes of the blocks, segments and large pages that are marked as in use.
    pub bytes_in_use: u64,
    /// The problems, as sentences; at most 100.
    pub problems: Vec<String>,
    /// The number of problems.
    pub problem_count: u64,
    /// Whether the file was copied with a tool such as `cp`, `mv` to another file system or a
    /// snapshot while a process was attached to the original. A value may then mix the bytes of two
    /// writes, which no check or repair can detect: restore the data from another source, and make
    /// copies with [`Table::copy_to`](crate::Table::copy_to). This does not count as a problem. If
    /// no process wrote during the copy, the values are correct.
    pub copied_in_use: bool,
}

impl CheckReport {
    /// Returns whether there are no problems.
    pub fn is_clean(&self) -> bool {
        self.problem_count == 0
    }

    pub(crate) fn problem(&mut self, what: impl FnOnce() -> String) {
        self.problem_count += 1;
        if self.problems.len() < MOST_DESCRIBED {
            self.problems.push(what());
        }
    }

    pub(super) fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.problem(what);
        }
    }
}
