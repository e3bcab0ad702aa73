//! The owner at work: one thread waits for the server, for readers and for time.

use super::NearEvent;
use super::askers::{Askers, is_pause};
use crate::address::{Address, Stream};
use crate::clock::exact_ms;
use crate::engine::{Engine, Settings, Side, Stop};
use crate::error::{NearError, Result};
use crate::owner::Owner;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use tavola::Table;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;
/// Between two tries to connect, doubled from one to the next.
const FIRST_RETRY_MS: u64 = 20;
const LAST_RETRY_MS: u64 = 1000;

/// Why an owner has ended its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Stopped,
    Deposed,
}

/// The two connections to the server.
struct Link {
    tracking: Stream,
    values: Stream,
}

impl Link {
    fn stream(&mut self, side: Side) -> &mut Stream {
        match side {
            Side::Tracking => &mut self.tracking,
            Side::Values => &mut self.values,
        }
    }
}

/// What is ready.
#[derive(Clone, Copy)]
enum Ready {
    Listener,
    Server(Side),
    Asker(u64),
}

/// An owner at work.
pub(super) struct Serving<'a> {
    table: &'a Table,
    engine: Engine,
    askers: Askers,
    address: &'a Address,
    link: Option<Link>,
    retry_at_ms: u64,
    retry_ms: u64,
    /// The reason why the last try to connect failed, which is reported once.
    why_not: String,
    is_reported: bool,
    /// The server has confirmed tracking once: from then on refusals are retried.
    pub(super) was_connected: bool,
    buffer: Vec<u8>,
}

impl<'a> Serving<'a> {
    pub(super) fn begin(
        table: &'a Table,
        owner: Owner,
        settings: Settings,
        address: &'a Address,
    ) -> Result<Self> {
        Ok(Self {
            table,
            engine: Engine::new(owner, settings),
            askers: Askers::listen(table).map_err(NearError::Socket)?,
            address,
            link: None,
            retry_at_ms: 0,
            retry_ms: FIRST_RETRY_MS,
            why_not: String::new(),
            is_reported: false,
            was_connected: false,
            buffer: vec![0; BUFFER],
        })
    }

    pub(super) fn remove_socket(&self) {
        self.askers.remove_socket();
    }

    pub(super) fn run(
        &mut self,
        stop: &AtomicBool,
        report: &mut dyn FnMut(NearEvent),
    ) -> Result<Ended> {
        // Set by a signal, which also ends the wait.
        while !stop.load(Ordering::Relaxed) {
            match self.turn(report) {
                Ok(()) => {}
                Err(Stop::Deposed) => return Ok(Ended::Deposed),
                Err(Stop::Refused(why)) if !self.was_connected => {
                    return Err(NearError::Refused { why });
                }
                Err(Stop::Lost(why) | Stop::Refused(why)) => {
                    if self.lose(why, report).is_err() {
                        return Ok(Ended::Deposed);
                    }
                }
            }
            self.answer();
        }
        Ok(Ended::Stopped)
    }

    fn turn(&mut self, report: &mut dyn FnMut(NearEvent)) -> Result<(), Stop> {
        self.connect()?;
        self.engine.tick(exact_ms())?;
        // This is still the owner.
        self.askers.restore_socket(self.table, exact_ms());
        for side in [Side::Tracking, Side::Values] {
            self.send(side)?;
        }
        for (ready, flags) in self.wait() {
            let is_readable = !(flags - PollFlags::OUT).is_empty();
            match ready {
                Ready::Listener => self.askers.accept(exact_ms()),
                Ready::Server(side) if is_readable => self.receive(side)?,
                // Sent at the beginning of the next turn.
                Ready::Server(_) => {}
                Ready::Asker(number) => {
                    if flags.contains(PollFlags::OUT) {
                        self.askers.send(number, &mut self.engine, exact_ms());
                    }
                    if is_readable {
                        self.askers.receive(number, &mut self.engine, exact_ms());
                    }
                }
            }
        }
        if self.engine.is_confirmed() && !std::mem::replace(&mut self.is_reported, true) {
            self.was_connected = true;
            self.retry_ms = FIRST_RETRY_MS;
            self.why_not.clear();
            report(NearEvent::Connected);
        }
        Ok(())
    }

