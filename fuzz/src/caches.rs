//! A cache's file with changed bytes: whatever they say, no panic, no access outside, no endless
//! loop; and once repaired, a clean cache that takes writes, whose leases are all available, and
//! whose tags take their keys along. Where nothing was changed they do so all the time.

mod tags;

use crate::change::{Aim, open_changed, write_changed};
use crate::image::{Area, Image};
use crate::lengths::Lengths;
use crate::op::{Key, Value};
use crate::region::damaged::{Damaged, tolerate};
use crate::template::{Template, made};
use crate::watch::{begin_operation, within_limit};
use arbitrary::{Arbitrary, Unstructured};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tags::TagPlayer;
use tavola::{Error, Lease, LeaseOptions, Leased, Result, Table};
use tavola_model::{Life, Op};

const MOST_OPS: usize = 40;
/// What it may take, and may be set to take meanwhile.
const CAPACITY: u64 = 1 << 20;
const CAPACITIES: [u64; 4] = [CAPACITY, CAPACITY / 2, CAPACITY * 3 / 2, 0];
/// Keys with the template's leases: held by one who is no more, failed, nobody's.
const LEASED: u8 = 12;
/// Longer than any input takes.
const HOUR: Duration = Duration::from_secs(3600);
const WHY: &[u8] = b"it failed";
/// Writes after the repair: more than there is room for.
const WRITES: u16 = 250;

/// In the pool: the capacity, what is beside the pages, pages that are given up.
const CAPACITY_AT: usize = 1024 + 32;
/// In a shard's head: bytes of probationary, hands, epoch.
const HEAD_AT: usize = 4096 + 1424;
/// In a shard's head: the counts and lists of the size classes, and all counts.
const CLASSES_AT: std::ops::Range<usize> = 4096 + 632..4096 + 1280;
const COUNTS_AT: std::ops::Range<usize> = 4096 + 580..4096 + 1536;
/// Lengths of values: blocks of some classes, the largest, and chains that share a page with their
/// block and that do not.
const LENS: [usize; 16] = [
    1, 8, 60, 400, 1_500, 3_500, 9_000, 15_900, 16_150, 16_400, 33_000, 59_000, 60_000, 61_000,
    100_000, 200_000,
];
/// In the superblock: whether there are records of leases.
const LEASES_AT: usize = 136;
/// What a page word says in its low four bits, of a segment.
const SEGMENT: u64 = 7;

/// A part of a cache's file that damage can be aimed at.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Spot {
    Any(Area),
    Capacity,
    Head,
    Leases,
    Records,
    /// Slots with keys and ghosts, and their states.
    Segments,
    Classes,
    Counts,
}

impl Aim for Spot {
    fn place(self, whole: &Image, number: usize) -> usize {
        let range = match self {
            Self::Any(area) => return whole.place(area, number),
            Self::Capacity => CAPACITY_AT..CAPACITY_AT + 24,
            Self::Head => HEAD_AT..HEAD_AT + 32,
            Self::Leases => LEASES_AT..LEASES_AT + 8,
            Self::Records => whole.lease_records(),
            Self::Classes => CLASSES_AT,
            Self::Counts => COUNTS_AT,
            Self::Segments => match whole.pages_of(SEGMENT).first() {
                Some(from) => *from..*from + crate::image::PAGE,
                None => return whole.place(Area::Pages, number),
            },
        };
        range.start + number % range.len()
    }
}

/// What becomes of a lease.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum End {
    Fill(Value),
    Fail,
    GiveUp,
    Keep,
}

#[derive(Arbitrary, Clone, Debug)]
enum Step {
    /// One on the table, which follows.
    Op,
    /// Asks for a key, which is stale or not by then.
    Lease(Key, bool, End),
    /// Ends one that was kept.
    EndKept(End),
    Compute(Key, Value),
    Capacity(u8),
    /// Enough keys that others are evicted.
    Crowd(u16, u8),
    /// Sets a key with tags, a bit each; the last tag is invalidated meanwhile, or not.
    Tagged(Key, Value, u8, bool),
    Invalidate(u8),
    /// Sets so many keys to values of all lengths.
    Sized(u8, u8),
}

