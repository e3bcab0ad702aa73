//! Locks whose holder is stopped: those that want them wait as long as they are asked to, and learn
//! which process has them. An attached process is named by the number that it has here, or not as
//! one of ours.

#![cfg(not(miri))]

use crate::support::part::{Actor, alone, hear, play, say};
use crate::support::patience::{HANG_S, MINUTE, Watch};
use crate::support::process::{alarm, fork, signal, unshare};
use crate::support::{Dir, assert_clean};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tavola::{Error, Holder, Lock, Participant, Table};

/// In a table of one shard: where its lock is, where its participants, bytes of one.
const SHARD_LOCK: u64 = 4096 + 576;
const PARTICIPANTS: u64 = 4096 + 1536;
const PARTICIPANT: u64 = 128;
const SHORT: Duration = Duration::from_millis(150);

fn create(path: &Path) -> Table {
    let options = Table::options().max_size(4 << 20).shards(1);
    options.create(path).unwrap()
}

/// An actor: attaches, and waits.
fn attaches(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    table.set(b"actor", b"here").unwrap();
    say("attached");
    hear();
}

fn start(test: &str, path: &Path) -> Actor {
    let mut actor = Actor::start(test, "attaches", &[path.to_str().unwrap()]);
    assert_eq!(actor.hear(), "attached");
    actor
}

fn member(table: &Table, actor: &Actor) -> Participant {
    let all = table.participants().unwrap();
    let found = all.into_iter().find(|one| one.pid == actor.pid() as u32);
    found.expect("an attached process")
}

/// The bytes of a table, to write a lock word as its holder would.
struct Bytes(File);

impl Bytes {
    fn open(path: &Path) -> Self {
        Self(File::options().read(true).write(true).open(path).unwrap())
    }

    /// Lets a participant hold the lock of the shard, or nobody.
    fn lock(&self, holder: Option<&Participant>) {
        let word = holder.map_or(0, |holder| {
            let place = PARTICIPANTS + PARTICIPANT * u64::from(holder.slot);
            let mut generation = [0; 4];
            self.0.read_exact_at(&mut generation, place).unwrap();
            holder.slot | u32::from_le_bytes(generation) << 12
        });
        self.0
            .write_all_at(&word.to_le_bytes(), SHARD_LOCK)
            .unwrap();
    }
}

static REPORTED: OnceLock<Holder> = OnceLock::new();

/// Without a limit the lock is waited for, and the process gets a notice of it.
fn waits_without_a_limit(table: &Table, actor: &Actor, bytes: &Bytes) {
    assert!(tavola::on_long_wait(|holder| {
        let _ = REPORTED.set(*holder);
    }));
    table.set_lock_timeout(None).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| table.set(b"key", b"third").unwrap());
        let begun = Instant::now();
        while REPORTED.get().is_none() {
            assert!(begun.elapsed() < MINUTE && !waits.is_finished());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(REPORTED.get().unwrap().pid, actor.pid() as u32);
        bytes.lock(None);
    });
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"third");
}

const STOPPED: &str = "a_stopped_holder_is_waited_for_as_long_as_is_wanted";

#[test]
fn a_stopped_holder_is_waited_for_as_long_as_is_wanted() {
    alone(
        STOPPED,
        &[("attaches", attaches)],
        wait_for_a_stopped_holder,
    );
}

