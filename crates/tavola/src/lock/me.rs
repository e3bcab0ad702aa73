//! Who this process is in a table.

/// The participant that this process is: it stands in the locks that the process holds and in the
/// words of what it has in hand. Only [`Membership`](super::Membership) gives it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Me(u32);

impl Me {
    /// Of a process that only looks, and is no participant.
    pub(crate) const NOBODY: Self = Self(0);

    #[inline(always)]
    pub(super) const fn new(id: u32) -> Self {
        Self(id)
    }

    /// A thread of a model that plays a process of its own.
    #[cfg(all(test, feature = "shuttle"))]
    pub(crate) const fn played(id: u32) -> Self {
        Self(id)
    }

    /// Whether the process is a participant.
    #[inline(always)]
    pub(crate) const fn is_attached(self) -> bool {
        self.0 != 0
    }

    /// As it stands in shared words.
    #[inline(always)]
    pub(crate) const fn id(self) -> u32 {
        self.0
    }
}
