//! Extents: runs of pages beside the table, taken from the high_water in one piece.
//!
//! A page of an extent has the word `Extent(number)` from the high_water's rise on, and the entry
//! of that number says who builds it or that it is there. What a builder leaves that dies goes back
//! to the pool as holes ([`forget_extents_of`]). Entries and these words are changed under the
//! pool's lock, but for the one store that publishes.

use super::capacity::room;
use super::pool::{FULL_SIZE, back_words, lock, push_hole, unused_from};
use crate::error::{Error, Result, corrupt};
use crate::layout::{EXTENTS, Extent, ExtentKind, ExtentState, PAGE, PageRun, PageWord};
use crate::lock::{Me, PoolLock, is_alive};
use crate::region::{Region, no_room};
use crate::sync::Ordering;

/// Bytes that are backed by one call.
const STEP: u64 = 16 << 20;
/// Pages given back under one hold of the pool's lock, and by one call.
const BATCH: u32 = 256;
/// Such batches in one go: who settles an estate does it beside its own work.
const BATCHES: u32 = 16;

/// An extent that is being built; forgotten with all its pages unless it is published.
pub(crate) struct Building<'a> {
    region: &'a Region,
    me: Me,
    number: u32,
    /// Its pages.
    pub(crate) run: PageRun,
    is_published: bool,
}

/// Where the extent of that kind and name begins and how long it is, in bytes; `None`: there is
/// none.
pub(crate) fn find_extent(
    region: &Region,
    kind: ExtentKind,
    name: &[u8],
) -> Result<Option<(u64, u64)>> {
    let mut all = (0..).zip(region.extents());
    // The state first: what it was before it was there says nothing.
    let found = all.find(|(_, e)| e.state() == ExtentState::Live && e.is(kind, name));
    let Some((number, extent)) = found else {
        return Ok(None);
    };
    region.reaches_high_water();
    let run = extent.run();
    let own = (PageWord::Extent { number }).encode();
    let is_own = |page| region.page_word(page).load(Ordering::Relaxed) == own;
    if !region.is_run(run) || !(run.first..run.end()).all(is_own) {
        return region.damaged("the place of what stands beside the table");
    }
    Ok(Some(region.span_of(run)))
}

/// The names of all extents of that kind that are there.
pub(crate) fn extent_names(region: &Region, kind: ExtentKind) -> Vec<Vec<u8>> {
    let all = region.extents().iter();
    all.filter(|e| e.state() == ExtentState::Live && e.kind() == Some(kind))
        .map(|e| e.name.get())
        .collect()
}

/// Takes pages for an extent, backed by memory. Call without any lock.
///
/// # Errors
/// [`Error::AlreadyThere`]; [`Error::Full`] when no run of so many pages, no room in the file
/// system or no number is left.
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

/// What a look for a place came to.
enum Place {
    At {
        number: u32,
        run: PageRun,
    },
    Taken,
    /// Its builder is no more.
    Abandoned {
        number: u32,
        builder: u32,
    },
    Damaged,
    NoNumber,
    NoRun,
    /// The page table is to be backed from there on.
    Unbacked {
        from: u32,
    },
    /// A cache may not have so much.
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
            Place::At { run, .. } if !region.maps(run.end()) => {
                return Err(region.out_of_reach());
            }
            Place::At { number, run } => {
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
            Place::Unbacked { from } => {
                drop(lock);
                back_words(region, me, from)?;
            }
            Place::Abandoned { number, builder } => {
                drop(lock);
                while !forget(region, me, number, builder)? {}
            }
            Place::Damaged => return corrupt("the entry of what stands beside the table"),
            Place::NoRun => return full(FULL_SIZE),
            Place::Over => {
                return full("the capacity of the cache is too small for it; raise the capacity");
            }
            Place::NoNumber => {
                return full(
                    "the table already has 16 queue pools and logs, the maximum; use \
                    another table",
                );
            }
            Place::Taken => {
                drop(lock);
                return Err(Error::AlreadyThere {
                    what: kind.what(),
                    name: String::from_utf8_lossy(name).into_owned(),
                });
            }
        }
    }
}

