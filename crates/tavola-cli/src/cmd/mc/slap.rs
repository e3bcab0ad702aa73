//! `tavola mc slap`: load on a fleet, and how it bears it; what memcslap is.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::builder::RangedI64ValueParser;
use serde_json::Map;
use tavola_client::{Batch, Client, GetOptions, Outcome, Sink, StoreOptions};

use super::ended;
use super::entries::fault;
use super::fleet::FleetArgs;
use super::{complain, failure};
use crate::error::CliError;
use crate::output::Output;
use crate::progress;
use crate::units::{self, count};
use tavola_program::units::parse_count;

const EXAMPLES: &str = "\
Examples:
  tavola mc slap --servers 10.0.0.1,10.0.0.2
  tavola mc slap --seconds 10 --threads 4 --batch 100 --gets 90
  tavola mc slap --value-size 4K --keys 1M --json

Sets and gets keys that begin with 'tavola-slap:' and expire after an hour, and prints
requests a second, the times of a batch, and how many gets found their key. Each thread
waits for a batch to be answered before it sends the next. The exit code is 2 if a request
failed.";

/// Measure the servers by gets and sets
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How long
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::parse_time)]
    seconds: Duration,
    /// How many threads send requests
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = threads())]
    threads: u16,
    /// How many requests are sent at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = batch())]
    batch: u32,
    /// How many of a hundred requests are gets
    #[arg(long, value_name = "PERCENT", default_value_t = 90, value_parser = percent())]
    gets: u8,
    /// How many keys
    #[arg(long, value_name = "N", default_value = "10000", value_parser = parse_count)]
    keys: u64,
    /// The bytes of a value
    #[arg(long, value_name = "SIZE", default_value = "100", value_parser = units::parse_size)]
    value_size: u64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=1024)
}

fn batch() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=100_000)
}

fn percent() -> RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(0..=100)
}

/// The TTL of the keys.
const TTL_S: i32 = 3600;
/// How often progress is shown.
const TICK: Duration = Duration::from_millis(100);

/// What threads did.
#[derive(Default)]
struct Figures {
    gets: u64,
    hits: u64,
    sets: u64,
    failed: u64,
    /// What went wrong first.
    why: Option<String>,
    /// The microseconds of each batch.
    times_us: Vec<u32>,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    if args.keys == 0 || args.seconds.is_zero() {
        return Err(failure(
            "nothing is to be done; give at least 1 key and 1 second",
        ));
    }
    let value_size = usize::try_from(args.value_size).unwrap_or(usize::MAX);
    let value = vec![b'v'; value_size.min(128 << 20)];
    let running = Running::default();
    let begin = Instant::now();
    let all: Vec<Figures> = thread::scope(|scope| {
        let start = |number: u16| {
            let (client, value, running) = (&client, &value, &running);
            scope.spawn(move || work(args, client, value, u64::from(number), running))
        };
        let threads: Vec<_> = (0..args.threads).map(start).collect();
        running.wait(args.seconds);
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|figures| figures.unwrap_or_default()).collect()
    });
    let time_s = begin.elapsed().as_secs_f64();
    let mut sum = Figures::default();
    for one in all {
        sum.gets += one.gets;
        sum.hits += one.hits;
        sum.sets += one.sets;
        sum.failed += one.failed;
        sum.why = sum.why.or(one.why);
        sum.times_us.extend(one.times_us);
    }
    sum.times_us.sort_unstable();
    print(args, &sum, time_s)?;
    if let Some(why) = &sum.why {
        complain(format!(
            "{} requests failed; the first: {why}",
            count(sum.failed)
        ));
    }
    Ok(ended(0, usize::from(sum.failed > 0)))
}

/// The state that threads share.
#[derive(Default)]
struct Running {
    is_over: AtomicBool,
    /// The requests that were sent.
    requests: AtomicU64,
}

