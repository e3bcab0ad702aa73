//! A worker process: reads jobs from its input, does them, answers on its output.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use tavola::Table;

use super::steps::{Feed, Get, Miss, Mix, Nothing, Step, Write, drive};
use super::{Distribution, Phase};
use crate::bytes::{Bytes, Expect, KeyWords};
use crate::clock::{monotonic_ns, wait_until};
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};
use crate::latency::{Latency, Summary};
use crate::order::{Order, share};
use crate::{Error, Result};

/// The first line a worker reads: who it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) part: u32,
    pub(super) parts: u32,
    pub(super) keys: u64,
    pub(super) key_bytes: usize,
    pub(super) value_bytes: usize,
    pub(super) distribution: Distribution,
    pub(super) cpu: Option<usize>,
}

/// Every further line; each is answered once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Attach to this table, leaving the one before.
    Attach(PathBuf),
    Run(Run),
    /// Write one key until the next line, `Stop`, comes; only that is answered.
    Hammer {
        generation: u64,
    },
    Stop,
    /// Call `maintain` until nothing is left to do; what is done are bytes on huge pages.
    Maintain,
    /// Run the loop of `get` without a table: what does the harness itself cost?
    Dry {
        ops: u64,
    },
}

/// One phase of one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) phase: Phase,
    /// The instant of the monotonic clock at which all workers begin.
    pub(super) start_ns: u64,
    pub(super) batch: usize,
    /// How often the share is passed over.
    pub(super) rounds: u64,
    /// At most so many operations.
    pub(super) limit: u64,
    /// Whether each call is timed.
    pub(super) timed: bool,
    /// Generations of values that may be there.
    pub(super) oldest: u64,
    pub(super) newest: u64,
    /// The generation that the first round writes; each further round writes one more.
    pub(super) writes: u64,
    pub(super) seed: u64,
}

/// What a worker did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) ops: u64,
    pub(super) latency: Option<Summary>,
}

/// Does what the leader at the other end of standard input says, until that end is closed.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, lines| {
        follow(setup.leader_pid, setup.cpu)?;
        if setup.key_bytes == 8 && setup.value_bytes == 8 {
            Worker::<[u8; 8], [u8; 8]>::new(setup).serve(lines)
        } else if setup.key_bytes == 8 {
            Worker::<[u8; 8], Vec<u8>>::new(setup).serve(lines)
        } else {
            Worker::<Vec<u8>, Vec<u8>>::new(setup).serve(lines)
        }
    })
}

struct Worker<K, V> {
    setup: Setup,
    table: Option<Table>,
    sizes: std::marker::PhantomData<(K, V)>,
}

impl<K: Bytes, V: Bytes> Worker<K, V> {
    fn new(setup: Setup) -> Self {
        Self {
            setup,
            table: None,
            sizes: std::marker::PhantomData,
        }
    }

    fn serve(&mut self, lines: &mut Lines) -> Result<()> {
        while let Some(job) = lines.next()? {
            let done = match job {
                Job::Attach(path) => {
                    self.table = None;
                    self.table = Some(Table::options().open_existing(path)?);
                    Answer::Ready
                }
                Job::Run(run) => Answer::Done(self.run(&run)?),
                Job::Hammer { generation } => Answer::Done(self.hammer(generation, lines)?),
                Job::Stop => Answer::Ready,
                Job::Maintain => Answer::Done(Done {
                    ops: maintain_until_done(self.table()?)?,
                    ..Done::default()
                }),
                Job::Dry { ops } => Answer::Done(self.dry(ops)?),
            };
            answer(&done)?;
        }
        Ok(())
    }

    fn table(&self) -> Result<&Table> {
        let table = self.table.as_ref();
        table.ok_or_else(|| Error::worker("it was given no table"))
    }

