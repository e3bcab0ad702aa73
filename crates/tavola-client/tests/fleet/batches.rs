//! Many requests at once: order, sizes, answers that nobody needs.

use super::servers::{Ours, Theirs, patient, with_each};
use tavola_client::{
    Batch, Client, CountOptions, Error, GetOptions, Outcome, Placement, Protocol, Reply, Sink,
    StoreOptions,
};

const PLAIN: StoreOptions = StoreOptions {
    flags: 0,
    exptime: 0,
    reply: Reply::Wait,
};

/// Values and outcomes, each in its place.
#[derive(Default)]
pub struct Taken {
    pub values: Vec<Vec<u8>>,
    pub outcomes: Vec<Vec<Outcome>>,
}

impl Taken {
    pub fn of(client: &Client, batch: &mut Batch<'_>) -> Self {
        let mut taken = Self {
            values: vec![Vec::new(); batch.len()],
            outcomes: vec![Vec::new(); batch.len()],
        };
        client.execute(batch, &mut taken);
        taken
    }

    /// Each outcome, of which there is one a request.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let only = |outcomes: &Vec<Outcome>| match &outcomes[..] {
            [outcome] => outcome.clone(),
            outcomes => panic!("one outcome a request, not {outcomes:?}"),
        };
        self.outcomes.iter().map(only).collect()
    }
}

impl Sink for Taken {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        assert!(self.values[index].is_empty(), "room is asked for once");
        self.values[index] = vec![0; len];
        Some(&mut self.values[index])
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index].push(outcome);
    }
}

const HIT: Outcome = Outcome::Hit {
    flags: 0,
    cas: None,
};

#[test]
fn requests_of_all_kinds_are_answered_in_their_places() {
    with_each(|name, client, _| {
        let mut batch = Batch::new();
        batch.set(b"a", b"1", PLAIN);
        batch.get(b"a", GetOptions::default());
        batch.get(b"b", GetOptions::default());
        batch.add(b"a", b"2", PLAIN);
        batch.incr(b"a", CountOptions::by(41));
        batch.get(b"a", GetOptions::default());
        batch.append(b"a", b"!", Reply::Wait);
        batch.get_and_touch(b"a", 100, GetOptions::default());
        batch.touch(b"b", 100, Reply::Wait);
        batch.get(b"", GetOptions::default());
        batch.delete(b"a", Reply::Wait);
        batch.get(b"a", GetOptions::default());
        batch.get(b"c", GetOptions::default());
        let taken = Taken::of(client, &mut batch);
        let outcomes = taken.outcomes();
        assert!(
            matches!(outcomes[9], Outcome::Refused(_)),
            "{name}: {outcomes:?}"
        );
        let expected = [
            Outcome::Stored,
            HIT,
            Outcome::Miss,
            Outcome::NotStored,
            Outcome::Count(42),
            HIT,
            Outcome::Stored,
            HIT,
            Outcome::Miss,
            outcomes[9].clone(),
            Outcome::Deleted,
            Outcome::Miss,
            Outcome::Miss,
        ];
        assert_eq!(outcomes, expected, "{name}");
        let values = [1, 5, 7].map(|place| &taken.values[place][..]);
        assert_eq!(values, [&b"1"[..], b"42", b"42!"], "{name}");
    });
}

