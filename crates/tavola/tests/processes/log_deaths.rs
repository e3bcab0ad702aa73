//! Logs and processes that die, are forked, stopped or interrupted, and files that were damaged:
//! what was written stays to be read, and nobody waits for the dead.

#![cfg(not(miri))]

use crate::support::logs::{Kept, SHEET, SHEETS, quiet, small, texts};
use crate::support::part::{Actor, alone, hear, play, say};
use crate::support::patience::{HANG_S, MINUTE, Watch};
use crate::support::process::{alarm, fork};
use crate::support::{Dir, Random, assert_clean};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::thread::JoinHandleExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tavola::{Error, Level, Log, LogLine, LogSink, Overload, Table};

const SECOND: Duration = Duration::from_secs(1);

/// An actor: writes numbers until it is killed, reporting each that was written.
fn number(args: &[String]) {
    alarm(HANG_S);
    let log = quiet(Log::open(&args[0]).unwrap());
    for number in 0u64.. {
        log.line(Level::Info, number.to_string()).unwrap();
        say(number);
    }
}

#[test]
fn the_last_lines_of_the_killed_are_there() {
    play(&[("number", number)]);
    let dir = Dir::new();
    let path = dir.table("own");
    small(Overload::DropOldest).create(&path).unwrap();
    for _ in 0..5 {
        let test = "the_last_lines_of_the_killed_are_there";
        let mut actor = Actor::start(test, "number", &[path.to_str().unwrap()]);
        let pid = actor.pid() as u32;
        let mut last = 0;
        for _ in 0..500 {
            last = actor.hear_number();
        }
        actor.kill();
        let seen = Table::open_read_only(&path).unwrap().log("").unwrap();
        let mut reader = seen.reader();
        let lines = reader.lines().filter(|line| line.pid == pid);
        let texts = lines.map(|line| String::from_utf8(line.text.to_vec()).unwrap());
        let numbers: Vec<u64> = texts.map(|text| text.parse().unwrap()).collect();
        assert!(numbers.len() > 100 && *numbers.last().unwrap() >= last);
        assert!(numbers.is_sorted_by(|one, next| one + 1 == *next));
    }
    // What the dead had in hand is not lost for others.
    assert_clean(&Table::open(&path).unwrap());
}

/// Writes lines to a file, each after a while.
struct SlowFile(std::fs::File);

impl LogSink for SlowFile {
    fn line(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(20));
        self.0.write_all(line.text)
    }

    fn dropped(&mut self, lines: u64) -> io::Result<()> {
        panic!("{lines} lines are lost");
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An actor: ends while a thread of its own drains the log.
fn end_without_stopping(args: &[String]) {
    alarm(HANG_S);
    let log = quiet(Log::open(&args[0]).unwrap());
    let file = std::fs::File::create(&args[1]).unwrap();
    std::mem::forget(log.start_drain(SlowFile(file)).unwrap());
    for number in 0..10 {
        log.line(Level::Info, number.to_string()).unwrap();
    }
}

#[test]
fn the_exit_of_a_process_waits_for_the_last_lines() {
    play(&[("end", end_without_stopping)]);
    let test = "the_exit_of_a_process_waits_for_the_last_lines";
    let dir = Dir::new();
    let (path, out) = (dir.table("own"), dir.table("out"));
    drop(small(Overload::Block).create(&path).unwrap());
    let args = [&path, &out].map(|path| path.to_str().unwrap());
    Actor::start(test, "end", &args).finish();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "0123456789");
}

/// An actor: drains a log into nothing until it is killed.
fn drain(args: &[String]) {
    alarm(HANG_S);
    let log = Log::open(&args[0]).unwrap();
    let mut drain = log.drain().unwrap();
    say("drains");
    loop {
        drain.pass(&mut Kept::default()).unwrap();
        drain.wait(SECOND);
    }
}

