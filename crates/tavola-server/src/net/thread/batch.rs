//! Short answers to several connections, sent by one system call.

use super::Token;
use crate::net::ring::{Ring, SENDS, Send, Sent};

/// The connections of a round whose answers are written and not sent yet.
#[derive(Debug)]
pub(super) struct SendBatch {
    /// `None` if the system refuses io_uring, or an option turns it off.
    ring: Option<Ring>,
    tokens: Vec<Token>,
}

impl SendBatch {
    pub(super) fn by(ring: Option<Ring>) -> Self {
        Self {
            ring,
            tokens: Vec::new(),
        }
    }

    /// Returns whether answers may wait for those of other connections.
    pub(super) fn is_possible(&self) -> bool {
        self.ring.is_some()
    }

    /// Adds a connection. Returns whether the batch is full now and has to be sent.
    pub(super) fn push(&mut self, token: Token) -> bool {
        self.tokens.push(token);
        self.tokens.len() == SENDS
    }

    /// Sends the answers and returns what each socket took, in the order of the connections.
    /// Returns `None` if nothing was sent: each answer has to be sent by a call of its own.
    pub(super) fn send<'a>(
        &mut self,
        answer: impl Fn(Token) -> Option<Send<'a>>,
    ) -> Option<[Sent; SENDS]> {
        if self.tokens.len() < 2 {
            return None;
        }
        // All connections exist: each had its turn in this round, and no turn closes another one.
        let sends: Option<Vec<_>> = self.tokens.iter().map(|&token| answer(token)).collect();
        let sent = self.ring.as_mut()?.send(&sends?);
        if sent.is_err() {
            self.ring = None;
        }
        sent.ok()
    }

    /// Returns the token of a connection of the batch by its number.
    pub(super) fn token(&self, number: usize) -> Option<Token> {
        self.tokens.get(number).copied()
    }

    pub(super) fn clear(&mut self) {
        self.tokens.clear();
    }
}