/// Neighbours of every kind: what may be in a line with others, and what may not.
#[test]
fn gets_are_answered_in_their_places_whatever_is_beside_them() {
    with_each(|name, client, _| {
        let long = "long".repeat(60);
        for key in ["a", "c", "d", "with space", &long] {
            client.set(key.as_bytes(), key.as_bytes(), PLAIN).ok();
        }
        let stays = |key: &[u8]| client.get(key).is_ok_and(|found| found.is_some());
        // Text has no keys with spaces, and some namespaces leave too little room.
        let (has_space, has_long) = (stays(b"with space"), stays(long.as_bytes()));
        let cas = GetOptions::with_cas();
        let asked: Vec<(&str, GetOptions)> = ["a", "b", "a", "c", "with space", "d", "b", &long]
            .into_iter()
            .flat_map(|key| [(key, GetOptions::default()), (key, cas), (key, cas)])
            .chain([("x", cas), ("y", cas), ("a", GetOptions::default())])
            .collect();
        let mut batch = Batch::new();
        for (key, options) in &asked {
            batch.get(key.as_bytes(), *options);
        }
        let taken = Taken::of(client, &mut batch);
        let answers = taken.outcomes().into_iter().zip(&taken.values);
        for ((key, options), (outcome, value)) in asked.iter().zip(answers) {
            let is_there = match *key {
                "with space" => has_space,
                "b" | "x" | "y" => false,
                key => key != long || has_long,
            };
            match outcome {
                Outcome::Hit { cas, .. } if is_there => {
                    assert_eq!(cas.is_some(), options.with_cas, "{name}, {key}");
                    assert_eq!(value, key.as_bytes(), "{name}");
                }
                Outcome::Miss if !is_there => {}
                Outcome::Refused(_) if !is_there && key.len() > 1 => {}
                other => panic!("{name}, {key}: {other:?}"),
            }
        }
    });
}

/// More keys than a line has, of which each third is there.
#[test]
fn thousands_of_keys_are_asked_for_at_once() {
    with_each(|name, client, _| {
        let keys: Vec<String> = (0..5000).map(|number| format!("key:{number}")).collect();
        let mut batch = Batch::new();
        for key in keys.iter().step_by(3) {
            batch.set(key.as_bytes(), key.as_bytes(), PLAIN.without_reply());
        }
        for key in &keys {
            batch.get(key.as_bytes(), GetOptions::default());
        }
        let sets = keys.len().div_ceil(3);
        let taken = Taken::of(client, &mut batch);
        let answers = taken.outcomes().into_iter().zip(&taken.values).skip(sets);
        for (number, (outcome, value)) in answers.enumerate() {
            match number % 3 {
                0 => assert!(outcome == HIT && value == keys[number].as_bytes(), "{name}"),
                _ => assert_eq!(outcome, Outcome::Miss, "{name}, {number}"),
            }
        }
    });
}

/// More than any socket holds, in both directions at once.
#[test]
fn a_large_batch_does_not_wait_for_itself() {
    with_each(|name, client, _| {
        let value = vec![b'v'; 5000];
        let keys: Vec<String> = (0..3000).map(|number| format!("key:{number}")).collect();
        let mut batch = Batch::new();
        for key in &keys {
            batch.set(key.as_bytes(), &value, PLAIN);
            batch.get(key.as_bytes(), GetOptions::default());
        }
        let taken = Taken::of(client, &mut batch);
        for (place, pair) in taken.outcomes().chunks(2).enumerate() {
            assert_eq!(pair, [Outcome::Stored, HIT], "{name}, {place}");
            assert!(taken.values[2 * place + 1] == value, "{name}, {place}");
        }
    });
}

#[test]
fn values_of_every_size_arrive_whole() {
    with_each(|name, client, _| {
        // Around the size of a connection's buffer, with values before and behind.
        let sizes = [
            0, 1, 100, 16_000, 16_300, 16_380, 16_384, 16_500, 40_000, 700_000,
        ];
        let values: Vec<Vec<u8>> = sizes
            .iter()
            .map(|size| (0..*size).map(|place| (place * 7 + size) as u8).collect())
            .collect();
        let keys: Vec<String> = sizes.iter().map(|size| format!("size:{size}")).collect();
        let mut batch = Batch::new();
        for (key, value) in keys.iter().zip(&values) {
            batch.set(key.as_bytes(), value, PLAIN);
        }
        Taken::of(client, &mut batch);
        let mut batch = Batch::new();
        for _ in 0..3 {
            keys.iter().for_each(|key| {
                batch.get(key.as_bytes(), GetOptions::default());
            });
        }
        let taken = Taken::of(client, &mut batch);
        assert!(
            taken.outcomes().iter().all(|outcome| *outcome == HIT),
            "{name}"
        );
        for (place, value) in taken.values.iter().enumerate() {
            assert!(*value == values[place % sizes.len()], "{name}, {place}");
        }
    });
}