#[test]
fn a_dead_drain_blocks_nobody_and_another_continues() {
    play(&[("drain", drain)]);
    let _watch = Watch::begin();
    let dir = Dir::new();
    for overload in [Overload::Block, Overload::DropNewest, Overload::DropOldest] {
        let path = dir.table(&format!("{overload:?}"));
        let log = quiet(small(overload).create(&path).unwrap());
        let test = "a_dead_drain_blocks_nobody_and_another_continues";
        let mut actor = Actor::start(test, "drain", &[path.to_str().unwrap()]);
        assert_eq!(actor.hear(), "drains");
        assert!(matches!(log.drain(), Err(Error::AlreadyDrained)));
        log.line(Level::Info, "for the drain").unwrap();
        actor.kill();
        let text = "x".repeat(SHEET / 8 - 24);
        for _ in 0..SHEETS * 8 * 3 {
            log.line(Level::Info, &text).unwrap();
        }
        let mut kept = Kept::default();
        let mut drain = log.drain().unwrap();
        drain.finish(&mut kept).unwrap();
        let lines = kept.lines.len() as u64;
        let all = SHEETS as u64 * 8 * 3;
        // The first may have been the dead one's.
        assert!((all..=all + 1).contains(&(lines + kept.dropped)));
        assert!(lines >= (SHEETS as u64 - 1) * 8, "{lines} lines");
    }
}

/// An actor: writes a line that nobody drains.
fn speak(args: &[String]) {
    let log = Log::open(&args[0]).unwrap();
    log.line(Level::Warn, "nobody drains").unwrap();
    log.show_on_stderr(false);
    log.line(Level::Warn, "nobody shall hear").unwrap();
    log.show_on_stderr(true);
    let drain = log.drain().unwrap();
    log.line(Level::Warn, "somebody drains").unwrap();
    drop(drain);
    log.line(Level::Error, "nobody drains\nagain").unwrap();
}

#[test]
fn without_a_drain_lines_are_shown() {
    play(&[("speak", speak)]);
    let dir = Dir::new();
    let path = dir.table("own");
    let log = small(Overload::Block).create(&path).unwrap();
    let test = "without_a_drain_lines_are_shown";
    let mut command = crate::support::part::command(test, "speak", &[path.to_str().unwrap()]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut shown)
        .unwrap();
    assert!(child.wait().unwrap().success());
    let shown: Vec<_> = shown.lines().collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].contains("Z  WARN ") && shown[0].ends_with(" nobody drains"));
    assert!(shown[1].contains("Z ERROR ") && shown[1].ends_with(" nobody drains\\nagain"));
    // The next drain writes all of them, whether they were shown or not.
    let mut kept = Kept::default();
    log.drain().unwrap().finish(&mut kept).unwrap();
    let all = [
        "nobody drains",
        "nobody shall hear",
        "somebody drains",
        "nobody drains\nagain",
    ];
    assert_eq!(kept.texts(), all);
    assert_eq!(log.reader().lines().count(), 4);
}

#[test]
fn a_forked_child_writes_on_a_sheet_of_its_own() {
    alone("a_forked_child_writes_on_a_sheet_of_its_own", &[], || {
        let dir = Dir::new();
        let path = dir.table("own");
        let log = quiet(small(Overload::DropOldest).create(&path).unwrap());
        log.line(Level::Info, "parent 0").unwrap();
        let drain = std::cell::RefCell::new(Some(log.drain().unwrap()));
        let children: Vec<_> = (1..3)
            .map(|number| {
                let (log, drain) = (&log, &drain);
                fork(move || {
                    log.line(Level::Info, format!("child {number}")).unwrap();
                    assert!(matches!(log.drain(), Err(Error::AlreadyDrained)));
                    // The drain is its parent's, and continues when the child drops it.
                    let mut inherited = drain.take().unwrap();
                    let refused = inherited.pass(&mut Kept::default());
                    assert!(matches!(refused, Err(Error::AlreadyDrained)));
                })
            })
            .collect();
        log.line(Level::Info, "parent 1").unwrap();
        let pids: Vec<u32> = children.iter().map(|child| child.pid() as u32).collect();
        children.into_iter().for_each(|child| child.finish());
        assert!(log.has_drain());
        log.line(Level::Info, "parent 2").unwrap();
        let mut reader = log.reader();
        let lines: Vec<_> = reader.lines().collect();
        assert_eq!(lines.len(), 5);
        for line in lines {
            let text = String::from_utf8(line.text.to_vec()).unwrap();
            let is_childs = text.starts_with("child");
            assert_eq!(pids.contains(&line.pid), is_childs, "{line}");
            assert_eq!(line.pid == std::process::id(), !is_childs, "{line}");
        }
    });
}

