//! Requests that a connection owes an answer.

/// A request that was written and is not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Its index in the batch; of no meaning for a fence.
    pub(crate) index: usize,
    pub(crate) kind: ReplyKind,
    pub(crate) opaque: u64,
    /// Where in the stream it begins.
    pub(crate) start: u64,
}

/// When a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    /// Always.
    Loud,
    /// A get, if the key is there.
    Quiet,
    /// A get in a line of several, if the key is there.
    InLine,
    /// Always: the end of the answers to such a line.
    LineEnd,
    /// Never.
    Silent,
    /// Never; what the thread held, all of it, of which each was reported before.
    Held,
    /// Always; it shows that all before it is carried out.
    Fence,
}

impl ReplyKind {
    /// Whether an answer comes in any case.
    pub(crate) fn is_certain(self) -> bool {
        matches!(self, Self::Loud | Self::Fence | Self::LineEnd)
    }

    /// Whether it is the end of something, and belongs to no request of the batch.
    pub(crate) fn is_end(self) -> bool {
        matches!(self, Self::Fence | Self::LineEnd)
    }

    /// Whether only a hit is answered.
    pub(crate) fn is_quiet(self) -> bool {
        matches!(self, Self::Quiet | Self::InLine)
    }
}
