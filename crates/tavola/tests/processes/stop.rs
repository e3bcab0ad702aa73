//! Stopped processes: a stopped writer, wherever it stopped, keeps no reader waiting, and no writer
//! of another shard; those that want what it holds continue when it does. A stopped reader keeps
//! nobody waiting at all.

use crate::support::mount::Mount;
use crate::support::part::{Actor, End, hear, play, say};
use crate::support::patience::MINUTE;
use crate::support::{Dir, Random, assert_clean, value_of, version_of};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tavola::Table;

const KEYS: u64 = 1500;

fn key_of(number: u64) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

fn open(path: impl AsRef<Path>, shards: u32) -> Table {
    let options = Table::options().max_size(64 << 20).shards(shards);
    options.open(path.as_ref()).unwrap()
}

fn write(table: &Table, random: &mut Random, rounds: u64) {
    for round in 0..rounds {
        let key = key_of(random.below(KEYS));
        match random.below(6) {
            0 => drop(table.remove(&key).unwrap()),
            1 => table.set(&key, value_of(&key, round, 18_000)).unwrap(),
            _ => table
                .set(&key, value_of(&key, round, 16 + random.below(100) as usize))
                .unwrap(),
        }
    }
}

/// An actor: writes forever.
fn writer(args: &[String]) {
    let table = open(&args[0], 1);
    let mut random = Random::new(1);
    say("writing");
    loop {
        write(&table, &mut random, 100);
    }
}

/// Reads everything there is; the time it took.
fn read_all(table: &Table) -> Duration {
    let begun = Instant::now();
    for number in 0..KEYS {
        let key = key_of(number);
        if let Some(value) = table.get(&key).unwrap() {
            version_of(&key, &value).unwrap();
        }
    }
    for entry in table.iter() {
        let (key, value) = entry.unwrap();
        version_of(&key, &value).unwrap();
    }
    begun.elapsed()
}

/// Writers of the stopped one's shard, in a thread each time: how many got through, how many wait.
struct Attempt(mpsc::Receiver<()>);

impl Attempt {
    fn begin(path: &Path) -> Self {
        let (done, waits) = mpsc::channel();
        let path = path.to_path_buf();
        std::thread::spawn(move || {
            let table = open(path, 1);
            let key = key_of(1);
            table.set(&key, value_of(&key, 0, 100)).unwrap();
            // The test may have stopped to wait.
            let _ = done.send(());
        });
        Self(waits)
    }

    fn is_through(&self, within: Duration) -> bool {
        self.0.recv_timeout(within).is_ok()
    }
}

#[test]
fn a_stopped_writer_keeps_no_reader_waiting() {
    play(&[("writer", writer)]);
    let test = "a_stopped_writer_keeps_no_reader_waiting";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path, 1);
    write(&table, &mut Random::new(2), 5000);
    let read_only = Table::open_read_only(&path).unwrap();
    let actor = {
        let mut actor = Actor::start(test, "writer", &[path.to_str().unwrap()]);
        assert_eq!(actor.hear(), "writing");
        actor
    };
    let mut random = Random::new(3);
    let mut waited = 0;
    for round in 0..400 {
        std::thread::sleep(Duration::from_micros(100 + random.below(1500)));
        actor.signal(libc::SIGSTOP);
        let attempt = Attempt::begin(&path);
        for table in [&table, &read_only] {
            let took = read_all(table);
            assert!(took < MINUTE, "reading took {took:?}");
        }
        let through = attempt.is_through(Duration::from_millis(30));
        actor.signal(libc::SIGCONT);
        if !through {
            waited += 1;
            let through = attempt.is_through(MINUTE);
            assert!(through, "a writer still waits after SIGCONT");
        }
        if round >= 60 && waited > 0 {
            break;
        }
    }
    assert!(waited > 0, "the writer never stopped with the lock");
    actor.kill();
    assert_clean(&table);
    assert_eq!(
        table.stats().unwrap().recoveries,
        u64::from(table.stats().unwrap().recoveries > 0)
    );
}

/// Of many shards, a stopped writer holds one at most.
#[test]
fn writers_of_other_shards_continue_beside_a_stopped_one() {
    play(&[("writer", writer)]);
    let test = "writers_of_other_shards_continue_beside_a_stopped_one";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path, 64);
    write(&table, &mut Random::new(4), 3000);
    for number in 0..40u64 {
        table.incr(number.to_le_bytes(), 1).unwrap();
    }
    let mut actor = Actor::start(test, "writer", &[path.to_str().unwrap()]);
    assert_eq!(actor.hear(), "writing");
    let mut random = Random::new(5);
    for _ in 0..30 {
        std::thread::sleep(Duration::from_micros(200 + random.below(3000)));
        actor.signal(libc::SIGSTOP);
        let (done, through) = mpsc::channel();
        for number in 0..40u64 {
            let (path, done) = (path.clone(), done.clone());
            std::thread::spawn(move || {
                // A counter is changed in place: no page is needed, whose pool's lock the stopped
                // one may hold as well.
                open(path, 64).incr(number.to_le_bytes(), 1).unwrap();
                let _ = done.send(());
            });
        }
        let until = Instant::now() + MINUTE;
        let mut count = 0;
        while count < 30 && Instant::now() < until {
            count += u64::from(through.recv_timeout(Duration::from_millis(20)).is_ok());
        }
        actor.signal(libc::SIGCONT);
        assert!(count >= 30, "only {count} of 40 writers got through");
        for _ in count..40 {
            through.recv_timeout(MINUTE).unwrap();
        }
    }
    actor.kill();
    assert_clean(&table);
}

