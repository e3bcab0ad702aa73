//! The way over a log in shared memory: what is measured.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use tavola::{Level, Log, LogDrain, LogText};

use crate::clock::monotonic_ns;
use crate::log::job::Carried;
use crate::log::pen::Pen;
use crate::{Error, Result};

/// Lines found in a pass, from which on the next begins at once: as `tavola log drain` does.
const MANY: usize = 1000;
/// How long a drain sleeps at most when it has found fewer: so it learns soon that all is over.
const NAP: Duration = Duration::from_millis(1);

/// A writer's.
#[derive(Clone)]
pub(in crate::log) struct Shared(Log);

impl Pen for Shared {
    #[inline]
    fn line(&mut self, text: &str) -> Result<()> {
        Ok(self.0.line(Level::Info, text)?)
    }
}

/// Writes out what comes, until the writers have ended.
pub(in crate::log) fn carry(
    mut drain: LogDrain,
    file: File,
    are_writers_gone: impl Fn() -> bool,
) -> Result<Carried> {
    let mut sink = LogText::new(file);
    let (mut lines, mut end_ns) = (0, monotonic_ns());
    loop {
        let is_last = are_writers_gone();
        let found = match is_last {
            true => drain.finish(&mut sink)?,
            false => drain.pass(&mut sink)?,
        };
        if found > 0 {
            lines += found as u64;
            end_ns = monotonic_ns();
        }
        if is_last {
            return Ok(Carried { lines, end_ns });
        }
        if found < MANY {
            drain.wait(NAP);
        }
    }
}

/// Without a drain nothing is to be dropped, and nothing shown.
pub(in crate::log) fn open(path: &Path) -> Result<Shared> {
    let log = Log::open(path)?;
    log.show_on_stderr(false);
    Ok(Shared(log))
}

/// The log says that it dropped none.
pub(in crate::log) fn check_none_dropped(log: &Log) -> Result<()> {
    match log.dropped() {
        0 => Ok(()),
        lines => {
            let what = format!("{lines} lines were dropped that are not to be");
            Err(Error::wrong("log", what))
        }
    }
}
