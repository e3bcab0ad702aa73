//! Extents: runs of pages beside the table, taken above the high-water mark in one piece. Queue
//! pools and logs are in extents.
//!
//! The entry of an extent names the participant that builds it, or says that it is complete. Its
//! pages have the word `Extent(number)` from when the high-water mark rises above them. If the
//! builder dies, the pages go back to the pool unbacked ([`forget_extents_of`]). Entries and these
//! words change under the pool's lock, except for the one store that publishes.

use super::capacity::room;
use super::pool::{FULL_SIZE, back_words, lock, push_unbacked, unused_from};
use crate::error::{Error, Result, corrupt};
use crate::layout::{
    EXTENTS, Extent, ExtentKind, ExtentState, PAGE, PageRun, PageWord, area_len, record_off,
};
use crate::lock::{Me, PoolLock, is_alive};
use crate::region::{Region, no_room};
use crate::sync::Ordering;

/// Bytes that one call backs.
const STEP: u64 = 16 << 20;
/// Pages that are given back under one hold of the pool's lock, and by one call.
const BATCH: u32 = 256;
/// Such batches that are given back at a time: a process does it beside its own work.
const BATCHES: u32 = 16;

/// An extent that is being built. Dropping it gives all its pages back unless it was published.
pub(crate) struct Building<'a> {
    region: &'a Region,
    me: Me,
    number: u32,
    /// Its pages.
    pub(crate) run: PageRun,
    is_published: bool,
}

/// Returns offset and length in bytes of the extent of that kind and name, or `None` if there is
/// none.
pub(crate) fn find_extent(
    region: &Region,
    kind: ExtentKind,
    name: &[u8],
) -> Result<Option<(u64, u64)>> {
    let mut all = (0..).zip(region.extents());
    // The state first: entries that are not live may have any content.
    let found = all.find(|(_, e)| e.state() == ExtentState::Live && e.is(kind, name));
    let Some((number, extent)) = found else {
        return Ok(None);
    };
    region.reaches_high_water();
    let run = extent.run();
    let own = (PageWord::Extent { number }).encode();
    let is_own = |page| region.page_word(page).load(Ordering::Relaxed) == own;
    if !region.is_run(run) || !(run.first..run.end()).all(is_own) {
        return region.damaged("the place of an object beside the table");
    }
    Ok(Some(region.span_of(run)))
}

/// Returns the names of all complete extents of that kind.
pub(crate) fn extent_names(region: &Region, kind: ExtentKind) -> Vec<Vec<u8>> {
    let all = region.extents().iter();
    all.filter(|e| e.state() == ExtentState::Live && e.kind() == Some(kind))
        .map(|e| e.name.get())
        .collect()
}

/// Builds an extent: takes its pages and backs them by memory. Call without locks.
///
/// # Errors
/// [`Error::AlreadyThere`]; [`Error::Full`] if there is no run of that many pages, no room in the
/// file system, or no number left.
pub(crate) fn build_extent<'a>(
    region: &'a Region,
    me: Me,
    kind: ExtentKind,
    name: &[u8],
    bytes: u64,
) -> Result<Building<'a>> {
    let Ok(pages) = u32::try_from(bytes.div_ceil(PAGE)) else {
        return Err(Error::Full { reason: FULL_SIZE });
    };
    let building = claim(region, me, kind, name, pages)?;
    let (offset, len) = region.span_of(building.run);
    for at in (0..len).step_by(STEP as usize) {
        region
            .allocate(offset + at, STEP.min(len - at))
            .map_err(no_room)?;
    }
    Ok(building)
}

/// The result of a search for a number and a run of pages.
enum Candidate {
    At {
        number: u32,
        run: PageRun,
    },
    Taken,
    /// Its builder is dead.
    Abandoned {
        number: u32,
        builder: u32,
    },
    Damaged,
    NoNumber,
    NoRun,
    /// The page table has to be backed from there on.
    Unbacked {
        from: u32,
    },
    /// The capacity of the cache is too small.
    Over,
}

fn claim<'a>(
    region: &'a Region,
    me: Me,
    kind: ExtentKind,
    name: &[u8],
    pages: u32,
) -> Result<Building<'a>> {
    let full = |reason| Err(Error::Full { reason });
    loop {
        let lock = lock(region, me)?;
        match place(&lock, kind, name, pages) {
            Candidate::At { run, .. } if !region.maps(run.end()) => {
                return Err(region.out_of_reach());
            }
            Candidate::At { number, run } => {
                take(&lock, number, run, |extent| {
                    extent.build(me.id(), run, kind, name)
                });
                return Ok(Building {
                    region,
                    me,
                    number,
                    run,
                    is_published: false,
                });
            }
            Candidate::Unbacked { from } => {
                drop(lock);
                back_words(region, me, from)?;
            }
            Candidate::Abandoned { number, builder } => {
                drop(lock);
                while !forget(region, me, number, builder)? {}
            }
            Candidate::Damaged => return corrupt("the entry of an object beside the table"),
            Candidate::NoRun => return full(FULL_SIZE),
            Candidate::Over => {
                return full("the capacity of the cache is too small for it; raise the capacity");
            }
            Candidate::NoNumber => {
                return full(
                    "the table already has 16 queue pools, logs and areas, the maximum; use \
                    another table",
                );
            }
            Candidate::Taken => {
                drop(lock);
                return Err(Error::AlreadyThere {
                    what: kind.what(),
                    name: String::from_utf8_lossy(name).into_owned(),
                });
            }
        }
    }
}

