//! Progress on standard error: bars on a terminal, elsewhere a line now and then.

use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::printable;
use crate::units::count;

const BYTES: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const BYTES_OPEN: &str = "{spinner} {bytes}, {bytes_per_sec}";
const REBUILT: &str = "{msg} {bar:40} {bytes} of at most {total_bytes}, {bytes_per_sec}";
const ENTRIES: &str = "{bar:40} {human_pos} of {human_len} keys, {per_sec}, {eta} left";
#[cfg(feature = "client")]
const LISTED: &str = "{spinner} {human_pos} keys, {per_sec}";
#[cfg(feature = "client")]
const TIMED: &str = "{bar:40} {msg}";

/// A rebuild that takes less is not shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar over bytes read; without a total it counts up.
pub fn over_bytes(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => bar(ProgressBar::new(total), BYTES),
        None => bar(ProgressBar::new_spinner(), BYTES_OPEN),
    }
}

/// A bar over keys written out.
pub fn over_keys(total: u64) -> ProgressBar {
    bar(ProgressBar::new(total), ENTRIES)
}

/// A count of keys whose total nobody knows.
#[cfg(feature = "client")]
pub fn of_keys() -> ProgressBar {
    bar(ProgressBar::new_spinner(), LISTED)
}

/// A bar over the milliseconds of work that lasts so long; a message says what is done.
#[cfg(feature = "client")]
pub fn over_time(total: Duration) -> ProgressBar {
    let total_ms = u64::try_from(total.as_millis()).unwrap_or(u64::MAX);
    bar(ProgressBar::new(total_ms), TIMED)
}

/// Shows how far durable tables are rebuilt by this process, on a terminal, if that takes a while.
pub fn show_rebuilds() {
    if !io::stderr().is_terminal() {
        return;
    }
    let begun: Mutex<Option<(Instant, ProgressBar)>> = Mutex::new(None);
    tavola::durable::on_rebuild(move |now| {
        let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_done {
            if let Some((_, bar)) = begun.take() {
                bar.finish_and_clear();
            }
            return;
        }
        let (since, bar) = begun.get_or_insert_with(|| {
            let bar = bar(ProgressBar::new(now.total_bytes), REBUILT);
            bar.set_draw_target(ProgressDrawTarget::hidden());
            (Instant::now(), bar)
        });
        if since.elapsed() >= PATIENCE && bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_message(format!(
                "rebuilding {}",
                printable(now.home.as_os_str().as_bytes())
            ));
        }
        bar.set_position(now.done_bytes);
    });
}

/// Lines on standard error while work lasts, if that is no terminal: for logs.
pub struct Lasting {
    done: &'static str,
    since: Instant,
    every: Duration,
}

impl Lasting {
    /// `done` says what is done with entries: `loaded`, `listed`, `written`.
    pub fn new(done: &'static str) -> Lasting {
        Lasting {
            done,
            since: Instant::now(),
            every: Duration::from_secs(10),
        }
    }

    /// Says how many entries are done, if it is time to.
    pub fn tick(&mut self, entries: u64) {
        if let Some(line) = self.line(entries)
            && !io::stderr().is_terminal()
        {
            eprintln!("tavola: {line}");
        }
    }

    fn line(&mut self, entries: u64) -> Option<String> {
        if self.since.elapsed() < self.every {
            return None;
        }
        self.since = Instant::now();
        Some(format!("{} entries {} so far", count(entries), self.done))
    }
}

fn bar(bar: ProgressBar, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.expect("the templates of this file are well formed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        for template in [BYTES, BYTES_OPEN, ENTRIES, LISTED, TIMED, REBUILT] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn a_line_comes_when_it_is_time() {
        let mut lasting = Lasting::new("loaded");
        assert_eq!(lasting.line(1), None);
        lasting.every = Duration::ZERO;
        let line = lasting.line(1_200_000);
        assert_eq!(line.as_deref(), Some("1,200,000 entries loaded so far"));
    }
}
