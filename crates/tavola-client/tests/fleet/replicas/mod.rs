//! Copies of keys on further servers: where they are, and what is reported when a server is killed,
//! stopped, or has another value.

mod repairs;

use crate::batches::Taken;
use crate::servers::{Ours, Theirs, free_port, patient, wait_until};
use std::time::Duration;
use tavola_client::{
    Batch, Builder, CasOutcome, Client, CountOptions, Error, FailureCause, GetOptions, OnDown,
    Outcome, Protocol, Reply, StoreOptions,
};
use tavola_server::Listen;
use tavola_server::memcached::Rules;

const FLAGGED: StoreOptions = StoreOptions {
    flags: 7,
    exptime: 500,
    reply: Reply::Wait,
};
const PLAIN: StoreOptions = StoreOptions {
    flags: 0,
    exptime: 0,
    reply: Reply::Wait,
};

/// Servers, and a client of each alone.
struct Fleet {
    servers: Vec<Option<Ours>>,
    names: Vec<String>,
    alone: Vec<Client>,
}

impl Fleet {
    fn of(count: usize) -> Self {
        let servers: Vec<Ours> = (0..count).map(|_| Ours::start()).collect();
        let alone = servers.iter().map(|server| patient(server.client()));
        Self {
            alone: alone.collect(),
            names: servers.iter().map(|server| server.name.clone()).collect(),
            servers: servers.into_iter().map(Some).collect(),
        }
    }

    fn builder(&self, replicas: usize) -> Builder {
        let add = |builder: Builder, name: &String| builder.server(name, 1.0);
        let builder = self.names.iter().fold(Client::builder(), add);
        builder.replicas(replicas)
    }

    fn client(&self, replicas: usize) -> Client {
        patient(self.builder(replicas))
    }

    fn kill(&mut self, server: usize) {
        drop(self.servers[server].take());
    }

    /// What each server has of a key.
    fn copies(&self, key: &[u8]) -> Vec<Option<Vec<u8>>> {
        let get = |(alone, server): (&Client, &Option<Ours>)| {
            server.as_ref()?;
            let value = alone.get(key).expect("an answer")?;
            Some(value.data)
        };
        self.alone.iter().zip(&self.servers).map(get).collect()
    }

    fn has(&self, key: &[u8]) -> Vec<bool> {
        self.copies(key).iter().map(Option::is_some).collect()
    }
}

/// The first key whose own server is this one.
fn key_of(client: &Client, server: usize) -> Vec<u8> {
    let keys = (0..).map(|number| format!("key:{number}").into_bytes());
    let mut own = keys.filter(|key| client.server_of(key) == server);
    own.next().expect("each server has keys")
}

fn is_unknown<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Unknown { .. }))
}

fn is_unsent<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Unsent { .. }))
}

#[test]
fn a_set_a_touch_and_a_delete_go_to_the_next_servers_of_the_list() {
    let fleet = Fleet::of(3);
    for protocol in [Protocol::Auto, Protocol::Text, Protocol::Binary] {
        let client = patient(fleet.builder(1).protocol(protocol));
        for own in 0..3 {
            let key = key_of(&client, own);
            assert_eq!(client.copies_of(&key), [own, (own + 1) % 3]);
            client.set(&key, b"value", FLAGGED).expect("stored");
            let expected: Vec<bool> = (0..3).map(|at| at != (own + 2) % 3).collect();
            assert_eq!(fleet.has(&key), expected);
            assert_eq!(client.touch(&key, 100), Ok(true));
            for server in client.copies_of(&key) {
                assert!(left_s(&fleet.alone[server], &key).is_some_and(|left| left <= 100));
            }
            assert_eq!(client.delete(&key), Ok(true));
            assert_eq!(fleet.has(&key), [false; 3]);
            assert_eq!(client.delete(&key), Ok(false));
            assert_eq!(client.touch(&key, 100), Ok(false));
            assert_eq!(client.get(&key), Ok(None));
        }
    }
}

/// The time that an item has left, as the server says it.
fn left_s(client: &Client, key: &[u8]) -> Option<u32> {
    let mut batch = Batch::new();
    batch.get(key, GetOptions::with_ttl());
    let mut left = Left(None);
    client.execute(&mut batch, &mut left);
    left.0
}

struct Left(Option<u32>);

impl tavola_client::Sink for Left {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn ttl(&mut self, _index: usize, left_s: Option<u32>) {
        self.0 = left_s;
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        assert!(matches!(outcome, Outcome::Hit { .. }), "{outcome:?}");
    }
}

