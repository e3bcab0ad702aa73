//! Logs: lines come out whole, in the order of their times, once, or are counted as dropped.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use support::logs::{Kept, SHEET, SHEETS, over_every_log, quiet, small, texts};
use support::process::alarm;
use support::{Dir, Random, assert_clean};
use tavola::{Error, Level, Log, LogLine, LogOptions, LogSink, LogText, Overload, Table};

const SECOND: Duration = Duration::from_secs(1);
const ALL: [Overload; 3] = [Overload::DropOldest, Overload::DropNewest, Overload::Block];

/// A line of so many bytes with head and padding, that begins with a number.
fn text(number: usize, bytes: usize) -> String {
    format!("{number:0width$}", width = bytes - 24)
}

#[test]
fn what_is_written_is_read_with_all_about_it() {
    over_every_log(Overload::DropOldest, |log| {
        let before = SystemTime::now();
        log.line(Level::Error, b"\xff\0\n").unwrap();
        log.print(Level::Trace, format_args!("{} and {}", 1, 2))
            .unwrap();
        log.line(Level::Info, "").unwrap();
        let mut reader = log.reader();
        let lines: Vec<_> = reader.lines().collect();
        let told: Vec<_> = lines.iter().map(|line| (line.level, line.text)).collect();
        let wanted: [(Level, &[u8]); 3] = [
            (Level::Error, b"\xff\0\n"),
            (Level::Trace, b"1 and 2"),
            (Level::Info, b""),
        ];
        assert_eq!(told, wanted);
        for line in &lines {
            assert_eq!((line.pid, line.cut), (std::process::id(), 0));
            assert!(line.tid > 0 && line.is_shown);
            assert!((before..=SystemTime::now()).contains(&line.time()));
        }
        assert!(lines.is_sorted_by_key(|line| line.unix_ns));
        drop(lines);
        assert_eq!(reader.lines().count(), 0);
        log.line(Level::Info, "one more").unwrap();
        assert_eq!(texts(&mut reader), ["one more"]);
        assert_eq!(log.reader().lines().count(), 4);
    });
}

#[test]
fn a_line_of_any_length_is_there_or_cut_where_it_says() {
    over_every_log(Overload::DropOldest, |log| {
        let mut reader = log.reader();
        let most = SHEET - 24;
        for len in [0, 1, 7, 8, 9, 1000, most - 1, most, most + 1, most + 99_999] {
            let text: String = (0..len)
                .map(|at| char::from(b'a' + (at % 26) as u8))
                .collect();
            log.line(Level::Info, &text).unwrap();
            let lines: Vec<_> = reader.lines().collect();
            assert_eq!(lines.len(), 1, "of {len} bytes");
            let kept = len.min(most);
            assert_eq!(lines[0].text, &text.as_bytes()[..kept]);
            assert_eq!(lines[0].cut as usize, len - kept);
        }
    });
}

#[test]
fn a_drain_writes_each_line_once_and_a_sink_that_fails_gets_it_again() {
    over_every_log(Overload::Block, |log| {
        log.line(Level::Info, "shown before there was a drain")
            .unwrap();
        let mut drain = log.drain().unwrap();
        assert!(matches!(log.drain(), Err(Error::AlreadyDrained)));
        let mut kept = Kept {
            fails_after: Some(2),
            ..Kept::default()
        };
        for line in ["a", "b", "c"] {
            log.line(Level::Info, line).unwrap();
        }
        assert!(matches!(drain.finish(&mut kept), Err(Error::Sink { .. })));
        kept.lines.clear();
        assert_eq!(drain.finish(&mut kept).unwrap(), 3);
        assert_eq!(kept.texts(), ["a", "b", "c"]);
        assert_eq!(drain.finish(&mut kept).unwrap(), 0);
        drop(drain);
        assert!(!log.has_drain());
        let mut drain = log.drain().unwrap();
        log.line(Level::Info, "d").unwrap();
        assert_eq!(drain.finish(&mut kept).unwrap(), 1);
        // It all stays to be read.
        assert_eq!(log.reader().lines().count(), 5);
    });
}

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
        assert_eq!(kept.dropped, 17);
    });
}

