//! What is prepared in a batch, and how it is executed.

use super::{RUN, tavola_bytes};
use crate::attributes::tavola_attributes;
use crate::status::{Failure, tavola_status};
use std::mem::discriminant;
use std::ops::Range;
use tavola_core::{Attributes, Expiry, Result, Table};

/// Operations that were prepared, to be executed together; for one thread at a time.
#[derive(Default)]
pub struct tavola_batch {
    /// Keys and values of the operations.
    given: Vec<u8>,
    operations: Vec<Operation>,
    /// Values that were read.
    results: Vec<u8>,
}

struct Operation {
    key: Range<usize>,
    act: Act,
    /// What became of it, when it was executed.
    done: Option<Done>,
}

/// What is done with a key. Values are ranges of what was given.
pub(super) enum Act {
    Get,
    Set(Range<usize>, Attributes),
    Change(Change),
}

/// What the core does one by one.
pub(super) enum Change {
    Add(Range<usize>, Attributes),
    Replace(Range<usize>, Attributes),
    Remove,
    Incr(u64, Option<u64>, Attributes),
    Decr(u64, Option<u64>, Attributes),
    Touch(Expiry),
}

pub(super) struct Done {
    pub(super) status: tavola_status,
    /// Of a read: a range of the results, and what the key has beside it.
    pub(super) found: Option<(Range<usize>, tavola_attributes)>,
    /// Of a counter.
    pub(super) number: Option<u64>,
}

impl Done {
    fn of(status: tavola_status) -> Self {
        Self {
            status,
            found: None,
            number: None,
        }
    }

    fn if_there(is_there: bool) -> Self {
        Self::of(match is_there {
            true => tavola_status::TAVOLA_OK,
            false => tavola_status::TAVOLA_NOT_FOUND,
        })
    }

    fn counted(number: Option<u64>) -> Self {
        Self {
            number,
            ..Self::if_there(number.is_some())
        }
    }
}

impl Operation {
    fn key<'g>(&self, given: &'g [u8]) -> &'g [u8] {
        &given[self.key.clone()]
    }
}

impl Change {
    fn run(&self, table: &Table, key: &[u8], given: &[u8]) -> Result<Done> {
        Ok(match self {
            Self::Add(value, attributes) => {
                match table.add_with(key, &given[value.clone()], *attributes)? {
                    true => Done::of(tavola_status::TAVOLA_OK),
                    false => Done::of(tavola_status::TAVOLA_EXISTS),
                }
            }
            Self::Replace(value, attributes) => {
                Done::if_there(table.replace_with(key, &given[value.clone()], *attributes)?)
            }
            Self::Remove => Done::if_there(table.remove(key)?),
            Self::Incr(by, initial, attributes) => {
                Done::counted(table.incr_with(key, *by, *initial, *attributes)?)
            }
            Self::Decr(by, initial, attributes) => {
                Done::counted(table.decr_with(key, *by, *initial, *attributes)?)
            }
            Self::Touch(expiry) => Done::if_there(table.touch(key, *expiry)?),
        })
    }
}

/// What the operations of a run lend to the core.
fn lent<L: Copy>(run: &[Operation], empty: L, lend: impl Fn(&Operation) -> L) -> [L; RUN] {
    let mut all = [empty; RUN];
    for (lent, operation) in all.iter_mut().zip(run) {
        *lent = lend(operation);
    }
    all
}

impl tavola_batch {
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.given.len();
        self.given.extend_from_slice(bytes);
        start..self.given.len()
    }

    /// Executes what follows each other and is of one kind together.
    pub(super) fn execute(&mut self, table: &Table) -> Result<()> {
        let Self {
            given,
            operations,
            results,
        } = self;
        results.clear();
        operations
            .iter_mut()
            .for_each(|operation| operation.done = None);
        let are_alike =
            |one: &Operation, next: &Operation| discriminant(&one.act) == discriminant(&next.act);
        table.wait_once(|| {
            for alike in operations.chunk_by_mut(are_alike) {
                for run in alike.chunks_mut(RUN) {
                    match run[0].act {
                        Act::Get => read(table, given, run, results)?,
                        Act::Set(..) => set(table, given, run)?,
                        Act::Change(_) => change(table, given, run)?,
                    }
                }
            }
            Ok(())
        })
    }

    /// Notes an operation, and says its number.
    pub(super) fn add(&mut self, key: &[u8], act: Act) -> usize {
        let key = self.keep(key);
        self.operations.push(Operation {
            key,
            act,
            done: None,
        });
        self.operations.len() - 1
    }

    pub(super) fn clear(&mut self) {
        self.given.clear();
        self.operations.clear();
        self.results.clear();
    }

    /// What became of an operation, if it is one of these.
    pub(super) fn done(
        &self,
        index: usize,
        is_meant: impl Fn(&Act) -> bool,
    ) -> std::result::Result<&Done, Failure> {
        let operation = self.operations.get(index);
        let done = operation.and_then(|of| of.done.as_ref().filter(|_| is_meant(&of.act)));
        done.ok_or_else(|| {
            Failure::argument("the batch has no such operation of that number that was executed")
        })
    }

    /// What was read there.
    pub(super) fn found(&self, done: &Done) -> tavola_bytes {
        let range = done.found.as_ref().map_or(0..0, |(range, _)| range.clone());
        tavola_bytes::of(&self.results[range])
    }
}

fn read(table: &Table, given: &[u8], run: &mut [Operation], results: &mut Vec<u8>) -> Result<()> {
    let keys = lent(run, &[][..], |read| read.key(given));
    table.get_many_entries(&keys[..run.len()], |i, found| {
        run[i].done = Some(match found {
            None => Done::of(tavola_status::TAVOLA_NOT_FOUND),
            Some((value, details)) => {
                results.extend_from_slice(value);
                let range = results.len() - value.len()..results.len();
                Done {
                    found: Some((range, details.attributes.into())),
                    ..Done::of(tavola_status::TAVOLA_OK)
                }
            }
        });
    })
}

fn set(table: &Table, given: &[u8], run: &mut [Operation]) -> Result<()> {
    let nothing = (&[][..], &[][..], Attributes::default());
    let entries = lent(run, nothing, |set| match &set.act {
        Act::Set(value, attributes) => (set.key(given), &given[value.clone()], *attributes),
        _ => nothing,
    });
    table.set_many_entries(&entries[..run.len()])?;
    for operation in run {
        operation.done = Some(Done::of(tavola_status::TAVOLA_OK));
    }
    Ok(())
}

/// One by one, on memory that is fetched for all.
fn change(table: &Table, given: &[u8], run: &mut [Operation]) -> Result<()> {
    let keys = lent(run, &[][..], |change| change.key(given));
    table.prefetch(&keys[..run.len()])?;
    for (operation, key) in run.iter_mut().zip(keys) {
        if let Act::Change(change) = &operation.act {
            operation.done = Some(change.run(table, key, given)?);
        }
    }
    Ok(())
}
