//! One execution of a batch: what all of its lanes share.

use super::names::Names;
use crate::batch::{Outcome, Request, Sink};
use crate::fleet::{Fleet, Local};
use crate::fork::{self, Process};
use crate::options::OnDown;
use std::time::Instant;
use tavola_proto::meta::Ttl;

/// What the lanes of an execution share.
pub(super) struct Call<'c, 'b> {
    pub(super) fleet: &'c Fleet,
    pub(super) requests: &'c [Request<'b>],
    pub(super) names: Names<'c>,
    pub(super) began: Instant,
    pub(super) deadline: Instant,
    owner: Process,
    states: &'c mut [RequestState],
    sink: &'c mut dyn Sink,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestState {
    is_done: bool,
    has_room: bool,
    is_repeated: bool,
}

impl<'c, 'b> Call<'c, 'b> {
    pub(super) fn new(
        fleet: &'c Fleet,
        requests: &'c [Request<'b>],
        states: &'c mut [RequestState],
        sink: &'c mut dyn Sink,
    ) -> Self {
        let began = Instant::now();
        Self {
            fleet,
            requests,
            names: Names::new(&fleet.settings),
            began,
            deadline: began + fleet.settings.io_timeout,
            owner: fork::process(),
            states,
            sink,
        }
    }

    /// Returns what belongs to this process, which may be a child that a sink has forked.
    pub(super) fn local(&self) -> &'c Local {
        self.fleet.local()
    }

    /// When even what is here is not read any more. Between the deadline and this, a client that
    /// got no CPU may still read what came in time.
    pub(super) fn overdue(&self) -> Instant {
        self.deadline + self.fleet.settings.io_timeout / 4
    }

    pub(super) fn is_overdue(&self) -> bool {
        Instant::now() >= self.overdue()
    }

    /// Reports what became of a request, once.
    pub(super) fn finish(&mut self, index: usize, outcome: Outcome) {
        let state = &mut self.states[index];
        debug_assert!(!state.is_done, "a request ends once");
        state.is_done = true;
        self.sink.done(index, outcome);
    }

    /// Returns memory for a value, if the caller wants it.
    pub(super) fn room(&mut self, index: usize, size: usize, flags: u32) -> Option<&mut [u8]> {
        self.states[index].has_room = true;
        let room = self.sink.room(index, size, flags);
        room.filter(|room| room.len() == size)
    }

    /// Reports the time that an item has left.
    pub(super) fn take_ttl(&mut self, index: usize, ttl: Ttl) {
        let left_s = match ttl {
            Ttl::Endless => None,
            Ttl::Seconds(seconds) => Some(seconds),
        };
        self.sink.ttl(index, left_s);
    }

    /// Whether this is still the process that began: a sink may have forked it.
    pub(super) fn is_own(&self) -> bool {
        self.owner == fork::process()
    }

    /// Whether a request that failed may be sent a second time: it changes nothing, or nothing of
    /// it was sent and another server may take it.
    pub(super) fn may_repeat(&mut self, index: usize, is_sent: bool, has_ended: bool) -> bool {
        let is_read = self.requests[index].is_read();
        let state = &mut self.states[index];
        let is_safe = match is_sent {
            true => is_read && has_ended,
            false => is_read || self.fleet.settings.on_down == OnDown::Eject,
        };
        let may = is_safe && !state.has_room && !state.is_repeated;
        state.is_repeated |= may;
        may && Instant::now() < self.deadline
    }
}
