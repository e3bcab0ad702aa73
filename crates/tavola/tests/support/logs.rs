//! Logs for tests, and what comes out of them.

use super::Dir;
use std::io;
use tavola::{Log, LogLine, LogOptions, LogReader, LogSink, Overload, Table};

/// Sheets of the smallest log, which tests use, and bytes of one.
pub const SHEETS: usize = 4;
pub const SHEET: usize = 16 << 10;

/// Options of the smallest log.
pub fn small(overload: Overload) -> LogOptions {
    let bytes = (SHEETS * SHEET) as u64;
    LogOptions::new().bytes(bytes).overload(overload)
}

/// A log that shows nothing.
pub fn quiet(log: Log) -> Log {
    log.show_on_stderr(false);
    log
}

/// Runs a test over a log in a file of its own and one beside a private table.
pub fn over_every_log(overload: Overload, test: impl Fn(&Log)) {
    if !cfg!(miri) {
        let dir = Dir::new();
        test(&quiet(small(overload).create(dir.table("own")).unwrap()));
    }
    let table = Table::options().max_size(16 << 20).private().unwrap();
    test(&quiet(small(overload).create_in(&table, "log").unwrap()));
}

/// What a drain wrote: time and text of each line.
#[derive(Default)]
pub struct Kept {
    pub lines: Vec<(u64, String)>,
    pub dropped: u64,
    /// Lines after which it fails once.
    pub fails_after: Option<usize>,
}

impl LogSink for Kept {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        if self.fails_after == Some(self.lines.len()) {
            self.fails_after = None;
            return Err(io::Error::other("no room"));
        }
        let text = String::from_utf8(line.text.to_vec()).unwrap();
        self.lines.push((line.unix_ns, text));
        Ok(())
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        self.dropped += lines;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    pub fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub fn is_in_order(&self) -> bool {
        self.lines.is_sorted_by_key(|(time, _)| *time)
    }
}

/// The lines that are new to a reader.
pub fn texts(reader: &mut LogReader) -> Vec<String> {
    let lines = reader.lines();
    lines
        .map(|line| String::from_utf8(line.text.to_vec()).unwrap())
        .collect()
}

/// A line of so many bytes with head and padding, that begins with a number.
pub fn text(number: usize, bytes: usize) -> String {
    format!("{number:0width$}", width = bytes - 24)
}
