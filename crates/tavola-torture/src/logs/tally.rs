//! What the drains and the reader of a soak make of its lines.

use super::record::{All, Of, Record};
use super::slate::{LineId, opened_line};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{LogLine, LogSink};

/// Looks whether lines are whole, in the order of their writers and of their times.
pub(super) struct Order {
    record: Record,
    next: HashMap<u64, u64>,
    last_ns: u64,
    pub(super) fault: Option<String>,
}

impl Order {
    pub(super) fn new(record: Record) -> Self {
        Self {
            record,
            next: HashMap::new(),
            last_ns: 0,
            fault: None,
        }
    }

    pub(super) fn line(&mut self, line: &LogLine<'_>) -> Option<LineId> {
        let whole = match opened_line(line) {
            Ok(whole) if self.is_begun(whole) => whole,
            Ok(whole) => {
                self.fault = Some(format!("line {whole:?} was never begun"));
                return None;
            }
            Err(why) => {
                self.fault = Some(why);
                return None;
            }
        };
        let next = self
            .next
            .insert(whole.writer, whole.number + 1)
            .unwrap_or(0);
        if whole.number < next {
            self.fault = Some(format!("line {whole:?} comes after number {}", next - 1));
        }
        if line.unix_ns < self.last_ns {
            self.record.late(whole);
        }
        self.last_ns = self.last_ns.max(line.unix_ns);
        Some(whole)
    }

    fn is_begun(&self, line: LineId) -> bool {
        let LineId { writer, number } = line;
        let record = &self.record;
        writer < record.writers() && number < record.of(writer, Of::Begun).load(Relaxed)
    }
}

/// Where the drains of a soak write to.
pub(super) struct Tally {
    pub(super) order: Order,
    lines: Vec<LineId>,
}

impl Tally {
    pub(super) fn new(record: Record) -> Self {
        Self {
            order: Order::new(record),
            lines: Vec::new(),
        }
    }

    /// A pass has returned, with so many lines.
    pub(super) fn finished(&mut self, lines: usize) -> Result<(), String> {
        let unfinished = self.order.record.all(All::Unfinished);
        unfinished.fetch_sub(lines as u64, Relaxed);
        self.order.fault.take().map_or(Ok(()), Err)
    }
}

impl LogSink for Tally {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        self.lines.extend(self.order.line(line));
        Ok(())
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        self.order
            .record
            .all(All::Reported)
            .fetch_add(lines, Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let record = self.order.record;
        let count = self.lines.len() as u64;
        record.all(All::Unfinished).fetch_add(count, Relaxed);
        self.lines.drain(..).for_each(|line| record.received(line));
        Ok(())
    }
}
