//! Lines that processes log, until each is where its way puts it, over a log and its peers.
//!
//! ```text
//! texts ──→ the writer's call ──→ who carries lines on ──→ place, where lines are counted
//!           └── writer_ns ──┘                              ↑
//!           └────────────────── all_mlps ──────────────────┘
//! ```
//!
//! Each of so many threads of so many processes (`writer`) logs its share of the lines. Formatting
//! a text is kept out: 256 of them are made before, and logged in turn. What a way must do to give
//! a line its time, its level and its writer counts.
//!
//! Afterwards every line is read at its place, and is one of the texts (`tally`). Of a way that
//! loses nothing each text is there as often as it was logged; tavola-drop's lines and those that
//! it says were dropped are all together; tavola-flight's are each writer's last.

mod tally;
mod writer;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tavola::{Log, LogDrain, LogOptions, LogText, Overload};
use tavola_program::units::{parse_count, parse_size};

pub use writer::work;

use self::tally::{FEWEST_BYTES, MOST_WRITERS, Tally};
use self::writer::{Setup, Wrote};
use crate::clock::{monotonic_ns, reading_ns};
use crate::crew::{Crew, WITHOUT_PEERS};
use crate::duty::stay_on;
use crate::latency::{Latency, Summary};
use crate::scratch::{Scratch, nameless_file};
use crate::stats::median;
use crate::table::joined;
use crate::{Emit, Error, Result};

/// More time before the common start: threads are begun meanwhile.
const LEAD_NS: u64 = 2_000_000;
/// Lines found in a pass, from which on the next begins at once: as `tavola log drain` does.
const MANY: usize = 1000;
/// How long a drain sleeps at most when it has found fewer: so it learns soon that all is over.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// What a line of a log has room for.
const MOST_TEXT: usize = 16_360;

/// How lines are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Method {
    /// A log without a drain, that keeps the last lines and shows none.
    TavolaFlight,
    /// A log with a drain, that makes writers wait when it is full.
    TavolaBlock,
    /// A log with a drain, that drops the oldest lines when it is full.
    TavolaDrop,
    /// One write(2) a line to a file.
    Write,
    /// tracing-appender's thread.
    TracingAppender,
    /// Events of `tracing`, printed by tracing-subscriber, to tracing-appender's thread.
    Tracing,
}

impl Method {
    fn is_here(self) -> bool {
        cfg!(feature = "peers") || !matches!(self, Self::TracingAppender | Self::Tracing)
    }

    /// How its log, in shared memory, is when it is full.
    fn overload(self) -> Option<Overload> {
        match self {
            Self::TavolaFlight | Self::TavolaDrop => Some(Overload::DropOldest),
            Self::TavolaBlock => Some(Overload::Block),
            _ => None,
        }
    }
}

const HELP: &str = "\
Processes log lines whose texts are formatted beforehand: what is measured is what a line costs
its writer, with its time, level, process and thread, and how fast lines come to their file.

Ways:
  tavola-flight     a log in shared memory without a drain, showing nothing on standard error:
                    it keeps the last lines; the others are overwritten, as is meant
  tavola-block      a drain in another process writes to a file; a full log makes writers wait
  tavola-drop       the same; a full log drops its oldest lines
  write             the writer stamps the line and writes it to a file, one write(2) each
  tracing-appender  the writer stamps the line and hands it to tracing-appender's thread
                    (non_blocking, not lossy), which writes it to a file
  tracing           an event of tracing, printed by tracing-subscriber's fmt, to the same thread
                    as tracing-appender's

All but 'tracing', which has its own, print lines by the same code. Files are opened to append,
have no name, and are gone at the end. Every line is read where it ends and compared with what
was logged: lines that are missing or there twice end the run with exit code 2. What tavola-drop
says it dropped is counted, too. The last two are there in a program with the feature 'peers'.

writer_ns is the mean of all calls, p50_ns to max_ns are of one call in 61, timed by itself, and
contain one reading of the clock. writer_mlps counts to the end of the last writer, all_mlps until
the last line is in its file; lines that were dropped do not count there.

JSON has phase, way, procs, threads, lines, text_bytes, log_bytes, writer_ns, p50_ns to max_ns,
max_less_wait_ns (the slowest without the time its thread stood in the run queue), timed (calls),
timer_ns (one reading of the clock), writer_mlps, all_mlps, kept (lines at their place), dropped,
and runs_writer_ns of all repetitions; or way and left_out, which says why.

Examples:
  tavola-bench log
  tavola-bench log --methods tavola-block,write --repeat 9
  tavola-bench log --procs 4 --threads 2 --log-bytes 64M
  tavola-bench log --file-dir /var/tmp                      files on a disk
  tavola-bench log --json | jq 'select(.way) | [.way, .writer_ns, .all_mlps]'";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "method",
    "writer_ns",
    "p50_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "writer_mlps",
    "all_mlps",
    "lines",
    "dropped",
    "runs_writer_ns",
];

