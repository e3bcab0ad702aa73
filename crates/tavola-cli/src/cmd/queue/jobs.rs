//! A pool of elements that are jobs.
//!
//! An element is in one of three places: in `free`, in `jobs`, or held by a process. Its first
//! word says whether it has a job, and is changed only by the process that holds it: `push` sets
//! it before it pushes the element to `jobs`, `pop` clears it before it pushes the element to
//! `free`. So when a process dies, the word of an element that it held says where the element
//! belongs.

use std::ffi::OsString;

use tavola::{Error, Queue, QueuePool, Table};

use crate::args::{options, warn_of};
use crate::error::CliError;
use crate::output::printable;

/// The queue of elements without a job.
pub const FREE: &str = "free";
/// The queue of jobs.
pub const JOBS: &str = "jobs";
/// Bytes of the word before a job.
pub const PREFIX: u32 = 4;

/// The queue a command works on.
#[derive(clap::Args)]
pub struct QueueArg {
    /// The queue: a name, or a path if it has a / in it
    #[arg(value_name = "QUEUE")]
    name: OsString,
}

impl QueueArg {
    pub fn name(&self) -> &OsString {
        &self.name
    }

    /// The name as it was given, fit for a message.
    pub fn label(&self) -> String {
        printable(self.name.as_encoded_bytes()).into_owned()
    }

    pub fn open_to_read(&self) -> Result<Jobs, CliError> {
        self.find(&options().open_read_only(&self.name)?)
    }

    pub fn open(&self) -> Result<Jobs, CliError> {
        self.find(&options().open_existing(&self.name)?)
    }

    fn find(&self, table: &Table) -> Result<Jobs, CliError> {
        warn_of(&self.name);
        let opened = table.pool("").and_then(|pool| {
            let (free, jobs) = (pool.queue(FREE)?, pool.queue(JOBS)?);
            Ok(Jobs { pool, free, jobs })
        });
        opened.map_err(|error| match error {
            Error::NotThere { .. } => CliError::Sentence(format!(
                "{} is not a queue of jobs; create one with 'tavola queue create'",
                self.label()
            )),
            error => error.into(),
        })
    }
}

/// A queue of jobs.
pub struct Jobs {
    pub pool: QueuePool,
    pub free: Queue,
    pub jobs: Queue,
}

impl Jobs {
    /// The most bytes of a job.
    pub fn job_bytes(&self) -> u32 {
        self.pool.element_bytes().saturating_sub(PREFIX)
    }

    /// Pushes a job. Returns false if all places are taken.
    pub fn push(&self, job: &[u8]) -> Result<bool, CliError> {
        let most = self.job_bytes();
        if job.len() > most as usize {
            return Err(CliError::Sentence(format!(
                "the job has {} bytes, but the queue accepts at most {most}; create a queue with \
                a larger --size",
                job.len()
            )));
        }
        let Some(element) = self.free.pop()? else {
            return Ok(false);
        };
        self.pool.write(element, PREFIX, job)?;
        self.pool
            .write(element, 0, &(job.len() as u32 + 1).to_le_bytes())?;
        self.jobs.push(element)?;
        Ok(true)
    }

    /// Returns the job of an element that this process holds.
    pub fn read(&self, element: u32) -> Result<Vec<u8>, CliError> {
        let word = self.word(element)?;
        let Some(length) = word
            .checked_sub(1)
            .filter(|length| *length <= self.job_bytes())
        else {
            return Err(CliError::Sentence(format!(
                "element {element} is not a job (its first word is {word}); another program uses \
                this pool for other data"
            )));
        };
        let mut job = vec![0; length as usize];
        self.pool.read(element, PREFIX, &mut job)?;
        Ok(job)
    }

    fn word(&self, element: u32) -> Result<u32, CliError> {
        let mut word = [0; 4];
        self.pool.read(element, 0, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    /// Ends a job: its place is free again.
    pub fn finish(&self, element: u32) -> Result<(), CliError> {
        self.pool.write(element, 0, &[0; 4])?;
        Ok(self.free.push(element)?)
    }

    /// Returns jobs and places that dead processes held. Says how many jobs.
    pub fn reclaim(&self) -> Result<u64, CliError> {
        if self.pool.lost()?.is_empty() {
            return Ok(0);
        }
        let mut jobs = 0;
        for element in self.pool.reclaim()? {
            match self.word(element)? {
                0 => self.free.push(element)?,
                _ => {
                    self.jobs.push(element)?;
                    jobs += 1;
                }
            }
        }
        Ok(jobs)
    }
}
