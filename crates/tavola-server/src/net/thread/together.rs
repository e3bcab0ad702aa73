//! Answers of several connections that go out by one call.

use super::Token;
use crate::net::ring::{Ring, SENDS, Send, Sent};

/// Connections whose answers are due.
#[derive(Debug)]
pub(super) struct Together {
    /// None where the system has none for us.
    ring: Option<Ring>,
    due: Vec<Token>,
}

impl Together {
    pub(super) fn by(ring: Option<Ring>) -> Self {
        Self {
            ring,
            due: Vec::new(),
        }
    }

    /// Whether answers may wait for those of others.
    pub(super) fn is_possible(&self) -> bool {
        self.ring.is_some()
    }

    /// One more; true: there is no room for another.
    pub(super) fn add(&mut self, token: Token) -> bool {
        self.due.push(token);
        self.due.len() == SENDS
    }

    /// Sends what is due, in the order of their numbers; none: each has to be sent alone.
    pub(super) fn send<'a>(
        &mut self,
        due: impl Fn(Token) -> Option<Send<'a>>,
    ) -> Option<[Sent; SENDS]> {
        if self.due.len() < 2 {
            return None;
        }
        // All are there: no turn but their own has been since, and none closes another.
        let sends: Option<Vec<_>> = self.due.iter().map(|&token| due(token)).collect();
        let sent = self.ring.as_mut()?.send(&sends?);
        if sent.is_err() {
            self.ring = None;
        }
        sent.ok()
    }

    /// One of those whose answers were due.
    pub(super) fn token(&self, number: usize) -> Option<Token> {
        self.due.get(number).copied()
    }

    /// Nothing is due any more.
    pub(super) fn clear(&mut self) {
        self.due.clear();
    }
}
