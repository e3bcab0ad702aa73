//! Requests without an answer that wait for the next request, so that both leave by one call.
//!
//! They are text, in the order in which they were asked for, and they belong to the thread that
//! asked: its next request to the server takes them along on the same connection, so it sees what
//! they did. Every send ends with something that is answered; a free connection never has requests
//! on it that the server has not carried out.

use crate::sync::{AtomicUsize, Mutex, MutexGuard, ThreadId, thread};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// What a thread may hold for a server.
pub(crate) const MOST_BYTES: usize = 64 << 10;
/// Threads that may hold something for a server; few in a model, so that there is no room for one.
const MOST_THREADS: usize = if cfg!(feature = "shuttle") { 2 } else { 64 };

/// What a thread holds. A lock on it keeps the thread's next request back.
pub(crate) type Entry = Arc<Mutex<Vec<u8>>>;

/// What threads hold for a server.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Few, mostly one.
    entries: Mutex<Vec<(ThreadId, Entry)>>,
    /// The number of entries; read without the lock.
    count: AtomicUsize,
}

impl Held {
    /// Holds requests for this thread. Returns whether there is room for them.
    pub(crate) fn hold(&self, requests: &[u8]) -> bool {
        let Some(entry) = self.entry() else {
            return false;
        };
        let mut bytes = entry.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() + requests.len() > MOST_BYTES {
            return false;
        }
        bytes.extend_from_slice(requests);
        true
    }

    /// Appends what this thread holds.
    pub(crate) fn take(&self, out: &mut Vec<u8>) {
        if self.count.load(Ordering::Relaxed) == 0 {
            // Only this thread makes its entry.
            return;
        }
        let entry = entry_of(&self.lock(), thread::current().id());
        if let Some(entry) = entry {
            out.append(&mut entry.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Drops what this thread holds.
    pub(crate) fn clear(&self) {
        self.take(&mut Vec::new());
    }

    /// Returns what all threads hold.
    pub(crate) fn all(&self) -> Vec<Entry> {
        self.lock()
            .iter()
            .map(|(_, entry)| Arc::clone(entry))
            .collect()
    }

    /// The entry of this thread.
    fn entry(&self) -> Option<Entry> {
        let mut entries = self.lock();
        let thread = thread::current().id();
        if let Some(entry) = entry_of(&entries, thread) {
            return Some(entry);
        }
        if entries.len() >= MOST_THREADS {
            entries.retain(|(_, entry)| !is_unused(entry));
        }
        let has_room = entries.len() < MOST_THREADS;
        let entry = has_room.then(Entry::default);
        entries.extend(entry.clone().map(|entry| (thread, entry)));
        self.count.store(entries.len(), Ordering::Relaxed);
        entry
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ThreadId, Entry)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry_of(entries: &[(ThreadId, Entry)], thread: ThreadId) -> Option<Entry> {
    let mut entries = entries.iter();
    let found = entries.find(|(owner, _)| *owner == thread)?;
    Some(Arc::clone(&found.1))
}

/// Whether nothing is held by it, and nobody is about to change that.
fn is_unused(entry: &Entry) -> bool {
    #[cfg(all(test, feature = "shuttle"))]
    if crate::models::is_made(crate::models::Mistake::DropsWhatIsAboutToChange) {
        return entry.try_lock().is_ok_and(|bytes| bytes.is_empty());
    }
    Arc::strong_count(entry) == 1 && entry.try_lock().is_ok_and(|bytes| bytes.is_empty())
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    fn taken(held: &Held) -> Vec<u8> {
        let mut out = Vec::new();
        held.take(&mut out);
        out
    }

    #[test]
    fn a_thread_takes_its_own_in_their_order_and_no_others() {
        let held = Held::default();
        assert!(held.hold(b"a") && held.hold(b"b"));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(taken(&held), b"");
                assert!(held.hold(b"c"));
            });
        });
        assert_eq!(held.all().len(), 2);
        assert_eq!(taken(&held), b"ab");
        assert_eq!(taken(&held), b"");
    }

    #[test]
    fn what_is_held_is_bounded() {
        let held = Held::default();
        assert!(held.hold(&[b'a'; MOST_BYTES]) && !held.hold(b"a"));
        held.clear();
        assert!(held.hold(b"a"));
        for _ in 1..MOST_THREADS {
            thread::scope(|scope| scope.spawn(|| assert!(held.hold(b"x"))).join().unwrap());
        }
        let is_held = || thread::scope(|scope| scope.spawn(|| held.hold(b"x")).join().unwrap());
        assert!(!is_held(), "too many threads hold something");
        held.clear();
        assert!(is_held(), "the entry that is empty makes room");
    }
}
