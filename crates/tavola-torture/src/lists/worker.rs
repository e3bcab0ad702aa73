//! The work of a worker until it is killed: transactions on lists, and single calls.

use super::history::Fate;
use super::seat::Seat;
use super::singles::Call;
use crate::child::{Found, failed};
use crate::system::sleep_ms;
use crate::value::{Numbers, opened, sealed};
use std::convert::Infallible;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tavola::{Error, Table, Transaction};

/// Lists at a time: few, so that transactions meet.
pub(super) const SLOTS: usize = 8;
/// Elements after which a list is replaced by a new one.
const LONG: usize = 24;
/// Single keys of each kind.
const SINGLES: u64 = 4;
const COUNTER: u64 = 1 << 8;
const REGISTER: u64 = 2 << 8;

/// Returns the number of a list: its slot, and how many were there before it.
pub(super) fn list_number(slot: usize, generations: &[AtomicU64]) -> u64 {
    generations[slot].load(Relaxed) << 8 | slot as u64
}

pub(super) fn list_key(number: u64) -> String {
    format!("list {number:x}")
}

/// Returns the numbers of a key that the workers use: of a list, or of a single key.
pub(super) fn number_of(key: &[u8]) -> Option<(bool, u64)> {
    let text = std::str::from_utf8(key).ok()?;
    let number = |hex| u64::from_str_radix(hex, 16).ok();
    match text.split_once(' ')? {
        ("list", hex) => Some((true, number(hex)?)),
        ("single", hex) => Some((false, number(hex)?)),
        _ => None,
    }
}

pub(super) fn is_counter(number: u64) -> bool {
    number & REGISTER == 0
}

fn single_key(number: u64) -> String {
    format!("single {number:x}")
}

pub(super) fn elements(value: &[u8]) -> Vec<u64> {
    let element = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    value.chunks(8).map(element).collect()
}

/// Returns the version or the sum of a single key; an error if its value is torn.
pub(super) fn single_value(number: u64, value: &[u8]) -> Found<u64> {
    let read = match is_counter(number) {
        true => std::str::from_utf8(value).ok().and_then(|t| t.parse().ok()),
        false => opened(single_key(number).as_bytes(), value),
    };
    read.ok_or_else(|| format!("single {number:x} is torn: {}", value.escape_ascii()))
}

pub(super) struct Worker<'w> {
    pub(super) table: Table,
    pub(super) seat: Seat,
    pub(super) generations: &'w [AtomicU64],
    pub(super) numbers: Numbers,
}