#[test]
fn a_stopped_writer_keeps_one_sheet_and_blocks_nobody() {
    alone(
        "a_stopped_writer_keeps_one_sheet_and_blocks_nobody",
        &[],
        || {
            alarm(HANG_S);
            let dir = Dir::new();
            let path = dir.table("own");
            let log = quiet(small(Overload::Block).create(&path).unwrap());
            let child = fork(|| {
                let log = quiet(Log::open(&path).unwrap());
                loop {
                    log.line(Level::Debug, "x".repeat(100)).unwrap();
                }
            });
            let mut drain = log.drain().unwrap();
            let mut random = Random::new(5);
            let (is_over, mine) = (AtomicBool::new(false), AtomicU64::new(0));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        let mut kept = Kept::default();
                        drain.pass(&mut kept).unwrap();
                        let long = kept.texts().iter().filter(|t| t.len() == 2000).count();
                        mine.fetch_add(long as u64, Relaxed);
                        drain.wait(SECOND);
                    }
                });
                for round in 1..=20 {
                    child.signal(libc::SIGSTOP);
                    for number in 0..SHEETS * 8 {
                        log.line(Level::Info, format!("{number:02000}")).unwrap();
                    }
                    // All of them, though it is stopped in the middle of a line now and then.
                    while mine.load(Relaxed) < round * SHEETS as u64 * 8 {
                        std::thread::yield_now();
                    }
                    child.signal(libc::SIGCONT);
                    std::thread::sleep(Duration::from_micros(random.below(3000)));
                }
                is_over.store(true, Relaxed);
            });
            child.signal(libc::SIGKILL);
            child.end();
            assert_clean(&Table::open(&path).unwrap());
        },
    );
}

static LOG: OnceLock<Log> = OnceLock::new();
static HANDLED: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn write_in_handler(_: libc::c_int) {
    let log = LOG.get().expect("made before any signal");
    if log.line(Level::Error, b"handled").is_ok() {
        HANDLED.fetch_add(1, Relaxed);
    }
}

/// An actor: writes lines, and in handlers that interrupt it, too; reports how many of both.
fn interrupted(args: &[String]) {
    alarm(HANG_S);
    let log = LOG.get_or_init(|| Log::open(&args[0]).unwrap());
    // SAFETY: the handler touches an atomic and the log only.
    unsafe {
        libc::signal(
            libc::SIGUSR1,
            write_in_handler as *const () as libc::sighandler_t,
        )
    };
    let writer = std::thread::spawn(|| {
        let mut count = 0u64;
        while !STOP.load(Relaxed) {
            log.line(Level::Info, "x".repeat(count as usize % 3000))
                .unwrap();
            count += 1;
        }
        count
    });
    hear();
    let thread = writer.as_pthread_t();
    // Fewer will do where each takes its time.
    let (begun, mut sent) = (Instant::now(), 0);
    while sent < 5000 && begun.elapsed() < 20 * SECOND {
        sent += 1;
        // SAFETY: the thread runs until it is asked to stop, below.
        assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGUSR1) }, 0);
        while HANDLED.load(Relaxed) < sent {
            // Its thread may have no processor but ours.
            std::thread::yield_now();
        }
    }
    STOP.store(true, Relaxed);
    say(format!("{} and {sent}", writer.join().unwrap()));
}

