//! The operations of the phases, one key or one batch at a time, and the loop that feeds them.
//!
//! Keys are made a chunk ahead, in memory that stays in the first-level cache; that costs about
//! one nanosecond a key, measured by running the loop with [`Nothing`] and reported.

use std::hint::black_box;
use std::time::Instant;

use tavola::Table;

use crate::bytes::{Bytes, Expect, KeyWords, head};
use crate::latency::Latency;
use crate::order::Order;
use crate::{Error, Result};

/// Keys a chunk (rounded up to whole batches).
const CHUNK: usize = 256;

/// What a phase does with its keys.
pub(super) trait Step<K> {
    fn one(&mut self, key: &K) -> Result<()>;
    fn many(&mut self, keys: &[K]) -> Result<()>;
}

/// Makes the keys of a chunk from their indices.
pub(super) struct Feed<K> {
    words: KeyWords,
    /// Added to every index: keys that are not in the table lie above all that are.
    offset: u64,
    indices: Vec<u64>,
    keys: Vec<K>,
}

impl<K: Bytes> Feed<K> {
    pub(super) fn new(key_bytes: usize, offset: u64, batch: usize) -> Self {
        let len = CHUNK.next_multiple_of(batch);
        Self {
            words: KeyWords::new(key_bytes),
            offset,
            indices: vec![0; len],
            keys: vec![K::blank(key_bytes); len],
        }
    }

    fn next(&mut self, order: &mut Order) -> &[K] {
        let len = order.fill(&mut self.indices);
        for (key, index) in self.keys[..len].iter_mut().zip(&self.indices) {
            key.fill(self.words.of(index + self.offset));
        }
        &self.keys[..len]
    }
}

/// Runs `step` over the keys of `order`, at most `limit` of them; returns how many there were.
pub(super) fn drive<K: Bytes, S: Step<K>>(
    step: &mut S,
    feed: &mut Feed<K>,
    mut order: Order,
    limit: u64,
    batch: usize,
    mut meter: Option<&mut Latency>,
) -> Result<u64> {
    let mut ops = 0;
    while ops < limit {
        let keys = feed.next(&mut order);
        if keys.is_empty() {
            break;
        }
        ops += keys.len() as u64;
        match (&mut meter, batch) {
            (None, 1) => keys.iter().try_for_each(|key| step.one(key))?,
            (None, _) => keys.chunks(batch).try_for_each(|some| step.many(some))?,
            (Some(meter), 1) => {
                keys.iter()
                    .try_for_each(|key| timed(meter, || step.one(key)))?;
            }
            (Some(meter), _) => {
                keys.chunks(batch)
                    .try_for_each(|some| timed(meter, || step.many(some)))?;
            }
        }
    }
    Ok(ops)
}

#[inline(always)]
fn timed(meter: &mut Latency, call: impl FnOnce() -> Result<()>) -> Result<()> {
    let begin = Instant::now();
    call()?;
    meter.record(begin.elapsed().as_nanos() as u64);
    Ok(())
}

#[cold]
fn wrong(phase: &str, key: &[u8], value: Option<&[u8]>) -> Error {
    let start = |bytes: &[u8]| format!("{:02x?}", &bytes[..bytes.len().min(32)]);
    let what = match value {
        Some(value) => format!("key {} has {} B {}", start(key), value.len(), start(value)),
        None => format!("key {} is missing", start(key)),
    };
    Error::wrong(phase, what)
}

/// Sets each key to its value of a generation: `put` and `over`.
pub(super) struct Write<'a, K, V> {
    table: &'a Table,
    generation: u64,
    value: V,
    pairs: Vec<(K, V)>,
}

impl<'a, K: Bytes, V: Bytes> Write<'a, K, V> {
    pub(super) fn new(
        table: &'a Table,
        key_bytes: usize,
        value_bytes: usize,
        batch: usize,
    ) -> Self {
        let value = V::blank(value_bytes);
        let pairs = vec![(K::blank(key_bytes), value.clone()); batch];
        Self {
            table,
            generation: 0,
            value,
            pairs,
        }
    }

    pub(super) fn set_generation(&mut self, generation: u64) {
        self.generation = generation;
    }
}

impl<K: Bytes, V: Bytes> Step<K> for Write<'_, K, V> {
    #[inline]
    fn one(&mut self, key: &K) -> Result<()> {
        let key = key.as_ref();
        self.value.fill(head(key).wrapping_add(self.generation));
        Ok(self.table.set(key, self.value.as_ref())?)
    }

    fn many(&mut self, keys: &[K]) -> Result<()> {
        let pairs = &mut self.pairs[..keys.len()];
        for (pair, key) in pairs.iter_mut().zip(keys) {
            pair.0.clone_from(key);
            pair.1
                .fill(head(key.as_ref()).wrapping_add(self.generation));
        }
        Ok(self.table.set_many(pairs)?)
    }
}