/// Lines that processes log, over a log in shared memory, files and others
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Lines of all together; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "2M", value_parser = parse_count)]
    lines: u64,
    /// Bytes of a line's text
    #[arg(long, value_name = "B", default_value_t = 72)]
    text_bytes: usize,
    /// Processes that log
    #[arg(long, short, value_name = "P", default_value_t = 1)]
    procs: u32,
    /// Threads of each that log
    #[arg(long, short, value_name = "T", default_value_t = 1)]
    threads: u32,
    /// Room of the log in shared memory, such as 64M
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size)]
    log_bytes: u64,
    /// How they log, with commas between [default: all]
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    methods: Vec<Method>,
    /// All stay on this CPU [default: where the system puts them]
    #[arg(long, value_name = "C")]
    cpu: Option<usize>,
    /// Run all methods so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// The directory for the log [default: where tables live]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The directory for the files [default: where the log is]
    #[arg(long, value_name = "DIR")]
    file_dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    fn writers(&self) -> u32 {
        self.procs * self.threads
    }

    /// Lines of each writer.
    fn share(&self) -> u64 {
        self.lines.div_ceil(u64::from(self.writers()))
    }

    /// Lines of all writers.
    fn all(&self) -> u64 {
        self.share() * u64::from(self.writers())
    }

    fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        let writers = self.procs.checked_mul(self.threads);
        match self {
            _ if !(1..=1 << 32).contains(&self.lines) => bad("lines", "1 to 2^32 can be logged"),
            _ if !(FEWEST_BYTES..=MOST_TEXT).contains(&self.text_bytes) => {
                bad("text-bytes", "8 to 16360 are needed")
            }
            _ if !writers.is_some_and(|all| (1..=MOST_WRITERS).contains(&all)) => {
                bad("threads", "1 to 256 threads can log, of all processes")
            }
            _ => Ok(()),
        }
    }
}

/// Runs it; `emit` is given each line as soon as the last repetition of its way has run.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    config.check()?;
    let all = Method::value_variants().iter().copied();
    let asked = all.filter(|method| config.methods.is_empty() || config.methods.contains(method));
    let (there, out): (Vec<Method>, Vec<Method>) = asked.partition(|method| method.is_here());
    for method in out {
        emit(&json!({"phase": "log", "method": method, "left_out": WITHOUT_PEERS}))?;
    }
    let mut scores: Vec<Vec<Score>> = there.iter().map(|_| Vec::new()).collect();
    for turn in 1..=config.repeat {
        for (&method, scores) in there.iter().zip(&mut scores) {
            scores.push(play(config, method)?);
            if turn == config.repeat {
                emit(&line(config, method, scores))?;
            }
        }
    }
    Ok(())
}

/// What came out of a way, once.
struct Score {
    /// Mean nanoseconds of a line, in its writer's own time.
    writer_ns: f64,
    /// Million lines a second, from the common start to the end of the last writer.
    writer_mlps: f64,
    /// Those that came to the file, until the last was there.
    all_mlps: Option<f64>,
    /// Lines found at their place.
    kept: u64,
    /// Of single calls.
    latencies: Vec<Summary>,
}

fn line(config: &Config, method: Method, scores: &[Score]) -> Value {
    let of = |figure: fn(&Score) -> f64| scores.iter().map(figure).collect::<Vec<f64>>();
    let rates: Vec<f64> = scores.iter().filter_map(|score| score.all_mlps).collect();
    let latency = Latency::merged(scores.iter().flat_map(|score| &score.latencies));
    let kept = median(of(|score| score.kept as f64)) as u64;
    let line = json!({
        "phase": "log", "method": method, "procs": config.procs, "threads": config.threads,
        "lines": config.all(), "text_bytes": config.text_bytes,
        "log_bytes": method.overload().map(|_| config.log_bytes),
        "writer_ns": median(of(|score| score.writer_ns)), "timed": latency.count(),
        "timer_ns": reading_ns(), "writer_mlps": median(of(|score| score.writer_mlps)),
        "all_mlps": (!rates.is_empty()).then(|| median(rates)), "kept": kept,
        "dropped": config.all() - kept, "runs_writer_ns": of(|score| score.writer_ns),
    });
    joined(line, &latency.percentiles())
}