/// Damages the cache as the input says, uses it, repairs it and uses it again.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let template = template();
    let count = usize::from(u8::arbitrary(&mut source).unwrap_or(0));
    let (image, is_changed) = write_changed::<Spot>(template, count, &mut source);
    within_limit(|| {
        let Some(table) = open_changed() else {
            return;
        };
        let lengths = Lengths(image.fixed());
        let mut player = Player {
            table: &table,
            lengths,
            damaged: Damaged::new(&table, lengths, template.hints.clone()),
            kept: Vec::new(),
            tags: TagPlayer::new(&table, lengths, !is_changed),
        };
        for _ in 0..MOST_OPS {
            let Ok(step) = Step::arbitrary(&mut source) else {
                break;
            };
            begin_operation();
            player.play(&step, &mut source);
            if source.is_empty() {
                break;
            }
        }
        drop(player);
        // Repair frees the records that are said to be there; others turn up with the next lease.
        let at = LEASES_AT;
        let are_hidden = image.word32(at) != template.image.word32(at);
        repair(&table, lengths, are_hidden);
    });
}

struct Player<'a> {
    table: &'a Table,
    lengths: Lengths,
    damaged: Damaged<'a>,
    kept: Vec<Lease>,
    tags: TagPlayer<'a>,
}

impl Player<'_> {
    fn play(&mut self, step: &Step, source: &mut Unstructured) {
        let bytes = |key| self.lengths.key(key);
        match *step {
            Step::Op => drop(self.damaged.play_next(source)),
            Step::Lease(key, is_stale, end) => {
                let stale = if is_stale { 3 * HOUR } else { Duration::ZERO };
                let options = LeaseOptions::new(HOUR).stale(stale).lease(HOUR);
                self.tolerate(self.lease(&bytes(key), options).map(|lease| (lease, end)));
            }
            Step::EndKept(end) => {
                let lease = self.kept.pop();
                self.tolerate(Ok((lease, end)));
            }
            Step::Compute(key, value) => {
                let value = self.lengths.value(value);
                // It would wait for ourselves.
                self.kept.clear();
                let options = LeaseOptions::new(HOUR).lease(Duration::from_millis(5));
                let compute = || Ok(value.clone());
                let computed = self.table.get_or_compute(&bytes(key), options, compute);
                tolerate_leases(computed.map(drop), self.lengths);
            }
            Step::Capacity(nth) => {
                let bytes = CAPACITIES[usize::from(nth) % CAPACITIES.len()];
                match self.table.set_capacity(bytes) {
                    // It is not a cache any more, or too small for what is beside the pages.
                    Err(Error::BadOption { .. }) => {}
                    result => tolerate(result),
                }
            }
            Step::Crowd(first, count) => {
                let op = Op::SetMany(self.lengths.many(first, count));
                tolerate(self.damaged.play(&op));
                tolerate(self.damaged.play(&op));
            }
            Step::Tagged(key, value, mask, is_late) => {
                let key = bytes(key);
                self.tags.set(&key, value, mask, is_late);
            }
            Step::Invalidate(number) => self.tags.invalidate(number),
            Step::Sized(first, count) => {
                for n in (0..count % 64).map(|more| first.wrapping_add(more)) {
                    begin_operation();
                    let (key, value) = (bytes(Key(n)), sized(n.into()));
                    tolerate_lengths(self.table.set(&key, &value), self.lengths);
                }
            }
        }
    }

    fn lease(&self, key: &[u8], options: LeaseOptions) -> Result<Option<Lease>> {
        Ok(match self.table.get_or_lease(key, options)? {
            Leased::Won(lease) => Some(lease),
            Leased::Stale { lease, .. } => lease,
            Leased::Wait(pending) => {
                pending.wait(Duration::from_millis(2))?;
                None
            }
            Leased::Hit(_) | Leased::Failed { .. } => None,
        })
    }

    fn tolerate(&mut self, result: Result<(Option<Lease>, End)>) {
        let ended = match result {
            Ok((Some(lease), End::Keep)) => {
                self.kept.push(lease);
                Ok(())
            }
            Ok((Some(lease), End::Fill(value))) => lease.fill(&self.lengths.value(value)).map(drop),
            Ok((Some(lease), End::Fail)) => lease.fail(HOUR, WHY).map(drop),
            Ok((Some(_) | None, _)) => Ok(()),
            Err(error) => Err(error),
        };
        tolerate_leases(ended, self.lengths);
    }
}

/// A value of one of the lengths, which differ from a number to the next.
fn sized(number: u16) -> Vec<u8> {
    vec![number as u8; LENS[usize::from(number) % LENS.len()]]
}

