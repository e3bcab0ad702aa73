//! A process of a trial on a store that this program can use by itself.
//!
//! `torment.c`, `torment.rb` and `torment.php` do the same in their languages.

use std::time::{Duration, Instant};

use rustix::process::{Signal, set_parent_process_death_signal};

use self::stores::Store;
use super::job::{Answer, Board, Job, Notes, Role, due, key_of, number_of, value_of};
use super::namespace;
use crate::{Error, Result};

pub(super) mod stores;

/// Puts after removals.
const FEW: u64 = 3;
/// Operations between two looks at the board and the clock.
const STRIDE: u64 = 16;

/// Plays the part that `job` says, and prints the answer.
///
/// # Errors
///
/// When the job cannot be read, or the board not be used. What the store refuses is an answer.
pub fn work(job: &str) -> Result<()> {
    work_on(job, stores::open)
}

/// The same with stores that `open` opens.
pub(super) fn work_on(
    job: &str,
    open: impl FnOnce(&Job) -> std::result::Result<Box<dyn Store>, String>,
) -> Result<()> {
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    bound.map_err(|error| Error::io("following the leader")(error))?;
    if let Ok(inside) = serde_json::from_str(job) {
        return namespace::inside(&inside);
    }
    let job: std::result::Result<Job, _> = serde_json::from_str(job);
    let job = job.map_err(|error| Error::io("understanding a trial's job")(error))?;
    let mut part = Part::new(&job)?;
    match open(&job) {
        Ok(mut store) => {
            part.answer.opened = true;
            part.play(&mut *store)?;
        }
        Err(why) => part.answer.error = Some(why),
    }
    let text = serde_json::to_string(&part.answer).expect("answers have a JSON form");
    println!("\n{text}");
    Ok(())
}

/// Why the store refused.
type Refused = std::result::Result<(), String>;

struct Part<'a> {
    job: &'a Job,
    board: Board,
    notes: Notes,
    answer: Answer,
    deadline: Instant,
}

impl<'a> Part<'a> {
    fn new(job: &'a Job) -> Result<Self> {
        Ok(Self {
            job,
            board: Board::open(&job.board)?,
            notes: Notes::default(),
            answer: Answer::default(),
            deadline: Instant::now() + Duration::from_millis(job.millis),
        })
    }

    fn play(&mut self, store: &mut dyn Store) -> Result<()> {
        self.notes.ready = 1;
        self.board.note(self.job.slot, &self.notes)?;
        let done = match self.job.role {
            Role::Write => self.write(store),
            Role::Read => self.read(store),
            Role::Verify => self.verify(store, true),
            Role::VerifyFull => self.verify(store, false),
            Role::Remove => self.remove(store),
            Role::Probe => self.probe(store),
            Role::Hold => self.hold(store),
            Role::Count => self.count(store),
            Role::Total => self.total(store),
        }?;
        self.answer.done = self.notes.ops;
        self.answer.error = done.err();
        Ok(())
    }

    /// Counts one more operation. Returns whether to continue.
    fn note_operation(&mut self) -> Result<bool> {
        self.notes.ops += 1;
        self.board.note(self.job.slot, &self.notes)?;
        if self.job.ops > 0 && self.notes.ops >= self.job.ops {
            return Ok(false);
        }
        let is_check_due = self.notes.ops.is_multiple_of(STRIDE);
        Ok(!(is_check_due && (Instant::now() >= self.deadline || self.board.is_to_stop()?)))
    }

    fn prefix(&self) -> char {
        self.job.prefixes.chars().next().unwrap_or('a')
    }

    fn put(&mut self, store: &mut dyn Store, number: u64) -> Refused {
        let key = key_of(self.prefix(), number % self.job.keys);
        let value = value_of(&key, number, self.job.value_bytes);
        store.put(&key, &value)
    }

    fn write(&mut self, store: &mut dyn Store) -> Result<Refused> {
        for number in self.job.from.. {
            if let Err(why) = self.put(store, number) {
                return Ok(Err(why));
            }
            self.notes.acked = number;
            if !self.note_operation()? {
                break;
            }
        }
        Ok(store.close())
    }

