//! The identity of this process in a table.

/// The participant that this process is. Its number is in the locks that the process holds, and in
/// the words of pages, elements and records that it owns. Only [`Membership`](super::Membership)
/// creates it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Me(u32);

impl Me {
    /// The value for a process that only reads, and is not a participant.
    pub(crate) const NOBODY: Self = Self(0);

    #[inline(always)]
    pub(super) const fn new(id: u32) -> Self {
        Self(id)
    }

    /// Returns the identity of a model's thread that plays a process of its own.
    #[cfg(all(test, feature = "shuttle"))]
    pub(crate) const fn played(id: u32) -> Self {
        Self(id)
    }

    /// Returns whether the process is a participant.
    #[inline(always)]
    pub(crate) const fn is_attached(self) -> bool {
        self.0 != 0
    }

    /// Returns the number that is stored in shared words.
    #[inline(always)]
    pub(crate) const fn id(self) -> u32 {
        self.0
    }
}
