//! Ways on which the writer itself prints the line, with its time, its level and its writer.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::thread::gettid;
use tavola::{Level, LogLine, LogSink, LogText};

use crate::log::pen::Pen;
use crate::{Error, Result};

/// A writer's: one call of `write` for each line, whole.
///
/// Lines are printed by tavola's own code, which reckons the date once a second: so a stamp costs
/// these ways no more than it costs a drain.
pub(in crate::log) struct Stamped<W: Write> {
    out: LogText<W>,
    pid: u32,
    tid: u32,
}

impl<W: Write> Stamped<W> {
    /// For the calling thread.
    pub(in crate::log) fn new(out: W) -> Self {
        Self {
            out: LogText::new(out),
            pid: std::process::id(),
            tid: gettid().as_raw_nonzero().get().unsigned_abs(),
        }
    }

    fn print(&mut self, text: &str) -> std::io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = LogLine {
            unix_ns: now.map_or(0, |since| since.as_nanos() as u64),
            pid: self.pid,
            tid: self.tid,
            level: Level::Info,
            is_shown: false,
            text: text.as_bytes(),
            cut: 0,
        };
        self.out.line(&line)?;
        self.out.flush()
    }
}

impl<W: Write> Pen for Stamped<W> {
    #[inline]
    fn line(&mut self, text: &str) -> Result<()> {
        self.print(text).map_err(Error::io("writing a line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Calls<'a>(&'a mut Vec<String>);

    impl Write for Calls<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_one_call() {
        let mut calls = Vec::new();
        let mut pen = Stamped::new(Calls(&mut calls));
        pen.line("one").unwrap();
        pen.line(&"x".repeat(16_360)).unwrap();
        assert_eq!(calls.len(), 2, "{calls:?}");
        let who = format!("Z  INFO {}/", std::process::id());
        assert!(
            calls[0].contains(&who) && calls[0].ends_with(" one\n"),
            "{calls:?}"
        );
    }
}