#[test]
fn options_that_cannot_have_replicas_are_refused() {
    let fleet = Fleet::of(2);
    assert!(fleet.builder(2).build().is_err());
    let ejecting = fleet.builder(1).on_down(OnDown::Eject).build();
    let why = ejecting.expect_err("refused").to_string();
    assert!(why.contains("on_down"), "{why}");
}

#[test]
fn a_server_that_was_killed_costs_no_value_and_no_failure_is_a_miss() {
    let mut fleet = Fleet::of(3);
    let client = fleet.client(1);
    let key = key_of(&client, 0);
    client.set(&key, b"value", PLAIN).expect("stored");
    fleet.kill(0);
    for _ in 0..20 {
        let found = client.get(&key).expect("the copy").expect("a value");
        assert_eq!(found.data, b"value");
    }
    // The copy says that it misses the key; nobody knows about the other.
    assert_eq!(fleet.alone[1].delete(&key), Ok(true));
    let result = client.get(&key);
    assert!(is_unsent(&result), "{result:?}");
    // A set reaches the copy only; the other may have an older value when it comes back.
    let result = client.set(&key, b"newer", PLAIN);
    assert!(is_unknown(&result), "{result:?}");
    let found = client.get(&key).expect("the copy").expect("a value");
    assert_eq!(found.data, b"newer");
    let result = client.delete(&key);
    assert!(is_unknown(&result), "{result:?}");
    assert_eq!(fleet.has(&key), [false; 3], "it did what it could");
    // What the key's server decides changes nothing without it.
    assert!(is_unsent(
        &client.incr(&key, CountOptions::by(1).from(1, 0))
    ));
    assert!(is_unsent(&client.add(&key, b"value", PLAIN)));
    assert!(is_unsent(&client.append(&key, b"value")));
    assert!(is_unsent(&client.gets(&key)));
    assert_eq!(fleet.has(&key), [false; 3]);
    // Of a key whose further copy is down, reads are as ever, and writes are not certain.
    let other = key_of(&client, 2);
    let result = client.set(&other, b"5", PLAIN);
    assert!(is_unknown(&result), "{result:?}");
    let result = client.incr(&other, CountOptions::by(1));
    assert!(is_unknown(&result), "{result:?}");
    let result = client.replace(&other, b"7", PLAIN);
    assert!(is_unknown(&result), "{result:?}");
    let found = client.get(&other).expect("its own server");
    assert_eq!(found.expect("a value").data, b"7");
    fleet.kill(1);
    // What was sent before that is noticed may have been carried out.
    assert!(client.get(&key).is_err() && client.set(&key, b"value", PLAIN).is_err());
    assert!(is_unsent(&client.set(&key, b"value", PLAIN)), "none is up");
    assert!(is_unsent(&client.delete(&key)) && is_unsent(&client.get(&key)));
}

#[test]
fn a_server_that_was_stopped_is_not_waited_for_again_and_its_old_value_is_not_hidden() {
    let Some(stopped) = Theirs::start(&[]) else {
        return;
    };
    let ours = Ours::start();
    let builder = Client::builder()
        .server(&stopped.name, 1.0)
        .server(&ours.name, 1.0)
        .replicas(1)
        .io_timeout(Duration::from_millis(300))
        .retry(Duration::from_secs(600));
    let client = builder.build().expect("a client");
    let key = key_of(&client, 0);
    wait_until("stored", || client.set(&key, b"old", PLAIN).is_ok());
    stopped.signal("STOP");
    // The first ones wait for the server, and all find the copy.
    for _ in 0..200 {
        let found = client.get(&key).expect("the copy").expect("a value");
        assert_eq!(found.data, b"old");
    }
    let results = [
        client.set(&key, b"new", PLAIN).err(),
        client.delete(&key).err(),
    ];
    for result in results {
        assert!(matches!(result, Some(Error::Unknown { .. })), "{result:?}");
    }
    assert!(is_unsent(&client.get(&key)), "the copy misses it");
    stopped.signal("CONT");
    // Nobody had said that it was deleted.
    wait_until("the old value is found", || {
        let found = client.get(&key);
        found.is_ok_and(|found| found.is_some_and(|value| value.data == b"old"))
    });
}

