//! The parts of the engine that only a cache needs: a table with a capacity, which evicts keys to
//! make room.
//!
//! A write that finds no room under its shard's lock releases the lock, evicts keys
//! ([`Core::evict_for`]) and begins again, as a write to any table does that lacks pages.

use super::core::Core;
use super::effort::{Effort, MOST_AT_ONCE, StepsBack};
use super::reclaim::{Reclaimed, reclaim_some};
use crate::alloc::{
    Chain, free_pages, give_back, give_up_free, give_up_some, in_hand, is_over, mark_use, may_hold,
    reckon, set_capacity, within_reach,
};
use crate::error::{Error, Result};
use crate::index::locate::{Hash, NotesRead, Want, mark_accessed, read_as};
use crate::layout::{Hint, LARGEST_BLOCK, PAGE, Participant};
use crate::lock::{Me, ShardLock, tally};
use crate::sync::{Ordering, W64};
use std::time::Duration;

/// When a cache is too large: pages to release in one step, and how often to reclaim for them.
const GIVEN_UP: u32 = 2;
const MOST_RECLAIMS: u32 = 32;
/// How often to retry backing memory outside the pages, and the pause in between: together somewhat
/// longer than it takes until released pages are given back to the system.
const BACKOFFS: u32 = 25;
const BACKOFF: Duration = Duration::from_millis(100);

impl Core {
    /// Makes a new table's region that of a cache.
    pub(crate) fn begin_cache(&self, bytes: u64) -> Result<()> {
        reckon(self.region());
        set_capacity(self.region(), bytes)?;
        // The first sample: rates are computed from it.
        self.sample();
        Ok(())
    }

    /// Reads a key like [`read_as`]; counts the read if the table is a cache.
    #[inline(always)]
    pub(crate) fn read(&self, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
        if self.region().is_cache() && self.region().is_writable() {
            return self.read_in_cache(key, hash, want);
        }
        read_as(self.region(), key, hash, want, self)
    }

    #[inline(never)]
    fn read_in_cache(&self, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
        if self.times_read() {
            return self.read_timed(key, hash, want);
        }
        self.read_and_count(key, hash, want)
    }

    #[cold]
    #[inline(never)]
    fn read_timed(&self, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
        self.timed_read(|| self.read_and_count(key, hash, want))
    }

    #[inline(always)]
    fn read_and_count(&self, key: &[u8], hash: Hash, want: &mut impl Want) -> Result<bool> {
        let mut noted = NotesRead::new(want);
        let found = read_as(self.region(), key, hash, &mut noted, self)?;
        self.count_read(hash, found, noted.word, noted.tag);
        Ok(found)
    }

    /// Reads a value into `out` like [`Self::get_into`], for a caller that then touches the key:
    /// the touch sets the access bit, so this does not.
    pub(crate) fn get_to_touch(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        let hash = Hash::of(self.region(), key);
        let found = read_as(self.region(), key, hash, out, self)?;
        if self.region().is_cache() && self.region().is_writable() {
            self.count_read(hash, found, 0, Hint::NONE);
        }
        Ok(found)
    }

    /// Counts a read. If the word of the key's slot is given, sets the key's access bit, and if a
    /// tag is given, marks it as used. The slot may belong to another key by now, and its segment
    /// may have been freed, so this is done under the shard's lock, and skipped if the lock is
    /// held: another read will come.
    #[inline]
    pub(crate) fn count_read(&self, hash: Hash, found: bool, word: u64, tag: Hint) {
        if self.cannot_attach.load(Ordering::Relaxed) != 0 {
            return;
        }
        let Ok(me) = self.writer() else {
            // This process cannot attach, and must not try again with each read.
            self.cannot_attach.store(1, Ordering::Relaxed);
            return;
        };
        let tally = tally(self.region(), me.id());
        let count = if found { &tally.hits } else { &tally.misses };
        let before = count.fetch_add(1, Ordering::Relaxed);
        self.after_count(before, &self.due.read);
        if word != 0 {
            self.mark_accessed(me, hash, word);
        }
        if found && tag.is_some() {
            self.use_tag(me, tag);
        }
    }

    /// Counts a call that set or changed a key, or tried to: once, however many steps and rounds it
    /// took.
    #[inline(always)]
    pub(crate) fn count_set(&self, me: Me) {
        self.count_write(me, |tally| &tally.sets);
    }

