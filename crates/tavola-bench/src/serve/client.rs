//! A client process: asks one server, as its leader says.

use std::time::Instant;

use tavola::Table;

use super::Load;
use super::job::{Done, Job, Run, Setup};
use super::keys::{Kind, key, value};
use super::script::{Script, Sort};
use super::trips::{self, Link};
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};
use crate::latency::Latency;
use crate::{Error, Result};

/// Keys that one script of a longer task has.
const PIECE: u64 = 100_000;
/// Trips that are looked at after a run of sets.
const LOOKED_AT: usize = 1000;
/// Direct reads between two looks at the clock.
const READS: usize = 1000;

/// Does what the leader at the other end of standard input says, until that end is closed.
///
/// # Errors
///
/// None that the leader has not been told, save that it is gone.
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
        table: setup.table.as_ref().map(Table::open).transpose()?,
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
    table: Option<Table>,
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
            Job::Direct { seconds } => self.direct(seconds).map(Answer::Done),
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
            let indices = spaced(&script.indices[..set], LOOKED_AT);
            self.links[0].all(&Script::over(Load::Get, indices, sort))?;
        }
        Ok(done)
    }

    /// Reads of the table itself, with as much looked at as in a trip.
    fn direct(&self, seconds: f64) -> Result<Done> {
        let Some(table) = &self.table else {
            return Err(Error::worker(
                "it was to read a table that it does not have",
            ));
        };
        let script = Script::of(Load::Get, self.setup.keys, 1, self.sort(Kind::Read, 0));
        let pairs = script.indices.iter().map(|&index| {
            let mut expected = Vec::new();
            value(index, 0, self.setup.value_bytes, &mut expected);
            (key(Kind::Read, index), expected)
        });
        let pairs: Vec<_> = pairs.collect();
        let (mut ops, mut found) = (0, Vec::new());
        let begin = Instant::now();
        let mut pieces = pairs.chunks(READS).cycle();
        while begin.elapsed().as_secs_f64() < seconds {
            for (key, expected) in pieces.next().unwrap_or_default() {
                if !table.get_into(key, &mut found)? || found != *expected {
                    let what = format!("the key {} has another value", key.escape_ascii());
                    return Err(Error::wrong("direct", what));
                }
                ops += 1;
            }
        }
        Ok(Done {
            ops,
            ns: begin.elapsed().as_nanos() as u64,
            latency: Latency::of_waiting().summary(),
        })
    }
}

/// At most so many of them, from all over.
fn spaced(indices: &[u64], most: usize) -> Vec<u64> {
    let step = indices.len().div_ceil(most).max(1);
    indices.iter().copied().step_by(step).collect()
}
