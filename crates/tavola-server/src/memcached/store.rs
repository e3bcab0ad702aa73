//! Storing, for all protocols: set, add, replace, append, prepend, and with a unique number.

use tavola::serving::Marks;
use tavola::{Attributes, CasToken, Condition, Error, Expiry, Result, Stored};

use tavola_proto::{KeyRoom, TooLarge};

use super::exptime;
use super::failure;
use super::marks::{STALE, TOKEN_SENT};
use super::tally::Event;
use super::watch;
use super::work::Work;

/// The command that stores a value: its condition, and what becomes of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Set,
    Add,
    Replace,
    /// Stores if the unique number is this one.
    Cas(u64),
    Append(Join),
    Prepend(Join),
}

/// The options of append and prepend.
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
    /// The attributes to store; append and prepend keep those of the old value.
    pub(super) attributes: Attributes,
    /// The options that only meta commands have.
    pub(super) more: More,
}

/// The options that only meta commands have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct More {
    /// The unique number that the item gets.
    pub(super) version: Option<u64>,
    /// Whether a value for an older unique number is stored as well, and marked as stale.
    pub(super) takes_stale: bool,
    /// Whether the key came as base64.
    pub(super) is_base64: bool,
}

/// The result of storing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreOutcome {
    /// Stored, with this unique number and this size. An item that was there before may have kept
    /// its expiry time.
    Done {
        cas: u64,
        size_bytes: usize,
        kept: Option<Expiry>,
    },
    NotStored,
    Exists,
    NotFound,
}

/// Stores a value.
pub(super) fn store(work: &Work, store: &Store<'_>) -> Result<StoreOutcome> {
    work.count(Event::Set);
    work.log_lookup(store.key)?;
    let stored = match store.verb {
        Verb::Append(join) => append(work, store, join, false),
        Verb::Prepend(join) => append(work, store, join, true),
        _ => whole(work, store),
    };
    work.stored(store.key, || stored_event(store, &stored));
    match &stored {
        Ok(StoreOutcome::Done { .. }) => work.count(Event::Stored),
        Ok(_) => {}
        Err(error) => {
            failure::count(work, error);
            // The old value must not outlive the new one: the client takes the new one for stored
            // or lost.
            let is_lost = matches!(error, Error::Full { .. } | Error::TooLarge { .. });
            if store.verb == Verb::Set && is_lost {
                work.table().remove(store.key)?;
            }
        }
    }
    stored
}

/// Carries out a request whose value was too large to be read.
pub(super) fn refused(work: &Work, too_large: &TooLarge<'_>) -> Result<()> {
    let mut room = KeyRoom::default();
    let key = too_large.key.bytes(&mut room);
    work.count(Event::TooLarge);
    work.stored(key, || watch::Stored {
        status: "too_large",
        command: too_large.verb,
        ttl_s: 0,
        size_bytes: 0,
    });
    if too_large.forgets {
        work.log_lookup(key)?;
        work.table().remove(key)?;
    }
    Ok(())
}

/// Returns the event that watchers see.
fn stored_event(store: &Store<'_>, stored: &Result<StoreOutcome>) -> watch::Stored {
    watch::Stored {
        status: match stored {
            Ok(StoreOutcome::Done { .. }) => "stored",
            Ok(StoreOutcome::NotStored) => "not_stored",
            Ok(StoreOutcome::Exists) => "exists",
            Ok(StoreOutcome::NotFound) => "not_found",
            Err(Error::TooLarge { .. }) => "too_large",
            Err(_) => "no_memory",
        },
        command: match store.verb {
            Verb::Set => "set",
            Verb::Add => "add",
            Verb::Replace => "replace",
            Verb::Append(_) => "append",
            Verb::Prepend(_) => "prepend",
            Verb::Cas(_) => "cas",
        },
        ttl_s: exptime::left_s(match stored {
            Ok(StoreOutcome::Done {
                kept: Some(expiry), ..
            }) => *expiry,
            _ => store.attributes.expiry,
        })
        .unwrap_or(0),
        size_bytes: match stored {
            Ok(StoreOutcome::Done { size_bytes, .. }) => *size_bytes,
            _ => store.data.len(),
        },
    }
}

