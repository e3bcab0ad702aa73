//! The worker processes of a measurement, as their leader sees them: started, given jobs, heard,
//! ended.
//!
//! A worker is this program again with a hidden subcommand. Both sides speak one JSON value a
//! line: first what the worker is to be, then a job and its [`Answer`], one after the other.

use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::monotonic_ns;
use crate::{Error, Result};

/// Between the last word to the workers and their common start.
const LEAD_NS: u64 = 3_000_000;
/// More of it for each worker.
const LEAD_EACH_NS: u64 = 300_000;

/// Why what other people's crates do is left out.
pub(crate) const WITHOUT_PEERS: &str = "built without it; to have it: \
    cargo build --release --package tavola-bench --features peers";

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer<D> {
    /// It is as it is to be.
    Ready,
    /// What it did.
    Done(D),
    /// The worker ends after this.
    Failed { wrong: bool, what: String },
}

/// The path of this program.
pub(crate) fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(Error::io("finding the program to start again"))
}

/// Workers that get jobs `J` and do `D`.
pub(crate) struct Crew<J, D> {
    members: Vec<Member>,
    /// What is measured, for errors.
    phase: &'static str,
    speaks: PhantomData<(J, D)>,
}

impl<J: Serialize, D: DeserializeOwned> Crew<J, D> {
    pub(crate) fn new(phase: &'static str) -> Self {
        Self {
            members: Vec::new(),
            phase,
            speaks: PhantomData,
        }
    }

    /// Starts one more worker and says what it is to be.
    pub(crate) fn hire(&mut self, subcommand: &str, setup: &impl Serialize) -> Result<()> {
        let mut this = Command::new(program()?);
        self.add(this.arg(subcommand), setup)
    }

    /// The same with another program, which speaks as workers do.
    pub(crate) fn hire_program(&mut self, program: &Path, setup: &impl Serialize) -> Result<()> {
        self.add(&mut Command::new(program), setup)
    }

    fn add(&mut self, command: &mut Command, setup: &impl Serialize) -> Result<()> {
        let mut member = Member::start(command)?;
        member.send(setup)?;
        self.members.push(member);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The instant at which workers that get a job now can begin together.
    pub(crate) fn start_ns(&self) -> u64 {
        monotonic_ns() + LEAD_NS + LEAD_EACH_NS * self.members.len() as u64
    }

    pub(crate) fn send(&mut self, at: usize, job: &J) -> Result<()> {
        let sent = self.members[at].send(job);
        if sent.is_err() {
            // It said why before it ended, if it could.
            self.hear(at)?;
        }
        sent
    }

    pub(crate) fn ready(&mut self, at: usize) -> Result<()> {
        match self.hear(at)? {
            Answer::Ready => Ok(()),
            _ => Err(out_of_turn()),
        }
    }

    pub(crate) fn done(&mut self, at: usize) -> Result<D> {
        match self.hear(at)? {
            Answer::Done(done) => Ok(done),
            _ => Err(out_of_turn()),
        }
    }

    /// Has a worker do a job after which it is ready.
    pub(crate) fn prepare(&mut self, at: usize, job: &J) -> Result<()> {
        self.send(at, job)?;
        self.ready(at)
    }

    pub(crate) fn run(&mut self, at: usize, job: &J) -> Result<D> {
        self.send(at, job)?;
        self.done(at)
    }

    /// Has the first workers do a job at the same time.
    pub(crate) fn run_all(&mut self, count: usize, job: &J) -> Result<Vec<D>> {
        (0..count).try_for_each(|at| self.send(at, job))?;
        (0..count).map(|at| self.done(at)).collect()
    }

    /// Returns whether a worker has ended before it was asked to.
    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        for member in &mut self.members {
            let ended = member.child.try_wait();
            if ended.map_err(Error::io("looking for a worker"))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits until all have ended.
    pub(crate) fn end(self) -> Result<()> {
        self.members.into_iter().try_for_each(Member::dismiss)
    }

    fn hear(&mut self, at: usize) -> Result<Answer<D>> {
        match self.members[at].hear(at, self.phase)? {
            Answer::Failed { wrong: true, what } => Err(Error::WrongAnswer {
                phase: self.phase.to_owned(),
                what,
            }),
            Answer::Failed { what, .. } => Err(Error::Worker { what }),
            answer => Ok(answer),
        }
    }
}

fn out_of_turn() -> Error {
    Error::worker("it answered something else than was asked")
}

/// One worker.
struct Member {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Member {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::io("starting a worker"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("the output is piped"));
        Ok(Self {
            child,
            input,
            output,
        })
    }

    fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_string(message).expect("messages have a JSON form");
        line.push('\n');
        let input = self
            .input
            .as_mut()
            .expect("the input is open until the end");
        let sent = input.write_all(line.as_bytes());
        sent.map_err(Error::io("sending a job to a worker"))
    }

    fn hear<T: DeserializeOwned>(&mut self, at: usize, phase: &str) -> Result<T> {
        let mut line = String::new();
        let len = self.output.read_line(&mut line);
        if len.map_err(Error::io("hearing a worker"))? == 0 {
            let status = self
                .child
                .wait()
                .map_err(Error::io("waiting for a worker"))?;
            let what = format!("worker {at} ended in {phase}: {status}");
            return Err(Error::Worker { what });
        }
        serde_json::from_str(&line).map_err(|error| Error::io("understanding a worker")(error))
    }

    /// Closes its input, and waits until it has cleaned up and ended.
    fn dismiss(mut self) -> Result<()> {
        self.input = None;
        let waited = self.child.wait();
        waited.map_err(Error::io("waiting for a worker")).map(drop)
    }
}

impl Drop for Member {
    /// Closing its input ends a worker that waits; one that still works is ended.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
