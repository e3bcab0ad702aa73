//! A worker: random operations until it is killed. One in some only reads.

use super::keys::{self, COUNTERS, LOGS, any_length, any_register, register};
use super::seat::{Seat, Word};
use crate::board::Board;
use crate::system::sleep_ms;
use crate::value::{Numbers, opened, sealed, sealed_word};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use tavola::Table;

/// Operations after which a worker detaches and opens the table again.
const REOPEN: u64 = 20_000;
const NICE: i32 = 5;
/// Keys read at once.
const MANY: usize = 32;

/// A worker's life.
pub(crate) struct Worker<'a> {
    pub(crate) board: &'a Board,
    pub(crate) seat: Seat,
    pub(crate) path: &'a Path,
    /// The audit that is asked for; 0: none.
    pub(crate) audit: &'static AtomicU64,
    pub(crate) only_reads: bool,
    pub(crate) numbers: Numbers,
}

pub(super) type Done = Result<(), String>;

pub(super) fn failed(error: tavola::Error) -> String {
    error.to_string()
}

impl Worker<'_> {
    pub(crate) fn run(mut self) -> i32 {
        // The supervisor goes first.
        let _ = rustix::process::nice(NICE);
        loop {
            if let Err(why) = self.sitting() {
                let number = self.seat.number;
                self.board.fault(&format!("soak: worker {number}: {why}"));
                return 1;
            }
        }
    }

    /// From one opening of the table to the next.
    fn sitting(&mut self) -> Done {
        let table = if self.only_reads {
            Table::open_read_only(self.path)
        } else {
            Table::options().open_existing(self.path)
        };
        let table = table.map_err(failed)?;
        for _ in 0..REOPEN {
            let wanted = self.audit.load(Acquire);
            self.seat.word(Word::Parked).store(wanted, Release);
            self.seat.add(Word::Heartbeat, 1);
            if wanted != 0 {
                sleep_ms(1);
            } else if self.only_reads {
                self.read(&table)?;
            } else {
                self.write(&table)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, table: &Table) -> Done {
        match self.numbers.below(2000) {
            0 => self.walk(table),
            1..4 => self.read_large(table),
            4..200 => self.get_many(table),
            _ if self.seat.has_room() && self.numbers.below(4) == 0 => self.get(table),
            _ => self.glance(table),
        }
    }

    fn write(&mut self, table: &Table) -> Done {
        if !self.seat.has_room() {
            return self.read(table);
        }
        match self.numbers.below(10_000) {
            0..1300 => self.get(table),
            1300..1500 => self.set_expired(table),
            1500..2000 => self.touch(table),
            2000..5000 => self.set(table),
            5000..5600 => self.add(table),
            5600..6000 => self.replace(table),
            6000..6900 => self.remove(table),
            6900..7400 => self.take(table),
            7400..8300 => self.update(table),
            8300..8800 => self.compare_and_swap(table),
            8800..9700 => self.count(table),
            9700..9750 => self.append(table),
            9750..9850 => self.set_many(table),
            9850..9852 => self.walk(table),
            9852..9860 => self.keep_house(table),
            9860..9864 => self.set_large(table),
            9864..9868 => self.read_large(table),
            _ => self.get_many(table),
        }
    }

    /// The version of a value that was read; a fault if it is not whole.
    pub(super) fn version(&self, key: &[u8], value: &[u8]) -> Result<u64, String> {
        self.seat.add(Word::Reads, 1);
        opened(key, value).ok_or_else(|| {
            let (key, head) = (key.escape_ascii(), &value[..value.len().min(24)]);
            format!(
                "TORN: {key} holds {} bytes, {}",
                value.len(),
                head.escape_ascii()
            )
        })
    }

    pub(super) fn opened(&self, key: &[u8], value: Option<&[u8]>) -> Result<Option<u64>, String> {
        value.map(|value| self.version(key, value)).transpose()
    }

    /// A new value of a register: half of them words.
    pub(super) fn value(&mut self, key: &[u8]) -> (u64, Vec<u8>) {
        let version = self.seat.version();
        if self.numbers.below(2) == 0 {
            return (version, sealed_word(key, version));
        }
        (version, sealed(key, version, any_length(&mut self.numbers)))
    }

    /// Reads without a note.
    pub(super) fn glance(&mut self, table: &Table) -> Done {
        let key = register(any_register(&mut self.numbers));
        let value = table.get(&key).map_err(failed)?;
        self.opened(&key, value.as_deref()).map(drop)
    }

    fn get_many(&mut self, table: &Table) -> Done {
        let keys: Vec<Vec<u8>> = (0..MANY)
            .map(|_| register(any_register(&mut self.numbers)))
            .collect();
        let mut outcome = Ok(());
        let found = |at: usize, value: Option<&[u8]>| {
            if let Err(why) = self.opened(&keys[at], value) {
                outcome = Err(why);
            }
        };
        table.get_many(&keys, found).map_err(failed)?;
        outcome
    }

    fn walk(&mut self, table: &Table) -> Done {
        let mut entries = table.iter();
        while let Some((key, value)) = entries.next_entry().map_err(failed)? {
            if keys::register_of(key).is_some() {
                self.version(key, value)?;
            }
            self.seat.add(Word::Heartbeat, 1);
        }
        self.seat.add(Word::Walks, 1);
        Ok(())
    }

    fn count(&mut self, table: &Table) -> Done {
        let at = self.numbers.below(COUNTERS as u64);
        let by = 1 + self.numbers.below(9);
        self.seat
            .word(Word::Adding)
            .store(by << 8 | (at + 1), Release);
        table.incr(keys::counter(at as usize), by).map_err(failed)?;
        self.seat
            .nth(Word::Added, at as usize)
            .fetch_add(by, Relaxed);
        self.seat.word(Word::Adding).store(0, Release);
        Ok(())
    }

    fn append(&mut self, table: &Table) -> Done {
        let at = self.numbers.below(LOGS as u64) as usize;
        let number = self.seat.nth(Word::Begun, at).fetch_add(1, Relaxed) + 1;
        let record = keys::record(self.seat.number, number);
        let there = table.append(keys::log(at), &record).map_err(failed)?;
        self.seat.nth(Word::Appended, at).store(number, Release);
        if there {
            Ok(())
        } else {
            Err(format!("log {at} is lost"))
        }
    }

    fn keep_house(&mut self, table: &Table) -> Done {
        match self.numbers.below(40) {
            0 if self.seat.number == 0 => table.compact().map(drop),
            1..3 => table.stats().map(drop),
            3..5 => table.participants().map(drop),
            5..8 => table.reclaim().map(drop),
            8..14 => table.remove_expired(),
            _ => table.maintain(0).map(drop),
        }
        .map_err(failed)
    }
}
