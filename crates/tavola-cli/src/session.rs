//! A shell or a batch: many commands in one process, which keeps their tables open.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use tavola::{Error, Table};

use crate::error::CliError;

/// What a table is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Right {
    Read,
    Write,
}

/// The tables that the commands of this thread have opened, by name and right.
type Tables = HashMap<(OsString, Right), Rc<Table>>;

thread_local! {
    /// `None` outside a session.
    static TABLES: RefCell<Option<Tables>> = const { RefCell::new(None) };
    static FROM_STANDARD_INPUT: Cell<bool> = const { Cell::new(false) };
}

/// Starts a session of this thread. If its commands come from standard input, none of them may
/// read that.
pub fn start(from_standard_input: bool) {
    TABLES.with_borrow_mut(|tables| *tables = Some(Tables::new()));
    FROM_STANDARD_INPUT.set(from_standard_input);
}

/// Returns whether this thread is in a session.
pub fn is_active() -> bool {
    TABLES.with_borrow(Option::is_some)
}

/// Returns whether the commands of the session come from standard input.
pub fn reads_standard_input() -> bool {
    FROM_STANDARD_INPUT.get()
}

/// Opens a table, or returns the one that the session has open. A table that was removed or
/// replaced since is opened again.
pub fn open(
    name: &OsStr,
    right: Right,
    open: impl Fn() -> tavola::Result<Table>,
) -> Result<Rc<Table>, CliError> {
    let key = (name.to_os_string(), right);
    let kept = TABLES.with_borrow(|tables| tables.as_ref()?.get(&key).cloned());
    let table = match kept.map(|table| Ok((table.reopened()?, table))) {
        None | Some(Err(Error::NotFound { .. })) => Rc::new(open()?),
        Some(Err(error)) => return Err(error.into()),
        Some(Ok((Some(new), _))) => Rc::new(new),
        Some(Ok((None, same))) => return Ok(same),
    };
    TABLES.with_borrow_mut(|tables| {
        if let Some(tables) = tables {
            tables.insert(key, Rc::clone(&table));
        }
    });
    Ok(table)
}
