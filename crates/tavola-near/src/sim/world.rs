//! The world of a seed: server, daemons, readers, and what happens to them.

use super::daemon::{Daemon, MAX_STALE_MS, Surroundings};
use super::history::History;
use super::random::Random;
use super::server::{KEYS, Server, key};
use crate::engine::{Answer, Answered};
use crate::mistake::{Mistake, is_made};
use crate::read::{Pace, Reader};
use crate::shared::Shared;
use std::collections::HashMap;
use std::sync::Arc;
use tavola::Table;

/// The tick of the coarse clock.
const TICK_US: u64 = 4000;
/// What a reader may not exceed: L, a tick, and a millisecond of rounding.
const BOUND_US: u64 = MAX_STALE_MS * 1000 + TICK_US + 1000;

/// How often things happened.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) reads: u64,
    pub(super) hits: u64,
    pub(super) answers: u64,
    pub(super) expired: u64,
    pub(super) writes: u64,
    pub(super) flushes: u64,
    pub(super) cuts: u64,
    pub(super) pauses: u64,
    pub(super) kills: u64,
    pub(super) takeovers: u64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Figures) {
        self.reads += other.reads;
        self.hits += other.hits;
        self.answers += other.answers;
        self.expired += other.expired;
        self.writes += other.writes;
        self.flushes += other.flushes;
        self.cuts += other.cuts;
        self.pauses += other.pauses;
        self.kills += other.kills;
        self.takeovers += other.takeovers;
    }
}

/// An answer on its way to a reader.
struct Sent {
    at_us: u64,
    answered: Answered,
}

pub(super) struct World {
    now_us: u64,
    random: Random,
    table: Arc<Table>,
    shared: Shared,
    reader: Reader,
    server: Server,
    history: History,
    daemons: [Daemon; 2],
    /// Which key an asker asked for.
    asked: HashMap<u64, usize>,
    sent: Vec<Sent>,
    figures: Figures,
    wrong: Option<String>,
}

/// A reader that is stopped between its steps.
struct Stopping<'w> {
    world: &'w mut World,
    /// When the reader has read the clock.
    read_us: u64,
}

