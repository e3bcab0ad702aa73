//! `check`: reads the whole table and reports each derived fact that contradicts its source.
//!
//! What is trusted are the slots and the items that they lead to. Counters, bitmaps, lists, hints
//! and page words follow from these, and each is recomputed and compared.

use super::report::CheckReport;
use super::uids;
use crate::alloc::{
    Extents, Item, capacity, damaged_max_size, home_of, is_used, lock_pool, orphan_pages,
};
use crate::error::Result;
use crate::index::{Hash, entries, lookup, may_be_over, may_expire, other_bucket};
use crate::layout::{
    BUCKETS, CLASSES, Class, HINT_MAX, LayoutWord, PAGE, PROTECTED, PageWord, SLOTS, Segment,
    ghost_age, slot_ref, slot_tag,
};
use crate::lock::{Me, is_alive};
use crate::region::Region;
use crate::sync::{Ordering, W32};

/// Checks one shard. The caller holds its lock, or the table is not being written.
pub(crate) fn check(region: &Region, shard: u32, report: &mut CheckReport) {
    let mut pass = ShardCheck {
        region,
        shard,
        report,
        items: 0,
        tags: 0,
        payload: 0,
        probationary: 0,
        segments: 0,
        large_pages: 0,
        uids: 0,
        uid_pages: 0,
        used: [0; CLASSES],
        key: Vec::new(),
    };
    for (index, page) in entries(region, shard) {
        pass.entry(index, page);
    }
    pass.totals();
}

/// Checks the page pool; locks it if `me` is a participant.
pub(crate) fn check_pool(region: &Region, me: Option<Me>, report: &mut CheckReport) -> Result<()> {
    let _lock = me.map(|me| lock_pool(region, me)).transpose()?;
    let me = me.unwrap_or(Me::NOBODY);
    let extents = Extents::of(region, me);
    let mut extent_pages = 0;
    let (mut free, mut unbacked) = (0, 0);
    for page in region.geometry().first_page..region.high_water() {
        match PageWord::decode(region.page_word(page).load(Ordering::Relaxed)) {
            PageWord::Free { .. } => free += 1,
            PageWord::Unbacked { .. } => unbacked += 1,
            PageWord::Claimed { owner } | PageWord::Build { owner, .. } => report
                .expect(is_alive(region, owner, me), || {
                    format!("page {page} belongs to a participant that no longer exists")
                }),
            PageWord::Extent { number } => {
                extent_pages += 1;
                report.expect(extents.has(number, page), || {
                    format!("page {page} refers to extent {number}, which does not contain it")
                });
            }
            PageWord::Unused | PageWord::Damaged => {
                report.problem(|| format!("page {page} has a state that does not exist"));
            }
            _ => {}
        }
    }
    report.expect(!region.is_cache() || capacity(region).is_some(), || {
        "the word of the capacity is damaged; repair makes it what the cache has now".to_string()
    });
    if let Some(why) = damaged_max_size(region) {
        report.problem(|| why.to_string());
    }
    let pages = extents.pages();
    report.expect(extent_pages == pages, || {
        format!("extents have {pages} pages, {extent_pages} are theirs")
    });
    let pool = region.pool();
    let lists = [
        (
            "free",
            free,
            &[&pool.free_head, &pool.old_head, &pool.surplus_head][..],
            &pool.free_count,
        ),
        (
            "given up",
            pool.surplus_count.load(Ordering::Relaxed),
            &[&pool.surplus_head][..],
            &pool.surplus_count,
        ),
        (
            "unbacked",
            unbacked,
            &[&pool.unbacked_head][..],
            &pool.unbacked_count,
        ),
    ];
    for (name, found, heads, count) in lists {
        let len = |head: &&W32| list_len(region, head.load(Ordering::Relaxed), found);
        let listed = heads.iter().map(len).sum::<u32>();
        let counted = count.load(Ordering::Relaxed);
        report.expect(listed == found && counted == found, || {
            format!("{found} pages are {name}, the list has {listed}, its counter {counted}")
        });
    }
    Ok(())
}

/// Returns the length of a list of pages. Stops after `most` + 1, so that a loop shows as a
/// difference.
fn list_len(region: &Region, head: u32, most: u32) -> u32 {
    let (mut page, mut len) = (head, 0);
    while region.is_page(page) && len <= most {
        let word = region.page_word(page).load(Ordering::Relaxed);
        match PageWord::decode(word) {
            PageWord::Free { next, .. } | PageWord::Unbacked { next } => page = next,
            _ => return len,
        }
        len += 1;
    }
    len
}

