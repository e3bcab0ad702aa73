//! A trace replayed through a real table with a capacity: each request is a get, and a set of the
//! same key when it misses.

use tavola::Table;

use super::Trace;
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
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Of the table.
    pub(super) capacity_bytes: u64,
    /// Mean number of items, counted since the first had to go; that at the end if none had to.
    pub(super) items_mean: f64,
    /// Requests that found their item.
    pub(super) hits: u64,
    /// As in [`tavola::Stats`].
    pub(super) evicted_new: u64,
    pub(super) evicted_old: u64,
    pub(super) ghost_hits: u64,
}

/// Replays `trace` through a fresh table of the capacity that `items` of its items fill.
pub(super) fn replay(place: &Place, trace: &Trace, items: u32, bytes: usize) -> Result<Replayed> {
    let capacity_bytes = bytes_of(place, items, bytes)?;
    let table = table(place, capacity_bytes)?;
    let mut done = Replayed {
        capacity_bytes,
        ..Replayed::default()
    };
    let mut record = Record::new(bytes);
    let step = trace.requests.len().div_ceil(COUNTS);
    let (mut is_full, mut sum, mut counts) = (false, 0, 0);
    for (at, &id) in trace.requests.iter().enumerate() {
        record.turn_to(id);
        match record.is_in(&table)? {
            true => done.hits += 1,
            false => table.set(record.key, &record.value)?,
        }
        if at % step == 0 || at + 1 == trace.requests.len() {
            let stats = table.stats()?;
            is_full |= stats.evicted_new + stats.evicted_old > 0;
            if is_full {
                sum += table.len()?;
                counts += 1;
            }
        }
    }
    done.items_mean = match counts {
        0 => table.len()? as f64,
        counts => sum as f64 / f64::from(counts),
    };
    let stats = table.stats()?;
    done.evicted_new = stats.evicted_new;
    done.evicted_old = stats.evicted_old;
    done.ghost_hits = stats.ghost_hits;
    Ok(done)
}

/// The capacity that so many items fill: the least in which as many are left of three times as
/// many that were set, to a page.
fn bytes_of(place: &Place, items: u32, bytes: usize) -> Result<u64> {
    let payload = u64::from(items).saturating_mul(8 + bytes as u64);
    let ample = payload.saturating_mul(AMPLE.0).saturating_add(AMPLE.1);
    let most = place.max_size.map_or(ample, |most| most.min(ample));
    let (mut too_small, mut enough) = (0, most / STEP);
    if held(place, enough * STEP, items, bytes)? < items.into() {
        let why = format!("{items} items do not fit into a table; give it a larger --max-size");
        return Err(Error::option("items", why));
    }
    while enough - too_small > 1 {
        let middle = too_small.midpoint(enough);
        match held(place, middle * STEP, items, bytes)? < items.into() {
            true => too_small = middle,
            false => enough = middle,
        }
    }
    Ok(enough * STEP)
}

/// How many items are left of three times as many that are set.
fn held(place: &Place, capacity_bytes: u64, items: u32, bytes: usize) -> Result<u64> {
    let table = match table(place, capacity_bytes) {
        Err(Error::Table(tavola::Error::BadOption { .. })) => return Ok(0),
        table => table?,
    };
    let mut record = Record::new(bytes);
    for id in 0..items.saturating_mul(3) {
        record.turn_to(id);
        match table.set(record.key, &record.value) {
            // Not even one of them fits.
            Err(tavola::Error::Full { .. }) => return Ok(0),
            set => set?,
        }
    }
    Ok(table.len()?)
}

fn table(place: &Place, capacity_bytes: u64) -> Result<Table> {
    Scratch::nameless(&Place {
        capacity: Some(capacity_bytes),
        ..place.clone()
    })
}

/// Key and value of an item, and room for the value the table gives.
struct Record {
    key: [u8; 8],
    value: Vec<u8>,
    found: Vec<u8>,
}

impl Record {
    fn new(bytes: usize) -> Self {
        Self {
            key: [0; 8],
            value: Vec::blank(bytes),
            found: Vec::new(),
        }
    }

    fn turn_to(&mut self, id: u32) {
        let word = KeyWords::new(8).of(id.into());
        self.key = word.to_le_bytes();
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

    #[test]
    fn what_fits_as_a_whole_is_found_and_what_does_not_is_evicted() {
        let dir = tempfile::tempdir().unwrap();
        let done = replay(&place(&dir), &circle(), 25_000, 100).unwrap();
        assert_eq!((done.hits, done.items_mean), (80_000 - 20_000, 20_000.0));
        assert_eq!((done.evicted_new, done.evicted_old), (0, 0));
        let done = replay(&place(&dir), &circle(), 5_000, 100).unwrap();
        assert!(done.evicted_new + done.evicted_old > 10_000, "{done:?}");
        // Near 5,000, as some room is left. The one that comes all the time is there each
        // time but the first.
        assert!((3_000.0..12_000.0).contains(&done.items_mean), "{done:?}");
        assert!((39_900..60_000).contains(&done.hits), "{done:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let error = bytes_of(&place(&dir), 2_000_000, 100).unwrap_err();
        assert!(matches!(error, Error::BadOption { .. } | Error::Table(_)));
    }
}
