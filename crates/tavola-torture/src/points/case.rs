//! A case: the file a victim begins with, what it does, and what it should find.

use super::op::{Effect, Model, Op, Seat};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::value::{sealed, sealed_word};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::rc::Rc;
use tavola::{Table, killpoint};

pub(crate) type Prepared<T> = Result<T, Box<dyn Error>>;

/// Bytes a table of a case may grow to, unless it says otherwise.
pub(crate) const SIZE: u64 = 8 << 20;

/// A file, and what it holds.
pub(crate) type Start = (Image, Rc<Model>);

/// One case. A victim opens the file, attaches, and is killed at a store of `ops`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) image: Image,
    /// What the file holds.
    pub(crate) model: Rc<Model>,
    pub(crate) ops: Vec<Op>,
    /// Whether opening and attaching are killed too.
    pub(crate) armed_from_start: bool,
    /// Keys a survivor sets afterwards, so that the index grows on what the dead one left.
    pub(crate) growth: u32,
    /// At most so many points, when not all are wanted.
    pub(crate) sample: usize,
    /// At most so many, when all are.
    pub(crate) most: usize,
    /// A recovery from it is killed at as many points.
    pub(crate) is_thorough: bool,
    /// The table has no room: survivors remove before they write.
    pub(crate) is_full: bool,
    /// It waits for the grace of freed pages: a second a point, and how often it looks varies.
    pub(crate) waits: bool,
    /// Each point takes long: few of them are enough.
    pub(crate) few: bool,
}

/// A state per step: what each touched key may hold from the first step on.
pub(crate) type Allowed = BTreeMap<Vec<u8>, Vec<Option<Vec<u8>>>>;

impl Case {
    pub(crate) fn new(name: &str, (image, model): Start, ops: Vec<Op>) -> Self {
        Self {
            name: name.to_owned(),
            image,
            model,
            ops,
            armed_from_start: false,
            growth: 40,
            sample: 120,
            most: 10_000,
            is_thorough: false,
            is_full: false,
            waits: false,
            few: false,
        }
    }

    pub(crate) fn armed_from_start(mut self) -> Self {
        self.armed_from_start = true;
        self
    }

    pub(crate) fn full(mut self) -> Self {
        self.is_full = true;
        self
    }

    pub(crate) fn thorough(mut self) -> Self {
        self.is_thorough = true;
        self
    }

    pub(crate) fn waits(mut self) -> Self {
        self.waits = true;
        self.few()
    }

    pub(crate) fn few(mut self) -> Self {
        self.few = true;
        self
    }

    pub(crate) fn growth(mut self, keys: u32) -> Self {
        self.growth = keys;
        self
    }

    /// So many points of a case that consists of operations with cases of their own.
    pub(crate) fn most(mut self, points: usize) -> Self {
        self.most = points;
        self
    }

    /// What the table holds after `done` operations, and what the one under way may change.
    pub(crate) fn after(&self, done: usize) -> (Model, Effect) {
        let mut model = Model::clone(&self.model);
        for op in &self.ops[..done] {
            op.model(&mut model);
        }
        let pending = self.ops.get(done).map(|op| op.effect(&model));
        (model, pending.unwrap_or_default())
    }

    /// Everything the touched keys may hold at any time.
    pub(crate) fn allowed(&self) -> Allowed {
        let mut model = Model::clone(&self.model);
        let mut allowed = Allowed::new();
        for op in &self.ops {
            for (key, value) in op.effect(&model) {
                let first = || vec![model.get(&key).cloned()];
                allowed.entry(key.clone()).or_insert_with(first).push(value);
            }
            op.model(&mut model);
        }
        allowed
    }
}

/// Makes the file of a case by using a table.
pub(crate) struct Builder<'a> {
    scratch: &'a Scratch,
    path: PathBuf,
    table: Table,
    model: Model,
}

/// What one operation cost.
pub(crate) struct Cost {
    pub(crate) stores: u64,
    /// Segments it added.
    pub(crate) segments: u64,
    /// Pages it took for slabs.
    pub(crate) slabs: u64,
    /// Bytes the system gave for it.
    pub(crate) bytes: u64,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(scratch: &'a Scratch) -> Prepared<Self> {
        Self::with(scratch, SIZE)
    }

    pub(crate) fn with(scratch: &'a Scratch, max_size: u64) -> Prepared<Self> {
        let path = scratch.path("prepared");
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        let table = Table::options()
            .max_size(max_size)
            .shards(1)
            .create(&path)?;
        Ok(Self {
            scratch,
            path,
            table,
            model: Model::new(),
        })
    }

