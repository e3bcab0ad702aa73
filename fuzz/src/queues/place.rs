//! Where the parts of pools of queues stand, as docs/internals/format.md says them, and who is
//! named there.

use crate::change::{Aim, Change};
use crate::image::{Area, Image, PAGE, sum_of};
use arbitrary::Arbitrary;

const MAGIC: u64 = u64::from_le_bytes(*b"TavolaQP");
/// In the superblock.
const EXTENTS: usize = 2048;
/// The length of an entry, and how many there are; the template uses two.
const EXTENT: usize = 128;
const ENTRIES: usize = 16;
/// In an entry.
const NAME: usize = 32;
/// The state of an entry that is being built.
const BUILDING: u32 = 1;
const POOL_HEAD: usize = 64;
const QUEUE_HEAD: usize = 256;
/// In a queue's head: those who push, those who pop.
const LOCKS: [usize; 2] = [0, 128];
/// Lock words that name nobody and stay so: who waits for one takes it after 10 ms.
const MOST_TAKEN: usize = 2;

/// A pool that the template has.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    pub(super) name: &'static str,
    pub(super) elements: u32,
    pub(super) bytes: u32,
    pub(super) queues: &'static [&'static str],
    /// Where it begins in the file.
    pub(super) base: usize,
}

impl Pool {
    /// The same, with its place in a whole image.
    pub(super) fn found_in(mut self, whole: &Image) -> Self {
        let entries = (0..ENTRIES).map(entry);
        let mut own = entries.filter(|at| is_named(whole, *at, self.name));
        let at = own.next().expect("its entry is there");
        self.base = whole.word32(at + 8) as usize * PAGE;
        assert_eq!(whole.word64(self.base), MAGIC, "its head is elsewhere");
        let sum = whole.word64(self.base + 24);
        assert_eq!(sum, head_sum(whole, self.base), "another checksum");
        self
    }

    fn owners(&self) -> usize {
        self.base + POOL_HEAD + QUEUE_HEAD * self.queues.len()
    }

    fn rings(&self) -> usize {
        (self.owners() + 4 * self.elements as usize).next_multiple_of(64)
    }

    fn rings_end(&self) -> usize {
        let ring = 4 * self.elements.next_power_of_two() as usize;
        self.rings() + self.queues.len() * ring.next_multiple_of(64)
    }
}

fn entry(number: usize) -> usize {
    EXTENTS + number * EXTENT
}

fn is_named(image: &Image, entry: usize, name: &str) -> bool {
    let bytes = image.bytes.get(entry + NAME..entry + EXTENT);
    bytes.is_some_and(|bytes| bytes.split(|byte| *byte == 0).next() == Some(name.as_bytes()))
}

fn head_sum(image: &Image, base: usize) -> u64 {
    let numbers = [8, 12, 16].map(|at| u64::from(image.word32(base + at)));
    sum_of([MAGIC].into_iter().chain(numbers))
}

/// A part of the file that damage can be aimed at.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Spot {
    PagePool,
    /// The entries in use and one that is not.
    Entries,
    /// All of the superblock behind the numbers that say what the file is.
    Superblock,
    /// The words of a pool's pages, and of those beside them.
    ExtentWords(Which),
    PageWords,
    PoolHead(Which),
    QueueHeads(Which),
    Owners(Which),
    Rings(Which),
    FirstPage(Which),
}

/// Which of the two pools.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Which {
    Large,
    Small,
}

impl Aim for Spot {
    fn place(self, whole: &Image, number: usize) -> usize {
        let pool = |which| super::template::template().pools[which as usize];
        let range = match self {
            Self::PagePool => return whole.place(Area::Pool, number),
            Self::PageWords => return whole.place(Area::PageWords, number),
            Self::Entries => EXTENTS..entry(3),
            Self::Superblock => 1024..entry(ENTRIES),
            Self::ExtentWords(which) => {
                let first = whole.page_words() + pool(which).base / PAGE * 8;
                first - 8..first + 5 * 8
            }
            Self::PoolHead(which) => pool(which).base..pool(which).base + POOL_HEAD,
            Self::QueueHeads(which) => pool(which).base + POOL_HEAD..pool(which).owners(),
            Self::Owners(which) => pool(which).owners()..pool(which).rings(),
            Self::Rings(which) => pool(which).rings()..pool(which).rings_end(),
            Self::FirstPage(which) => pool(which).base..pool(which).base + PAGE,
        };
        range.start + number % range.len()
    }
}

/// A change of bytes, or a participant's number where it means something.
#[derive(Arbitrary, Debug)]
pub(super) enum Damage {
    Bytes(Change<Spot>),
    Name(Spot, u32, Owner),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Owner {
    /// This process, which becomes the owner.
    Us,
    /// The process that filled the template.
    Gone,
    /// A process that never lives.
    Nobody,
}

impl Damage {
    pub(super) fn apply(&self, image: &mut Image, whole: &Image) {
        match self {
            Self::Bytes(change) => change.apply(image, whole),
            Self::Name(spot, at, owner) => {
                let us = whole.next_participant(1);
                let number: u32 = match owner {
                    Owner::Us => us,
                    Owner::Gone => us - (1 << 12),
                    Owner::Nobody => 0x7FFF_F000,
                };
                let at = spot.place(whole, *at as usize) & !3;
                image.put(at, &number.to_le_bytes());
            }
        }
    }
}

/// Makes the checksums of the pools' heads right, whatever numbers they say.
pub(super) fn seal(image: &mut Image, pools: &[Pool]) {
    for pool in pools {
        let sum = head_sum(image, pool.base);
        image.put(pool.base + 24, &sum.to_le_bytes());
    }
}

/// Frees locks of queues that name the participant this process would become, as those of the
/// table; and all but some of those that name nobody, which would only take their time.
pub(super) fn free_locks(image: &mut Image) {
    image.free_own_locks();
    let mut taken = 0;
    for base in (image.first_page * PAGE..image.bytes.len()).step_by(PAGE) {
        if image.word64(base) != MAGIC {
            continue;
        }
        let queues = (image.word32(base + 16) as usize).min(4096);
        for at in (0..queues).flat_map(|n| LOCKS.map(|at| base + POOL_HEAD + n * QUEUE_HEAD + at)) {
            let word = image.word32(at);
            taken += usize::from(word != 0);
            if image.is_ours(word) || word != 0 && taken > MOST_TAKEN {
                image.put(at, &[0; 4]);
            }
        }
    }
}

/// Makes nobody the builder of what this process would be building: it knows nothing of it, and
/// that builder lives.
pub(super) fn disown_buildings(image: &mut Image) {
    for at in (0..ENTRIES).map(entry) {
        if image.word32(at) == BUILDING && image.is_ours(image.word32(at + 4)) {
            image.put(at + 4, &[0; 4]);
        }
    }
}
