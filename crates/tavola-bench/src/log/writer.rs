//! A process that logs: its threads, what each writes with, and the loop of a thread.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::thread::gettid;
use serde::{Deserialize, Serialize};
use tavola::{Level, Log, LogLine, LogSink, LogText};

use super::Method;
use super::tally::Texts;
use crate::clock::{monotonic_ns, wait_until};
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};
use crate::latency::{Latency, Summary};
use crate::{Error, Result};

/// One line of so many is timed by itself: seldom, so that two looks at the clock cost little, and
/// a prime, so that it meets every place of what has a period.
const SAMPLE_EVERY: u64 = 61;

/// The first line a process reads: who it is, and what it does. Answered by `Ready`. The second is
/// the instant of the monotonic clock at which its threads begin.
#[derive(Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) leader_pid: u32,
    pub(super) cpu: Option<usize>,
    pub(super) method: Method,
    /// The log or the file.
    pub(super) to: PathBuf,
    /// The number of its first thread among all writers.
    pub(super) first: u32,
    pub(super) threads: u32,
    /// Lines of each thread.
    pub(super) share: u64,
    pub(super) text_bytes: usize,
}

/// What a process did.
#[derive(Serialize, Deserialize)]
pub(super) struct Wrote {
    pub(super) threads: Vec<Written>,
    /// When its lines were at their place, or with who carries them on.
    pub(super) handed_ns: u64,
}

/// What a thread did.
#[derive(Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) latency: Summary,
}

/// Does what the leader at the other end of standard input says, until that end is closed.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, lines| {
        follow(setup.leader_pid, setup.cpu)?;
        match setup.method {
            Method::TavolaFlight | Method::TavolaBlock | Method::TavolaDrop => {
                // One handle, of which each thread has a clone. Nothing is to be shown.
                let log = Log::open(&setup.to)?;
                log.show_on_stderr(false);
                let pen = || {
                    let log = log.clone();
                    Ok(move |text: &str| Ok(log.line(Level::Info, text)?))
                };
                write_all(&setup, lines, pen, || {})
            }
            Method::Write => write_all(&setup, lines, || Ok(stamped(appending(&setup)?)), || {}),
            #[cfg(feature = "peers")]
            _ => over_appender(&setup, lines),
            #[cfg(not(feature = "peers"))]
            _ => Err(Error::worker(crate::crew::WITHOUT_PEERS)),
        }
    })
}

fn appending(setup: &Setup) -> Result<std::fs::File> {
    let opened = OpenOptions::new().append(true).open(&setup.to);
    opened.map_err(Error::io("opening the file for the lines"))
}

/// Prints lines by tavola's own code, which reckons the date once a second, one call of `write` for
/// each: so a stamp costs these ways no more than it costs a drain.
fn stamped(out: impl Write) -> impl FnMut(&str) -> Result<()> {
    let mut out = LogText::new(out);
    let pid = std::process::id();
    let tid = gettid().as_raw_nonzero().get().unsigned_abs();
    move |text| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = LogLine {
            unix_ns: now.map_or(0, |since| since.as_nanos() as u64),
            pid,
            tid,
            level: Level::Info,
            is_shown: false,
            text: text.as_bytes(),
            cut: 0,
        };
        let written = out.line(&line).and_then(|()| out.flush());
        written.map_err(Error::io("writing a line"))
    }
}

/// Has each thread of this process write its share with a pen that it makes itself. What was opened
/// stays so until the leader has heard all.
fn write_all<P: FnMut(&str) -> Result<()>>(
    setup: &Setup,
    lines: &mut Lines,
    pen: impl Fn() -> Result<P> + Sync,
    hand_over: impl Fn(),
) -> Result<()> {
    answer(&Answer::<Wrote>::Ready)?;
    while let Some(start_ns) = lines.next::<u64>()? {
        let pen = &pen;
        let threads = thread::scope(|scope| {
            let writers = (setup.first..setup.first + setup.threads).map(|writer| {
                scope.spawn(move || {
                    let texts = Texts::new(writer, setup.text_bytes);
                    write(pen()?, &texts, setup.share, start_ns)
                })
            });
            let writers: Vec<_> = writers.collect();
            let joined = writers.into_iter().map(|writer| writer.join());
            joined
                .map(|joined| joined.expect("the threads do not panic"))
                .collect::<Result<Vec<_>>>()
        })?;
        hand_over();
        let handed_ns = monotonic_ns();
        answer(&Answer::Done(Wrote { threads, handed_ns }))?;
    }
    Ok(())
}

