//! A daemon of the simulation: the real engine with simulated connections.

use super::random::Random;
use super::server::{Connection, Server};
use crate::engine::{Answered, Engine, Settings, Side, Stop};
use crate::owner::Owner;
use crate::shared::{Shared, Trust};
use crate::sync::Ordering;
use std::sync::Arc;
use tavola::Table;

/// L of the simulation.
pub(super) const MAX_STALE_MS: u64 = 100;
/// A standby takes over from an owner that has not looked for so long.
const SILENCE_MS: u64 = 300;

/// The numbers of the two connections, which are never used again.
#[derive(Clone, Copy)]
struct Link {
    tracking: u64,
    values: u64,
}

#[derive(Default)]
pub(super) struct Daemon {
    engine: Option<Engine>,
    link: Option<Link>,
    pub(super) paused_until_us: u64,
    connect_at_us: u64,
}

/// What a daemon works with.
pub(super) struct Surroundings<'w> {
    pub(super) table: &'w Arc<Table>,
    pub(super) shared: &'w Shared,
    pub(super) server: &'w mut Server,
    pub(super) random: &'w mut Random,
    pub(super) now_us: u64,
}

impl Surroundings<'_> {
    fn now_ms(&self) -> u64 {
        self.now_us / 1000
    }

    fn connection(&mut self, number: u64) -> Option<&mut Connection> {
        let mut all = self.server.connections.iter_mut();
        all.find(|connection| connection.number == number)
    }
}

impl Daemon {
    pub(super) fn is_owner(&self) -> bool {
        self.engine.is_some()
    }

    /// Ends without doing anything more, as if it was killed. The system closes its connections.
    pub(super) fn kill(&mut self, server: &mut Server) {
        self.engine = None;
        self.close(server);
    }

    fn close(&mut self, server: &mut Server) {
        if let Some(link) = self.link.take() {
            let ends = [link.tracking, link.values];
            let open = |connection: &Connection| !ends.contains(&connection.number);
            server.close(open);
        }
    }

    /// Cuts the connections. The daemon gets to know it at `end_us`, if at all.
    pub(super) fn cut(&self, around: &mut Surroundings<'_>, end_us: Option<u64>) {
        let Some(link) = self.link else { return };
        let sides = match around.random.below(3) {
            0 => vec![link.tracking],
            1 => vec![link.values],
            _ => vec![link.tracking, link.values],
        };
        for number in sides {
            if let Some(connection) = around.connection(number) {
                connection.is_cut = true;
                connection.end_us = end_us;
            }
        }
    }

    /// Takes over, if the owner seems dead, or anyway: what is right must not depend on it.
    fn watch(&mut self, around: &mut Surroundings<'_>) -> bool {
        let now_ms = around.now_ms();
        let seen = Trust::of(around.shared.trust().load(Ordering::Acquire));
        let alive_ms = around.shared.alive_ms().load(Ordering::Relaxed);
        let is_silent = seen.generation == 0 || alive_ms + SILENCE_MS < now_ms;
        if !is_silent && !around.random.once_in(20_000) {
            return false;
        }
        let (table, shared) = (Arc::clone(around.table), around.shared.clone());
        let Some(owner) = Owner::take_over(table, shared, seen, MAX_STALE_MS) else {
            return false;
        };
        let settings = Settings {
            max_stale_ms: MAX_STALE_MS,
            ttl_ms: None,
            prefixes: Vec::new(),
            login: None,
            database: 0,
        };
        self.engine = Some(Engine::new(owner, settings));
        true
    }

    /// Works for a moment. Returns whether it took over.
    pub(super) fn step(&mut self, around: &mut Surroundings<'_>) -> bool {
        if around.now_us < self.paused_until_us {
            return false;
        }
        if self.engine.is_none() {
            return self.watch(around);
        }
        match self.work(around) {
            Ok(()) => {}
            Err(Stop::Deposed) => self.kill(around.server),
            Err(Stop::Lost(why) | Stop::Refused(why)) => self.reconnect(&why, around),
        }
        false
    }

    fn reconnect(&mut self, why: &str, around: &mut Surroundings<'_>) {
        self.close(around.server);
        self.connect_at_us = around.now_us + around.random.below(20_000);
        let engine = self.engine.as_mut().expect("an owner");
        if engine.lose(why).is_err() {
            self.engine = None;
        }
    }

    fn work(&mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let now_ms = around.now_ms();
        let engine = self.engine.as_mut().expect("an owner");
        let Some(link) = self.link else {
            engine.tick(now_ms)?;
            if around.now_us >= self.connect_at_us {
                let [tracking, values] =
                    [(); 2].map(|()| around.server.accept(around.now_us, around.random));
                self.link = Some(Link { tracking, values });
                engine.connected(now_ms);
            }
            return Ok(());
        };
        let mut sides = [(Side::Tracking, link.tracking), (Side::Values, link.values)];
        if around.random.once_in(2) {
            sides.reverse();
        }
        for (side, number) in sides {
            let now_us = around.now_us;
            let Some(connection) = around.connection(number) else {
                return Err(Stop::Lost("it is gone".to_owned()));
            };
            if connection.end_us.is_some_and(|end_us| end_us <= now_us) {
                return Err(Stop::Lost("it was cut".to_owned()));
            }
            // What was under way arrives all the same.
            let bytes = connection.to_daemon.receive(now_us);
            engine.receive(side, &bytes, now_ms)?;
        }
        engine.tick(now_ms)?;
        for (side, number) in sides {
            let bytes = std::mem::take(engine.output(side));
            around
                .server
                .send(number, bytes, around.now_us, around.random);
        }
        Ok(())
    }

    pub(super) fn ask(&mut self, asker: u64, key: &[u8], now_us: u64) {
        if let Some(engine) = &mut self.engine {
            engine.ask(asker, key, now_us / 1000);
        }
    }

    pub(super) fn take_answers(&mut self) -> Vec<Answered> {
        let engine = self.engine.as_mut();
        engine.map_or_else(Vec::new, Engine::take_answers)
    }
}
