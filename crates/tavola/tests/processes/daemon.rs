//! A program that becomes a daemon closes every descriptor it finds, and the numbers lead to its
//! own files afterwards. Whatever it does with its tables then: those files stay as they are, and
//! to the other processes it is as alive as before.

use crate::support::part::{Actor, hear, play, say};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, fork, unshare};
use crate::support::{Dir, assert_clean};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tavola::{Durability, Level, Log, LogOptions, Queue, QueueOptions, QueuePool, Table};

/// Numbers that are closed: more than daemons try, and than the library uses.
const NUMBERS: i32 = 1100;
/// Bytes of the application's file, none of them 0.
const OWN_BYTES: usize = 2 << 20;

/// The application's own file, which all numbers lead to.
struct Own {
    file: std::fs::File,
    blocks: u64,
}

impl Own {
    fn new(dir: &Path) -> Self {
        let path = dir.join("own");
        std::fs::write(&path, vec![b'x'; OWN_BYTES]).unwrap();
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let blocks = file.metadata().unwrap().blocks();
        Self { file, blocks }
    }

    /// Closes all descriptors but the standard ones, and lets each number lead to the file.
    fn become_daemon(&self) {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: a valid place for the answer.
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
        let until = NUMBERS.min(i32::try_from(limit.rlim_cur).unwrap_or(NUMBERS));
        for number in 3..until {
            if number != self.file.as_raw_fd() {
                // SAFETY: closes what the number led to, as daemons do: that is the test.
                unsafe { libc::dup2(self.file.as_raw_fd(), number) };
            }
        }
    }

    /// Panics if one of the numbers was closed, or the file has changed.
    fn assert_untouched(&self, after: &str) {
        let info = self.file.metadata().unwrap();
        let is_whole = (info.len(), info.blocks()) == (OWN_BYTES as u64, self.blocks);
        assert!(is_whole, "another size after {after}");
        let mut bytes = vec![0; OWN_BYTES];
        self.file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(
            bytes.iter().all(|&byte| byte == b'x'),
            "other bytes after {after}"
        );
    }
}

/// All that the application has open.
struct Open {
    table: Table,
    pool: QueuePool,
    queue: Queue,
    log: Log,
    durable: Table,
    path: std::path::PathBuf,
    turn: u64,
    counted: u64,
}