/// Looks for a number that nobody has and a run that was never used.
fn place(lock: &PoolLock<'_>, kind: ExtentKind, name: &[u8], pages: u32) -> Place {
    let region = lock.region;
    let mut free = None;
    for (number, extent) in (0..).zip(region.extents()) {
        let is_it = extent.is(kind, name);
        match extent.state() {
            ExtentState::Free => free = free.or(Some(number)),
            ExtentState::Building { owner } if !is_alive(region, owner, lock.me) => {
                let builder = owner;
                return Place::Abandoned { number, builder };
            }
            ExtentState::Damaged if is_it => return Place::Damaged,
            _ if is_it => return Place::Taken,
            _ => {}
        }
    }
    let Some(number) = free else {
        return Place::NoNumber;
    };
    if room(region) < pages {
        return Place::Over;
    }
    let mut first = unused_from(region);
    loop {
        let run = PageRun { first, pages };
        if run.end() > region.limit() {
            return Place::NoRun;
        }
        let backed = region.pool().backed_words.load(Ordering::Relaxed);
        if run.end() > backed {
            return Place::Unbacked { from: backed };
        }
        // The words past the high_water are 0, unless that was damaged.
        let is_used = |page: &u32| region.page_word(*page).load(Ordering::Relaxed) != 0;
        match (run.first..run.end()).rev().find(is_used) {
            Some(page) => first = page + 1,
            None => return Place::At { number, run },
        }
    }
}

/// Takes the pages. The entry first: who takes the lock over from us undoes what it tells.
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
    /// Everything is in it: others find it from now on.
    pub(crate) fn publish(mut self) {
        self.region.extents()[self.number as usize].publish();
        self.is_published = true;
    }
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        // After a panic, and without the lock (a signal handler's write, refused), they wait for
        // our end.
        if !self.is_published && !std::thread::panicking() {
            while let Ok(false) = forget(self.region, self.me, self.number, self.me.id()) {}
        }
    }
}

/// Gives back what a dead participant was building. False: there is more of it.
pub(super) fn forget_extents_of(region: &Region, me: Me, dead: u32) -> Result<bool> {
    for number in 0..EXTENTS as u32 {
        if !forget(region, me, number, dead)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives back pages of an extent that this participant builds. Several may do so at once: each page
/// goes through one of their hands. False: there is more of it.
fn forget(region: &Region, me: Me, number: u32, builder: u32) -> Result<bool> {
    for _ in 0..BATCHES {
        let batch = claim_from(region, me, number, builder)?;
        let Some((first, count)) = batch else {
            return Ok(true);
        };
        // Where the file system cannot do it, they are holes that memory stands behind.
        let _ = region.punch(u64::from(first) * PAGE, u64::from(count) * PAGE);
        let lock = lock(region, me)?;
        (first..first + count).for_each(|page| push_hole(&lock, page));
    }
    Ok(false)
}

/// Takes some pages, side by side, that still are the extent's. `None`: there are none left, and
/// the entry is free; or somebody else has it.
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

/// Which extents a region has: what a check compares pages with. Taken under the pool's lock.
pub(crate) struct Extents([Option<PageRun>; EXTENTS]);

impl Extents {
    /// Those that are there or being built by the living.
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

    /// Whether that page is one of that extent.
    pub(crate) fn has(&self, number: u32, page: u32) -> bool {
        let run = self.0.get(number as usize).copied().flatten();
        run.is_some_and(|run| run.contains(page))
    }

    /// Pages of all of them.
    pub(crate) fn pages(&self) -> u64 {
        let runs = self.0.iter().flatten();
        runs.map(|run| u64::from(run.pages)).sum()
    }
}

/// Repair. An entry that leads to the head of what it says it is, of so many pages, is right, and
/// its pages are made so. Of another the pages are looked for by their words: if they are side by
/// side and begin with such a head, the entry is made to lead there. So processes that have it open
/// go on with it. What else says that it is there is free from now on, its pages strays. Says how
/// many that were.
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

/// The pages that say they are an extent's, for each, if they are side by side.
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

/// What a run is by the head it begins with, if that takes so many pages.
fn kind_of(region: &Region, run: PageRun) -> Option<ExtentKind> {
    if !region.is_run(run) {
        return None;
    }
    let (base, _) = region.span_of(run);
    ExtentKind::ALL.into_iter().find(|kind| {
        let told = match kind {
            ExtentKind::QueuePool => region.queue_pool_head(base).verify().map(|pool| pool.len),
            ExtentKind::Log => region.log_head(base).verify().map(|log| log.len),
        };
        told.is_some_and(|len| len.div_ceil(PAGE) == u64::from(run.pages))
    })
}
