//! A change that depends on the old value: read, compute, and store if the value is still the one
//! that was read.

use std::borrow::Cow;

use tavola::{Attributes, Condition, Details, Expiry, StoreOptions, Stored};

use super::refusal::{Refusal, TOO_LONG};
use super::work::Work;

/// The attributes of a new key, whatever the default TTL of the table is.
pub(super) const NEVER: Attributes = Attributes {
    expiry: Expiry::Never,
    flags: 0,
};

/// What becomes of a key.
#[derive(Debug)]
pub(super) enum Change<'a> {
    /// Nothing.
    Leave,
    Store {
        value: Cow<'a, [u8]>,
        /// The attributes to store. If this is `None`, a key that exists keeps its own.
        attributes: Option<Attributes>,
    },
}

impl<'a> Change<'a> {
    /// Returns the change to a value that keeps the time to expire.
    pub(super) fn keeping(value: Vec<u8>) -> Self {
        Self::Store {
            value: Cow::Owned(value),
            attributes: None,
        }
    }
}

/// Changes a key as `decide` says, which gets the old value with its details, or `None` if the key
/// is missing, and is called again if another process has changed the key meanwhile. Returns the
/// second of what it returned last.
pub(super) fn change<'a, T>(
    work: &mut Work,
    key: &[u8],
    decide: impl FnMut(Option<(&[u8], &Details)>) -> Result<(Change<'a>, T), Refusal>,
) -> Result<T, Refusal> {
    let mut old = work.borrow_value();
    let changed = change_from(work, key, &mut old, decide);
    work.give_back(old);
    changed
}

fn change_from<'a, T>(
    work: &Work,
    key: &[u8],
    old: &mut Vec<u8>,
    mut decide: impl FnMut(Option<(&[u8], &Details)>) -> Result<(Change<'a>, T), Refusal>,
) -> Result<T, Refusal> {
    let table = work.table();
    loop {
        let details = table.get_entry_into(key, old)?;
        let (change, result) = decide(details.as_ref().map(|details| (&old[..], details)))?;
        let Change::Store { value, attributes } = change else {
            return Ok(result);
        };
        if value.len() > work.shared.rules.value_bytes {
            return Err(TOO_LONG);
        }
        let how = match &details {
            Some(details) => StoreOptions {
                condition: Condition::Is(table.token(details, &old[..])?),
                attributes,
                ..StoreOptions::default()
            },
            None => StoreOptions {
                condition: Condition::Absent,
                attributes: Some(attributes.unwrap_or(NEVER)),
                ..StoreOptions::default()
            },
        };
        if let Stored::Done(_) = table.store(key, &value, &how)? {
            return Ok(result);
        }
        // The key was changed, or evicted, in between.
    }
}