impl Running {
    /// Waits so long, shows how far it is, and ends the work.
    fn wait(&self, time: Duration) {
        let begin = Instant::now();
        let bar = progress::over_time(time);
        while let Some(left) = time.checked_sub(begin.elapsed()) {
            let requests = count(self.requests.load(Ordering::Relaxed));
            let (done, all) = ((time - left).as_secs(), time.as_secs_f64());
            bar.set_message(format!("{done} of {all} s, {requests} requests"));
            bar.set_position((time - left).as_millis() as u64);
            thread::sleep(left.min(TICK));
        }
        bar.finish_and_clear();
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// What one thread does until it is over.
fn work(args: &Args, client: &Client, value: &[u8], number: u64, running: &Running) -> Figures {
    let mut figures = Figures::default();
    // Xorshift, by Marsaglia; each thread has its own numbers.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number + 1);
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let options = StoreOptions::ttl(TTL_S);
    while !running.is_over.load(Ordering::Relaxed) {
        let mut key = || format!("tavola-slap:{}", random() % args.keys).into_bytes();
        let keys: Vec<Vec<u8>> = (0..args.batch).map(|_| key()).collect();
        let mut batch = Batch::new();
        for key in &keys {
            match random() % 100 < u64::from(args.gets) {
                true => batch.get(key, GetOptions::default()),
                false => batch.set(key, value, options),
            };
        }
        let begin = Instant::now();
        let mut counter = Counter {
            client,
            figures: &mut figures,
            room: Vec::new(),
        };
        client.execute(&mut batch, &mut counter);
        let requests = u64::from(args.batch);
        running.requests.fetch_add(requests, Ordering::Relaxed);
        let time_us = begin.elapsed().as_micros();
        figures
            .times_us
            .push(u32::try_from(time_us).unwrap_or(u32::MAX));
    }
    figures
}

/// Counts outcomes; values go to one place.
struct Counter<'f> {
    client: &'f Client,
    figures: &'f mut Figures,
    room: Vec<u8>,
}

impl Sink for Counter<'_> {
    fn room(&mut self, _index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        self.room.resize(len, 0);
        Some(&mut self.room)
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        match outcome {
            Outcome::Hit { .. } => {
                self.figures.gets += 1;
                self.figures.hits += 1;
            }
            Outcome::Miss => self.figures.gets += 1,
            Outcome::Stored => self.figures.sets += 1,
            outcome => {
                self.figures.failed += 1;
                if self.figures.why.is_none() {
                    self.figures.why = fault(self.client, Some(&outcome));
                }
            }
        }
    }
}

fn print(args: &Args, sum: &Figures, time_s: f64) -> Result<(), CliError> {
    let at = |share: f64| {
        let last = sum.times_us.len().saturating_sub(1) as f64;
        sum.times_us
            .get((last * share) as usize)
            .copied()
            .unwrap_or(0)
    };
    let per_second = ((sum.gets + sum.sets) as f64 / time_s) as u64;
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(at);
    let mut out = Output::new();
    if args.json {
        let mut document = Map::new();
        document.insert("seconds".to_string(), time_s.into());
        let numbers = [
            ("requests_per_second", per_second),
            ("gets", sum.gets),
            ("hits", sum.hits),
            ("sets", sum.sets),
            ("failed", sum.failed),
            ("batch_p50_us", p50.into()),
            ("batch_p99_us", p99.into()),
            ("batch_max_us", most.into()),
        ];
        for (name, number) in numbers {
            document.insert(name.to_string(), number.into());
        }
        out.json(document)?;
    } else {
        let (threads, batch) = (args.threads, args.batch);
        out.line(format!(
            "{threads} threads, {batch} requests at once, {time_s:.1} s"
        ))?;
        out.line(format!("{} requests a second", count(per_second)))?;
        let (gets, hits) = (count(sum.gets), count(sum.hits));
        out.line(format!(
            "{gets} gets, of which {hits} found their key; {} sets",
            count(sum.sets)
        ))?;
        out.line(format!(
            "a batch took {p50} us (median), {p99} us (99 %), {most} us at most"
        ))?;
    }
    out.finish()
}
