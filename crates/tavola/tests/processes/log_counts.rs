//! Every line that is written to a log is read, or written out, or counted as dropped: with a
//! drain and without one, for each size and policy, from several threads and processes.

use crate::support::logs::{Kept, SHEET, quiet, texts};
use crate::support::part::{Actor, play};
use crate::support::patience::{HANG_S, Watch};
use crate::support::process::alarm;
use crate::support::{Dir, Random};
use std::sync::Barrier;
use std::thread;
use tavola::{Level, Log, LogOptions, Overload, Table};

const ALL: [Overload; 3] = [Overload::DropOldest, Overload::DropNewest, Overload::Block];
/// Lines that a piece has room for at most, and that a death may have counted twice.
const LINES_OF_A_PIECE: u64 = 682;

fn private(sheets: usize, overload: Overload) -> Log {
    let table = Table::options().max_size(16 << 20).private().unwrap();
    let options = LogOptions::new().bytes((sheets * SHEET) as u64);
    let log = options.overload(overload).create_in(&table, "log");
    quiet(log.unwrap())
}

/// The number of lines of each of some threads, and their greatest length in bytes.
fn write(log: &Log, threads: u64, each: u64, most: u64) {
    thread::scope(|scope| {
        let writers = (0..threads).map(|thread| {
            scope.spawn(move || {
                let mut random = Random::new(thread + 1);
                for number in 0..each {
                    let filler = "x".repeat(random.below(most) as usize);
                    let text = format!("{thread} {number} {filler}");
                    log.line(Level::Info, text).unwrap();
                }
            })
        });
        writers
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
    });
}

/// The numbers of a thread's lines.
fn numbers(lines: &[String], thread: u64) -> Vec<u64> {
    let words = lines.iter().map(|line| line.split(' '));
    let pairs = words.map(|mut words| [(); 2].map(|()| words.next().unwrap().parse().unwrap()));
    pairs
        .filter(|[of, _]: &[u64; 2]| *of == thread)
        .map(|[_, number]| number)
        .collect()
}

