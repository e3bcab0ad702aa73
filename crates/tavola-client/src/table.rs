//! A table of this machine in the place of a server.
//!
//! Requests to it are the bytes that a server would get, and are carried out by the code of the
//! server, in the thread that asks. So a table that is served and used directly at the same time
//! is one store: outcomes, flags, expiry times and unique numbers are the same.

use crate::cause::FailureCause;
use crate::conn::Broken;
use crate::fork::{self, PerProcess, Process};
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use tavola::Table;
use tavola_server::memcached::{Memcached, MemcachedWorker, Rules};
use tavola_server::{Inside, Line};

/// A connection to a table.
#[derive(Debug)]
pub(crate) struct TableLine {
    line: Option<Line<MemcachedWorker>>,
    owner: Process,
}

impl TableLine {
    /// Carries out requests. Returns how many bytes were taken.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        self.line.as_mut().map_or(0, |line| line.write(bytes))
    }

    /// Returns how many bytes of answers there were; `None` if there are none.
    pub(crate) fn read(&mut self, memory: &mut [u8]) -> Option<usize> {
        self.line.as_mut()?.read(memory)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.line.as_ref().is_none_or(Line::is_closed)
    }
}

impl Drop for TableLine {
    /// A forked child leaves its parent's line alone: a thread that the child does not have may
    /// hold a lock that closing it takes.
    fn drop(&mut self) {
        if self.owner != fork::process() {
            mem::forget(self.line.take());
        }
    }
}

type Opened = Mutex<Option<Arc<Inside<Memcached>>>>;

/// A table, opened when it is needed first, again in a forked child.
#[derive(Clone)]
pub(crate) struct TableSite {
    name: String,
    opened: Arc<PerProcess<Opened>>,
}

impl TableSite {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            opened: Arc::new(PerProcess::new(Mutex::new(None))),
        }
    }

    /// Makes a connection that takes values of at most so many bytes.
    pub(crate) fn connect(&self, max_value: usize) -> Result<TableLine, Broken> {
        let opened = self.opened.get(|| Mutex::new(None), |_| ());
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = match &*opened {
            Some(inside) => Arc::clone(inside),
            None => {
                let inside = Arc::new(self.open(max_value)?);
                *opened = Some(Arc::clone(&inside));
                inside
            }
        };
        drop(opened);
        Ok(TableLine {
            line: Some(inside.connect()),
            owner: fork::process(),
        })
    }

    /// Opens the table as `tavola serve` does: with versions, if it is made now.
    fn open(&self, max_value: usize) -> Result<Inside<Memcached>, Broken> {
        let table = Table::options().versions(true).open(&self.name);
        let table = table.map_err(refused)?;
        let rules = Rules {
            value_bytes: max_value,
            ..Rules::default()
        };
        let service = Memcached::with_rules(Arc::new(table), rules);
        Inside::new(service).map_err(refused)
    }
}

/// There is no such table, or it cannot be served.
fn refused(error: impl ToString) -> Broken {
    Broken::of(FailureCause::Refused, error.to_string())
}

/// Two are equal if they name the same table.
impl PartialEq for TableSite {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TableSite {}

impl fmt::Debug for TableSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TableSite").field(&self.name).finish()
    }
}