/// Searches for a free number, and for a run of pages that were never used.
fn place(lock: &PoolLock<'_>, kind: ExtentKind, name: &[u8], pages: u32) -> Candidate {
    let region = lock.region;
    let mut free = None;
    for (number, extent) in (0..).zip(region.extents()) {
        let is_it = extent.is(kind, name);
        match extent.state() {
            ExtentState::Free => free = free.or(Some(number)),
            ExtentState::Building { owner } if !is_alive(region, owner, lock.me) => {
                let builder = owner;
                return Candidate::Abandoned { number, builder };
            }
            ExtentState::Damaged if is_it => return Candidate::Damaged,
            _ if is_it => return Candidate::Taken,
            _ => {}
        }
    }
    let Some(number) = free else {
        return Candidate::NoNumber;
    };
    if room(region) < pages {
        return Candidate::Over;
    }
    let mut first = unused_from(region);
    loop {
        let run = PageRun { first, pages };
        if run.end() > region.limit() {
            return Candidate::NoRun;
        }
        let backed = region.pool().backed_words.load(Ordering::Relaxed);
        if run.end() > backed {
            return Candidate::Unbacked { from: backed };
        }
        // The words above the high-water mark are 0, unless it was damaged.
        let is_used = |page: &u32| region.page_word(*page).load(Ordering::Relaxed) != 0;
        match (run.first..run.end()).rev().find(is_used) {
            Some(page) => first = page + 1,
            None => return Candidate::At { number, run },
        }
    }
}

/// Takes the pages. The entry first: a process that steals the lock from us undoes what the entry
/// describes.
fn take(lock: &PoolLock<'_>, number: u32, run: PageRun, build: impl FnOnce(&Extent)) {
    let region = lock.region;
    build(&region.extents()[number as usize]);
    let word = PageWord::Extent { number }.encode();
    for page in run.first..run.end() {
        region.page_word(page).store(word, Ordering::Relaxed);
    }
    region.pool().extent_pages.add_owned(run.pages);
    region.pool().high_water.store(run.end(), Ordering::Release);
}

impl Building<'_> {
    /// Publishes the extent, after its content is complete: other processes find it from now on.
    pub(crate) fn publish(mut self) {
        self.region.extents()[self.number as usize].publish();
        self.is_published = true;
    }
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        // After a panic, or without the lock (refused to a signal handler's write), the pages wait
        // until this process ends.
        if !self.is_published && !std::thread::panicking() {
            while let Ok(false) = forget(self.region, self.me, self.number, self.me.id()) {}
        }
    }
}

