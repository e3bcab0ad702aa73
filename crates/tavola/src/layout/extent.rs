//! Extents: runs of pages that something beside the table has whole, a pool of queues or a log.
//!
//! | state | written by | next state |
//! |---|---|---|
//! | `FREE` (0) | nobody has it | `BUILDING` |
//! | `BUILDING` | the pool's lock holder, for `owner`, who fills it | `LIVE`; `FREE` if it died |
//! | `LIVE` | its builder, when everything is there | none: it stays as long as the region |
//!
//! All but the store of `LIVE` is done under the pool's lock.

use super::{Name, assert_layout};
use crate::sync::{Ordering, W32};

/// How many a region may have.
pub(crate) const EXTENTS: usize = 16;
/// What it is called: 96 bytes at most.
pub(crate) type ExtentName = Name<12>;

/// What an extent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtentKind {
    QueuePool,
    Log,
}

impl ExtentKind {
    pub(crate) const ALL: [Self; 2] = [Self::QueuePool, Self::Log];

    /// As it stands in an entry.
    fn code(self) -> u32 {
        match self {
            Self::QueuePool => 1,
            Self::Log => 2,
        }
    }

    /// What it is called in errors.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::QueuePool => "queue pool",
            Self::Log => "log",
        }
    }
}

const FREE: u32 = 0;
const BUILDING: u32 = 1;
const LIVE: u32 = 2;

/// Where one extent is, and what.
#[repr(C, align(64))]
pub(crate) struct Extent {
    /// `FREE`, `BUILDING` or `LIVE`.
    state: W32,
    /// The participant that builds it.
    owner: W32,
    /// Its first page.
    first_page: W32,
    /// Its pages.
    pages: W32,
    /// What it is: an [`ExtentKind`].
    kind: W32,
    reserved: W32,
    pub(crate) name: ExtentName,
}
assert_layout!(Extent, size 128, {
    state: 0, owner: 4, first_page: 8, pages: 12, kind: 16, reserved: 20, name: 24,
});

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtentState {
    Free,
    Building {
        owner: u32,
    },
    Live,
    /// No state that is ever written.
    Damaged,
}

/// A run of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u32,
    pub(crate) pages: u32,
}

impl Run {
    /// One past its last page; a damaged run ends nowhere.
    pub(crate) fn end(self) -> u32 {
        self.first.saturating_add(self.pages)
    }

    pub(crate) fn contains(self, page: u32) -> bool {
        (self.first..self.end()).contains(&page)
    }
}

impl Extent {
    pub(crate) fn state(&self) -> ExtentState {
        // Pairs with the release in `publish`: who sees it live sees what is in it.
        match self.state.load(Ordering::Acquire) {
            FREE => ExtentState::Free,
            BUILDING => ExtentState::Building {
                owner: self.owner.load(Ordering::Relaxed),
            },
            LIVE => ExtentState::Live,
            _ => ExtentState::Damaged,
        }
    }

    /// `None`: the word was damaged, or nothing was ever here.
    pub(crate) fn kind(&self) -> Option<ExtentKind> {
        let code = self.kind.load(Ordering::Relaxed);
        ExtentKind::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Whether it has that kind and that name.
    pub(crate) fn is(&self, kind: ExtentKind, name: &[u8]) -> bool {
        self.kind() == Some(kind) && self.name.is(name)
    }

    pub(crate) fn run(&self) -> Run {
        Run {
            first: self.first_page.load(Ordering::Relaxed),
            pages: self.pages.load(Ordering::Relaxed),
        }
    }

    /// Begins an extent. The pool's lock is held.
    pub(crate) fn build(&self, owner: u32, run: Run, kind: ExtentKind, name: &[u8]) {
        let order = Ordering::Relaxed;
        self.owner.store(owner, order);
        self.first_page.store(run.first, order);
        self.pages.store(run.pages, order);
        self.kind.store(kind.code(), order);
        self.name.set(name);
        // The state last: whoever finds us dead before finds nothing.
        self.state.store(BUILDING, Ordering::Release);
    }

    /// Its builder has filled it.
    pub(crate) fn publish(&self) {
        self.state.store(LIVE, Ordering::Release);
    }

    /// What it is was found out without it; its name stays.
    pub(crate) fn restore(&self, run: Run, kind: ExtentKind) {
        self.first_page.store(run.first, Ordering::Relaxed);
        self.pages.store(run.pages, Ordering::Relaxed);
        self.kind.store(kind.code(), Ordering::Relaxed);
        self.publish();
    }

    /// Its pages are the pool's again.
    pub(crate) fn forget(&self) {
        self.state.store(FREE, Ordering::Release);
    }
}