#[test]
fn who_is_blocked_goes_on_when_the_drain_writes_or_ends() {
    alarm(60);
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
        alarm(0);
    });
}

#[test]
fn threads_write_beside_each_other_and_the_order_is_that_of_time() {
    alarm(120);
    let (threads, each) = if cfg!(miri) { (2, 20) } else { (3, 20_000) };
    for overload in ALL {
        over_every_log(overload, |log| {
            let mut drain = log.drain().unwrap();
            let mut kept = Kept::default();
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                let writers: Vec<_> = (0..threads)
                    .map(|thread| {
                        scope.spawn(move || {
                            for number in 0..each {
                                let text = format_args!("{thread} {number}").to_string();
                                log.line(Level::Info, text).unwrap();
                            }
                        })
                    })
                    .collect();
                let reads = scope.spawn(|| {
                    let (mut reader, mut read) = (log.reader(), BTreeSet::new());
                    while !is_over.load(Relaxed) {
                        for line in reader.lines() {
                            assert!(read.insert((line.tid, line.text.to_vec())), "{line} twice");
                        }
                    }
                });
                while writers.iter().any(|writer| !writer.is_finished()) {
                    drain.pass(&mut kept).unwrap();
                }
                is_over.store(true, Relaxed);
                reads.join().unwrap();
            });
            drain.finish(&mut kept).unwrap();
            assert!(kept.is_in_order());
            assert_eq!(kept.lines.len() as u64 + kept.dropped, threads * each);
            assert!(overload != Overload::Block || kept.dropped == 0);
            for thread in 0..threads {
                let mine = kept.texts().into_iter().filter_map(|text| {
                    let (writer, number) = text.split_once(' ')?;
                    (writer == thread.to_string()).then(|| number.parse::<u64>().unwrap())
                });
                assert!(mine.is_sorted_by(|a, b| a < b), "of thread {thread}");
            }
        });
    }
    alarm(0);
}

#[test]
fn threads_that_end_leave_their_room_to_others() {
    over_every_log(Overload::Block, |log| {
        let turns = if cfg!(miri) { 8 } else { 100 };
        for number in 0..turns {
            let log = log.clone();
            thread::spawn(move || log.line(Level::Info, number.to_string()).unwrap())
                .join()
                .unwrap();
        }
        // All stand on one sheet.
        assert_eq!(log.reader().lines().count(), turns);
    });
}

#[test]
fn handles_come_and_go_and_leave_no_sheet_in_hand() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let log = quiet(small(Overload::Block).create_beside(&table, "log").unwrap());
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
    struct Loud<'a>(&'a Log);
    impl LogSink for Loud<'_> {
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
    alarm(60);
    over_every_log(Overload::Block, |log| {
        let mut drain = log.drain().unwrap();
        for _ in 0..SHEETS {
            log.line(Level::Info, text(0, SHEET)).unwrap();
        }
        assert_eq!(drain.finish(&mut Loud(log)).unwrap(), SHEETS);
        assert_eq!(log.dropped(), SHEETS as u64);
    });
    alarm(0);
}

#[test]
fn first_lines_do_not_go_over_the_newest() {
    for sheets in 4..9 {
        let table = Table::options().max_size(16 << 20).private().unwrap();
        let options = LogOptions::new().bytes(sheets * SHEET as u64);
        let log = quiet(options.create_beside(&table, "log").unwrap());
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
            for _ in 0..SHEETS {
                scope.spawn(|| {
                    log.line(Level::Info, "in hand").unwrap();
                    gate.wait();
                    gate.wait();
                });
            }
            gate.wait();
            let refused = log.line(Level::Info, "no room").unwrap_err();
            assert!(refused.to_string().contains("make it larger"));
            gate.wait();
        });
        assert_eq!(log.dropped(), 1);
        drop(drain);
        log.line(Level::Info, "room again").unwrap();
    });
}

