//! Beginning transactions, and running them until they commit.

use super::Transaction;
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::lock::Turn;
use crate::table::Table;

/// After this many conflicts, a transaction waits for its turn.
const CONFLICTS: u32 = 8;

/// How a transaction begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begin {
    /// At once. Its commit finds out whether a key that it has read was changed since.
    #[default]
    Optimistic,
    /// When it has the turn of the table, which one transaction has at a time. Transactions that
    /// all begin so never conflict with each other.
    Turn,
    /// At once, and it writes nothing.
    ReadOnly,
}

impl Table {
    /// Runs a function that reads and changes several keys, and commits what it has done: all
    /// changes happen at once. If another process has changed a key that the function has read, it
    /// runs again. If it returns an error, nothing is changed, and the error is returned.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// table.set("alice", "10")?;
    /// table.transaction(|t| {
    ///     if t.add_number("alice", -4)? < 0 {
    ///         return Err(t.abort());
    ///     }
    ///     t.add_number("bob", 4)
    /// })?;
    /// assert_eq!(table.get("alice")?.as_deref(), Some(&b"6"[..]));
    /// assert_eq!(table.get("bob")?.as_deref(), Some(&b"4"[..]));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the function; otherwise as [`Transaction::commit`]. [`Error::BadOption`] for a
    /// cache, which may evict a key at any moment.
    ///
    /// # Concurrency
    /// Transactions and single calls are strictly serializable. The function may run several times,
    /// so it must do nothing that cannot be repeated; and it may see keys as they were at different
    /// moments, in a run whose result or error then does not count. After eight conflicts it waits
    /// for the turn ([`Begin::Turn`]).
    ///
    /// # Crash
    /// As [`Transaction::commit`].
    pub fn transaction<T, E: From<Error>>(
        &self,
        mut body: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        for conflicts in 0.. {
            let begin = match conflicts < CONFLICTS {
                true => Begin::Optimistic,
                false => Begin::Turn,
            };
            let mut transaction = self.begin(begin)?;
            let outcome = body(&mut transaction);
            if ends_valid(transaction, outcome.is_ok())? {
                return outcome;
            }
        }
        unreachable!("the loop ends with a commit")
    }

    /// Runs a function like [`Table::transaction`], but only once: it waits for the turn of the
    /// table first ([`Begin::Turn`]).
    ///
    /// # Errors
    /// As [`Table::transaction`]. [`Error::Conflict`] if a key was changed meanwhile by something
    /// other than a transaction with the turn; nothing is changed then.
    ///
    /// # Crash
    /// As [`Transaction::commit`]. If the process is killed while it has the turn, the next one
    /// gets it.
    pub fn transaction_once<T, E: From<Error>>(
        &self,
        body: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut transaction = self.begin(Begin::Turn)?;
        let result = body(&mut transaction)?;
        match transaction.commit()? {
            true => Ok(result),
            false => Err(Error::Conflict.into()),
        }
    }

    /// Runs a function that reads several keys as they were at one moment. It may run several
    /// times, and writes nothing.
    ///
    /// # Errors
    /// As [`Table::transaction`]. [`Error::ReadOnly`] if the function writes, or if the table is
    /// open read-only and the function reads more than one key: the comparison takes locks.
    pub fn view<T, E: From<Error>>(
        &self,
        mut body: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let mut transaction = self.begin(Begin::ReadOnly)?;
            let outcome = body(&mut transaction);
            if ends_valid(transaction, outcome.is_ok())? {
                return outcome;
            }
        }
    }

    /// Begins a transaction. [`Table::transaction`] also runs it again after a conflict.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::Begin;
    /// let mut t = table.begin(Begin::Optimistic)?;
    /// t.set("a", "1")?;
    /// let before_b = t.savepoint();
    /// t.set("b", "2")?;
    /// t.roll_back_to(before_b)?;
    /// assert!(t.commit()?);
    /// assert!(table.contains("a")? && !table.contains("b")?);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::transaction`]. [`Error::Reentrant`] if this thread has the turn already.
    pub fn begin(&self, begin: Begin) -> Result<Transaction<'_>> {
        let core = self.core()?;
        if core.region().is_cache() {
            return Err(Error::BadOption {
                option: "transaction",
                why: "a cache may evict a key at any moment; create a table without a capacity"
                    .to_string(),
            });
        }
        let turn = match begin {
            Begin::Turn => Some(turn_of(core)?),
            Begin::Optimistic | Begin::ReadOnly => None,
        };
        Ok(Transaction::new(core, turn, begin == Begin::ReadOnly))
    }
}

/// Commits, or, if the function has returned an error, finds out whether that counts: it does if
/// the function has seen keys as they were at one moment. Returns false after a conflict.
fn ends_valid(mut transaction: Transaction<'_>, commits: bool) -> Result<bool> {
    match commits {
        true => transaction.commit(),
        false => transaction.validate(),
    }
}

fn turn_of(core: &Core) -> Result<Turn<'_>> {
    Turn::acquire(core.region(), core.writer()?)
}
