//! `tavola-bench log`: arguments.

use std::path::PathBuf;

use tavola_bench::Result;
use tavola_bench::log::{self, Config, Way};
use tavola_program::units::{parse_count, parse_size};

use super::table::Printer;
use super::worker;

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

/// Lines that processes log, over a log in shared memory, files, sockets and others
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
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
    #[arg(long, value_name = "WAY", value_delimiter = ',')]
    ways: Vec<Way>,
    /// All processes stay on this CPU [default: where the system puts them]
    #[arg(long, value_name = "C")]
    cpu: Option<usize>,
    /// Run all ways so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R", default_value_t = 3)]
    repeat: u32,
    /// The directory for the log [default: where tables live]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The directory for the files [default: where the log is]
    #[arg(long, value_name = "DIR")]
    file_dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

const COLUMNS: &[&str] = &[
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

pub fn run(args: Args) -> Result<()> {
    let config = Config {
        worker: worker("logger")?,
        dir: args.dir,
        file_dir: args.file_dir,
        lines: args.lines,
        text_bytes: args.text_bytes,
        procs: args.procs,
        threads: args.threads,
        log_bytes: args.log_bytes,
        ways: args.ways,
        cpu: args.cpu,
        repeat: args.repeat,
    };
    Printer::new(args.json, COLUMNS).each(|emit| log::run(&config, emit))
}