/// An actor: reads a large value again and again.
fn reader(args: &[String]) {
    let table = Table::open_read_only(&args[0]).unwrap();
    let key = key_of(0);
    let mut value = Vec::new();
    say("reading");
    let mut met = 0u64;
    crate::support::part::repeat_until_a_line_comes(|_| {
        if table.get_into(&key, &mut value).unwrap() {
            version_of(&key, &value).unwrap();
            met += 1;
        }
    });
    say(met);
}

#[test]
fn a_stopped_reader_keeps_nobody_waiting() {
    play(&[("reader", reader)]);
    let test = "a_stopped_reader_keeps_nobody_waiting";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = open(&path, 1);
    let key = key_of(0);
    table.set(&key, value_of(&key, 0, 1 << 20)).unwrap();
    let mut actor = Actor::start(test, "reader", &[path.to_str().unwrap()]);
    assert_eq!(actor.hear(), "reading");
    let mut random = Random::new(6);
    for round in 1..40 {
        std::thread::sleep(Duration::from_micros(random.below(2000)));
        actor.signal(libc::SIGSTOP);
        let begun = Instant::now();
        for version in 0..20 {
            table
                .set(&key, value_of(&key, round * 100 + version, 1 << 20))
                .unwrap();
        }
        assert!(begun.elapsed() < MINUTE);
        actor.signal(libc::SIGCONT);
    }
    actor.send("enough");
    assert!(actor.hear_number() > 0);
    actor.finish();
    assert_clean(&table);
}

/// Stops a reader while it copies: elsewhere in its read, for the length of a few loads, it may
/// well fault (docs/internals/concurrency.md, arguments with numbers).
fn stop_in_a_copy(reader: &Actor, random: &mut Random) {
    for _ in 0..10_000 {
        std::thread::sleep(Duration::from_micros(1000 + random.below(1000)));
        reader.signal(libc::SIGSTOP);
        if is_stopped_in(reader, libc::SYS_pread64) {
            return;
        }
        reader.signal(libc::SIGCONT);
    }
    panic!("the reader is never seen copying");
}

/// Waits until all threads of a process that was sent a SIGSTOP have stopped; whether one of them
/// was in that system call.
fn is_stopped_in(actor: &Actor, call: i64) -> bool {
    let mut calls = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{}/task", actor.pid())).unwrap() {
        let name = task.unwrap().path().join("syscall");
        loop {
            let state = std::fs::read_to_string(&name).unwrap();
            if !state.starts_with("running") {
                calls.push(state);
                break;
            }
            std::thread::yield_now();
        }
    }
    calls
        .iter()
        .any(|state| state.starts_with(&format!("{call} ")))
}

/// A reader stops in the middle of a copy; its bytes are freed and given back, and another file
/// takes the last room of the file system. It must find out, and not fault.
#[test]
fn a_reader_stopped_while_its_bytes_are_given_back_finds_out() {
    play(&[("reader", reader)]);
    let test = "a_reader_stopped_while_its_bytes_are_given_back_finds_out";
    let Some(mount) = Mount::tmpfs(24 << 20) else {
        return;
    };
    let path = mount.table("t");
    let table = open(&path, 1);
    let key = key_of(0);
    let mut random = Random::new(7);
    for round in 0..4 {
        table.set(&key, value_of(&key, round, 4 << 20)).unwrap();
        let readers: Vec<Actor> = (0..4)
            .map(|_| Actor::start(test, "reader", &[path.to_str().unwrap()]))
            .map(|mut actor| {
                assert_eq!(actor.hear(), "reading");
                actor
            })
            .collect();
        for reader in &readers {
            stop_in_a_copy(reader, &mut random);
        }
        assert!(table.remove(&key).unwrap());
        table.compact().unwrap();
        let ballast = mount.fill("ballast", 0);
        readers
            .iter()
            .for_each(|reader| reader.signal(libc::SIGCONT));
        std::thread::sleep(Duration::from_millis(50));
        std::fs::remove_file(ballast).unwrap();
        for mut reader in readers {
            reader.send("enough");
            let state = reader.hear_or_end();
            assert!(state.is_ok(), "{state:?}");
            assert_eq!(reader.end(), End::Exit(0));
        }
    }
}

/// An actor: scans half of a table, rests until it is asked to continue, and scans the rest.
fn walker(args: &[String]) {
    let table = Table::open_read_only(&args[0]).unwrap();
    let mut entries = table.iter();
    for _ in 0..100 {
        entries.next_entry().unwrap().unwrap();
    }
    say("resting");
    hear();
    let mut rest = 0;
    while entries.next_entry().unwrap().is_some() {
        rest += 1;
    }
    say(rest);
}

/// As above, for a scan whose segment is given back between two of its entries: the values are so
/// long that the scan rests in the middle of one.
#[test]
fn a_paused_walk_continues_after_its_segments_were_given_back() {
    play(&[("walker", walker)]);
    let test = "a_paused_walk_continues_after_its_segments_were_given_back";
    let Some(mount) = Mount::tmpfs(24 << 20) else {
        return;
    };
    let path = mount.table("t");
    let table = open(&path, 1);
    for number in 0..50_000 {
        table.set(key_of(number), [7; 150]).unwrap();
    }
    let mut actor = Actor::start(test, "walker", &[path.to_str().unwrap()]);
    assert_eq!(actor.hear(), "resting");
    for number in 0..50_000 {
        assert!(table.remove(key_of(number)).unwrap());
    }
    table.compact().unwrap();
    let ballast = mount.fill("ballast", 0);
    actor.send("go on");
    let rest = actor.hear_number();
    std::fs::remove_file(ballast).unwrap();
    // What its last chunk held.
    assert!(rest < 50_000, "{rest}");
    assert_eq!(actor.end(), End::Exit(0));
}