#[test]
fn lines_written_in_signal_handlers_are_there() {
    play(&[("interrupted", interrupted)]);
    let dir = Dir::new();
    let path = dir.table("own");
    let log = small(Overload::Block).create(&path).unwrap();
    let mut drain = log.drain().unwrap();
    let test = "lines_written_in_signal_handlers_are_there";
    let mut actor = Actor::start(test, "interrupted", &[path.to_str().unwrap()]);
    let mut kept = Kept::default();
    actor.send("begin");
    let is_over = &AtomicBool::new(false);
    let (written, kept) = std::thread::scope(|scope| {
        let drains = scope.spawn(move || {
            while !is_over.load(Relaxed) {
                drain.pass(&mut kept).unwrap();
                drain.wait(SECOND);
            }
            drain.finish(&mut kept).unwrap();
            kept
        });
        let written = actor.hear_or_end();
        is_over.store(true, Relaxed);
        (written, drains.join().unwrap())
    });
    let handled = kept
        .texts()
        .iter()
        .filter(|text| **text == "handled")
        .count();
    assert!(handled > 0);
    let others = kept.lines.len() - handled;
    assert_eq!(written, Ok(format!("{others} and {handled}")));
    assert_eq!(kept.dropped, 0);
}

/// Nor is the heap touched, in the middle of which the handler may come.
#[test]
fn lines_are_shown_from_signal_handlers() {
    play(&[("interrupted", interrupted)]);
    let dir = Dir::new();
    let (path, shown) = (dir.table("own"), dir.table("shown"));
    small(Overload::DropOldest).create(&path).unwrap();
    let file = std::fs::File::create(&shown).unwrap();
    let test = "lines_are_shown_from_signal_handlers";
    let mut actor = Actor::start_by(test, "interrupted", &[path.to_str().unwrap()], |command| {
        command.stderr(file);
    });
    actor.send("begin");
    let reported = actor.hear();
    let (_, sent) = reported.split_once(" and ").unwrap();
    let shown = std::fs::read_to_string(shown).unwrap();
    let handled = shown.lines().filter(|line| line.ends_with(" handled"));
    assert_eq!(handled.count(), sent.parse::<usize>().unwrap());
}

fn place_of_log(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let place = bytes.windows(8).position(|word| word == b"TavolaLG");
    place.unwrap() as u64
}

/// Of the log's head, of sheets' heads, or of the first words of lines.
fn damaged_byte(random: &mut Random) -> u64 {
    let heads = 192 + 64 * SHEETS as u64;
    match random.below(4) {
        0 => random.below(24),
        1 => random.below(heads),
        _ => {
            // Lines of 1024 bytes with their heads, on two sheets.
            let sheet = [1, SHEETS as u64][random.below(2) as usize];
            sheet * SHEET as u64 + random.below(14) * 1024 + random.below(3)
        }
    }
}

/// Whatever bit is changed, readers and drains end, and after a repair all is whole.
#[test]
fn damage_is_reported_and_repaired() {
    let dir = Dir::new();
    let path = dir.table("own");
    let mut random = Random::new(11);
    let (mut reported, mut refused) = (0, 0);
    for round in 0..300 {
        let _watch = Watch::begin();
        let log = quiet(small(Overload::DropOldest).create(&path).unwrap());
        for number in 0..30 {
            log.line(Level::Info, format!("{number:01000}")).unwrap();
        }
        drop(log);
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let at = place_of_log(&path) + damaged_byte(&mut random);
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        let changed = byte[0] ^ 1 << random.below(8);
        file.write_all_at(&[changed], at).unwrap();
        match Log::open(&path) {
            Err(Error::Corrupt { .. }) => refused += 1,
            Err(error) => panic!("round {round}: {error}"),
            Ok(log) => {
                quiet(log.clone()).reader().skip();
                let table = Table::open(&path).unwrap();
                reported += u32::from(!table.check().unwrap().is_clean());
                table.repair().unwrap();
                assert_clean(&table);
                let mut drain = log.drain().unwrap();
                let began = Instant::now();
                for number in 0..SHEETS * 16 {
                    log.line(Level::Info, format!("{number:02000}")).unwrap();
                    drain.pass(&mut Kept::default()).unwrap();
                }
                assert!(began.elapsed() < MINUTE);
                let last = texts(&mut log.reader()).pop().unwrap();
                assert_eq!(last.parse(), Ok(SHEETS * 16 - 1));
            }
        }
        tavola::names::remove(&path).unwrap();
    }
    assert!(
        reported > 20 && refused > 40,
        "{reported} reported, {refused} refused"
    );
}
