//! `watch`: lines about what happens, to the connections that asked for them.
//!
//! Nothing is written if there is no watcher, which one load shows. A watcher has its lines in a
//! buffer of a bounded size until its own thread sends them. A line that finds no room is counted
//! and left out, so that a client that does not read delays no other. The next line that it gets
//! begins with `skipped=N`.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tavola::Attributes;
use tavola_proto::text::{Event, Watched, answer};

use super::exptime;
use crate::net::{Gone, Output, Waker};

/// The most watchers at once.
const MOST: usize = 20;
/// The most bytes of lines that wait for a client.
pub(super) const WAITING_BYTES: usize = 256 * 1024;
/// The kinds of events that happen here; a client can ask for others, and none comes.
const KINDS: [Event; 5] = [
    Event::Fetchers,
    Event::Mutations,
    Event::Evictions,
    Event::Connevents,
    Event::Deletions,
];

/// All watchers.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    /// A bit for each kind of event that has a watcher.
    kinds: AtomicU16,
    /// The number of the last event.
    events: AtomicU64,
    sent: AtomicU64,
    skipped: AtomicU64,
    list: Mutex<Vec<Arc<Watcher>>>,
}

#[derive(Debug)]
struct Watcher {
    watched: Watched,
    waker: Waker,
    lines: Mutex<Lines>,
}

/// The lines that wait to be sent.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// The number of lines that were left out since the last one that had room.
    skipped: u64,
}

/// The place of a watcher in the list. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Subscription {
    watchers: Arc<Watchers>,
    watcher: Arc<Watcher>,
}

/// The facts about a client that a line contains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) address: Option<SocketAddr>,
    pub(super) descriptor: i32,
}

impl Watchers {
    /// Adds a watcher. Returns `None` if there are too many.
    pub(super) fn join(self: &Arc<Self>, watched: Watched, waker: Waker) -> Option<Subscription> {
        let mut list = self.list();
        if list.len() >= MOST {
            return None;
        }
        let watcher = Arc::new(Watcher {
            watched,
            waker,
            lines: Mutex::default(),
        });
        list.push(Arc::clone(&watcher));
        self.update_kinds(&list);
        Some(Subscription {
            watchers: Arc::clone(self),
            watcher,
        })
    }

    /// Returns whether events of this kind have a watcher.
    pub(super) fn want(&self, event: Event) -> bool {
        self.kinds.load(Relaxed) & 1 << event as u16 != 0
    }

    /// Counts the watchers.
    pub(super) fn count(&self) -> usize {
        self.list().len()
    }

