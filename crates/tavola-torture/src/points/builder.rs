//! The files of cases, made by using a table.

use super::case::{FIXED, Hints, Prepared, Start, Versions};
use super::seat::Seat;
use crate::image::Image;
use crate::scratch::Scratch;
use crate::value::{sealed, sealed_word};
use std::path::PathBuf;
use std::rc::Rc;
use tavola::{Options, Table, killpoint};
use tavola_model::{Answer, Model, Op, Refusal, brief, perform};

/// Bytes a table of a case may grow to, unless it says otherwise.
const SIZE: u64 = 8 << 20;
/// Slots of a segment: more than its keys.
const SEGMENT: usize = 1792;
/// Writes of a thread that does no housekeeping yet.
const FEWER_THAN_MAINTAIN: usize = 50;

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
    /// Probationary and protected keys that a cache evicted for it, and ghosts it met.
    pub(crate) evicted_new: u64,
    pub(crate) evicted_old: u64,
    pub(crate) ghosts: u64,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(scratch: &'a Scratch) -> Prepared<Self> {
        Self::with(scratch, SIZE)
    }

    pub(crate) fn with(scratch: &'a Scratch, max_size: u64) -> Prepared<Self> {
        Self::made(scratch, Table::options().max_size(max_size))
    }

    /// A table of fixed lengths, with uids.
    pub(crate) fn fixed(scratch: &'a Scratch) -> Prepared<Self> {
        let (key, value) = FIXED;
        let options = Table::options().fixed(key as u32, value as u32);
        Self::made(scratch, options.uids(true).max_size(SIZE))
    }

    /// A table with versions.
    pub(crate) fn versioned(scratch: &'a Scratch) -> Prepared<Self> {
        Self::made(scratch, Table::options().versions(true).max_size(SIZE))
    }

    /// A cache of so many bytes.
    pub(crate) fn cache(scratch: &'a Scratch, capacity: u64) -> Prepared<Self> {
        Self::made(scratch, Table::options().capacity(capacity).max_size(SIZE))
    }

    /// The same, of fixed lengths, with uids.
    pub(crate) fn fixed_cache(scratch: &'a Scratch, capacity: u64) -> Prepared<Self> {
        let (key, value) = FIXED;
        let options = Table::options().fixed(key as u32, value as u32);
        Self::made(
            scratch,
            options.uids(true).capacity(capacity).max_size(SIZE),
        )
    }

    fn made(scratch: &'a Scratch, options: Options) -> Prepared<Self> {
        let path = scratch.path("prepared");
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        // Other handles ask for uids where they want some.
        drop(options.shards(1).create(&path)?);
        let table = Table::options().open_existing(&path)?;
        Ok(Self {
            scratch,
            path,
            table,
            model: Model::default(),
        })
    }

    /// A table with some keys of each kind.
    pub(crate) fn some(scratch: &'a Scratch) -> Prepared<Self> {
        Self::new(scratch)?.filled()
    }

    /// The same of a table that has none yet.
    pub(crate) fn filled(self) -> Prepared<Self> {
        let mut builder = self;
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
        match self.has_room(op)? {
            true => Ok(()),
            false => Err(format!("there is no room for {}", brief(op)).into()),
        }
    }

    /// Does an operation. Returns false if there is no room for it.
    pub(crate) fn has_room(&mut self, op: &Op) -> Prepared<bool> {
        let (answer, _) = apply(&self.table, op)?;
        // A cache may have lost any key.
        if !matches!(op, Op::Get(_)) {
            self.model.take(op, &answer)?;
        }
        Ok(answer != Answer::Refused(Refusal::Full))
    }

    pub(crate) fn segments(&self) -> Prepared<u64> {
        Ok(self.table.stats()?.segments)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Gives these keys a uid; says the uids of all that have one.
    pub(crate) fn name(&mut self, keys: impl IntoIterator<Item = Vec<u8>>) -> Prepared<Rc<Hints>> {
        let mut hints = Hints::new();
        for key in keys {
            let hint = self.table.uid_of(&key)?.ok_or("a key that is missing")?;
            hints.push((key[..].into(), hint));
        }
        Ok(Rc::new(hints))
    }

    /// The same where some keys may be gone meanwhile.
    pub(crate) fn name_those_left(&mut self, keys: Vec<Vec<u8>>) -> Prepared<Rc<Hints>> {
        let mut hints = Hints::new();
        for key in keys {
            let hint = self.table.uid_of(&key)?;
            hints.extend(hint.map(|hint| (key[..].into(), hint)));
        }
        Ok(Rc::new(hints))
    }

    /// All keys with what they hold and their tokens.
    pub(crate) fn versions(&self) -> Prepared<Rc<Versions>> {
        let mut versions = Versions::new();
        for key in self.model.keys() {
            let there = self.table.get_with_token(key)?;
            let (value, token) = there.ok_or("a key that is missing")?;
            versions.push((key.clone(), value.into(), token));
        }
        Ok(Rc::new(versions))
    }

    /// The file, and what it holds.
    pub(crate) fn image(self) -> Prepared<Start> {
        drop(self.table);
        let mut model = self.model;
        model.release();
        Ok((Image::load(&self.path)?, Rc::new(model)))
    }

    /// Does operations until one costs what is wanted: the file `lead` operations before that one,
    /// and these.
    pub(crate) fn before(
        self,
        lead: usize,
        ops: impl Iterator<Item = Op>,
        mut wanted: impl FnMut(&Cost) -> bool,
    ) -> Prepared<(Start, Vec<Op>)> {
        let scratch = self.scratch;
        let start = self.image()?;
        let mut done = Self::until(scratch, &start, ops, &mut wanted)?;
        if done.len() <= lead {
            return Err("an operation before that cost what was wanted".into());
        }
        // Once more from the start, without the last: same seed, same file.
        let last = done.split_off(done.len() - 1 - lead);
        let mut builder = Self::opened(scratch, &start)?;
        for op in &done {
            builder.apply(op)?;
        }
        Ok((builder.image()?, last))
    }

    /// Does operations with a file until one costs what is wanted: these.
    pub(crate) fn until(
        scratch: &'a Scratch,
        start: &Start,
        ops: impl Iterator<Item = Op>,
        mut wanted: impl FnMut(&Cost) -> bool,
    ) -> Prepared<Vec<Op>> {
        let table = Self::opened(scratch, start)?.table;
        // Attached before anything is measured.
        table.participants()?;
        let mut done = Vec::new();
        for op in ops {
            let cost = cost(&table, &op)?;
            done.push(op);
            if wanted(&cost) {
                return Ok(done);
            }
        }
        Err("no operation cost what was wanted".into())
    }

    /// Continues from a file.
    pub(crate) fn opened(scratch: &'a Scratch, start: &Start) -> Prepared<Self> {
        let (image, model) = start;
        let path = scratch.path("prepared");
        image.store(&path)?;
        let table = Table::options().open_existing(&path)?;
        Ok(Self {
            scratch,
            path,
            table,
            model: Model::clone(model),
        })
    }

    /// A table in which `op` finds its own segment as it was, and of the keys of other segments one
    /// in `part` is left.
    pub(crate) fn only_near(
        scratch: &'a Scratch,
        start: &Start,
        op: &Op,
        part: usize,
    ) -> Prepared<Self> {
        let Op::Set(at, _) = op else {
            return Err("only a set has a segment of its own".into());
        };
        let done = Self::opened(scratch, start)?;
        apply(&done.table, op)?;
        let keys = done.walked()?;
        let place = keys.iter().position(|key| key == at);
        let place = place.ok_or("a key that was set is not there")?;
        let near = place.saturating_sub(SEGMENT)..place + SEGMENT;
        let far = keys.into_iter().enumerate();
        let far = far.filter(|(n, _)| !near.contains(n) && n % part != 0);
        let mut builder = Self::opened(scratch, start)?;
        builder.remove(&far.map(|(_, key)| key).collect::<Vec<_>>())?;
        Ok(builder)
    }

    /// The same with ever fewer keys, as long as the last of the operations costs what is wanted;
    /// of all keys one in `part` stays.
    pub(crate) fn thinned(
        scratch: &'a Scratch,
        mut start: Start,
        ops: &[Op],
        part: usize,
        wanted: impl Fn(&Cost) -> bool,
    ) -> Prepared<Start> {
        let keys = Self::opened(scratch, &start)?.walked()?;
        let keys = keys.into_iter().enumerate();
        let mut left: Vec<_> = keys.filter(|(n, _)| n % part != 0).collect();
        for size in [1024, 256, 64, 16] {
            let mut needed = Vec::new();
            for some in left.chunks(size) {
                let mut fewer = Self::opened(scratch, &start)?;
                let keys: Vec<_> = some.iter().map(|(_, key)| key.clone()).collect();
                fewer.remove(&keys)?;
                let fewer = fewer.image()?;
                match Self::costs(scratch, &fewer, ops, &wanted)? {
                    true => start = fewer,
                    false => needed.extend_from_slice(some),
                }
            }
            left = needed;
        }
        Ok(start)
    }

    /// All keys: those of one segment after those of the other.
    fn walked(&self) -> Prepared<Vec<Vec<u8>>> {
        let keys = self.table.iter().map(|entry| Ok(entry?.0));
        keys.collect()
    }

    /// Removes keys, and housekeeping is not done meanwhile.
    fn remove(&mut self, keys: &[Vec<u8>]) -> Prepared<()> {
        for keys in keys.chunks(FEWER_THAN_MAINTAIN) {
            let table = &self.table;
            let mut each = keys.iter();
            if !alone(|| each.try_fold(true, |all, key| Ok(all & table.remove(key)?)))?.0 {
                return Err("a key to be removed was not there".into());
            }
            keys.iter()
                .for_each(|key| drop(self.model.remove(&key[..])));
        }
        Ok(())
    }

    /// Whether the last of some operations still costs what is wanted.
    pub(crate) fn costs(
        scratch: &'a Scratch,
        start: &Start,
        ops: &[Op],
        wanted: impl Fn(&Cost) -> bool,
    ) -> Prepared<bool> {
        let Some((last, before)) = ops.split_last() else {
            return Ok(false);
        };
        let table = Self::opened(scratch, start)?.table;
        table.participants()?;
        for op in before {
            apply(&table, op)?;
        }
        Ok(wanted(&cost(&table, last)?))
    }
}