fn write(
    mut pen: impl FnMut(&str) -> Result<()>,
    texts: &Texts,
    share: u64,
    start_ns: u64,
) -> Result<Written> {
    let mut latency = Latency::new();
    wait_until(start_ns);
    let begin_ns = monotonic_ns();
    let mut line = 0;
    while line < share {
        let sampled = (line + SAMPLE_EVERY - 1).min(share);
        while line < sampled {
            pen(texts.of(line))?;
            line += 1;
        }
        if line < share {
            let before = monotonic_ns();
            pen(texts.of(line))?;
            latency.record(monotonic_ns() - before);
            line += 1;
        }
    }
    Ok(Written {
        begin_ns,
        end_ns: monotonic_ns(),
        latency: latency.summary(),
    })
}

#[cfg(feature = "peers")]
fn over_appender(setup: &Setup, lines: &mut Lines) -> Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    /// Counts the lines that tracing-appender's thread writes.
    struct Counted(std::fs::File, Arc<AtomicU64>);

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }

        /// The thread calls it once a line.
        fn write_all(&mut self, line: &[u8]) -> std::io::Result<()> {
            self.0.write_all(line)?;
            self.1.fetch_add(1, Ordering::Release);
            Ok(())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let written = Arc::new(AtomicU64::new(0));
    let counted = Counted(appending(setup)?, Arc::clone(&written));
    let builder = tracing_appender::non_blocking::NonBlockingBuilder::default().lossy(false);
    let (handle, _guard) = builder.finish(counted);
    // The guard would wait a second at most; the tally reports missing lines.
    let hand_over = || {
        let until = Instant::now() + Duration::from_secs(60);
        let all = setup.share * u64::from(setup.threads);
        while written.load(Ordering::Acquire) < all && Instant::now() < until {
            thread::sleep(Duration::from_micros(100));
        }
    };
    if setup.method == Method::TracingAppender {
        return write_all(setup, lines, || Ok(stamped(handle.clone())), hand_over);
    }
    let subscriber = tracing_subscriber::fmt()
        .with_writer(handle.clone())
        .with_target(false)
        .with_thread_ids(true)
        .finish();
    let first = tracing::subscriber::set_global_default(subscriber);
    first.map_err(|error| Error::worker(error.to_string()))?;
    let event = |text: &str| {
        tracing::info!("{text}");
        Ok(())
    };
    write_all(setup, lines, || Ok(event), hand_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_written_once_and_one_of_61_is_timed() {
        for share in [1, 60, 61, 62, 1000] {
            let (texts, mut kept) = (Texts::new(0, 16), Vec::new());
            let pen = |text: &str| {
                kept.push(text.to_owned());
                Ok(())
            };
            let written = write(pen, &texts, share, 0).unwrap();
            let all: Vec<&str> = (0..share).map(|line| texts.of(line)).collect();
            assert_eq!(kept, all);
            let merged = Latency::merged([&written.latency]);
            assert_eq!(merged.count(), share / SAMPLE_EVERY);
        }
    }

    #[test]
    fn a_line_is_one_call() {
        struct Calls<'a>(&'a mut Vec<String>);

        impl Write for Calls<'_> {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.push(String::from_utf8(bytes.to_vec()).unwrap());
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        let mut calls = Vec::new();
        let mut pen = stamped(Calls(&mut calls));
        pen("one").unwrap();
        pen(&"x".repeat(16_360)).unwrap();
        drop(pen);
        assert_eq!(calls.len(), 2, "{calls:?}");
        let process = format!("Z  INFO {}/", std::process::id());
        assert!(calls[0].contains(&process) && calls[0].ends_with(" one\n"));
    }
}
