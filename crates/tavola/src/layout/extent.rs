//! Extents: runs of pages that belong to one object beside the keys: a queue
//! pool, a log, a journal, locks, or an area.
//!
//! An extent is filled while it is `BUILDING`, and exists by one store, of `LIVE`. So a builder
//! that dies leaves an entry that names it, and its pages are given back.
//!
//! | state | meaning | next state |
//! |---|---|---|
//! | `FREE` (0) | the entry is unused | `BUILDING` |
//! | `BUILDING` | `owner` fills the pages | `LIVE`, by its owner; `FREE`, if it failed or died |
//! | `LIVE` | everything in it is valid | none: it stays as long as the region |
//!
//! All stores but that of `LIVE` are made under the pool's lock.

use super::{Name, assert_layout};
use crate::sync::{Ordering, W32};

/// How many extents a region may have.
pub(crate) const EXTENTS: usize = 16;
/// The name of an extent: 96 bytes at most.
pub(crate) type ExtentName = Name<12>;

/// What an extent holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtentKind {
    QueuePool,
    Log,
    Journal,
    Locks,
    Area,
}

impl ExtentKind {
    pub(crate) const ALL: [Self; 5] = [
        Self::QueuePool,
        Self::Log,
        Self::Journal,
        Self::Locks,
        Self::Area,
    ];

    /// Returns the number that stands for the kind in an entry.
    fn code(self) -> u32 {
        match self {
            Self::QueuePool => 1,
            Self::Log => 2,
            Self::Journal => 3,
            Self::Locks => 4,
            Self::Area => 5,
        }
    }

    /// Returns the kind's name for error messages.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::QueuePool => "queue pool",
            Self::Log => "log",
            Self::Journal => "journal",
            Self::Locks => "set of locks",
            Self::Area => "area",
        }
    }
}

const FREE: u32 = 0;
const BUILDING: u32 = 1;
const LIVE: u32 = 2;

/// The entry of one extent.
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
    /// Its [`ExtentKind`].
    kind: W32,
    reserved: W32,
    pub(crate) name: ExtentName,
}
assert_layout!(Extent, size 128, {
    state: 0, owner: 4, first_page: 8, pages: 12, kind: 16, reserved: 20, name: 24,
});

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtentState {
    Free,
    Building {
        owner: u32,
    },
    Live,
    /// Not a state that is ever written.
    Damaged,
}

/// A run of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRun {
    pub(crate) first: u32,
    pub(crate) pages: u32,
}

impl PageRun {
    /// Returns one past the last page. Saturates, as the numbers may be damaged.
    pub(crate) fn end(self) -> u32 {
        self.first.saturating_add(self.pages)
    }

    pub(crate) fn contains(self, page: u32) -> bool {
        (self.first..self.end()).contains(&page)
    }
}

impl Extent {
    pub(crate) fn state(&self) -> ExtentState {
        // Pairs with the release in `publish`: a process that sees `LIVE` also sees the contents.
        match self.state.load(Ordering::Acquire) {
            FREE => ExtentState::Free,
            BUILDING => ExtentState::Building {
                owner: self.owner.load(Ordering::Relaxed),
            },
            LIVE => ExtentState::Live,
            _ => ExtentState::Damaged,
        }
    }

    /// Returns the kind, or `None` if the word is damaged or was never written.
    pub(crate) fn kind(&self) -> Option<ExtentKind> {
        let code = self.kind.load(Ordering::Relaxed);
        ExtentKind::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Returns whether the entry has this kind and this name.
    pub(crate) fn is(&self, kind: ExtentKind, name: &[u8]) -> bool {
        self.kind() == Some(kind) && self.name.is(name)
    }

    pub(crate) fn run(&self) -> PageRun {
        PageRun {
            first: self.first_page.load(Ordering::Relaxed),
            pages: self.pages.load(Ordering::Relaxed),
        }
    }

    /// Begins an extent. The caller holds the pool's lock.
    pub(crate) fn build(&self, owner: u32, run: PageRun, kind: ExtentKind, name: &[u8]) {
        let order = Ordering::Relaxed;
        self.owner.store(owner, order);
        self.first_page.store(run.first, order);
        self.pages.store(run.pages, order);
        self.kind.store(kind.code(), order);
        self.name.set(name);
        // The state comes last: if this process dies before it, the entry is still free.
        self.state.store(BUILDING, Ordering::Release);
    }

    /// Makes the extent `LIVE`; its builder has filled it.
    pub(crate) fn publish(&self) {
        self.state.store(LIVE, Ordering::Release);
    }

    /// Restores a damaged entry from what was found in the pages; the name is not damaged and
    /// stays.
    pub(crate) fn restore(&self, run: PageRun, kind: ExtentKind) {
        self.first_page.store(run.first, Ordering::Relaxed);
        self.pages.store(run.pages, Ordering::Relaxed);
        self.kind.store(kind.code(), Ordering::Relaxed);
        self.publish();
    }

    /// Frees the entry; its pages belong to the pool again.
    pub(crate) fn forget(&self) {
        self.state.store(FREE, Ordering::Release);
    }
}