/// Gets each key, which must be there.
pub(super) struct Get<'a> {
    table: &'a Table,
    expect: Expect,
    value: Vec<u8>,
}

impl<'a> Get<'a> {
    pub(super) fn new(table: &'a Table, expect: Expect) -> Self {
        Self {
            table,
            expect,
            value: Vec::with_capacity(expect.value_bytes),
        }
    }
}

impl<K: Bytes> Step<K> for Get<'_> {
    #[inline]
    fn one(&mut self, key: &K) -> Result<()> {
        let key = key.as_ref();
        let found = self.table.get_into(key, &mut self.value)?;
        if found && self.expect.holds(key, &self.value) {
            return Ok(());
        }
        Err(wrong("get", key, found.then_some(&self.value)))
    }

    fn many(&mut self, keys: &[K]) -> Result<()> {
        let expect = self.expect;
        let (mut answers, mut bad) = (0, None);
        self.table.get_many(keys, |at, value| {
            answers += 1;
            if !value.is_some_and(|value| expect.holds(keys[at].as_ref(), value)) {
                bad = Some(wrong("get", keys[at].as_ref(), value));
            }
        })?;
        all_answered("get", keys.len(), answers, bad)
    }
}

/// Gets each key, which must not be there.
pub(super) struct Miss<'a> {
    table: &'a Table,
    value: Vec<u8>,
}

impl<'a> Miss<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        Self {
            table,
            value: Vec::new(),
        }
    }
}

impl<K: Bytes> Step<K> for Miss<'_> {
    #[inline]
    fn one(&mut self, key: &K) -> Result<()> {
        if self.table.get_into(key.as_ref(), &mut self.value)? {
            return Err(wrong("miss", key.as_ref(), Some(&self.value)));
        }
        Ok(())
    }

    fn many(&mut self, keys: &[K]) -> Result<()> {
        let (mut answers, mut bad) = (0, None);
        self.table.get_many(keys, |at, value| {
            answers += 1;
            if value.is_some() {
                bad = Some(wrong("miss", keys[at].as_ref(), value));
            }
        })?;
        all_answered("miss", keys.len(), answers, bad)
    }
}

fn all_answered(phase: &str, asked: usize, answers: usize, bad: Option<Error>) -> Result<()> {
    match bad {
        Some(error) => Err(error),
        None if answers == asked => Ok(()),
        None => {
            let what = format!("{answers} answers to {asked} keys of a batch");
            Err(Error::wrong(phase, what))
        }
    }
}

/// Gets 49 keys, then removes and sets one, counted as one operation.
pub(super) struct Mix<'a, K, V> {
    get: Get<'a>,
    write: Write<'a, K, V>,
    turn: u32,
    /// Other processes remove the same keys, so that one may be missing for a moment.
    shared: bool,
}

impl<'a, K: Bytes, V: Bytes> Mix<'a, K, V> {
    const EVERY: u32 = 50;

    pub(super) fn new(get: Get<'a>, write: Write<'a, K, V>, shared: bool) -> Self {
        Self {
            get,
            write,
            turn: 0,
            shared,
        }
    }

    fn renew(&mut self, key: &K) -> Result<()> {
        let removed = self.write.table.remove(key.as_ref())?;
        if !removed && !self.shared {
            return Err(wrong("mix", key.as_ref(), None));
        }
        self.write.one(key)
    }
}

impl<K: Bytes, V: Bytes> Step<K> for Mix<'_, K, V> {
    #[inline]
    fn one(&mut self, key: &K) -> Result<()> {
        self.turn += 1;
        if self.turn == Self::EVERY {
            self.turn = 0;
            return self.renew(key);
        }
        let bytes = key.as_ref();
        let found = self.get.table.get_into(bytes, &mut self.get.value)?;
        if found && self.get.expect.holds(bytes, &self.get.value) || !found && self.shared {
            return Ok(());
        }
        Err(wrong("mix", bytes, found.then_some(&self.get.value)))
    }

    fn many(&mut self, keys: &[K]) -> Result<()> {
        keys.iter().try_for_each(|key| self.one(key))
    }
}

/// Takes the keys and does nothing: what is left is the cost of the harness.
pub(super) struct Nothing;

impl<K: Bytes> Step<K> for Nothing {
    #[inline]
    fn one(&mut self, key: &K) -> Result<()> {
        black_box(key);
        Ok(())
    }

    fn many(&mut self, keys: &[K]) -> Result<()> {
        black_box(keys.len());
        Ok(())
    }
}