/// The check of one shard: what was found so far.
struct ShardCheck<'a> {
    region: &'a Region,
    shard: u32,
    report: &'a mut CheckReport,
    items: u64,
    tags: u64,
    payload: u64,
    probationary: u64,
    segments: u32,
    large_pages: u64,
    uids: u64,
    uid_pages: u64,
    used: [u64; CLASSES],
    key: Vec<u8>,
}

impl ShardCheck<'_> {
    /// Checks a directory entry, and the segment that it leads to.
    fn entry(&mut self, index: u32, page: u32) {
        let shard = self.shard;
        let is_segment = self.region.is_page(page)
            && matches!(
                PageWord::decode(self.region.page_word(page).load(Ordering::Relaxed)),
                PageWord::Segment { shard: owner, .. } if owner == shard
            );
        if !is_segment {
            self.report.problem(|| {
                format!("shard {shard}: directory entry {index} leads to page {page}, no segment")
            });
            return;
        }
        self.segments += 1;
        self.report.bytes_reachable += PAGE;
        self.segment(index, self.region.segment(page));
    }

    /// Checks the slots of a segment, then its away bits and hints against them. A hint may be too
    /// high: that only costs a read one more bucket.
    fn segment(&mut self, index: u32, segment: &Segment) {
        let is_cache = self.region.is_cache();
        let mut hints = [0u32; BUCKETS];
        for (b, bucket) in segment.buckets.iter().enumerate() {
            for i in 0..SLOTS {
                let word = bucket.slots[i].load(Ordering::Relaxed);
                if word == 0 || is_cache && ghost_age(word, 0).is_some() {
                    continue;
                }
                let payload = self.payload;
                match self.slot(index, b as u32, word) {
                    Ok(home) => {
                        if is_cache && bucket.state(i) & PROTECTED == 0 {
                            self.probationary += self.payload - payload;
                        }
                        let away = home != b as u32;
                        hints[home as usize] += u32::from(away);
                        self.report.expect(bucket.is_away(i) == away, || {
                            format!("segment {index}, bucket {b}, slot {i}: wrong away bit")
                        });
                    }
                    Err(why) => {
                        let shard = self.shard;
                        self.report.problem(|| {
                            format!("shard {shard}, segment {index}, bucket {b}, slot {i}: {why}")
                        });
                    }
                }
            }
        }
        for (b, needed) in hints.iter().enumerate() {
            let hint = segment.buckets[b].hint();
            self.report.expect(hint == HINT_MAX || hint >= *needed, || {
                format!("segment {index}, bucket {b}: {needed} keys are away, the hint is {hint}")
            });
        }
    }

    /// Checks a slot and all that it leads to. Returns the key's home bucket, or what is wrong.
    fn slot(
        &mut self,
        index: u32,
        bucket: u32,
        word: u64,
    ) -> std::result::Result<u32, &'static str> {
        let (region, shard) = (self.region, self.shard);
        let block = home_of(region, shard, slot_ref(word)).ok_or("its ref leads to no block")?;
        let item = Item::at(region, slot_ref(word)).ok_or("its item is impossible")?;
        self.key.clear();
        if item.block_bytes() > u64::from(block.class.block) {
            return Err("its item is larger than its block");
        }
        if !item.chain_is_whole() || !item.copy_key(&mut self.key) {
            return Err("the chain of its item is broken");
        }
        let hash = Hash::of_item(&item, &self.key);
        if hash.shard() != shard || hash.tag() != slot_tag(word) {
            return Err("its key has another hash");
        }
        if bucket != hash.home() && bucket != other_bucket(hash.home(), hash.tag()) {
            return Err("its key belongs to another bucket");
        }
        let depth = LayoutWord(region.shard(shard).layout.load(Ordering::Relaxed)).depth();
        if lookup(region, shard, depth, hash.tag()).0 != index {
            return Err("its key belongs to another segment");
        }
        if !is_used(region, &block) {
            return Err("its block is not marked as in use");
        }
        if may_be_over(&item) && !may_expire(region.shard(shard)) {
            return Err("its key expires or has tags, and is not searched for");
        }
        match uids::is_own(region, shard, &item) {
            Some(false) => return Err("its uid leads elsewhere"),
            own => self.uids += u64::from(own.is_some()),
        }
        self.used[block.class_number as usize] += 1;
        self.items += 1;
        self.tags += u64::from(item.is_tag());
        self.payload += item.payload();
        self.large_pages += item.chain().count() as u64;
        self.report.keys += 1;
        self.report.bytes_reachable += u64::from(block.class.block);
        Ok(hash.home())
    }

    /// Compares the shard's counters with what was found.
    fn totals(&mut self) {
        let head = self.region.shard(self.shard);
        let counts = [
            ("keys", self.items, head.items.load(Ordering::Relaxed)),
            (
                "tags",
                self.tags,
                u64::from(head.tags.load(Ordering::Relaxed)),
            ),
            (
                "payload bytes",
                self.payload,
                head.payload.load(Ordering::Relaxed),
            ),
            (
                "bytes of probationary",
                self.probationary,
                head.probationary.load(Ordering::Relaxed),
            ),
            (
                "segments",
                u64::from(self.segments),
                u64::from(head.segments.load(Ordering::Relaxed)),
            ),
        ];
        let shard = self.shard;
        for (what, found, counted) in counts {
            self.report.expect(found == counted, || {
                format!("shard {shard}: {found} {what} found, the counter says {counted}")
            });
        }
        self.uid_pages = uids::check(self.region, shard, self.uids, self.report);
        self.report.bytes_reachable += (self.large_pages + self.uid_pages) * PAGE;
        self.pages();
    }

    /// Counts the shard's pages by their page words, and compares with what the index leads to.
    fn pages(&mut self) {
        let (mut large, mut segments, mut uid_pages) = (0, 0, 0);
        let mut used = [0u64; CLASSES];
        let mut pages = [0u32; CLASSES];
        for page in self.region.geometry().first_page..self.region.high_water() {
            match PageWord::decode(self.region.page_word(page).load(Ordering::Relaxed)) {
                PageWord::Large { shard, .. } if shard == self.shard => large += 1,
                PageWord::Segment { shard, .. } if shard == self.shard => segments += 1,
                PageWord::Uids { shard, .. } if shard == self.shard => uid_pages += 1,
                PageWord::Slab { shard, class } if shard == self.shard => {
                    let Some(shape) = Class::get(class) else {
                        self.report
                            .problem(|| format!("page {page} has no size class"));
                        continue;
                    };
                    pages[class as usize] += 1;
                    used[class as usize] += u64::from(self.slab(page, class, shape));
                }
                _ => {}
            }
        }
        let shard = self.shard;
        // No item leads to these pages any more; they are freed when their readers have finished.
        let large = u64::saturating_sub(large, orphan_pages(self.region, shard));
        let (reached, held) = (self.large_pages, large);
        self.report.expect(reached == held, || {
            format!("shard {shard}: {held} pages of large items, {reached} are reachable")
        });
        let (reached, held) = (self.segments, segments);
        self.report.expect(reached == held, || {
            format!("shard {shard}: {held} segment pages, {reached} are reachable")
        });
        let (reached, held) = (self.uid_pages, uid_pages);
        self.report.expect(reached == held, || {
            format!("shard {shard}: {held} pages of uids, {reached} are reachable")
        });
        self.report.bytes_in_use += (large + u64::from(segments) + uid_pages) * PAGE;
        self.classes(&used, &pages);
    }

    /// Checks the head of a slab page. Returns how many blocks its bitmap has in use.
    fn slab(&mut self, page: u32, number: u32, class: &Class) -> u32 {
        let slab = self.region.slab(page);
        let head_class = slab.class.load(Ordering::Relaxed);
        self.report.expect(head_class == number, || {
            format!("page {page} is of class {number}, its head says {head_class}")
        });
        let words = class.words() as usize;
        let bits: u32 = slab.bitmap[..words]
            .iter()
            .map(|word| word.load(Ordering::Relaxed).count_ones())
            .sum();
        let in_use = bits.saturating_sub(words as u32 * 64 - class.blocks);
        let counted = slab.used.load(Ordering::Relaxed);
        self.report.expect(in_use == counted, || {
            format!("page {page}: {in_use} blocks in use, the counter says {counted}")
        });
        in_use
    }

    /// Compares the blocks in use of each size class with those that the index leads to, and with
    /// the counters.
    fn classes(&mut self, used: &[u64; CLASSES], pages: &[u32; CLASSES]) {
        let shard = self.shard;
        for number in 0..CLASSES {
            let Some(class) = Class::get(number as u32) else {
                continue;
            };
            let (held, reached) = (used[number], self.used[number]);
            self.report.bytes_in_use += held * u64::from(class.block);
            self.report.expect(held == reached, || {
                format!(
                    "shard {shard}: {held} blocks of {} bytes in use, {reached} are reachable",
                    class.block
                )
            });
            let head = &self.region.shard(shard).classes[number];
            let counted = (
                u64::from(head.used.load(Ordering::Relaxed)),
                head.pages.load(Ordering::Relaxed),
            );
            self.report.expect(counted == (held, pages[number]), || {
                format!("shard {shard}: counters of class {number} are wrong: {counted:?}")
            });
        }
    }
}
