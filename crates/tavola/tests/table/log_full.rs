//! Logs that are full: lines are dropped and counted, or their writers wait; sheets go from hand to
//! hand.

use crate::support::logs::{Kept, SHEET, SHEETS, over_every_log, quiet, small, text, texts};
use crate::support::patience::Watch;
use std::thread;
use std::time::Duration;
use tavola::{Level, Log, LogLine, LogOptions, LogSink, Overload, Table};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_oldest_are_dropped_and_counted() {
    over_every_log(Overload::DropOldest, |log| {
        let mut drain = log.drain().unwrap();
        let all = SHEETS * 100;
        for number in 0..all {
            log.line(Level::Info, text(number, SHEET / 8)).unwrap();
        }
        let mut kept = Kept::default();
        let drained = drain.finish(&mut kept).unwrap();
        // A sheet may have just been begun.
        assert!(((SHEETS - 1) * 8..=SHEETS * 8).contains(&drained));
        assert_eq!(drained as u64 + kept.dropped, all as u64);
        assert_eq!(log.dropped(), kept.dropped);
        let last: Vec<_> = (all - drained..all).map(|n| text(n, SHEET / 8)).collect();
        assert_eq!(kept.texts(), last);
        assert_eq!(drain.finish(&mut kept).unwrap(), 0);
        assert_eq!(log.dropped(), kept.dropped);
    });
}

#[test]
fn the_newest_are_dropped_and_counted() {
    over_every_log(Overload::DropNewest, |log| {
        let mut drain = log.drain().unwrap();
        let (room, mut kept) = (SHEETS * 8, Kept::default());
        for number in 0..room + 17 {
            log.line(Level::Info, text(number, SHEET / 8)).unwrap();
        }
        assert_eq!(drain.finish(&mut kept).unwrap(), room);
        assert_eq!((kept.dropped, log.dropped()), (17, 17));
        let first: Vec<_> = (0..room).map(|n| text(n, SHEET / 8)).collect();
        assert_eq!(kept.texts(), first);
        // There is room again.
        for number in 0..room {
            log.line(Level::Info, text(number, SHEET / 8)).unwrap();
        }
        assert_eq!(drain.finish(&mut kept).unwrap(), room);
        assert_eq!((kept.dropped, log.dropped()), (17, 17));
    });
}

#[test]
fn a_blocked_writer_continues_when_the_drain_writes_or_ends() {
    let _watch = Watch::begin();
    over_every_log(Overload::Block, |log| {
        let room = SHEETS * 8;
        let mut drain = log.drain().unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..5 * room {
                    log.line(Level::Info, text(number, SHEET / 8)).unwrap();
                }
            });
            let mut kept = Kept::default();
            while kept.lines.len() < 3 * room {
                drain.pass(&mut kept).unwrap();
                drain.wait(SECOND);
            }
            assert_eq!((log.dropped(), kept.dropped), (0, 0));
            let all: Vec<_> = (0..kept.lines.len()).map(|n| text(n, SHEET / 8)).collect();
            assert_eq!(kept.texts(), all);
            drop(drain);
            writer.join().unwrap();
        });
    });
}

/// A thread that writes when it is asked to, on one sheet.
fn slow(log: &Log, turn: &std::sync::Barrier, lines: &[&str]) {
    for line in lines {
        turn.wait();
        log.line(Level::Info, line).unwrap();
        turn.wait();
    }
    turn.wait();
}

#[test]
fn a_new_line_on_an_old_sheet_is_not_dropped_while_others_are_free() {
    over_every_log(Overload::DropOldest, |log| {
        let mut drain = log.drain().unwrap();
        let mut kept = Kept::default();
        let turn = std::sync::Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| slow(log, &turn, &["early", "late"]));
            turn.wait();
            turn.wait();
            for number in 0..SHEETS - 1 {
                log.line(Level::Info, text(number, SHEET)).unwrap();
            }
            drain.finish(&mut kept).unwrap();
            turn.wait();
            turn.wait();
            turn.wait();
        });
        log.line(Level::Info, text(9, SHEET)).unwrap();
        kept = Kept::default();
        drain.finish(&mut kept).unwrap();
        assert_eq!((kept.lines.len(), kept.dropped), (2, 0));
        assert_eq!(kept.texts()[0], "late");
    });
}

/// Until they have given up what they had in hand, which the end of a scope does not wait for.
fn join(threads: Vec<thread::ScopedJoinHandle<'_, ()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn released_sheets_are_seen_by_writers_that_found_none() {
    over_every_log(Overload::Block, |log| {
        let drain = log.drain().unwrap();
        log.line(Level::Info, text(0, SHEET)).unwrap();
        drop(drain);
        let turn = std::sync::Barrier::new(SHEETS);
        thread::scope(|scope| {
            let holds = || {
                log.line(Level::Info, "in hand").unwrap();
                turn.wait();
                turn.wait();
            };
            let holders: Vec<_> = (1..SHEETS).map(|_| scope.spawn(holds)).collect();
            turn.wait();
            log.line(Level::Info, "nowhere").unwrap();
            assert_eq!(log.dropped(), 1);
            turn.wait();
            join(holders);
        });
        log.line(Level::Info, "there").unwrap();
        assert_eq!(texts(&mut log.reader()).last().unwrap(), "there");
        assert_eq!(log.dropped(), 1);
    });
}

