//! A server that delays, cuts, repeats, reorders and falsifies what it answers, and a client that
//! must never take what it sends for the value of another key or an older request.
//!
//! A value has its key and a count of the requests that the server has seen. So has a counter, and
//! an item's unique number. A hit is foreign if the key is another, or the count is of a time
//! before the call; another outcome is foreign if the key cannot have it.

mod server;

use super::{Neglect, neglect};
use crate::batch::{Batch, CountOptions, GetOptions, Outcome, Reply, Sink, StoreOptions};
use crate::client::Client;
use crate::options::Protocol;
use server::{Hostile, is_fresh, is_mark_of, is_there};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Rounds, unless the environment says how many.
const ROUNDS: u64 = 400;
const HOW_MANY: &str = "TAVOLA_HOSTILE_ROUNDS";
/// The most clients at once. Each has a server and a seed of its own.
const MOST_CLIENTS: u64 = 16;
/// A client that neglects something is found out in so many times the rounds, or the test fails.
const MOST_TRIES: u64 = 50;
/// Keys that are asked for; those with an odd number are missing.
const KEYS: u64 = 12;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_millis(25);

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % end.max(1) as u64) as usize
    }
}

/// What the client said of a batch.
struct Seen {
    values: Vec<Vec<u8>>,
    outcomes: Vec<Vec<Outcome>>,
}

impl Sink for Seen {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        assert!(self.values[index].is_empty(), "memory is asked for once");
        self.values[index] = vec![0; len];
        Some(&mut self.values[index])
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index].push(outcome);
    }
}

/// What a round asks for.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Get { with_cas: bool },
    Set,
    Held,
    HeldDelete,
    Cas { cas: u64 },
    Count,
    Delete,
    Touch,
}

impl Asked {
    fn random(random: &mut Random, tally: &Tally) -> Self {
        match random.below(16) {
            0 => Self::Set,
            1 => Self::Held,
            2 => Self::HeldDelete,
            3 => Self::Cas { cas: tally.cas },
            4 => Self::Count,
            5 => Self::Delete,
            6 => Self::Touch,
            7..10 => Self::Get { with_cas: true },
            _ => Self::Get { with_cas: false },
        }
    }

    fn is_get(self) -> bool {
        matches!(self, Self::Get { .. })
    }

    fn add_to<'a>(self, batch: &mut Batch<'a>, key: &'a str, value: &'a str) {
        let (key, value) = (key.as_bytes(), value.as_bytes());
        let options = StoreOptions::default();
        match self {
            Self::Get { with_cas: true } => batch.get(key, GetOptions::with_cas()),
            Self::Get { with_cas: false } => batch.get(key, GetOptions::default()),
            Self::Set => batch.set(key, value, options),
            Self::Held => batch.set(key, value, options.without_reply()),
            Self::HeldDelete => batch.delete(key, Reply::None),
            Self::Cas { cas } => batch.cas(key, value, cas, options),
            Self::Count => batch.incr(key, CountOptions::by(1)),
            Self::Delete => batch.delete(key, Reply::Wait),
            Self::Touch => batch.touch(key, 0, Reply::Wait),
        };
    }
}

/// How a client asks.
#[derive(Clone, Copy, Debug)]
struct Asks {
    protocol: Protocol,
    multi_key_gets: bool,
}

impl Asks {
    /// Whether hits have a number by which an older value of the same key is known.
    fn has_numbers(self) -> bool {
        self.protocol != Protocol::Text && !self.multi_key_gets
    }

    /// Whether answers without a value have such a number.
    fn has_marks(self) -> bool {
        self.protocol != Protocol::Text
    }

    /// Whether misses of a batch with so many gets are answered.
    fn has_loud_misses(self, gets: usize) -> bool {
        self.protocol == Protocol::Binary || (self.has_marks() && gets == 1)
    }
}

impl From<Protocol> for Asks {
    fn from(protocol: Protocol) -> Self {
        let multi_key_gets = false;
        Self {
            protocol,
            multi_key_gets,
        }
    }
}

const IN_LINES: Asks = Asks {
    protocol: Protocol::Auto,
    multi_key_gets: true,
};

#[derive(Debug)]
struct Tally {
    foreign: u64,
    /// A batch with something foreign.
    example: String,
    hits: u64,
    misses: u64,
    /// Other outcomes that the server answered.
    done: u64,
    /// Requests that were reported to be held or sent.
    queued: u64,
    failed: u64,
    faults: u64,
    /// The last unique number of an item.
    cas: u64,
}