    /// Counts a call that removed keys, or tried to, likewise.
    #[inline(always)]
    pub(crate) fn count_remove(&self, me: Me) {
        self.count_write(me, |tally| &tally.removes);
    }

    /// Counts in one word for each kind of call; writes are the sum of both. So none of the three
    /// numbers ever falls, whenever they are read.
    #[inline(always)]
    fn count_write(&self, me: Me, word: impl FnOnce(&Participant) -> &W64) {
        if self.region().is_cache() {
            let before = word(tally(self.region(), me.id())).fetch_add(1, Ordering::Relaxed);
            self.after_count(before, &self.due.write);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark_accessed(&self, me: Me, hash: Hash, word: u64) {
        if let Some(lock) = ShardLock::try_acquire(self.region(), hash.shard(), me) {
            mark_accessed(&lock, hash, word);
        }
    }

    /// Marks a tag as used, because a key with it was set or read: otherwise the tag would be
    /// evicted before the key, and the key with it. Skipped if the lock of the tag's shard is held.
    #[cold]
    #[inline(never)]
    pub(crate) fn use_tag(&self, me: Me, tag: Hint) {
        let region = self.region();
        let shard = region.uid_place(tag.uid()).shard;
        if let Some(lock) = ShardLock::try_acquire(region, shard, me) {
            mark_use(&lock, tag);
        }
    }

    /// Handles a writer that holds a chain and has found no room for the rest. Returns true if
    /// others hold chains, too, and may lack the pages of this one: it has released them, and
    /// starts again.
    #[cold]
    pub(crate) fn steps_back(
        &self,
        me: Me,
        chain: Option<Chain<'_>>,
        steps: &mut StepsBack,
    ) -> Result<bool> {
        let region = self.region();
        let Some(chain) = chain.filter(|_| region.is_cache()) else {
            return Ok(false);
        };
        let all = chain.pages() + MOST_AT_ONCE;
        let wanted = match may_hold(region, all) {
            true => all,
            false => chain.pages(),
        };
        if in_hand(region, me) <= chain.pages() && within_reach(region) == 0 {
            return Ok(false);
        }
        drop(chain);
        if !steps.take() {
            return Ok(false);
        }
        self.evict_for(None, me, wanted, &mut Effort::new())
    }

    /// Backs `bytes` of memory outside the pages. If the file system has no room for them, a cache
    /// makes some: it releases as many pages as that takes, waits a second or two until no reader
    /// can be using them, and gives them back. Other processes may take the room first, so it tries
    /// repeatedly.
    #[cold]
    pub(crate) fn back_outside_pages(
        &self,
        me: Me,
        bytes: u64,
        back: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let region = self.region();
        let mut outcome = back();
        if !region.is_cache() || !matches!(outcome, Err(Error::Full { .. })) {
            return outcome;
        }
        let wanted = bytes.div_ceil(PAGE) as u32;
        // All pages from one shard, because free blocks of one shard add up to pages sooner.
        let shard = self.reclaims_from.fetch_add(1, Ordering::Relaxed) % region.geometry().shards();
        let (mut given_up, mut effort) = (0, Effort::new());
        while given_up < wanted {
            match give_up_free(region, me, wanted - given_up)? {
                0 if !self.reclaim_or_mend(Some(shard), me, &mut effort)? => break,
                count => given_up += count,
            }
        }
        for _ in 0..BACKOFFS {
            give_back(region, me, wanted, true)?;
            outcome = back();
            if given_up == 0 || !matches!(outcome, Err(Error::Full { .. })) {
                break;
            }
            std::thread::sleep(BACKOFF);
        }
        outcome
    }

    /// Does one bounded step towards a capacity that has become smaller.
    #[cold]
    pub(crate) fn shrink_some(&self, shard: u32, me: Me) -> Result<()> {
        let mut key = Vec::with_capacity(LARGEST_BLOCK as usize);
        if let Some(lock) = ShardLock::try_acquire(self.region(), shard, me) {
            for _ in 0..MOST_RECLAIMS {
                let is_enough = free_pages(self.region()) >= GIVEN_UP;
                if is_enough || reclaim_some(&lock, &mut key)? == Reclaimed::Nothing {
                    break;
                }
            }
        }
        give_up_some(self.region(), me, GIVEN_UP)
    }

    /// Shrinks a cache to its capacity.
    pub(crate) fn shrink(&self, me: Me) -> Result<()> {
        let mut effort = Effort::new();
        while is_over(self.region()) {
            give_up_some(self.region(), me, u32::MAX)?;
            if is_over(self.region()) && !self.reclaim_or_mend(None, me, &mut effort)? {
                break;
            }
        }
        give_back(self.region(), me, u32::MAX, false)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::{provision, release_claims, take};
    use crate::layout::{PageWord, large_split};
    use crate::table::Table;

    /// Returns a cache's pages as another writer holds them, and a value that takes all the other
    /// pages, so that none is left for the item's block.
    fn crowded(core: &Core, me: Me) -> (Chain<'_>, Vec<u8>) {
        let held = core.chain(me, b"held", &vec![1; 2 << 20]);
        let pages = within_reach(core.region());
        let fits = |len: &usize| large_split(3 + *len as u64).1 == pages;
        let len = (0..4 << 20).step_by(PAGE as usize).find(fits);
        (
            held.expect("there is room"),
            vec![2; len.expect("a length")],
        )
    }

    /// Sets a key while another writer holds pages and releases them either soon or after the set
    /// has failed. Returns false if the release came too late for the test to mean anything.
    fn is_waited_for(table: &Table, gets_on: bool) -> bool {
        let core = table.core().expect("it is there");
        let me = core.writer().expect("it is attached");
        let (held, value) = crowded(core, me);
        let (outcome, late) = std::thread::scope(|scope| {
            let begun = std::time::Instant::now();
            let set = scope.spawn(|| table.set(b"key", &value));
            if gets_on {
                std::thread::sleep(Duration::from_millis(30));
                drop(held);
                let late = begun.elapsed() > Duration::from_millis(60);
                (set.join().expect("no panic"), late)
            } else {
                let outcome = set.join().expect("no panic");
                drop(held);
                (outcome, false)
            }
        });
        match outcome {
            Ok(()) => assert!(gets_on, "it is still held"),
            Err(Error::Full { .. }) => assert!(late || !gets_on, "it gets on"),
            Err(error) => panic!("{error}"),
        }
        table.set(b"key", &value).expect("there is room again");
        assert!(table.check().expect("no error").is_clean());
        !late
    }

    #[test]
    #[cfg_attr(miri, ignore = "waits")]
    fn a_writer_that_holds_pages_steps_back_for_another() {
        let options = Table::options().capacity(4 << 20).max_size(16 << 20);
        for gets_on in [true, false] {
            // Repeated until the pages are released before the other writer has waited long enough.
            let in_time = (0..100).any(|_| {
                let table = options.clone().shards(1).private().expect("a table");
                is_waited_for(&table, gets_on)
            });
            assert!(in_time, "the machine is never fast enough");
        }
    }

    /// Leaves backed pages claimed by a participant that does not exist.
    fn leave_claims(core: &Core, me: Me, count: u32) -> u32 {
        let dead = me.id() + (1 << 12);
        provision(core.region(), me, count).expect("there is room");
        for _ in 0..count {
            let claimed = PageWord::Claimed { owner: dead };
            assert!(take(core.region(), me, claimed).is_ok());
        }
        dead
    }

    #[test]
    #[cfg_attr(miri, ignore = "a file")]
    fn what_the_dead_had_in_hand_is_no_memory_any_more() {
        let dir = tempfile::tempdir_in("/dev/shm").expect("a directory");
        let options = Table::options()
            .max_size(64 << 20)
            .capacity(4 << 20)
            .shards(1);
        let table = options.create(dir.path().join("cache")).expect("a table");
        table.set(b"key", b"value").expect("there is room");
        let core = table.core().expect("it is mapped");
        let me = core.writer().expect("it is attached");
        let resident = || table.stats().expect("no damage").resident_bytes;
        for by_repair in [false, true] {
            let dead = leave_claims(core, me, 9);
            let before = resident();
            if by_repair {
                assert!(table.repair().expect("no error").is_clean());
            } else {
                assert!(release_claims(core.region(), me, dead).expect("no error"));
            }
            let after = resident();
            assert_eq!(after + 9 * PAGE, before, "by repair: {by_repair}");
            assert!(table.check().expect("no error").is_clean());
        }
    }
}
