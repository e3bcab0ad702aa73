//! A sink that writes lines as text.

use super::LogLine;
use super::drain::LogSink;
use super::print::{LinePrinter, ShortPrinter};
use std::io::{self, Write};

/// About how many bytes are written out at once.
const CHUNK: usize = 256 * 1024;

/// Writes lines as text to a file, a pipe or a terminal; see [`LogLine`] for the form.
pub struct LogText<W> {
    out: W,
    bytes: Vec<u8>,
    printer: Printer,
}

enum Printer {
    Full(LinePrinter),
    Short(ShortPrinter),
}

impl<W: Write> LogText<W> {
    /// Writes to `out`, 256 KiB at a time.
    pub fn new(out: W) -> Self {
        Self::with(out, Printer::Full(LinePrinter::default()))
    }

    /// Writes to `out` as [`LogText::new`], in a short form: `#0.003948 2 text`. That is the
    /// seconds since the first line that was written, the number of the thread (1 for the first
    /// that came), and the text.
    pub fn short(out: W) -> Self {
        Self::with(out, Printer::Short(ShortPrinter::default()))
    }

    fn with(out: W, printer: Printer) -> Self {
        Self {
            out,
            bytes: Vec::with_capacity(CHUNK + CHUNK / 8),
            printer,
        }
    }

    fn write_out(&mut self) -> io::Result<()> {
        let outcome = self.out.write_all(&self.bytes);
        self.bytes.clear();
        outcome
    }
}

impl<W: Write> LogSink for LogText<W> {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        match &mut self.printer {
            Printer::Full(printer) => printer.print(line, &mut self.bytes),
            Printer::Short(printer) => printer.print(line, &mut self.bytes),
        }
        match self.bytes.len() < CHUNK {
            true => Ok(()),
            false => self.write_out(),
        }
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        writeln!(
            &mut self.bytes as &mut dyn Write,
            "-- {lines} lines were dropped --"
        )
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.out.flush()
    }
}