fn wait_for_a_stopped_holder() {
    alarm(HANG_S);
    let dir = Dir::new();
    let path = dir.table("t");
    let table = create(&path);
    table.set(b"key", b"value").unwrap();
    assert!(table.lock_holders().unwrap().is_empty());
    let actor = start(STOPPED, &path);
    let holder = member(&table, &actor);
    assert!(holder.is_local && !holder.is_stopped && holder.alive);
    let bytes = Bytes::open(&path);
    actor.signal(libc::SIGSTOP);
    bytes.lock(Some(&holder));
    let begun = Instant::now();
    while !member(&table, &actor).is_stopped {
        assert!(begun.elapsed() < MINUTE, "it does not stop");
    }

    for limit in [Duration::ZERO, SHORT] {
        table.set_lock_timeout(Some(limit)).unwrap();
        let begun = Instant::now();
        let Err(Error::Busy { holder, waited }) = table.set(b"key", b"other") else {
            panic!("the lock is held");
        };
        assert!(waited >= limit && begun.elapsed() >= limit && begun.elapsed() < MINUTE);
        assert_eq!(
            (holder.pid, holder.lock),
            (actor.pid() as u32, Lock::Shard(0))
        );
        assert!(holder.is_local && holder.is_stopped && holder.is_alive);
    }
    let message = table.set(b"key", b"other").unwrap_err().to_string();
    let named = format!("shard 0 is locked by pid {}, which is stopped", actor.pid());
    assert!(message.starts_with(&named), "{message}");
    // Readers do not wait, and a clone has the same limit.
    assert_eq!(table.get(b"key").unwrap().unwrap(), b"value");
    let seen = Table::open_read_only(&path).unwrap();
    let [held] = seen.lock_holders().unwrap()[..] else {
        panic!("one lock is held");
    };
    assert_eq!((held.pid, held.is_stopped), (actor.pid() as u32, true));
    // A forked child has the limit, too.
    fork(|| {
        let busy = table.set(b"key", b"child");
        assert!(matches!(busy, Err(Error::Busy { .. })));
    })
    .finish();

    waits_without_a_limit(&table, &actor, &bytes);

    // Whatever the limit: a dead holder's lock is taken over.
    bytes.lock(Some(&holder));
    actor.kill();
    table.set_lock_timeout(Some(SHORT)).unwrap();
    table.set(b"key", b"fourth").unwrap();
    assert!(table.lock_holders().unwrap().is_empty());
    assert_clean(&table);
}

/// A waiter that gives up or is killed leaves the lock as it was.
#[test]
fn a_waiter_that_dies_keeps_nobody_waiting() {
    play(&[("attaches", attaches), ("waits", waits)]);
    let _watch = Watch::begin();
    let test = "a_waiter_that_dies_keeps_nobody_waiting";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = create(&path);
    let actor = start(test, &path);
    let bytes = Bytes::open(&path);
    actor.signal(libc::SIGSTOP);
    bytes.lock(Some(&member(&table, &actor)));
    for _ in 0..3 {
        let mut waiter = Actor::start(test, "waits", &[path.to_str().unwrap()]);
        assert_eq!(waiter.hear(), "waiting");
        std::thread::sleep(Duration::from_millis(30));
        waiter.kill();
    }
    table.set_lock_timeout(Some(SHORT)).unwrap();
    let busy = table.set(b"key", b"value");
    assert!(matches!(busy, Err(Error::Busy { .. })));
    bytes.lock(None);
    actor.signal(libc::SIGCONT);
    table.set(b"key", b"value").unwrap();
    drop(actor);
    assert_clean(&table);
}

/// An actor: waits for a lock.
fn waits(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    say("waiting");
    let _ = table.set(b"key", b"value");
}

/// An actor: starts a pid namespace, and a process in it that attaches and holds the lock.
fn in_another_namespace(args: &[String]) {
    alarm(HANG_S);
    if !unshare(libc::CLONE_NEWPID) {
        say("not permitted");
        return;
    }
    let child = fork(|| {
        let table = Table::open(&args[0]).unwrap();
        table.set(b"child", b"here").unwrap();
        say(std::process::id());
        hear();
    });
    child.finish();
}

#[test]
fn a_process_of_another_pid_namespace_is_not_taken_for_one_of_ours() {
    play(&[("in_another_namespace", in_another_namespace)]);
    let _watch = Watch::begin();
    let test = "a_process_of_another_pid_namespace_is_not_taken_for_one_of_ours";
    let dir = Dir::new();
    let path = dir.table("t");
    let table = create(&path);
    table.set(b"key", b"value").unwrap();
    let args = [path.to_str().unwrap()];
    let mut actor = Actor::start(test, "in_another_namespace", &args);
    let said = actor.hear();
    if said == "not permitted" {
        eprintln!("skipped: this kernel lets us make no pid namespace");
        return;
    }
    assert_eq!(said, "1");
    for table in [&table, &Table::open_read_only(&path).unwrap()] {
        let all = table.participants().unwrap();
        let one = all.iter().find(|one| one.pid == 1).unwrap();
        assert!(one.alive && !one.is_local && !one.is_this_process());
        // Process 1 has a command line here.
        assert_eq!(one.command, None);
        assert_eq!(one.process_label(), "pid 1 in another pid namespace");
        let own = all.iter().find(|one| one.is_this_process()).unwrap();
        assert!(own.is_local && own.command.is_some());
        assert_eq!(own.process_label(), format!("pid {}", std::process::id()));
    }
    // As the holder of a lock, too.
    let all = table.participants().unwrap();
    let one = all.iter().find(|one| one.pid == 1).unwrap();
    let bytes = Bytes::open(&path);
    bytes.lock(Some(one));
    table.set_lock_timeout(Some(SHORT)).unwrap();
    let message = table.set(b"key", b"other").unwrap_err().to_string();
    let named = "shard 0 is locked by pid 1 in another pid namespace, for";
    assert!(message.starts_with(named), "{message}");
    bytes.lock(None);
    actor.send("end");
    actor.finish();
}

