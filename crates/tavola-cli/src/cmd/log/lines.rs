//! Lines as they are printed: as text or as JSON, all or only the grave ones.

use std::io::{self, Write};

use serde_json::{Map, Value};
use tavola::{Level, LogLine, LogSink, LogText};

use super::parse_level;
use crate::output;

/// Bytes of JSON that are written out at once, about.
const CHUNK: usize = 256 << 10;

/// How lines are printed.
#[derive(clap::Args)]
pub struct Form {
    /// Only lines of this or a higher severity: error, warn, info, debug or trace
    #[arg(long, short, value_parser = parse_level, default_value = "trace")]
    level: Level,
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The form of a line: full, or short (seconds since the first line, number of the thread)
    #[arg(long, value_enum, default_value_t)]
    format: TextForm,
}

/// How a line is printed as text.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum TextForm {
    #[default]
    Full,
    Short,
}

/// Prints lines of a form to an output.
pub struct Printed<W: Write> {
    level: Level,
    sink: Sink<W>,
}

enum Sink<W: Write> {
    Text(LogText<W>),
    Json { out: W, bytes: Vec<u8> },
}

impl Form {
    pub fn to<W: Write>(&self, out: W) -> Printed<W> {
        let sink = match (self.json, self.format) {
            (false, TextForm::Full) => Sink::Text(LogText::new(out)),
            (false, TextForm::Short) => Sink::Text(LogText::short(out)),
            (true, _) => Sink::Json {
                out,
                bytes: Vec::new(),
            },
        };
        Printed {
            level: self.level,
            sink,
        }
    }

    /// Whether a line is printed.
    pub fn shows(&self, line: &LogLine<'_>) -> bool {
        line.level <= self.level
    }
}

impl<W: Write> LogSink for Printed<W> {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        if line.level > self.level {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Text(text) => text.line(line),
            Sink::Json { out, bytes } => {
                put(bytes, document(line))?;
                match bytes.len() < CHUNK {
                    true => Ok(()),
                    false => empty(bytes, out),
                }
            }
        }
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text(text) => text.dropped(lines),
            Sink::Json { bytes, .. } => put(
                bytes,
                Map::from_iter([("dropped".to_owned(), lines.into())]),
            ),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text(text) => text.flush(),
            Sink::Json { out, bytes } => {
                empty(bytes, out)?;
                out.flush()
            }
        }
    }
}

fn put(bytes: &mut Vec<u8>, document: Map<String, Value>) -> io::Result<()> {
    writeln!(bytes, "{}", Value::Object(document))
}

fn empty(bytes: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    let outcome = out.write_all(bytes);
    bytes.clear();
    outcome
}

fn document(line: &LogLine<'_>) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("unix_ns".to_owned(), line.unix_ns.into());
    document.insert("level".to_owned(), line.level.name().into());
    document.insert("pid".to_owned(), line.pid.into());
    document.insert("tid".to_owned(), line.tid.into());
    output::put_bytes(&mut document, "text", line.text);
    if line.cut > 0 {
        document.insert("cut_bytes".to_owned(), line.cut.into());
    }
    document
}
