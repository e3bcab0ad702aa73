//! The leader's part in a way: makes what it needs, has lines logged, counts them where they end.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use tavola::{Log, LogOptions, Overload};

use super::crew::Loggers;
use super::job::{Target, Task};
use super::tally::Tally;
use super::ways::shared::check_none_dropped;
use super::{Config, Way};
use crate::latency::Merged;
use crate::scratch::{Scratch, nameless_file};
use crate::{Error, Result};

/// What came out of a way, once.
pub(super) struct Score {
    /// Mean nanoseconds of a line, in its writer's own time.
    pub(super) writer_ns: f64,
    /// From the common start to the end of the last writer.
    pub(super) writer_seconds: f64,
    /// To when the last line was in its file; none when there is no file.
    pub(super) all_seconds: Option<f64>,
    /// Lines that a drain or a receiver says it has carried on.
    pub(super) carried: Option<u64>,
    /// Lines found at their place.
    pub(super) kept: u64,
    /// Of single calls.
    pub(super) latency: Merged,
}

/// Logs all lines by a way, once.
pub(super) fn play(config: &Config, way: Way) -> Result<Score> {
    match way {
        Way::TavolaFlight => over_log(config, way, Overload::DropOldest),
        Way::TavolaBlock => over_log(config, way, Overload::Block),
        Way::TavolaDrop => over_log(config, way, Overload::DropOldest),
        Way::Syslog => over_socket(config, way),
        Way::Write | Way::TracingAppender | Way::TracingBuffered | Way::Tracing => {
            over_file(config, way)
        }
    }
}

fn over_log(config: &Config, way: Way, overload: Overload) -> Result<Score> {
    let options = LogOptions::new().bytes(config.log_bytes).overload(overload);
    let (mut scratch, log) = Scratch::create_log(config.dir.as_deref(), &options)?;
    let path = std::path::absolute(log.path()).map_err(Error::io("finding the log"))?;
    let mut crew = Loggers::new(config);
    let mut file = None;
    if way != Way::TavolaFlight {
        let file = file.insert(place(config)?);
        crew.have_carried(Task::Drain {
            log: path.clone(),
            file: through_leader(file),
        })?;
    }
    crew.start_writers(way, &Target::Log(path))?;
    scratch.unlink()?;
    let score = crew.play(file.is_some())?;
    let mut tally = tally(config);
    match &file {
        Some(file) => tally.add_file(file)?,
        None => add_log(&mut tally, &log)?,
    }
    match way {
        Way::TavolaDrop => tally.check_rest(config.share(), log.dropped())?,
        Way::TavolaBlock => tally.check_all(config.share())?,
        _ => {
            tally.check_last(config.share())?;
            tally.check_rest(config.share(), log.dropped())?;
        }
    }
    if way == Way::TavolaBlock {
        check_none_dropped(&log)?;
    }
    counted(score, &tally)
}

fn over_socket(config: &Config, way: Way) -> Result<Score> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let socket = format!("tavola-bench-log-{}-{count}", std::process::id());
    let mut crew = Loggers::new(config);
    let file = place(config)?;
    crew.have_carried(Task::Receive {
        socket: socket.clone(),
        file: through_leader(&file),
        all: config.all(),
    })?;
    crew.start_writers(way, &Target::Socket(socket))?;
    check_file(config, crew.play(true)?, &file)
}

fn over_file(config: &Config, way: Way) -> Result<Score> {
    let mut crew = Loggers::new(config);
    let file = place(config)?;
    crew.start_writers(way, &Target::File(through_leader(&file)))?;
    check_file(config, crew.play(true)?, &file)
}

/// Every line must be in the file.
fn check_file(config: &Config, score: Score, file: &File) -> Result<Score> {
    let mut tally = tally(config);
    tally.add_file(file)?;
    tally.check_all(config.share())?;
    counted(score, &tally)
}

fn counted(mut score: Score, tally: &Tally) -> Result<Score> {
    score.kept = tally.total;
    match score.carried {
        Some(carried) if carried != score.kept => {
            let what = format!(
                "{carried} lines were written out and {} are there",
                score.kept
            );
            Err(Error::wrong("log", what))
        }
        _ => Ok(score),
    }
}

fn tally(config: &Config) -> Tally {
    Tally::new(config.writers(), config.text_bytes)
}

fn place(config: &Config) -> Result<File> {
    nameless_file(config.file_dir.as_deref().or(config.dir.as_deref()))
}

/// Where others find a file that has no name.
fn through_leader(file: &File) -> PathBuf {
    let (leader, file) = (std::process::id(), file.as_raw_fd());
    PathBuf::from(format!("/proc/{leader}/fd/{file}"))
}

fn add_log(tally: &mut Tally, log: &Log) -> Result<()> {
    let mut reader = log.reader();
    reader.lines().try_for_each(|line| tally.add(line.text))
}