impl Pace for Stopping<'_> {
    fn pause(&mut self) {
        let us = match self.world.random.below(300) {
            0 => self.world.random.below(400_000),
            1..30 => self.world.random.below(5000),
            _ => 0,
        };
        self.world.pass(us);
    }

    fn now_ms(&mut self) -> u64 {
        self.read_us = self.world.now_us;
        self.world.coarse_ms()
    }
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let table = Table::options().max_size(8 << 20).private();
        let table = Arc::new(table.expect("a table"));
        let shared = Shared::create(&table, 1).expect("the words");
        Self {
            now_us: 1_000_000,
            random: Random(seed),
            reader: Reader::new(Arc::clone(&table), shared.clone()),
            table,
            shared,
            server: Server::default(),
            history: History::new(KEYS),
            daemons: Default::default(),
            asked: HashMap::new(),
            sent: Vec::new(),
            figures: Figures::default(),
            wrong: None,
        }
    }

    fn coarse_ms(&self) -> u64 {
        self.now_us / TICK_US * TICK_US / 1000
    }

    /// Lets readers read for a time. Returns how often things happened, and the first read that was
    /// wrong.
    pub(super) fn run(&mut self, span_us: u64) -> (Figures, Option<String>) {
        let end_us = self.now_us + span_us;
        while self.now_us < end_us && self.wrong.is_none() {
            let us = self.random.below(1500);
            self.pass(us);
            self.read();
        }
        (std::mem::take(&mut self.figures), self.wrong.take())
    }

    fn read(&mut self) {
        let index = self.random.below(KEYS as u64) as usize;
        let reader = self.reader.clone();
        let mut value = Vec::new();
        let mut stopping = Stopping {
            world: self,
            read_us: 0,
        };
        let found = reader.find(&key(index), &mut value, &mut stopping);
        let read_us = stopping.read_us;
        self.figures.reads += 1;
        if found.expect("a whole table") {
            self.figures.hits += 1;
            self.judge(index, Some(&value), read_us);
        } else {
            let asker = self.figures.reads;
            let owners = self.daemons.iter().filter(|daemon| daemon.is_owner());
            if owners.count() > 0 {
                self.asked.insert(asker, index);
            }
            // Both may take themselves for the owner: a reader may be connected to either.
            let first = self.random.below(2) as usize;
            let both = [first, 1 - first];
            if let Some(at) = both.into_iter().find(|at| self.daemons[*at].is_owner()) {
                self.daemons[at].ask(asker, &key(index), self.now_us);
            }
        }
    }

    fn judge(&mut self, index: usize, value: Option<&[u8]>, read_us: u64) {
        let state = value.map(|value| {
            let text = std::str::from_utf8(value).expect("digits");
            text.parse().expect("digits")
        });
        let wrong = self.history.judge(index, state, read_us, BOUND_US);
        self.wrong = self.wrong.take().or(wrong);
    }

    /// Lets so much time pass.
    fn pass(&mut self, us: u64) {
        let end_us = self.now_us + us;
        while self.now_us < end_us {
            let step_us = match self.random.once_in(500) {
                true => self.random.below(15_000),
                false => 20 + self.random.below(400),
            };
            self.now_us = (self.now_us + step_us).min(end_us);
            self.step();
        }
    }

    fn step(&mut self) {
        self.happen();
        self.server
            .step(&self.history, self.now_us, &mut self.random);
        for at in 0..2 {
            if self.random.once_in(2) {
                let (daemons, mut around) = self.parts();
                let took_over = daemons[at].step(&mut around);
                self.figures.takeovers += u64::from(took_over);
                self.send_answers(at);
            }
        }
        self.deliver();
    }

    fn parts(&mut self) -> (&mut [Daemon; 2], Surroundings<'_>) {
        let around = Surroundings {
            table: &self.table,
            shared: &self.shared,
            server: &mut self.server,
            random: &mut self.random,
            now_us: self.now_us,
        };
        (&mut self.daemons, around)
    }

    /// Lets something happen from outside.
    fn happen(&mut self) {
        let now_us = self.now_us;
        let at = self.random.below(2) as usize;
        // The keys are left alone at times.
        let is_quiet = !(now_us / 400_000).is_multiple_of(3);
        match self.random.below(40_000) {
            20..800 if is_quiet => {}
            0..800 => {
                let index = self.random.below(KEYS as u64) as usize;
                let removes = self.random.once_in(5);
                self.server.write(index, &mut self.history, now_us, removes);
                self.figures.writes += 1;
            }
            800..803 => {
                self.server.flush(&mut self.history, now_us);
                self.figures.flushes += 1;
            }
            803..810 => {
                let end_us = now_us + self.random.below(10_000);
                let end_us = (!self.random.once_in(3)).then_some(end_us);
                let (daemons, mut around) = self.parts();
                daemons[at].cut(&mut around, end_us);
                self.figures.cuts += 1;
            }
            810..820 => {
                let us = self.random.below(900_000);
                self.daemons[at].paused_until_us = now_us + us;
                self.figures.pauses += 1;
            }
            820..824 if now_us >= self.daemons[at].paused_until_us => {
                self.daemons[at].kill(&mut self.server);
                self.figures.kills += 1;
            }
            _ => {}
        }
    }

    fn send_answers(&mut self, at: usize) {
        for answered in self.daemons[at].take_answers() {
            let at_us = self.now_us + self.random.delay_us();
            self.sent.push(Sent { at_us, answered });
        }
    }

    /// Gives readers the answers that have arrived.
    fn deliver(&mut self) {
        let mut at = 0;
        while at < self.sent.len() {
            if self.sent[at].at_us > self.now_us {
                at += 1;
                continue;
            }
            let answered = self.sent.swap_remove(at).answered;
            let index = self.asked.remove(&answered.asker).expect("asked once");
            let is_late = self.coarse_ms() >= answered.deadline_ms;
            if is_late && !is_made(Mistake::AnswersWithoutDeadline) {
                self.figures.expired += 1;
                continue;
            }
            match answered.answer {
                Answer::Value(value) => self.judge(index, Some(&value), self.now_us),
                Answer::Missing => self.judge(index, None, self.now_us),
                Answer::Failed(_) => continue,
            }
            self.figures.answers += 1;
        }
    }
}
