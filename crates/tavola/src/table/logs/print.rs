//! Printing lines as text.

use super::{Level, LogLine};
use std::collections::HashMap;
use std::fmt::{self, Write as _};

/// Where a printed line goes, piece by piece.
pub(super) trait LinePieces {
    fn put(&mut self, piece: &[u8]);
}

impl LinePieces for Vec<u8> {
    #[inline]
    fn put(&mut self, piece: &[u8]) {
        self.extend_from_slice(piece);
    }
}

/// A part of a line that is the same for several lines; not on the heap.
#[derive(Clone, Copy, Default)]
struct CachedPart {
    bytes: [u8; 32],
    len: usize,
}

impl CachedPart {
    fn set(&mut self, text: fmt::Arguments<'_>) {
        self.len = 0;
        let _ = self.write_fmt(text);
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Write for CachedPart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes[self.len..]
            .get_mut(..text.len())
            .ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// Prints lines; date and writer are formatted only if they differ from those of the line before.
/// Does not use the heap, because signal handlers print, too.
#[derive(Default)]
pub(super) struct LinePrinter {
    second: u64,
    /// For example `2026-11-22T10:31:05Z`.
    date: CachedPart,
    of: (u32, u32),
    /// For example `4711/4712 `.
    writer: CachedPart,
}

impl LinePrinter {
    /// Appends a line, including its end.
    pub(super) fn print(&mut self, line: &LogLine<'_>, out: &mut impl LinePieces) {
        let (second, rest) = (line.unix_ns / 1_000_000_000, line.unix_ns % 1_000_000_000);
        if self.second != second || self.date.len == 0 {
            self.second = second;
            let whole = humantime::format_rfc3339_seconds(line.time());
            self.date.set(format_args!("{whole}"));
        }
        out.put(self.date.get().strip_suffix(b"Z").unwrap_or_default());
        out.put(b".");
        out.put(&digits((rest / 1000) as u32));
        out.put(match line.level {
            Level::Error => b"Z ERROR ",
            Level::Warn => b"Z  WARN ",
            Level::Info => b"Z  INFO ",
            Level::Debug => b"Z DEBUG ",
            Level::Trace => b"Z TRACE ",
        });
        if self.of != (line.pid, line.tid) || self.writer.len == 0 {
            self.of = (line.pid, line.tid);
            self.writer.set(format_args!("{}/{} ", line.pid, line.tid));
        }
        out.put(self.writer.get());
        put_text(line, out);
    }
}

/// How many writers are numbered, until the numbers begin again.
const MOST_WRITERS: usize = 1 << 16;

/// Prints lines in the short form: seconds since the first line, the number of the thread in the
/// order in which threads came, and the text.
#[derive(Default)]
pub(super) struct ShortPrinter {
    first_ns: Option<u64>,
    writers: HashMap<(u32, u32), usize>,
}

impl ShortPrinter {
    /// Appends a line, including its end.
    pub(super) fn print(&mut self, line: &LogLine<'_>, out: &mut impl LinePieces) {
        let first_ns = *self.first_ns.get_or_insert(line.unix_ns);
        let micros = line.unix_ns.saturating_sub(first_ns) / 1000;
        if self.writers.len() >= MOST_WRITERS {
            self.writers.clear();
        }
        let next = self.writers.len() + 1;
        let writer = *self.writers.entry((line.pid, line.tid)).or_insert(next);
        let mut head = CachedPart::default();
        head.set(format_args!("#{}.", micros / 1_000_000));
        out.put(head.get());
        out.put(&digits((micros % 1_000_000) as u32));
        head.set(format_args!(" {writer} "));
        out.put(head.get());
        put_text(line, out);
    }
}

/// Appends the text of a line, and its end.
fn put_text(line: &LogLine<'_>, out: &mut impl LinePieces) {
    escape(line.text, out);
    if line.cut > 0 {
        let mut cut = CachedPart::default();
        cut.set(format_args!(" [{} bytes cut]", line.cut));
        out.put(cut.get());
    }
    out.put(b"\n");
}

fn digits(mut number: u32) -> [u8; 6] {
    let mut text = [b'0'; 6];
    for digit in text.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    text
}

/// Escapes control characters, so that a text stays on its line and cannot steer a terminal.
fn escape(text: &[u8], out: &mut impl LinePieces) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = text;
    // Checks the whole text without a branch for each byte, as most texts have no control
    // character.
    while rest.iter().fold(false, |any, byte| any | is_control(*byte))
        && let Some(at) = rest.iter().position(|byte| is_control(*byte))
    {
        out.put(&rest[..at]);
        match rest[at] {
            b'\t' => out.put(b"\t"),
            b'\n' => out.put(b"\\n"),
            control => {
                let [high, low] = [control >> 4, control & 15].map(|digit| HEX[digit as usize]);
                out.put(&[b'\\', b'x', high, low]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.put(rest);
}

fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::<u8>::with_capacity(64 + self.text.len());
        LinePrinter::default().print(self, &mut bytes);
        // The caller adds the end of the line.
        bytes.pop();
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_counts_seconds_and_writers() {
        let mut printer = ShortPrinter::default();
        let mut print = |unix_ns, tid, text: &'static [u8]| {
            let mut out = Vec::<u8>::new();
            let line = LogLine {
                unix_ns,
                pid: 4711,
                tid,
                level: Level::Info,
                is_shown: false,
                text,
                cut: 0,
            };
            printer.print(&line, &mut out);
            String::from_utf8(out).unwrap()
        };
        let begin = 1_795_343_465_123_456_789;
        assert_eq!(print(begin, 9, b"one"), "#0.000000 1 one\n");
        assert_eq!(
            print(begin + 3_948_000, 3, b"two\n"),
            "#0.003948 2 two\\n\n"
        );
        // The clock was set back.
        assert_eq!(print(begin - 1_000, 9, b""), "#0.000000 1 \n");
        let late = begin + 61_000_000_000;
        assert_eq!(print(late, 3, b"end"), "#61.000000 2 end\n");
    }

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
        let printed = "2026-11-22T10:31:05.123456Z  INFO 4711/0 one\\ntwo\t\\x1b[31m \u{e4}";
        assert_eq!(line.to_string(), printed);
        (line.text, line.cut, line.level) = (b"", 17, Level::Error);
        let printed = "2026-11-22T10:31:05.123456Z ERROR 4711/0  [17 bytes cut]";
        assert_eq!(line.to_string(), printed);
    }
}
