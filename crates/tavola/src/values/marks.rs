//! Bits beside a key for programs that serve a table.

pub(crate) const MARKS: u32 = (1 << 24) - 1;

/// A change of the marks of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The marks to clear.
    pub clear: u32,
    /// The marks to set, after clearing.
    pub set: u32,
}

impl Marks {
    /// Sets exactly these marks and clears all others.
    pub fn only(set: u32) -> Self {
        Self { clear: MARKS, set }
    }

    pub(crate) fn of(self, had: u32) -> u32 {
        had & !self.clear | self.set
    }
}
