//! Transactions: the native half. `python/tavola/_transaction.py` runs them again after a conflict.

use super::Table;
use super::counter::{Change, negated};
use super::write::Write;
use crate::cell::LockedCell;
use crate::codec::COUNTER;
use crate::error::{OrRaise, exception, refused};
use crate::text::key_of;
use pyo3::exceptions::PyKeyError;
use pyo3::{PyTraverseError, gc::PyVisit, prelude::*};
use std::sync::Arc;
use std::thread::ThreadId;
use tavola::{Attributes, Begin, Condition, Error, Savepoint};

/// Transactions of up to this number of changes commit with the interpreter's lock.
const SHORT: usize = 64;
type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// A transaction of the library with the table that it borrows.
struct Open {
    // The transaction comes first, so that it is dropped before the table.
    transaction: tavola::Transaction<'static>,
    table: Arc<tavola::Table>,
}

// SAFETY: the library's transaction belongs to its thread only because the turn is noted there.
// `Transaction::with` refuses calls of other threads. If another thread drops it, the turn is
// released as well; only the note stays, so that thread gets no turn any more.
unsafe impl Send for Open {}

impl Open {
    fn begin(table: Arc<tavola::Table>, begin: Begin) -> tavola::Result<Self> {
        let transaction = table.begin(begin)?;
        // SAFETY: `table` keeps what the transaction borrows, which an `Arc` never moves.
        let transaction = unsafe {
            std::mem::transmute::<tavola::Transaction<'_>, tavola::Transaction<'static>>(
                transaction,
            )
        };
        Ok(Self { transaction, table })
    }

    fn commit(self) -> tavola::Result<bool> {
        let Self { transaction, table } = self;
        let outcome = transaction.commit();
        drop(table);
        outcome
    }
}

/// Changes of several keys that happen at once or not at all; from :meth:`Table.transact` and
/// :meth:`Table.transaction`.
///
/// It sees its own changes; nobody else sees them before its end. It can be used by the thread
/// that began it, until its end; then calls raise :class:`tavola.ClosedError`.
///
/// >>> import tavola
/// >>> table = tavola.open("doc")
/// >>> with table.transaction() as t:
/// ...     t["a"], t["b"] = 1, 2
/// ...     t.incr("a", 10), "b" in t
/// (11, True)
/// >>> table["a"], table["b"]
/// (11, 2)
#[pyclass(frozen, module = "tavola", name = "Transaction")]
pub struct Transaction {
    table: Py<Table>,
    /// `None` after its end.
    open: LockedCell<Option<Open>>,
    owner: ThreadId,
}

impl Transaction {
    /// Calls `act` with the open transaction. It must not run Python code.
    fn with<T>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut tavola::Transaction<'static>, &tavola::Table) -> tavola::Result<T>,
    ) -> PyResult<T> {
        self.is_of_this_thread(py)?;
        let outcome = self.open.with(py, |open| {
            let open = open.as_mut()?;
            Some(act(&mut open.transaction, &open.table))
        });
        outcome.ok_or_else(|| ended(py))?.or_raise(py)
    }

    fn is_of_this_thread(&self, py: Python<'_>) -> PyResult<()> {
        match self.owner == std::thread::current().id() {
            true => Ok(()),
            false => Err(refused(
                py,
                "OTHER",
                "the transaction belongs to another thread; begin one in this thread",
            )),
        }
    }

    fn find<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.with(py, |t, _| t.get_with_attributes(key))?;
        self.decoded(py, found)
    }

    fn decoded<'py>(
        &self,
        py: Python<'py>,
        found: Option<(Vec<u8>, Attributes)>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((value, attributes)) = found else {
            return Ok(None);
        };
        let serializer = &self.table.get().serializer;
        serializer.decode(py, &value, attributes.flags).map(Some)
    }

    /// Sets a key if it exists, if it is missing, or always. Returns whether it was set.
    fn store(&self, py: Python<'_>, write: &Write<'_>) -> PyResult<bool> {
        let own = self.table.get();
        let (key, value, tags) = (write.key, write.value, &write.tags);
        self.with(py, |t, table| {
            own.with_flags(table, write.flags, |flags| {
                let attributes = Attributes {
                    expiry: write.expiry,
                    flags,
                };
                match write.condition {
                    Condition::Absent => t.add_tagged(key, value, attributes, tags),
                    Condition::Present => t.replace_tagged(key, value, attributes, tags),
                    _ => t.set_tagged(key, value, attributes, tags).map(|()| true),
                }
            })
        })
    }

    fn store_object(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
        condition: Condition,
    ) -> PyResult<bool> {
        let py = key.py();
        let given = self.table.get().given(key, value, ttl, tags)?;
        self.store(py, &given.write(py, condition))
    }

    fn count(&self, py: Python<'_>, change: &Change<'_>) -> PyResult<i64> {
        let own = self.table.get();
        self.with(py, |t, table| {
            own.with_flags(table, COUNTER, |flags| {
                let options = change.options(flags);
                if change.initial != 0 && !t.contains(change.key)? {
                    let sum = change.first()?;
                    t.set_with(change.key, sum.to_string(), options.attributes)?;
                    return Ok(sum);
                }
                t.add_number_with(change.key, change.by, options)
            })
        })
    }

    /// Takes the open transaction out, which ends it.
    fn take_open(&self, py: Python<'_>) -> PyResult<Open> {
        self.is_of_this_thread(py)?;
        self.open.with(py, Option::take).ok_or_else(|| ended(py))
    }
}

