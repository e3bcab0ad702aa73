//! What the operations share: the region, this process's participation, and the way a write is
//! done.

use super::effort::Effort;
use super::latency::Due;
use super::leases::Asked;
use super::maintain::Collapsed;
use super::name::NameWatch;
use super::request::Naming;
use super::tending::Steps;
use crate::alloc::{
    Chain, Need, Step, Stop, find_orphans, free_orphans, give_back, provision, raise_frontier,
    reckon_anew,
};
use crate::error::{Error, Result, corrupt};
use crate::layout::{BUCKETS, DIR_INLINE, Participant, large_split};
use crate::lock::{Me, Membership, PATIENCE, ShardLock, tally};
use crate::recover::{
    CheckReport, check, check_pool, lock_shard, reap, reap_dead, recover, repair_pool,
    settle_estate,
};
use crate::region::{Region, no_room};
use crate::sync::{Ordering, W32, W64};
use std::path::{Path, PathBuf};

/// Rounds of one operation after which a cache wins back one page more at once, and how many at
/// most: a segment, a page for the item, a chunk of uids.
const IN_VAIN: u32 = 128;
pub(super) const MOST_AT_ONCE: u32 = 3;
/// Rounds of one operation that each fetched what it lacked. Others may have been faster some
/// times; after so many what says that it is there is damaged.
const MOST_ROUNDS: u32 = 1 << 16;
/// In how many rounds a full table is scraped, for how many pages.
const SCRAPES: u32 = 64;
const SCRAPED_PAGES: u32 = 4;
/// Items moved in each shard in one of these rounds.
const SCRAPE_MOVES: u32 = 256;

/// Entries of a uid directory that are backed at once.
const UID_DIRECTORY_STEP: u32 = 1024;

/// How often a check looks at what may only be on its way.
const LOOKS: u32 = 10;

/// The inside of a [`Table`](super::Table).
pub(super) struct Core {
    region: Region,
    pub(super) membership: Membership,
    path: PathBuf,
    pub(super) collapsed: Collapsed,
    /// When the owners of leases were last asked for.
    pub(super) asked: Asked,
    /// Whether keys that are stored get a uid unasked.
    pub(super) naming: Naming,
    pub(super) name: NameWatch,
    pub(super) steps: Steps,
    /// The slot at which the dead are looked for next.
    pub(super) looked: W32,
    /// The shard a cache evicts from next, if any shard will do.
    pub(super) relieved: W32,
    /// 1: visits cannot be noted, as this process cannot attach.
    pub(super) is_untold: W32,
    /// Which calls are to be timed.
    pub(super) due: Due,
    /// A number that no other table in this process ever had.
    pub(super) number: u64,
}

/// The number of the next.
static NEXT: W64 = W64::new(1);

