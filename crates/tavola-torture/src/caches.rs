//! The soak of a cache: processes set, read and remove keys of all lengths, its capacity goes up
//! and down, and they are killed and stopped at random.
//!
//! Any key may be missing at any time. But what is there is whole, and no older than what was known
//! of its key before the read began: half of the keys are each written by one process at a time,
//! which numbers its values, so that who has seen one, or written it, can say so to all others.
//! There is always room for another key.
//!
//! Some keys have a tag, and in their flags which, and how many invalidations of it had begun when
//! the tag had been taken. All that begin later take the key along: it must not be seen once one of
//! them has returned.

use crate::board::{Board, Count};
use crate::child::{Found, Outcome, failed};
use crate::scratch::Scratch;
use crate::system::{Ended, alarm, fork, kill, now_ns, shared_words, sleep_ms, wait};
use crate::value::{HEAD, Numbers, opened, sealed};
use rustix::process::{Pid, Signal};
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;
use tavola::{Attributes, Expiry, Table};

const WORKERS: u64 = 5;
const KEYS: u64 = 6000;
const SHARDS: u32 = 2;
/// What it may take, now and then something else.
const CAPACITIES: [u64; 4] = [6 << 20, 9 << 20, 14 << 20, 24 << 20];
/// Most bytes of a value, as a power of two: they are as often below 100 as above 20 KB.
const LONGEST_LOG2: u64 = 18;
/// Between two kills, at most.
const KILL_EVERY_US: u64 = 8000;
/// Kills between two audits.
const AUDIT_EVERY: u64 = 150;
/// Seconds a process may live.
const LIFE_S: u32 = 120;
/// Longer than the pages it gives up are kept.
const GRACE_PERIOD_MS: u64 = 2100;

const TAGS: [&str; 4] = ["tag 0", "tag 1", "tag 2", "tag 3"];
/// Flags of a key with a tag: this bit, the tag's number from bit 28 on, invalidations below.
const TAGGED: u32 = 1 << 31;
const TAG_SHIFT: u32 = 28;

/// Of each key: the last version that was begun, and one that is known to have been there. Of each
/// tag: how many invalidations were begun, and the last of them that has returned.
#[derive(Clone, Copy)]
struct Books {
    begun: &'static [AtomicU64],
    known: &'static [AtomicU64],
    begun_tags: &'static [AtomicU64],
    ended_tags: &'static [AtomicU64],
}

impl Books {
    fn new() -> Outcome<Self> {
        Ok(Self {
            begun: shared_words(KEYS as usize)?,
            known: shared_words(KEYS as usize)?,
            begun_tags: shared_words(TAGS.len())?,
            ended_tags: shared_words(TAGS.len())?,
        })
    }

    fn ended(self) -> [u64; TAGS.len()] {
        std::array::from_fn(|tag| self.ended_tags[tag].load(Acquire))
    }
}

/// Whether a key with these flags was to be seen by who began to look when so many invalidations of
/// each tag had returned.
fn has_its_tag(flags: u32, ended: [u64; TAGS.len()]) -> bool {
    let tag = (flags >> TAG_SHIFT) as usize % TAGS.len();
    let begun = u64::from(flags % (1 << TAG_SHIFT));
    flags & TAGGED == 0 || ended[tag] <= begun
}

struct Soak<'a> {
    board: &'a Board,
    path: &'a Path,
    books: Books,
    workers: Vec<Pid>,
    numbers: Numbers,
}

/// Kills those who use a cache for so long.
pub(crate) fn soak(board: &Board, scratch: &Scratch, seed: u64, for_ns: u64) -> Outcome<()> {
    let path = scratch.path("cache");
    let options = Table::options().capacity(CAPACITIES[1]).shards(SHARDS);
    drop(options.max_size(64 << 20).create(&path)?);
    let books = Books::new()?;
    let mut soak = Soak {
        board,
        path: &path,
        books,
        workers: Vec::new(),
        numbers: Numbers::new(seed),
    };
    let began = now_ns();
    let (mut kills, mut stops, mut audits) = (0, 0, 0);
    while audits == 0 || now_ns() - began < for_ns && board.faults() == 0 {
        for worker in 0..=WORKERS {
            let pid = soak.start(worker)?;
            soak.workers.push(pid);
        }
        for _ in 0..AUDIT_EVERY {
            std::thread::sleep(Duration::from_micros(soak.numbers.below(KILL_EVERY_US)));
            let was_killed = soak.disturb()?;
            kills += u64::from(was_killed);
            stops += u64::from(!was_killed);
        }
        for pid in std::mem::take(&mut soak.workers) {
            soak.end(pid)?;
            kills += 1;
        }
        soak.audit(audits % 4 == 0)?;
        audits += 1;
    }
    soak.audit(true)?;
    println!(
        "cache soak: {} s, {kills} kills, {stops} stops, {} audits, {} faults",
        (now_ns() - began) / 1_000_000_000,
        audits + 1,
        board.faults()
    );
    Ok(())
}

