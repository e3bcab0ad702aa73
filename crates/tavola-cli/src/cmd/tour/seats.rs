//! The leader's side of its processes: a seat each, with a journal that outlives who sits there.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command as Program, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::journal::{Acknowledged, Command, Journal, Progress, State};
use super::journal_failed;
use super::records::Records;
use crate::error::CliError;

/// A process that makes no progress for so long hangs.
const HUNG_AFTER: Duration = Duration::from_secs(10);
/// How long a process may take to attach, or to stop.
const PATIENCE: Duration = Duration::from_secs(20);

/// One process, and those that sat in its place before it was killed.
pub struct Seat {
    pub number: u32,
    pub journal: Journal,
    child: Option<Child>,
    /// How many processes sat here.
    life: u32,
    pub kills: u32,
    last: (Progress, Instant),
}

impl Seat {
    /// As people call it: the first is p1.
    pub fn name(&self) -> String {
        format!("p{}", self.number + 1)
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    pub fn progress(&self) -> Result<Progress, CliError> {
        self.journal.progress().map_err(journal_failed)
    }

    pub fn acknowledged(&self, records: &Records) -> Result<Acknowledged, CliError> {
        let found = self
            .journal
            .acknowledged(records.categories.len(), records.all.len());
        found.map_err(journal_failed)
    }

    fn watch(&mut self) -> Result<(), CliError> {
        let Some(child) = &mut self.child else {
            return Ok(());
        };
        if let Some(status) = child.try_wait().map_err(started)? {
            return Err(self.ended(status));
        }
        let now = self.progress()?;
        if now.operations != self.last.0.operations {
            self.last = (now, Instant::now());
        }
        if self.last.1.elapsed() < HUNG_AFTER {
            return Ok(());
        }
        let seconds = HUNG_AFTER.as_secs();
        let sentence = format!(
            "{} hangs: no operation within {seconds} seconds",
            self.name()
        );
        Err(CliError::Sentence(sentence))
    }

    fn ended(&mut self, status: ExitStatus) -> CliError {
        self.child = None;
        CliError::Sentence(format!("{} ended by itself: {status}", self.name()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn started(source: io::Error) -> CliError {
    CliError::Sentence(format!(
        "cannot start or watch a process ({source}); see 'ulimit -u'"
    ))
}

/// All processes of the tour.
pub struct Seats {
    pub all: Vec<Seat>,
    table: std::ffi::OsString,
    keep: u64,
    epoch: u64,
}

impl Seats {
    /// Starts all processes and waits until each is attached.
    pub fn start(count: u32, table: &OsStr, keep: u64) -> Result<Self, CliError> {
        let mut seats = Self {
            all: Vec::new(),
            table: table.to_owned(),
            keep,
            epoch: 0,
        };
        for number in 0..count {
            let journal = Journal::create().map_err(journal_failed)?;
            let last = (Progress::default(), Instant::now());
            seats.all.push(Seat {
                number,
                journal,
                child: None,
                life: 0,
                kills: 0,
                last,
            });
        }
        for number in 0..count as usize {
            seats.seat_someone(number, count)?;
        }
        for number in 0..count as usize {
            seats.wait_for(number, State::Attached)?;
        }
        Ok(seats)
    }

    fn seat_someone(&mut self, number: usize, count: u32) -> Result<(), CliError> {
        let seat = &mut self.all[number];
        seat.life += 1;
        let numbers = [
            ("--seat", u64::from(seat.number)),
            ("--seats", u64::from(count)),
            ("--life", u64::from(seat.life)),
            ("--keep", self.keep),
            ("--leader", u64::from(std::process::id())),
        ];
        seat.journal
            .set_state(State::Starting)
            .map_err(journal_failed)?;
        seat.journal
            .order(self.epoch, Command::Work)
            .map_err(journal_failed)?;
        let child = Program::new(std::env::current_exe().map_err(started)?)
            .args(["tour", "worker"])
            .args(numbers.map(|(name, number)| format!("{name}={number}")))
            .arg("--table")
            .arg(&self.table)
            .stdin(seat.journal.as_stdin().map_err(journal_failed)?)
            .stdout(Stdio::null())
            // Ctrl-C is for the leader, which then stops the others in good order.
            .process_group(0)
            .spawn();
        seat.child = Some(child.map_err(started)?);
        seat.last = (seat.progress()?, Instant::now());
        Ok(())
    }

    fn wait_for(&mut self, number: usize, state: State) -> Result<(), CliError> {
        let until = Instant::now() + PATIENCE;
        let seat = &mut self.all[number];
        while seat.journal.state().map_err(journal_failed)? != state {
            let Some(child) = &mut seat.child else {
                return Ok(());
            };
            if let Some(status) = child.try_wait().map_err(started)?
                && seat.journal.state().map_err(journal_failed)? != state
            {
                return Err(seat.ended(status));
            }
            if Instant::now() > until {
                let seconds = PATIENCE.as_secs();
                let sentence = format!("{} hangs: waited {seconds} seconds for it", seat.name());
                return Err(CliError::Sentence(sentence));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Looks whether all are alive and make progress.
    pub fn watch(&mut self) -> Result<(), CliError> {
        self.all.iter_mut().try_for_each(Seat::watch)
    }

    /// Has the process on that seat do nothing but write.
    pub fn write_only(&self, number: usize) -> Result<(), CliError> {
        self.all[number]
            .journal
            .order(self.epoch, Command::WriteOnly)
            .map_err(journal_failed)
    }

    /// Kills the process on that seat, and has the others measure their slowest round from here.
    pub fn kill(&mut self, number: usize) -> Result<(), CliError> {
        let Some(mut child) = self.all[number].child.take() else {
            return Ok(());
        };
        child.kill().map_err(started)?;
        let status = child.wait().map_err(started)?;
        let seat = &mut self.all[number];
        seat.kills += 1;
        if seat.journal.state().map_err(journal_failed)? != State::Attached {
            return Err(seat.ended(status));
        }
        self.epoch += 1;
        for seat in self.all.iter().filter(|seat| seat.child.is_some()) {
            seat.journal
                .order(self.epoch, Command::Work)
                .map_err(journal_failed)?;
        }
        Ok(())
    }

    /// Seats a new process where one was killed.
    pub fn replace(&mut self, number: usize) -> Result<(), CliError> {
        self.seat_someone(number, self.all.len() as u32)?;
        self.wait_for(number, State::Attached)
    }

    /// Has all stop, and waits for it.
    pub fn stop(&mut self) -> Result<(), CliError> {
        for seat in &self.all {
            seat.journal
                .order(self.epoch, Command::Stop)
                .map_err(journal_failed)?;
        }
        for number in 0..self.all.len() {
            self.wait_for(number, State::Ended)?;
            if let Some(mut child) = self.all[number].child.take() {
                child.wait().map_err(started)?;
            }
        }
        Ok(())
    }

    pub fn kills(&self) -> u32 {
        self.all.iter().map(|seat| seat.kills).sum()
    }
}
