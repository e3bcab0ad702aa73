//! What is measured, and its bounds.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tavola_program::units::{parse_count, parse_size};

use super::texts;
use crate::{Error, Result};

/// How lines are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A log without a drain, that keeps the last lines and shows none.
    TavolaFlight,
    /// A log with a drain, that makes writers wait when it is full.
    TavolaBlock,
    /// A log with a drain, that drops the oldest lines when it is full.
    TavolaDrop,
    /// One write(2) a line to a file.
    Write,
    /// One datagram a line, as syslog(3) sends them.
    Syslog,
    /// tracing-appender's thread, a plain file behind it.
    TracingAppender,
    /// tracing-appender's thread, a buffer before the file.
    TracingBuffered,
    /// Events of `tracing`, printed by tracing-subscriber, to tracing-appender's thread.
    Tracing,
}

impl Way {
    /// Why this program cannot measure it, if it cannot.
    pub fn left_out(self) -> Option<&'static str> {
        match self {
            Self::TracingAppender | Self::TracingBuffered | Self::Tracing
                if !cfg!(feature = "peers") =>
            {
                Some(
                    "built without it; to have it: \
                     cargo build --release --package tavola-bench --features peers",
                )
            }
            _ => None,
        }
    }

    /// Whether lines go through a log in shared memory.
    pub fn has_log(self) -> bool {
        matches!(
            self,
            Self::TavolaFlight | Self::TavolaBlock | Self::TavolaDrop
        )
    }
}

const HELP: &str = "\
Processes log lines whose texts are formatted beforehand: what is measured is what a line costs
its writer, with its time, level, process and thread, and how fast lines come to their file.

Ways:
  tavola-flight     a log in shared memory without a drain, showing nothing on standard error:
                    it keeps the last lines; the others are overwritten, as is meant
  tavola-block      a drain in a process of its own writes to a file; a full log makes writers wait
  tavola-drop       the same; a full log drops its oldest lines
  write             the writer stamps the line and writes it to a file, one write(2) each
  syslog            the same, one datagram each to a Unix socket, as syslog(3) does; a process of
                    this program receives them and writes them to a file. No syslogd is asked: a
                    real one does more
  tracing-appender  the writer stamps the line and hands it to tracing-appender's thread
                    (non_blocking, not lossy), which writes it to a file
  tracing-buffered  the same, with a buffer of 256 KiB before the file
  tracing           an event of tracing, printed by tracing-subscriber's fmt, to the same thread
                    as tracing-appender's

All but 'tracing', which has its own, print lines by the same code. Files are opened to append,
have no name, and are gone at the end. Every line is read where it ends and compared with what
was logged: lines that are missing or there twice end the run with exit code 2. What tavola-drop
says it dropped is counted, too.

writer_ns is the mean of all calls, p50_ns to max_ns are of one call in 61, timed by itself, and
contain one reading of the clock. writer_mlps counts to the end of the last writer, all_mlps until
the last line is in its file; lines that were dropped do not count there.

The last three are there in a program built with the feature 'peers'.

JSON has phase, way, procs, threads, lines, text_bytes, log_bytes, writer_ns, p50_ns to max_ns,
max_less_wait_ns (the slowest without the time its thread stood in the run queue), timed (calls),
timer_ns (one reading of the clock), writer_mlps, all_mlps, kept (lines at their place), dropped,
and runs_writer_ns, runs_writer_mlps and runs_all_mlps of all repetitions; or way and left_out,
which says why.

Examples:
  tavola-bench log
  tavola-bench log --ways tavola-block,write --repeat 9
  tavola-bench log --procs 4 --threads 2 --log-bytes 64M
  tavola-bench log --file-dir /var/tmp                      files on a disk
  tavola-bench log --json | jq 'select(.way) | [.way, .writer_ns, .all_mlps]'";

/// What people see of a line.
pub const COLUMNS: &[&str] = &[
    "way",
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

/// Lines that processes log, over a log in shared memory, files, sockets and others
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Lines of all together; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "2M", value_parser = parse_count)]
    pub lines: u64,
    /// Bytes of a line's text
    #[arg(long, value_name = "B", default_value_t = 72)]
    pub text_bytes: usize,
    /// Processes that log
    #[arg(long, short, value_name = "P", default_value_t = 1)]
    pub procs: u32,
    /// Threads of each that log
    #[arg(long, short, value_name = "T", default_value_t = 1)]
    pub threads: u32,
    /// Room of the log in shared memory, such as 64M
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size)]
    pub log_bytes: u64,
    /// How they log, with commas between [default: all]
    #[arg(long, value_name = "WAY", value_delimiter = ',')]
    pub ways: Vec<Way>,
    /// All processes stay on this CPU [default: where the system puts them]
    #[arg(long, value_name = "C")]
    pub cpu: Option<usize>,
    /// Run all ways so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R", default_value_t = 3)]
    pub repeat: u32,
    /// The directory for the log [default: where tables live]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The directory for the files [default: where the log is]
    #[arg(long, value_name = "DIR")]
    pub file_dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    /// What a line of a log has room for.
    const MOST_TEXT: usize = 16_360;

    /// Those that were asked for, in the order they run.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let all = Way::value_variants().iter().copied();
        all.filter(|one| self.ways.is_empty() || self.ways.contains(one))
    }

    pub(super) fn writers(&self) -> u32 {
        self.procs * self.threads
    }

    /// Lines of each writer.
    pub(super) fn share(&self) -> u64 {
        self.lines.div_ceil(u64::from(self.writers()))
    }

    /// Lines of all writers.
    pub(super) fn all(&self) -> u64 {
        self.share() * u64::from(self.writers())
    }

    /// # Errors
    ///
    /// `BadOption` when a number is out of bounds.
    pub fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        let writers = self.procs.checked_mul(self.threads);
        match self {
            _ if !(1..=1 << 32).contains(&self.lines) => bad("lines", "1 to 2^32 can be logged"),
            _ if !(texts::FEWEST_BYTES..=Self::MOST_TEXT).contains(&self.text_bytes) => {
                bad("text-bytes", "8 to 16360 are needed")
            }
            _ if self.procs == 0 => bad("procs", "at least one is needed"),
            _ if self.threads == 0 => bad("threads", "at least one is needed"),
            _ if writers.is_none_or(|all| all > texts::MOST_WRITERS) => {
                bad("threads", "at most 256 threads can log, of all processes")
            }
            _ if self.repeat == 0 => bad("repeat", "at least one run is needed"),
            _ => Ok(()),
        }
    }
}
