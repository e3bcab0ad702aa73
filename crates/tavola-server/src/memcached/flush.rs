//! `flush_all`, at once or when its time has come.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tavola::{Expiry, Result, Table};

/// The flush that is to come, if any; a later one takes the place of an earlier.
///
/// It happens with the first request that comes when it is due: before that, nobody who asks here
/// can tell. Other processes see the keys until then.
#[derive(Debug, Default)]
pub(super) struct Flush {
    /// Whether it is worth a look at `due`.
    is_pending: AtomicBool,
    due: Mutex<Option<Instant>>,
}

impl Flush {
    /// Removes all keys at a time that a client gave.
    pub(super) fn ask(&self, table: &Table, time: Expiry) -> Result<()> {
        let delay = match time {
            Expiry::After(delay) => delay,
            Expiry::At(time) => {
                let left = time.duration_since(SystemTime::now());
                left.unwrap_or(Duration::ZERO)
            }
            Expiry::Default | Expiry::Never => Duration::ZERO,
        };
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        *due = (!delay.is_zero()).then(|| Instant::now() + delay);
        self.is_pending.store(due.is_some(), Relaxed);
        if due.is_none() {
            table.clear()?;
        }
        Ok(())
    }

    /// Removes all keys if that is due; requests that come meanwhile wait for it.
    pub(super) fn look(&self, table: &Table) -> Result<()> {
        if !self.is_pending.load(Relaxed) {
            return Ok(());
        }
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.is_some_and(|due| due <= Instant::now()) {
            table.clear()?;
            *due = None;
            self.is_pending.store(false, Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let table = Table::options().max_size(1 << 20).private().expect("made");
        table.set(b"a", b"1").expect("set");
        table
    }

    #[test]
    fn a_flush_happens_when_it_is_due_and_once() {
        let (flush, table) = (Flush::default(), table());
        flush
            .ask(&table, Expiry::After(Duration::from_millis(30)))
            .expect("asked");
        flush.look(&table).expect("looked");
        assert!(table.contains(b"a").expect("read"));
        std::thread::sleep(Duration::from_millis(40));
        flush.look(&table).expect("looked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        flush.look(&table).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }

    #[test]
    fn a_flush_at_once_takes_the_place_of_one_to_come() {
        let (flush, table) = (Flush::default(), table());
        let soon = Expiry::After(Duration::from_millis(1));
        flush.ask(&table, soon).expect("asked");
        flush.ask(&table, Expiry::Never).expect("asked");
        assert!(!table.contains(b"a").expect("read"));
        table.set(b"a", b"2").expect("set");
        std::thread::sleep(Duration::from_millis(5));
        flush.look(&table).expect("looked");
        assert!(table.contains(b"a").expect("read"));
    }
}
