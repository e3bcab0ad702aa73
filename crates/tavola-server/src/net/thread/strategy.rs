//! When a thread reads, when it sends, and how it waits: everything that is not needed for correct
//! answers, only for fast ones, is decided here.
//!
//! # The problem
//!
//! A request of one key takes the server 0.1 us of its own work and several microseconds of system
//! calls and thread switches. The plain loop of an epoll server is: wait, read from a connection,
//! answer, send, next connection. It wakes a sleeping thread, its own or the client's, more often
//! than needed. What can be saved depends on where the clients run, which the server does not know,
//! so it watches what happens.
//!
//! # The four deviations from the plain loop
//!
//! **Spin** ([`Spin`]). *Idea:* a thread that was busy polls for 50 us before it sleeps, as the
//! next request often comes sooner than a sleeping thread wakes up. *Earns:* one connection with
//! one request a trip, client and server on different CPUs: 2.9 to 3.2 times the rate of gets for
//! 0.7 of the CPU time a request. *Costs:* where no process is bound to a CPU, 1.7 times the CPU
//! time of a single connection, for no more requests. *Off:* by `-o spin=0`, and while it does not
//! pay: when 8 spins in a row found nothing, when the client needs this CPU, after another process
//! preempted the thread.
//!
//! **Reread and peek** ([`Reread`], [`Peek`](crate::net::peek::Peek)). *Idea:* the only client that
//! is active mostly asks next. On a CPU that it shares with the server it runs while its answer is
//! sent, so its next request is there when `send` returns: reading again saves an `epoll_wait`.
//! Over a Unix socket the request is peeked at and stays in the socket for up to 6 turns: to take
//! it out would wake the client, which sleeps until the answer comes. *Earns:* client and server on
//! one CPU, one connection over a Unix socket: 1.20 times the rate of gets and sets for 0.8 of the
//! CPU time; over TCP, where nothing can be left in the socket, 1.02 to 1.05. *Off:* when the
//! thread has events of several connections, when a drain is under way, and for 1 to 64 rounds
//! after two tries in a row found nothing, as on two CPUs.
//!
//! **Batched sends** ([`SendBatch`], [`Ring`](crate::net::ring::Ring)). *Idea:* answers of a round
//! that go to several connections are sent by one call of an io_uring. On a shared CPU each `send`
//! lets the client run that it woke, which sleeps again before the next answer comes; one call for
//! all wakes it once. *Earns:* 50 connections on one CPU: 1.08 to 1.42 times the rate over TCP,
//! 1.15 to 1.59 over Unix sockets, for 0.60 to 0.91 of the CPU time. *Costs:* 50 threads of a
//! client over a Unix socket, on two CPUs, had 0.63 to 1.03 of the rate. *Off:* by `-o io=epoll`,
//! where the system refuses io_uring, for a connection that is alone in its round, for long answers
//! and for TLS.
//!
//! **Early sends.** *Idea:* of a long pipeline the first answers are sent before the rest is
//! carried out, so that a client that has a CPU of its own wakes up meanwhile. *Earns:* 50 gets a
//! trip over TCP, on two CPUs: 1.30 to 1.36 times the rate for 0.73 to 0.76 of the CPU time. *Off:*
//! if several connections have events, if spinning has not shown that the client has a CPU of its
//! own, and for less than 1 KiB of requests.
//!
//! Figures are of `docs/internals/performance.md`, "Tricks of the loop, each measured alone".
//!
//! # How they fit together
//!
//! | events of a round | reading | sending |
//! |---|---|---|
//! | one, nobody else ready | `Peek` unless paused | `FirstEarly` if the client has its own CPU |
//! | several | `TakeOut` | `InBatch` if there is an io_uring |
//! | any, during a drain | `TakeOut` | `AtEnd` |

use std::time::Duration;

use super::Token;
use super::batch::SendBatch;
use super::spin::Spin;
use crate::net::poll::Poll;
use crate::net::ring::Ring;

/// The most turns in a row that a connection has without a wait. Requests left in a Unix socket
/// meanwhile are taken out at the end, in the time of one trip.
pub(super) const REREADS: u32 = 6;
/// The most rounds without rereading after two rereads in a row found nothing.
const MOST_PAUSE_ROUNDS: u32 = 64;

/// How a turn reads and sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) reading: Reading,
    pub(super) sending: Sending,
}

/// What a turn does with requests that have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Does not read: the event only reports that the socket takes more answers.
    Nothing,
    /// Reads them and takes them out of the socket.
    TakeOut,
    /// Reads them and may leave them in a Unix socket until `Stream::take_out`.
    Peek,
}

/// When a turn sends its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// When all requests are carried out.
    AtEnd,
    /// The first answers to many requests before the rest is carried out.
    FirstEarly,
    /// Short answers with those of other connections.
    InBatch,
}

impl Turn {
    /// The turn of the plain loop.
    pub(super) const PLAIN: Self = Self {
        reading: Reading::TakeOut,
        sending: Sending::AtEnd,
    };
}

/// The decisions of one thread.
#[derive(Debug)]
pub(super) struct Strategy {
    spin: Spin,
    reread: Reread,
    pub(super) batch: SendBatch,
}

impl Strategy {
    pub(super) fn new(spin: Duration, ring: Option<Ring>) -> Self {
        Self {
            spin: Spin::new(spin),
            reread: Reread::default(),
            batch: SendBatch::by(ring),
        }
    }

