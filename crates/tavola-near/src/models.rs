//! A model of the rules under many schedules of the checker shuttle: two daemons of which one is
//! deposed in the middle of its work, a server, a writer and a reader. The owners, the reader and
//! the words are the real ones; each access to what processes share is a scheduling point. A call
//! of the table counts as one step: the models of the core show that it is one.
//!
//! Time is a number that writes, beats and the writer raise. `TAVOLA_MODEL_TIMES` multiplies the
//! number of schedules, except of those with a mistake.

use crate::mistake::{Mistake, is_made, make};
use crate::owner::{Deposed, Owner};
use crate::read::{Pace, Reader};
use crate::shared::{Shared, Trust};
use crate::sync::{Ordering, step};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::Mutex;
use shuttle::{Config, FailurePersistence, Runner, thread};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tavola::Table;

const KEY: &[u8] = b"key";
/// L, in the units of the model's time.
const MAX_STALE: u64 = 3;
const WRITES: u64 = 2;
const ROUNDS: u64 = 6;
/// Schedules of each kind.
const SCHEDULES: usize = 4000;

enum Event {
    /// The answer to a beat.
    Answer,
    Push,
}

/// The connection of pushes of a daemon.
#[derive(Default)]
struct Link {
    events: VecDeque<Event>,
    /// A write was carried out in the present turn of the server.
    is_changed: bool,
}

struct Server {
    now: u64,
    /// From when on which value was the newest.
    states: Vec<(u64, u64)>,
    links: [Option<Link>; 2],
}

impl Server {
    fn write(&mut self, value: u64) {
        self.now += 1;
        self.states.push((self.now, value));
        for link in self.links.iter_mut().flatten() {
            link.is_changed = true;
        }
    }

    fn newest(&self) -> u64 {
        self.states.last().expect("one").1
    }

    /// Answers a beat. Its turn ends with the pushes, behind the answer.
    fn beat(&mut self, daemon: usize) {
        self.now += 1;
        let link = self.links[daemon].as_mut().expect("connected");
        link.events.push_back(Event::Answer);
        if std::mem::take(&mut link.is_changed) {
            link.events.push_back(Event::Push);
        }
    }

    fn take(&mut self, daemon: usize) -> Option<Event> {
        self.links[daemon].as_mut()?.events.pop_front()
    }
}

/// What the threads of a model share.
#[derive(Clone)]
struct Parts {
    server: Arc<Mutex<Server>>,
    table: Arc<Table>,
    shared: Shared,
}

impl Parts {
    fn with<T>(&self, work: impl FnOnce(&mut Server) -> T) -> T {
        work(&mut self.server.lock().expect("no panic"))
    }

    /// Works as a daemon until it has done its rounds or is deposed.
    fn daemon(&self, daemon: usize) {
        let seen = Trust::of(self.shared.trust().load(Ordering::Acquire));
        let (table, shared) = (self.table.clone(), self.shared.clone());
        let Some(mut owner) = Owner::take_over(table, shared, seen, MAX_STALE) else {
            return;
        };
        self.with(|server| server.links[daemon] = Some(Link::default()));
        let mut sent = self.with(|server| server.now);
        for round in 0..ROUNDS {
            let noted = owner.note(KEY);
            let value = self.with(|server| server.newest());
            let sent_now = self.with(|server| {
                let now = server.now;
                server.beat(daemon);
                now
            });
            let until = MAX_STALE
                + match is_made(Mistake::TrustsLastBeat) {
                    true => sent_now,
                    false => sent,
                };
            // The value comes by another connection: before or after what was pushed.
            let fill = |owner: &mut Owner| owner.fill(KEY, noted, &value.to_le_bytes(), None);
            if round == 0 {
                fill(&mut owner);
            }
            if self.apply(daemon, &mut owner, until).is_err() {
                return;
            }
            if round == 1 {
                fill(&mut owner);
            }
            sent = sent_now;
        }
    }

    fn apply(&self, daemon: usize, owner: &mut Owner, until: u64) -> Result<(), Deposed> {
        while let Some(event) = self.with(|server| server.take(daemon)) {
            match event {
                Event::Answer => owner.extend(until)?,
                Event::Push => owner.invalidate(KEY)?,
            }
        }
        Ok(())
    }

    fn read(&self) {
        let reader = Reader::new(self.table.clone(), self.shared.clone());
        let mut pace = Logical {
            parts: self,
            now: 0,
        };
        let mut value = Vec::new();
        if !reader.find(KEY, &mut value, &mut pace).expect("a table") {
            return;
        }
        let value = u64::from_le_bytes(value.try_into().expect("8 bytes"));
        let replaced = self.with(|server| {
            let at = server.states.iter().position(|(_, had)| *had == value);
            let at = at.expect("one that was there");
            server.states.get(at + 1).map(|(time, _)| *time)
        });
        assert!(
            replaced.is_none_or(|time| time + MAX_STALE >= pace.now),
            "{value}, replaced at {replaced:?}, was read at {}",
            pace.now
        );
    }
}

/// Reads the time of the model.
struct Logical<'p> {
    parts: &'p Parts,
    now: u64,
}

impl Pace for Logical<'_> {
    fn now_ms(&mut self) -> u64 {
        self.now = self.parts.with(|server| server.now);
        self.now
    }
}

fn cache() {
    let table = Table::options().max_size(2 << 20).private();
    let table = Arc::new(table.expect("a table"));
    let parts = Parts {
        server: Arc::new(Mutex::new(Server {
            now: 10,
            states: vec![(0, 0)],
            links: [None, None],
        })),
        shared: Shared::create(&table, 1).expect("the words"),
        table,
    };
    let spawn = |work: fn(&Parts)| {
        let parts = parts.clone();
        thread::spawn(move || work(&parts))
    };
    let threads = [
        spawn(|parts| parts.daemon(0)),
        spawn(|parts| parts.daemon(1)),
        spawn(|parts| {
            for value in 1..=WRITES {
                step();
                parts.with(|server| server.write(value));
                step();
                parts.with(|server| server.now += 1);
            }
            step();
            parts.with(|server| server.now += 1);
        }),
        spawn(|parts| (0..6).for_each(|_| parts.read())),
    ];
    for thread in threads {
        thread.join().expect("a read that was wrong ends the test");
    }
}

fn explore(times: f64) {
    let schedules = (SCHEDULES as f64 * times).ceil() as usize;
    run(RandomScheduler::new_from_seed(1, schedules));
    run(PctScheduler::new_from_seed(2, 5, schedules));
}

fn run(scheduler: impl Scheduler + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    config.failure_persistence = FailurePersistence::None;
    Runner::new(scheduler, config).run(cache);
}

fn is_found(mistake: Mistake) -> bool {
    make(Some(mistake));
    let ran = catch_unwind(AssertUnwindSafe(|| explore(1.0)));
    make(None);
    ran.is_err()
}

#[test]
fn no_value_is_older_than_the_bound() {
    let times = std::env::var("TAVOLA_MODEL_TIMES").map_or(1.0, |n| n.parse().expect("a number"));
    explore(times);
}

#[test]
fn a_fill_that_ignores_the_generation_is_found() {
    assert!(is_found(Mistake::IgnoresGeneration));
}

#[test]
fn trust_from_the_last_beat_is_found() {
    assert!(is_found(Mistake::TrustsLastBeat));
}

#[test]
fn a_reader_without_a_clock_is_found() {
    assert!(is_found(Mistake::ReadsNoClock));
}

#[test]
fn an_epoch_that_survives_a_takeover_is_found() {
    assert!(is_found(Mistake::KeepsEpochOfOthers));
}
