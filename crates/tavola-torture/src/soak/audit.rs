//! Settling, while all workers are parked: what the table holds against what was done to it.

use super::history::{self, Event};
use super::keys::{self, COUNTERS, LOGS, RECORD, REGISTERS, register};
use super::large::LARGE;
use super::seat::{Seat, Word};
use crate::system::{alarm, now_ns, shared_words};
use crate::value::opened;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tavola::Table;

/// Seconds an audit may take.
const PATIENCE_S: u32 = 120;
/// Faults of one audit that are printed.
const MOST_FAULTS: usize = 10;

/// What the last audit found: shared, for each is done in a child.
pub(super) struct Books {
    /// The version of each register; 0: missing.
    held: &'static [AtomicU64],
    counted: &'static [AtomicU64],
    totals: &'static [AtomicU64],
}

impl Books {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            held: shared_words(REGISTERS as usize)?,
            counted: shared_words(COUNTERS)?,
            totals: shared_words(3)?,
        })
    }

    pub(super) fn recoveries(&self) -> &AtomicU64 {
        &self.totals[0]
    }

    pub(super) fn histories(&self) -> &AtomicU64 {
        &self.totals[1]
    }

    pub(super) fn events(&self) -> &AtomicU64 {
        &self.totals[2]
    }
}

/// What killed workers may have done, or not.
#[derive(Default)]
pub(super) struct Doubt {
    /// Added to each counter.
    added: [u64; COUNTERS],
    /// Log, worker, number of the record.
    records: Vec<(usize, usize, u64)>,
}

impl Doubt {
    /// Notes what a worker was about to do when it was killed.
    pub(super) fn note(&mut self, seat: &Seat) {
        let adding = seat.word(Word::Adding).swap(0, Relaxed);
        if adding != 0 {
            self.added[(adding as usize & 0xFF) - 1] += adding >> 8;
        }
        for log in 0..LOGS {
            let begun = seat.nth(Word::Begun, log).load(Relaxed);
            if seat.nth(Word::Appended, log).swap(begun, Relaxed) != begun {
                self.records.push((log, seat.number, begun));
            }
        }
    }
}

/// Forgets what is checked.
pub(super) fn restart(seat: &Seat) {
    seat.forget();
    for counter in 0..COUNTERS {
        seat.nth(Word::Added, counter).store(0, Relaxed);
    }
    for log in 0..LOGS {
        seat.nth(Word::Begun, log).store(0, Relaxed);
        seat.nth(Word::Appended, log).store(0, Relaxed);
    }
}

struct Audit<'a> {
    table: Table,
    seats: &'a [Seat],
    books: &'a Books,
    doubt: &'a Doubt,
    keys: u64,
    faults: Vec<String>,
}

/// Settles everything; gives what is wrong.
pub(super) fn run(
    path: &Path,
    seats: &[Seat],
    books: &Books,
    doubt: &Doubt,
    is_first: bool,
) -> Result<(), Vec<String>> {
    alarm(PATIENCE_S);
    let failed = |error: tavola::Error| vec![error.to_string()];
    let mut audit = Audit {
        table: Table::options().open_existing(path).map_err(failed)?,
        seats,
        books,
        doubt,
        keys: 0,
        faults: Vec::new(),
    };
    audit.whole().map_err(failed)?;
    if !is_first {
        audit.registers().map_err(failed)?;
        audit.counters().map_err(failed)?;
        audit.logs().map_err(failed)?;
        audit.count().map_err(failed)?;
    }
    for log in 0..LOGS {
        audit.table.set(keys::log(log), b"").map_err(failed)?;
    }
    if audit.faults.is_empty() {
        return Ok(());
    }
    audit.faults.truncate(MOST_FAULTS);
    Err(audit.faults)
}

