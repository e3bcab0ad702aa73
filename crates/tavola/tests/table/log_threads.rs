//! Logs with a thread that drains them.

use crate::support::Dir;
use crate::support::logs::{quiet, small};
use crate::support::patience::Watch;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tavola::{Error, Level, Log, LogLine, LogSink, LogText, Overload};

/// Takes lines into memory that the test shares; fails while it is told to.
#[derive(Clone, Default)]
struct SharedSink {
    bytes: Arc<Mutex<Vec<u8>>>,
    fails: Arc<AtomicBool>,
}

impl SharedSink {
    fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }
}

impl Write for SharedSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.fails.load(Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn a_log(dir: &Dir) -> Log {
    quiet(small(Overload::DropNewest).open(dir.table("log")).unwrap())
}

#[test]
#[cfg_attr(miri, ignore = "needs files")]
fn all_lines_come_out_when_the_thread_is_stopped_or_dropped() {
    let dir = Dir::new();
    let log = a_log(&dir);
    let sink = SharedSink::default();
    log.line(Level::Info, "before").unwrap();
    let drain = log.start_drain(LogText::short(sink.clone())).unwrap();
    assert!(matches!(
        log.start_drain(LogText::new(io::sink())),
        Err(Error::AlreadyDrained)
    ));
    for line in ["a", "b"] {
        log.line(Level::Info, line).unwrap();
    }
    assert_eq!(drain.stop().unwrap(), 3);
    assert!(!log.has_drain());
    let texts = |text: &str| {
        let text = text.lines().filter_map(|line| line.split(' ').nth(2));
        text.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(texts(&sink.text()), "before a b");
    let drain = log.start_drain(LogText::short(sink.clone())).unwrap();
    log.line(Level::Info, "c").unwrap();
    drop(drain);
    assert_eq!(texts(&sink.text()), "before a b c");
}

#[test]
#[cfg_attr(miri, ignore = "needs files")]
fn lines_come_again_after_a_sink_has_failed() {
    let _watch = Watch::begin();
    let dir = Dir::new();
    let log = a_log(&dir);
    let sink = SharedSink::default();
    sink.fails.store(true, Relaxed);
    log.line(Level::Info, "one").unwrap();
    let drain = log.start_drain(LogText::new(sink.clone())).unwrap();
    while !drain.has_failed() {
        std::thread::yield_now();
    }
    assert_eq!((drain.lines(), sink.text().as_str()), (0, ""));
    sink.fails.store(false, Relaxed);
    while drain.has_failed() {
        std::thread::yield_now();
    }
    assert_eq!(drain.lines(), 1);
    sink.fails.store(true, Relaxed);
    log.line(Level::Info, "two").unwrap();
    assert!(matches!(drain.stop(), Err(Error::Sink { .. })));
    assert!(!sink.text().contains("two"));
    sink.fails.store(false, Relaxed);
    let drain = log.start_drain(LogText::new(sink.clone())).unwrap();
    assert_eq!(drain.stop().unwrap(), 1);
    assert!(sink.text().ends_with("two\n"));
}

/// Panics with the first line.
struct Panicking;

impl LogSink for Panicking {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        // Not by the macro, whose message would be printed.
        std::panic::resume_unwind(Box::new(line.pid));
    }

    fn dropped(&mut self, _lines: u64) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs files")]
fn a_sink_that_panics_ends_its_thread_and_keeps_the_lines() {
    let dir = Dir::new();
    let log = a_log(&dir);
    log.line(Level::Info, "one").unwrap();
    drop(log.start_drain(Panicking).unwrap());
    assert!(!log.has_drain());
    let sink = SharedSink::default();
    let drain = log.start_drain(LogText::new(sink.clone())).unwrap();
    assert_eq!(drain.stop().unwrap(), 1);
    assert!(sink.text().ends_with("one\n"));
}
