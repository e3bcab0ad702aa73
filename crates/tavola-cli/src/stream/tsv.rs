//! Tab-separated text: key, tab, value, newline.
//!
//! Tab, newline, return and backslash inside a field are written `\t`, `\n`, `\r` and `\\`; every
//! other byte stands for itself. What a key has beside its value is left out. Text of others may
//! have more columns, another separator, and backslashes that mean themselves: [`Columns`] says
//! which.

use std::io::{self, BufRead, Write};

use super::{BadInput, Batch, Beside, Sink, Source, read_line};

/// Where key and value stand in a line.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Counted from 1.
    pub key: usize,
    /// Counted from 1.
    pub value: usize,
    /// The separator, if it is not the default: a tab, or in CSV a comma.
    pub separator: Option<u8>,
    /// Of CSV: the first line names the columns.
    pub has_header: bool,
    /// Backslashes mean themselves.
    pub raw: bool,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            key: 1,
            value: 2,
            separator: None,
            has_header: true,
            raw: false,
        }
    }
}

/// Writes two columns.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        Writer { out }
    }

    fn field(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let escape = |&byte: &u8| letter_of(byte).is_some();
        while let Some(at) = bytes.iter().position(escape) {
            self.out.write_all(&bytes[..at])?;
            let letter = letter_of(bytes[at]).unwrap_or(b'\\');
            self.out.write_all(&[b'\\', letter])?;
            bytes = &bytes[at + 1..];
        }
        self.out.write_all(bytes)
    }
}

/// The letter that stands for a byte after a backslash.
pub fn letter_of(byte: u8) -> Option<u8> {
    match byte {
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\\' => Some(b'\\'),
        _ => None,
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        self.field(key)?;
        self.out.write_all(b"\t")?;
        self.field(value)?;
        self.out.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads two of the columns of each line.
pub struct Reader<R> {
    input: R,
    columns: Columns,
    line: Vec<u8>,
    number: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R, columns: Columns) -> Reader<R> {
        let (line, key, value) = (Vec::new(), Vec::new(), Vec::new());
        Reader {
            input,
            columns,
            line,
            number: 0,
            key,
            value,
        }
    }

    fn parse(&mut self) -> Result<(), String> {
        let columns = self.columns;
        unescape(
            field(&self.line, columns, columns.key)?,
            columns.raw,
            &mut self.key,
        )?;
        unescape(
            field(&self.line, columns, columns.value)?,
            columns.raw,
            &mut self.value,
        )
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        self.number += 1;
        if !read_line(&mut self.input, &mut self.line)? {
            return Ok(false);
        }
        self.parse().map_err(|why| BadInput::Line {
            line: self.number,
            why,
        })?;
        batch.push(&self.key, &self.value, Beside::default());
        Ok(true)
    }
}

fn field(line: &[u8], columns: Columns, number: usize) -> Result<&[u8], String> {
    let separator = columns.separator.unwrap_or(b'\t');
    let mut fields = line.split(|&byte| byte == separator);
    fields.nth(number - 1).ok_or_else(|| {
        let count = line.split(|&byte| byte == separator).count();
        format!("there is no column {number}, only {count}; see --key, --value and --separator")
    })
}

fn unescape(mut field: &[u8], raw: bool, out: &mut Vec<u8>) -> Result<(), String> {
    out.clear();
    if !raw {
        while let Some(at) = field.iter().position(|&byte| byte == b'\\') {
            out.extend_from_slice(&field[..at]);
            out.push(match field.get(at + 1) {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b'\\') => b'\\',
                _ => return Err(UNKNOWN_ESCAPE.to_string()),
            });
            field = &field[at + 2..];
        }
    }
    out.extend_from_slice(field);
    Ok(())
}

const UNKNOWN_ESCAPE: &str = "a backslash that is not \\t, \\n, \\r or \\\\; if backslashes mean \
    themselves, give --raw; if this is what COPY of PostgreSQL prints, --format pgcopy";

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(text: &[u8], columns: Columns) -> Result<(Vec<u8>, Vec<u8>), BadInput> {
        let mut batch = Batch::default();
        Reader::new(text, columns).next(&mut batch)?;
        let (key, value) = batch.runs().next().unwrap().0[0];
        Ok((key.to_vec(), value.to_vec()))
    }

    #[test]
    fn columns_and_separator_are_free() {
        let columns = Columns {
            key: 3,
            value: 1,
            separator: Some(b';'),
            raw: true,
            ..Columns::default()
        };
        let entry = read_one(b"C:\\new;x;key;y\n", columns).unwrap();
        assert_eq!(entry, (b"key".to_vec(), b"C:\\new".to_vec()));
    }

    #[test]
    fn key_and_value_may_be_the_same_column() {
        let columns = Columns {
            key: 1,
            value: 1,
            ..Columns::default()
        };
        let entry = read_one(b"word", columns).unwrap();
        assert_eq!(entry, (b"word".to_vec(), b"word".to_vec()));
    }

    #[test]
    fn missing_columns_and_unknown_escapes_are_reported_by_line() {
        for text in [&b"key\n"[..], b"\n", b"a\\x\tb\n", b"a\tb\\", b"a\t\\0\n"] {
            let error = read_one(text, Columns::default()).unwrap_err();
            assert!(matches!(error, BadInput::Line { line: 1, .. }), "{error:?}");
        }
    }
}
