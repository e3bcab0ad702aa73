//! The leader: runs the phases one after the other and gathers what came out.

use serde_json::{Value, json};
use tavola::Table;

use super::worker::{Done, Job, Run, Setup};
use super::{Config, Distribution, Phase};
use crate::clock::{monotonic_ns, reading_ns};
use crate::latency::{Latency, Summary};
use crate::scratch::Scratch;
use crate::stats::median_run;
use crate::table::joined;
use crate::{Emit, Error, Result, crew};

/// Runs everything; `emit` is given each line as soon as it is known (with one repetition, that is
/// at the end of each phase).
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    config.check()?;
    let is_asked = |phase: &Phase| config.phases.contains(phase);
    let reported: Vec<Phase> = Phase::ALL.into_iter().filter(is_asked).collect();
    let mut gathered: Vec<Vec<Measured>> = reported.iter().map(|_| Vec::new()).collect();
    let mut crew = start(config)?;
    let mut last_line = None;
    for turn in 1..=config.repeat {
        let is_last = turn == config.repeat;
        let mut leader = Leader {
            table: fresh_table(config, &mut crew)?,
            config,
            crew: &mut crew,
            oldest: 0,
            newest: 0,
            seed: 0,
        };
        let put = leader.put(is_asked(&Phase::Put))?;
        let after_put_bytes = leader.table.stats()?.resident_bytes;
        let (mut put, mut is_collapsed) = (Some(put), !config.collapse);
        for (phase, turns) in reported.iter().zip(&mut gathered) {
            let measured = match *phase {
                Phase::Put => put.take(),
                phase => {
                    leader.all_are_there()?;
                    if !is_collapsed && phase != Phase::Over {
                        let line = leader.collapse()?;
                        if is_last {
                            emit(&line)?;
                        }
                        is_collapsed = true;
                    }
                    Some(leader.measure(phase)?)
                }
            };
            turns.extend(measured);
            if is_last {
                emit(&line(config, *phase, turns))?;
            }
        }
        if is_last {
            last_line = Some(leader.summary(after_put_bytes)?);
        }
    }
    // Each by itself: a profiler writes down what it saw of one that ends, not of one that is
    // killed.
    crew.end()?;
    last_line.map_or(Ok(()), |line| emit(&line))
}

/// All workers of a run, the hot writer last if there is one.
type Crew = crew::Crew<Job, Done>;

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

/// One phase of one turn.
struct Measured {
    ops: u64,
    seconds: f64,
    /// Million operations a second of each worker, in its own time.
    share: Vec<f64>,
    latencies: Vec<Summary>,
    writer_mops: Option<f64>,
}

impl Measured {
    fn of(start_ns: u64, all: &[Done]) -> Self {
        let end_ns = all.iter().map(|done| done.end_ns).max().unwrap_or(start_ns);
        Self {
            ops: all.iter().map(|done| done.ops).sum(),
            seconds: end_ns.saturating_sub(start_ns) as f64 / 1e9,
            share: all.iter().map(rate).collect(),
            latencies: Vec::new(),
            writer_mops: None,
        }
    }

    fn mops(&self) -> f64 {
        self.ops as f64 / self.seconds / 1e6
    }
}

fn rate(done: &Done) -> f64 {
    done.ops as f64 * 1e3 / (done.end_ns - done.begin_ns).max(1) as f64
}

fn latencies(all: Vec<Done>) -> Vec<Summary> {
    all.into_iter().filter_map(|done| done.latency).collect()
}

/// A phase over all repetitions: the one of median throughput, and the latencies of all.
fn line(config: &Config, phase: Phase, turns: &[Measured]) -> Value {
    let median = median_run(turns, Measured::mops);
    let latency = Latency::merged(turns.iter().flat_map(|turn| &turn.latencies));
    let mut line = json!({
        "phase": phase, "procs": config.procs, "keys": config.keys, "batch": config.batch_of(phase),
        "ops": median.ops, "seconds": median.seconds, "mops": median.mops(),
        "share": median.share, "runs": turns.iter().map(Measured::mops).collect::<Vec<_>>(),
    });
    if let Some(writer_mops) = median.writer_mops {
        line["writer_mops"] = writer_mops.into();
    }
    if latency.count() == 0 {
        return line;
    }
    line["timed"] = latency.count().into();
    joined(line, &latency.percentiles())
}

struct Leader<'a> {
    config: &'a Config,
    crew: &'a mut Crew,
    table: Table,
    /// Generations of values that are in the table.
    oldest: u64,
    newest: u64,
    seed: u64,
}

