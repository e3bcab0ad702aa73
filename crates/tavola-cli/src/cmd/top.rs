//! `tavola top`: a table as it is used, live.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::error::CliError;
use crate::{interrupt, units};

mod all;
mod charts;
mod draw;
mod figures;
mod screen;
mod section;
mod watch;

use draw::{Shown, Theme};
use screen::{Event, Screen};
use section::{ASCII, BLOCKS, Letters};
use watch::Watch;

const EXAMPLES: &str = "\
Examples:
  tavola top sessions                            q quits, p pauses
  tavola top                                     all tables, one line each
  tavola top sessions --interval 5
  tavola top sessions --once                     one report as text
  tavola top sessions --batch --count 60 > minute.txt

Shows reads and writes per second, memory, and the processes that use the table; of a
queue its elements, of a log its lines; in the list, how many more or fewer there are per
second. Hits and latencies are measured in caches only. The command never writes to the
table. If standard output is not a terminal, or TERM is dumb, it prints text as with
--batch. NO_COLOR turns colours off. Non-ASCII characters need a UTF-8 locale.";

/// Between the first two looks: rates are there at once.
const FIRST: Duration = Duration::from_millis(250);
/// Between two looks whether the process is to end.
const TICK: Duration = Duration::from_millis(50);
/// Columns and rows of a section in plain text.
const WIDTH: usize = 100;
const ROWS: usize = 12;
/// Rows of histograms there.
const BARS: usize = 26;

/// Show a table live: rates, hit ratio, latencies, memory, processes, hot shards
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it contains a / [default: a list of all tables]
    #[arg(value_name = "TABLE")]
    name: Option<OsString>,
    /// Time between two reports
    #[arg(long, short, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    interval: Duration,
    /// Exit after this many reports
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Print plain text, one report after the other
    #[arg(long, short)]
    batch: bool,
    /// Print one report in plain text: same as --batch --count 1
    #[arg(long, conflicts_with = "count")]
    once: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let ended = interrupt::install_handlers()?;
    let Some(name) = args.name else {
        let count = args.once.then_some(1).or(args.count);
        let as_text = args.batch || args.once;
        all::show(args.interval, count, as_text, &ended)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut watch = Watch::begin(name)?;
    if nap(FIRST.min(args.interval), &ended) {
        watch.update();
        let count = args.once.then_some(1).or(args.count);
        match args.batch || args.once || !Screen::is_there() {
            true => as_text(&mut watch, args.interval, count, &ended)?,
            false => on_screen(&mut watch, args.interval, count, &ended)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Sleeps; says whether all the time has passed and the process is not to end.
fn nap(time: Duration, ended: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    while !ended.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(TICK));
    }
    false
}

fn on_screen(
    watch: &mut Watch,
    interval: Duration,
    count: Option<u64>,
    ended: &AtomicBool,
) -> Result<(), CliError> {
    let theme = Theme {
        letters: letters(),
        colours: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    let every = format!("{} s", interval.as_secs_f64());
    let (mut paused, mut done) = (false, 1);
    let mut next = Instant::now() + interval;
    let mut screen = Screen::take()?;
    loop {
        let shown = Shown {
            watch,
            paused,
            every: &every,
        };
        screen.draw(|frame| draw::draw(frame, &shown, &theme))?;
        match screen.wait(next, ended)? {
            // In raw mode Ctrl-C is a byte.
            Event::End | Event::Key(b'q' | b'Q' | 0x03) => return Ok(()),
            Event::Key(b'p' | b'P' | b' ') => paused = !paused,
            Event::Key(_) | Event::Resized => {}
            Event::Time => {
                next = Instant::now() + interval;
                if paused {
                    continue;
                }
                if count == Some(done) {
                    return Ok(());
                }
                done += 1;
                watch.update();
            }
        }
    }
}

fn as_text(
    watch: &mut Watch,
    interval: Duration,
    count: Option<u64>,
    ended: &AtomicBool,
) -> Result<(), CliError> {
    for done in 1_u64.. {
        let mut out = io::stdout().lock();
        out.write_all(text(watch, letters()).as_bytes())?;
        out.flush()?;
        drop(out);
        if count == Some(done) || !nap(interval, ended) {
            break;
        }
        watch.update();
    }
    Ok(())
}

/// All sections, and a blank line below each.
fn text(watch: &Watch, letters: &Letters) -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now());
    let label = watch.label();
    let view = match watch.view() {
        Ok(view) => view,
        Err(why) => return format!("{now}\ntavola top: {label}\n{why}\n\n"),
    };
    let sections = [
        figures::totals(&label, &view, usize::MAX),
        figures::rates(&view),
        charts::latencies(&view, letters, WIDTH, BARS),
        charts::classes(&view, letters, WIDTH, usize::MAX),
        figures::participants(&view, usize::MAX),
        figures::shards(&view, ROWS),
    ];
    let note = view.note.map_or(String::new(), |note| format!("{note}\n"));
    let mut all = format!("{now}\n{note}");
    for section in sections {
        let lines = section.lines.iter().map(|(_, text)| text.as_str());
        for line in [section.title.as_str()].into_iter().chain(lines) {
            all.push_str(line.trim_end());
            all.push('\n');
        }
        all.push('\n');
    }
    all
}

/// Block elements where the locale says that others than ASCII are understood.
fn letters() -> &'static Letters {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    let mut set = set.filter_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let locale = set.next().unwrap_or_default().to_ascii_lowercase();
    match locale.contains("utf-8") || locale.contains("utf8") {
        true => &BLOCKS,
        false => &ASCII,
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = units::parse_time(text)?;
    match (Duration::from_millis(100)..=Duration::from_secs(86_400)).contains(&interval) {
        true => Ok(interval),
        false => Err("write a time between 0.1 seconds and one day".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_bounds() {
        assert_eq!(parse_interval("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_interval("1m"), Ok(Duration::from_secs(60)));
        for wrong in ["0", "0.01", "2d", "x"] {
            assert!(parse_interval(wrong).is_err(), "{wrong}");
        }
    }
}
