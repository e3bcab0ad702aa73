//! A local table in front of the fleet.
//!
//! ```text
//! get    table ── hit ──────────────────────────────▶ value
//!          │ miss: one asker gets the lease of the key, others wait for it
//!          ▼
//!        server ── value ── fill the table, for the TTL ─▶ value
//!
//! write  server ── whatever the outcome ── remove from the table ─▶ outcome
//! ```
//!
//! - **NEAR-1** A value is put into the table by a lease alone, and is what a server had after the
//!   lease was won. So the TTL bounds how old a value in the table is.
//! - **NEAR-2** A writer removes the key after the server's outcome and before the caller gets it.
//!   A removal ends the lease of the key. So a value that was fetched before the write is removed
//!   if it was put in before the removal, and refused if it comes after it: once a write has
//!   returned, no process of this machine that uses the table gets an older value from it.
//! - **NEAR-3** Every request that may have changed something is followed by a removal: if its
//!   outcome is unknown, and if the call ends by a panic. Only a process that is killed in between
//!   leaves an older value behind, for the TTL at most.
//! - **NEAR-4** Misses and failures are not kept. For a moment they let all askers ask the server
//!   themselves, so that they do not wait for each other in a row.

#[cfg(test)]
mod stale;

use crate::batch::{Action, AskTtl, Outcome, Reply, Request, Sink};
use crate::error::BuildError;
use crate::fleet::Fleet;
use crate::options::Settings;
use crate::replica;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tavola::{Lease, LeaseOptions, Leased, Pending, Table, Tags};

/// The capacity of a table that is made here.
const CAPACITY_BYTES: u64 = 64 << 20;
/// How long askers do not wait for each other after a miss or a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// The table in front of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    table: Arc<Table>,
    ttl: Duration,
    options: LeaseOptions,
    began: Instant,
    /// Milliseconds from `began` until which the table is not read: a removal failed.
    off_until_ms: Arc<AtomicU64>,
}

/// A table that is asked for, before the client is made.
#[derive(Clone, Debug)]
pub(crate) struct NearOption {
    pub(crate) name: String,
    pub(crate) ttl: Duration,
}

impl NearOption {
    /// Opens the table, or makes a cache.
    pub(crate) fn open(&self, settings: &Settings) -> Result<Near, BuildError> {
        if self.ttl < Duration::from_millis(1) {
            return Err(BuildError::Option {
                name: "near",
                why: "values would not live; give a TTL of 1 ms or more",
            });
        }
        let options = Table::options().capacity(CAPACITY_BYTES);
        let table = options.open(&self.name).map_err(|error| BuildError::Near {
            name: self.name.clone(),
            why: error.to_string(),
        })?;
        // An owner that is alive has an outcome by then.
        let lease = settings.io_timeout * 2 + Duration::from_secs(1);
        Ok(Near {
            table: Arc::new(table),
            ttl: self.ttl,
            options: LeaseOptions::new(self.ttl).lease(lease.min(Duration::from_secs(3600))),
            began: Instant::now(),
            off_until_ms: Arc::default(),
        })
    }
}

impl Near {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn is_on(&self) -> bool {
        // Pairs with nothing: it matters to the thread that wrote it, which reads it later.
        self.off_until_ms.load(Ordering::Relaxed) <= self.now_ms()
    }

    /// Removes a key that may have another value on its server now.
    fn remove(&self, key: &[u8]) {
        if self.table.remove(key).is_err() {
            self.turn_off();
        }
    }

    /// Removes all keys.
    pub(crate) fn clear(&self) {
        if self.table.clear().is_err() {
            self.turn_off();
        }
    }

    /// Does not read the table while it may have values of before a write of this process.
    fn turn_off(&self) {
        let ttl_ms = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let until_ms = self.now_ms().saturating_add(ttl_ms);
        self.off_until_ms.fetch_max(until_ms, Ordering::Relaxed);
    }

    /// Returns what is in the table, or what to do; `None` to ask the server without a lease.
    fn find(&self, key: &[u8]) -> Option<TableAnswer> {
        let (leased, flags) = self.table.get_or_lease_with_flags(key, self.options).ok()?;
        match leased {
            Leased::Hit(value) => Some(TableAnswer::Value { value, flags }),
            Leased::Won(lease) => Some(TableAnswer::Lease(lease)),
            Leased::Wait(pending) => Some(TableAnswer::Pending(pending)),
            Leased::Stale { .. } | Leased::Failed { .. } => None,
        }
    }
}

/// The answer of the table to a read of a key.
enum TableAnswer {
    Value { value: Vec<u8>, flags: u32 },
    Lease(Lease),
    Pending(Pending),
}

/// Executes requests as [`replica::execute`] does, through the table.
pub(crate) fn execute(fleet: &Fleet, near: &Near, requests: &[Request<'_>], sink: &mut dyn Sink) {
    let is_plain = |request: &Request<'_>| match request.action {
        Action::Get {
            with_cas,
            ttl,
            touch,
        } => !with_cas && ttl == AskTtl::No && touch.is_none(),
        _ => false,
    };
    if near.is_on() && requests.iter().all(is_plain) {
        return read(fleet, near, requests, sink);
    }
    // Without an answer nobody would know when to remove the key.
    let loud = requests.iter().map(|request| Request {
        reply: Reply::Wait,
        ..*request
    });
    let loud: Vec<Request<'_>> = loud.collect();
    let is_open = requests.iter().map(|request| !request.is_read()).collect();
    let mut removing = Removing {
        fleet,
        near,
        requests,
        is_open,
        sink,
    };
    replica::execute(fleet, &loud, &mut removing);
}

