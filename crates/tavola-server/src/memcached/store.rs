//! Storing, for all protocols: set, add, replace, append, prepend, and with a unique number.

use tavola::{Attributes, CasOutcome, Error, Result};

use super::failure;
use super::tally::Event;
use super::work::Work;

/// Under which condition a value is stored, and what becomes of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Set,
    Add,
    Replace,
    /// Stores where the unique number is this one.
    Cas(u64),
    Append(Join),
    Prepend(Join),
}

/// What append and prepend go by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Join {
    /// The unique number that the item must have.
    pub(super) cas: Option<u64>,
    /// Whether a missing item is made.
    pub(super) makes: bool,
}

/// A value for a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store<'a> {
    pub(super) verb: Verb,
    pub(super) key: &'a [u8],
    pub(super) data: &'a [u8],
    /// Of what is stored anew; append and prepend leave those that are there.
    pub(super) attributes: Attributes,
    /// Whether the unique number is wanted.
    pub(super) with_cas: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Outcome, with this unique number, or 0 if it was not wanted, and so many bytes.
    Done {
        cas: u64,
        size_bytes: usize,
    },
    NotStored,
    Exists,
    NotFound,
}

/// Why a value was not changed.
enum Stop {
    Table(Error),
    Exists,
    TooLarge,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Table(error)
    }
}

/// Stores a value.
pub(super) fn store(work: &Work, store: &Store<'_>) -> Result<Outcome> {
    work.count(Event::Set);
    let stored = match store.verb {
        Verb::Append(join) => return append(work, store, join, false),
        Verb::Prepend(join) => return append(work, store, join, true),
        _ => whole(work, store),
    };
    if let Err(error) = &stored {
        failure::count(work, error);
        // The old value must not outlive the new one, which its client takes for stored or lost.
        if store.verb == Verb::Set && matches!(error, Error::Full { .. } | Error::TooLarge { .. }) {
            work.table().remove(store.key)?;
        }
    }
    stored
}

fn whole(work: &Work, store: &Store<'_>) -> Result<Outcome> {
    let &Store {
        key,
        data,
        attributes,
        ..
    } = store;
    let table = work.table();
    let is_stored = match store.verb {
        Verb::Add => table.add_with(key, data, attributes)?,
        Verb::Replace => table.replace_with(key, data, attributes)?,
        Verb::Cas(cas) => {
            match table.compare_and_swap_with(key, Work::token(cas), data, attributes)? {
                CasOutcome::Swapped => work.count(Event::CasHit),
                CasOutcome::Changed => {
                    work.count(Event::CasBadval);
                    return Ok(Outcome::Exists);
                }
                CasOutcome::Missing => {
                    work.count(Event::CasMiss);
                    return Ok(Outcome::NotFound);
                }
            }
            true
        }
        _ => {
            table.set_with(key, data, attributes)?;
            true
        }
    };
    if !is_stored {
        return Ok(Outcome::NotStored);
    }
    done(work, store, data)
}

fn done(work: &Work, store: &Store<'_>, value: &[u8]) -> Result<Outcome> {
    Ok(Outcome::Done {
        cas: work.cas_if(store.with_cas, value)?,
        size_bytes: value.len(),
    })
}

/// Joins the data with what is there; what would be too large is not stored.
fn append(work: &Work, store: &Store<'_>, join: Join, before: bool) -> Result<Outcome> {
    loop {
        let joined = work.table().try_update(store.key, |old| {
            let Some(old) = old else {
                return Ok(None);
            };
            if let Some(cas) = join.cas
                && work.cas_of(old)? != cas
            {
                return Err(Stop::Exists);
            }
            if old.len() + store.data.len() > work.shared.value_bytes {
                return Err(Stop::TooLarge);
            }
            Ok(Some(if before {
                [store.data, old].concat()
            } else {
                [old, store.data].concat()
            }))
        });
        match joined {
            Ok(Some(value)) => return done(work, store, &value),
            Ok(None) if join.makes => {
                let add = Store {
                    verb: Verb::Add,
                    ..*store
                };
                let added = whole(work, &add)?;
                // Another may have stored it meanwhile.
                if added != Outcome::NotStored {
                    return Ok(added);
                }
            }
            Ok(None) | Err(Stop::TooLarge) => return Ok(Outcome::NotStored),
            Err(Stop::Exists) => return Ok(Outcome::Exists),
            Err(Stop::Table(error)) => {
                failure::count(work, &error);
                return Err(error);
            }
        }
    }
}