    /// Returns what sets keys, so many at once.
    fn write_of<'t>(&self, table: &'t Table, batch: usize) -> Write<'t, K, V> {
        Write::new(table, self.setup.key_bytes, self.setup.value_bytes, batch)
    }

    fn run(&self, run: &Run) -> Result<Done> {
        let table = self.table()?;
        let newest = if run.phase == Phase::Mix {
            run.writes
        } else {
            run.newest
        };
        let value_bytes = self.setup.value_bytes;
        let get = Get::new(
            table,
            Expect {
                value_bytes,
                oldest: run.oldest,
                newest,
            },
        );
        let mut write = self.write_of(table, run.batch);
        match run.phase {
            Phase::Put | Phase::Over => self.rounds(run, &mut write, |write, round| {
                write.set_generation(run.writes + round);
            }),
            Phase::Mix => {
                write.set_generation(run.writes);
                let shared = self.setup.distribution == Distribution::Hot;
                self.rounds(run, &mut Mix::new(get, write, shared), |_, _| ())
            }
            Phase::Get => self.rounds(run, &mut { get }, |_, _| ()),
            Phase::Miss => self.rounds(run, &mut Miss::new(table), |_, _| ()),
        }
    }

    fn rounds<S: Step<K>>(
        &self,
        run: &Run,
        step: &mut S,
        mut at_round: impl FnMut(&mut S, u64),
    ) -> Result<Done> {
        let offset = if run.phase == Phase::Miss {
            self.setup.keys
        } else {
            0
        };
        let mut feed = Feed::new(self.setup.key_bytes, offset, run.batch);
        let mut latency = run.timed.then(Latency::new);
        wait_until(run.start_ns);
        let begin_ns = monotonic_ns();
        let mut ops = 0;
        for round in 0..run.rounds {
            at_round(step, round);
            let order = self.order(run, round);
            let left = run.limit - ops;
            ops += drive(step, &mut feed, order, left, run.batch, latency.as_mut())?;
            if ops >= run.limit {
                break;
            }
        }
        let end_ns = monotonic_ns();
        let latency = latency.map(|latency| latency.summary());
        Ok(Done {
            begin_ns,
            end_ns,
            ops,
            latency,
        })
    }

    fn order(&self, run: &Run, round: u64) -> Order {
        let Setup {
            keys,
            part,
            parts,
            distribution,
            ..
        } = self.setup;
        let share = share(keys, part, parts);
        match (run.phase, distribution) {
            (Phase::Put, _) => Order::Ascending(share),
            (_, Distribution::Hot) => Order::Same {
                index: 0,
                left: share.end - share.start,
            },
            _ => Order::shuffled(share, run.seed.wrapping_add(round * 0x5851_f42d)),
        }
    }

    /// Writes the key of index 0 until the leader says stop.
    fn hammer(&self, generation: u64, lines: &mut Lines) -> Result<Done> {
        let table = self.table()?;
        let stop = AtomicBool::new(false);
        let mut write = self.write_of(table, 1);
        write.set_generation(generation);
        let mut key = K::blank(self.setup.key_bytes);
        key.fill(KeyWords::new(self.setup.key_bytes).of(0));
        std::thread::scope(|scope| {
            let hammer = scope.spawn(|| {
                let (begin_ns, mut ops) = (monotonic_ns(), 0);
                while !stop.load(Ordering::Relaxed) {
                    write.one(&key)?;
                    ops += 1;
                }
                Ok(Done {
                    begin_ns,
                    end_ns: monotonic_ns(),
                    ops,
                    latency: None,
                })
            });
            let job = lines.next::<Job>();
            stop.store(true, Ordering::Relaxed);
            let done = hammer.join().expect("the writing thread does not panic");
            job?;
            done
        })
    }

    /// The fastest of many short runs: what slows a loop down that touches no table is not its own.
    fn dry(&self, ops: u64) -> Result<Done> {
        const RUNS: u64 = 100;
        let mut feed = Feed::<K>::new(self.setup.key_bytes, 0, 1);
        let mut best = None;
        for run in 0..RUNS {
            let order = Order::shuffled(0..ops, run);
            let begin_ns = monotonic_ns();
            let ops = drive(&mut Nothing, &mut feed, order, ops, 1, None)?;
            let took_ns = monotonic_ns() - begin_ns;
            if best
                .as_ref()
                .is_none_or(|best: &Done| took_ns < best.end_ns)
            {
                best = Some(Done {
                    end_ns: took_ns,
                    ops,
                    ..Done::default()
                });
            }
        }
        Ok(best.unwrap_or_default())
    }
}

/// Calls `maintain` until nothing is left to do; returns bytes collapsed.
fn maintain_until_done(table: &Table) -> Result<u64> {
    const BUDGET_BYTES: u64 = 256 << 20;
    let mut collapsed = 0;
    loop {
        let step = table.maintain(BUDGET_BYTES)?;
        collapsed += step.collapsed_bytes;
        let idle = step.collapsed_bytes == 0 && step.given_back_bytes == 0;
        if step.done || idle || !step.huge_pages_supported {
            return Ok(collapsed);
        }
    }
}