    /// A table with some keys of each kind.
    pub(crate) fn some(scratch: &'a Scratch) -> Prepared<Self> {
        let mut builder = Self::new(scratch)?;
        for number in 0..40 {
            builder.put(&key(number), 20)?;
        }
        for (name, len) in [("large", 40_000), ("larger", 70_000), ("middle", 3000)] {
            builder.put(name.as_bytes(), len)?;
        }
        builder.apply(&Op::Set(b"the word".to_vec(), sealed_word(b"the word", 1)))?;
        builder.apply(&Op::Incr(b"counter".to_vec(), 41))?;
        builder.apply(&Op::Set(b"text".to_vec(), b"99".to_vec()))?;
        Ok(builder)
    }

    /// Sets a key to a value of about that length.
    pub(crate) fn put(&mut self, key: &[u8], len: usize) -> Prepared<()> {
        self.apply(&Op::Set(key.to_vec(), sealed(key, 1, len)))
    }

    pub(crate) fn apply(&mut self, op: &Op) -> Prepared<()> {
        apply(&self.table, op)?;
        op.model(&mut self.model);
        Ok(())
    }

    pub(crate) fn segments(&self) -> Prepared<u64> {
        Ok(self.table.stats()?.segments)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The file, and what it holds.
    pub(crate) fn image(self) -> Prepared<Start> {
        drop(self.table);
        Ok((Image::load(&self.path)?, Rc::new(self.model)))
    }

    /// Does operations until one costs what is wanted: the file before that one, and that one.
    pub(crate) fn before(
        self,
        ops: impl Iterator<Item = Op>,
        wanted: impl Fn(&Cost) -> bool,
    ) -> Prepared<(Start, Op)> {
        let scratch = self.scratch;
        let (start, model) = self.image()?;
        let path = scratch.path("prepared");
        start.store(&path)?;
        let table = Table::options().open_existing(&path)?;
        // Attached before anything is measured.
        table.reap()?;
        let mut done = Vec::new();
        let mut found = None;
        for op in ops {
            let cost = cost(&table, &op)?;
            if wanted(&cost) {
                found = Some(op);
                break;
            }
            done.push(op);
        }
        let found = found.ok_or("no operation cost what was wanted")?;
        drop(table);
        // Once more from the start, without that one: same seed, same file.
        start.store(&path)?;
        let table = Table::options().open_existing(&path)?;
        let mut builder = Builder {
            scratch,
            path,
            table,
            model: Model::clone(&model),
        };
        for op in &done {
            builder.apply(op)?;
        }
        Ok((builder.image()?, found))
    }
}

/// Does an operation in a thread of its own. A thread does its share of housekeeping after so many
/// writes: so neither what is prepared nor what victims do depends on how much was written before.
fn apply(table: &Table, op: &Op) -> Prepared<u64> {
    let alone = || {
        killpoint::die_at(0);
        let done = match op {
            Op::Set(key, value) => table.set(key, value).map(|()| true),
            Op::SetMany(pairs) => table.set_many(pairs).map(|()| true),
            Op::Incr(key, by) => table.incr(key, *by).map(|_| true),
            Op::Remove(key) => table.remove(key),
            other => Seat::new(table.path()).apply(other),
        };
        done.map(|done| (done, killpoint::passed()))
    };
    let outcome = std::thread::scope(|scope| scope.spawn(alone).join());
    match outcome.map_err(|_| "a panic while a case was prepared")?? {
        (true, stores) => Ok(stores),
        (false, _) => Err(format!("{op:?} gave another answer than it should have").into()),
    }
}

fn cost(table: &Table, op: &Op) -> Prepared<Cost> {
    let before = table.stats()?;
    let stores = apply(table, op)?;
    let after = table.stats()?;
    Ok(Cost {
        stores,
        segments: after.segments.saturating_sub(before.segments),
        slabs: after.slab_bytes.abs_diff(before.slab_bytes) >> 14,
        bytes: after.resident_bytes.saturating_sub(before.resident_bytes),
    })
}

/// A key by its number.
pub(crate) fn key(number: u32) -> Vec<u8> {
    format!("key-{number:06}").into_bytes()
}

/// Sets of new keys, from a number on.
pub(crate) fn sets(from: u32, len: usize) -> impl Iterator<Item = Op> {
    (from..).map(move |number| {
        let key = key(number);
        let value = sealed(&key, 1, len);
        Op::Set(key, value)
    })
}
