//! Which process holds a lock: for errors, for `tavola lock`, and for the notice of a long wait.

use super::membership::{identity_of, is_alive, slot_of};
use super::{FILE, JOURNAL, POOL, SHARD, TURN};
use crate::error::{Holder, Lock};
use crate::lock::Me;
use crate::region::Region;
use crate::sync::W32;
use crate::sys::process::{Activity, activity, is_local};
use std::sync::OnceLock;
use std::time::Duration;

/// A process is notified after waiting for this long.
pub(super) const LONG: Duration = Duration::from_secs(1);

static NOTICE: OnceLock<fn(&Holder)> = OnceLock::new();

/// Sets a function that a thread calls when it has waited for a lock for more than a second, once
/// per lock. Returns false if a function was set before: it can be set once per process.
///
/// The function must not use a table.
///
/// # Examples
/// ```
/// tavola::on_long_wait(|holder| eprintln!("waiting for {holder}"));
/// ```
pub fn on_long_wait(notice: fn(&Holder)) -> bool {
    NOTICE.set(notice).is_ok()
}

pub(super) fn notify(holder: impl FnOnce() -> Holder) {
    if let Some(notice) = NOTICE.get() {
        notice(&holder());
    }
}

/// Returns which lock a word is.
pub(super) fn lock_of(region: &Region, word: &W32, kind: u8) -> Lock {
    match kind {
        SHARD => {
            let mut all = 0..region.geometry().shards();
            let found = all.find(|number| std::ptr::eq(&region.shard(*number).lock, word));
            Lock::Shard(found.unwrap_or(0))
        }
        POOL => Lock::Pool,
        TURN => Lock::Turn,
        JOURNAL => Lock::Journal,
        FILE => Lock::JournalFiles,
        _ => Lock::Queue,
    }
}

/// Returns what can be found out about the participant that holds a lock.
pub(crate) fn holder(region: &Region, lock: Lock, owner: u32, me: Me) -> Holder {
    let Some(slot) = slot_of(region, owner) else {
        return Holder {
            is_alive: false,
            ..Holder::new(lock, 0)
        };
    };
    let identity = identity_of(region, slot);
    Holder {
        is_local: is_local(&identity),
        is_stopped: activity(&identity) == Activity::Stopped,
        is_alive: is_alive(region, owner, me),
        ..Holder::new(lock, identity.pid)
    }
}
