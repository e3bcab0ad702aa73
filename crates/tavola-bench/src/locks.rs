//! Pairs of taking and releasing a named lock or a permit, by one thread and by several at once.
//!
//! Each round measures every kind and every number of threads, one right after the other, so that
//! a machine that is slower in one minute than in the next is as slow for all of them. Threads of
//! one process stand for processes: all they contend for is in the memory of the table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tavola::{NamedLock, Semaphore};

use crate::scratch::Scratch;
use crate::stats::Spread;
use crate::{Emit, Error, Place, Result};

const HELP: &str = "\
A pair is one taking and one releasing. Kinds: lock (exclusive), shared (a lock of readers),
semaphore (of one permit), and mutex, the lock of Rust's library among the threads of one process,
which knows nothing of processes that die. What lock, semaphore and mutex guard is a counter that
is read and written in two steps: one lost count ends the run with an error.

mops are millions of pairs a second of all threads together; cpu_mops are those of a second on a
processor, which other work on the machine changes less; scale is mops divided by those of the
second number of threads in the same round (medians of the rounds), with the least and the most.

Examples:
  tavola-bench locks
  tavola-bench locks --threads 1,2,16 --repeat 15
  tavola-bench locks --json | jq 'select(.kind == \"lock\")'";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "kind", "threads", "mops", "cpu_mops", "scale", "least", "most",
];

/// Take and release named locks and semaphores
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Numbers of threads [default: 1, one a CPU, four a CPU]
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Vec<u32>,
    /// Milliseconds of each run
    #[arg(long, value_name = "MS", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=60_000))]
    millis: u64,
    /// Rounds; medians count
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Pairs between two looks at whether the run is over.
const STRIDE: u64 = 64;

const KINDS: [&str; 4] = ["lock", "shared", "semaphore", "mutex"];

/// What is taken and released.
struct Things {
    lock: NamedLock,
    shared: NamedLock,
    semaphore: Semaphore,
    mutex: Mutex<()>,
    /// Counted up in two steps by those that exclude each other.
    guarded: AtomicU64,
}

impl Things {
    fn pair(&self, kind: &str) -> Result<()> {
        match kind {
            "lock" => self.lock.lock().map(|_held| self.count())?,
            "shared" => self.shared.share().map(drop)?,
            "semaphore" => self.semaphore.acquire().map(|_held| self.count())?,
            _ => {
                let _held = self.mutex.lock();
                self.count();
            }
        }
        Ok(())
    }

    fn count(&self) {
        let count = self.guarded.load(Ordering::Relaxed);
        self.guarded.store(count + 1, Ordering::Relaxed);
    }
}

/// Millions of pairs a second: of all threads, and of a second on a processor.
#[derive(Clone, Copy)]
struct Rates {
    mops: f64,
    cpu_mops: f64,
}

pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let threads = match &config.threads[..] {
        [] => vec![1, cpus.max(2), 4 * cpus],
        asked => asked.to_vec(),
    };
    let (_scratch, table) = Scratch::create(&config.place)?;
    let things = Things {
        lock: table.named_lock("lock")?,
        shared: table.named_lock("shared")?,
        semaphore: table.semaphore("semaphore", 1)?,
        mutex: Mutex::new(()),
        guarded: AtomicU64::new(0),
    };
    let mut rounds = Vec::new();
    for _ in 0..config.repeat {
        let mut round = Vec::new();
        for kind in KINDS {
            for count in &threads {
                round.push(measure(config, &things, kind, *count)?);
            }
        }
        rounds.push(round);
    }
    // Several threads are held against the first number of several.
    let base = usize::from(threads.len() > 1);
    for (number, kind) in KINDS.iter().enumerate() {
        for (place, count) in threads.iter().enumerate() {
            let first = number * threads.len();
            let rate = |of: fn(&Rates) -> f64| {
                Spread::of(rounds.iter().map(|round| of(&round[first + place]))).median
            };
            let scale = Spread::of(
                rounds
                    .iter()
                    .map(|round| round[first + place].mops / round[first + base].mops),
            );
            emit(&json!({
                "kind": kind, "threads": count, "mops": rate(|rates| rates.mops),
                "cpu_mops": rate(|rates| rates.cpu_mops), "scale": scale.median,
                "least": scale.least, "most": scale.most, "rounds": config.repeat,
            }))?;
        }
    }
    Ok(())
}

fn measure(config: &Config, things: &Things, kind: &str, threads: u32) -> Result<Rates> {
    let (is_over, start) = (AtomicBool::new(false), Barrier::new(threads as usize + 1));
    things.guarded.store(0, Ordering::Relaxed);
    let work = || -> Result<(u64, Duration)> {
        start.wait();
        let (begin, mut pairs) = (processor_time(), 0);
        while !is_over.load(Ordering::Relaxed) {
            (0..STRIDE).try_for_each(|_| things.pair(kind))?;
            pairs += STRIDE;
        }
        Ok((pairs, processor_time() - begin))
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        start.wait();
        let begin = Instant::now();
        thread::sleep(Duration::from_millis(config.millis));
        is_over.store(true, Ordering::Relaxed);
        let (mut pairs, mut on_cpu) = (0, Duration::ZERO);
        for thread in all {
            let ended = thread.join().map_err(|_| Error::wrong(kind, "a panic"))?;
            let (own, time) = ended?;
            pairs += own;
            on_cpu += time;
        }
        let seconds = begin.elapsed().as_secs_f64();
        let counted = things.guarded.load(Ordering::Relaxed);
        if kind != "shared" && counted != pairs {
            let what = format!("{counted} were counted under it in {pairs} pairs");
            return Err(Error::wrong(kind, what));
        }
        let millions = pairs as f64 / 1e6;
        Ok(Rates {
            mops: millions / seconds,
            cpu_mops: millions / on_cpu.as_secs_f64().max(1e-9),
        })
    })
}

/// How long this thread has been on a processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
