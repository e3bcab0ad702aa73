//! How connections end, and which of them have to end by a time.
//!
//! A connection is not closed while its client may be sending: the kernel answers what comes to a
//! closed socket by a reset, which throws away answers that the client has not read. The server
//! closes its own direction only, and reads and throws away what comes until the client closes.

use std::time::{Duration, Instant};

use super::Loop;
use super::connection::{Connection, Stage, Way};
use crate::net::service::{Gone, Worker};

/// How long a client may take to close its side after the service closed.
const LINGER: Duration = Duration::from_secs(1);
/// The same where a drain ended an idle connection: long enough for a request that was under way.
const LINGER_OF_IDLE: Duration = Duration::from_millis(250);
/// Times are looked at so often at most, and at least.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// What happens to a connection whose time has come.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// It is closed.
    Close(Gone),
    /// The server closes its direction.
    EndSide,
}

impl<S> Connection<S> {
    /// Closes the server's direction if the service closed the connection and all is sent. Returns
    /// by when the connection has to have another look.
    pub(super) fn end_side(&mut self, now: Instant) -> Option<Instant> {
        let linger = match self.is_retired {
            true => LINGER_OF_IDLE,
            false => LINGER,
        };
        match self.stage {
            Stage::Held { until } if !self.is_timed => return Some(until),
            Stage::Closing => {}
            _ => return None,
        }
        if self.output.is_empty() {
            self.stream.say_end();
        }
        if !self.is_sent() {
            return None;
        }
        self.stream.finish();
        let until = now + linger;
        self.stage = Stage::Lingering { until };
        Some(until)
    }
}

impl<W: Worker> Loop<W> {
    /// Ends what was idle, held or lingered for too long, and all when the time of a drain is
    /// over.
    pub(super) fn look_at_times(&mut self) {
        let now = self.desk.now;
        let found = self.connections.iter();
        let found: Vec<_> = found
            .filter_map(|(token, connection)| Some((token, self.over(connection)?)))
            .collect();
        for (token, over) in found {
            match over {
                Over::Close(gone) => self.close(token, gone),
                Over::EndSide => {
                    if let Some(connection) = self.connections.get_mut(token) {
                        connection.is_retired = connection.stage == Stage::Open;
                        connection.stage = Stage::Closing;
                    }
                    self.turn(token, Way::READ);
                }
            }
        }
        let idle_timeout = self.desk.limits.idle_timeout;
        let look = idle_timeout.map_or(LOOKS.1, |timeout| (timeout / 4).clamp(LOOKS.0, LOOKS.1));
        let look = if self.timed > 0 || self.draining.is_some() {
            look.min(LINGER / 4)
        } else {
            look
        };
        self.next_look = now + look;
        if let Some(until) = self.draining {
            self.next_look = self.next_look.min(until.max(now));
        }
    }

    fn over(&self, connection: &Connection<W::Session>) -> Option<Over> {
        let now = self.desk.now;
        let drain_over = self.draining.is_some_and(|until| now >= until);
        let idle = now.saturating_duration_since(connection.last_byte);
        match connection.stage {
            Stage::Lingering { until } => {
                let is_over = now >= until || drain_over;
                return is_over.then_some(Over::Close(Gone::Done));
            }
            Stage::Held { until } if now >= until => return Some(Over::EndSide),
            _ => {}
        }
        let drains_idle = self.draining.is_some() && connection.is_idle();
        if drains_idle && drain_over {
            Some(Over::Close(Gone::Done))
        } else if drain_over {
            Some(Over::Close(Gone::CutOff))
        } else if drains_idle && !connection.awaits_first(now) {
            Some(Over::EndSide)
        } else if connection.handshake.is_some_and(|until| now >= until) {
            Some(Over::Close(Gone::Handshake))
        } else if self
            .desk
            .limits
            .idle_timeout
            .is_some_and(|timeout| idle >= timeout)
        {
            Some(Over::Close(Gone::Idle))
        } else {
            None
        }
    }
}
