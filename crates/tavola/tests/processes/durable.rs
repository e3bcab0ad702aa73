//! Durable tables of several processes that are killed, and whose memory is lost: nothing that was
//! acknowledged is missing afterwards.

use crate::support::Random;
use crate::support::durable::DurableDir;
use crate::support::part::{Actor, End, play, say};
use crate::support::patience::HANG_S;
use crate::support::process::{alarm, fork};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tavola::{Durability, Options, Table};

const WORKERS: u64 = 4;
/// Keys of a worker, which it sets in turn.
const KEYS: u64 = 20;
const ACCOUNTS: u64 = 8;
const BALANCE: u64 = 100;
/// Bytes of a worker's acknowledgements: a number.
const ACK: u64 = 8;

fn options(durability: Durability) -> Options {
    let options = Table::options().max_size(32 << 20).shards(4);
    options.durable(durability)
}

fn key(worker: u64, step: u64) -> String {
    format!("worker {worker}, key {}", step % KEYS)
}

fn account(number: u64) -> String {
    format!("account {}", number % ACCOUNTS)
}

/// The value that a step leaves under its key; some go to the journal in pieces.
fn value(step: u64) -> Vec<u8> {
    let len = match step % 16 {
        0 => 50_000,
        short => 8 * short as usize,
    };
    let mut value = step.to_le_bytes().to_vec();
    value.resize(len.max(8), step as u8);
    value
}

/// Returns the step that has set a key, whose value must be whole.
fn step_of(found: &[u8]) -> u64 {
    let step = u64::from_le_bytes(found[..8].try_into().unwrap());
    assert!(found == value(step), "a torn value of step {step}");
    step
}

/// Moves something from one account to another, whatever is there.
fn transfer(table: &Table, random: &mut Random) {
    let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
    let amount = random.below(9);
    let moved: tavola::Result<()> = table.transaction(|t| {
        let left = t.add_number(account(from), 0)?;
        if left < amount as i64 {
            return Ok(());
        }
        t.add_number(account(from), -(amount as i64))?;
        t.add_number(account(to), amount as i64)?;
        Ok(())
    });
    moved.unwrap();
}

fn acknowledged(file: &File, worker: u64) -> u64 {
    let mut number = [0; ACK as usize];
    file.read_exact_at(&mut number, ACK * worker).unwrap();
    u64::from_le_bytes(number)
}

/// An actor: step after step, each acknowledged when it has returned, until death.
fn work(args: &[String]) {
    alarm(HANG_S);
    let [home, acks, worker] = args else { panic!() };
    let worker: u64 = worker.parse().unwrap();
    let file = File::options().read(true).write(true).open(acks).unwrap();
    let table = Table::open(home).unwrap();
    let first = acknowledged(&file, worker) + 1;
    let mut random = Random::new(first * WORKERS + worker);
    say("working");
    for step in first.. {
        // The unfinished step of the one before is done again.
        table.set(key(worker, step), value(step)).unwrap();
        file.write_all_at(&step.to_le_bytes(), ACK * worker)
            .unwrap();
        match step % 50 {
            49 => drop(table.snapshot().unwrap()),
            n if n % 3 == 0 => transfer(&table, &mut random),
            _ => {}
        }
    }
}