impl Tally {
    fn new() -> Self {
        Self {
            foreign: 0,
            example: String::new(),
            hits: 0,
            misses: 0,
            done: 0,
            queued: 0,
            failed: 0,
            faults: 0,
            cas: 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.foreign += other.foreign;
        self.example += &other.example;
        self.hits += other.hits;
        self.misses += other.misses;
        self.done += other.done;
        self.queued += other.queued;
        self.failed += other.failed;
        self.faults += other.faults;
    }

    fn note(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Hit { cas, .. } => {
                self.hits += 1;
                self.cas = cas.unwrap_or(self.cas);
            }
            Outcome::Miss => self.misses += 1,
            Outcome::Unsent(_) | Outcome::Unknown(_) => self.failed += 1,
            Outcome::Queued => self.queued += 1,
            _ => self.done += 1,
        }
    }
}

/// A round: what was asked, and since when.
struct Round<'r> {
    asks: Asks,
    asked: &'r [(Asked, &'r str)],
    since: u64,
}

impl Round<'_> {
    /// Whether an outcome is one of its request, and of this time.
    fn is_own(&self, index: usize, outcome: &Outcome, value: &[u8]) -> bool {
        let (asked, key) = self.asked[index];
        let gets = || {
            { self.asked.iter() }
                .filter(|(asked, _)| asked.is_get())
                .count()
        };
        let is_known = self.asks.has_marks();
        match (asked, outcome) {
            (_, Outcome::Unsent(_) | Outcome::Unknown(_)) => true,
            (Asked::Get { with_cas }, Outcome::Hit { cas, .. }) => {
                let is_own_cas = cas.is_none_or(|cas| is_mark_of(cas, key, self.since));
                is_of(value, key, self.since) && with_cas == cas.is_some() && is_own_cas
            }
            (Asked::Get { .. }, Outcome::Miss) => {
                !self.asks.has_loud_misses(gets()) || !is_there(key)
            }
            (Asked::Set, Outcome::Stored) => true,
            (Asked::Held | Asked::HeldDelete, Outcome::Queued) => true,
            (Asked::Held, Outcome::Stored) => self.asks.protocol == Protocol::Binary,
            (Asked::Cas { cas }, Outcome::Stored) => !is_known || is_there(key) && is_fresh(cas),
            (Asked::Cas { cas }, Outcome::Exists) => !is_known || is_there(key) && !is_fresh(cas),
            (Asked::Count, Outcome::Count(number)) => {
                !is_known || is_mark_of(*number, key, self.since)
            }
            (Asked::Delete | Asked::HeldDelete, Outcome::Deleted)
            | (Asked::Touch, Outcome::Touched) => !is_known || is_there(key),
            (
                Asked::Cas { .. } | Asked::Count | Asked::Delete | Asked::HeldDelete | Asked::Touch,
                Outcome::Miss,
            ) => !is_known || !is_there(key),
            _ => panic!("{outcome:?} is no answer to {asked:?} of {key}"),
        }
    }
}

