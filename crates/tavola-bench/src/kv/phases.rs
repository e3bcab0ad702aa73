//! The leader: runs the phases one after the other and gathers what came out.

use tavola::Table;

use super::job::{Came, Done, Job, Run, Setup};
use super::report::{Collapse, Gathered, Line, Summary};
use super::{Config, Distribution, Phase};
use crate::crew;
use crate::latency::Merged;
use crate::scratch::Scratch;
use crate::{Error, Result, clock};

/// Runs everything; `emit` is given each line as soon as it is known (with one repetition, that is
/// at the end of each phase).
///
/// # Errors
///
/// Whatever the table or the system refuses, whatever `emit` returns, and a wrong answer.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    config.check()?;
    let reported: Vec<Phase> = Phase::ALL
        .into_iter()
        .filter(|phase| config.phases.contains(phase))
        .collect();
    let mut gathered: Vec<Gathered> = reported
        .iter()
        .map(|&phase| Gathered::new(config, phase))
        .collect();
    let mut crew = start(config)?;
    let mut summary = None;
    for turn in 1..=config.repeat {
        let last = turn == config.repeat;
        let mut leader = Leader::new(config, &mut crew, &reported)?;
        leader.all_phases(&mut |line| match line {
            Finding::Phase(phase, measured) => {
                let at = reported.iter().position(|&one| one == phase);
                let Some(slot) = at.map(|at| &mut gathered[at]) else {
                    return Ok(());
                };
                slot.add(measured);
                if last {
                    emit(&Line::Phase(slot.line()))
                } else {
                    Ok(())
                }
            }
            Finding::Collapse(collapse) if last => emit(&Line::Collapse(collapse)),
            Finding::Collapse(_) => Ok(()),
        })?;
        if last {
            summary = Some(leader.summary()?);
        }
    }
    // Each by itself: a profiler writes down what it saw of one that ends, not of one that is
    // killed.
    crew.end()?;
    summary.map_or(Ok(()), |summary| emit(&Line::Summary(Box::new(summary))))
}

/// All workers of a run, the hot writer last if there is one.
type Crew = crew::Crew<Job, Came>;

fn start(config: &Config) -> Result<Crew> {
    let mut crew = Crew::new("kv");
    for at in 0..config.procs + u32::from(config.hot_writer) {
        let setup = Setup {
            leader_pid: std::process::id(),
            part: at.min(config.procs - 1),
            parts: config.procs,
            keys: config.keys,
            key_bytes: config.key_bytes,
            value_bytes: config.value_bytes,
            distribution: config.dist,
            cpu: config.cpu_of(at as usize),
        };
        crew.hire("worker", &setup)?;
    }
    Ok(crew)
}

fn ran(came: Came) -> Result<Done> {
    match came {
        Came::Ran(done) => Ok(done),
        Came::Maintained { .. } => Err(Error::worker("it did something else than was asked")),
    }
}

/// What one turn finds out, as it goes.
enum Finding {
    Phase(Phase, Measured),
    Collapse(Collapse),
}

/// One phase of one turn.
pub(super) struct Measured {
    pub(super) ops: u64,
    pub(super) seconds: f64,
    /// Million operations a second of each worker, in its own time.
    pub(super) share: Vec<f64>,
    pub(super) latency: Option<Merged>,
    pub(super) writer_mops: Option<f64>,
}

struct Leader<'a> {
    config: &'a Config,
    crew: &'a mut Crew,
    phases: &'a [Phase],
    table: Table,
    /// Generations of values that are in the table.
    oldest: u64,
    newest: u64,
    seed: u64,
    after_put_bytes: u64,
}

impl<'a> Leader<'a> {
    fn new(config: &'a Config, crew: &'a mut Crew, phases: &'a [Phase]) -> Result<Self> {
        let table = fresh_table(config, crew)?;
        Ok(Self {
            config,
            crew,
            phases,
            table,
            oldest: 0,
            newest: 0,
            seed: 0,
            after_put_bytes: 0,
        })
    }