/// Panics unless each key has what was acknowledged last, or what was just being set.
fn assert_nothing_is_lost(table: &Table, acks: &File) {
    for worker in 0..WORKERS {
        let done = acknowledged(acks, worker);
        for step in done.saturating_sub(KEYS - 1).max(1)..=done {
            let found = table.get(key(worker, step)).unwrap();
            let found = step_of(&found.unwrap_or_else(|| panic!("step {step} is lost")));
            let may_be_next = found == done + 1 && (done + 1) % KEYS == step % KEYS;
            assert!(
                found == step || may_be_next,
                "worker {worker}: {found} instead of {step}, {done} acknowledged"
            );
        }
    }
    let sum: u64 = (0..ACCOUNTS)
        .map(|number| {
            let found = table.get(account(number)).unwrap().unwrap();
            String::from_utf8(found).unwrap().parse::<u64>().unwrap()
        })
        .sum();
    assert_eq!(sum, ACCOUNTS * BALANCE);
    let report = table.check().unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

fn start(test: &str, home: &Path, acks: &Path, worker: u64) -> Actor {
    let worker = worker.to_string();
    let args = [home.to_str().unwrap(), acks.to_str().unwrap(), &worker];
    let mut actor = Actor::start(test, "work", &args);
    assert_eq!(actor.hear(), "working");
    actor
}

#[test]
fn nothing_acknowledged_is_lost() {
    play(&[("work", work)]);
    let test = "nothing_acknowledged_is_lost";
    let dir = DurableDir::new();
    let acks = dir.path().with_file_name("acks");
    std::fs::write(&acks, vec![0; (ACK * WORKERS) as usize]).unwrap();
    let table = options(Durability::Commit).create(dir.path()).unwrap();
    for number in 0..ACCOUNTS {
        table.set(account(number), BALANCE.to_string()).unwrap();
    }
    drop(table);
    let file = File::open(&acks).unwrap();
    let mut random = Random::new(3);
    let mut losses = 0;
    for round in 0..24 {
        let start = |worker| start(test, dir.path(), &acks, worker);
        let mut workers: Vec<Actor> = (0..WORKERS).map(start).collect();
        for _ in 0..random.below(4) {
            std::thread::sleep(Duration::from_millis(random.below(60)));
            let one = random.below(WORKERS);
            workers.remove(one as usize).kill();
            workers.insert(one as usize, start(one));
        }
        std::thread::sleep(Duration::from_millis(random.below(60)));
        workers.into_iter().for_each(Actor::kill);
        if round % 3 != 0 {
            dir.lose_memory();
            losses += 1;
        }
        let table = Table::open(dir.path()).unwrap();
        assert_nothing_is_lost(&table, &file);
    }
    let steps: u64 = (0..WORKERS).map(|worker| acknowledged(&file, worker)).sum();
    println!("{steps} steps, memory lost {losses} times");
    assert!(steps > 24 * WORKERS, "{steps} steps");
}

/// An actor: sets one key again and again.
fn set_again_and_again(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    say("begun");
    for number in 0u64.. {
        table.set(&args[1], number.to_le_bytes()).unwrap();
    }
}

/// An actor: counts a key to 1, and says so. With a lock timeout, it tries again as long as nothing
/// was done.
fn count_once(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    let limit = Some(Duration::from_millis(20));
    table.set_lock_timeout(limit).unwrap();
    while let Err(error) = table.add_number(&args[1], 1) {
        assert!(matches!(error, tavola::Error::Busy { .. }), "{error}");
    }
    say("set");
}

/// A process that was stopped while it syncs holds up those who wait for the disk, and no reads.
#[test]
fn a_stopped_sync_holds_up_no_reads() {
    play(&[("again", set_again_and_again), ("once", count_once)]);
    let test = "a_stopped_sync_holds_up_no_reads";
    let dir = DurableDir::new();
    let table = options(Durability::Commit).create(dir.path()).unwrap();
    table.set("there", "1").unwrap();
    let home = dir.path().to_str().unwrap();
    let mut met = 0;
    for round in 0..20 {
        let mut stopped = Actor::start(test, "again", &[home, "stopped"]);
        assert_eq!(stopped.hear(), "begun");
        std::thread::sleep(Duration::from_millis(20 + round));
        stopped.signal(libc::SIGSTOP);
        let mut waits = Actor::start(test, "once", &[home, &format!("waits {round}")]);
        // Time for it to come to where it waits, if it has to.
        std::thread::sleep(Duration::from_millis(300));
        let key = format!("waits {round}");
        let is_set = || table.get(&key).unwrap().is_some();
        if is_set() {
            // Its change is made; only the disk may be waited for.
            for _ in 0..1000 {
                assert!(table.get("there").unwrap().is_some());
            }
            let begun = Instant::now();
            let heard = std::thread::spawn(move || {
                let line = waits.hear();
                (line, begun.elapsed())
            });
            std::thread::sleep(Duration::from_millis(100));
            met += u32::from(!heard.is_finished());
            stopped.signal(libc::SIGCONT);
            assert_eq!(heard.join().unwrap().0, "set");
        } else {
            stopped.signal(libc::SIGCONT);
            assert_eq!(waits.hear(), "set");
        }
        assert_eq!(table.get(&key).unwrap().unwrap(), b"1", "counted once");
        stopped.kill();
        if met > 2 {
            break;
        }
    }
    println!("{met} were stopped in a sync");
    assert!(met > 0, "no process was stopped in a sync");
    drop(table);
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert!(table.get("waits 0").unwrap().is_some());
}

/// An actor: opens a table, forks, and both set keys.
fn fork_after_open(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open(&args[0]).unwrap();
    table.set("before", "1").unwrap();
    let child = fork(|| {
        for number in 0..50 {
            table.set(format!("child {number}"), "1").unwrap();
        }
        table.sync().unwrap();
    });
    for number in 0..50 {
        table.set(format!("parent {number}"), "1").unwrap();
    }
    child.finish();
    table.snapshot().unwrap();
    say("done");
}

#[test]
fn a_forked_child_uses_the_table_as_well() {
    play(&[("fork", fork_after_open)]);
    for durability in [Durability::Commit, Durability::Os] {
        let dir = DurableDir::new();
        drop(options(durability).create(dir.path()).unwrap());
        let home = dir.path().to_str().unwrap();
        let mut actor = Actor::start("a_forked_child_uses_the_table_as_well", "fork", &[home]);
        assert_eq!(actor.hear(), "done");
        actor.finish();
        dir.lose_memory();
        let table = Table::open(dir.path()).unwrap();
        for number in 0..50 {
            for of in ["child", "parent"] {
                assert!(table.contains(format!("{of} {number}")).unwrap());
            }
        }
    }
}

/// What processes that were killed have written is in the memory, also if nothing was synced; and
/// who opens the table then writes it out.
#[test]
fn what_the_killed_have_written_is_not_lost_with_the_memory_later() {
    play(&[("again", set_again_and_again)]);
    let test = "what_the_killed_have_written_is_not_lost_with_the_memory_later";
    let dir = DurableDir::new();
    drop(options(Durability::Os).create(dir.path()).unwrap());
    let home = dir.path().to_str().unwrap();
    let mut actor = Actor::start(test, "again", &[home, "key"]);
    assert_eq!(actor.hear(), "begun");
    std::thread::sleep(Duration::from_millis(100));
    actor.kill();
    let table = Table::open(dir.path()).unwrap();
    let found = table.get("key").unwrap();
    assert!(found.is_some());
    table.sync().unwrap();
    drop(table);
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert_eq!(table.get("key").unwrap(), found);
}

fn set_and_die(args: &[String]) {
    let table = Table::open(&args[0]).unwrap();
    table.set("k", &args[1]).unwrap();
    crate::support::process::signal(std::process::id() as i32, libc::SIGKILL);
}

/// What a killed process has written under the policy of the table is synced in time by a handle
/// whose own writes wait for the disk.
#[test]
fn a_stricter_handle_syncs_what_a_killed_process_has_written() {
    play(&[("die", set_and_die)]);
    let test = "a_stricter_handle_syncs_what_a_killed_process_has_written";
    let dir = DurableDir::new();
    let policy = Durability::Within(Duration::from_millis(200));
    drop(options(policy).create(dir.path()).unwrap());
    let strict = options(Durability::Commit).open(dir.path()).unwrap();
    for turn in 0..3 {
        let (home, value) = (dir.path().to_str().unwrap(), turn.to_string());
        let mut dies = Actor::start(test, "die", &[home, &value]);
        assert_eq!(dies.end(), End::Signal(libc::SIGKILL));
        let since = Instant::now();
        while strict.durable_stats().unwrap().unwrap().unsynced_bytes > 0 {
            assert!(since.elapsed().as_secs() < HANG_S.into(), "turn {turn}");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(strict.get("k").unwrap().unwrap(), value.as_bytes());
    }
}