    fn hold(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let key = key_of(self.prefix(), 0);
        match store.hold(&key) {
            Ok(means) => self.answer.means = means.to_owned(),
            Err(why) => return Ok(Err(why)),
        }
        self.note_operation()?;
        while Instant::now() < self.deadline && !self.board.is_to_stop()? {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Ok(()))
    }

    fn count(&mut self, store: &mut dyn Store) -> Result<Refused> {
        loop {
            match store.add_one(b"counter") {
                Ok(means) => self.answer.means = means.to_owned(),
                Err(why) => return Ok(Err(why)),
            }
            if !self.note_operation()? {
                return Ok(store.close());
            }
        }
    }

    fn total(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let found = match store.get(b"counter") {
            Ok(found) => found.unwrap_or_default(),
            Err(why) => return Ok(Err(why)),
        };
        let text = String::from_utf8_lossy(&found).into_owned();
        self.answer.total = text.trim().parse().unwrap_or(0);
        Ok(Ok(()))
    }

    /// A key once seen must stay, and not go back to an older value.
    fn read(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let prefixes: Vec<char> = self.job.prefixes.chars().collect();
        let mut seen = vec![0; prefixes.len() * self.job.keys as usize];
        let mut state = self.job.seed | 1;
        loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % seen.len();
            let prefix = prefixes[at / self.job.keys as usize];
            let key = key_of(prefix, at as u64 % self.job.keys);
            match store.get(&key) {
                Err(why) => return Ok(Err(why)),
                Ok(None) if seen[at] > 0 => self.notes.vanished += 1,
                Ok(None) => {}
                Ok(Some(found)) => match number_of(&key, &found, self.job.value_bytes) {
                    None => self.notes.wrong += 1,
                    Some(number) if number < seen[at] => self.notes.vanished += 1,
                    Some(number) => seen[at] = number,
                },
            }
            if !self.note_operation()? {
                return Ok(Ok(()));
            }
        }
    }

    /// `from` is the last put that returned: each key has what was due then, or, where one more put
    /// may have been under way, that.
    fn verify(&mut self, store: &mut dyn Store, puts: bool) -> Result<Refused> {
        let (keys, last) = (self.job.keys, self.job.from);
        for index in 0..keys.min(last.saturating_add(2)) {
            let key = key_of(self.prefix(), index);
            let due = due(index, keys, last);
            let found = match store.get(&key) {
                Ok(found) => found,
                Err(why) => return Ok(Err(why)),
            };
            let number = match &found {
                None => None,
                Some(found) => match number_of(&key, found, self.job.value_bytes) {
                    None => {
                        self.answer.torn += 1;
                        continue;
                    }
                    number => number,
                },
            };
            match number == due || number == Some(last + 1) {
                true => self.answer.good += 1,
                false => self.answer.lost += 1,
            }
        }
        if !puts {
            return Ok(store.close());
        }
        let probe = b"zprobe00";
        let put = store.put(probe, b"probe").and_then(|()| store.get(probe));
        self.answer.works = matches!(&put, Ok(Some(found)) if found == b"probe");
        self.answer.means = put.err().unwrap_or_default();
        Ok(store.close())
    }

    fn remove(&mut self, store: &mut dyn Store) -> Result<Refused> {
        for number in 1..=self.job.from / 2 {
            let key = key_of(self.prefix(), number % self.job.keys);
            if let Err(why) = store.remove(&key) {
                return Ok(Err(why));
            }
        }
        for number in 1..=FEW {
            if let Err(why) = self.put(store, number) {
                return Ok(Err(why));
            }
            let key = key_of(self.prefix(), number % self.job.keys);
            let due = value_of(&key, number, self.job.value_bytes);
            self.answer.works = matches!(store.get(&key), Ok(Some(found)) if found == due);
        }
        Ok(store.close())
    }

    fn probe(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let key = vec![b'k'; self.job.key_bytes as usize];
        let value = vec![b'v'; self.job.value_bytes as usize];
        let seen = match store.put(&key, &value) {
            Err(why) => {
                self.answer.means = why;
                "refused"
            }
            Ok(()) => match store.get(&key) {
                Ok(Some(found)) if found == value => "same",
                Ok(Some(_)) => "other",
                Ok(None) => "missing",
                Err(why) => {
                    self.answer.means = why;
                    "missing"
                }
            },
        };
        self.answer.seen = seen.to_owned();
        Ok(store.close())
    }
}