#[cold]
fn ended(py: Python<'_>) -> PyErr {
    refused(py, "CLOSED", "the transaction has ended; begin another one")
}

#[pymethods]
impl Transaction {
    /// Return the value of a key, or the default if it is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["alice"] = 10
    /// >>> table.transact(lambda t: (t.get("alice"), t.get("nobody", 0)))
    /// (10, 0)
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        key: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.find(key.py(), key_of(key)?)?.or(default))
    }

    /// Return whether a key exists; the same as ``key in t``.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: t.exists("nobody"))
    /// False
    fn exists(&self, key: Object<'_, '_>) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        self.with(py, |t, _| t.contains(key))
    }

    /// Set a key, with a TTL and tags as :meth:`Table.set`.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> with table.transaction() as t:
    /// ...     t.set("session", {"user": 7}, ttl=600)
    /// >>> table["session"]
    /// {'user': 7}
    #[pyo3(signature = (key, value, ttl=None, tags=None))]
    fn set(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<()> {
        self.store_object(key, value, ttl, tags, Condition::Always)
            .map(|_| ())
    }

    /// Set a key only if it is missing. Return whether it was set.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: (t.add("seat", "ann"), t.add("seat", "bob")))
    /// (True, False)
    #[pyo3(signature = (key, value, ttl=None, tags=None))]
    fn add(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<bool> {
        self.store_object(key, value, ttl, tags, Condition::Absent)
    }

    /// Set a key only if it exists. Return whether it was set.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: t.replace("nobody", 1))
    /// False
    #[pyo3(signature = (key, value, ttl=None, tags=None))]
    fn replace(
        &self,
        key: Object<'_, '_>,
        value: Object<'_, '_>,
        ttl: Option<Object<'_, '_>>,
        tags: Option<Object<'_, '_>>,
    ) -> PyResult<bool> {
        self.store_object(key, value, ttl, tags, Condition::Present)
    }

    /// Append ``str`` or ``bytes`` to the value of a key, whose kind does not change. Return false
    /// if the key is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["log"] = "a"
    /// >>> table.transact(lambda t: (t.append("log", "b"), t["log"]))
    /// (True, 'ab')
    fn append(&self, key: Object<'_, '_>, value: Object<'_, '_>) -> PyResult<bool> {
        let (py, more) = (key.py(), self.table.get().more(value)?);
        let (key, more) = (key_of(key)?, more.as_slice(py));
        self.with(py, |t, _| Ok(t.append(key, more)?.is_some()))
    }

    /// Remove a key. Return whether it existed.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: t.delete("nobody"))
    /// False
    fn delete(&self, key: Object<'_, '_>) -> PyResult<bool> {
        let (py, key) = (key.py(), key_of(key)?);
        self.with(py, |t, _| t.remove(key))
    }

    /// Remove a key and return its value, or the default if it is missing.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table["coupon"] = "10 %"
    /// >>> table.transact(lambda t: (t.take("coupon"), t.take("coupon")))
    /// ('10 %', None)
    #[pyo3(signature = (key, default=None))]
    fn take<'py>(
        &self,
        key: Object<'_, 'py>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, key) = (key.py(), key_of(key)?);
        let found = self.with(py, |t, _| {
            let found = t.get_with_attributes(key)?;
            t.remove(key)?;
            Ok(found)
        })?;
        Ok(self.decoded(py, found)?.or(default))
    }

    /// Add to a counter and return the sum, as :meth:`Table.incr`.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: (t.incr("visits"), t.incr("visits", 10)))
    /// (1, 11)
    #[pyo3(signature = (key, by=1, initial=0, ttl=None, *, remove_zero=false))]
    fn incr(
        &self,
        key: Object<'_, '_>,
        by: i64,
        initial: i64,
        ttl: Option<Object<'_, '_>>,
        remove_zero: bool,
    ) -> PyResult<i64> {
        self.count(key.py(), &Change::of(key, by, initial, ttl, remove_zero)?)
    }

    /// Subtract from a counter and return the result, which may be negative; as :meth:`incr`.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.transact(lambda t: t.decr("balance", 3))
    /// -3
    #[pyo3(signature = (key, by=1, initial=0, ttl=None, *, remove_zero=false))]
    fn decr(
        &self,
        key: Object<'_, '_>,
        by: i64,
        initial: i64,
        ttl: Option<Object<'_, '_>>,
        remove_zero: bool,
    ) -> PyResult<i64> {
        let by = negated(key.py(), by)?;
        self.count(key.py(), &Change::of(key, by, initial, ttl, remove_zero)?)
    }

    /// Return a savepoint: :meth:`roll_back_to` undoes the changes after it.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> with table.transaction() as t:
    /// ...     t["order"] = 7
    /// ...     before = t.savepoint()
    /// ...     t["gift"] = "book"
    /// ...     t.roll_back_to(before)
    /// >>> "order" in table, "gift" in table
    /// (True, False)
    fn savepoint(&self, py: Python<'_>) -> PyResult<u32> {
        self.with(py, |t, _| Ok(t.savepoint().number()))
    }

    /// Undo all changes since a savepoint, and forget the savepoints after it. It stays valid.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> with table.transaction() as t:
    /// ...     start = t.savepoint()
    /// ...     t["a"] = 1
    /// ...     t.roll_back_to(start)
    /// ...     "a" in t
    /// False
    fn roll_back_to(&self, py: Python<'_>, savepoint: u32) -> PyResult<()> {
        self.with(py, |t, _| t.roll_back_to(Savepoint::of(savepoint)))
    }

    /// End the transaction without changes: raise :class:`tavola.Abort`, which the transaction
    /// catches.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> with table.transaction() as t:
    /// ...     t["a"] = 1
    /// ...     t.abort()
    /// >>> "a" in table
    /// False
    fn abort(slf: &Bound<'_, Self>) -> PyResult<()> {
        let abort = slf.py().import("tavola._errors")?.getattr("Abort")?;
        Err(PyErr::from_value(abort.call1((slf,))?))
    }

    /// How many keys the transaction changes so far.
    #[getter]
    fn changes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |t, _| Ok(t.changes()))
    }

    /// Whether the transaction has ended.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.open.with(py, |open| open.is_none())
    }

    fn __getitem__<'py>(&self, key: Object<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.find(key.py(), key_of(key)?)?;
        found.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __setitem__(&self, key: Object<'_, '_>, value: Object<'_, '_>) -> PyResult<()> {
        self.store_object(key, value, None, None, Condition::Always)
            .map(|_| ())
    }

    fn __delitem__(&self, key: Object<'_, '_>) -> PyResult<()> {
        match self.delete(key)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __contains__(&self, key: Object<'_, '_>) -> PyResult<bool> {
        self.exists(key)
    }

    /// Commits. Returns false if another process has changed a key that the transaction has read.
    #[pyo3(name = "_commit")]
    fn commit(&self, py: Python<'_>) -> PyResult<bool> {
        let open = self.take_open(py)?;
        let is_long = open.transaction.changes() > SHORT || self.table.get().waits_for_disk();
        let outcome = match is_long {
            true => py.detach(|| open.commit()),
            false => open.commit(),
        };
        outcome.or_raise(py)
    }

    /// Ends the transaction without changes, also from another thread, as a generator that is
    /// deleted does it. It may have ended already.
    #[pyo3(name = "_end")]
    fn end(&self, py: Python<'_>) {
        drop(self.open.with(py, Option::take));
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.table)
    }
}

#[pymethods]
impl Table {
    /// Begins a transaction: `optimistic`, with the `turn`, or only to `read`.
    #[pyo3(name = "_begin")]
    fn begin(slf: &Bound<'_, Self>, how: &str) -> PyResult<Transaction> {
        let py = slf.py();
        let begin = match how {
            "turn" => Begin::Turn,
            "read" => Begin::ReadOnly,
            _ => Begin::Optimistic,
        };
        let table = slf.get().shared(py)?;
        // The one that has the turn may need the interpreter's lock before it gives the turn away.
        let open = match begin {
            Begin::Turn => py.detach(|| Open::begin(table, begin)),
            _ => Open::begin(table, begin),
        };
        Ok(Transaction {
            table: slf.clone().unbind(),
            open: LockedCell::new(Some(open.or_raise(py)?)),
            owner: std::thread::current().id(),
        })
    }

    /// Returns the exception for a conflict.
    #[staticmethod]
    #[pyo3(name = "_conflict")]
    fn conflict(py: Python<'_>) -> Py<PyAny> {
        exception(py, &Error::Conflict).into_value(py).into_any()
    }
}