impl Core {
    pub(super) fn new(region: Region, path: PathBuf, naming: Naming) -> Self {
        Self {
            region,
            membership: Membership::new(),
            path,
            collapsed: Collapsed::new(),
            asked: Asked::new(),
            naming,
            name: NameWatch::new(),
            steps: Steps::new(),
            looked: W32::new(0),
            relieved: W32::new(0),
            is_untold: W32::new(0),
            due: Due::new(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[inline(always)]
    pub(super) fn region(&self) -> &Region {
        &self.region
    }

    /// The participant that writes; attaches at the first write of a process.
    #[inline(always)]
    pub(super) fn writer(&self) -> Result<Me> {
        if !self.region.is_writable() {
            return Err(Error::ReadOnly);
        }
        match self.membership.current() {
            Some(id) => Ok(id),
            None => self.attach(),
        }
    }

    /// The participant that this process is, or nobody if it is not attached yet.
    pub(super) fn participant(&self) -> Me {
        self.membership.current().unwrap_or(Me::NOBODY)
    }

    /// Whether this process is that participant.
    pub(super) fn is_participant(&self, id: Me) -> bool {
        self.membership.current() == Some(id)
    }

    #[cold]
    fn attach(&self) -> Result<Me> {
        self.region.set_clock();
        let me = self.membership.attach(&self.region, &self.path)?;
        // If it has to wait, `look_for_dead` comes back to it.
        settle_estate(&self.region, me, me.id())?;
        Ok(me)
    }

    #[inline(always)]
    pub(super) fn lock(&self, shard: u32, me: Me) -> Result<ShardLock<'_>> {
        let (lock, dead) = lock_shard(&self.region, shard, me)?;
        match dead {
            None => Ok(lock),
            Some(dead) => {
                drop(lock);
                // What else it held comes back now; a second lock is quickly got.
                reap_dead(&self.region, &self.membership.gate, me, dead)?;
                self.lock(shard, me)
            }
        }
    }

    /// Returns the outcome of the first try of a step, which its caller makes itself and not
    /// through [`Self::locked`], when the lock is free again. Returns `None` if the step lacks
    /// something, which [`Self::locked`] fetches.
    #[inline(always)]
    pub(super) fn after_first_try<T>(&self, me: Me, outcome: Step<T>) -> Option<Result<T>> {
        match outcome {
            Ok(value) => {
                self.after_step(me);
                Some(Ok(value))
            }
            Err(Stop::Fail(error)) => Some(Err(error)),
            Err(Stop::Need(_)) => None,
        }
    }

    /// Does a step under a shard's lock, fetching without the lock what it turns out to lack.
    #[inline(always)]
    pub(super) fn locked<T>(
        &self,
        shard: u32,
        me: Me,
        step: impl FnMut(&ShardLock<'_>) -> Step<T>,
    ) -> Result<T> {
        self.locked_with(shard, me, Effort::new(), step)
    }

    /// As [`Self::locked`], where no more is done for room than that.
    #[inline(always)]
    pub(super) fn locked_with<T>(
        &self,
        shard: u32,
        me: Me,
        mut effort: Effort,
        mut step: impl FnMut(&ShardLock<'_>) -> Step<T>,
    ) -> Result<T> {
        let mut rounds = 0u32;
        loop {
            let lock = self.lock(shard, me)?;
            let outcome = step(&lock);
            drop(lock);
            match outcome {
                Ok(value) => {
                    self.after_step(me);
                    return Ok(value);
                }
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Need(need)) => {
                    let fetched = self.fetch(need, me);
                    let wanted = match need {
                        // What needs several pages, one after the other, might else win back one
                        // of them again and again.
                        Need::Pages(count) => Some(count.max((rounds / IN_VAIN).min(MOST_AT_ONCE))),
                        // Keys that go make no room for these.
                        Need::Directory { .. } | Need::UidDirectory { .. } => None,
                    };
                    rounds += 1;
                    if rounds == MOST_ROUNDS {
                        return corrupt("the counts of a shard or of the pool");
                    }
                    self.or_make_room(me, Some(shard), &mut effort, wanted, fetched)?;
                }
            }
        }
    }

    #[cold]
    fn fetch(&self, need: Need, me: Me) -> Result<()> {
        match need {
            Need::Pages(count) => provision(&self.region, me, count),
            Need::Directory { shard, entries } => {
                let back = || self.back_directory(shard, entries, me);
                self.back_beside_pages(me, u64::from(entries) * 4, back)
            }
            Need::UidDirectory { shard } => {
                let back = || self.back_uid_directory(shard, me);
                self.back_beside_pages(me, u64::from(UID_DIRECTORY_STEP) * 4, back)
            }
        }
    }

    /// Backs a directory by memory before it doubles.
    fn back_directory(&self, shard: u32, entries: u32, me: Me) -> Result<()> {
        let offset = self.region.dir_offset(shard, DIR_INLINE);
        let len = u64::from(entries - DIR_INLINE) * 4;
        self.region.allocate(offset, len).map_err(no_room)?;
        let lock = self.lock(shard, me)?;
        if lock.head.dir_backed.load(Ordering::Relaxed) < entries {
            lock.head.dir_backed.store(entries, Ordering::Relaxed);
        }
        drop(lock);
        reckon_anew(&self.region, me)
    }

    /// Backs the next stretch of a uid directory by memory.
    fn back_uid_directory(&self, shard: u32, me: Me) -> Result<()> {
        let region = &self.region;
        let backed = &region.shard(shard).uid_backed;
        let from = backed.load(Ordering::Relaxed);
        let until = from
            .saturating_add(UID_DIRECTORY_STEP)
            .min(1 << region.geometry().uid_dir_log2);
        let len = u64::from(until.saturating_sub(from)) * 4;
        region
            .allocate(region.uid_dir_offset(shard, from), len)
            .map_err(no_room)?;
        let lock = self.lock(shard, me)?;
        if backed.load(Ordering::Relaxed) < until {
            backed.store(until, Ordering::Relaxed);
        }
        drop(lock);
        reckon_anew(&self.region, me)
    }

    /// Returns `None` if the table was full and memory was reclaimed: try again. A cache that lacks
    /// pages evicts keys; otherwise the memory of dead processes and sparse pages is reclaimed.
    #[inline(always)]
    fn or_make_room<T>(
        &self,
        me: Me,
        shard: Option<u32>,
        effort: &mut Effort,
        wanted: Option<u32>,
        outcome: Result<T>,
    ) -> Result<Option<T>> {
        match (outcome, wanted) {
            (Err(Error::Full { .. }), Some(wanted))
                if self.region.is_cache() && self.evict_for(shard, me, wanted, effort)? =>
            {
                Ok(None)
            }
            (Err(Error::Full { .. }), _) if effort.scrapes > 0 => {
                effort.scrapes -= 1;
                self.scrape(me, wanted.unwrap_or(0))?;
                Ok(None)
            }
            (outcome, _) => outcome.map(Some),
        }
    }

    /// The pages of a large item, written.
    pub(super) fn chain(&self, me: Me, key: &[u8], value: &[u8]) -> Result<Chain<'_>> {
        free_orphans(&self.region, me);
        let mut effort = Effort::new();
        let wanted = large_split(key.len() as u64 + value.len() as u64).1;
        loop {
            let built = Chain::build(&self.region, me, key, value);
            match self.or_make_room(me, None, &mut effort, Some(wanted), built) {
                Ok(Some(chain)) => return Ok(chain),
                Ok(None) => {}
                Err(error) => {
                    // What was taken for it goes back to the system: others may need it.
                    give_back(&self.region, me, u32::MAX, false)?;
                    return Err(error);
                }
            }
        }
    }

    /// Wins back what the dead and the sparse still hold, until the pool has something to give.
    #[cold]
    fn scrape(&self, me: Me, wanted: u32) -> Result<()> {
        reap(&self.region, &self.membership.gate, me)?;
        find_orphans(&self.region, me);
        for _ in 0..SCRAPES {
            for shard in 0..self.region.geometry().shards() {
                self.sweep_shard(shard, me, Some(BUCKETS));
                self.tend_shard(shard, me, SCRAPE_MOVES, false)?;
            }
            if self.region.pool().free_count.load(Ordering::Relaxed) >= wanted.max(SCRAPED_PAGES) {
                break;
            }
        }
        Ok(())
    }

    /// Counts a call that set or changed a key, or tried to: once, however many steps and rounds
    /// it took.
    #[inline(always)]
    pub(super) fn count_set(&self, me: Me) {
        self.count_write(me, |tally| &tally.sets);
    }

    /// As [`Self::count_set`], of a call that removed keys, or tried to.
    #[inline(always)]
    pub(super) fn count_remove(&self, me: Me) {
        self.count_write(me, |tally| &tally.removes);
    }

    /// One word for each kind, and their sum for both: none of the three ever goes back, whenever
    /// they are read.
    #[inline(always)]
    fn count_write(&self, me: Me, word: impl FnOnce(&Participant) -> &W64) {
        if self.region.is_cache() {
            let before = word(tally(&self.region, me.id())).fetch_add(1, Ordering::Relaxed);
            self.after_count(before, &self.due.write);
        }
    }

    pub(super) fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let me = if self.region.is_writable() {
            Some(self.writer()?)
        } else {
            None
        };
        if let Some(me) = me {
            reap(&self.region, &self.membership.gate, me)?;
            find_orphans(&self.region, me);
        }
        for shard in 0..self.region.geometry().shards() {
            let _lock = me.map(|me| self.lock(shard, me)).transpose()?;
            check(&self.region, shard, &mut report);
        }
        self.check_pages(me, &mut report)?;
        self.check_beside(me, &mut report)?;
        Ok(report)
    }

    /// Checks the pool. Another process may be just settling the estate of a dead one: what looks
    /// wrong is looked at again, for as long as that may take.
    fn check_pages(&self, me: Option<Me>, report: &mut CheckReport) -> Result<()> {
        for _ in 0..LOOKS {
            let mut found = CheckReport::default();
            check_pool(&self.region, me, &mut found)?;
            if found.is_clean() {
                return Ok(());
            }
            std::thread::sleep(PATIENCE);
            if let Some(me) = me {
                reap(&self.region, &self.membership.gate, me)?;
            }
        }
        check_pool(&self.region, me, report)
    }

    pub(super) fn repair(&self) -> Result<CheckReport> {
        let me = self.writer()?;
        reap(&self.region, &self.membership.gate, me)?;
        raise_frontier(&self.region, me)?;
        let mut lost = 0;
        for shard in 0..self.region.geometry().shards() {
            lost += recover(&self.lock(shard, me)?);
        }
        self.end_all_leases(me)?;
        lost += repair_pool(&self.region, me)?;
        lost += self.repair_beside(me)?;
        let mut report = self.check()?;
        if lost > 0 {
            report.problem(|| {
                format!(
                    "{lost} damaged slots, segments, queue pools, logs, elements or ends of \
                     sheets were dropped"
                )
            });
        }
        Ok(report)
    }

    pub(super) fn reap(&self) -> Result<u32> {
        let me = self.writer()?;
        reap(&self.region, &self.membership.gate, me)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end_pins();
        self.membership.detach(&self.region);
    }
}
