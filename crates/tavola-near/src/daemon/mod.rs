//! The daemon: waits until it is the owner, then serves readers until it is deposed or stopped.

mod askers;
mod seat;
mod serve;

use crate::address::Address;
use crate::engine::{LEAST_STALE_MS, Login, Settings};
use crate::error::{NearError, Result};
use crate::shared::{Shared, fold};
use seat::Seat;
use serve::{Ended, Serving};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tavola::Table;

/// How old a value may be, unless another time is given.
const MAX_STALE: Duration = Duration::from_secs(1);

/// What a daemon is to do.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    address: Address,
    prefixes: Vec<Vec<u8>>,
    max_stale: Duration,
    ttl: Option<Duration>,
}

/// What has happened to a daemon.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearEvent {
    /// Another daemon is the owner. This one waits.
    StandsBy,
    /// This daemon is the owner now.
    TookOver,
    /// The server pushes what changes, so values are cached.
    Connected,
    /// The connections are lost, with the reason. They are made again.
    Lost(String),
    /// Another daemon has taken over, because this one was stopped for long.
    Deposed,
}

impl fmt::Display for NearEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandsBy => write!(f, "another daemon works; this one stands by"),
            Self::TookOver => write!(f, "this daemon works now"),
            Self::Connected => write!(f, "connected to the server"),
            Self::Lost(why) => write!(f, "lost the server: {why}; trying again"),
            Self::Deposed => write!(f, "another daemon has taken over"),
        }
    }
}

impl DaemonOptions {
    /// Returns the options of a daemon for a server:
    /// `redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]` or `unix:PATH`.
    ///
    /// # Errors
    /// [`NearError::BadOption`].
    pub fn new(upstream: &str) -> Result<Self> {
        Ok(Self {
            address: Address::parse(upstream)?,
            prefixes: Vec::new(),
            max_stale: MAX_STALE,
            ttl: None,
        })
    }

    /// Logs in with this password, as the user of the address, if it names one.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        let login = self.address.login.take();
        let user = login.map_or_else(|| "default".to_owned(), |login| login.user);
        let password = password.into();
        self.address.login = Some(Login { user, password });
        self
    }

    /// Caches only keys with this beginning, or one of several.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.prefixes.push(prefix.into());
        self
    }

    /// Sets how old a value may be when it is read: 20 ms to an hour, 1 s by default.
    #[must_use]
    pub fn max_stale(mut self, max_stale: Duration) -> Self {
        self.max_stale = max_stale;
        self
    }

    /// Sets how long a value stays in the table at most.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    fn settings(&self) -> Result<Settings> {
        let max_stale_ms = self.max_stale.as_millis() as u64;
        if !(LEAST_STALE_MS..=3_600_000).contains(&max_stale_ms) {
            return Err(NearError::BadOption {
                option: "max-stale",
                why: "it is 20 ms to an hour".to_owned(),
            });
        }
        let ttl_ms = self.ttl.map(|ttl| ttl.as_millis() as u64);
        if ttl_ms == Some(0) {
            return Err(NearError::BadOption {
                option: "ttl",
                why: "it is 1 ms or more".to_owned(),
            });
        }
        Ok(Settings {
            max_stale_ms,
            ttl_ms,
            prefixes: self.prefixes.clone(),
            login: self.address.login.clone(),
            database: self.address.database,
        })
    }

    /// Returns what tells near caches apart: where the values come from, and which.
    fn fingerprint(&self) -> u64 {
        let mut prefixes = self.prefixes.clone();
        prefixes.sort();
        let address = self.address.to_string();
        let mut parts = vec![address.as_bytes()];
        parts.extend(prefixes.iter().map(Vec::as_slice));
        fold(&parts)
    }

    /// Works as a daemon for the near cache in a table, until `stop` is true. While another daemon
    /// works for it, this one waits, and takes over if that one dies or is stopped. The lock
    /// timeout of the handle becomes `max_stale`.
    ///
    /// # Errors
    /// [`NearError::OtherUpstream`]; [`NearError::Refused`] if the server refuses tracking or is a
    /// replica, when this daemon connects for the first time; [`NearError::Socket`];
    /// [`NearError::Table`].
    ///
    /// # Crash
    /// Killed at any moment, it leaves a cache whose values expire within `max_stale`, and which
    /// the next daemon takes over.
    pub fn run(
        &self,
        table: &Arc<Table>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(NearEvent),
    ) -> Result<()> {
        let settings = self.settings()?;
        // A process that is stopped while it has a lock of the table must not stop this daemon.
        table.set_lock_timeout(Some(self.max_stale))?;
        let shared = Shared::create(table, self.fingerprint())?;
        let mut was_connected = false;
        let mut has_reported = false;
        // Ends with the process: no other thread has to see it in an order.
        while !stop.load(Ordering::Relaxed) {
            let Some((owner, seat)) = Seat::take(table, &shared, settings.max_stale_ms)? else {
                if !std::mem::replace(&mut has_reported, true) {
                    report(NearEvent::StandsBy);
                }
                continue;
            };
            report(NearEvent::TookOver);
            let mut serving = Serving::begin(table, owner, settings.clone(), &self.address)?;
            serving.was_connected |= was_connected;
            let ended = serving.run(stop, report)?;
            was_connected |= serving.was_connected;
            if ended == Ended::Deposed {
                report(NearEvent::Deposed);
                has_reported = true;
            } else {
                serving.remove_socket();
            }
            drop(serving);
            seat.leave();
        }
        Ok(())
    }
}
