//! The two threads of a handle of a durable table: one writes out and syncs in time; the other
//! makes files ahead, and a snapshot when the journal has become long. A snapshot may take long,
//! and syncs cannot wait for it.

use super::snapshot::snapshot;
use crate::engine::{Background, Core, Rounds};
use crate::error::{Error, Result};
use crate::journal::{head, tail};
use crate::sync::Ordering;
use crate::table::{Options, Table, lazy::Lazy};
use crate::values::Durability;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause between two rounds, if no policy says another one.
const PAUSE: Duration = Duration::from_millis(50);
const SHORTEST: Duration = Duration::from_millis(1);
/// A snapshot is due when the journal behind the last one has so many bytes, and as many as that
/// snapshot.
const LEAST_JOURNAL: u64 = 64 << 20;
/// The first and the longest pause before something that has failed is tried again.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Starts the threads. `table` is the policy of the table, which the handle's may be stricter than.
pub(crate) fn start_keeper(core: &Arc<Core>, table: Durability) -> Result<[Background; 2]> {
    let time = time_of(core.durability, table);
    let path = core.path().to_path_buf();
    let kept = Table::of(Lazy::shared(Arc::clone(core), path.clone()), Options::new());
    let mut retry = Retry::default();
    let files = Rounds {
        name: "tavola-files",
        pause: PAUSE,
        has_last: true,
    };
    // A failure here comes again in a call that needs the journal, and is reported there.
    let make_files = move || drop(keep_files(&kept, &mut retry));
    let files = Background::start(files, path.clone(), make_files)?;
    // A write comes at most half of its time before a round, which has the other half for its sync.
    let journal = Rounds {
        name: "tavola-journal",
        pause: time.map_or(PAUSE, |time| (time / 2).clamp(SHORTEST, PAUSE)),
        has_last: true,
    };
    let core = Arc::clone(core);
    let sync = move || drop(keep_journal(&core, time));
    Ok([files, Background::start(journal, path, sync)?])
}

/// Returns within which time records are to be synced by a thread of a handle. Not only its own: a
/// process that was killed has left some, under the policy of the table.
fn time_of(handle: Durability, table: Durability) -> Option<Duration> {
    let time = |policy| match policy {
        Durability::Within(time) => Some(time),
        Durability::Commit | Durability::Os => None,
    };
    time(handle).into_iter().chain(time(table)).min()
}

/// Writes out the records, and syncs them if they are to be synced within a time.
fn keep_journal(core: &Core, time: Option<Duration>) -> Result<()> {
    let Some(files) = core.journal.as_deref() else {
        return Ok(());
    };
    let (region, me) = (core.region(), core.writer()?);
    files.check(region)?;
    let end = tail(region);
    match time {
        Some(_) => files.sync_to(region, me, end),
        None if head(region).written.load(Ordering::Acquire) < end => files.write_out(region, me),
        None => Ok(()),
    }
}

/// Makes files and snapshots that are due.
pub(super) fn keep_files(table: &Table, retry: &mut Retry) -> Result<()> {
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
