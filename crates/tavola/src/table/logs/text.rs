//! Lines as text.

use super::LogLine;
use super::drain::LogSink;
use super::line::Level;
use std::io::{self, Write};

/// Bytes that are written out at once, about.
const CHUNK: usize = 256 * 1024;

/// Prints lines, reckoning what is the same as in the line before only once.
#[derive(Default)]
pub(super) struct Printer {
    second: u64,
    /// `2026-11-22T10:31:05`.
    date: Vec<u8>,
    of: (u32, u32),
    /// `4711/4712 `.
    who: Vec<u8>,
}

impl Printer {
    /// Appends a line with its end.
    pub(super) fn print(&mut self, line: &LogLine<'_>, out: &mut Vec<u8>) {
        let (second, rest) = (line.unix_ns / 1_000_000_000, line.unix_ns % 1_000_000_000);
        if self.second != second || self.date.is_empty() {
            self.second = second;
            let whole = line.time();
            self.date = humantime::format_rfc3339_seconds(whole)
                .to_string()
                .into_bytes();
            self.date.pop();
        }
        out.extend_from_slice(&self.date);
        out.push(b'.');
        out.extend_from_slice(&digits((rest / 1000) as u32));
        out.extend_from_slice(match line.level {
            Level::Error => b"Z ERROR ",
            Level::Warn => b"Z  WARN ",
            Level::Info => b"Z  INFO ",
            Level::Debug => b"Z DEBUG ",
            Level::Trace => b"Z TRACE ",
        });
        if self.of != (line.pid, line.tid) || self.who.is_empty() {
            self.of = (line.pid, line.tid);
            self.who = format!("{}/{} ", line.pid, line.tid).into_bytes();
        }
        out.extend_from_slice(&self.who);
        escape(line.text, out);
        if line.cut > 0 {
            out.extend_from_slice(format!(" [{} bytes cut]", line.cut).as_bytes());
        }
        out.push(b'\n');
    }
}

fn digits(mut number: u32) -> [u8; 6] {
    let mut text = [b'0'; 6];
    for digit in text.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    text
}

/// A text stays on its line and cannot steer a terminal.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    // Looked at as a whole, without a branch a byte: as a rule there is none.
    while rest.iter().fold(false, |any, byte| any | is_control(*byte))
        && let Some(at) = rest.iter().position(|byte| is_control(*byte))
    {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\t' => out.push(b'\t'),
            b'\n' => out.extend_from_slice(b"\\n"),
            control => out.extend_from_slice(format!("\\x{control:02x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

/// Writes lines as text to a file, a pipe or a terminal; see [`LogLine`] for the form.
pub struct LogText<W> {
    out: W,
    bytes: Vec<u8>,
    printer: Printer,
}

impl<W: Write> LogText<W> {
    /// Writes there, a quarter of a MiB at a time.
    pub fn new(out: W) -> Self {
        Self {
            out,
            bytes: Vec::with_capacity(CHUNK + CHUNK / 8),
            printer: Printer::default(),
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
        self.printer.print(line, &mut self.bytes);
        match self.bytes.len() < CHUNK {
            true => Ok(()),
            false => self.write_out(),
        }
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        writeln!(self.bytes, "-- {lines} lines were dropped here --")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        let mut line = LogLine {
            unix_ns: 1_795_343_465_123_456_789,
            pid: 4711,
            tid: 0,
            level: Level::Info,
            is_shown: false,
            text: b"one\ntwo\t\x1b[31m \xc3\xa4",
            cut: 0,
        };
        let told = "2026-11-22T10:31:05.123456Z  INFO 4711/0 one\\ntwo\t\\x1b[31m \u{e4}";
        assert_eq!(line.to_string(), told);
        (line.text, line.cut, line.level) = (b"", 17, Level::Error);
        let told = "2026-11-22T10:31:05.123456Z ERROR 4711/0  [17 bytes cut]";
        assert_eq!(line.to_string(), told);
    }
}
