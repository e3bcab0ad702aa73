//! One JSON document: a list of objects as in [`super::jsonl`], one a line.
//!
//! Others' documents may be one object instead, whose names are the keys: a text is the value, and
//! anything else is stored as JSON. A document is read as a whole before its first entry is stored.

use std::io::{self, BufRead, Write};
use std::vec;

use serde_json::{Map, Value};

use super::jsonl::{self, Entry};
use super::{BadInput, Batch, Beside, Sink, Source};

/// Writes a list.
pub struct Writer<W> {
    out: W,
    has_entries: bool,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W) -> io::Result<Writer<W>> {
        out.write_all(b"[")?;
        Ok(Writer {
            out,
            has_entries: false,
        })
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], beside: &Beside) -> io::Result<()> {
        self.out
            .write_all(if self.has_entries { b",\n" } else { b"\n" })?;
        self.has_entries = true;
        jsonl::write_object(&mut self.out, key, value, beside)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n]\n")?;
        self.out.flush()
    }
}

/// Reads a list or an object.
pub struct Reader<R> {
    /// `None` once it was read.
    input: Option<R>,
    entries: vec::IntoIter<Parsed>,
}

type Parsed = (Vec<u8>, Vec<u8>, Beside);

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input: Some(input),
            entries: Vec::new().into_iter(),
        }
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        if let Some(mut input) = self.input.take() {
            let mut text = Vec::new();
            input.read_to_end(&mut text)?;
            self.entries = parse(&text)?.into_iter();
        }
        let Some((key, value, beside)) = self.entries.next() else {
            return Ok(false);
        };
        batch.push(&key, &value, beside);
        Ok(true)
    }
}

fn parse(text: &[u8]) -> Result<Vec<Parsed>, BadInput> {
    let bad = |error: serde_json::Error| BadInput::Line {
        line: error.line() as u64,
        why: format!("this is not a list of entries or an object ({error}); see --format"),
    };
    if text.trim_ascii_start().starts_with(b"{") {
        let all: Map<String, Value> = serde_json::from_slice(text).map_err(bad)?;
        let entry = |(key, value): (String, Value)| {
            let value = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            (key.into_bytes(), value.into_bytes(), Beside::default())
        };
        return Ok(all.into_iter().map(entry).collect());
    }
    let list: Vec<Entry> = serde_json::from_slice(text).map_err(bad)?;
    let parsed = list.into_iter().enumerate().map(|(index, entry)| {
        entry.parse().map_err(|why| BadInput::Document {
            why: format!("entry {}: {why}", index + 1),
        })
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_by_its_names() {
        let entries = parse(b" {\"a\":\"x\",\"b\":{\"c\":[1, 2]},\"d\":null}").unwrap();
        let pairs: Vec<_> = entries
            .into_iter()
            .map(|entry| (entry.0, entry.1))
            .collect();
        let expected = [("a", "x"), ("b", "{\"c\":[1,2]}"), ("d", "null")];
        assert_eq!(
            pairs,
            expected.map(|(key, value)| (key.into(), value.into()))
        );
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        for wrong in ["", "7", "[1]", "[{\"key\":\"a\"}]", "[", "{\"a\":1} x"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