/// Logs all lines by a way, once, and counts them where they end.
fn play(config: &Config, method: Method) -> Result<Score> {
    let log = method.overload().map(|overload| {
        let options = LogOptions::new().bytes(config.log_bytes).overload(overload);
        Scratch::create_log(config.dir.as_deref(), &options)
    });
    let mut log = log.transpose()?;
    let dir = config.file_dir.as_deref().or(config.dir.as_deref());
    let file = (method != Method::TavolaFlight).then(|| nameless_file(dir));
    let file = file.transpose()?;
    let drain = match (&log, &file) {
        (Some((_, log)), Some(file)) => Some((log.drain()?, file.try_clone())),
        _ => None,
    };
    let to = match (&log, &file) {
        (Some((_, log)), _) => std::path::absolute(log.path()),
        // Where others find a file that has no name.
        (None, file) => {
            let (leader, file) = (std::process::id(), file.as_ref().map(AsRawFd::as_raw_fd));
            Ok(PathBuf::from(format!(
                "/proc/{leader}/fd/{}",
                file.unwrap_or(-1)
            )))
        }
    };
    let mut crew: Crew<u64, Wrote> = Crew::new("log");
    let to = to.map_err(Error::io("finding the log"))?;
    for process in 0..config.procs {
        crew.hire(
            "logger",
            &Setup {
                leader_pid: std::process::id(),
                cpu: config.cpu,
                method,
                to: to.clone(),
                first: process * config.threads,
                threads: config.threads,
                share: config.share(),
                text_bytes: config.text_bytes,
            },
        )?;
    }
    (0..crew.len()).try_for_each(|at| crew.ready(at))?;
    if let Some((scratch, _)) = &mut log {
        scratch.unlink()?;
    }
    let start_ns = crew.start_ns() + LEAD_NS;
    let is_over = AtomicBool::new(false);
    let (is_over, cpu) = (&is_over, config.cpu);
    let (wrote, carried) = thread::scope(|scope| {
        let carry = move |(drain, file): (LogDrain, std::io::Result<File>)| {
            stay_on(cpu)?;
            carry(drain, file.map_err(Error::io("opening the file"))?, is_over)
        };
        let drain = drain.map(|both| scope.spawn(move || carry(both)));
        let wrote = crew.run_all(crew.len(), &start_ns);
        is_over.store(true, Ordering::Relaxed);
        let carried = drain.map(|drain| drain.join().expect("the drain does not panic"));
        (wrote, carried)
    });
    let (wrote, carried) = (wrote?, carried.transpose()?);
    crew.end()?;
    let log = log.as_ref().map(|(_, log)| log);
    let kept = kept(config, method, log, file.as_ref(), carried)?;
    let placed_ns = file.as_ref().map(|_| carried.map(|carried| carried.end_ns));
    Ok(score(config, start_ns, wrote, placed_ns, kept))
}

/// Counts the lines where they end, which must be as they were logged.
fn kept(
    config: &Config,
    method: Method,
    log: Option<&Log>,
    file: Option<&File>,
    carried: Option<Carried>,
) -> Result<u64> {
    let mut tally = Tally::new(config.writers(), config.text_bytes);
    match (file, log) {
        (Some(file), _) => tally.add_file(file)?,
        (None, Some(log)) => {
            let mut reader = log.reader();
            reader.lines().try_for_each(|line| tally.add(line.text))?;
            tally.check_last(config.share())?;
        }
        (None, None) => {}
    }
    let dropped = log.map_or(0, Log::dropped);
    match method {
        Method::TavolaFlight | Method::TavolaDrop => tally.check_rest(config.share(), dropped)?,
        _ if dropped > 0 => return Err(Error::wrong("log", format!("{dropped} lines dropped"))),
        _ => tally.check_all(config.share())?,
    }
    if let Some(carried) = carried.filter(|carried| carried.lines != tally.total) {
        let (lines, total) = (carried.lines, tally.total);
        let what = format!("{lines} lines were written out and {total} are there");
        return Err(Error::wrong("log", what));
    }
    Ok(tally.total)
}

/// Lines are at their place when the last was carried there, if somebody carries them, and its
/// writer knows that it has written it.
fn score(
    config: &Config,
    start_ns: u64,
    wrote: Vec<Wrote>,
    placed_ns: Option<Option<u64>>,
    kept: u64,
) -> Score {
    let rate = |lines: u64, end_ns: u64| lines as f64 * 1e3 / (end_ns - start_ns).max(1) as f64;
    let handed_ns = wrote.iter().map(|process| process.handed_ns).max();
    let threads = || wrote.iter().flat_map(|process| &process.threads);
    let own_ns: u64 = threads().map(|one| one.end_ns - one.begin_ns).sum();
    let written_ns = threads().map(|one| one.end_ns).max().unwrap_or(start_ns);
    let placed_ns = placed_ns.map(|carried_ns| carried_ns.or(handed_ns).unwrap_or(start_ns));
    Score {
        writer_ns: own_ns as f64 / config.all() as f64,
        writer_mlps: rate(config.all(), written_ns),
        all_mlps: placed_ns.map(|placed_ns| rate(kept, placed_ns.max(written_ns))),
        kept,
        latencies: threads().map(|one| one.latency.clone()).collect(),
    }
}

/// What a drain did.
#[derive(Clone, Copy)]
struct Carried {
    lines: u64,
    /// When the last of them was in the file.
    end_ns: u64,
}

/// Writes out what comes, until the writers have ended.
fn carry(mut drain: LogDrain, file: File, is_over: &AtomicBool) -> Result<Carried> {
    let mut sink = LogText::new(file);
    let (mut lines, mut end_ns) = (0, monotonic_ns());
    loop {
        let is_last = is_over.load(Ordering::Relaxed);
        let found = match is_last {
            true => drain.finish(&mut sink)?,
            false => drain.pass(&mut sink)?,
        };
        if found > 0 {
            lines += found as u64;
            end_ns = monotonic_ns();
        }
        if is_last {
            return Ok(Carried { lines, end_ns });
        }
        if found < MANY {
            drain.wait(POLL_INTERVAL);
        }
    }
}