#[test]
fn handles_come_and_go_and_leave_no_sheet_in_hand() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let log = quiet(small(Overload::Block).create_in(&table, "log").unwrap());
    let mut drain = log.drain().unwrap();
    for number in 0..5 * SHEETS {
        let again = table.log("log").unwrap();
        again.line(Level::Info, number.to_string()).unwrap();
    }
    let mut kept = Kept::default();
    assert_eq!(drain.finish(&mut kept).unwrap(), 5 * SHEETS);
}

#[test]
fn a_line_that_no_drain_is_to_write_and_nobody_sees_is_counted() {
    for overload in [Overload::Block, Overload::DropNewest] {
        over_every_log(overload, |log| {
            let mut kept = Kept::default();
            let drain = log.drain().unwrap();
            for number in 0..SHEETS {
                log.line(Level::Info, text(number, SHEET)).unwrap();
            }
            drop(drain);
            log.line(Level::Info, "no room").unwrap();
            assert_eq!(log.dropped(), 1);
            let mut drain = log.drain().unwrap();
            assert_eq!(drain.finish(&mut kept).unwrap(), SHEETS);
            assert_eq!(kept.dropped, 1);
        });
    }
}

#[test]
fn a_sink_may_write_to_the_log_it_drains() {
    // Through a handle of its own.
    struct Loud(Log);
    impl LogSink for Loud {
        fn line(&mut self, line: &LogLine<'_>) -> std::io::Result<()> {
            let is_old = line.text.starts_with(b"0");
            is_old.then(|| self.0.line(Level::Info, text(1, SHEET)).unwrap());
            Ok(())
        }
        fn dropped(&mut self, _: u64) -> std::io::Result<()> {
            Ok(())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let _watch = Watch::begin();
    over_every_log(Overload::Block, |log| {
        let mut drain = log.drain().unwrap();
        for _ in 0..SHEETS {
            log.line(Level::Info, text(0, SHEET)).unwrap();
        }
        let mut sink: Box<dyn LogSink> = Box::new(Loud(log.clone()));
        assert_eq!(drain.finish(sink.as_mut()).unwrap(), SHEETS);
        assert_eq!(log.dropped(), SHEETS as u64);
    });
}

#[test]
fn first_lines_do_not_go_over_the_newest() {
    for sheets in 4..9 {
        let table = Table::options().max_size(16 << 20).private().unwrap();
        let options = LogOptions::new().bytes(sheets * SHEET as u64);
        let log = quiet(options.create_in(&table, "log").unwrap());
        let mut drain = log.drain().unwrap();
        for number in 0..3 {
            let log = log.clone();
            let line = move || log.line(Level::Info, text(number, SHEET / 2)).unwrap();
            thread::spawn(line).join().unwrap();
        }
        let mut kept = Kept::default();
        assert_eq!(drain.finish(&mut kept).unwrap(), 3, "of {sheets} sheets");
        let log = log.clone();
        for number in 3..6 {
            log.line(Level::Info, text(number, SHEET / 2)).unwrap();
        }
        assert_eq!(drain.finish(&mut kept).unwrap(), 3, "of {sheets} sheets");
        assert_eq!(kept.dropped, 0);
    }
}

#[test]
fn more_threads_than_room_is_an_error_that_says_so() {
    over_every_log(Overload::Block, |log| {
        let drain = log.drain().unwrap();
        let gate = std::sync::Barrier::new(SHEETS + 1);
        thread::scope(|scope| {
            let holds = || {
                log.line(Level::Info, "in hand").unwrap();
                gate.wait();
                gate.wait();
            };
            let holders: Vec<_> = (0..SHEETS).map(|_| scope.spawn(holds)).collect();
            gate.wait();
            let refused = log.line(Level::Info, "no room").unwrap_err();
            assert!(refused.to_string().contains("create a larger log"));
            gate.wait();
            join(holders);
        });
        assert_eq!(log.dropped(), 1);
        drop(drain);
        log.line(Level::Info, "room again").unwrap();
    });
}

/// Lines of others in between make the sheets go out of turn, but not so that old ones stay.
#[test]
fn the_last_lines_stay() {
    let sheets = 32;
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let options = LogOptions::new().bytes(sheets * SHEET as u64);
    let log = quiet(options.create_in(&table, "log").unwrap());
    let all = 10 * sheets as usize;
    for number in 0..all {
        log.line(Level::Info, text(number, SHEET)).unwrap();
        if number % 7 == 0 {
            let log = log.clone();
            let line = move || log.line(Level::Info, "short").unwrap();
            thread::spawn(line).join().unwrap();
        }
    }
    let lines = texts(&mut log.reader());
    let numbers = lines.iter().filter_map(|text| text.parse::<usize>().ok());
    let kept: Vec<_> = numbers.filter(|number| *number >= all - 20).collect();
    assert_eq!(kept, (all - 20..all).collect::<Vec<_>>());
}
