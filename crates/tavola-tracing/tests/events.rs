//! Events become lines with their level, spans and fields, from all threads.

use tavola::{Level, Log, LogOptions};
use tracing_subscriber::prelude::*;

fn log(dir: &tempfile::TempDir) -> Log {
    let log = LogOptions::new().open(dir.path().join("events"));
    let log = log.expect("a log");
    log.show_on_stderr(false);
    log
}

fn lines(log: &Log) -> Vec<(Level, String)> {
    let mut reader = log.reader();
    let lines = reader.lines();
    lines
        .map(|line| (line.level, String::from_utf8(line.text.to_vec()).unwrap()))
        .collect()
}

#[test]
fn an_event_of_each_level_is_a_line_of_that_level() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(&dir);
    let subscriber = tracing_subscriber::registry().with(tavola_tracing::layer(log.clone()));
    tracing::subscriber::with_default(subscriber, || {
        tracing::error!("e");
        tracing::warn!("w");
        tracing::info!(answer = 42, name = "x y", "two\nlines");
        let span = tracing::info_span!("request", id = 7);
        let _inside = span.enter();
        tracing::debug!("d");
        tracing::trace!(target: "elsewhere", "t");
    });
    let wanted = [
        (Level::Error, "events: e"),
        (Level::Warn, "events: w"),
        (Level::Info, "events: two\nlines answer=42 name=\"x y\""),
        (Level::Debug, "request{id=7}: events: d"),
        (Level::Trace, "request{id=7}: elsewhere: t"),
    ];
    assert_eq!(
        lines(&log),
        wanted.map(|(level, text)| (level, text.to_owned()))
    );
}

#[test]
fn threads_write_beside_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(&dir);
    let layer = tavola_tracing::layer(log.clone()).with_target(false);
    let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let dispatch = dispatch.clone();
            scope.spawn(move || {
                tracing::dispatcher::with_default(&dispatch, || {
                    (0..500).for_each(|n| tracing::info!("{thread} {n}"));
                });
            });
        }
    });
    let mut all: Vec<_> = lines(&log).into_iter().map(|(_, text)| text).collect();
    let wanted = (0..4).flat_map(|thread| (0..500).map(move |n| format!("{thread} {n}")));
    let mut wanted: Vec<_> = wanted.collect();
    wanted.sort_unstable();
    all.sort_unstable();
    assert_eq!(all, wanted);
}
