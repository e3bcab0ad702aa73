//! Operations on a log, and the place of a process at it.

use super::slate::{BEGUN, LineId, RETURNED, Sink, Slate, text};
use super::{Found, NAME, failed};
use crate::system::sleep_ms;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Level, Log, LogDrain, Table};

/// Milliseconds after which all lines are due.
const DUE_MS: u64 = 2;

/// One call; numbers are bytes of filler, of which a line has 24 more.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Line(usize),
    /// A number of lines.
    Lines(usize, usize),
    /// A thread writes a line and ends.
    Thread(usize),
    /// A thread writes a line, and a pass is made while it waits.
    Meanwhile(usize),
    Drain,
    Pass,
    /// A pass, in the middle of which so many lines are written.
    PassOver(usize, usize),
    Finish,
    EndDrain,
    /// Writes to the table beside the log.
    Set,
    /// Finds damage.
    Check,
    Repair,
}

/// A process's place at a log.
pub(super) struct Seat {
    path: PathBuf,
    pub(super) table: Option<Table>,
    pub(super) log: Log,
    drain: Option<LogDrain>,
    pub(super) slate: Slate,
    writer: u64,
    next: u64,
    may_be_late: bool,
}

impl Seat {
    pub(super) fn open(path: &Path, is_beside: bool, slate: Slate, writer: u64) -> Found<Self> {
        let table = match is_beside {
            true => Some(Table::open(path).map_err(failed)?),
            false => None,
        };
        let log = match &table {
            Some(table) => table.log(NAME),
            None => Log::open(path),
        };
        let log = log.map_err(failed)?;
        log.show_on_stderr(false);
        Ok(Self {
            path: path.to_path_buf(),
            table,
            log,
            drain: None,
            slate,
            writer,
            next: 0,
            may_be_late: false,
        })
    }

    /// Writers in other processes may be held up.
    pub(super) fn expect_late(mut self) -> Self {
        self.may_be_late = true;
        self
    }

    /// Writes a line and notes it; its number.
    pub(super) fn line(&mut self, filler: usize) -> Found<LineId> {
        let line = self.next();
        put(&self.log, self.slate, line, filler)?;
        Ok(line)
    }

    fn next(&mut self) -> LineId {
        self.next += 1;
        LineId {
            writer: self.writer,
            number: self.next - 1,
        }
    }

    pub(super) fn drain(&mut self) -> Found<()> {
        self.drain = Some(self.log.drain().map_err(failed)?);
        Ok(())
    }

    /// A pass, all lines or those that are due; what was written out.
    pub(super) fn pass(&mut self, is_all: bool) -> Found<Vec<LineId>> {
        self.pass_over(is_all, &mut || {})
    }

    fn pass_over(&mut self, is_all: bool, between: &mut dyn FnMut()) -> Found<Vec<LineId>> {
        let mut sink = Sink::new(self.slate, self.may_be_late, between);
        let drain = self.drain.as_mut().ok_or("no drain")?;
        let outcome = match is_all {
            true => drain.finish(&mut sink),
            false => drain.pass(&mut sink),
        };
        let lines = outcome.map_err(failed)?;
        self.slate.unfinished().fetch_sub(lines as u64, Relaxed);
        match sink.faults.first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(sink.lines),
        }
    }

    /// Does an operation; the words say what it did wrong.
    pub(super) fn apply(&mut self, op: &Op) -> Found<()> {
        match op {
            Op::Line(filler) => self.line(*filler).map(drop)?,
            Op::Lines(count, filler) => {
                for _ in 0..*count {
                    self.line(*filler)?;
                }
            }
            Op::Thread(filler) => self.thread(*filler)?.join().map_err(panicked)??,
            Op::Meanwhile(filler) => {
                let thread = self.thread(*filler)?;
                while !thread.is_finished() {
                    sleep_ms(DUE_MS);
                    self.pass(false)?;
                }
                thread.join().map_err(panicked)??;
            }
            Op::Drain => self.drain()?,
            Op::Pass => {
                sleep_ms(DUE_MS);
                self.pass(false)?;
            }
            Op::PassOver(count, filler) => {
                let lines: Vec<_> = (0..*count).map(|_| self.next()).collect();
                let (log, slate) = (self.log.clone(), self.slate);
                let mut outcome = Ok(());
                self.pass_over(true, &mut || {
                    outcome = lines
                        .iter()
                        .try_for_each(|line| put(&log, slate, *line, *filler));
                })?;
                outcome?;
            }
            Op::Finish => drop(self.pass(true)?),
            Op::EndDrain => self.drain = None,
            Op::Set => {
                let table = self.table.as_ref().ok_or("no table")?;
                let number = self.next.to_le_bytes();
                table.set(number, [number; 30].concat()).map_err(failed)?;
            }
            Op::Check => {
                let table = Table::open(&self.path).map_err(failed)?;
                if table.check().map_err(failed)?.is_clean() {
                    return Err("a check found no damage".to_owned());
                }
            }
            Op::Repair => self.repair()?,
        }
        Ok(())
    }

    pub(super) fn repair(&self) -> Found<()> {
        let table = Table::open(&self.path).map_err(failed)?;
        table.repair().map(drop).map_err(failed)
    }

    fn thread(&mut self, filler: usize) -> Found<std::thread::JoinHandle<Found<()>>> {
        let (log, slate, line) = (self.log.clone(), self.slate, self.next());
        Ok(std::thread::spawn(move || put(&log, slate, line, filler)))
    }
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> String {
    "a thread panicked".to_owned()
}

/// Writes a line and notes how far it came.
fn put(log: &Log, slate: Slate, line: LineId, filler: usize) -> Found<()> {
    let text = text(line, filler);
    slate.note(line, BEGUN);
    log.line(Level::Info, text).map_err(failed)?;
    slate.note(line, RETURNED);
    Ok(())
}
