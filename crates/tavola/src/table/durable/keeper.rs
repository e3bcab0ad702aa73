//! The thread of a handle of a durable table: it writes out and syncs in time, makes files ahead,
//! and makes a snapshot when the journal has become long.

use super::snapshot::snapshot;
use crate::engine::{Background, Core, Rounds};
use crate::error::Result;
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
fn keep(table: &Table, retry: &mut Retry) -> Result<()> {
    let core = table.core()?;
    let Some(files) = core.journal.as_deref() else {
        return Ok(());
    };
    let (region, me) = (core.region(), core.writer()?);
    let words = head(region);
    if files.check(region).is_err() {
        if retry.is_due() {
            snapshot(table)?;
        }
        return Ok(());
    }
    *retry = Retry::default();
    let end = tail(region);
    match core.durability {
        Durability::Within(_) => files.sync_to(region, me, end)?,
        _ if words.written.load(Ordering::Acquire) < end => files.write_out(region, me)?,
        _ => {}
    }
    let segment = words.segment.load(Ordering::Relaxed);
    files.extend(region, me, segment / 2)?;
    // The first file of a table has no records.
    let begin = words.snapshot.load(Ordering::Acquire).max(2 * segment);
    let since = end.saturating_sub(begin);
    let last = words.snapshot_bytes.load(Ordering::Relaxed);
    if since > LEAST_JOURNAL.max(last) {
        snapshot(table)?;
    }
    Ok(())
}

/// When a failed journal is tried again: after a second, then after twice the time, up to a minute.
#[derive(Default)]
struct Retry {
    last: Option<(Instant, Duration)>,
}

impl Retry {
    fn is_due(&mut self) -> bool {
        let Some((at, pause)) = self.last else {
            self.last = Some((Instant::now(), Duration::from_secs(1)));
            return false;
        };
        let is_due = at.elapsed() >= pause;
        if is_due {
            self.last = Some((Instant::now(), (2 * pause).min(Duration::from_secs(60))));
        }
        is_due
    }
}
