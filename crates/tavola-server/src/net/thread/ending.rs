//! How connections end, and which of them have to end by a time.
//!
//! A connection is not closed while its client may be sending: the kernel answers what comes to a
//! closed socket by a reset, which throws away answers that the client has not read. The server
//! closes its own direction only, and reads and throws away what comes until the client closes.

use std::time::{Duration, Instant};

use super::Loop;
use super::Phase;
use super::connection::Connection;
use super::state::{Opening, Stage};
use super::strategy::Turn;
use crate::net::service::{Gone, Worker};

/// The shortest and the longest time between two checks of the deadlines.
const CHECKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// The longest time between two checks while a connection lingers, is held or shakes hands, and
/// during a drain.
const CHECK_SOON: Duration = Duration::from_millis(250);

/// What happens to a connection at its deadline.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// The connection is closed.
    Close(Gone),
    /// The server closes its direction.
    EndSide,
}

impl<S> Connection<S> {
    /// Closes the server's direction if the service closed the connection and all answers are sent.
    /// Returns the deadline of the connection's stage, if it has one.
    pub(super) fn end_side(&mut self, now: Instant) -> Option<Instant> {
        let linger = match self.stage {
            Stage::Held { until } => return Some(until),
            Stage::Closing { linger } => linger,
            _ => return None,
        };
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

    /// Returns whether the connection has a deadline by its own state, whatever the options say.
    fn has_deadline(&self) -> bool {
        let by_stage = matches!(self.stage, Stage::Held { .. } | Stage::Lingering { .. });
        by_stage || self.is_handshaking()
    }
}

impl<W: Worker> Loop<W> {
    /// Makes the thread check deadlines at the time `at` or before.
    pub(super) fn check_deadlines_at(&mut self, at: Instant) {
        let next = self.next_check.map_or(at, |next| next.min(at));
        self.next_check = Some(next);
    }

    /// Ends connections that were idle, held or lingering for too long. Ends all connections if the
    /// time of a drain is over.
    pub(super) fn check_deadlines(&mut self) {
        let now = self.space.now;
        let found = self.connections.iter();
        let found: Vec<_> = found
            .filter_map(|(token, connection)| Some((token, self.over(connection)?)))
            .collect();
        self.next_check = None;
        for (token, over) in found {
            match over {
                Over::Close(gone) => self.close(token, gone),
                Over::EndSide => {
                    if let Some(connection) = self.connections.get_mut(token) {
                        connection.stage = match connection.stage {
                            Stage::Open => Stage::CLOSING_IDLE,
                            _ => Stage::CLOSING,
                        };
                    }
                    self.turn(token, Turn::PLAIN);
                }
            }
        }
        if let Some(timeout) = self.space.limits.idle_timeout {
            self.check_deadlines_at(now + (timeout / 4).clamp(CHECKS.0, CHECKS.1));
        }
        if let Phase::Draining { until } = self.phase {
            self.check_deadlines_at(until.max(now).min(now + CHECK_SOON));
        } else if self.connections.iter().any(|(_, one)| one.has_deadline()) {
            self.check_deadlines_at(now + CHECK_SOON);
        }
    }

    fn over(&self, connection: &Connection<W::Session>) -> Option<Over> {
        let now = self.space.now;
        let (is_draining, drain_over) = match self.phase {
            Phase::Draining { until } => (true, now >= until),
            Phase::Serving | Phase::Stopped => (false, false),
        };
        let idle = now.saturating_duration_since(connection.last_byte);
        match connection.stage {
            Stage::Lingering { until } => {
                let is_over = now >= until || drain_over;
                return is_over.then_some(Over::Close(Gone::Done));
            }
            Stage::Held { until } if now >= until => return Some(Over::EndSide),
            _ => {}
        }
        let drains_idle = is_draining && connection.is_idle();
        if drains_idle && drain_over {
            Some(Over::Close(Gone::Done))
        } else if drain_over {
            Some(Over::Close(Gone::CutOff))
        } else if drains_idle && !connection.awaits_first(now) {
            Some(Over::EndSide)
        } else if matches!(connection.opening, Opening::Handshake { until } if now >= until) {
            Some(Over::Close(Gone::Handshake))
        } else if self
            .space
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
