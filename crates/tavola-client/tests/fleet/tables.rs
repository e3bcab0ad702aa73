//! Tables of this machine in the place of servers.

use crate::process::in_child;
use crate::servers::{Ours, patient};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tavola::{Expiry, Table};
use tavola_client::{
    Batch, CasOutcome, Client, CountOptions, Error, GetOptions, Outcome, Placement, Reply, Sink,
    StoreOptions,
};
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options};

/// A directory with a table, which is served, and the names of both.
struct Both {
    directory: tempfile::TempDir,
    served: Ours,
    direct: String,
}

impl Both {
    fn start() -> Both {
        let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
        let path = directory.path().join("table");
        let table = Table::options()
            .versions(true)
            .open(&path)
            .expect("a table");
        let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
        let options = Options::new().threads(1).listen(listen);
        let server = options
            .start(Memcached::new(Arc::new(table)))
            .expect("a server");
        let Address::Tcp(address) = server.addresses()[0] else {
            panic!("not by TCP");
        };
        let direct = format!("tavola:{}", path.display());
        let served = Ours {
            name: address.to_string(),
            server: Some(server),
        };
        Both {
            directory,
            served,
            direct,
        }
    }

    /// A client of the server, and one of the table.
    fn clients(&self) -> [Client; 2] {
        let direct = Client::builder().server(&self.direct, 1.0);
        [patient(self.served.client()), patient(direct)]
    }

    fn table(&self) -> Table {
        let path = self.directory.path().join("table");
        Table::options().open_existing(path).expect("it is there")
    }
}

#[test]
fn a_table_that_is_served_and_used_directly_is_one_store() {
    let both = Both::start();
    let clients = both.clients();
    for round in 0..2 {
        // Each writes, and the other reads what it wrote.
        let (one, other) = (&clients[round], &clients[1 - round]);
        let options = StoreOptions {
            flags: 7 + round as u32,
            ..StoreOptions::ttl(100)
        };
        one.set(b"k", b"v", options).expect("stored");
        let found = other.gets(b"k").expect("an answer").expect("it is there");
        assert_eq!((&found.data[..], found.flags), (&b"v"[..], options.flags));
        let same = one.gets(b"k").expect("an answer").expect("it is there");
        assert_eq!(found.cas, same.cas);
        let cas = found.cas.expect("a number");
        let stored = other.cas(b"k", b"w", cas, options).expect("an answer");
        assert_eq!(stored, CasOutcome::Stored);
        assert_eq!(one.cas(b"k", b"x", cas, options), Ok(CasOutcome::Exists));
        let Some(Expiry::After(left)) = both.table().ttl(b"k").expect("read") else {
            panic!("no time");
        };
        assert!((90..=100).contains(&left.as_secs()), "{left:?}");
        assert_eq!(other.add(b"k", b"y", options), Ok(false));
        assert_eq!(other.replace(b"none", b"y", options), Ok(false));
        assert_eq!(one.append(b"k", b">"), Ok(true));
        assert_eq!(other.prepend(b"k", b"<"), Ok(true));
        let found = one.get(b"k").expect("an answer").expect("it is there");
        assert_eq!(found.data, b"<w>");
        assert_eq!(one.incr(b"n", CountOptions::by(1).from(5, 0)), Ok(Some(5)));
        assert_eq!(other.incr(b"n", CountOptions::by(2)), Ok(Some(7)));
        assert_eq!(one.decr(b"n", CountOptions::by(9)), Ok(Some(0)));
        assert!(matches!(
            other.incr(b"k", CountOptions::by(1)),
            Err(Error::Refused(_))
        ));
        assert_eq!(one.touch(b"k", 0), Ok(true));
        assert_eq!(both.table().ttl(b"k").expect("read"), Some(Expiry::Never));
        assert_eq!(other.delete(b"k"), Ok(true));
        assert_eq!(one.delete(b"k"), Ok(false));
        assert_eq!(other.delete(b"n"), Ok(true));
        // A time that is over.
        one.set(b"k", b"v", StoreOptions::ttl(-1)).expect("stored");
        assert_eq!(other.get(b"k"), Ok(None));
        let why = clients
            .each_ref()
            .map(|client| client.get(&[b'k'; 251]).expect_err("refused"));
        assert_eq!(why[0], why[1]);
    }
}

#[test]
fn counting_by_both_at_once_loses_nothing() {
    let both = Both::start();
    let clients = both.clients();
    thread::scope(|scope| {
        for client in clients.iter().cycle().take(4) {
            scope.spawn(move || {
                for _ in 0..500 {
                    let counted = client.incr(b"n", CountOptions::by(1).from(1, 0));
                    assert!(counted.expect("an answer").is_some());
                }
            });
        }
    });
    assert_eq!(
        both.table().get(b"n").expect("read").expect("there"),
        b"2000"
    );
}

/// Values of a batch, and outcomes.
#[derive(Default)]
struct Values(Vec<(Vec<u8>, Option<Outcome>)>);

impl Sink for Values {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        self.0[index].0.resize(len, 0);
        Some(&mut self.0[index].0)
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        assert!(self.0[index].1.replace(outcome).is_none());
    }
}

