//! `flush_all`, at once or when its time has come.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tavola::{Expiry, Result, Table};

/// The most seconds before the start of the server that the date of a flush may be. As in
/// memcached, an earlier date means no flush.
const BEFORE_START_S: u64 = 62;

/// A flush in the future, if any. A later request for one replaces an earlier one.
///
/// The first request that comes when the flush is due carries it out: before that, no client of
/// this server sees a difference. Other processes see the keys until then. As in memcached, times
/// are whole seconds since 1970, rounded down, and a flush is due one second early.
#[derive(Debug)]
pub(super) struct Flush {
    /// The start of the server, in seconds since 1970.
    started_s: u64,
    /// Whether there may be a flush in `due`; read without its lock.
    is_pending: AtomicBool,
    due: Mutex<Option<Instant>>,
}

/// The time of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Now,
    /// After this time.
    In(Duration),
    /// Not at all.
    Never,
}

impl Default for Flush {
    fn default() -> Self {
        Self {
            started_s: today().as_secs(),
            is_pending: AtomicBool::new(false),
            due: Mutex::default(),
        }
    }
}

impl Flush {
    /// Removes all keys at a time that a client gave, or plans that.
    pub(super) fn ask(&self, table: &Table, time: Expiry) -> Result<()> {
        self.ask_at(table, time, Instant::now(), today())
    }

    /// Removes all keys at a time, or plans that. `now` and `today` are the current time on two
    /// clocks.
    fn ask_at(&self, table: &Table, time: Expiry, now: Instant, today: Duration) -> Result<()> {
        let when = when(time, self.started_s, today);
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        *due = match when {
            When::In(wait) => now.checked_add(wait),
            When::Now | When::Never => None,
        };
        self.is_pending.store(due.is_some(), Relaxed);
        if when == When::Now {
            table.clear()?;
        }
        Ok(())
    }

    /// Removes all keys if a flush is due; requests that come meanwhile wait for it.
    pub(super) fn clear_if_due(&self, table: &Table) -> Result<()> {
        if !self.is_pending.load(Relaxed) {
            return Ok(());
        }
        self.clear_if_due_at(table, Instant::now())
    }

    fn clear_if_due_at(&self, table: &Table, now: Instant) -> Result<()> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.is_some_and(|due| due <= now) {
            table.clear()?;
            *due = None;
            self.is_pending.store(false, Relaxed);
        }
        Ok(())
    }
}

/// Returns the time since 1970.
fn today() -> Duration {
    let today = SystemTime::now().duration_since(UNIX_EPOCH);
    today.unwrap_or(Duration::ZERO)
}

fn when(time: Expiry, started_s: u64, today: Duration) -> When {
    let date_s = match time {
        Expiry::After(delay) => today.as_secs().saturating_add(delay.as_secs()),
        // A time below 0.
        Expiry::PAST => return When::Now,
        Expiry::At(date) => {
            let date = date.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
            if date.as_secs() < started_s.saturating_sub(BEFORE_START_S) {
                return When::Never;
            }
            date.as_secs()
        }
        Expiry::Default | Expiry::Never => return When::Now,
    };
    match Duration::from_secs(date_s.saturating_sub(1)).checked_sub(today) {
        Some(wait) if !wait.is_zero() => When::In(wait),
        _ => When::Now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const TODAY_S: u64 = 1_800_000_000;

    fn table() -> Table {
        let table = Table::options().max_size(1 << 20).private().expect("made");
        table.set(b"a", b"1").expect("set");
        table
    }

    #[test]
    fn a_flush_happens_when_it_is_due_and_once() {
        let (flush, table) = (Flush::default(), table());
        let (now, today) = (Instant::now(), S * TODAY_S as u32 + S / 2);
        flush
            .ask_at(&table, Expiry::After(3 * S), now, today)
            .expect("asked");
        flush.clear_if_due_at(&table, now + S).expect("looked");
        assert!(table.contains(b"a").expect("read"));
        flush
            .clear_if_due_at(&table, now + S * 3 / 2)
            .expect("looked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        flush.clear_if_due_at(&table, now + 5 * S).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }

    #[test]
    fn a_flush_at_once_takes_the_place_of_one_to_come() {
        let (flush, table) = (Flush::default(), table());
        flush.ask(&table, Expiry::After(100 * S)).expect("asked");
        flush.ask(&table, Expiry::Never).expect("asked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        let later = Instant::now() + 200 * S;
        flush.clear_if_due_at(&table, later).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }

    #[test]
    fn dates_are_of_this_start() {
        let when = |ahead_s: i64| {
            let date = UNIX_EPOCH + Duration::from_secs(TODAY_S.saturating_add_signed(ahead_s));
            let today = Duration::from_secs(TODAY_S) + S / 2;
            super::when(Expiry::At(date), TODAY_S - 1000, today)
        };
        assert_eq!(when(-1063), When::Never);
        assert_eq!(when(-1062), When::Now);
        assert_eq!(when(-5), When::Now);
        assert_eq!(when(500), When::In(498 * S + S / 2));
    }

    /// Only whole seconds count, whatever part of one has passed.
    #[test]
    fn a_flush_a_second_ahead_is_at_once_and_one_two_ahead_is_not() {
        for phase in 0..12 {
            let today = Duration::from_secs(TODAY_S) + S * phase / 12;
            let at = |ahead_s| {
                let date = UNIX_EPOCH + Duration::from_secs(TODAY_S + ahead_s);
                when(Expiry::At(date), TODAY_S, today)
            };
            let after = |delay| when(Expiry::After(delay), TODAY_S, today);
            assert_eq!((at(1), after(S)), (When::Now, When::Now), "{phase}");
            let wait = When::In(S - S * phase / 12);
            assert_eq!((at(2), after(2 * S)), (wait, wait), "{phase}");
        }
        assert_eq!(when(Expiry::PAST, TODAY_S, S * TODAY_S as u32), When::Now);
    }
}
