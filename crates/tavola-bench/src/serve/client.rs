//! A client process: asks one server, as its leader says.

use serde::{Deserialize, Serialize};

use super::Load;
use super::keys::Kind;
use super::script::{Script, Sort};
use super::trips::{self, Link};
use crate::Result;
use crate::compare::servers::Listening;
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};
use crate::latency::Summary;

/// Keys that one script of a longer task has.
const PIECE: u64 = 100_000;
/// Trips that are looked at after a run of sets.
const CHECKED: usize = 1000;

/// The first line a client reads. Answered by `Ready`, when it is connected.
#[derive(Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) cpu: usize,
    pub(super) address: Listening,
    /// How many connections it makes, beside one for the binary protocol.
    pub(super) connections: usize,
    pub(super) keys: u64,
    pub(super) value_bytes: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Job {
    /// Set all keys, those that are read and, if `both`, those that are set. Answered by `Ready`.
    Fill { both: bool },
    /// Read each key once. Answered by `Ready`.
    ReadAll,
    /// Answered by `Done`.
    Run(Run),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) load: Load,
    pub(super) seconds: f64,
    /// Another one in each run: what sets store, and the order of the keys.
    pub(super) generation: u64,
}

/// What a client did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Done {
    /// Keys that were read or set.
    pub(super) ops: u64,
    pub(super) ns: u64,
    /// Of trips.
    pub(super) latency: Summary,
}

/// Does what the leader at the other end of standard input says, until that end is closed.
pub fn work() -> Result<()> {
    duty::work(serve)
}

fn serve(setup: Setup, lines: &mut Lines) -> Result<()> {
    follow(setup.leader_pid, Some(setup.cpu))?;
    let mut links = Vec::new();
    for _ in 0..setup.connections {
        links.push(Link::to(&setup.address)?);
    }
    let mut client = Client {
        binary: Link::to(&setup.address)?,
        links,
        setup,
    };
    answer(&Answer::<Done>::Ready)?;
    while let Some(job) = lines.next::<Job>()? {
        answer(&client.job(job)?)?;
    }
    Ok(())
}

struct Client {
    setup: Setup,
    links: Vec<Link>,
    binary: Link,
}

impl Client {
    fn job(&mut self, job: Job) -> Result<Answer<Done>> {
        match job {
            Job::Fill { both } => {
                self.each_once(Load::SetNoreply, Kind::Read)?;
                if both {
                    self.each_once(Load::SetNoreply, Kind::Set)?;
                }
                Ok(Answer::Ready)
            }
            Job::ReadAll => {
                self.each_once(Load::Multiget, Kind::Read)?;
                Ok(Answer::Ready)
            }
            Job::Run(run) => self.run(run).map(Answer::Done),
        }
    }

    fn sort(&self, kind: Kind, generation: u64) -> Sort {
        Sort {
            kind,
            generation,
            value_bytes: self.setup.value_bytes,
        }
    }

    fn each_once(&mut self, load: Load, kind: Kind) -> Result<()> {
        let sort = self.sort(kind, 0);
        let depth = load.depth() as u64;
        let keys = self.setup.keys.div_ceil(depth) * depth;
        for start in (0..keys).step_by(PIECE as usize) {
            let indices = (start..keys.min(start + PIECE)).collect();
            self.links[0].all(&Script::over(load, indices, sort))?;
        }
        Ok(())
    }

    fn run(&mut self, run: Run) -> Result<Done> {
        let Run {
            load, generation, ..
        } = run;
        let sort = match load.sets() {
            true => self.sort(Kind::Set, generation),
            false => self.sort(Kind::Read, 0),
        };
        let script = Script::of(load, self.setup.keys, generation, sort);
        let links = match load {
            Load::Binary => std::slice::from_mut(&mut self.binary),
            _ => &mut self.links[..load.connections()],
        };
        let done = trips::run(links, &script, load.depth(), run.seconds)?;
        if load.sets() {
            let set = (done.ops as usize).min(script.indices.len());
            let indices = spaced(&script.indices[..set], CHECKED);
            self.links[0].all(&Script::over(Load::Get, indices, sort))?;
        }
        Ok(done)
    }
}

/// At most so many of them, from all over.
fn spaced(indices: &[u64], most: usize) -> Vec<u64> {
    let step = indices.len().div_ceil(most).max(1);
    indices.iter().copied().step_by(step).collect()
}
