//! `tavola-bench log`: arguments, and the results as a table for people.

use std::path::PathBuf;

use tavola_bench::Result;
use tavola_bench::log::{self, Case, Config, Line, Way};
use tavola_program::units::{count, counted, parse_count, parse_size};

use super::{json, show, show_each, worker};

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

'ns a line' is the mean of all calls, 'p50' to 'max' are of one call in 61, timed by itself, and
contain one reading of the clock. 'M/s' counts to the end of the last writer, 'M/s all told' until
the last line is in its file; lines that were dropped do not count there. In brackets stand least
and most of 'ns a line' and of 'M/s all told', or of 'M/s' where there is no file.

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

pub fn run(args: Args) -> Result<()> {
    let as_json = args.json;
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
    config.check()?;
    if !as_json {
        show(header(&config))?;
    }
    show_each(
        |emit| log::run(&config, emit),
        |line| if as_json { json(line) } else { human(line) },
    )
}

/// What is measured, and the head of the table.
fn header(config: &Config) -> String {
    let procs = match config.procs {
        1 => "1 process".to_owned(),
        procs => format!("{} processes", count(procs.into())),
    };
    let threads = match config.threads {
        1 => String::new(),
        threads => format!(" of {}", counted(threads.into(), "thread")),
    };
    let place = match config.cpu {
        Some(cpu) => format!(", all on CPU {cpu}"),
        None => String::new(),
    };
    format!(
        "{} of {} B by {procs}{threads}{place}\n\n\
         {:<16}{:>10}{:>9}{:>11}{:>12}{:>13}{:>7}{:>14}{:>12}  {}",
        counted(config.lines, "line"),
        config.text_bytes,
        "way",
        "ns a line",
        "p50",
        "p99",
        "p99.9",
        "max",
        "M/s",
        "M/s all told",
        "dropped",
        "(least–most)",
    )
}

fn human(line: &Line) -> String {
    match line {
        Line::Case(line) => case(line),
        Line::LeftOut(line) => format!("{:<16}  left out: {}", line.way.name(), line.left_out),
    }
}

fn case(line: &Case) -> String {
    let all = match line.all_mlps {
        Some(rate) => format!("{rate:.2}"),
        None => "–".to_owned(),
    };
    let dropped = match line.way {
        Way::TavolaFlight => "–".to_owned(),
        _ => count(line.dropped),
    };
    format!(
        "{:<16}{:>10.0}{:>9}{:>11}{:>12}{:>13}{:>7.2}{all:>14}{dropped:>12}{}",
        line.way.name(),
        line.writer_ns,
        count(line.latency.p50_ns),
        count(line.latency.p99_ns),
        count(line.latency.p999_ns),
        count(line.latency.max_ns),
        line.writer_mlps,
        ranges(line),
    )
}

/// Of more than one repetition; the rate is that of the writers where lines come to no file.
fn ranges(line: &Case) -> String {
    let range = |figures: &[f64], places: usize| {
        let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let most = figures.iter().copied().fold(0.0, f64::max);
        format!("{least:.places$}–{most:.places$}")
    };
    let rates = match line.all_mlps {
        Some(_) => &line.runs_all_mlps,
        None => &line.runs_writer_mlps,
    };
    match &line.runs_writer_ns[..] {
        [] | [_] => String::new(),
        ns => format!("  (ns {}, M/s {})", range(ns, 0), range(rates, 2)),
    }
}

#[cfg(test)]
mod tests {
    use tavola_bench::Percentiles;

    use super::*;

    #[test]
    fn numbers_stand_under_their_heads() {
        let mut line = Case {
            phase: "log",
            way: Way::TracingAppender,
            procs: 1,
            threads: 1,
            lines: 2_000_000,
            text_bytes: 72,
            log_bytes: None,
            writer_ns: 1234.5,
            latency: Percentiles {
                p50_ns: 900,
                p99_ns: 12_345,
                p999_ns: 23_456,
                p9999_ns: 34_567,
                max_ns: 4_567_890,
                max_less_wait_ns: 45_678,
            },
            timed: 98_358,
            timer_ns: 20.0,
            writer_mlps: 0.81,
            all_mlps: Some(0.7951),
            kept: 1_999_000,
            dropped: 1_000,
            runs_writer_ns: vec![1234.5, 1200.0, 1300.4],
            runs_writer_mlps: vec![0.81, 0.8333, 0.769],
            runs_all_mlps: vec![0.7951, 0.7, 0.8],
        };
        let expected = "tracing-appender      1234      900     12,345      23,456    4,567,890   \
                        0.81          0.80       1,000  (ns 1200–1300, M/s 0.70–0.80)";
        assert_eq!(human(&Line::Case(Box::new(line.clone()))), expected);
        (line.way, line.all_mlps) = (Way::TavolaFlight, None);
        line.runs_all_mlps.clear();
        let told = human(&Line::Case(Box::new(line)));
        let rate = "   0.81             –           –  (ns 1200–1300, M/s 0.77–0.83)";
        assert!(told.ends_with(rate), "{told}");
    }
}
