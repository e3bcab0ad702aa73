//! Comma-separated values: a header, then key and value, quoted where they need it (RFC 4180).
//!
//! Any bytes fit in quotes. Time to live, flags and tags of a key are left out. Text of others may
//! have more columns, another separator and no header: [`Columns`] says so.

use std::io::{self, BufRead, Write};

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder, WriterBuilder};

use super::tsv::Columns;
use super::{BadInput, Batch, Beside, Sink, Source};

/// Writes two columns.
pub struct Writer<W: Write> {
    out: ::csv::Writer<W>,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> io::Result<Writer<W>> {
        let mut out = WriterBuilder::new().from_writer(out);
        out.write_record(["key", "value"])?;
        Ok(Writer { out })
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        Ok(self.out.write_record([key, value])?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads two of the columns of each record.
pub struct Reader<R> {
    input: ::csv::Reader<R>,
    columns: Columns,
    record: ByteRecord,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R, columns: Columns) -> Reader<R> {
        let input = ReaderBuilder::new()
            .has_headers(columns.has_header)
            .delimiter(columns.separator.unwrap_or(b','))
            .flexible(true)
            .from_reader(input);
        Reader {
            input,
            columns,
            record: ByteRecord::new(),
        }
    }

    fn column(&self, number: usize) -> Result<&[u8], BadInput> {
        self.record.get(number - 1).ok_or_else(|| BadInput::Line {
            line: self.record.position().map_or(0, ::csv::Position::line),
            why: format!(
                "there is no column {number}, only {}; see --key, --value and --separator",
                self.record.len()
            ),
        })
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        let is_there = self.input.read_byte_record(&mut self.record);
        if !is_there.map_err(bad)? {
            return Ok(false);
        }
        let (key, value) = (
            self.column(self.columns.key)?,
            self.column(self.columns.value)?,
        );
        batch.push(key, value, Beside::default());
        Ok(true)
    }
}

fn bad(error: ::csv::Error) -> BadInput {
    let line = error.position().map_or(0, ::csv::Position::line);
    let why = error.to_string();
    match error.into_kind() {
        ErrorKind::Io(source) => BadInput::Io(source),
        _ => BadInput::Line { line, why },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::read_with;
    use super::*;

    #[test]
    fn columns_separator_and_header_are_free() {
        let columns = Columns {
            key: 3,
            value: 1,
            separator: Some(b';'),
            has_header: false,
            ..Columns::default()
        };
        let (entries, error) = read_with(Format::Csv, b"\"a;\"\"b\";x;k\nc;y;l\n", columns);
        assert!(error.is_none());
        let pairs: Vec<_> = entries
            .into_iter()
            .map(|entry| (entry.0, entry.1))
            .collect();
        let expected = [(&b"k"[..], &b"a;\"b"[..]), (b"l", b"c")];
        assert_eq!(
            pairs,
            expected.map(|(key, value)| (key.to_vec(), value.to_vec()))
        );
    }

    #[test]
    fn a_missing_column_is_reported_with_its_line() {
        let text = b"key,value\na,1\nb\n";
        let (entries, error) = read_with(Format::Csv, text, Columns::default());
        assert_eq!(entries.len(), 1);
        assert!(
            matches!(error, Some(BadInput::Line { line: 3, .. })),
            "{error:?}"
        );
    }
}