fn run(seed: u64, asks: Asks, rounds: u64) -> Tally {
    let protocol = asks.protocol;
    let server = Hostile::start(seed << 32, protocol == Protocol::Auto);
    let client = Client::builder()
        .server(&server.address.to_string(), 1.0)
        .protocol(protocol)
        .multi_key_gets(asks.multi_key_gets)
        .io_timeout(PATIENCE)
        .max_failures(u32::MAX)
        .build()
        .expect("a client");
    let mut random = Random(seed);
    let mut tally = Tally::new();
    let keys: Vec<String> = (0..KEYS).map(|number| format!("key:{number}")).collect();
    for round in 0..rounds {
        let count = 1 + random.below(6);
        let asked: Vec<(Asked, &str)> = (0..count)
            .map(|_| {
                let key = &keys[random.below(keys.len())];
                (Asked::random(&mut random, &tally), key.as_str())
            })
            .collect();
        let values: Vec<String> = (0..count).map(|index| format!("{round}.{index}")).collect();
        let mut batch = Batch::new();
        for ((asked, key), value) in asked.iter().zip(&values) {
            asked.add_to(&mut batch, key, value);
        }
        let mut seen = Seen {
            values: vec![Vec::new(); count],
            outcomes: vec![Vec::new(); count],
        };
        let since = match asks.has_numbers() {
            true => server.shared.count.load(Ordering::Relaxed),
            false => 0,
        };
        client.execute(&mut batch, &mut seen);
        let asked = &asked[..];
        let round = Round { asks, asked, since };
        for (index, outcomes) in seen.outcomes.iter().enumerate() {
            let [outcome] = &outcomes[..] else {
                panic!("a request ends once: {outcomes:?}");
            };
            let is_own = round.is_own(index, outcome, &seen.values[index]);
            if !is_own {
                let found = &seen.outcomes;
                tally.example = format!("{index} of {asked:?} since {since}: {found:?}");
            }
            tally.foreign += u64::from(!is_own);
            tally.note(outcome);
        }
    }
    let shared = &server.shared;
    let [faults, held, repeated] = [&shared.faults, &shared.held_count, &shared.repeated]
        .map(|count| count.load(Ordering::Relaxed));
    tally.faults = faults;
    assert_eq!(repeated, 0, "what is held is sent once");
    // What is lost with a connection is not sent again, but most arrives.
    assert!(
        held * 5 >= tally.queued || protocol == Protocol::Binary,
        "{held} of {tally:?}"
    );
    tally
}

/// Whether a value is that of a key, and of this time.
fn is_of(value: &[u8], key: &str, since: u64) -> bool {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let rest = text
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('='));
    let count = rest.and_then(|rest| rest.split(';').next());
    count.is_some_and(|count| count.parse::<u64>().is_ok_and(|count| count >= since))
}

/// Runs all rounds, by several clients if they are many, and demands that no value is foreign.
fn run_all(seed: u64, asks: Asks) {
    let rounds = rounds();
    let clients = (rounds / ROUNDS).clamp(1, MOST_CLIENTS);
    let run_one = |client| run(seed + client * 16, asks, rounds / clients);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| scope.spawn(move || run_one(client)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|tally| tally.expect("a tally")).collect()
    });
    let mut sum = Tally::new();
    tallies.iter().for_each(|tally| sum.add(tally));
    println!("{rounds} rounds, {asks:?}: {sum:?}");
    assert_eq!(sum.foreign, 0, "{sum:?}");
    // The servers did their worst, and the clients were of use nevertheless.
    assert!(sum.faults * 4 > rounds, "{sum:?}");
    assert!(sum.hits * 2 > rounds && sum.failed > rounds / 20, "{sum:?}");
}

fn rounds() -> u64 {
    let count = std::env::var(HOW_MANY);
    count.map_or(ROUNDS, |count| count.parse().expect("a number"))
}

#[test]
fn a_hostile_server_never_passes_off_a_value_as_that_of_another_key() {
    run_all(1, Protocol::Auto.into());
}

#[test]
fn a_hostile_server_of_old_text_is_not_believed_either() {
    run_all(2, Protocol::Text.into());
}

#[test]
fn a_hostile_server_of_the_binary_protocol_is_not_believed_either() {
    run_all(3, Protocol::Binary.into());
}

#[test]
fn a_hostile_server_that_is_asked_for_many_keys_by_one_line_is_not_believed_either() {
    run_all(4, IN_LINES);
}

/// Runs a client that neglects something until it is found out.
fn is_found_out(what: Neglect, seed: u64, asks: Asks) {
    neglect(what);
    let tries = (0..MOST_TRIES).find(|number| run(seed + number, asks, ROUNDS).foreign > 0);
    neglect(Neglect::Nothing);
    let tries = tries.expect("it is found out") + 1;
    println!("{what:?}, {asks:?}: found out in {tries} times {ROUNDS} rounds");
}

#[test]
fn a_client_that_trusts_in_the_order_of_answers_is_found_out() {
    is_found_out(Neglect::AllMarks, 100, Protocol::Auto.into());
}

#[test]
fn a_client_that_trusts_in_the_order_of_keys_in_a_line_is_found_out() {
    is_found_out(Neglect::AllMarks, 200, IN_LINES);
}

/// The answer that is expected next is compared at once, by code of its own.
#[test]
fn a_client_that_does_not_compare_the_key_or_number_of_what_it_expects_is_found_out() {
    for what in [Neglect::ExpectedKey, Neglect::ExpectedNumber] {
        is_found_out(what, 300, Protocol::Auto.into());
    }
}
