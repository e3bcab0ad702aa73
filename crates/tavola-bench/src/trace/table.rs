//! A trace replayed through a real table with a capacity: each request is a get, and a set of the
//! same key when it misses. All that is asked of the library for that stands here.

use tavola::{Stats, Table};

use super::requests::Trace;
use super::sizes::ValueBytes;
use crate::bytes::{Bytes, Expect, KeyWords};
use crate::scratch::Scratch;
use crate::{Error, Place, Result};

/// How often the items are counted in a whole trace.
const COUNTS: usize = 1000;
/// What is enough for any items: so many times their keys and values, and some more.
const AMPLE: (u64, u64) = (4, 2 << 20);
/// Steps of a capacity.
const STEP: u64 = 16 << 10;

/// How it went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Replayed {
    /// Of the table.
    pub(super) capacity_bytes: u64,
    /// Mean number of items, counted since the first had to go; that at the end if none had to.
    pub(super) items_mean: f64,
    /// Requests that found their item.
    pub(super) hits: u64,
    /// Bytes of all values asked for, and of those that were found.
    pub(super) bytes: u64,
    pub(super) hit_bytes: u64,
    /// As in [`Stats`].
    pub(super) evicted_new: u64,
    pub(super) evicted_old: u64,
    pub(super) ghost_hits: u64,
}

/// Replays `trace` through a fresh table of the capacity that `items` of its items fill.
pub(super) fn replay(
    place: &Place,
    trace: &Trace,
    items: u32,
    sizes: ValueBytes,
) -> Result<Replayed> {
    let capacity_bytes = bytes_of(place, items, sizes)?;
    let table = table(place, capacity_bytes)?;
    let mut items = Items::default();
    let mut done = Replayed {
        capacity_bytes,
        ..Replayed::default()
    };
    let mut record = Record::new(sizes);
    let step = trace.requests().len().div_ceil(COUNTS);
    for (at, &id) in trace.requests().iter().enumerate() {
        record.turn_to(id);
        let bytes = record.value.len() as u64;
        done.bytes += bytes;
        if record.is_in(&table)? {
            done.hits += 1;
            done.hit_bytes += bytes;
        } else {
            record.set(&table)?;
        }
        if at % step == 0 {
            items.count(&table)?;
        }
    }
    items.count(&table)?;
    done.items_mean = items.mean(&table)?;
    let stats = table.stats()?;
    done.evicted_new = stats.evicted_new;
    done.evicted_old = stats.evicted_old;
    done.ghost_hits = stats.ghost_hits;
    Ok(done)
}

/// The capacity that so many items fill: the least in which as many are left of three times as
/// many that were set, to a page.
fn bytes_of(place: &Place, items: u32, sizes: ValueBytes) -> Result<u64> {
    let (times, more) = AMPLE;
    let payload: u64 = (0..items).map(|id| 8 + sizes.of(id) as u64).sum();
    let ample = payload.saturating_mul(times).saturating_add(more);
    let most = place.max_size.map_or(ample, |most| most.min(ample));
    let (mut too_small, mut enough) = (0, most / STEP);
    if held(place, enough * STEP, items, sizes)? < items.into() {
        let why = format!("{items} items do not fit into a table; give it a larger --max-size");
        return Err(Error::option("items", why));
    }
    while enough - too_small > 1 {
        let middle = too_small.midpoint(enough);
        match held(place, middle * STEP, items, sizes)? < items.into() {
            true => too_small = middle,
            false => enough = middle,
        }
    }
    Ok(enough * STEP)
}

/// How many items are left of three times as many that are set.
fn held(place: &Place, capacity_bytes: u64, items: u32, sizes: ValueBytes) -> Result<u64> {
    let table = match table(place, capacity_bytes) {
        Err(Error::Table(tavola::Error::BadOption { .. })) => return Ok(0),
        table => table?,
    };
    let mut record = Record::new(sizes);
    for id in 0..items.saturating_mul(3) {
        record.turn_to(id);
        match record.set(&table) {
            // Not even one of them fits.
            Err(Error::Table(tavola::Error::Full { .. })) => return Ok(0),
            set => set?,
        }
    }
    Ok(table.len()?)
}

