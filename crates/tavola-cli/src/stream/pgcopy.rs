//! The text of PostgreSQL's `COPY ... TO STDOUT` and `COPY ... FROM STDIN`: a line a row, tabs
//! between its columns.
//!
//! A backslash begins an escape: `\b`, `\f`, `\n`, `\r`, `\t`, `\v`, one to three octal digits, or
//! `x` and one or two hexadecimal digits; before another character it means that character. `\N`
//! alone in a column is NULL, and a line `\.` ends the text. [`Columns`] says which columns count.
//!
//! TTLs, flags and tags are left out. The columns of a table that takes a dump are of the type
//! `text`, which has no byte 0 and only valid characters; `bytea` has a notation of its own.

use std::io::{self, BufRead, Write};

use super::tsv::Columns;
use super::{BadInput, Batch, Beside, Sink, Source, read_line};

/// Writes two columns.
pub struct Writer<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        Writer {
            out,
            line: Vec::new(),
        }
    }

    fn field(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match letter_of(*byte) {
                Some(letter) => self.line.extend([b'\\', letter]),
                None => self.line.push(*byte),
            }
        }
    }
}

/// The letter that means a byte after a backslash.
fn letter_of(byte: u8) -> Option<u8> {
    match byte {
        8 => Some(b'b'),
        12 => Some(b'f'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\t' => Some(b't'),
        11 => Some(b'v'),
        b'\\' => Some(b'\\'),
        _ => None,
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        self.line.clear();
        self.field(key);
        self.line.push(b'\t');
        self.field(value);
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads two of the columns of each row.
pub struct Reader<R> {
    input: R,
    columns: Columns,
    number: u64,
    line: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
    is_ended: bool,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R, columns: Columns) -> Reader<R> {
        Reader {
            input,
            columns,
            number: 0,
            line: Vec::new(),
            key: Vec::new(),
            value: Vec::new(),
            is_ended: false,
        }
    }

    /// Reads a row: a line, and the next one if a backslash is before the newline between them.
    fn row(&mut self) -> io::Result<bool> {
        let mut row = Vec::new();
        loop {
            self.number += 1;
            if !read_line(&mut self.input, &mut self.line)? {
                // The newline that the backslash at its end would mean is not there.
                let is_cut = row.pop().is_some();
                self.number -= u64::from(is_cut);
                self.line = row;
                return Ok(is_cut);
            }
            row.extend_from_slice(&self.line);
            if !ends_escaped(&row) {
                break;
            }
            row.push(b'\n');
        }
        // A file of Windows; in a value, a return is written \r.
        if row.last() == Some(&b'\r') && !ends_escaped(&row[..row.len() - 1]) {
            row.pop();
        }
        self.line = row;
        Ok(true)
    }

    fn parse(&mut self) -> Result<(), String> {
        let Columns { key, value, .. } = self.columns;
        let separator = self.columns.separator.unwrap_or(b'\t');
        decode(column(&self.line, separator, key)?, "key", &mut self.key)?;
        decode(
            column(&self.line, separator, value)?,
            "value",
            &mut self.value,
        )
    }
}

/// Returns whether a backslash is at the end that escapes what follows.
fn ends_escaped(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns a column as it is written.
fn column(row: &[u8], separator: u8, number: usize) -> Result<&[u8], String> {
    let (mut start, mut at, mut count) = (0, 0, 1);
    while at < row.len() {
        match row[at] {
            b'\\' => at += 1,
            byte if byte == separator => {
                if count == number {
                    return Ok(&row[start..at]);
                }
                (start, count) = (at + 1, count + 1);
            }
            _ => {}
        }
        at += 1;
    }
    match count == number {
        true => Ok(&row[start..]),
        false => Err(format!(
            "there is no column {number}, only {count}; see --key, --value and --separator"
        )),
    }
}

/// Finds the bytes that a column means.
fn decode(text: &[u8], what: &str, out: &mut Vec<u8>) -> Result<(), String> {
    out.clear();
    if text == b"\\N" {
        return Err(format!(
            "the {what} is NULL; leave such rows out, as in COPY (SELECT ... WHERE {what} IS NOT \
            NULL) TO STDOUT"
        ));
    }
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let escape = &rest[at + 1..];
        let (byte, length) = match escape.first() {
            None => return Err(format!("the {what} ends with a single backslash")),
            Some(b'b') => (8, 1),
            Some(b'f') => (12, 1),
            Some(b'n') => (b'\n', 1),
            Some(b'r') => (b'\r', 1),
            Some(b't') => (b'\t', 1),
            Some(b'v') => (11, 1),
            Some(b'0'..=b'7') => number(escape, 8, 3),
            Some(b'x') => match number(&escape[1..], 16, 2) {
                (_, 0) => (b'x', 1),
                (byte, length) => (byte, length + 1),
            },
            Some(other) => (*other, 1),
        };
        out.push(byte);
        rest = &escape[length..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Returns the number that a text begins with, and its length: a few digits at most. Of a number
/// above 255 the low 8 bits count, as in PostgreSQL.
fn number(text: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let digits = text.iter().take(most).map_while(digit);
    digits.fold((0, 0), |(value, length), digit| {
        ((u32::from(value) * radix + digit) as u8, length + 1)
    })
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        if self.is_ended || !self.row()? {
            return Ok(false);
        }
        let bad = |line, why| BadInput::Line { line, why };
        if self.line == b"\\." {
            self.is_ended = true;
            return match self.row()? {
                false => Ok(false),
                true => Err(bad(self.number, AFTER_END.to_string())),
            };
        }
        self.parse().map_err(|why| bad(self.number, why))?;
        batch.push(&self.key, &self.value, Beside::default());
        Ok(true)
    }
}

const AFTER_END: &str =
    "text after the line \\. that ends the rows; load the rows of each COPY by themselves";

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{Entries, read, read_with, written};
    use super::*;

    fn pairs(text: &[u8]) -> (Entries, Option<BadInput>) {
        let (entries, error) = read(Format::Pgcopy, text);
        let pairs = entries.into_iter().map(|entry| (entry.0, entry.1));
        (pairs.collect(), error)
    }

    #[test]
    fn escapes_are_those_of_postgresql() {
        let (found, error) = pairs(
            b"a\\b\\f\\n\\r\\t\\v\\\\\tb\\101\\x41\\x4\\xyz\\q\\1018\n\
            \\\\N\t\\.\n\
            split\\\nkey\t\\\ttab\r\n\
            empty\t\n\\.\n",
        );
        assert!(error.is_none(), "{error:?}");
        let expected = [
            (&b"a\x08\x0c\n\r\t\x0b\\"[..], &b"bAA\x04xyzqA8"[..]),
            (b"\\N", b"."),
            (b"split\nkey", b"\ttab"),
            (b"empty", b""),
        ];
        let expected = expected.map(|(key, value)| (key.to_vec(), value.to_vec()));
        assert_eq!(found, expected);
        let row = [(b"\\N".to_vec(), b"\x08\x0c\n\r\t\x0b\\".to_vec())];
        assert_eq!(
            written(Format::Pgcopy, &row),
            b"\\\\N\t\\b\\f\\n\\r\\t\\v\\\\\n"
        );
    }

    #[test]
    fn columns_and_separator_are_free() {
        let columns = Columns {
            key: 3,
            value: 1,
            separator: Some(b'|'),
            ..Columns::default()
        };
        let (found, error) = read_with(Format::Pgcopy, b"v\\|w|\\N|k|x\n", columns);
        assert!(error.is_none(), "{error:?}");
        assert_eq!((&found[0].0[..], &found[0].1[..]), (&b"k"[..], &b"v|w"[..]));
    }

    #[test]
    fn nulls_missing_columns_and_odd_ends_are_reported_by_line() {
        for (text, wanted) in [
            (&b"a\t1\nb\t\\N\n"[..], "the value is NULL"),
            (b"a\t1\n\\N\t1\n", "the key is NULL"),
            (b"a\t1\nb\n", "no column 2"),
            (b"a\t1\nb\t1\\", "single backslash"),
            (b"a\t1\n\\.\nCREATE TABLE t ();\n", "line \\."),
        ] {
            let (found, error) = pairs(text);
            assert_eq!(found.len(), 1, "{text:?}");
            let Some(BadInput::Line { line, why }) = error else {
                panic!("{text:?}: {error:?}")
            };
            assert!(line >= 2 && why.contains(wanted), "{line}: {why}");
        }
    }
}