impl Worker<'_> {
    /// Works until death.
    pub(super) fn run(&mut self) -> Found<Infallible> {
        loop {
            if !self.seat.has_room() {
                sleep_ms(1);
                continue;
            }
            let done = match self.numbers.below(64) {
                0 => self.table.snapshot().map(drop),
                1..=8 => self.view(),
                9..=12 => self.append_one(),
                13..=16 => self.read_one(),
                17..=20 => self.count(),
                21..=26 => self.register()?,
                27..=32 => self.transaction(true),
                _ => self.transaction(false),
            };
            done.map_err(failed)?;
        }
    }

    /// Reads and appends, a few times. At times it aborts.
    fn transaction(&mut self, aborts: bool) -> tavola::Result<()> {
        let count = 2 + self.numbers.below(4) as usize;
        let plan: Vec<(u64, u64)> = (0..count)
            .map(|_| {
                let element = match self.numbers.below(2) {
                    0 => 0,
                    _ => self.seat.next_number(),
                };
                (self.any_list(), element)
            })
            .collect();
        self.seat.begin();
        let seat = self.seat;
        let done = self.table.transaction(|t| {
            seat.restart();
            for (key, element) in &plan {
                match element {
                    0 => read(t, seat, *key)?,
                    element => append(t, seat, *key, *element)?,
                }
            }
            match aborts {
                true => Err(t.abort()),
                false => Ok(()),
            }
        });
        match done {
            Err(Error::Aborted) => self.seat.end(Fate::Aborted),
            done => {
                done?;
                self.seat.end(Fate::Committed);
            }
        }
        self.replace_lists()
    }

    fn view(&mut self) -> tavola::Result<()> {
        let keys: Vec<u64> = (0..4).map(|_| self.any_list()).collect();
        self.seat.begin();
        let seat = self.seat;
        self.table.view(|t| {
            seat.restart();
            keys.iter().try_for_each(|key| read(t, seat, *key))
        })?;
        self.seat.end(Fate::Committed);
        Ok(())
    }

    fn append_one(&mut self) -> tavola::Result<()> {
        let (key, element) = (self.any_list(), self.seat.next_number());
        self.seat.begin();
        self.seat.append(key, element);
        let is_there = self.table.append(list_key(key), element.to_le_bytes())?;
        self.seat.end(match is_there {
            true => Fate::Committed,
            false => Fate::Aborted,
        });
        Ok(())
    }

    fn read_one(&mut self) -> tavola::Result<()> {
        let key = self.any_list();
        self.seat.begin();
        let found = self.table.get(list_key(key))?.unwrap_or_default();
        self.seat.read(key, &elements(&found));
        self.seat.end(Fate::Committed);
        Ok(())
    }

    fn count(&mut self) -> tavola::Result<()> {
        let number = COUNTER | self.numbers.below(SINGLES);
        let key = single_key(number);
        self.seat.begin();
        if self.numbers.below(3) == 0 {
            let found = self.table.get(&key)?.unwrap_or_default();
            let sum = String::from_utf8_lossy(&found).parse().unwrap_or(0);
            self.seat.call(number, Call::Count(sum));
        } else {
            self.seat.call(number, Call::Incr(0));
            let sum = self.table.incr(&key, 1)?;
            self.seat.call(number, Call::Incr(sum));
        }
        self.seat.end(Fate::Committed);
        Ok(())
    }

    fn register(&mut self) -> Found<tavola::Result<()>> {
        let number = REGISTER | self.numbers.below(SINGLES);
        let key = single_key(number);
        let done = match self.numbers.below(5) {
            0 => {
                self.seat.begin();
                self.seat.call(number, Call::Remove);
                // A call that removed nothing has only read: what it found may not be on disk yet.
                self.table.remove(&key).map(|is_removed| {
                    if !is_removed {
                        self.seat.call(number, Call::Get(0));
                    }
                })
            }
            1 | 2 => {
                self.seat.begin();
                let found = self.table.get(&key).map_err(failed)?;
                let version = found.map_or(Ok(0), |value| single_value(number, &value))?;
                self.seat.call(number, Call::Get(version));
                Ok(())
            }
            _ => {
                let version = self.seat.next_number();
                let value = sealed(key.as_bytes(), version, self.numbers.below(200) as usize);
                self.seat.begin();
                self.seat.call(number, Call::Set(version));
                self.table.set(&key, value)
            }
        };
        if done.is_ok() {
            self.seat.end(Fate::Committed);
        }
        Ok(done)
    }

    fn any_list(&mut self) -> u64 {
        list_number(self.numbers.below(SLOTS as u64) as usize, self.generations)
    }

    /// Lets a new list take the place of one that has become long.
    fn replace_lists(&mut self) -> tavola::Result<()> {
        let slot = self.numbers.below(SLOTS as u64) as usize;
        let number = list_number(slot, self.generations);
        let found = self.table.get(list_key(number))?;
        if found.is_some_and(|value| value.len() >= 8 * LONG) {
            let old = number >> 8;
            let _ = self.generations[slot].compare_exchange(old, old + 1, Relaxed, Relaxed);
        }
        Ok(())
    }
}

fn read(t: &mut Transaction<'_>, seat: Seat, key: u64) -> tavola::Result<()> {
    let found = t.get(list_key(key))?.unwrap_or_default();
    seat.read(key, &elements(&found));
    Ok(())
}

fn append(t: &mut Transaction<'_>, seat: Seat, key: u64, element: u64) -> tavola::Result<()> {
    seat.append(key, element);
    if t.append(list_key(key), element.to_le_bytes())?.is_none() {
        t.set(list_key(key), element.to_le_bytes())?;
    }
    Ok(())
}
