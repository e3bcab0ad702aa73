//! The processes of a soak: writers, a drain, a reader.

use super::record::{All, Of, Record, WRITERS};
use super::slate::{LineId, text};
use super::tally::{Order, Tally};
use super::{Found, NAME, failed};
use crate::system::{now_ns, sleep_ms};
use crate::value::Numbers;
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tavola::{Level, Log, Table};

/// Threads of a writing process.
pub(super) const THREADS: usize = 3;
/// Lines of a thread, at most, before another takes its place.
const LINES: u64 = 20_000;
/// Bytes of filler of most lines, of some, and one in how many these are.
const SHORT: u64 = 200;
const LONG: u64 = 16_000;
const SELDOM: u64 = 500;

fn opened(path: &Path) -> Found<(Table, Log)> {
    let table = Table::open(path).map_err(failed)?;
    let log = table.log(NAME).map_err(failed)?;
    log.show_on_stderr(false);
    Ok((table, log))
}

/// Threads that write forever.
pub(super) fn write(path: &Path, record: Record, mut numbers: Numbers) -> Found<Infallible> {
    let (table, log) = opened(path)?;
    let mut threads = Vec::new();
    loop {
        while threads.len() < THREADS {
            let (log, numbers) = (log.clone(), Numbers::new(numbers.next()));
            threads.push(std::thread::spawn(move || lines(&log, record, numbers)));
        }
        sleep_ms(1 + numbers.below(5));
        let value = numbers.next().to_le_bytes();
        table.set(b"beside", value).map_err(failed)?;
        let (ended, still): (Vec<_>, Vec<_>) = threads
            .into_iter()
            .partition(|thread: &std::thread::JoinHandle<_>| thread.is_finished());
        threads = still;
        for thread in ended {
            thread
                .join()
                .map_err(|_| "a thread panicked".to_owned())??;
        }
    }
}

/// The life of a writer.
fn lines(log: &Log, record: Record, mut numbers: Numbers) -> Found<()> {
    let writer = record.all(All::Writers).fetch_add(1, Relaxed);
    if writer >= WRITERS {
        record.all(All::Writers).store(WRITERS, Relaxed);
        sleep_ms(100);
        return Ok(());
    }
    for number in 0..numbers.below(LINES) {
        // Lines without a drain say little.
        if !log.has_drain() && numbers.below(50) != 0 {
            sleep_ms(1 + numbers.below(5));
        }
        line(log, record, LineId { writer, number }, &mut numbers)?;
        if numbers.below(200) == 0 {
            std::thread::sleep(Duration::from_micros(numbers.below(2000)));
        }
    }
    Ok(())
}

fn line(log: &Log, record: Record, line: LineId, numbers: &mut Numbers) -> Found<()> {
    let LineId { writer, number } = line;
    let filler = match numbers.below(SELDOM) {
        0 => numbers.below(LONG),
        _ => numbers.below(SHORT),
    };
    let text = text(line, filler as usize);
    record.of(writer, Of::Begun).store(number + 1, Relaxed);
    let begun = now_ns();
    log.line(Level::Info, &text).map_err(failed)?;
    record.took(writer, number, now_ns() - begun);
    record.of(writer, Of::Returned).store(number + 1, Relaxed);
    Ok(())
}

/// Drains forever, and sometimes begins again.
pub(super) fn drain(path: &Path, record: Record, mut numbers: Numbers) -> Found<Infallible> {
    let (_table, log) = opened(path)?;
    loop {
        let mut drain = log.drain().map_err(failed)?;
        let mut tally = Tally::new(record);
        for _ in 0..10 + numbers.below(500) {
            let lines = drain.pass(&mut tally).map_err(failed)?;
            tally.finished(lines)?;
            match numbers.below(20) {
                0 => sleep_ms(numbers.below(20)),
                _ => drain.wait(Duration::from_millis(1)),
            }
        }
        // From here on there may be no drain.
        drop(drain);
        sleep_ms(numbers.below(3));
    }
}

/// Reads forever.
pub(super) fn read(path: &Path, record: Record) -> Found<Infallible> {
    let (_table, log) = opened(path)?;
    let mut reader = log.reader();
    let mut order = Order::new(record);
    loop {
        for line in reader.follow() {
            order.line(&line);
        }
        if let Some(fault) = order.fault {
            return Err(fault);
        }
        sleep_ms(1);
    }
}
