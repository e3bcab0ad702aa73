//! A process of the tour: reads, edits and counts on the one table until it is asked to stop.
//!
//! A round: reads of random records in batches, then one edit of a record of its own, one entry
//! in the history of its edits, and one increment of a counter that all processes share. Every
//! value read is checked: it is whole, and its revision is no older than one seen before.

use std::process::ExitCode;
use std::time::Instant;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use tavola::Table;
use tavola_program::RunQueue;

use super::journal::{Acknowledged, Command, Journal, Progress, State};
use super::records::{Record, Records};
use super::value::{self, Fingerprint};
use super::{history_key, journal_failed, owner_of, record_of_edit};
use crate::error::CliError;

/// Records a call of `get_many`.
const BATCH: usize = 32;
/// Calls of `get_many` a round.
const BATCHES: usize = 4;

/// What the leader passes to a process that it starts.
#[derive(clap::Args)]
pub struct Args {
    #[arg(long)]
    pub table: std::ffi::OsString,
    #[arg(long)]
    pub seat: u32,
    #[arg(long)]
    pub seats: u32,
    /// How many processes sat here before.
    #[arg(long)]
    pub life: u32,
    /// Entries of the history that are kept.
    #[arg(long)]
    pub keep: u64,
    #[arg(long)]
    pub leader: u32,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    // A leader that ended before this line is noticed by the next.
    let followed = set_parent_process_death_signal(Some(Signal::KILL));
    followed.map_err(|source| journal_failed(source.into()))?;
    if getppid() != Pid::from_raw(args.leader as i32) {
        return Ok(ExitCode::from(crate::ERROR));
    }
    let journal = Journal::inherited().map_err(journal_failed)?;
    let table = Table::options().open_existing(&args.table)?;
    let records = Records::load();
    let mut worker = Worker::new(&args, &table, &records, &journal)?;
    journal.set_state(State::Attached).map_err(journal_failed)?;
    worker.work()?;
    journal.set_state(State::Ended).map_err(journal_failed)?;
    Ok(ExitCode::SUCCESS)
}

/// What reading needs of a record, close together: the table is to be measured, not this.
struct Known {
    key: ShortKey,
    /// The newest revision that this process has read.
    seen: u32,
    fingerprint: Fingerprint,
}

/// The longest key is U+10FFFD.
#[derive(Clone, Copy)]
struct ShortKey {
    len: u8,
    bytes: [u8; 8],
}

impl Known {
    fn of(record: &Record) -> Self {
        let mut bytes = [0; 8];
        bytes[..record.key.len()].copy_from_slice(record.key.as_bytes());
        let key = ShortKey {
            len: record.key.len() as u8,
            bytes,
        };
        Self {
            key,
            seen: 0,
            fingerprint: record.fingerprint,
        }
    }
}

impl AsRef<[u8]> for ShortKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

struct Worker<'a> {
    args: &'a Args,
    table: &'a Table,
    records: &'a Records,
    journal: &'a Journal,
    counters: Vec<String>,
    acknowledged: Acknowledged,
    known: Vec<Known>,
    progress: Progress,
    random: u64,
    value: Vec<u8>,
    run_queue: Option<RunQueue>,
    /// A process that was killed may have removed this entry without saying so.
    perhaps_trimmed: Option<u64>,
}

impl<'a> Worker<'a> {
    fn new(
        args: &'a Args,
        table: &'a Table,
        records: &'a Records,
        journal: &'a Journal,
    ) -> Result<Self, CliError> {
        let categories = records.categories.len();
        let acknowledged = journal.acknowledged(categories, records.all.len());
        let acknowledged = acknowledged.map_err(journal_failed)?;
        Ok(Self {
            args,
            table,
            records,
            journal,
            counters: (0..categories).map(|at| records.counter_key(at)).collect(),
            perhaps_trimmed: (args.life > 1).then_some(acknowledged.trimmed),
            acknowledged,
            known: records.all.iter().map(Known::of).collect(),
            progress: journal.progress().map_err(journal_failed)?,
            random: u64::from(args.seat * 1000 + args.life) + 0x9e37_79b9_7f4a_7c15,
            value: Vec::new(),
            run_queue: RunQueue::open(),
        })
    }

    fn work(&mut self) -> Result<(), CliError> {
        let mut epoch = 0;
        loop {
            let (current, command) = self.journal.command().map_err(journal_failed)?;
            if current != epoch {
                epoch = current;
                self.progress.slowest_round_ns = 0;
            }
            let begin = Instant::now();
            match command {
                Command::Work => self.read()?,
                Command::WriteOnly => {}
                Command::Stop => return Ok(()),
            }
            self.write()?;
            self.note_round(begin.elapsed().as_nanos() as u64);
            self.journal
                .set_progress(self.progress)
                .map_err(journal_failed)?;
        }
    }