#[test]
fn what_the_server_of_a_key_decides_leaves_no_older_value_on_a_copy() {
    let fleet = Fleet::of(3);
    for protocol in [Protocol::Auto, Protocol::Text, Protocol::Binary] {
        let client = patient(fleet.builder(1).protocol(protocol));
        let key = key_of(&client, 0);
        let both = |value: &[u8]| vec![Some(value.to_vec()), Some(value.to_vec()), None];
        let own = |value: &[u8]| vec![Some(value.to_vec()), None, None];
        assert_eq!(client.replace(&key, b"1", PLAIN), Ok(false));
        assert_eq!(client.add(&key, b"1", PLAIN), Ok(true));
        assert_eq!(client.add(&key, b"2", PLAIN), Ok(false));
        assert_eq!(fleet.copies(&key), both(b"1"));
        assert_eq!(client.replace(&key, b"3", PLAIN), Ok(true));
        assert_eq!(fleet.copies(&key), both(b"3"));
        assert_eq!(client.incr(&key, CountOptions::by(4)), Ok(Some(7)));
        assert_eq!(fleet.copies(&key), own(b"7"));
        client.set(&key, b"9", PLAIN).expect("stored");
        assert_eq!(client.decr(&key, CountOptions::by(1)), Ok(Some(8)));
        assert_eq!(fleet.copies(&key), own(b"8"));
        client.set(&key, b"b", PLAIN).expect("stored");
        assert_eq!(client.append(&key, b"c"), Ok(true));
        assert_eq!(fleet.copies(&key), own(b"bc"));
        client.set(&key, b"b", PLAIN).expect("stored");
        assert_eq!(client.prepend(&key, b"a"), Ok(true));
        assert_eq!(fleet.copies(&key), own(b"ab"));
        client.set(&key, b"x", PLAIN).expect("stored");
        let cas = client.gets(&key).expect("an answer").expect("a value").cas;
        let cas = cas.expect("a number");
        let other = client.cas(&key, b"y", cas + 1, PLAIN);
        assert_eq!(other, Ok(CasOutcome::Exists));
        assert_eq!(fleet.copies(&key), both(b"x"));
        assert_eq!(client.cas(&key, b"y", cas, PLAIN), Ok(CasOutcome::Stored));
        assert_eq!(fleet.copies(&key), own(b"y"));
        // The number is one of the key's server, and so is its absence.
        fleet.alone[1].set(&key, b"copy", PLAIN).expect("stored");
        assert_eq!(fleet.alone[0].delete(&key), Ok(true));
        assert_eq!(client.gets(&key), Ok(None));
        assert_eq!(client.delete(&key), Ok(true));
    }
}

#[test]
fn a_get_that_touches_does_so_on_all_copies_and_repairs() {
    let fleet = Fleet::of(3);
    let client = fleet.client(2);
    let key = key_of(&client, 0);
    client.set(&key, b"value", FLAGGED).expect("stored");
    let touched = || client.get_and_touch(&key, 50).expect("an answer");
    assert_eq!(touched().expect("a value").data, b"value");
    for alone in &fleet.alone {
        assert!(left_s(alone, &key).is_some_and(|left| left <= 50));
    }
    client.touch(&key, 500).expect("touched");
    assert_eq!(fleet.alone[0].delete(&key), Ok(true));
    assert_eq!(touched().expect("a value").flags, 7);
    for alone in &fleet.alone {
        assert!(left_s(alone, &key).is_some_and(|left| left <= 50));
    }
}

#[test]
fn requests_of_a_batch_for_one_key_have_their_order_on_each_copy() {
    let fleet = Fleet::of(3);
    let client = fleet.client(1);
    let key = key_of(&client, 0);
    let mut batch = Batch::new();
    batch.set(&key, b"1", PLAIN);
    batch.delete(&key, Reply::None);
    batch.set(&key, b"5", PLAIN.without_reply());
    batch.incr(&key, CountOptions::by(1));
    batch.get(&key, GetOptions::default());
    batch.set(&key, b"9", PLAIN);
    batch.get(&key, GetOptions::with_ttl());
    batch.get(b"none", GetOptions::default());
    let taken = Taken::of(&client, &mut batch);
    let hit = Outcome::Hit {
        flags: 0,
        cas: None,
    };
    let expected = [
        Outcome::Stored,
        Outcome::Deleted,
        Outcome::Stored,
        Outcome::Count(6),
        hit.clone(),
        Outcome::Stored,
        hit,
        Outcome::Miss,
    ];
    assert_eq!(taken.outcomes(), expected);
    assert_eq!(
        (&taken.values[4][..], &taken.values[6][..]),
        (&b"6"[..], &b"9"[..])
    );
    assert_eq!(fleet.has(&key), [true, true, false]);
}