type Step = (&'static str, fn(&mut Open));

/// What is done between two turns into a daemon.
const STEPS: [Step; 13] = [
    ("growing", |open| {
        for number in 0..400u64 {
            let key = format!("{} {number}", open.turn);
            open.table.set(key.as_bytes(), [1; 300]).unwrap();
        }
    }),
    ("a large value", |open| {
        let value = vec![open.turn as u8; 300_000];
        open.table.set(b"large", &value).unwrap();
        assert!(open.table.get(b"large").unwrap().unwrap() == value);
    }),
    ("shrinking", |open| {
        let keys: Vec<Vec<u8>> = open.table.iter().map(|entry| entry.unwrap().0).collect();
        for key in keys.iter().filter(|key| *key != b"count") {
            open.table.remove(key).unwrap();
        }
        // It waits for the grace of freed pages.
        if open.turn % 4 == 1 {
            open.table.compact().unwrap();
        }
    }),
    ("counting", |open| {
        open.table.incr(b"count", 1).unwrap();
        open.counted += 1;
    }),
    ("a child that writes", |open| {
        fork(|| assert!(open.table.incr(b"count", 1).unwrap() > 0)).finish();
        open.counted += 1;
    }),
    ("looking for the dead", |open| {
        open.table.reclaim().unwrap();
        assert!(
            open.table
                .participants()
                .unwrap()
                .iter()
                .all(|one| one.alive)
        );
    }),
    ("statistics", |open| {
        assert!(open.table.stats().unwrap().resident_bytes > 0)
    }),
    ("a check", |open| assert_clean(&open.table)),
    ("a queue", |open| {
        let element = open.queue.pop().unwrap().unwrap();
        open.queue.push(element).unwrap();
        assert!(open.pool.check().unwrap().is_clean());
    }),
    ("a watch", |open| {
        let watch = open.queue.watch().unwrap();
        // Raised by its thread, at once or when the number leads elsewhere.
        drop(watch);
    }),
    ("a log", |open| {
        open.log.line(Level::Info, "a line").unwrap();
        assert!(open.log.reader().lines().count() > 0);
    }),
    ("a durable table", |open| {
        for number in 0..10u64 {
            open.durable.set(number.to_le_bytes(), [1; 9000]).unwrap();
        }
        open.durable.sync().unwrap();
        assert!(open.durable.snapshot().unwrap());
    }),
    ("opening and closing", |open| {
        let other = Table::open(&open.path).unwrap();
        other.incr(b"count", 1).unwrap();
        open.counted += 1;
    }),
];

fn open_all(dir: &Path) -> Open {
    let path = dir.join("t");
    let table = Table::options()
        .max_size(64 << 20)
        .shards(2)
        .open(&path)
        .unwrap();
    let pool = QueueOptions::new(10, 16)
        .queues(["q"])
        .open(dir.join("queues"))
        .unwrap();
    let log = LogOptions::new().open(dir.join("log")).unwrap();
    log.show_on_stderr(false);
    Open {
        queue: pool.queue("q").unwrap(),
        table,
        pool,
        log,
        durable: durable_options().create(dir.join("home")).unwrap(),
        path,
        turn: 0,
        counted: 0,
    }
}

fn durable_options() -> tavola::Options {
    let options = Table::options().max_size(8 << 20).shards(1);
    // Files that are short, and so made often.
    options
        .durable(Durability::Within(Duration::from_secs(60)))
        .journal_file_size(64 << 10)
}

#[test]
fn files_of_a_daemon_are_left_alone_between_any_two_steps() {
    play(&[("daemon", |args| {
        alarm(HANG_S);
        let dir = Path::new(&args[0]);
        let own = Own::new(dir);
        let mut open = open_all(dir);
        for (first, one) in STEPS {
            for (second, other) in STEPS {
                open.turn += 1;
                one(&mut open);
                own.become_daemon();
                other(&mut open);
                own.assert_untouched(&format!("{first}, then {second}"));
            }
        }
        let Open { counted, .. } = open;
        own.become_daemon();
        drop(open);
        own.assert_untouched("the end");
        for number in (3..NUMBERS).filter(|number| *number < 1000) {
            // SAFETY: asks for the flags of a number that all lead to the application's file.
            let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
            assert_ne!(flags, -1, "number {number} was closed");
        }
        say(counted);
    })]);
    let dir = Dir::new();
    let test = "files_of_a_daemon_are_left_alone_between_any_two_steps";
    let mut daemon = Actor::start(test, "daemon", &[dir.path().to_str().unwrap()]);
    let counted = daemon.hear_number();
    daemon.finish();
    let durable = Table::open(dir.table("home")).unwrap();
    assert_eq!(durable.len().unwrap(), 10);
    drop(durable);
    Table::options().remove(dir.table("home")).unwrap();
    let table = Table::open(dir.table("t")).unwrap();
    let count = table.get(b"count").unwrap().unwrap();
    assert_eq!(count, counted.to_string().as_bytes());
    assert_clean(&table);
}

/// Counts of two processes, one of which closes its descriptors all the time: if the other took it
/// for dead, it would take its locks.
#[test]
fn a_daemon_keeps_its_locks() {
    play(&[("daemon", |args| {
        alarm(HANG_S);
        let dir = Path::new(&args[0]);
        let own = Own::new(dir);
        let table = Table::open(dir.join("t")).unwrap();
        let mut counted = 0u64;
        let line = std::thread::spawn(hear);
        while !line.is_finished() {
            own.become_daemon();
            for _ in 0..2000 {
                table.incr(b"count", 1).unwrap();
                counted += 1;
            }
        }
        own.assert_untouched("counting");
        say(counted);
    })]);
    let dir = Dir::new();
    let table = Table::options()
        .max_size(16 << 20)
        .shards(1)
        .open(dir.table("t"))
        .unwrap();
    let mut daemon = Actor::start(
        "a_daemon_keeps_its_locks",
        "daemon",
        &[dir.path().to_str().unwrap()],
    );
    let mut counted = 0;
    for _ in 0..300 {
        for _ in 0..1000 {
            table.incr(b"count", 1).unwrap();
            counted += 1;
        }
        assert!(table.participants().unwrap().iter().all(|one| one.alive));
        assert_eq!(table.reclaim().unwrap(), 0);
    }
    daemon.send("enough");
    let all = counted + daemon.hear_number();
    daemon.finish();
    assert_eq!(
        table.get(b"count").unwrap().unwrap(),
        all.to_string().as_bytes()
    );
    assert_eq!(table.stats().unwrap().recoveries, 0);
    assert_clean(&table);
}

/// Goes on as the first process of a pid namespace of its own, if that is wanted.
fn in_place(place: &str, body: impl FnOnce()) {
    alarm(HANG_S);
    if place == "outside" {
        return body();
    }
    if !unshare(libc::CLONE_NEWPID) {
        return say("skipped");
    }
    fork(body).finish();
}

/// A master that writes until it dies, and has a child that never uses the table.
fn write_with_an_idle_child(path: &str) {
    let table = Table::open(path).unwrap();
    table.incr(b"count", 1).unwrap();
    std::mem::forget(fork(|| {
        alarm(HANG_S);
        // SAFETY: waits for a signal. It only holds what it has inherited.
        unsafe { libc::pause() };
    }));
    say("writing");
    loop {
        table.incr(b"count", 1).unwrap();
    }
}

/// A master dies holding a lock while its child, which has never written, lives on. A waiter that
/// cannot compare pids finds out as soon as one that can.
#[test]
fn an_idle_child_does_not_keep_the_locks_of_its_dead_parent() {
    play(&[
        ("family", |args| {
            in_place(&args[1], || {
                while hear().is_some() {
                    let master = fork(|| write_with_an_idle_child(&args[0]));
                    hear();
                    master.signal(libc::SIGKILL);
                    master.end();
                    say("killed");
                }
                // Its idle children end with this group of processes.
                // SAFETY: a signal to the group that this actor has made for itself.
                unsafe { libc::kill(0, libc::SIGKILL) };
            });
        }),
        ("waiter", |args| {
            in_place(&args[1], || {
                let table = Table::open(&args[0]).unwrap();
                while hear().is_some() {
                    let begun = Instant::now();
                    table.incr(b"count", 1).unwrap();
                    say(begun.elapsed().as_millis());
                }
            });
        }),
    ]);
    let test = "an_idle_child_does_not_keep_the_locks_of_its_dead_parent";
    for places in [
        ["inside", "outside"],
        ["outside", "inside"],
        ["inside", "inside"],
    ] {
        let dir = Dir::new();
        let path = dir.table("t");
        let table = Table::options()
            .max_size(16 << 20)
            .shards(1)
            .open(&path)
            .unwrap();
        let path = path.to_str().unwrap();
        let mut family = Actor::start_by(test, "family", &[path, places[0]], |command| {
            command.process_group(0);
        });
        let mut waiter = Actor::start(test, "waiter", &[path, places[1]]);
        let mut random = crate::support::Random::new(7);
        let mut rounds = 0;
        while table.stats().unwrap().recoveries < 3 {
            rounds += 1;
            assert!(rounds < 2000, "nobody died with the lock");
            family.send("fork");
            if family.hear() == "skipped" {
                println!("skipped: this user may not make namespaces");
                return;
            }
            std::thread::sleep(Duration::from_micros(random.below(4000)));
            family.send("kill");
            assert_eq!(family.hear(), "killed");
            waiter.send("write");
            let waited_ms = waiter.hear_number();
            // Some 10 ms and the recovery; before, until the child ended.
            assert!(waited_ms < 10_000, "{places:?}: {waited_ms} ms");
        }
        waiter.end();
        family.end();
        table.reclaim().unwrap();
        assert_clean(&table);
    }
}
