//! Logs: lines come out whole, in the order of their times, once, or are counted as dropped.

use crate::support::logs::{Kept, SHEET, SHEETS, over_every_log, quiet, small, text, texts};
use crate::support::patience::{MINUTE, Watch};
use crate::support::{Dir, Random, assert_clean};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Instant, SystemTime};
use tavola::{Error, Level, Log, LogOptions, LogText, Overload, Table};

const ALL: [Overload; 3] = [Overload::DropOldest, Overload::DropNewest, Overload::Block];

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
        let found: Vec<_> = lines.iter().map(|line| (line.level, line.text)).collect();
        let wanted: [(Level, &[u8]); 3] = [
            (Level::Error, b"\xff\0\n"),
            (Level::Trace, b"1 and 2"),
            (Level::Info, b""),
        ];
        assert_eq!(found, wanted);
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
        log.line(Level::Info, "before there was a drain").unwrap();
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
        assert_eq!(drain.finish(&mut kept).unwrap(), 4);
        assert_eq!(kept.texts(), ["before there was a drain", "a", "b", "c"]);
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
fn threads_write_beside_each_other_and_the_order_is_that_of_time() {
    let _watch = Watch::begin();
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
            assert_eq!(kept.lines.len() as u64 + log.dropped(), threads * each);
            // A writer that drops lines counts them first, and takes back those that the drain was
            // faster with: a drain may have reported them by then.
            assert!(kept.dropped >= log.dropped());
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
fn a_reader_says_what_it_missed() {
    over_every_log(Overload::DropOldest, |log| {
        for number in 0..SHEETS {
            log.line(Level::Info, text(number, SHEET)).unwrap();
        }
        let (mut all, mut none) = (log.reader(), log.reader());
        all.skip();
        for number in 0..SHEETS {
            log.line(Level::Info, text(number, SHEET)).unwrap();
        }
        assert_eq!(
            (all.lines().count(), none.lines().count()),
            (SHEETS, SHEETS)
        );
        assert_eq!((all.missed(), none.missed()), (0, SHEETS as u64));
    });
}

#[test]
fn a_thread_writes_to_many_logs_at_once() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let logs: Vec<Log> = (0..9)
        .map(|n| {
            quiet(
                small(Overload::Block)
                    .create_in(&table, &n.to_string())
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
fn logs_and_pools_are_distinguished_and_options_are_checked() {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let not_there = |outcome: Result<Log, Error>| matches!(outcome, Err(Error::NotThere { .. }));
    assert!(not_there(table.log("x")));
    tavola::QueueOptions::new(10, 8)
        .create_in(&table, "x")
        .unwrap();
    assert!(not_there(table.log("x")));
    let log = small(Overload::Block).create_in(&table, "x").unwrap();
    let again = small(Overload::Block).create_in(&table, "x");
    assert!(matches!(
        again,
        Err(Error::AlreadyThere { what: "log", .. })
    ));
    quiet(log).line(Level::Info, "first").unwrap();
    let same = LogOptions::new().open_in(&table, "x").unwrap();
    assert_eq!(texts(&mut same.reader()), ["first"]);
    assert!(table.stats().unwrap().queue_and_log_bytes >= (SHEETS * SHEET) as u64);
    for bytes in [0, (64 << 10) - (16 << 10), u64::MAX] {
        let bad = LogOptions::new().bytes(bytes).create_in(&table, "y");
        assert!(matches!(
            bad,
            Err(Error::BadOption {
                option: "bytes",
                ..
            })
        ));
    }
    let bad = small(Overload::Block).create_in(&table, "");
    assert!(matches!(bad, Err(Error::BadName { .. })));
    assert_eq!("warn".parse(), Ok(Level::Warn));
    assert!("loud".parse::<Level>().is_err());
}

#[test]
#[cfg_attr(miri, ignore = "files")]
fn a_read_only_handle_reads_and_follows() {
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
    while lines.is_empty() && began.elapsed() < MINUTE {
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
