//! Events of [`tracing`](https://docs.rs/tracing) as lines of a [`tavola::Log`].
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("events");
//! use tracing_subscriber::prelude::*;
//!
//! let log = tavola::LogOptions::new().open(&path)?;
//! # log.show_on_stderr(false);
//! let subscriber = tracing_subscriber::registry().with(tavola_tracing::layer(log.clone()));
//! tracing::subscriber::with_default(subscriber, || {
//!     tracing::warn!(cart = 3, "no stock");
//! });
//! let mut reader = log.reader();
//! let line = reader.lines().next().expect("a line");
//! assert_eq!(line.level, tavola::Level::Warn);
//! assert!(line.text.ends_with(b"no stock cart=3"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

use std::io::{self, Write};

use tavola::{Level, Log};
use tracing_core::{LevelFilter, Metadata};
use tracing_subscriber::fmt::format::{DefaultFields, Format, Full};
use tracing_subscriber::fmt::{self, MakeWriter};

/// A layer that writes each event as one line: spans, target, message and fields. Time, level,
/// process and thread are the log's own.
///
/// Other settings of a layer (targets, line numbers, span events, filters) are settings of this
/// one: it is that of `tracing_subscriber::fmt`, with [`Lines`] for a writer.
pub fn layer<S>(log: Log) -> fmt::Layer<S, DefaultFields, Format<Full, ()>, Lines> {
    fmt::layer()
        .with_ansi(false)
        .with_level(false)
        .without_time()
        .with_writer(Lines::new(log))
}

/// Gives each event a writer that makes it a line.
#[derive(Clone, Debug)]
pub struct Lines {
    log: Log,
}

impl Lines {
    /// Lines of that log.
    pub fn new(log: Log) -> Self {
        Self { log }
    }
}

/// Makes a line of each write.
#[derive(Debug)]
pub struct Line<'a> {
    log: &'a Log,
    level: Level,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            log: &self.log,
            level: Level::Info,
        }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line<'a> {
        Line {
            log: &self.log,
            level: level(*event.level()),
        }
    }
}

fn level(of: tracing_core::Level) -> Level {
    match LevelFilter::from_level(of) {
        LevelFilter::ERROR => Level::Error,
        LevelFilter::WARN => Level::Warn,
        LevelFilter::INFO => Level::Info,
        LevelFilter::DEBUG => Level::Debug,
        _ => Level::Trace,
    }
}

impl Write for Line<'_> {
    /// The formatter writes an event at once, with a newline.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = event.strip_suffix(b"\n").unwrap_or(event);
        self.log.line(self.level, text).map_err(io::Error::other)?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