/// A table with a capacity, whose name is gone already.
fn table(place: &Place, capacity_bytes: u64) -> Result<Table> {
    Scratch::nameless(&Place {
        capacity: Some(capacity_bytes),
        ..place.clone()
    })
}

fn evicted(stats: &Stats) -> u64 {
    stats.evicted_new + stats.evicted_old
}

/// The mean number of items of a table that is full.
#[derive(Default)]
struct Items {
    is_full: bool,
    sum: u64,
    counts: u64,
}

impl Items {
    fn count(&mut self, table: &Table) -> Result<()> {
        if !self.is_full {
            self.is_full = evicted(&table.stats()?) > 0;
        }
        if self.is_full {
            self.sum += table.len()?;
            self.counts += 1;
        }
        Ok(())
    }

    fn mean(&self, table: &Table) -> Result<f64> {
        match self.counts {
            0 => Ok(table.len()? as f64),
            counts => Ok(self.sum as f64 / counts as f64),
        }
    }
}

/// Key and value of an item, and room for the value the table gives.
struct Record {
    words: KeyWords,
    sizes: ValueBytes,
    key: [u8; 8],
    value: Vec<u8>,
    found: Vec<u8>,
}

impl Record {
    fn new(sizes: ValueBytes) -> Self {
        Self {
            words: KeyWords::new(8),
            sizes,
            key: [0; 8],
            value: Vec::new(),
            found: Vec::new(),
        }
    }

    fn turn_to(&mut self, id: u32) {
        let word = self.words.of(id.into());
        self.key = word.to_le_bytes();
        self.value.resize(self.sizes.of(id), b'.');
        self.value.fill(word);
    }

    fn is_in(&mut self, table: &Table) -> Result<bool> {
        if !table.get_into(self.key, &mut self.found)? {
            return Ok(false);
        }
        let expect = Expect {
            value_bytes: self.value.len(),
            oldest: 0,
            newest: 0,
        };
        if !expect.holds(&self.key, &self.found) {
            let what = format!("key {:02x?} has another value", self.key);
            return Err(Error::wrong("trace", what));
        }
        Ok(true)
    }

    fn set(&self, table: &Table) -> Result<()> {
        Ok(table.set(self.key, &self.value)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dir: &tempfile::TempDir) -> Place {
        Place {
            dir: Some(dir.path().to_owned()),
            max_size: Some(64 << 20),
            shards: Some(1),
            ..Place::default()
        }
    }

    /// 20,000 items in a circle, twice, and one of them all the time.
    fn circle() -> Trace {
        let twice = (0..20_000).chain(0..20_000);
        Trace::new("circle", twice.flat_map(|id| [id, 0]).collect())
    }

    const SIZE: ValueBytes = ValueBytes {
        least: 100,
        most: 100,
    };

    #[test]
    fn what_fits_as_a_whole_is_found_each_time_but_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let done = replay(&place(&dir), &circle(), 25_000, SIZE).unwrap();
        assert_eq!(done.hits, 80_000 - 20_000);
        assert_eq!(done.items_mean, 20_000.0);
        assert_eq!((done.bytes, done.hit_bytes), (8_000_000, 6_000_000));
        assert_eq!((done.evicted_new, done.evicted_old), (0, 0));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_does_not_fit_is_evicted_and_the_items_are_counted_from_then_on() {
        let dir = tempfile::tempdir().unwrap();
        let done = replay(&place(&dir), &circle(), 5_000, SIZE).unwrap();
        assert!(done.evicted_new + done.evicted_old > 10_000, "{done:?}");
        assert!(
            (3_000.0..12_000.0).contains(&done.items_mean),
            "{done:?}: near 5,000, but for what room is left"
        );
        // The one that comes all the time is there each time but the first.
        assert!((39_900..60_000).contains(&done.hits), "{done:?}");
    }

    #[test]
    fn items_that_no_table_can_hold_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = bytes_of(&place(&dir), 2_000_000, SIZE).unwrap_err();
        assert!(matches!(error, Error::BadOption { .. } | Error::Table(_)));
    }
}