/// Does something in a thread of its own; says what came of it, and how many stores it made. A
/// thread does its share of housekeeping after so many writes: so neither what is prepared nor what
/// victims do depends on how much was written before.
fn alone<T: Send>(work: impl FnOnce() -> tavola::Result<T> + Send) -> Prepared<(T, u64)> {
    let counted = || {
        killpoint::die_at(0);
        work().map(|done| (done, killpoint::passed()))
    };
    let outcome = std::thread::scope(|scope| scope.spawn(counted).join());
    Ok(outcome.map_err(|_| "a panic while a case was prepared")??)
}

fn apply(table: &Table, op: &Op) -> Prepared<(Answer, u64)> {
    alone(|| match op {
        // Its owner is another handle.
        Op::Lease(..) => Seat::new(table.path()).apply(op),
        op => perform(table, op),
    })
}

fn cost(table: &Table, op: &Op) -> Prepared<Cost> {
    let before = table.stats()?;
    let (_, stores) = apply(table, op)?;
    let after = table.stats()?;
    Ok(Cost {
        stores,
        segments: after.segments.saturating_sub(before.segments),
        slabs: after.slab_bytes.abs_diff(before.slab_bytes) >> 14,
        bytes: after.resident_bytes.saturating_sub(before.resident_bytes),
        evicted_new: after.evicted_new - before.evicted_new,
        evicted_old: after.evicted_old - before.evicted_old,
        ghosts: after.ghost_hits - before.ghost_hits,
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
