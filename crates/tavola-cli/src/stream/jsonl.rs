//! JSON lines: `{"key":"alice","value":"..."}`, one entry a line.
//!
//! A key or value that is not UTF-8 is under `key_base64` or `value_base64` instead. A key that
//! expires has `"expires_unix_ms"`, one with flags `"flags"`, each a number; one with tags has
//! `"tags"`, a list of texts, or `"tags_base64"` if not all of them are UTF-8. A field of any other
//! name is an error, so that nothing that was meant is passed over.

use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{BadInput, Batch, Beside, Sink, Source, read_line};

/// Writes JSON lines.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        Writer { out }
    }
}

fn write_field(out: &mut impl Write, name: &str, bytes: &[u8]) -> io::Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            write!(out, "\"{name}\":")?;
            Ok(serde_json::to_writer(out, text)?)
        }
        Err(_) => write!(out, "\"{name}_base64\":\"{}\"", STANDARD.encode(bytes)),
    }
}

fn write_tags(out: &mut impl Write, tags: &[Vec<u8>]) -> io::Result<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let texts: Result<Vec<&str>, _> = tags.iter().map(|tag| str::from_utf8(tag)).collect();
    let (name, list) = match texts {
        Ok(texts) => ("tags", serde_json::to_string(&texts)?),
        Err(_) => {
            let encoded: Vec<String> = tags.iter().map(|tag| STANDARD.encode(tag)).collect();
            ("tags_base64", serde_json::to_string(&encoded)?)
        }
    };
    write!(out, ",\"{name}\":{list}")
}

/// Writes one entry as an object, without an end of line.
pub fn write_object(
    out: &mut impl Write,
    key: &[u8],
    value: &[u8],
    beside: &Beside,
) -> io::Result<()> {
    out.write_all(b"{")?;
    write_field(out, "key", key)?;
    out.write_all(b",")?;
    write_field(out, "value", value)?;
    if let Some(expires) = beside.expires {
        write!(out, ",\"expires_unix_ms\":{expires}")?;
    }
    if beside.flags != 0 {
        write!(out, ",\"flags\":{}", beside.flags)?;
    }
    write_tags(out, &beside.tags)?;
    out.write_all(b"}")
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], beside: &Beside) -> io::Result<()> {
        write_object(&mut self.out, key, value, beside)?;
        self.out.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads JSON lines; lines of white space are passed over.
pub struct Reader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

/// The object of an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    key: Option<String>,
    key_base64: Option<String>,
    value: Option<String>,
    value_base64: Option<String>,
    expires_unix_ms: Option<u64>,
    #[serde(default)]
    flags: u32,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    tags_base64: Vec<String>,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            line: Vec::new(),
            number: 0,
        }
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        loop {
            self.number += 1;
            if !read_line(&mut self.input, &mut self.line)? {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        let (key, value, beside) = parse(&self.line).map_err(|why| BadInput::Line {
            line: self.number,
            why,
        })?;
        batch.push(&key, &value, beside);
        Ok(true)
    }
}

fn parse(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>, Beside), String> {
    let entry: Entry = serde_json::from_slice(line).map_err(|error| {
        format!("this is not {{\"key\": \"...\", \"value\": \"...\"}} ({error}); see --format")
    })?;
    entry.parse()
}

impl Entry {
    /// Returns key, value and what is beside them.
    pub fn parse(self) -> Result<(Vec<u8>, Vec<u8>, Beside), String> {
        let key = bytes("key", self.key, self.key_base64)?;
        let value = bytes("value", self.value, self.value_base64)?;
        let beside = Beside {
            expires: self.expires_unix_ms,
            flags: self.flags,
            tags: tags(self.tags, self.tags_base64)?,
        };
        Ok((key, value, beside))
    }
}

fn tags(texts: Vec<String>, base64: Vec<String>) -> Result<Vec<Vec<u8>>, String> {
    let decode = |tag: String| {
        STANDARD
            .decode(tag)
            .map_err(|error| format!("a tag is not base64 ({error}); encode it again"))
    };
    let texts = texts.into_iter().map(|tag| Ok(tag.into_bytes()));
    texts.chain(base64.into_iter().map(decode)).collect()
}

fn bytes(name: &str, text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => STANDARD
            .decode(base64)
            .map_err(|error| format!("{name}_base64 is not base64 ({error}); encode it again")),
        (None, None) => Err(format!(
            "there is no {name}; give \"{name}\" or \"{name}_base64\""
        )),
        (Some(_), Some(_)) => Err(format!(
            "{name} and {name}_base64 are both there; leave one"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_an_entry_is_reported_by_number() {
        let wrong = [
            "x",
            "[]",
            "{\"key\":\"a\"}",
            "{\"value\":\"a\"}",
            "{\"key\":\"a\",\"value\":1}",
            "{\"key\":\"a\",\"value\":\"b\",\"ttl\":3}",
            "{\"key\":\"a\",\"value\":\"b\",\"flags\":-1}",
            "{\"key\":\"a\",\"value\":\"b\",\"expires_unix_ms\":1.5}",
            "{\"key\":\"a\",\"value\":\"b\",\"tags\":\"x\"}",
            "{\"key\":\"a\",\"value\":\"b\",\"tags_base64\":[\"?\"]}",
            "{\"key\":\"a\",\"key_base64\":\"YQ==\",\"value\":\"b\"}",
            "{\"key_base64\":\"?\",\"value\":\"b\"}",
            "{\"key\":\"a\",\"value\":\"b\"",
        ];
        for text in wrong {
            let input = format!("{{\"key\":\"a\",\"value\":\"b\"}}\n\n{text}\n");
            let mut reader = Reader::new(input.as_bytes());
            let mut batch = Batch::default();
            assert!(reader.next(&mut batch).unwrap());
            let error = reader.next(&mut batch).unwrap_err();
            assert!(
                matches!(error, BadInput::Line { line: 3, .. }),
                "{text}: {error:?}"
            );
            assert_eq!(batch.len(), 1);
        }
    }
}
