//! A process of a trial on a store that this program can use by itself.
//!
//! `torment.c`, `torment.rb` and `torment.php` do the same in their languages.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Signal, set_parent_process_death_signal};

use self::stores::Store;
use super::board::{Board, Notes};
use super::job::{Answer, Job, Role};
use super::trials::full;
use super::value;
use crate::{Error, Result};

mod files;
mod look;
pub(super) mod stores;
mod table;

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
    bound.map_err(|error| Error::Io {
        doing: "following the leader",
        source: error.into(),
    })?;
    if let Ok(inside) = serde_json::from_str(job) {
        return full::inside(&inside);
    }
    let job: Job = serde_json::from_str(job).map_err(|error| Error::Io {
        doing: "understanding a trial's job",
        source: error.into(),
    })?;
    let mut part = Part::new(&job)?;
    match open(&job) {
        Ok(store) => {
            part.answer.opened = true;
            part.play(store)?;
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

    fn play(&mut self, mut store: Box<dyn Store>) -> Result<()> {
        self.notes.ready = 1;
        self.board.note(self.job.slot, &self.notes)?;
        let done = match self.job.role {
            Role::Write => self.write(&mut *store),
            Role::Read => self.read(&mut *store),
            Role::Verify => self.verify(&mut *store, true),
            Role::Look => self.verify(&mut *store, false),
            Role::Remove => self.remove(&mut *store),
            Role::Probe => self.probe(&mut *store),
            Role::Hold => self.hold(&mut *store),
            Role::Count => self.count(&mut *store),
            Role::Total => self.total(&mut *store),
        }?;
        self.answer.done = self.notes.ops;
        self.answer.error = done.err();
        Ok(())
    }

    /// One operation more has returned; false: it is time to end.
    fn go_on(&mut self) -> Result<bool> {
        self.notes.ops += 1;
        self.board.note(self.job.slot, &self.notes)?;
        if self.job.ops > 0 && self.notes.ops >= self.job.ops {
            return Ok(false);
        }
        let looks = self.notes.ops.is_multiple_of(STRIDE);
        Ok(!(looks && (Instant::now() >= self.deadline || self.board.is_to_stop()?)))
    }

    fn prefix(&self) -> char {
        self.job.prefixes.chars().next().unwrap_or('a')
    }

    fn put(&mut self, store: &mut dyn Store, number: u64) -> Refused {
        let key = value::key(self.prefix(), number % self.job.keys);
        let value = value::value(&key, number, self.job.value_bytes);
        store.put(&key, &value)
    }

    fn write(&mut self, store: &mut dyn Store) -> Result<Refused> {
        for number in self.job.from.. {
            if let Err(why) = self.put(store, number) {
                return Ok(Err(why));
            }
            self.notes.acked = number;
            if !self.go_on()? {
                break;
            }
        }
        Ok(store.close())
    }

    fn hold(&mut self, store: &mut dyn Store) -> Result<Refused> {
        let key = value::key(self.prefix(), 0);
        match store.hold(&key) {
            Ok(means) => self.answer.means = means.to_owned(),
            Err(why) => return Ok(Err(why)),
        }
        self.go_on()?;
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
            if !self.go_on()? {
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
}

/// Empty folders for a store's files.
fn make_folder(job: &Job) -> Refused {
    fs::create_dir_all(&job.store).map_err(|error| error.to_string())
}