#[test]
fn many_keys_are_found_whatever_copies_are_missing() {
    let fleet = Fleet::of(4);
    let client = fleet.client(1);
    let keys: Vec<Vec<u8>> = (0..400).map(|n| format!("k{n}").into_bytes()).collect();
    let asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut batch = Batch::new();
    for key in &asked {
        batch.set(key, key, FLAGGED);
    }
    let stored = Taken::of(&client, &mut batch).outcomes();
    assert!(stored.iter().all(|outcome| *outcome == Outcome::Stored));
    // A server that begins again has nothing.
    for result in [0, 2].map(|server: usize| &fleet.alone[server]) {
        assert!(result.flush_all(0).iter().all(Result::is_ok));
    }
    for _ in 0..2 {
        for (key, found) in asked.iter().zip(client.get_many(&asked)) {
            assert_eq!(found.expect("an answer").expect("a value").data, *key);
        }
        assert_eq!(client.get_many(&[b"none"]), [Ok(None)]);
    }
    for key in &asked {
        let has = fleet.has(key);
        let copies = client.copies_of(key);
        let has_all = copies.iter().all(|server| has[*server]);
        // A get that finds the key on its own server does not ask the other one.
        assert_eq!(has_all, copies[0].is_multiple_of(2), "{copies:?}, {has:?}");
    }
}

/// Whatever happens to one of two servers at a time, no value is lost and none is confused.
#[test]
fn keys_survive_servers_that_are_killed_one_after_the_other() {
    let ports = [free_port(), free_port()];
    let start = |port| Theirs::on(port, &[]);
    let mut servers = ports.map(start);
    if servers.iter().any(Option::is_none) {
        return;
    }
    let names = ports.map(|port| format!("127.0.0.1:{port}"));
    let builder = { names.iter() }.fold(Client::builder(), |b, name| b.server(name, 1.0));
    let client = patient(builder.replicas(1));
    let keys: Vec<Vec<u8>> = (0..50).map(|n| format!("k{n}").into_bytes()).collect();
    for key in &keys {
        client.set(key, key, FLAGGED).expect("stored");
    }
    for round in 0..4_usize {
        let killed = round % 2;
        drop(servers[killed].take());
        for key in &keys {
            let found = client.get(key).expect("a copy").expect("a value");
            assert_eq!(found.data, *key);
        }
        servers[killed] = Theirs::on(ports[killed], &[]);
        let alone = patient(Client::builder().server(&names[killed], 1.0));
        // The server is found again, and gets of its own keys fill it.
        wait_until("it is filled", || {
            let own = { keys.iter() }.filter(|key| client.server_of(key) == killed);
            own.clone()
                .all(|key| client.get(key).is_ok_and(|v| v.is_some()))
                && own
                    .clone()
                    .all(|key| alone.get(key).is_ok_and(|v| v.is_some()))
        });
        // The others come back with the next set.
        for key in &keys {
            client.set(key, key, FLAGGED).expect("stored");
        }
    }
}

#[cfg(feature = "table")]
#[test]
fn a_table_in_front_of_the_fleet_is_filled_from_copies() {
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let mut fleet = Fleet::of(2);
    let table = directory.path().join("near").display().to_string();
    let client = patient(fleet.builder(1).near(&table, Duration::from_secs(600)));
    let key = key_of(&client, 0);
    client.set(&key, b"value", FLAGGED).expect("stored");
    assert_eq!(fleet.has(&key), [true; 2]);
    fleet.kill(0);
    let found = client.get(&key).expect("the copy").expect("a value");
    assert_eq!((&found.data[..], found.flags), (&b"value"[..], 7));
    fleet.kill(1);
    let found = client.get(&key).expect("the table").expect("a value");
    assert_eq!((&found.data[..], found.flags), (&b"value"[..], 7));
    assert!(client.delete(&key).is_err());
    let result = client.get(&key);
    assert!(
        result.is_err(),
        "no older value is in the table: {result:?}"
    );
}

#[test]
fn a_write_that_one_copy_refuses_is_partly_done() {
    let listen = || Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let narrow = Rules {
        value_bytes: 1 << 10,
        ..Rules::default()
    };
    let wide = Ours::start();
    let narrow = Ours::listening(listen(), narrow);
    let builder = wide.client().server(&narrow.name, 1.0).replicas(1);
    let client = patient(builder);
    let large = vec![b'v'; 10_000];
    for server in 0..2 {
        let key = key_of(&client, server);
        match client.set(&key, &large, PLAIN) {
            Err(Error::Unknown { cause, .. }) => assert_eq!(cause, FailureCause::Partial),
            other => panic!("one copy has it, the other has not: {other:?}"),
        }
    }
}