impl Soak<'_> {
    /// One that works; the last one only reads.
    fn start(&mut self, number: u64) -> Outcome<Pid> {
        let worker = Worker {
            number,
            books: self.books,
            numbers: Numbers::new(self.numbers.next()),
        };
        let pid = fork(|| {
            alarm(LIFE_S);
            let Err(why) = worker.run(self.path);
            let name = format!("cache soak: worker {number}");
            self.board.fault(&format!("{name}: {why}"));
            1
        })?;
        Ok(pid)
    }

    /// Kills one and starts it again, or stops one for a while. Returns whether it was killed.
    fn disturb(&mut self) -> Outcome<bool> {
        let at = self.numbers.below(WORKERS + 1);
        let pid = self.workers[at as usize];
        if self.numbers.below(3) == 0 {
            kill(pid, Signal::STOP)?;
            sleep_ms(self.numbers.below(20));
            kill(pid, Signal::CONT)?;
            return Ok(false);
        }
        self.end(pid)?;
        self.workers[at as usize] = self.start(at)?;
        Ok(true)
    }

    /// Kills a worker; it must have been alive.
    fn end(&self, pid: Pid) -> Outcome<()> {
        kill(pid, Signal::KILL)?;
        match wait(pid)? {
            ended if ended.was_killed() => self.board.add(Count::Killed, 1),
            ended => {
                let what = format!("cache soak: a worker ended before: {ended:?}");
                self.board.fault(&what);
            }
        }
        Ok(())
    }

    /// Nobody lives: looks at everything.
    fn audit(&self, waits: bool) -> Outcome<()> {
        let pid = fork(|| {
            alarm(LIFE_S);
            match audit_table(self.path, self.books, waits) {
                Ok(()) => 0,
                Err(why) => {
                    self.board.fault(&format!("cache soak: an audit: {why}"));
                    1
                }
            }
        })?;
        match wait(pid)? {
            Ended::Exited(0 | 1) => {}
            ended => {
                let what = format!("cache soak: an audit ended by {ended:?}");
                self.board.fault(&what);
            }
        }
        Ok(())
    }
}

fn audit_table(path: &Path, books: Books, waits: bool) -> Found<()> {
    let table = Table::options().open_existing(path).map_err(failed)?;
    table.reclaim().map_err(failed)?;
    is_clean(&table)?;
    for number in 0..KEYS {
        read(&table, books, number)?;
    }
    if !waits {
        return Ok(());
    }
    table.maintain(0).map_err(failed)?;
    sleep_ms(GRACE_PERIOD_MS);
    table.maintain(0).map_err(failed)?;
    is_clean(&table)?;
    let stats = table.stats().map_err(failed)?;
    let (has, may) = (stats.resident_bytes, stats.capacity.unwrap_or(0));
    match has <= may {
        true => Ok(()),
        false => Err(format!("a cache of {may} bytes takes {has}: {stats:?}")),
    }
}

fn is_clean(table: &Table) -> Found<()> {
    let report = table.check().map_err(failed)?;
    if !report.is_clean() || report.bytes_in_use != report.bytes_reachable {
        return Err(format!("the cache is not whole: {:?}", report.problems));
    }
    Ok(())
}

/// A key: of those with an even number, one process each writes at a time.
fn key_of(number: u64) -> Vec<u8> {
    format!("key-{number}").into_bytes()
}

fn is_owned(number: u64) -> bool {
    number.is_multiple_of(2)
}

/// Reads a key: nothing, or something whole that is as new as what was known.
fn read(table: &Table, books: Books, number: u64) -> Found<()> {
    let known = books.known[number as usize].load(Acquire);
    let ended = books.ended();
    let Some(entry) = table.get_entry(key_of(number)).map_err(failed)? else {
        return Ok(());
    };
    let flags = entry.attributes.flags;
    if !has_its_tag(flags, ended) {
        return Err(format!(
            "UNTAGGED: key {number} has {flags:#x}, of {ended:?}"
        ));
    }
    judge(books, number, known, &entry.value)
}

fn judge(books: Books, number: u64, known: u64, value: &[u8]) -> Found<()> {
    let len = value.len();
    let Some(version) = opened(&key_of(number), value) else {
        return Err(format!("TORN: key {number}, {len} bytes"));
    };
    let begun = books.begun[number as usize].load(Acquire);
    if version > begun {
        return Err(format!("key {number}: {version} of {begun}, {len} bytes"));
    }
    if is_owned(number) {
        if version < known {
            return Err(format!("STALE: key {number}: {version} after {known}"));
        }
        books.known[number as usize].fetch_max(version, AcqRel);
    }
    Ok(())
}

/// One of the processes.
struct Worker {
    number: u64,
    books: Books,
    numbers: Numbers,
}

impl Worker {
    fn run(mut self, path: &Path) -> Found<Infallible> {
        let table = match self.number {
            WORKERS => Table::open_read_only(path),
            _ => Table::options().open_existing(path),
        };
        let table = table.map_err(failed)?;
        loop {
            let number = self.any_key();
            match self.numbers.below(1000) {
                _ if self.number == WORKERS => self.read_statistics(&table, number)?,
                0..300 => self.set(&table, number)?,
                300..330 => self.remove(&table, number)?,
                330..340 => self.touch(&table, number)?,
                340..360 => drop(table.incr(b"counter", 1).map_err(failed)?),
                360 => self.resize(&table)?,
                361 => drop(table.maintain(0).map_err(failed)?),
                362 => self.invalidate(&table)?,
                _ => self.read_statistics(&table, number)?,
            }
        }
    }