/// Wants no values, or memory of the wrong size.
struct Picky(Vec<Outcome>, [u8; 3]);

impl Sink for Picky {
    fn room(&mut self, index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        (index % 2 == 1).then_some(&mut self.1[..])
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        self.0.push(outcome);
    }
}

#[test]
fn values_that_nobody_wants_are_dropped() {
    with_each(|name, client, _| {
        let value = vec![b'v'; 100_000];
        client.set(b"large", &value, PLAIN).expect("stored");
        client.set(b"small", b"small", PLAIN).expect("stored");
        let mut batch = Batch::new();
        for key in [&b"large"[..], b"large", b"small", b"small"] {
            batch.get(key, GetOptions::default());
        }
        let mut picky = Picky(Vec::new(), [0; 3]);
        client.execute(&mut batch, &mut picky);
        assert_eq!(picky.0, [HIT; 4], "{name}");
        assert_eq!(picky.1, [0; 3], "{name}");
    });
}

#[test]
fn what_needs_no_answer_is_seen_by_the_next_request_of_the_thread() {
    with_each(|name, client, protocol| {
        let silent = PLAIN.without_reply();
        for round in 0..200_u32 {
            let value = round.to_string();
            client.set(b"key", value.as_bytes(), silent).expect(name);
            let found = client.get(b"key").expect(name).expect(name);
            assert_eq!(found.data, value.as_bytes(), "{name}");
        }
        // Refusals and conditions that do not hold are not answered either.
        let huge = vec![0; 3 << 20];
        let mut batch = Batch::new();
        batch.add(b"key", b"x", silent);
        batch.set(b"huge", &huge, silent);
        batch.incr(
            b"text",
            CountOptions {
                reply: Reply::None,
                ..CountOptions::by(1)
            },
        );
        batch.delete(b"missing", Reply::None);
        batch.touch(b"key", 100, Reply::None);
        batch.get(b"key", GetOptions::default());
        let outcomes = Taken::of(client, &mut batch).outcomes();
        assert_eq!(outcomes[5], HIT, "{name}");
        if protocol != Protocol::Binary {
            assert_eq!(outcomes[..5], [const { Outcome::Queued }; 5], "{name}");
        }
        // The socket takes all, and there is more to send, before there is anything to receive.
        let large = vec![b'v'; 140_000];
        for _ in 0..10 {
            let mut batch = Batch::new();
            batch.set(b"large", &large, silent);
            batch.set(b"large", &large, silent);
            batch.get(b"large", GetOptions::default());
            let taken = Taken::of(client, &mut batch);
            assert_eq!(taken.outcomes()[2], HIT, "{name}");
            assert!(taken.values[2] == large, "{name}");
        }
        // Much more than is held.
        let value = vec![b'v'; 3000];
        let keys: Vec<String> = (0..100).map(|number| format!("many:{number}")).collect();
        for key in &keys {
            client.set(key.as_bytes(), &value, silent).expect(name);
        }
        for key in &keys {
            let found = client.get(key.as_bytes()).expect(name);
            assert!(found.is_some_and(|found| found.data == value), "{name}");
        }
    });
}