/// Gives back what a dead participant was building. Returns false if there is more of it.
pub(super) fn forget_extents_of(region: &Region, me: Me, dead: u32) -> Result<bool> {
    for number in 0..EXTENTS as u32 {
        if !forget(region, me, number, dead)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives back pages of an extent that this participant builds. Several processes may do so at once,
/// as each page is claimed by one of them. Returns false if there is more of it.
fn forget(region: &Region, me: Me, number: u32, builder: u32) -> Result<bool> {
    for _ in 0..BATCHES {
        let batch = claim_from(region, me, number, builder)?;
        let Some((first, count)) = batch else {
            return Ok(true);
        };
        // If the file system cannot punch, they are unbacked pages that still occupy memory.
        let _ = region.punch(u64::from(first) * PAGE, u64::from(count) * PAGE);
        let lock = lock(region, me)?;
        (first..first + count).for_each(|page| push_unbacked(&lock, page));
    }
    Ok(false)
}

/// Claims some adjacent pages that still are the extent's. Returns `None` if there are none left
/// and the entry is now free, or if the entry is not this builder's.
fn claim_from(region: &Region, me: Me, number: u32, builder: u32) -> Result<Option<(u32, u32)>> {
    let _lock = lock(region, me)?;
    let extent = &region.extents()[number as usize];
    if extent.state() != (ExtentState::Building { owner: builder }) {
        return Ok(None);
    }
    let run = extent.run();
    let own = (PageWord::Extent { number }).encode();
    let is_own = |page: u32| region.page_word(page).load(Ordering::Relaxed) == own;
    let pages = if region.is_run(run) {
        run.first..run.end()
    } else {
        0..0
    };
    let Some(first) = pages.clone().find(|page| is_own(*page)) else {
        extent.forget();
        return Ok(None);
    };
    let mut end = first;
    while end < pages.end && end - first < BATCH && is_own(end) {
        let claimed = PageWord::Claimed { owner: me.id() }.encode();
        region.page_word(end).store(claimed, Ordering::Relaxed);
        end += 1;
    }
    region.pool().extent_pages.sub_owned(end - first);
    Ok(Some((first, end - first)))
}

/// The extents of a region at one moment, with which a check compares pages. Created under the
/// pool's lock.
pub(crate) struct Extents([Option<PageRun>; EXTENTS]);

impl Extents {
    /// Collects those that are complete or are being built by a living participant.
    pub(crate) fn of(region: &Region, me: Me) -> Self {
        Self(core::array::from_fn(|number| {
            let extent = &region.extents()[number];
            let is_there = match extent.state() {
                ExtentState::Live => true,
                ExtentState::Building { owner } => is_alive(region, owner, me),
                ExtentState::Free | ExtentState::Damaged => false,
            };
            Some(extent.run()).filter(|run| is_there && region.is_run(*run))
        }))
    }

    /// Returns whether that page belongs to that extent.
    pub(crate) fn has(&self, number: u32, page: u32) -> bool {
        let run = self.0.get(number as usize).copied().flatten();
        run.is_some_and(|run| run.contains(page))
    }

    /// Returns how many pages all of them have.
    pub(crate) fn pages(&self) -> u64 {
        let runs = self.0.iter().flatten();
        runs.map(|run| u64::from(run.pages)).sum()
    }
}

/// Repairs the entries, and returns how many extents were lost.
///
/// An entry that leads to a head of its kind and length is right, and its page words are corrected.
/// For any other entry, the pages with its number are searched: if they are adjacent and begin with
/// a valid head, the entry is made to lead there. So processes that have the extent open can
/// continue. An entry for which that fails becomes free, and its pages strays.
pub(super) fn mend(lock: &PoolLock<'_>) -> u64 {
    let region = lock.region;
    let found = runs_by_words(region);
    let mut lost = 0;
    for ((number, extent), found) in (0..).zip(region.extents()).zip(found) {
        let run = extent.run();
        match extent.state() {
            ExtentState::Live if kind_of(region, run).is_some_and(|k| extent.kind() == Some(k)) => {
                let word = PageWord::Extent { number }.encode();
                for page in run.first..run.end() {
                    region.page_word(page).store(word, Ordering::Relaxed);
                }
            }
            ExtentState::Building { owner } if is_alive(region, owner, lock.me) => {}
            ExtentState::Free if found.is_none() => {}
            state => match found.and_then(|run| Some((run, kind_of(region, run)?))) {
                Some((run, kind)) => extent.restore(run, kind),
                None => {
                    lost += u64::from(!matches!(state, ExtentState::Building { .. }));
                    extent.forget();
                }
            },
        }
    }
    lost
}

/// Returns, for each extent, the pages whose words name it, if they are adjacent.
fn runs_by_words(region: &Region) -> [Option<PageRun>; EXTENTS] {
    let mut found = [None; EXTENTS];
    let mut are_scattered = [false; EXTENTS];
    for page in region.geometry().first_page..region.high_water() {
        let word = region.page_word(page).load(Ordering::Relaxed);
        let PageWord::Extent { number } = PageWord::decode(word) else {
            continue;
        };
        let number = number as usize;
        let Some(run) = found.get_mut(number) else {
            continue;
        };
        let new = PageRun {
            first: page,
            pages: 0,
        };
        let run: &mut PageRun = run.get_or_insert(new);
        are_scattered[number] |= run.end() != page;
        run.pages += 1;
    }
    core::array::from_fn(|number| found[number].filter(|_| !are_scattered[number]))
}

/// Returns what kind of head a run begins with, if that head's length fits the run.
fn kind_of(region: &Region, run: PageRun) -> Option<ExtentKind> {
    if !region.is_run(run) {
        return None;
    }
    let (base, _) = region.span_of(run);
    ExtentKind::ALL.into_iter().find(|kind| {
        let len = match kind {
            ExtentKind::QueuePool => region.queue_pool_head(base).verify().map(|pool| pool.len),
            ExtentKind::Log => region.log_head(base).verify().map(|log| log.len),
            ExtentKind::Journal => {
                let sizes = region.journal_head(base).verify();
                sizes.map(|sizes| sizes.len())
            }
            ExtentKind::Locks => region.locks_head(base).verify().map(record_off),
            ExtentKind::Area => region.area_head(base).verify().and_then(area_len),
        };
        len.is_some_and(|len| len.div_ceil(PAGE) == u64::from(run.pages))
    })
}