/// The key as its server and the table have it.
fn whole<'k>(fleet: &Fleet, key: &'k [u8]) -> Cow<'k, [u8]> {
    let namespace = &fleet.settings.namespace;
    match namespace.is_empty() {
        true => Cow::Borrowed(key),
        false => Cow::Owned([namespace, key].concat()),
    }
}

/// Removes keys from the table before the outcomes of their changes are reported.
struct Removing<'r, 'b> {
    fleet: &'r Fleet,
    near: &'r Near,
    requests: &'r [Request<'b>],
    /// For each request, whether its key is still to be removed.
    is_open: Vec<bool>,
    sink: &'r mut dyn Sink,
}

impl Removing<'_, '_> {
    fn remove(&mut self, index: usize) {
        if std::mem::take(&mut self.is_open[index]) {
            let key = whole(self.fleet, self.requests[index].key);
            self.near.remove(&key);
        }
    }
}

impl Sink for Removing<'_, '_> {
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        self.sink.room(index, len, flags)
    }

    fn ttl(&mut self, index: usize, left_s: Option<u32>) {
        self.sink.ttl(index, left_s);
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.remove(index);
        self.sink.done(index, outcome);
    }
}

impl Drop for Removing<'_, '_> {
    /// After a panic of the sink: what was sent may be carried out.
    fn drop(&mut self) {
        for index in 0..self.requests.len() {
            self.remove(index);
        }
    }
}

/// Gets values from the table, and what is missing there from the servers.
fn read(fleet: &Fleet, near: &Near, requests: &[Request<'_>], sink: &mut dyn Sink) {
    let deadline = Instant::now() + fleet.settings.io_timeout;
    let mut open: Vec<usize> = (0..requests.len()).collect();
    for may_wait in [true, false] {
        let mut asked = Vec::new();
        let mut pending = Vec::new();
        for index in std::mem::take(&mut open) {
            match near.find(&whole(fleet, requests[index].key)) {
                Some(TableAnswer::Value { value, flags }) => deliver(sink, index, &value, flags),
                Some(TableAnswer::Lease(lease)) => asked.push(Asked::new(index, Some(lease))),
                Some(TableAnswer::Pending(one)) if may_wait => pending.push((index, one)),
                Some(TableAnswer::Pending(_)) | None => asked.push(Asked::new(index, None)),
            }
        }
        // What this call has leases for comes first: others may wait for it while this one waits
        // for them.
        fetch(fleet, requests, asked, sink);
        for (index, one) in pending {
            let left = deadline.saturating_duration_since(Instant::now());
            // If it cannot be waited for, the server is asked.
            let _ = one.wait(left);
            open.push(index);
        }
        if open.is_empty() {
            return;
        }
    }
}

fn deliver(sink: &mut dyn Sink, index: usize, value: &[u8], flags: u32) {
    let room = sink.room(index, value.len(), flags);
    if let Some(room) = room.filter(|room| room.len() == value.len()) {
        room.copy_from_slice(value);
    }
    sink.done(index, Outcome::Hit { flags, cas: None });
}

/// A key that a server is asked for.
struct Asked {
    /// The place in the caller's batch.
    index: usize,
    lease: Option<Lease>,
    value: Vec<u8>,
}

impl Asked {
    fn new(index: usize, lease: Option<Lease>) -> Self {
        let value = Vec::new();
        Self {
            index,
            lease,
            value,
        }
    }
}

fn fetch(fleet: &Fleet, requests: &[Request<'_>], asked: Vec<Asked>, sink: &mut dyn Sink) {
    if asked.is_empty() {
        return;
    }
    let some: Vec<Request<'_>> = asked.iter().map(|one| requests[one.index]).collect();
    let mut filling = Filling {
        asked,
        sink,
        #[cfg(test)]
        fleet,
        #[cfg(test)]
        requests,
    };
    replica::execute(fleet, &some, &mut filling);
}

/// Puts values into the table before they are reported.
struct Filling<'f> {
    asked: Vec<Asked>,
    sink: &'f mut dyn Sink,
    #[cfg(test)]
    fleet: &'f Fleet,
    #[cfg(test)]
    requests: &'f [Request<'f>],
}

impl Sink for Filling<'_> {
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        let asked = &mut self.asked[index];
        if asked.lease.is_none() {
            return self.sink.room(asked.index, len, flags);
        }
        asked.value.resize(len, 0);
        Some(&mut asked.value)
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        let Asked {
            index,
            lease,
            value,
        } = &mut self.asked[index];
        match (lease.take(), &outcome) {
            (Some(lease), Outcome::Hit { flags, .. }) => {
                #[cfg(test)]
                let lease = stale::exchange(self.fleet, self.requests[*index].key, lease);
                // What the table cannot store is returned anyway.
                let _ = lease.fill_with(&*value, *flags, &Tags::NONE);
                deliver(self.sink, *index, value, *flags);
            }
            (Some(lease), _) => {
                // If that cannot be recorded, others win the lease at once.
                let _ = lease.fail(PAUSE, b"the server has no value");
                self.sink.done(*index, outcome);
            }
            (None, _) => self.sink.done(*index, outcome),
        }
    }
}