#[test]
fn batches_larger_than_all_buffers_are_answered_whole() {
    let both = Both::start();
    let [_, direct] = both.clients();
    let value = |n: usize| {
        vec![
            n as u8;
            if n.is_multiple_of(500) {
                900_000
            } else {
                n % 3000
            }
        ]
    };
    let pairs: Vec<_> = (0..3000)
        .map(|n| (format!("k{n}").into_bytes(), value(n)))
        .collect();
    let mut batch = Batch::new();
    for (n, (key, value)) in pairs.iter().enumerate() {
        let options = StoreOptions::default();
        batch.set(
            key,
            value,
            if n % 2 == 0 {
                options
            } else {
                options.without_reply()
            },
        );
    }
    for (key, _) in &pairs {
        batch.get(key, GetOptions::default());
    }
    batch.get(b"none", GetOptions::default());
    batch.delete(b"k1", Reply::Wait);
    let mut values = Values(vec![Default::default(); batch.len()]);
    direct.execute(&mut batch, &mut values);
    for (n, (found, outcome)) in values.0.iter().enumerate() {
        match n {
            0..3000 => assert!(
                matches!(outcome, Some(Outcome::Stored | Outcome::Queued)),
                "{n}"
            ),
            3000..6000 => assert!(*found == pairs[n - 3000].1, "{n}: {outcome:?}"),
            6000 => assert_eq!(outcome, &Some(Outcome::Miss)),
            _ => assert_eq!(outcome, &Some(Outcome::Deleted)),
        }
    }
    let large = vec![b'x'; 3 << 20];
    direct
        .set(b"large", &large, StoreOptions::default())
        .expect("no limit of a server");
    assert!(
        direct
            .get(b"large")
            .expect("an answer")
            .expect("there")
            .data
            == large
    );
}

#[test]
fn a_fleet_may_have_tables_among_its_servers() {
    let both = Both::start();
    let other = Ours::start();
    let builder = Client::builder()
        .server(&both.direct, 1.0)
        .server(&other.name, 1.0);
    let client = patient(builder.placement(Placement::Jump));
    let keys: Vec<Vec<u8>> = (0..200).map(|n| format!("k{n}").into_bytes()).collect();
    for key in &keys {
        client
            .set(key, key, StoreOptions::default().without_reply())
            .expect("held");
    }
    client.flush().expect("carried out");
    let borrowed: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    for (key, found) in keys.iter().zip(client.get_many(&borrowed)) {
        assert_eq!(found.expect("an answer").expect("there").data, *key);
    }
    let mut listed = BTreeSet::new();
    client
        .keys(0, &mut |key| assert!(listed.insert(key.to_vec())))
        .expect("a list");
    assert!(!listed.is_empty() && listed.len() < keys.len());
    client
        .keys(1, &mut |key| assert!(listed.insert(key.to_vec())))
        .expect("a list");
    assert_eq!(listed.len(), keys.len());
    assert!(client.versions().iter().all(Result::is_ok));
    let stats = client.stats("");
    let has = |stats: &Vec<[Vec<u8>; 2]>| stats.iter().any(|[name, _]| name == b"curr_items");
    assert!(stats.iter().all(|one| one.as_ref().is_ok_and(has)));
    assert!(client.flush_all(0).iter().all(Result::is_ok));
    assert_eq!(client.get(b"k1"), Ok(None));
    assert_eq!(both.table().len().expect("a count"), 0);
}

#[test]
fn a_login_is_for_servers_and_a_table_gets_none_of_it() {
    let both = Both::start();
    for builder in [
        Client::builder().server(&both.direct, 1.0).sasl("u", "p"),
        Client::builder()
            .server(&both.direct, 1.0)
            .text_auth("u", "p"),
    ] {
        let client = patient(builder);
        client
            .set(b"k", b"v", StoreOptions::default())
            .expect("stored");
        assert_eq!(both.table().len().expect("a count"), 1);
        let mut keys = 0;
        client
            .keys(0, &mut |_| keys += 1)
            .expect("tables can list their keys");
        assert_eq!(keys, 1);
    }
}

#[test]
fn a_forked_child_uses_the_table_as_well() {
    let both = Both::start();
    let [_, client] = both.clients();
    let is_over = AtomicBool::new(false);
    let counts = |key: &[u8]| client.incr(key, CountOptions::by(1).from(1, 0)).is_ok();
    thread::scope(|scope| {
        // Threads of the parent are in the middle of something at any moment of the fork.
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!(counts(b"parent"));
                }
            });
        }
        for _ in 0..20 {
            assert!(in_child(|| (0..50).all(|_| counts(b"child"))));
            assert!(counts(b"parent"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(
        both.table().get(b"child").expect("read").expect("there"),
        b"1000"
    );
}

#[test]
fn a_table_that_cannot_be_opened_is_a_server_that_is_down() {
    let client = Client::builder()
        .server("tavola:/nowhere/at/all", 1.0)
        .build();
    let error = client.expect("a client").get(b"k").expect_err("no table");
    assert!(matches!(&error, Error::Unsent { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere"), "{error}");
}