    /// Makes the connections if they are due.
    fn connect(&mut self) -> Result<(), Stop> {
        if self.link.is_some() || exact_ms() < self.retry_at_ms {
            return Ok(());
        }
        let connected = self.address.connect().and_then(|tracking| {
            let values = self.address.connect()?;
            Ok(Link { tracking, values })
        });
        let link = connected.map_err(|error| Stop::Lost(format!("{} ({error})", self.address)))?;
        self.link = Some(link);
        self.engine.connected(exact_ms());
        Ok(())
    }

    fn lose(
        &mut self,
        why: String,
        report: &mut dyn FnMut(NearEvent),
    ) -> Result<(), crate::owner::Deposed> {
        self.link = None;
        self.is_reported = false;
        self.retry_at_ms = exact_ms() + self.retry_ms;
        self.retry_ms = (self.retry_ms * 2).min(LAST_RETRY_MS);
        let ended = self.engine.lose(&why);
        if self.why_not != why {
            self.why_not.clone_from(&why);
            report(NearEvent::Lost(why));
        }
        ended
    }

    /// Waits until something is ready or due.
    fn wait(&mut self) -> Vec<(Ready, PollFlags)> {
        let outgoing = |has_output: bool| match has_output {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let sides = [Side::Tracking, Side::Values];
        let pending = sides.map(|side| !self.engine.output(side).is_empty());
        let now_ms = exact_ms();
        let (mut ready, mut polled) = (Vec::new(), Vec::new());
        if self.askers.accepts(now_ms) {
            ready.push(Ready::Listener);
            polled.push(PollFd::new(&self.askers.listener, PollFlags::IN));
        }
        if let Some(link) = &self.link {
            let streams = [&link.tracking, &link.values];
            for ((side, stream), has_output) in sides.into_iter().zip(streams).zip(pending) {
                ready.push(Ready::Server(side));
                polled.push(PollFd::new(stream, outgoing(has_output)));
            }
        }
        for (number, asker) in &self.askers.open {
            ready.push(Ready::Asker(*number));
            polled.push(PollFd::new(&asker.stream, asker.interest()));
        }
        let due_ms = match self.link {
            Some(_) => self.engine.next_due_ms(now_ms),
            None => self.engine.next_due_ms(now_ms).min(self.retry_at_ms),
        };
        let left_ms = due_ms.saturating_sub(now_ms);
        let timeout = Timespec {
            tv_sec: (left_ms / 1000) as i64,
            tv_nsec: (left_ms % 1000 * 1_000_000) as _,
        };
        // An error is a signal: what is due is looked at, and then this is repeated.
        if poll(&mut polled, Some(&timeout)).is_err() {
            return Vec::new();
        }
        let flags = polled.iter().map(PollFd::revents);
        let all = ready.into_iter().zip(flags);
        all.filter(|(_, flags)| !flags.is_empty()).collect()
    }

    fn receive(&mut self, side: Side) -> Result<(), Stop> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        match link.stream(side).read(&mut self.buffer) {
            Ok(0) => Err(Stop::Lost("it closed a connection".to_owned())),
            Ok(len) => self.engine.receive(side, &self.buffer[..len], exact_ms()),
            Err(error) => pause_or_lost(&error),
        }
    }

    fn send(&mut self, side: Side) -> Result<(), Stop> {
        let (Some(link), out) = (&mut self.link, self.engine.output(side)) else {
            return Ok(());
        };
        while !out.is_empty() {
            match link.stream(side).write(out) {
                Ok(len) => drop(out.drain(..len)),
                Err(error) => return pause_or_lost(&error),
            }
        }
        Ok(())
    }

    /// Sends readers the answers that have come.
    fn answer(&mut self) {
        // An answer may be followed by the next request of its reader, and that by an answer.
        loop {
            let answers = self.engine.take_answers();
            if answers.is_empty() {
                return;
            }
            for answered in &answers {
                self.askers.answer(answered, &mut self.engine, exact_ms());
            }
        }
    }
}

fn pause_or_lost(error: &io::Error) -> Result<(), Stop> {
    match is_pause(error) {
        true => Ok(()),
        false => Err(Stop::Lost(error.to_string())),
    }
}