/// As [`tolerate`], where a table of fixed lengths refuses others.
fn tolerate_lengths(result: Result<()>, lengths: Lengths) {
    match result {
        Err(error) if lengths.are_in_error(&error) => {}
        result => tolerate(result),
    }
}

/// As [`tolerate`], where a table of fixed lengths has no leases.
fn tolerate_leases(result: Result<()>, lengths: Lengths) {
    match result {
        Err(Error::BadOption { .. }) if lengths.are_fixed() => {}
        Err(Error::NotComputed { .. }) => {}
        result => tolerate(result),
    }
}

/// The cache, made at the first call: keys of both kinds, ghosts, leases.
fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let options = Table::options().capacity(CAPACITY).shards(1);
        made(options, Lengths(None), |path| {
            fill(path);
            Vec::new()
        })
    })
}

fn fill(path: &Path) {
    let table = Table::open(path).expect("the table opens");
    let attributes = |n: u8| Life::Hours(1).with(u32::from(n % 4));
    for n in 4..=255 {
        let size = u16::from(n) << 3 | if n % 32 == 7 { 0 } else { 3 };
        let value = Value { size, fill: n }.bytes();
        let stored = match n % 5 {
            0 => table.set_with(&Key(n).bytes(), &value, attributes(n)),
            1 => table.set_uid(&Key(n).bytes(), &value).map(drop),
            _ => table.set(&Key(n).bytes(), &value),
        };
        stored.expect("there is room");
        table.get(&Key(n).bytes()).expect("no damage");
    }
    for n in 0..20_000u32 {
        table
            .set(&n.to_le_bytes(), &[n as u8; 60])
            .expect("there is room");
        if n % 7 == 0 {
            table.get(&(n / 2).to_le_bytes()).expect("no damage");
        }
    }
    // Of a handle that is not closed, and whose file is copied: the owner is no more.
    let owner = std::mem::ManuallyDrop::new(Table::open(path).expect("the table opens"));
    let options = LeaseOptions::new(HOUR).lease(HOUR);
    for n in 0..LEASED {
        let key = format!("leased {n}").into_bytes();
        let Leased::Won(lease) = owner.get_or_lease(&key, options).expect("no damage") else {
            panic!("{n} is not available");
        };
        match n % 3 {
            0 => std::mem::forget(lease),
            1 => assert!(lease.fail(HOUR, WHY).expect("no damage")),
            _ => drop(lease),
        }
    }
    let stats = table.stats().expect("no damage");
    assert!(stats.evicted_new > 1000 && stats.probationary_bytes < stats.payload_bytes);
    let report = table.check().expect("it is checked");
    assert!(report.is_clean(), "{:?}", report.problems);
}

fn repair(table: &Table, lengths: Lengths, are_hidden: bool) {
    tolerate(table.check().map(drop));
    table.repair().expect("a repair");
    assert_clean(table);
    for entry in table.iter() {
        let (key, value) = entry.expect("an entry of a repaired table");
        let got = table.get(&key).expect("a key of a repaired table");
        assert!(got.as_ref() == Some(&value), "a walk and a get differ");
    }
    lease_all(table, lengths, are_hidden);
    tags::end_all(table, lengths);
    for n in 0..WRITES {
        begin_operation();
        let (key, value) = lengths.entry(&n.to_le_bytes(), &sized(n));
        match table.set(&key, &value) {
            Ok(()) => {
                let found = table.get(&key).expect("a key of a repaired table");
                assert!(found.is_none_or(|found| found == value));
            }
            // Where it was given so small a capacity, or that it is no cache.
            Err(Error::Full { .. }) => break,
            Err(error) => panic!("{error}"),
        }
    }
    table.maintain(1 << 20).expect("no damage");
    assert_clean(table);
}

/// Nobody has a lease any more: who asks gets it, or a value.
fn lease_all(table: &Table, lengths: Lengths, are_hidden: bool) {
    if lengths.are_fixed() {
        return;
    }
    for n in 0..LEASED {
        let key = format!("leased {n}").into_bytes();
        let value = key.repeat(3);
        match table.get_or_lease(&key, LeaseOptions::new(HOUR)) {
            Ok(Leased::Won(lease)) => match lease.fill(&value) {
                Ok(is_filled) => assert!(is_filled, "a lease that is somebody else's"),
                Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
            },
            Ok(Leased::Hit(_)) | Err(Error::Full { .. }) => {}
            Ok(Leased::Failed { .. }) if are_hidden => {}
            result => panic!("{result:?}"),
        }
    }
}

fn assert_clean(table: &Table) {
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
}