    /// Waits for events, at most for `timeout`.
    pub(super) fn wait(&mut self, poll: &mut Poll, timeout: Option<Duration>) {
        self.spin.wait(poll, timeout);
    }

    /// Begins a round of `events` events, while `ready` connections have a turn without one.
    /// Returns how the connections that have an event read and send.
    pub(super) fn begin_round(&mut self, events: usize, ready: usize, is_draining: bool) -> Turn {
        if is_draining {
            return Turn::PLAIN;
        }
        if events > 1 {
            let sending = match self.batch.is_possible() {
                true => Sending::InBatch,
                false => Sending::AtEnd,
            };
            return Turn {
                sending,
                ..Turn::PLAIN
            };
        }
        if ready > 0 {
            return Turn::PLAIN;
        }
        Turn {
            reading: match self.reread.begin_round() {
                true => Reading::Peek,
                false => Reading::TakeOut,
            },
            sending: match self.spin.clients_have_own_cpu() {
                true => Sending::FirstEarly,
                false => Sending::AtEnd,
            },
        }
    }

    /// Ends a round; `alone` is the connection that was alone in it, if it is to be read again.
    pub(super) fn end_round(&mut self, alone: Option<Token>) {
        self.reread.candidate = alone;
    }

    /// Returns the connection that is to be read again before the next wait, once.
    pub(super) fn take_reread(&mut self) -> Option<Token> {
        self.reread.candidate.take()
    }

    /// Notes whether a reread found something. Returns whether to go on rereading.
    pub(super) fn note_reread(&mut self, has_found: bool) -> bool {
        self.reread.note(has_found);
        has_found
    }
}

/// Whether to read a connection again without asking the epoll. A reread that finds nothing after
/// another one pauses them for one round, and for twice as many each time until one finds
/// something: on a busy CPU two may fail by chance, on two CPUs all do.
#[derive(Debug, Default)]
struct Reread {
    candidate: Option<Token>,
    has_found: bool,
    /// Rounds that are left of the pause.
    rounds_left: u32,
    /// How long the last pause was, if no reread has found something since.
    pause_rounds: u32,
}

impl Reread {
    /// Begins a round. Returns whether its connection is to be read again.
    fn begin_round(&mut self) -> bool {
        let is_paused = self.rounds_left > 0;
        self.rounds_left = self.rounds_left.saturating_sub(1);
        !is_paused
    }

    fn note(&mut self, has_found: bool) {
        if has_found {
            self.pause_rounds = 0;
        } else if !self.has_found {
            self.pause_rounds = (2 * self.pause_rounds).clamp(1, MOST_PAUSE_ROUNDS);
            self.rounds_left = self.pause_rounds;
        }
        self.has_found = has_found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy() -> Strategy {
        Strategy::new(Duration::from_micros(50), None)
    }

    #[test]
    fn rereads_that_find_nothing_become_rarer() {
        let mut strategy = strategy();
        let reads = |strategy: &mut Strategy| strategy.begin_round(1, 0, false).reading;
        let token = Token::from_word(7);
        assert_eq!(strategy.take_reread(), None);
        for rounds in [1, 2, 4, 8, 16, 32, 64, 64] {
            assert_eq!(reads(&mut strategy), Reading::Peek);
            strategy.end_round(Some(token));
            assert_eq!(strategy.take_reread(), Some(token));
            assert_eq!(strategy.take_reread(), None, "it was read");
            assert!(!strategy.note_reread(false));
            for _ in 0..rounds {
                assert_eq!(reads(&mut strategy), Reading::TakeOut);
            }
        }
        assert_eq!(reads(&mut strategy), Reading::Peek);
        assert!(strategy.note_reread(true));
        assert!(!strategy.note_reread(false));
        assert_eq!(reads(&mut strategy), Reading::Peek, "one miss is free");
        strategy.note_reread(false);
        assert_eq!(reads(&mut strategy), Reading::TakeOut);
        assert_eq!(
            reads(&mut strategy),
            Reading::Peek,
            "pauses are short again"
        );
    }

    #[test]
    fn only_a_connection_that_is_alone_is_peeked_at() {
        let mut strategy = strategy();
        for (events, ready, is_draining) in [(2, 0, false), (1, 1, false), (1, 0, true)] {
            let turn = strategy.begin_round(events, ready, is_draining);
            assert_eq!(turn, Turn::PLAIN, "{events} {ready} {is_draining}");
        }
        assert_eq!(strategy.begin_round(1, 0, false).reading, Reading::Peek);
    }

    #[test]
    fn answers_wait_for_others_if_there_are_others_and_an_io_uring() {
        let Ok(ring) = Ring::new() else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let mut strategy = Strategy::new(Duration::ZERO, Some(ring));
        let turn = |events: usize, is_draining: bool| Turn {
            sending: match events > 1 && !is_draining {
                true => Sending::InBatch,
                false => Sending::AtEnd,
            },
            reading: match events == 1 && !is_draining {
                true => Reading::Peek,
                false => Reading::TakeOut,
            },
        };
        for (events, is_draining) in [(1, false), (2, false), (2, true)] {
            let planned = strategy.begin_round(events, 0, is_draining);
            assert_eq!(planned, turn(events, is_draining));
        }
    }
}