    /// Mostly one of a few, which are worth keeping.
    fn any_key(&mut self) -> u64 {
        match self.numbers.below(3) {
            0 => self.numbers.below(KEYS),
            _ => self.numbers.below(KEYS / 20),
        }
    }

    /// The next key that this process may write.
    fn own(&self, number: u64) -> u64 {
        match is_owned(number) {
            true => (number / 2 / WORKERS * WORKERS + self.number) * 2 % KEYS,
            false => number,
        }
    }

    fn read_statistics(&mut self, table: &Table, number: u64) -> Found<()> {
        if self.numbers.below(20) > 0 {
            return read(table, self.books, number);
        }
        let numbers: Vec<u64> = (0..20).map(|n| (number + n) % KEYS).collect();
        let known = |n: &u64| self.books.known[*n as usize].load(Acquire);
        let known: Vec<u64> = numbers.iter().map(known).collect();
        let keys: Vec<Vec<u8>> = numbers.iter().map(|n| key_of(*n)).collect();
        let mut outcome = Ok(());
        let found = |at: usize, value: Option<&[u8]>| {
            let Some(value) = value else { return };
            if let Err(why) = judge(self.books, numbers[at], known[at], value) {
                outcome = Err(why);
            }
        };
        table.get_many(&keys, found).map_err(failed)?;
        outcome
    }

    fn begin(&self, number: u64) -> u64 {
        self.books.begun[number as usize].fetch_add(1, AcqRel) + 1
    }

    /// What one process alone wrote is known.
    fn end(&self, number: u64, version: u64) {
        if is_owned(number) {
            self.books.known[number as usize].fetch_max(version, AcqRel);
        }
    }

    fn set(&mut self, table: &Table, number: u64) -> Found<()> {
        let number = self.own(number);
        let most = 1 << (4 + self.numbers.below(LONGEST_LOG2 - 3));
        let len = self.numbers.below(most);
        let version = self.begin(number);
        let (key, len) = (key_of(number), len.min(200_000 - HEAD as u64));
        let value = sealed(&key, version, len as usize);
        let set = match self.numbers.below(4) {
            0 => self.set_tagged(table, &key, &value),
            _ => table.set(&key, &value),
        };
        set.map_err(|error| format!("a set of {len} bytes: {error}"))?;
        self.end(number, version);
        Ok(())
    }

    fn set_tagged(&mut self, table: &Table, key: &[u8], value: &[u8]) -> tavola::Result<()> {
        let tag = self.numbers.below(TAGS.len() as u64) as u32;
        let tags = table.fetch_tags(&[TAGS[tag as usize]])?;
        // Loaded behind it: what begins after this ends the tag that was taken.
        let begun = self.books.begun_tags[tag as usize].load(Acquire);
        let attributes = Attributes {
            flags: TAGGED | tag << TAG_SHIFT | (begun as u32 % (1 << TAG_SHIFT)),
            ..Attributes::default()
        };
        table.set_tagged(key, value, attributes, &tags)
    }

    fn invalidate(&mut self, table: &Table) -> Found<()> {
        let tag = self.numbers.below(TAGS.len() as u64) as usize;
        let number = self.books.begun_tags[tag].fetch_add(1, AcqRel) + 1;
        let invalidated = table.invalidate_tag(TAGS[tag].as_bytes());
        invalidated.map_err(failed)?;
        self.books.ended_tags[tag].fetch_max(number, AcqRel);
        Ok(())
    }

    fn remove(&mut self, table: &Table, number: u64) -> Found<()> {
        let number = self.own(number);
        // Nothing that was there before may be seen from now on.
        let version = self.begin(number);
        table.remove(key_of(number)).map_err(failed)?;
        self.end(number, version);
        Ok(())
    }

    /// Gives a key a time that does not come, or has passed.
    fn touch(&mut self, table: &Table, number: u64) -> Found<()> {
        let number = self.own(number);
        let is_end = self.numbers.below(2) == 0 && is_owned(number);
        let expiry = match is_end {
            true => Expiry::PAST,
            false => Expiry::After(Duration::from_secs(3600)),
        };
        let version = self.begin(number);
        table.touch(key_of(number), expiry).map_err(failed)?;
        if is_end {
            self.end(number, version);
            return Ok(());
        }
        let version = self.begin(number);
        let value = sealed(&key_of(number), version, 40);
        let attributes = Attributes { expiry, flags: 7 };
        let set = table.set_with(key_of(number), &value, attributes);
        set.map_err(failed)?;
        self.end(number, version);
        Ok(())
    }

    fn resize(&mut self, table: &Table) -> Found<()> {
        let at = self.numbers.below(CAPACITIES.len() as u64) as usize;
        table.set_capacity(CAPACITIES[at]).map_err(failed)
    }
}
