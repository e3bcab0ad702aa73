//! Counters: signed 64-bit numbers as decimal text.

use super::Table;
use crate::codec::COUNTER;
use crate::error::bad_option;
use crate::text::key_of;
use crate::time::expiry;
use pyo3::prelude::*;
use tavola::{Attributes, CasOutcome, Condition, Error, NumberOptions, StoreOptions, Stored};

/// A change of a counter.
pub(super) struct Change<'a> {
    pub key: &'a [u8],
    pub by: i64,
    pub initial: i64,
    /// Of a counter that is created.
    pub attributes: Attributes,
    pub removes_zero: bool,
}

impl<'a> Change<'a> {
    /// Reads the arguments of a call that counts.
    pub fn of(
        key: &'a Bound<'_, PyAny>,
        by: i64,
        initial: i64,
        ttl: Option<&Bound<'_, PyAny>>,
        removes_zero: bool,
    ) -> PyResult<Self> {
        Ok(Self {
            key: key_of(key)?,
            by,
            initial,
            attributes: Attributes {
                expiry: expiry(ttl)?,
                flags: COUNTER,
            },
            removes_zero,
        })
    }

    /// Returns the number that a counter has which is created.
    pub fn first(&self) -> tavola::Result<i64> {
        self.initial.checked_add(self.by).ok_or_else(too_far)
    }

    /// Returns how a number is added, with the flags that the table can store.
    pub fn options(&self, flags: u32) -> NumberOptions {
        NumberOptions {
            attributes: Attributes {
                flags,
                ..self.attributes
            },
            remove_zero: self.removes_zero,
        }
    }
}

/// Returns what `decr` adds.
pub(super) fn negated(py: Python<'_>, by: i64) -> PyResult<i64> {
    let why = "it is less than -(2^63 - 1)";
    by.checked_neg().ok_or_else(|| bad_option(py, "by", why))
}

#[cold]
fn too_far() -> Error {
    Error::BadOption {
        option: "by",
        why: "the sum does not fit a signed 64-bit number".to_string(),
    }
}

/// Creates a counter that begins at another number than 0, or changes it.
fn count_from(
    table: &tavola::Table,
    change: &Change<'_>,
    attributes: Attributes,
) -> tavola::Result<i64> {
    loop {
        match table.get_with_token(change.key)? {
            None => {
                let sum = change.first()?;
                let how = StoreOptions {
                    condition: Condition::Absent,
                    attributes: Some(attributes),
                    ..StoreOptions::default()
                };
                let stored = table.store(change.key, sum.to_string(), &how)?;
                if let Stored::Done(_) = stored {
                    return Ok(sum);
                }
            }
            Some((text, token)) => {
                let number = std::str::from_utf8(&text)
                    .ok()
                    .filter(|text| !text.starts_with('+'));
                let number: Option<i64> = number.and_then(|text| text.parse().ok());
                let number = number.ok_or(Error::NotACounter)?;
                let sum = number.checked_add(change.by).ok_or_else(too_far)?;
                let how = StoreOptions {
                    condition: Condition::Is(token),
                    attributes: None,
                    ..StoreOptions::default()
                };
                let outcome = match change.removes_zero && sum == 0 {
                    true => table.compare_and_remove(change.key, token)?,
                    false => match table.store(change.key, sum.to_string(), &how)? {
                        Stored::Done(_) => CasOutcome::Swapped,
                        _ => CasOutcome::Changed,
                    },
                };
                if outcome == CasOutcome::Swapped {
                    return Ok(sum);
                }
            }
        }
    }
}

/// Changes a counter; a new one gets these flags.
fn count_in(table: &tavola::Table, change: &Change<'_>, flags: u32) -> tavola::Result<i64> {
    let options = change.options(flags);
    if change.initial != 0 {
        return count_from(table, change, options.attributes);
    }
    table.add_number_with(change.key, change.by, options)
}

impl Table {
    fn count(&self, py: Python<'_>, change: &Change<'_>) -> PyResult<i64> {
        let flags = change.attributes.flags;
        self.change(py, |table| {
            self.with_flags(table, flags, |flags| count_in(table, change, flags))
        })
    }
}

#[pymethods]
impl Table {
    /// Add to a counter and return the sum, in one step. A missing key counts as ``initial``, and
    /// is created with this TTL. Sums are signed 64-bit numbers.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.incr("visits"), table.incr("visits", 10)
    /// (1, 11)
    #[pyo3(signature = (key, by=1, initial=0, ttl=None, *, remove_zero=false))]
    fn incr(
        &self,
        key: &Bound<'_, PyAny>,
        by: i64,
        initial: i64,
        ttl: Option<&Bound<'_, PyAny>>,
        remove_zero: bool,
    ) -> PyResult<i64> {
        self.count(key.py(), &Change::of(key, by, initial, ttl, remove_zero)?)
    }

    /// Subtract from a counter and return the result, which may be negative; as ``incr``.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.decr("balance", 3), table.decr("balance", -5)
    /// (-3, 2)
    #[pyo3(signature = (key, by=1, initial=0, ttl=None, *, remove_zero=false))]
    fn decr(
        &self,
        key: &Bound<'_, PyAny>,
        by: i64,
        initial: i64,
        ttl: Option<&Bound<'_, PyAny>>,
        remove_zero: bool,
    ) -> PyResult<i64> {
        let by = negated(key.py(), by)?;
        self.count(key.py(), &Change::of(key, by, initial, ttl, remove_zero)?)
    }
}