/// An actor: starts a pid namespace, and in it a process that attaches; says its pid and its death.
fn dies_elsewhere(args: &[String]) {
    alarm(HANG_S);
    if !unshare(libc::CLONE_NEWPID) {
        say("not permitted");
        return;
    }
    let child = fork(|| {
        let _table = attach(&args[0]);
        hear();
    });
    say(child.pid());
    child.end();
    say("dead");
}

fn attach(path: &str) -> Table {
    let table = Table::open(path).unwrap();
    table.set(b"actor", b"here").unwrap();
    table
}

/// An actor: reclaims what dead participants left, again and again, beside an idle child that has
/// the open file in common with it.
fn reclaims(args: &[String]) {
    alarm(HANG_S);
    let table = attach(&args[0]);
    let idle = fork(|| {
        alarm(HANG_S);
        loop {
            std::thread::park();
        }
    });
    say(idle.pid());
    hear();
    loop {
        table.reclaim().unwrap();
    }
}

/// Whether the byte by which a participant is known to live is locked.
fn is_locked(file: &File, slot: u32) -> bool {
    // SAFETY: all zeros is a lock request.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_start = (1 << 62) + libc::off_t::from(slot);
    lock.l_len = 1;
    // SAFETY: the request is valid for the call, which takes no lock.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    assert_eq!(asked, 0, "{}", std::io::Error::last_os_error());
    lock.l_type != libc::F_UNLCK as libc::c_short
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < MINUTE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A process that reclaims what a dead one left, and is killed in the middle of it, leaves the dead
/// to others: its children, who have its open file, do not keep the dead alive.
#[test]
fn a_reclaimer_that_dies_leaves_the_dead_to_others() {
    let test = "a_reclaimer_that_dies_leaves_the_dead_to_others";
    play(&[
        ("attaches", attaches),
        ("dies_elsewhere", dies_elsewhere),
        ("reclaims", reclaims),
    ]);
    let _watch = Watch::begin();
    let dir = Dir::new();
    let path = dir.table("t");
    let table = create(&path);
    let args = [path.to_str().unwrap()];
    let mut elsewhere = Actor::start(test, "dies_elsewhere", &args);
    let said = elsewhere.hear();
    if said == "not permitted" {
        eprintln!("skipped: this kernel lets us make no pid namespace");
        return;
    }
    let other = said.parse().unwrap();
    let mut dead = 0;
    wait_until(|| {
        let all = table.participants().unwrap();
        let found = all.iter().find(|one| !one.is_local);
        dead = found.map_or(0, |one| one.slot);
        dead != 0
    });
    let mut reclaimer = Actor::start(test, "reclaims", &args);
    let idle = reclaimer.hear_number() as i32;
    // While a living one holds the shard, the reclaimer waits for it.
    let holder = start(test, &path);
    let bytes = Bytes::open(&path);
    bytes.lock(Some(&member(&table, &holder)));
    signal(other, libc::SIGKILL);
    assert_eq!(elsewhere.hear(), "dead");
    reclaimer.send("reclaim");
    wait_until(|| is_locked(&bytes.0, dead));
    reclaimer.kill();
    bytes.lock(None);
    table.reclaim().unwrap();
    let all = table.participants().unwrap();
    signal(idle, libc::SIGKILL);
    assert!(all.iter().all(|one| one.slot != dead), "{all:?}");
    drop(holder);
    assert_clean(&table);
}