    fn all_phases(&mut self, found: &mut dyn FnMut(Finding) -> Result<()>) -> Result<()> {
        let put = self.put()?;
        found(Finding::Phase(Phase::Put, put))?;
        self.after_put_bytes = self.table.stats()?.resident_bytes;
        let mut collapsed = !self.config.collapse;
        for &phase in self.phases.iter().filter(|&&phase| phase != Phase::Put) {
            self.all_are_there()?;
            if !collapsed && phase != Phase::Over {
                found(Finding::Collapse(self.collapse()?))?;
                collapsed = true;
            }
            let measured = self.measure(phase)?;
            found(Finding::Phase(phase, measured))?;
        }
        Ok(())
    }

    /// The phases after `put` ask for all keys; a cache may have evicted some.
    fn all_are_there(&self) -> Result<()> {
        let (left, keys) = (self.table.len()?, self.config.keys);
        if left >= keys {
            return Ok(());
        }
        let why = format!(
            "{left} of {keys} keys are left, and the phases after put ask for all: give more \
             bytes, or --phases put"
        );
        Err(Error::option("capacity", why))
    }

    /// Latencies on a table of their own, then throughput on the one that stays.
    fn put(&mut self) -> Result<Measured> {
        let once = self.plan(Phase::Put, 1, u64::MAX);
        let timed = Run {
            timed: true,
            ..once.clone()
        };
        let latency = match !self.config.no_latency && self.phases.contains(&Phase::Put) {
            false => None,
            true => {
                let (_, all) = self.run(timed)?;
                self.table = fresh_table(self.config, self.crew)?;
                Some(merge(&all))
            }
        };
        let (start_ns, all) = self.run(once)?;
        Ok(Measured {
            latency,
            ..measured(start_ns, &all)
        })
    }

    fn procs(&self) -> usize {
        self.config.procs as usize
    }

    /// Has all workers run a phase, beginning together.
    fn run(&mut self, mut run: Run) -> Result<(u64, Vec<Done>)> {
        run.start_ns = self.crew.start_ns();
        let start_ns = run.start_ns;
        let came = self.crew.run_all(self.procs(), &Job::Run(run))?;
        Ok((start_ns, came.into_iter().map(ran).collect::<Result<_>>()?))
    }

    /// Nanoseconds an operation that the loop around the table costs.
    fn harness_ns(&mut self) -> Result<f64> {
        // Fewer, but as far from the next power of two, which is what the order's cost depends on.
        let keys = self.config.keys;
        let ops = keys >> (64 - keys.leading_zeros()).saturating_sub(16);
        let done = ran(self.crew.run(0, &Job::Dry { ops })?)?;
        Ok((done.end_ns - done.begin_ns) as f64 / done.ops as f64)
    }

    fn measure(&mut self, phase: Phase) -> Result<Measured> {
        let hot = self.config.hot_writer && matches!(phase, Phase::Get | Phase::Miss);
        if hot {
            let generation = self.newest;
            self.crew.tell(self.procs(), &Job::Hammer { generation })?;
        }
        let rounds = self.config.min_ops.div_ceil(self.config.keys).max(1);
        let plan = self.plan(phase, rounds, u64::MAX);
        let (start_ns, all) = self.run(plan)?;
        self.written(phase, rounds);
        let mut result = measured(start_ns, &all);
        if !self.config.no_latency {
            result.latency = Some(self.latencies(phase)?);
        }
        if hot {
            let done = ran(self.crew.run(self.procs(), &Job::Stop)?)?;
            result.writer_mops = Some(rate(done.ops, done.end_ns - done.begin_ns));
        }
        Ok(result)
    }

    fn latencies(&mut self, phase: Phase) -> Result<Merged> {
        let all_keys = phase == Phase::Over;
        let timed = self.config.latency_ops;
        let rounds = timed.div_ceil(self.config.keys);
        let (rounds, limit) = match all_keys {
            true => (1, u64::MAX),
            false => (rounds, timed.div_ceil(u64::from(self.config.procs))),
        };
        let run = Run {
            timed: true,
            ..self.plan(phase, rounds, limit)
        };
        let (_, all) = self.run(run)?;
        self.written(phase, rounds);
        Ok(merge(&all))
    }

