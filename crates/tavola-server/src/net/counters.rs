//! The counters of a server: each thread counts for itself, and a reader sums them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::net::options::Setup;
use crate::net::shared::Shared;

/// The counters of one thread or of a whole server at one moment.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that are open.
    pub current_connections: u64,
    /// Connections that were accepted since the start.
    pub total_connections: u64,
    /// Connections that were refused as there were too many. Of the whole server only.
    pub rejected_connections: u64,
    /// How often no more connections were accepted, at the limit or for want of files or memory.
    /// Of the whole server only.
    pub accept_stops: u64,
    /// Bytes that came from clients.
    pub bytes_read: u64,
    /// Bytes that went to clients.
    pub bytes_written: u64,
    /// How often answers went out by one call with those to other connections.
    pub sent_together: u64,
    /// Connections that were closed as they were idle for too long.
    pub idle_closed: u64,
    /// Connections that were closed as they sent more than a service wanted.
    pub overlong_closed: u64,
    /// Connections that were closed as all together held too much memory.
    pub memory_closed: u64,
    /// Connections that were closed while a request was under way, when the time of a drain was
    /// over.
    pub cut_off: u64,
    /// Connections that ended in a panic of the service.
    pub panics: u64,
    /// Sessions of TLS that were begun, and did not resume an earlier one.
    pub tls_sessions: u64,
    /// Connections that ended before their TLS handshake was complete.
    pub tls_handshake_errors: u64,
    /// Connections that broke the TLS protocol after their handshake.
    pub tls_errors: u64,
}

/// Reads the counters of a server, from any thread.
#[derive(Clone)]
pub struct Meter {
    pub(crate) shared: Arc<Shared>,
}

impl Meter {
    /// Returns the counters of each serving thread.
    pub fn threads(&self) -> Vec<Counters> {
        let threads = self.shared.threads.iter();
        threads.map(|place| place.counters.read()).collect()
    }

    /// Returns how the server was started.
    pub fn setup(&self) -> &Setup {
        &self.shared.setup
    }

    /// Returns the counters of the whole server.
    pub fn sum(&self) -> Counters {
        let mut sum = Counters {
            rejected_connections: self.shared.rejected.get(),
            accept_stops: self.shared.accept_stops.get(),
            ..Counters::default()
        };
        for one in self.threads() {
            sum.current_connections += one.current_connections;
            sum.total_connections += one.total_connections;
            sum.bytes_read += one.bytes_read;
            sum.bytes_written += one.bytes_written;
            sum.sent_together += one.sent_together;
            sum.idle_closed += one.idle_closed;
            sum.overlong_closed += one.overlong_closed;
            sum.memory_closed += one.memory_closed;
            sum.cut_off += one.cut_off;
            sum.panics += one.panics;
            sum.tls_sessions += one.tls_sessions;
            sum.tls_handshake_errors += one.tls_handshake_errors;
            sum.tls_errors += one.tls_errors;
        }
        sum
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Meter").field(&self.sum()).finish()
    }
}

/// A number that one thread changes and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds `by` to the number. Only the thread that owns the number may call this, as the addition
    /// is not atomic.
    pub(crate) fn add(&self, by: u64) {
        self.0.store(self.0.load(Relaxed) + by, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The counters that a serving thread changes.
#[derive(Debug, Default)]
pub(crate) struct ThreadCounters {
    /// Incremented by the acceptor when it hands a connection on, decremented by the thread.
    pub(crate) connections: AtomicUsize,
    pub(crate) total: Count,
    pub(crate) read: Count,
    pub(crate) written: Count,
    pub(crate) together: Count,
    pub(crate) idle_closed: Count,
    pub(crate) overlong_closed: Count,
    pub(crate) memory_closed: Count,
    pub(crate) cut_off: Count,
    pub(crate) panics: Count,
    pub(crate) tls_sessions: Count,
    pub(crate) tls_handshake_errors: Count,
    pub(crate) tls_errors: Count,
}

impl ThreadCounters {
    fn read(&self) -> Counters {
        Counters {
            current_connections: self.connections.load(Relaxed) as u64,
            total_connections: self.total.get(),
            bytes_read: self.read.get(),
            bytes_written: self.written.get(),
            sent_together: self.together.get(),
            idle_closed: self.idle_closed.get(),
            overlong_closed: self.overlong_closed.get(),
            memory_closed: self.memory_closed.get(),
            cut_off: self.cut_off.get(),
            panics: self.panics.get(),
            tls_sessions: self.tls_sessions.get(),
            tls_handshake_errors: self.tls_handshake_errors.get(),
            tls_errors: self.tls_errors.get(),
            ..Counters::default()
        }
    }
}