    /// Returns how many events were written for watchers, however many of them got the line.
    pub(super) fn written(&self) -> u64 {
        self.events.load(Relaxed)
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Relaxed)
    }

    /// Reports a get of a key, and how many bytes the value has if it was found.
    pub(super) fn fetched(&self, key: &[u8], found: Option<usize>, descriptor: i32) {
        let status = if found.is_some() {
            "found"
        } else {
            "not_found"
        };
        let size = found.unwrap_or(0);
        self.write_line(Event::Fetchers, |line| {
            begin(line, "item_get", key);
            let _ = write!(
                line,
                " status={status} clsid=0 cfd={descriptor} size={size}"
            );
        });
    }

    /// Reports a store, whether it succeeded or not.
    pub(super) fn stored(&self, key: &[u8], stored: &Stored, descriptor: i32) {
        let Stored {
            status,
            command,
            ttl_s,
            size_bytes,
        } = stored;
        self.write_line(Event::Mutations, |line| {
            begin(line, "item_store", key);
            let _ = write!(
                line,
                " status={status} cmd={command} ttl={ttl_s} clsid=0 cfd={descriptor} \
                 size={size_bytes}"
            );
        });
    }

    /// Reports a deleted key.
    pub(super) fn deleted(&self, key: &[u8], command: &str, size_bytes: usize) {
        self.write_line(Event::Deletions, |line| {
            begin(line, "deleted", key);
            let _ = write!(line, " cmd={command} clsid=0 size={size_bytes}");
        });
    }

    /// Reports a key that was evicted.
    pub(super) fn evicted(&self, evicted: &Evicted<'_>) {
        let Evicted {
            key,
            is_fetched,
            ttl_s,
            idle_s,
            size_bytes,
        } = *evicted;
        let fetch = if is_fetched { "yes" } else { "no" };
        self.write_line(Event::Evictions, |line| {
            begin(line, "eviction", key);
            let _ = write!(line, " fetch={fetch} ttl=");
            let _ = match ttl_s {
                Some(ttl_s) => write!(line, "{ttl_s}"),
                None => write!(line, "-1"),
            };
            let _ = write!(line, " la={idle_s} clsid=0 size={size_bytes}");
        });
    }

    /// Reports how many evicted keys were not listed, as there were too many.
    pub(super) fn lost(&self, evictions: u64) {
        self.skipped.fetch_add(evictions, Relaxed);
        for watcher in self.list().iter() {
            if watcher.watched.has(Event::Evictions) {
                watcher.lines().skipped += evictions;
            }
        }
    }

    /// Reports a new connection.
    pub(super) fn came(&self, client: Client) {
        self.write_line(Event::Connevents, |line| {
            line.extend_from_slice(b" type=conn_new");
            client.write(line);
            let _ = write!(line, " cfd={}", client.descriptor);
        });
    }

    /// Reports a connection that is gone. `has_failed` means that the server closed it because of
    /// its requests or because the table failed.
    pub(super) fn went(&self, client: Client, gone: Gone, has_failed: bool) {
        let reason = match gone {
            Gone::Done if !has_failed => "normal",
            Gone::Idle => "idle_timeout",
            Gone::CutOff => "shutdown",
            _ => "error",
        };
        self.write_line(Event::Connevents, |line| {
            line.extend_from_slice(b" type=conn_close");
            client.write(line);
            let _ = write!(line, " reason={reason} cfd={}", client.descriptor);
        });
    }

    /// Writes a line to each watcher of such events.
    fn write_line(&self, event: Event, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.want(event) {
            return;
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.unwrap_or_default();
        let number = self.events.fetch_add(1, Relaxed) + 1;
        let mut line = Vec::with_capacity(256);
        // As memcached writes it: seconds and microseconds, not a fraction.
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        let _ = write!(line, "ts={seconds}.{micros} gid={number}");
        write(&mut line);
        line.push(b'\n');
        for watcher in self.list().iter() {
            if watcher.watched.has(event) {
                let count = if watcher.take(&line) {
                    &self.sent
                } else {
                    &self.skipped
                };
                count.fetch_add(1, Relaxed);
            }
        }
    }

    /// Notes which kinds of events have watchers.
    fn update_kinds(&self, list: &[Arc<Watcher>]) {
        let wanted = KINDS
            .into_iter()
            .filter(|kind| list.iter().any(|watcher| watcher.watched.has(*kind)));
        let kinds = wanted.fold(0, |kinds, kind| kinds | 1 << kind as u16);
        self.kinds.store(kinds, Relaxed);
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Watcher>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store as watchers see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) status: &'static str,
    pub(super) command: &'static str,
    pub(super) ttl_s: u32,
    pub(super) size_bytes: usize,
}

impl Stored {
    /// Returns the event for an item that another command than a store has made.
    pub(super) fn by_command(
        command: &'static str,
        attributes: Option<Attributes>,
        size_bytes: usize,
    ) -> Self {
        let left_s = attributes.and_then(|attributes| exptime::left_s(attributes.expiry));
        Self {
            status: "stored",
            command,
            ttl_s: left_s.unwrap_or(0),
            size_bytes,
        }
    }
}

/// An evicted key as watchers see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evicted<'a> {
    pub(super) key: &'a [u8],
    pub(super) is_fetched: bool,
    /// The time to live that was left; `None` if the key did not expire.
    pub(super) ttl_s: Option<u32>,
    pub(super) idle_s: u32,
    pub(super) size_bytes: u64,
}

impl Watcher {
    /// Appends a line. Returns whether there was room for it.
    fn take(&self, line: &[u8]) -> bool {
        let mut lines = self.lines();
        if lines.bytes.len() + line.len() > WAITING_BYTES {
            lines.skipped += 1;
            return false;
        }
        let was_empty = lines.bytes.is_empty();
        let skipped = std::mem::take(&mut lines.skipped);
        if skipped > 0 {
            let _ = writeln!(lines.bytes, "skipped={skipped}");
        }
        lines.bytes.extend_from_slice(line);
        if was_empty {
            self.waker.wake();
        }
        true
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Moves waiting lines to the output. Returns false if the output is full, and there may be
    /// more lines.
    pub(super) fn send(&self, output: &mut Output) -> bool {
        if output.is_full() {
            return false;
        }
        let bytes = std::mem::take(&mut self.watcher.lines().bytes);
        output.push(bytes);
        true
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut list = self.watchers.list();
        list.retain(|watcher| !Arc::ptr_eq(watcher, &self.watcher));
        self.watchers.update_kinds(&list);
    }
}

impl Client {
    fn write(self, line: &mut Vec<u8>) {
        let _ = match self.address {
            Some(address) => write!(
                line,
                " rip={} rport={} transport=tcp",
                address.ip(),
                address.port()
            ),
            None => write!(line, " rip=unix rport=0 transport=local"),
        };
    }
}

/// Writes the beginning of a line: what happened to which key. Writing to a `Vec` does not fail.
fn begin(line: &mut Vec<u8>, kind: &str, key: &[u8]) {
    let _ = write!(line, " type={kind} key=");
    answer::uri_encoded(line, key);
}
