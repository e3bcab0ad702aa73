//! `flush_all`, at once or when its time has come.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tavola::{Expiry, Result, Table};

use super::exptime;

/// A date before this start of the server means nothing; memcached takes it for earlier than it
/// was.
const BEFORE_START: Duration = Duration::from_secs(62);

/// The flush that is to come, if any; a later one takes the place of an earlier.
///
/// It happens with the first request that comes when it is due: before that, nobody who asks here
/// can tell. Other processes see the keys until then. Times are whole seconds since the start, and
/// it is due one second early, as in memcached.
#[derive(Debug)]
pub(super) struct Flush {
    started: Instant,
    /// Whether it is worth a look at `due`.
    is_pending: AtomicBool,
    due_s: Mutex<Option<u64>>,
}

/// What becomes of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Now,
    At(u64),
    /// There is none any more.
    Never,
}

impl Default for Flush {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            is_pending: AtomicBool::new(false),
            due_s: Mutex::default(),
        }
    }
}

impl Flush {
    /// Removes all keys at a time that a client gave.
    pub(super) fn ask(&self, table: &Table, time: Expiry) -> Result<()> {
        self.ask_at(table, time, self.started.elapsed())
    }

    fn ask_at(&self, table: &Table, time: Expiry, now: Duration) -> Result<()> {
        let when = when(time, now);
        let mut due = self.due_s.lock().unwrap_or_else(PoisonError::into_inner);
        *due = match when {
            When::At(due_s) => Some(due_s),
            When::Now | When::Never => None,
        };
        self.is_pending.store(due.is_some(), Relaxed);
        if when == When::Now {
            table.clear()?;
        }
        Ok(())
    }

    /// Removes all keys if that is due; requests that come meanwhile wait for it.
    pub(super) fn look(&self, table: &Table) -> Result<()> {
        if !self.is_pending.load(Relaxed) {
            return Ok(());
        }
        self.look_at(table, self.started.elapsed())
    }

    fn look_at(&self, table: &Table, now: Duration) -> Result<()> {
        let mut due = self.due_s.lock().unwrap_or_else(PoisonError::into_inner);
        if due.is_some_and(|due_s| due_s <= now.as_secs()) {
            table.clear()?;
            *due = None;
            self.is_pending.store(false, Relaxed);
        }
        Ok(())
    }
}

fn when(time: Expiry, now: Duration) -> When {
    let due_s = match time {
        Expiry::After(delay) => now.as_secs() + delay.as_secs(),
        Expiry::At(date) => {
            let Some(due) = exptime::at(date, now + BEFORE_START) else {
                return When::Never;
            };
            due.saturating_sub(BEFORE_START).as_secs()
        }
        Expiry::Default | Expiry::Never => return When::Now,
    };
    match due_s.saturating_sub(1) {
        due_s if due_s > now.as_secs() => When::At(due_s),
        _ => When::Now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    const S: Duration = Duration::from_secs(1);

    fn table() -> Table {
        let table = Table::options().max_size(1 << 20).private().expect("made");
        table.set(b"a", b"1").expect("set");
        table
    }

    #[test]
    fn a_flush_happens_when_it_is_due_and_once() {
        let (flush, table) = (Flush::default(), table());
        let now = 100 * S + S / 2;
        flush
            .ask_at(&table, Expiry::After(3 * S), now)
            .expect("asked");
        flush.look_at(&table, 101 * S + S / 2).expect("looked");
        assert!(table.contains(b"a").expect("read"));
        flush.look_at(&table, 102 * S).expect("looked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        flush.look_at(&table, 105 * S).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }

    #[test]
    fn a_flush_at_once_takes_the_place_of_one_to_come() {
        let (flush, table) = (Flush::default(), table());
        flush.ask(&table, Expiry::After(100 * S)).expect("asked");
        flush.ask(&table, Expiry::Never).expect("asked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        flush.look_at(&table, 200 * S).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }

    #[test]
    fn dates_are_of_this_start() {
        let date = |ahead: i64| {
            let now = SystemTime::now();
            let by = S * ahead.unsigned_abs() as u32;
            Expiry::At(if ahead < 0 { now - by } else { now + by })
        };
        let now = 1000 * S + S / 2;
        assert_eq!(when(date(-1100), now), When::Never);
        assert_eq!(when(date(-1030), now), When::Now);
        assert_eq!(when(date(-5), now), When::Now);
        // 1499, or less where it took longer than half a second to get here.
        assert!(matches!(when(date(500), now), When::At(1439..=1499)));
        assert_eq!(when(Expiry::After(S), now), When::Now);
        assert_eq!(when(Expiry::After(Duration::ZERO), now), When::Now);
    }
}