fn whole(work: &Work, store: &Store<'_>) -> Result<StoreOutcome> {
    if let Verb::Cas(cas) = store.verb
        && store.more.takes_stale
        && let Some(stored) = late(work, store, cas)?
    {
        return Ok(stored);
    }
    let how = tavola::StoreOptions {
        condition: match store.verb {
            Verb::Add => Condition::Absent,
            Verb::Replace => Condition::Present,
            Verb::Cas(cas) => Condition::Is(CasToken(cas)),
            _ => Condition::Always,
        },
        attributes: Some(store.attributes),
        version: store.more.version,
        marks: work.new_marks(store.more.is_base64),
        ..tavola::StoreOptions::default()
    };
    let stored = work.table().store(store.key, store.data, &how)?;
    if matches!(store.verb, Verb::Cas(_)) {
        work.count(match stored {
            Stored::Done(_) => Event::CasHit,
            Stored::Exists => Event::CasBadval,
            Stored::NotFound => Event::CasMiss,
        });
    }
    Ok(match (stored, store.verb) {
        (Stored::Done(token), _) => StoreOutcome::Done {
            cas: token.0,
            size_bytes: store.data.len(),
            kept: None,
        },
        (Stored::Exists, Verb::Cas(_)) => StoreOutcome::Exists,
        (Stored::NotFound, Verb::Cas(_)) => StoreOutcome::NotFound,
        _ => StoreOutcome::NotStored,
    })
}

/// Stores a value for an older unique number than the item has. The value is stale, and expires
/// when the item would have. Returns `None` if the number is not older.
fn late(work: &Work, store: &Store<'_>, cas: u64) -> Result<Option<StoreOutcome>> {
    loop {
        let found = work.table().get_entry_to_slice(store.key, &mut [])?;
        let Some((_, details)) = found.filter(|(_, details)| cas != 0 && cas < details.version)
        else {
            return Ok(None);
        };
        let new = work.new_marks(store.more.is_base64).unwrap_or_default();
        let how = tavola::StoreOptions {
            condition: Condition::Is(CasToken(details.version)),
            attributes: Some(Attributes {
                expiry: details.attributes.expiry,
                ..store.attributes
            }),
            version: store.more.version,
            marks: Some(Marks {
                clear: new.clear & !TOKEN_SENT,
                set: new.set | STALE,
            }),
            ..tavola::StoreOptions::default()
        };
        // Otherwise the item was changed in between.
        if let Stored::Done(token) = work.table().store(store.key, store.data, &how)? {
            work.count(Event::CasHit);
            return Ok(Some(StoreOutcome::Done {
                cas: token.0,
                size_bytes: store.data.len(),
                kept: how.attributes.map(|attributes| attributes.expiry),
            }));
        }
    }
}

/// Joins the data with the old value. A value that would be too large is not stored.
fn append(work: &Work, store: &Store<'_>, join: Join, before: bool) -> Result<StoreOutcome> {
    let mut old = Vec::new();
    loop {
        let Some(details) = work.table().get_entry_into(store.key, &mut old)? else {
            if !join.makes {
                return Ok(StoreOutcome::NotStored);
            }
            let add = Store {
                verb: Verb::Add,
                ..*store
            };
            match whole(work, &add)? {
                // The item was stored meanwhile.
                StoreOutcome::NotStored => continue,
                added => return Ok(added),
            }
        };
        let token = work.table().token(&details, &old)?;
        if join.cas.is_some_and(|cas| cas != token.0) {
            return Ok(StoreOutcome::Exists);
        }
        if old.len() + store.data.len() > work.shared.rules.value_bytes {
            return Ok(StoreOutcome::NotStored);
        }
        let joined = if before {
            [store.data, &old].concat()
        } else {
            [&old, store.data].concat()
        };
        let how = tavola::StoreOptions {
            condition: Condition::Is(token),
            attributes: None,
            version: store.more.version,
            marks: work.renewed_marks(),
            ..tavola::StoreOptions::default()
        };
        match work.table().store(store.key, &joined, &how) {
            Ok(Stored::Done(token)) => {
                return Ok(StoreOutcome::Done {
                    cas: token.0,
                    size_bytes: joined.len(),
                    kept: Some(details.attributes.expiry),
                });
            }
            // The item was changed in between.
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
}