    /// Time without a CPU says something about the machine, not about the table.
    fn note_round(&mut self, took_ns: u64) {
        if took_ns <= self.progress.slowest_round_ns {
            return;
        }
        let waited_ns = self
            .run_queue
            .as_mut()
            .map_or(0, RunQueue::waited_since_last);
        let own_ns = took_ns.saturating_sub(waited_ns);
        self.progress.slowest_round_ns = self.progress.slowest_round_ns.max(own_ns);
    }

    fn read(&mut self) -> Result<(), CliError> {
        for _ in 0..BATCHES {
            let chosen: [usize; BATCH] = std::array::from_fn(|_| self.random_record());
            let keys = chosen.map(|at| self.known[at].key);
            let (known, seats) = (&mut self.known, self.args.seats);
            let mut bad = None;
            self.table.get_many(&keys, |index, found| {
                let at = chosen[index];
                let record = &mut known[at];
                let revision = |found| record.fingerprint.revision(owner_of(at, seats), found);
                match found.and_then(revision) {
                    Some(revision) if revision >= record.seen => record.seen = revision,
                    _ => bad = Some((at, found.map(<[u8]>::to_vec))),
                }
            })?;
            if let Some((at, found)) = bad {
                return Err(self.wrong_read(at, found));
            }
        }
        self.progress.reads += (BATCHES * BATCH) as u64;
        self.progress.operations += (BATCHES * BATCH) as u64;
        Ok(())
    }

    fn write(&mut self) -> Result<(), CliError> {
        let number = self.acknowledged.history + 1;
        let at = record_of_edit(self.args.seat, number, self.args.seats, self.records);
        self.edit(at)?;
        self.remember(at, number)?;
        self.count(self.records.all[at].category)?;
        self.trim()
    }

    fn edit(&mut self, at: usize) -> Result<(), CliError> {
        let record = &self.records.all[at];
        let revision = self.acknowledged.revisions[at] + 1;
        value::compose(record.text, self.args.seat, revision, &mut self.value);
        self.table.set(record.key.as_bytes(), &self.value)?;
        self.acknowledged.revisions[at] = revision;
        self.journal
            .acknowledge_revision(at, revision)
            .map_err(journal_failed)?;
        self.wrote();
        Ok(())
    }

    fn remember(&mut self, at: usize, number: u64) -> Result<(), CliError> {
        value::history(&self.records.all[at].key, number, &mut self.value);
        self.table
            .set(history_key(self.args.seat, number), &self.value)?;
        self.acknowledged.history = number;
        self.journal
            .acknowledge_history(number)
            .map_err(journal_failed)?;
        self.wrote();
        Ok(())
    }

    fn count(&mut self, category: usize) -> Result<(), CliError> {
        let key = &self.counters[category];
        let now = self.table.incr(key.as_bytes(), 1)?;
        let own = &mut self.acknowledged.counts[category];
        *own += 1;
        if now < *own {
            let sentence = format!("{key} fell to {now}, below the {own} counted by this process");
            return Err(CliError::Sentence(sentence));
        }
        self.journal
            .acknowledge_count(category, *own)
            .map_err(journal_failed)?;
        self.wrote();
        Ok(())
    }

    /// Forgets the oldest entry of the history when there are more than are to be kept.
    fn trim(&mut self) -> Result<(), CliError> {
        let oldest = self.acknowledged.trimmed + 1;
        if self.acknowledged.history - self.acknowledged.trimmed <= self.args.keep {
            return Ok(());
        }
        let removed = self.table.remove(history_key(self.args.seat, oldest))?;
        if !removed && self.perhaps_trimmed != Some(oldest - 1) {
            return Err(CliError::Sentence(format!(
                "entry {oldest} of the history is lost"
            )));
        }
        self.acknowledged.trimmed = oldest;
        self.journal
            .acknowledge_trimmed(oldest)
            .map_err(journal_failed)?;
        self.wrote();
        Ok(())
    }

    fn wrote(&mut self) {
        self.progress.writes += 1;
        self.progress.operations += 1;
    }

    fn random_record(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((u128::from(self.random) * self.records.all.len() as u128) >> 64) as usize
    }

    fn wrong_read(&self, at: usize, found: Option<Vec<u8>>) -> CliError {
        let found = match &found {
            Some(bytes) => format!("'{}'", crate::output::printable(bytes)),
            None => "nothing".to_owned(),
        };
        let (key, seen) = (&self.records.all[at].key, self.known[at].seen);
        CliError::Sentence(format!("{key} read as {found}, after revision {seen}"))
    }
}
