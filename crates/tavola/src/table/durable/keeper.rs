//! The thread of a handle of a durable table: it writes out and syncs in time, makes files ahead,
//! and makes a snapshot when the journal has become long.

use super::snapshot::snapshot;
use crate::engine::{Background, Core, Rounds};
use crate::error::{Error, Result};
use crate::journal::{head, tail};
use crate::sync::Ordering;
use crate::table::{Options, Table, lazy::Lazy};
use crate::values::Durability;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause between two rounds, if the policy does not say another one.
const PAUSE: Duration = Duration::from_millis(50);
/// A snapshot is due when the journal behind the last one has so many bytes, and as many as that
/// snapshot.
const LEAST_JOURNAL: u64 = 64 << 20;
/// The first and the longest pause before something that has failed is tried again.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Starts the thread.
pub(crate) fn start_keeper(core: Arc<Core>) -> Result<Background> {
    let pause = match core.durability {
        Durability::Within(time) => time.clamp(Duration::from_millis(1), PAUSE),
        _ => PAUSE,
    };
    let rounds = Rounds {
        name: "tavola-journal",
        pause,
        has_last: true,
    };
    let path = core.path().to_path_buf();
    let table = Table::of(Lazy::shared(core, path.clone()), Options::new());
    let mut retry = Retry::default();
    // A failure here comes again in a call that needs the journal, and is reported there.
    Background::start(rounds, path, move || drop(keep(&table, &mut retry)))
}

/// Does what is due.
pub(super) fn keep(table: &Table, retry: &mut Retry) -> Result<()> {
    let core = table.core()?;
    let Some(files) = core.journal.as_deref() else {
        return Ok(());
    };
    let (region, me) = (core.region(), core.writer()?);
    let words = head(region);
    if files.check(region).is_err() {
        if !retry.has_begun() {
            retry.put_off();
        }
        return match retry.is_due() {
            true => try_snapshot(table, retry),
            false => Ok(()),
        };
    }
    let end = tail(region);
    match core.durability {
        Durability::Within(_) => files.sync_to(region, me, end)?,
        _ if words.written.load(Ordering::Acquire) < end => files.write_out(region, me)?,
        _ => {}
    }
    // Another process may have made a snapshot.
    files.close_old(region);
    if !retry.is_due() {
        return Ok(());
    }
    let segment = words.segment.load(Ordering::Relaxed);
    let room = files.extend(region, me, segment / 2);
    // The first file of a table has no records.
    let begin = words.snapshot.load(Ordering::Acquire).max(2 * segment);
    let since = end.saturating_sub(begin);
    let last = words.snapshot_bytes.load(Ordering::Relaxed);
    let is_long = since > LEAST_JOURNAL.max(last);
    // On a full disk earlier, if that removes a file. It may fit although a file did not.
    let is_in_need = matches!(room, Err(Error::Full { .. })) && since >= segment;
    if is_long || is_in_need {
        return try_snapshot(table, retry);
    }
    match room {
        Ok(()) => *retry = Retry::default(),
        // A writer that needs a file tries it by itself.
        Err(_) => retry.put_off(),
    }
    room
}

/// Makes a snapshot, and notes whether that has helped.
fn try_snapshot(table: &Table, retry: &mut Retry) -> Result<()> {
    let made = snapshot(table);
    match made {
        Ok(true) => *retry = Retry::default(),
        _ => retry.put_off(),
    }
    made.map(drop)
}

/// When something that has failed is tried again: after a second, then after twice the time, up to
/// a minute. A snapshot that fails has written as much as the disk took, so it is not tried in each
/// round.
#[derive(Default)]
pub(super) struct Retry {
    /// When, and how long after the last time that is.
    next: Option<(Instant, Duration)>,
}

impl Retry {
    fn has_begun(&self) -> bool {
        self.next.is_some()
    }

    fn is_due(&self) -> bool {
        self.next.is_none_or(|(at, _)| Instant::now() >= at)
    }

    fn put_off(&mut self) {
        let pause = self.next.map_or(FIRST_RETRY, |(_, pause)| 2 * pause);
        let pause = pause.min(LAST_RETRY);
        self.next = Some((Instant::now() + pause, pause));
    }

    /// Lets the time pass.
    #[cfg(test)]
    pub(super) fn wait(&mut self) -> Option<Duration> {
        let (at, pause) = self.next.as_mut()?;
        *at = Instant::now();
        Some(*pause)
    }
}
