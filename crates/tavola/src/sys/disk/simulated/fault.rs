//! Faults on order: the n-th call of a kind fails.

use std::io;

/// The calls of `HomeDir` and `DiskFile`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallKind {
    Open,
    Create,
    Rename,
    Remove,
    Names,
    Sync,
    Len,
    Read,
    Write,
    SyncData,
    Allocate,
}

impl CallKind {
    pub(crate) const ALL: [CallKind; 11] = [
        CallKind::Open,
        CallKind::Create,
        CallKind::Rename,
        CallKind::Remove,
        CallKind::Names,
        CallKind::Sync,
        CallKind::Len,
        CallKind::Read,
        CallKind::Write,
        CallKind::SyncData,
        CallKind::Allocate,
    ];
}

/// How a call fails: with an error number, and for a write after so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) errno: i32,
    pub(crate) written: usize,
}

impl Fault {
    pub(crate) fn new(errno: i32) -> Self {
        let written = 0;
        Self { errno, written }
    }

    /// A write that fails after `written` bytes.
    pub(crate) fn after_bytes(errno: i32, written: usize) -> Self {
        Self { errno, written }
    }

    pub(super) fn error(self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

/// The faults that are still to come.
#[derive(Default)]
pub(super) struct FaultPlan {
    planned: Vec<PlannedFault>,
    calls: usize,
}

pub(super) struct PlannedFault {
    /// Any call if there is no kind.
    pub(super) kind: Option<CallKind>,
    /// Calls of this kind that succeed before.
    pub(super) calls_before: usize,
    pub(super) lasts: bool,
    pub(super) fault: Fault,
}

impl FaultPlan {
    pub(super) fn add(&mut self, planned: PlannedFault) {
        self.planned.push(planned);
    }

    pub(super) fn clear(&mut self) {
        self.planned.clear();
    }

    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    /// Counts a call. Returns the fault that it meets, if there is one.
    pub(super) fn meet(&mut self, kind: CallKind) -> Option<Fault> {
        self.calls += 1;
        let mut met = None;
        self.planned.retain_mut(|planned| {
            if planned.kind.is_some_and(|of| of != kind) {
                return true;
            }
            if planned.calls_before > 0 {
                planned.calls_before -= 1;
                return true;
            }
            met = met.or(Some(planned.fault));
            planned.lasts
        });
        met
    }
}
