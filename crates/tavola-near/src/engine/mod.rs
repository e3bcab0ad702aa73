//! The daemon without its sockets: bytes and times in, bytes and answers out. The same code runs
//! behind sockets and in the simulation of the history checker.
//!
//! Two connections lead to the server. On the first come pushes and the answers to beats
//! ([`tracking`]); on the second, values ([`fills`]), so that a large value does not hold up a
//! beat. If one of them is lost, both are.

mod fills;
#[cfg(all(test, not(feature = "shuttle")))]
mod tests;
mod tracking;

use crate::owner::{Deposed, Owner};
use fills::Fills;
use std::rc::Rc;
use tracking::Tracking;

/// The shortest `max_stale`: several beats must fit in.
pub(crate) const LEAST_STALE_MS: u64 = 20;
/// The longest time between two beats.
const BEAT_MS: u64 = 250;
/// How long an answer of the server may take at least.
const PATIENCE_MS: u64 = 1000;

/// What a near cache is to do.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// L of the rules.
    pub(crate) max_stale_ms: u64,
    /// The longest life of a value.
    pub(crate) ttl_ms: Option<u64>,
    /// Keys with other beginnings are not cached. If it is empty, all are.
    pub(crate) prefixes: Vec<Vec<u8>>,
    pub(crate) login: Option<Login>,
    pub(crate) database: u32,
}

/// User and password on the server.
#[derive(Clone)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Settings {
    fn beat_ms(&self) -> u64 {
        (self.max_stale_ms / 4).min(BEAT_MS)
    }

    fn patience_ms(&self) -> u64 {
        self.max_stale_ms.max(PATIENCE_MS)
    }

    fn covers(&self, key: &[u8]) -> bool {
        let mut prefixes = self.prefixes.iter();
        self.prefixes.is_empty() || prefixes.any(|prefix| key.starts_with(prefix))
    }

    /// Returns the words of the greeting.
    fn hello(&self) -> Vec<&[u8]> {
        let mut words: Vec<&[u8]> = vec![b"HELLO", b"3"];
        if let Some(login) = &self.login {
            words.extend([b"AUTH", login.user.as_bytes(), login.password.as_bytes()]);
        }
        words
    }
}

/// One of the two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Tracking,
    Values,
}

/// Why an engine cannot go on with its connections.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The connections are lost.
    Lost(String),
    /// The server does not do what is needed.
    Refused(String),
    /// Another daemon has taken over.
    Deposed,
}

impl From<Deposed> for Stop {
    fn from(_: Deposed) -> Self {
        Self::Deposed
    }
}

/// What the server says of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Value(Rc<[u8]>),
    Missing,
    Failed(Rc<str>),
}

/// An answer for one who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) asker: u64,
    pub(crate) answer: Answer,
    /// From then on the answer is too old.
    pub(crate) deadline_ms: u64,
}

/// The owner of a near cache with its connections to the server.
pub(crate) struct Engine {
    owner: Owner,
    settings: Settings,
    tracking: Tracking,
    fills: Fills,
    answers: Vec<Answered>,
    is_connected: bool,
}

impl Engine {
    pub(crate) fn new(owner: Owner, settings: Settings) -> Self {
        Self {
            owner,
            settings,
            tracking: Tracking::default(),
            fills: Fills::default(),
            answers: Vec::new(),
            is_connected: false,
        }
    }

    /// Begins on two new connections.
    pub(crate) fn connected(&mut self, now_ms: u64) {
        self.tracking = Tracking::begin(&self.settings, now_ms);
        self.fills.begin(&self.settings, now_ms);
        self.is_connected = true;
    }

    /// Returns whether the server has confirmed that it pushes changes.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.is_connected && self.tracking.is_confirmed()
    }

    /// Returns the bytes to send, which the caller takes away.
    pub(crate) fn output(&mut self, side: Side) -> &mut Vec<u8> {
        match side {
            Side::Tracking => &mut self.tracking.out,
            Side::Values => &mut self.fills.out,
        }
    }

    /// Takes what the server sent.
    pub(crate) fn receive(&mut self, side: Side, bytes: &[u8], now_ms: u64) -> Result<(), Stop> {
        match side {
            Side::Tracking => self
                .tracking
                .receive(bytes, &mut self.owner, &self.settings, now_ms),
            Side::Values => {
                let (owner, settings) = (&mut self.owner, &self.settings);
                self.fills
                    .receive(bytes, owner, settings, &mut self.answers, now_ms)
            }
        }
    }

    /// Asks the server for a key, unless that has been done and the answer is on its way.
    pub(crate) fn ask(&mut self, asker: u64, key: &[u8], now_ms: u64) {
        let is_confirmed = self.is_confirmed();
        #[cfg(test)]
        let is_confirmed = is_confirmed
            || self.is_connected
                && crate::mistake::is_made(crate::mistake::Mistake::FillsUnconfirmed);
        if is_confirmed {
            self.fills
                .ask(asker, key, &self.owner, &self.settings, now_ms);
        } else {
            self.answers.push(Answered {
                asker,
                answer: Answer::Failed("it is not connected".into()),
                deadline_ms: u64::MAX,
            });
        }
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now_ms: u64) -> Result<(), Stop> {
        if !self.owner.is_owner() {
            return Err(Stop::Deposed);
        }
        self.owner.report_alive(now_ms);
        if self.is_connected {
            self.tracking.tick(&self.settings, now_ms)?;
            self.fills.tick(&self.settings, now_ms)?;
        }
        Ok(())
    }

    /// Returns when [`Engine::tick`] is to be called next.
    pub(crate) fn next_due_ms(&self, now_ms: u64) -> u64 {
        let due = self.tracking.due_ms(&self.settings);
        due.unwrap_or(u64::MAX).min(now_ms + BEAT_MS).max(now_ms)
    }

    /// Gives the connections up: no value of this epoch is used from now on.
    pub(crate) fn lose(&mut self, why: &str) -> Result<(), Deposed> {
        if !std::mem::take(&mut self.is_connected) {
            return Ok(());
        }
        self.tracking = Tracking::default();
        self.fills.fail(why, &mut self.answers);
        self.owner.next_epoch()
    }

    /// Takes the answers that have come.
    pub(crate) fn take_answers(&mut self) -> Vec<Answered> {
        std::mem::take(&mut self.answers)
    }
}