#[test]
fn a_thread_writes_to_many_logs_at_once() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let logs: Vec<Log> = (0..9)
        .map(|n| {
            quiet(
                small(Overload::Block)
                    .create_beside(&table, &n.to_string())
                    .unwrap(),
            )
        })
        .collect();
    let mut random = Random::new(3);
    let mut counts = [0; 9];
    for _ in 0..if cfg!(miri) { 30 } else { 2000 } {
        let number = random.below(9) as usize;
        logs[number]
            .line(Level::Info, counts[number].to_string())
            .unwrap();
        counts[number] += 1;
    }
    for (log, count) in logs.iter().zip(counts) {
        let all: Vec<_> = (0..count).map(|n: i32| n.to_string()).collect();
        assert_eq!(texts(&mut log.reader()), all);
    }
    let mut names = table.logs().unwrap();
    names.sort_unstable();
    assert_eq!(names.concat(), "012345678");
    assert_clean(&table);
}

#[test]
fn logs_and_pools_are_told_apart_and_options_are_checked() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let not_there = |outcome: Result<Log, Error>| matches!(outcome, Err(Error::NotThere { .. }));
    assert!(not_there(table.log("x")));
    tavola::QueueOptions::new(10, 8)
        .create_beside(&table, "x")
        .unwrap();
    assert!(not_there(table.log("x")));
    let log = small(Overload::Block).create_beside(&table, "x").unwrap();
    let again = small(Overload::Block).create_beside(&table, "x");
    assert!(matches!(
        again,
        Err(Error::AlreadyThere { what: "log", .. })
    ));
    quiet(log).line(Level::Info, "first").unwrap();
    let same = LogOptions::new().open_beside(&table, "x").unwrap();
    assert_eq!(texts(&mut same.reader()), ["first"]);
    assert!(table.stats().unwrap().beside_bytes >= (SHEETS * SHEET) as u64);
    for bytes in [0, (64 << 10) - (16 << 10), u64::MAX] {
        let bad = LogOptions::new().bytes(bytes).create_beside(&table, "y");
        assert!(matches!(
            bad,
            Err(Error::BadOption {
                option: "bytes",
                ..
            })
        ));
    }
    let bad = small(Overload::Block).create_beside(&table, "");
    assert!(matches!(bad, Err(Error::BadName { .. })));
    assert_eq!("warn".parse(), Ok(Level::Warn));
    assert!("loud".parse::<Level>().is_err());
}

#[test]
#[cfg_attr(miri, ignore = "files")]
fn who_opens_read_only_reads_and_follows() {
    let dir = Dir::new();
    let path = dir.table("own");
    let log = quiet(small(Overload::DropOldest).open(&path).unwrap());
    log.line(Level::Info, "one").unwrap();
    let seen = Table::open_read_only(&path).unwrap().log("").unwrap();
    assert!(matches!(seen.line(Level::Info, "no"), Err(Error::ReadOnly)));
    assert!(matches!(seen.drain(), Err(Error::ReadOnly)));
    let mut reader = seen.reader();
    assert_eq!(texts(&mut reader), ["one"]);
    log.line(Level::Info, "two").unwrap();
    let (mut lines, began) = (Vec::new(), Instant::now());
    while lines.is_empty() && began.elapsed() < 10 * SECOND {
        lines.extend(reader.follow().map(|line| line.text.to_vec()));
    }
    assert_eq!(lines, [b"two"]);
    for number in 0..SHEETS * 8 * 3 {
        log.line(Level::Info, text(number, SHEET / 8)).unwrap();
    }
    reader.skip();
    assert!(reader.missed() > 0);
    assert_eq!(reader.lines().count(), 0);
}

#[test]
fn a_printed_line_has_its_form() {
    over_every_log(Overload::Block, |log| {
        let mut drain = log.drain().unwrap();
        log.line(Level::Warn, "two\nlines").unwrap();
        let mut out = Vec::new();
        drain.finish(&mut LogText::new(&mut out)).unwrap();
        let out = String::from_utf8(out).unwrap();
        let words: Vec<_> = out.split_whitespace().collect();
        assert_eq!(words.len(), 4, "{out}");
        assert_eq!(words[1], "WARN");
        assert!(words[2].starts_with(&format!("{}/", std::process::id())));
        assert_eq!(words[3], "two\\nlines");
        assert!(words[0].len() == 27 && words[0].ends_with('Z'));
    });
}
