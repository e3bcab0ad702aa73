//! One of the processes that use leases.

use super::KEYS;
use super::books::{Books, Note, TICK_MS, What, key_of};
use crate::child::{Found, failed};
use crate::system::sleep_ms;
use crate::value::{Numbers, sealed};
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;
use tavola::{Lease, LeaseOptions, Leased, Pending, Table};

/// Set all the time, so that others are evicted.
const FILLERS: u64 = 2000;
const FRESH: Duration = Duration::from_millis(20);
const STALE: Duration = Duration::from_secs(60);
/// Most leases do not end by their time, some do.
pub(super) const LONG_MS: u64 = 60_000;
const SHORT_MS: u64 = 40;
const LONGEST_COMPUTATION_MS: u64 = 12;
/// No wait is longer: who has a lease computes, is stopped a while, and is killed, in less time.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(3);
const WHY: &[u8] = b"it failed";

pub(super) fn asked(table: &Table, number: u64, lease_ms: u64) -> Found<Leased> {
    let options = LeaseOptions::new(FRESH)
        .stale(STALE)
        .lease(Duration::from_millis(lease_ms));
    let leased = table.get_or_lease(key_of(number), options);
    leased.map_err(failed)
}

/// Waits for the end of a lease, which comes soon.
pub(super) fn waited(pending: &Pending) -> Found<()> {
    match pending.wait(LONGEST_WAIT).map_err(failed)? {
        true => Ok(()),
        false => Err(format!("a wait without end: {pending:?}")),
    }
}

/// One of the processes.
pub(super) struct Worker {
    pub(super) number: u64,
    pub(super) life: u64,
    pub(super) books: Books,
    pub(super) numbers: Numbers,
}

impl Worker {
    pub(super) fn run(mut self, path: &Path) -> Found<Infallible> {
        let table = Table::options().open_existing(path).map_err(failed)?;
        loop {
            let number = self.numbers.below(KEYS);
            match self.numbers.below(100) {
                0..3 => self.remove(&table, number)?,
                3..10 => self.update(&table, number)?,
                10..20 => self.fill_up(&table)?,
                _ => self.ask(&table, number)?,
            }
        }
    }

    fn ask(&mut self, table: &Table, number: u64) -> Found<()> {
        let known = self.books.known(number);
        let lease_ms = match self.numbers.below(8) {
            0 => SHORT_MS,
            _ => LONG_MS,
        };
        let note = self.books.note(number, self.number, self.life, lease_ms);
        match asked(table, number, lease_ms)? {
            Leased::Hit(value) => self.books.judge(number, known, &value),
            Leased::Won(lease) => self.compute(number, lease, note),
            Leased::Stale { value, lease } => {
                self.books.count(What::Stale);
                self.books.judge(number, known, &value)?;
                lease.map_or(Ok(()), |lease| self.compute(number, lease, note))
            }
            Leased::Failed { error, .. } => {
                self.books.count(What::Failed);
                match error == WHY {
                    true => Ok(()),
                    false => Err(format!("got a failure: {}", error.escape_ascii())),
                }
            }
            Leased::Wait(pending) => {
                self.books.count(What::Waited);
                waited(&pending)
            }
        }
    }

    fn compute(&mut self, number: u64, lease: Lease, note: Option<Note>) -> Found<()> {
        self.books.count(What::Won);
        if !lease.is_recorded() {
            return Err("a lease that is not recorded, of so few".to_owned());
        }
        self.books.won(number, note)?;
        let version = self.books.begin(number);
        if self.numbers.below(2) == 0 {
            sleep_ms(self.numbers.below(LONGEST_COMPUTATION_MS));
        }
        if self.numbers.below(40) == 0 {
            sleep_ms(SHORT_MS + TICK_MS);
        }
        self.books.ends(number, note);
        match self.numbers.below(10) {
            0 => {
                let pause = Duration::from_millis(self.numbers.below(20));
                lease.fail(pause, WHY).map_err(failed)?;
            }
            1 => drop(lease),
            _ => {
                let most = 1 << (4 + self.numbers.below(11));
                let len = self.numbers.below(most);
                let value = sealed(&key_of(number), version, len as usize);
                match lease.fill(&value).map_err(failed)? {
                    true => {
                        self.books.know(number, version);
                        self.books.count(What::Stored);
                    }
                    false => self.books.count(What::Refused),
                }
            }
        }
        Ok(())
    }

    /// Nothing that was there before, or was computed before, may be seen from now on.
    fn remove(&mut self, table: &Table, number: u64) -> Found<()> {
        let books = self.books;
        let version = books.begin(number);
        books.change(number, || table.remove(key_of(number)).map_err(failed))?;
        books.know(number, version);
        Ok(())
    }

    /// Changes a value that is there, and leaves its time as it is.
    fn update(&mut self, table: &Table, number: u64) -> Found<()> {
        let (books, len) = (self.books, self.numbers.below(100) as usize);
        let mut version = 0;
        books.change(number, || {
            let new = |old: Option<&[u8]>| {
                version = books.begin(number);
                old.map(|_| sealed(&key_of(number), version, len))
            };
            let stored = table.update(key_of(number), new).map_err(failed)?;
            if stored.is_some() {
                books.know(number, version);
            }
            Ok(())
        })
    }

    fn fill_up(&mut self, table: &Table) -> Found<()> {
        let key = format!("filler-{}", self.numbers.below(FILLERS)).into_bytes();
        let len = 1 + self.numbers.below(4000);
        table.set(&key, vec![1; len as usize]).map_err(failed)
    }
}
