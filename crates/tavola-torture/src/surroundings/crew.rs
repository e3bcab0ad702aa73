//! Workers that are killed at random and started again.

use crate::board::{Board, Count};
use crate::child::{Found, Outcome};
use crate::system::{alarm, fork, kill, poll, wait};
use crate::value::Numbers;
use rustix::process::{Pid, Signal};

/// Seconds after which a worker that was not killed counts as hung.
const LIFE_S: u32 = 120;

/// Processes that do the same work, each with a number of its own, until they are killed.
pub(super) struct Crew<'a> {
    board: &'a Board,
    what: &'static str,
    work: &'a dyn Fn(usize) -> Found<()>,
    pids: Vec<Pid>,
    pub(super) kills: u64,
}

impl<'a> Crew<'a> {
    pub(super) fn start(
        board: &'a Board,
        what: &'static str,
        count: usize,
        work: &'a dyn Fn(usize) -> Found<()>,
    ) -> Outcome<Self> {
        let mut crew = Self {
            board,
            what,
            work,
            pids: Vec::new(),
            kills: 0,
        };
        for number in 0..count {
            let pid = crew.fork(number)?;
            crew.pids.push(pid);
        }
        Ok(crew)
    }

    fn fork(&self, number: usize) -> Outcome<Pid> {
        Ok(fork(|| {
            alarm(LIFE_S);
            let ended = (self.work)(number);
            let why = ended.err().unwrap_or_else(|| "it ended".to_owned());
            self.board
                .fault(&format!("{}: worker {number}: {why}", self.what));
            1
        })?)
    }

    /// Kills one of them and starts another in its place.
    pub(super) fn replace_one(&mut self, numbers: &mut Numbers) -> Outcome<()> {
        let number = numbers.below(self.pids.len() as u64) as usize;
        self.kill(number)?;
        self.pids[number] = self.fork(number)?;
        Ok(())
    }

    fn kill(&mut self, number: usize) -> Outcome<()> {
        let pid = self.pids[number];
        if let Some(ended) = poll(pid)? {
            let what = self.what;
            self.board
                .fault(&format!("{what}: worker {number}: {ended:?}"));
            return Ok(());
        }
        kill(pid, Signal::KILL)?;
        wait(pid)?;
        self.kills += 1;
        self.board.add(Count::Killed, 1);
        Ok(())
    }

    /// Kills all of them and starts as many in their place.
    pub(super) fn replace_all(&mut self) -> Outcome<()> {
        for number in 0..self.pids.len() {
            self.kill(number)?;
            self.pids[number] = self.fork(number)?;
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> Outcome<u64> {
        for number in 0..self.pids.len() {
            self.kill(number)?;
        }
        Ok(self.kills)
    }
}