#[test]
fn without_a_drain_each_line_is_there_or_counted() {
    let each = if cfg!(miri) { 50 } else { 3000 };
    for overload in ALL {
        for (sheets, threads, most) in [(4, 1, 1), (8, 3, 300), (64, 3, 4000), (64, 1, 16_000)] {
            let log = private(sheets, overload);
            write(&log, threads, each, most);
            let lines = texts(&mut log.reader());
            let stats = log.stats();
            let all = threads * each;
            assert_eq!(lines.len() as u64 + log.dropped(), all, "{overload:?}");
            assert_eq!(
                (stats.lines, stats.awaiting),
                (lines.len() as u64, stats.lines)
            );
            for thread in 0..threads {
                let mine = numbers(&lines, thread);
                assert!(mine.is_sorted_by(|one, next| one < next));
                // One thread's lines: the last are kept, or the first.
                if threads == 1 && overload == Overload::DropOldest {
                    assert_eq!(mine.last(), Some(&(each - 1)));
                } else if threads == 1 {
                    assert_eq!(mine.first(), Some(&0));
                }
            }
            // The next drain gets what is there, and gets a report of what is not.
            let mut kept = Kept::default();
            let drained = log.drain().unwrap().finish(&mut kept).unwrap();
            assert_eq!((drained, kept.dropped), (lines.len(), log.dropped()));
            assert_eq!(log.stats().awaiting, 0);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "many lines")]
fn the_newest_are_dropped_without_a_drain_too() {
    for overload in [Overload::DropNewest, Overload::Block] {
        let log = private(64, overload);
        for number in 0..30_000 {
            log.line(Level::Info, format!("line {number}")).unwrap();
        }
        let lines = texts(&mut log.reader());
        let kept = lines.len() as u64;
        assert_eq!(kept + log.dropped(), 30_000);
        let first: Vec<_> = (0..kept).map(|number| format!("line {number}")).collect();
        assert_eq!(lines, first);
        // No more than the end of each piece stays empty.
        assert!(kept * 40 > (64 * SHEET) as u64 * 99 / 100, "{kept} lines");
    }
}

/// Lines that were written before there is a drain, or between two, are written out by the next.
#[test]
fn no_line_is_lost_between_two_drains() {
    for overload in ALL {
        let log = private(8, overload);
        let (mut kept, rounds) = (Kept::default(), 50);
        for round in 0..rounds {
            for number in 0..20 {
                log.line(Level::Info, format!("{round} {number}")).unwrap();
            }
            let mut drain = log.drain().unwrap();
            log.line(Level::Info, format!("{round} drained")).unwrap();
            drain.finish(&mut kept).unwrap();
        }
        assert_eq!((kept.lines.len(), kept.dropped), (rounds * 21, 0));
        assert!(kept.is_in_order());
    }
}

/// Many threads that live at the same time and write little: they take many pieces, and none of
/// them fills its own. As long as these have room, no line is dropped.
#[test]
fn what_fits_is_kept_however_many_threads_write_it() {
    let (rounds, threads, sheets) = if cfg!(miri) { (3, 9, 12) } else { (60, 24, 32) };
    for overload in ALL {
        let log = private(sheets, overload);
        for round in 0..rounds {
            let gate = Barrier::new(threads);
            thread::scope(|scope| {
                let writes = |thread: usize| {
                    log.line(Level::Info, format!("{thread} {round}")).unwrap();
                    gate.wait();
                };
                let all: Vec<_> = (0..threads)
                    .map(|thread| scope.spawn(move || writes(thread)))
                    .collect();
                all.into_iter().for_each(|one| one.join().unwrap());
            });
        }
        let stats = log.stats();
        // A tenth of the log, more or less.
        assert!(stats.used_bytes < stats.bytes / 5, "{stats:?}");
        assert_eq!(log.dropped(), 0, "{overload:?}: {stats:?}");
        assert_eq!(texts(&mut log.reader()).len(), rounds * threads);
    }
}

/// A line too long for the room at the end of a piece does not keep shorter ones from it.
#[test]
fn a_shorter_line_finds_the_room_that_a_longer_one_did_not() {
    for overload in [Overload::DropNewest, Overload::Block] {
        let log = private(4, overload);
        for _ in 0..4 {
            log.line(Level::Info, "x".repeat(SHEET / 2)).unwrap();
            log.line(Level::Info, "x".repeat(SHEET / 4)).unwrap();
        }
        log.line(Level::Info, "x".repeat(SHEET / 2)).unwrap();
        assert_eq!(log.dropped(), 1);
        for _ in 0..4 {
            log.line(Level::Info, "short").unwrap();
        }
        assert_eq!((log.dropped(), log.reader().lines().count()), (1, 12));
    }
}

/// An actor: writes lines and counts them before and after, until it is killed.
fn lines(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    let log = quiet(table.log("log").unwrap());
    let mut random = Random::new(args[1].parse().unwrap());
    loop {
        let text = "x".repeat(random.below(300) as usize);
        table.incr(b"begun", 1).unwrap();
        log.line(Level::Info, text).unwrap();
        table.incr(b"returned", 1).unwrap();
    }
}

fn count(table: &Table, key: &str) -> u64 {
    let value = table.get(key.as_bytes()).unwrap().unwrap_or_default();
    String::from_utf8(value).unwrap().parse().unwrap_or(0)
}

#[test]
#[cfg_attr(miri, ignore = "processes")]
fn lines_of_killed_processes_are_there_or_counted() {
    play(&[("lines", lines)]);
    let _watch = Watch::begin();
    let test = "lines_of_killed_processes_are_there_or_counted";
    let both = |overload| [false, true].map(|is_drained| (overload, is_drained));
    for (overload, is_drained) in ALL.into_iter().flat_map(both) {
        let dir = Dir::new();
        let path = dir.table("t");
        let table = Table::options().max_size(16 << 20).create(&path).unwrap();
        let options = LogOptions::new().bytes(8 * SHEET as u64);
        let log = options.overload(overload).create_in(&table, "log");
        let log = quiet(log.unwrap());
        let mut drain = is_drained.then(|| log.drain().unwrap());
        let (mut kept, kills) = (Kept::default(), 6);
        let actors: Vec<_> = (0..kills)
            .map(|seed: u64| {
                Actor::start(test, "lines", &[path.to_str().unwrap(), &seed.to_string()])
            })
            .collect();
        for (number, actor) in (1..).zip(actors) {
            while count(&table, "returned") < 1000 * number {
                drain.iter_mut().for_each(|drain| {
                    drain.pass(&mut kept).unwrap();
                });
            }
            actor.kill();
        }
        let (returned, begun) = (count(&table, "returned"), count(&table, "begun"));
        drop(drain);
        log.drain().unwrap().finish(&mut kept).unwrap();
        let sum = kept.lines.len() as u64 + log.dropped();
        // Of the line under way all or nothing; a process that dies while it drops the oldest
        // lines may have counted those of one piece twice.
        let twice = match overload {
            Overload::DropOldest => kills * LINES_OF_A_PIECE,
            _ => 0,
        };
        let most = begun + twice;
        assert!((returned..=most).contains(&sum), "{returned} {sum} {most}");
    }
}