/// A refusal does not say what it refuses.
#[test]
fn a_refusal_is_that_of_its_request_whatever_is_before_it() {
    with_each(|name, client, _| {
        let silent = PLAIN.without_reply();
        client.set(b"text", b"abc", silent).expect(name);
        let refused = client.incr(b"text", CountOptions::by(1));
        assert!(
            matches!(refused, Err(Error::Refused(_))),
            "{name}: {refused:?}"
        );
        let huge = vec![0; 3 << 20];
        let mut batch = Batch::new();
        for _ in 0..2 {
            batch.get(b"text", GetOptions::default());
            batch.get(b"missing", GetOptions::default());
            batch.set(b"huge", &huge, PLAIN);
            batch.set(b"key", b"value", silent);
            batch.incr(b"text", CountOptions::by(1));
        }
        let outcomes = Taken::of(client, &mut batch).outcomes();
        for half in outcomes.chunks(5) {
            assert_eq!(half[..2], [HIT, Outcome::Miss], "{name}");
            let is_refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused(_));
            assert!(
                is_refused(&half[2]) && is_refused(&half[4]),
                "{name}: {half:?}"
            );
        }
        assert!(client.get(b"key").expect(name).is_some(), "{name}");
    });
}

#[test]
fn what_is_held_is_before_calls_about_servers() {
    with_each(|name, client, _| {
        let silent = PLAIN.without_reply();
        client.set(b"key", b"1", silent).expect(name);
        client.flush_all(0).remove(0).expect(name);
        assert_eq!(client.get(b"key"), Ok(None), "{name}");
    });
}

#[test]
fn what_is_held_leaves_by_flush_and_when_the_client_is_dropped() {
    let server = Ours::start();
    let [writer, reader] = [(); 2].map(|()| patient(server.client()));
    let silent = PLAIN.without_reply();
    writer.set(b"key", b"1", silent).expect("queued");
    assert_eq!(reader.get(b"key"), Ok(None), "it is held");
    std::thread::scope(|scope| {
        scope.spawn(|| writer.set(b"of a thread", b"1", silent));
        scope.spawn(|| writer.set(b"thread", b"1", silent).expect("queued"));
    });
    writer.flush().expect("flushed");
    assert!(reader.get(b"key").expect("an answer").is_some());
    assert!(reader.get(b"thread").expect("an answer").is_some());
    writer.set(b"late", b"1", silent).expect("queued");
    assert_eq!(reader.get(b"late"), Ok(None), "it is held");
    drop(writer.clone());
    assert_eq!(reader.get(b"late"), Ok(None), "the client is still there");
    drop(writer);
    assert!(reader.get(b"late").expect("an answer").is_some());
}

#[test]
fn a_batch_goes_to_all_servers_at_once() {
    let ours: Vec<Ours> = (0..3).map(|_| Ours::start()).collect();
    let theirs = Theirs::start(&[]);
    let mut builder = Client::builder().placement(Placement::Ketama);
    let names = ours.iter().map(|ours| &ours.name);
    for name in names.chain(theirs.iter().map(|theirs| &theirs.name)) {
        builder = builder.server(name, 1.0);
    }
    let client = patient(builder);
    let keys: Vec<String> = (0..500).map(|number| format!("key:{number}")).collect();
    let values: Vec<String> = (0..500)
        .map(|number| format!("{number}").repeat(60))
        .collect();
    let mut batch = Batch::new();
    for (key, value) in keys.iter().zip(&values) {
        batch.set(key.as_bytes(), value.as_bytes(), PLAIN);
    }
    let outcomes = Taken::of(&client, &mut batch).outcomes();
    assert_eq!(outcomes, vec![Outcome::Stored; 500]);
    let asked: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
    for (found, value) in client.get_many(&asked).into_iter().zip(&values) {
        let found = found.expect("an answer").expect("a value");
        assert_eq!(found.data, value.as_bytes());
    }
    for (place, name) in client.servers().iter().enumerate() {
        let one = patient(Client::builder().servers([name.clone()]));
        let count = { keys.iter() }.filter(|key| client.server_of(key.as_bytes()) == place);
        let count = count.filter(|key| one.get(key.as_bytes()).is_ok_and(|v| v.is_some()));
        assert!(count.count() > 20, "{}", name.name());
    }
}