impl Audit<'_> {
    fn whole(&mut self) -> tavola::Result<()> {
        // It is in no history.
        self.table.remove(LARGE)?;
        let report = self.table.check()?;
        if !report.is_clean() || report.bytes_in_use != report.bytes_reachable {
            let problems = report.problems.join("; ");
            let (used, reached) = (report.bytes_in_use, report.bytes_reachable);
            self.faults.push(format!(
                "{used} bytes in use, {reached} reachable; {problems}"
            ));
        }
        let recoveries = self.table.stats()?.recoveries;
        self.books.recoveries().store(recoveries, Relaxed);
        Ok(())
    }

    /// For each register: does all that was done and seen fit an order that ends in what it holds?
    fn registers(&mut self) -> tavola::Result<()> {
        let mut events: BTreeMap<u32, Vec<Event>> = BTreeMap::new();
        for seat in self.seats {
            for (key, event) in seat.events() {
                events.entry(key).or_default().push(event);
            }
        }
        let mut value = Vec::new();
        for number in 0..REGISTERS {
            let key = register(number);
            let there = self.table.get_into(&key, &mut value)?;
            self.keys += u64::from(there);
            let version = opened(&key, &value);
            if there && version.is_none() {
                self.faults.push(format!(
                    "TORN: {} ({} bytes)",
                    key.escape_ascii(),
                    value.len()
                ));
                continue;
            }
            let now = now_ns();
            let mut history = events.remove(&number).unwrap_or_default();
            history.push(Event {
                from: now,
                until: now,
                found: Some(version.filter(|_| there)),
                left: None,
            });
            let held = &self.books.held[number as usize];
            let before = Some(held.load(Relaxed)).filter(|version| *version != 0);
            if let Err(why) = history::check(before, &history) {
                self.faults.push(format!("{}: {why}", key.escape_ascii()));
            }
            held.store(version.filter(|_| there).unwrap_or(0), Relaxed);
            self.books
                .histories()
                .fetch_add(u64::from(history.len() > 1), Relaxed);
            self.books
                .events()
                .fetch_add(history.len() as u64 - 1, Relaxed);
        }
        Ok(())
    }

    fn counters(&mut self) -> tavola::Result<()> {
        for number in 0..COUNTERS {
            let text = self.table.get(keys::counter(number))?;
            self.keys += u64::from(text.is_some());
            let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
            let now = text.parse::<u64>().unwrap_or(0);
            let added = |seat: &Seat| seat.nth(Word::Added, number).load(Relaxed);
            let before = self.books.counted[number].swap(now, Relaxed);
            let least = before + self.seats.iter().map(added).sum::<u64>();
            let most = least + self.doubt.added[number];
            if !(least..=most).contains(&now) {
                self.faults
                    .push(format!("counter {number} is {now}, not {least} to {most}"));
            }
        }
        Ok(())
    }

    /// Every record that had been appended is there once; one in doubt at most once.
    fn logs(&mut self) -> tavola::Result<()> {
        for log in 0..LOGS {
            let value = self.table.get(keys::log(log))?;
            self.keys += u64::from(value.is_some());
            let mut times: BTreeMap<u64, u32> = BTreeMap::new();
            for record in value.unwrap_or_default().chunks(RECORD) {
                match opened(b"record", record) {
                    Some(version) => *times.entry(version).or_default() += 1,
                    None => self.faults.push(format!("TORN: a record of log {log}")),
                }
            }
            for seat in self.seats {
                for number in 1..=seat.nth(Word::Appended, log).load(Relaxed) {
                    let version = (seat.number as u64) << 48 | number;
                    let found = times.remove(&version).unwrap_or(0);
                    let doubted = self.doubt.records.contains(&(log, seat.number, number));
                    if found != 1 && !(found == 0 && doubted) {
                        let worker = seat.number;
                        self.faults.push(format!(
                            "log {log} holds record {number} of worker {worker} {found} times"
                        ));
                    }
                }
            }
            if let Some((version, _)) = times.first_key_value() {
                self.faults.push(format!(
                    "log {log} holds record {version:x} that nobody wrote"
                ));
            }
        }
        Ok(())
    }

    /// Every second time all that has expired is to be gone, else it may still be counted.
    fn count(&mut self) -> tavola::Result<()> {
        let is_exact = now_ns().is_multiple_of(2);
        if is_exact {
            self.table.remove_expired()?;
        }
        let (counted, mut entries) = (self.table.len()?, self.table.iter());
        let mut met = 0;
        while entries.next_entry()?.is_some() {
            met += 1;
        }
        let is_right = counted == self.keys || counted > self.keys && !is_exact;
        if !is_right || met != self.keys {
            let keys = self.keys;
            self.faults.push(format!(
                "{keys} keys are there, {counted} counted, {met} walked"
            ));
        }
        Ok(())
    }
}

/// Removes everything: no memory and no participant may stay behind.
pub(super) fn empty(path: &Path) -> Result<(), String> {
    alarm(PATIENCE_S);
    let failed = |error: tavola::Error| error.to_string();
    let table = Table::options().open_existing(path).map_err(failed)?;
    table.clear().map_err(failed)?;
    table.compact().map_err(failed)?;
    let report = table.check().map_err(failed)?;
    if !report.is_clean() || report.bytes_in_use != 0 || report.bytes_reachable != 0 {
        let problems = report.problems.join("; ");
        return Err(format!(
            "{} bytes are still in use; {problems}",
            report.bytes_in_use
        ));
    }
    let stats = table.stats().map_err(failed)?;
    let left = stats.index_bytes + stats.slab_bytes + stats.large_bytes + stats.free_bytes;
    if left != 0 || stats.participants != 1 {
        return Err(format!(
            "{left} bytes and {} participants are left",
            stats.participants
        ));
    }
    Ok(())
}