impl Leader<'_> {
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
    fn put(&mut self, is_asked: bool) -> Result<Measured> {
        let once = self.plan(Phase::Put, 1, u64::MAX);
        let mut timed = Vec::new();
        if is_asked && !self.config.no_latency {
            let run = Run {
                timed: true,
                ..once.clone()
            };
            timed = latencies(self.run(run)?.1);
            self.table = fresh_table(self.config, self.crew)?;
        }
        let (start_ns, all) = self.run(once)?;
        Ok(Measured {
            latencies: timed,
            ..Measured::of(start_ns, &all)
        })
    }

    fn procs(&self) -> usize {
        self.config.procs as usize
    }

    /// Has all workers run a phase, beginning together.
    fn run(&mut self, run: Run) -> Result<(u64, Vec<Done>)> {
        let start_ns = self.crew.start_ns();
        let job = Job::Run(Run { start_ns, ..run });
        Ok((start_ns, self.crew.run_all(self.procs(), &job)?))
    }

    fn measure(&mut self, phase: Phase) -> Result<Measured> {
        let hot = self.config.hot_writer && matches!(phase, Phase::Get | Phase::Miss);
        if hot {
            let generation = self.newest;
            self.crew.send(self.procs(), &Job::Hammer { generation })?;
        }
        let rounds = self.config.min_ops.div_ceil(self.config.keys).max(1);
        let plan = self.plan(phase, rounds, u64::MAX);
        let (start_ns, all) = self.run(plan)?;
        self.written(phase, rounds);
        let mut result = Measured::of(start_ns, &all);
        if !self.config.no_latency {
            result.latencies = self.latencies(phase)?;
        }
        if hot {
            result.writer_mops = Some(rate(&self.crew.run(self.procs(), &Job::Stop)?));
        }
        Ok(result)
    }

    fn latencies(&mut self, phase: Phase) -> Result<Vec<Summary>> {
        let timed = self.config.latency_ops;
        let rounds = timed.div_ceil(self.config.keys);
        let (rounds, limit) = match phase {
            Phase::Over => (1, u64::MAX),
            _ => (rounds, timed.div_ceil(u64::from(self.config.procs))),
        };
        let run = Run {
            timed: true,
            ..self.plan(phase, rounds, limit)
        };
        let (_, all) = self.run(run)?;
        self.written(phase, rounds);
        Ok(latencies(all))
    }

    fn plan(&mut self, phase: Phase, rounds: u64, limit: u64) -> Run {
        self.seed += 0x0123_4567;
        Run {
            phase,
            start_ns: 0,
            batch: self.config.batch_of(phase),
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

    /// Has huge pages made, which all workers map then.
    fn collapse(&mut self) -> Result<Value> {
        let (begin_ns, mut bytes) = (monotonic_ns(), 0);
        for at in 0..self.procs() {
            bytes = self.crew.run(at, &Job::Maintain)?.ops.max(bytes);
        }
        Ok(json!({
            "phase": "collapse", "seconds": (monotonic_ns() - begin_ns) as f64 / 1e9,
            "collapsed_bytes": bytes,
        }))
    }

    /// The table at the end, and what the figures were measured with.
    fn summary(&mut self, after_put_bytes: u64) -> Result<Value> {
        let config = self.config;
        // Fewer, but as far from the next power of two, which is what the order's cost depends on.
        let ops = config.keys >> (64 - config.keys.leading_zeros()).saturating_sub(16);
        let dry = self.crew.run(0, &Job::Dry { ops })?;
        let stats = self.table.stats()?;
        let each = |bytes: u64| bytes as f64 / config.keys as f64;
        Ok(json!({
            "summary": "kv", "keys": config.keys, "procs": config.procs,
            "key_bytes": config.key_bytes, "value_bytes": config.value_bytes,
            "batch": config.batch, "distribution": config.dist, "cpu": config.cpu,
            "pinned": config.pin, "repeat": config.repeat,
            "cpus": std::thread::available_parallelism().map_or(0, usize::from),
            "shards": stats.shards, "max_size": stats.max_size,
            "resident_bytes": stats.resident_bytes, "bytes_per_key": each(stats.resident_bytes),
            "resident_bytes_after_put": after_put_bytes,
            "bytes_per_key_after_put": each(after_put_bytes),
            "payload_bytes": stats.payload_bytes, "index_bytes": stats.index_bytes,
            "index_load": stats.index_load, "slab_bytes": stats.slab_bytes,
            "large_bytes": stats.large_bytes, "free_bytes": stats.free_bytes,
            "harness_ns": (dry.end_ns - dry.begin_ns) as f64 / dry.ops as f64,
            "timer_ns": reading_ns(),
        }))
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