    fn plan(&mut self, phase: Phase, rounds: u64, limit: u64) -> Run {
        self.seed += 0x0123_4567;
        Run {
            phase,
            start_ns: 0,
            batch: if phase == Phase::Mix {
                1
            } else {
                self.config.batch
            },
            rounds,
            limit,
            timed: false,
            oldest: self.oldest,
            newest: self.newest,
            writes: if phase == Phase::Put {
                0
            } else {
                self.newest + 1
            },
            seed: self.seed,
        }
    }

    /// Keeps account of the generations that may be seen from now on.
    fn written(&mut self, phase: Phase, rounds: u64) {
        match phase {
            Phase::Over => {
                self.newest += rounds;
                if self.config.dist == Distribution::Uniform {
                    self.oldest = self.newest;
                }
            }
            Phase::Mix => self.newest += 1,
            Phase::Put | Phase::Get | Phase::Miss => {}
        }
    }

    fn collapse(&mut self) -> Result<Collapse> {
        let begin_ns = clock::monotonic_ns();
        let (mut collapsed_bytes, mut huge_pages_supported) = (0, true);
        for at in 0..self.procs() {
            if let Came::Maintained { bytes, supported } = self.crew.run(at, &Job::Maintain)? {
                // All have the same table.
                collapsed_bytes = bytes.max(collapsed_bytes);
                huge_pages_supported &= supported;
            }
        }
        let seconds = (clock::monotonic_ns() - begin_ns) as f64 / 1e9;
        Ok(Collapse {
            phase: "collapse",
            seconds,
            collapsed_bytes,
            huge_pages_supported,
        })
    }

    fn summary(&mut self) -> Result<Summary> {
        let config = self.config;
        let stats = self.table.stats()?;
        let keys = config.keys as f64;
        Ok(Summary {
            summary: "kv",
            keys: config.keys,
            procs: config.procs,
            key_bytes: config.key_bytes,
            value_bytes: config.value_bytes,
            batch: config.batch,
            distribution: config.dist,
            placement: config.placement(),
            repeat: config.repeat,
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            shards: stats.shards,
            max_size: stats.max_size,
            resident_bytes: stats.resident_bytes,
            bytes_per_key: stats.resident_bytes as f64 / keys,
            resident_bytes_after_put: self.after_put_bytes,
            bytes_per_key_after_put: self.after_put_bytes as f64 / keys,
            payload_bytes: stats.payload_bytes,
            index_bytes: stats.index_bytes,
            index_load: stats.index_load,
            slab_bytes: stats.slab_bytes,
            large_bytes: stats.large_bytes,
            free_bytes: stats.free_bytes,
            harness_ns: self.harness_ns()?,
            timer_ns: clock::reading_ns(),
        })
    }
}

/// A table that only this run can see: its name is taken away as soon as all workers have it.
fn fresh_table(config: &Config, crew: &mut Crew) -> Result<Table> {
    let (mut scratch, table) = Scratch::create(&config.place())?;
    for at in 0..crew.len() {
        crew.prepare(at, &Job::Attach(scratch.name().into()))?;
    }
    scratch.unlink()?;
    Ok(table)
}

fn rate(ops: u64, ns: u64) -> f64 {
    ops as f64 * 1e3 / ns.max(1) as f64
}

fn measured(start_ns: u64, all: &[Done]) -> Measured {
    let end_ns = all.iter().map(|done| done.end_ns).max().unwrap_or(start_ns);
    Measured {
        ops: all.iter().map(|done| done.ops).sum(),
        seconds: end_ns.saturating_sub(start_ns) as f64 / 1e9,
        share: all
            .iter()
            .map(|done| rate(done.ops, done.end_ns - done.begin_ns))
            .collect(),
        latency: None,
        writer_mops: None,
    }
}

fn merge(all: &[Done]) -> Merged {
    let mut merged = Merged::new();
    all.iter()
        .filter_map(|done| done.latency.as_ref())
        .for_each(|part| merged.add(part));
    merged
}
