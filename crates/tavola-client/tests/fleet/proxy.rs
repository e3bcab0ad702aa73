//! The client behind a proxy that speaks the classic text alone: nutcracker, if it is installed.

use super::batches::Taken;
use super::servers::{Theirs, free_port, patient, wait_until};
use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tavola_client::{
    Batch, Builder, CasOutcome, Client, CountOptions, Error, GetOptions, Outcome, Protocol, Reply,
    StoreOptions,
};

const PLAIN: StoreOptions = StoreOptions {
    flags: 3,
    exptime: 0,
    reply: Reply::Wait,
};

/// A proxy in front of two servers of memcached, ended with the value.
struct Proxy {
    child: Child,
    name: String,
    servers: [Option<Theirs>; 2],
    directory: tempfile::TempDir,
}

impl Proxy {
    /// `None` if nutcracker or memcached is not installed.
    fn start() -> Option<Self> {
        let servers = [Theirs::start(&[])?, Theirs::start(&[])?];
        let directory = tempfile::tempdir().expect("a directory");
        let port = free_port();
        let list: String = { servers.iter() }
            .map(|server| format!("   - {}:1\n", server.name))
            .collect();
        let pool = format!(
            "pool:\n  listen: 127.0.0.1:{port}\n  hash: md5\n  distribution: ketama\n  \
             auto_eject_hosts: false\n  timeout: 300\n  servers:\n{list}"
        );
        fs::write(directory.path().join("pools.yml"), pool).expect("written");
        let child = run(directory.path())?;
        let name = format!("127.0.0.1:{port}");
        let mut proxy = Self {
            child,
            name,
            servers: servers.map(Some),
            directory,
        };
        proxy.wait();
        Some(proxy)
    }

    fn wait(&mut self) {
        let start = Instant::now();
        while TcpStream::connect(&self.name).is_err() {
            let ended = self.child.try_wait().expect("a child");
            let starts = ended.is_none() && start.elapsed() < Duration::from_secs(60);
            assert!(starts, "nutcracker does not start: {ended:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn client(&self) -> Builder {
        Client::builder().server(&self.name, 1.0)
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn restart(&mut self) {
        self.child = run(self.directory.path()).expect("it was there before");
        self.wait();
    }

    /// A client of one of the servers.
    fn alone(&self, server: usize) -> Client {
        patient(self.servers[server].as_ref().expect("it runs").client())
    }
}

/// Starts nutcracker, wherever Debian puts it.
fn run(directory: &Path) -> Option<Child> {
    let start = |program: &str| {
        Command::new(program)
            .args(["-c", "pools.yml", "-o", "log", "-a", "127.0.0.1", "-s"])
            .arg(free_port().to_string())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    };
    for program in ["nutcracker", "/usr/sbin/nutcracker"] {
        match start(program) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            child => return Some(child.expect("nutcracker starts")),
        }
    }
    println!("skipped: nutcracker is not installed; scripts/setup test installs it");
    None
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn text_is_found_out_behind_a_proxy_and_all_of_its_commands_work() {
    let Some(proxy) = Proxy::start() else {
        return;
    };
    for protocol in [Protocol::Auto, Protocol::Text] {
        let builder = proxy.client().protocol(protocol);
        let client = patient(builder.namespace(format!("{protocol:?}:")));
        assert_eq!(client.get(b"k"), Ok(None));
        client.set(b"k", b"1", PLAIN).expect("stored");
        let found = client.gets(b"k").expect("an answer").expect("a value");
        assert_eq!((&found.data[..], found.flags), (&b"1"[..], 3));
        let cas = found.cas.expect("a number");
        assert_eq!(client.cas(b"k", b"2", cas, PLAIN), Ok(CasOutcome::Stored));
        assert_eq!(client.cas(b"k", b"2", cas, PLAIN), Ok(CasOutcome::Exists));
        assert_eq!(client.add(b"k", b"x", PLAIN), Ok(false));
        assert_eq!(client.replace(b"k", b"3", PLAIN), Ok(true));
        assert_eq!(client.incr(b"k", CountOptions::by(4)), Ok(Some(7)));
        assert_eq!(client.decr(b"k", CountOptions::by(2)), Ok(Some(5)));
        assert_eq!(client.append(b"k", b"b"), Ok(true));
        assert_eq!(client.prepend(b"k", b"a"), Ok(true));
        let refused = client.incr(b"k", CountOptions::by(1));
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        assert_eq!(client.touch(b"k", 100), Ok(true));
        let found = client.get(b"k").expect("an answer").expect("a value");
        assert_eq!(found.data, b"a5b");
        assert_eq!(client.delete(b"k"), Ok(true));
        assert_eq!(client.delete(b"k"), Ok(false));
        assert_eq!(client.incr(b"k", CountOptions::by(1)), Ok(None));
        client.set(b"k", b"q", PLAIN.without_reply()).expect("held");
        let found = client.get(b"k").expect("an answer").expect("a value");
        assert_eq!(found.data, b"q");
        let large = vec![b'v'; 300_000];
        client.set(b"large", &large, PLAIN).expect("stored");
        let found = client.get(b"large").expect("an answer").expect("a value");
        assert!(found.data == large);
    }
}

#[test]
fn batches_behind_a_proxy_reach_all_of_its_servers() {
    let Some(proxy) = Proxy::start() else {
        return;
    };
    let client = patient(proxy.client());
    let keys: Vec<Vec<u8>> = (0..300).map(|n| format!("key:{n}").into_bytes()).collect();
    let mut batch = Batch::new();
    for (number, key) in keys.iter().enumerate() {
        match number % 3 {
            0 => batch.set(key, key, PLAIN),
            1 => batch.set(key, key, PLAIN.without_reply()),
            _ => batch.get(key, GetOptions::default()),
        };
    }
    for (number, outcome) in Taken::of(&client, &mut batch).outcomes().iter().enumerate() {
        let expected = [Outcome::Stored, Outcome::Queued, Outcome::Miss];
        assert_eq!(*outcome, expected[number % 3]);
    }
    let asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    for (number, found) in client.get_many(&asked).into_iter().enumerate() {
        let found = found.expect("an answer").map(|value| value.data);
        let expected = (number % 3 != 2).then(|| keys[number].clone());
        assert_eq!(found, expected, "{number}");
    }
    for server in [0, 1] {
        let found = proxy.alone(server).get_many(&asked);
        let count = found
            .into_iter()
            .filter(|found| matches!(found, Ok(Some(_))));
        assert!(
            count.count() > 20,
            "server {server} has a share of the keys"
        );
    }
    let mut batch = Batch::new();
    for key in &keys {
        batch.delete(key, Reply::Wait);
    }
    let outcomes = Taken::of(&client, &mut batch).outcomes();
    let deleted = outcomes
        .iter()
        .filter(|outcome| **outcome == Outcome::Deleted);
    assert_eq!(deleted.count(), 200);
}

#[test]
fn what_a_proxy_does_not_know_is_an_error_and_the_next_call_works() {
    let Some(proxy) = Proxy::start() else {
        return;
    };
    let client = patient(proxy.client());
    client.set(b"k", b"1", PLAIN).expect("stored");
    for _ in 0..3 {
        // It ends the connection; the client cannot know whether it did anything before.
        let result = client.get_and_touch(b"k", 10);
        assert!(matches!(result, Err(Error::Unknown { .. })), "{result:?}");
        assert!(client.get(b"k").expect("an answer").is_some());
    }
    assert!(client.flush_all(0)[0].is_err());
    assert!(client.stats("")[0].is_err());
    // Two failures in a row: it counts as down until it is asked again.
    wait_until("it is used again", || client.get(b"k").is_ok());
    let version = client.versions().remove(0).expect("that of a server");
    assert!(version.starts_with('1'), "{version}");
    let refused = client.incr(b"n", CountOptions::by(1).from(1, 0));
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert!(client.get(b"k").expect("an answer").is_some());
    let meta = patient(proxy.client().protocol(Protocol::Meta));
    let why = meta.get(b"k").expect_err("no meta commands").to_string();
    assert!(why.contains("proxy"), "{why}");
}

#[test]
fn a_server_behind_a_proxy_that_fails_is_never_a_miss() {
    let Some(mut proxy) = Proxy::start() else {
        return;
    };
    let client = patient(proxy.client());
    let keys: Vec<Vec<u8>> = (0..60).map(|n| format!("key:{n}").into_bytes()).collect();
    for key in &keys {
        client.set(key, key, PLAIN).expect("stored");
    }
    let asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let of_first = proxy.alone(0).get_many(&asked);
    let is_of_first: Vec<bool> = of_first.iter().map(|v| matches!(v, Ok(Some(_)))).collect();
    let check = || {
        for (found, is_lost) in client.get_many(&asked).iter().zip(&is_of_first) {
            match found {
                Ok(Some(_)) => assert!(!is_lost),
                Ok(None) => panic!("a failure is no miss"),
                // The proxy may end the connection for all.
                Err(_) => {}
            }
        }
        for (key, is_lost) in keys.iter().zip(&is_of_first) {
            let found = client.get(key);
            assert_eq!(found.is_err(), *is_lost, "{found:?}");
            if *is_lost {
                let written = client.set(key, key, PLAIN);
                assert!(matches!(written, Err(Error::Unknown { .. })), "{written:?}");
            }
        }
    };
    let first = proxy.servers[0].as_ref().expect("it runs");
    first.signal("STOP");
    let key = { keys.iter().zip(&is_of_first) }.find(|(_, is_lost)| **is_lost);
    let (key, _) = key.expect("a key of the first");
    for _ in 0..2 {
        assert!(client.get(key).is_err());
        let written = client.set(key, key, PLAIN);
        assert!(matches!(written, Err(Error::Unknown { .. })), "{written:?}");
    }
    first.signal("CONT");
    wait_until("it is used again", || {
        client.get(key).is_ok_and(|v| v.is_some())
    });
    drop(proxy.servers[0].take());
    check();
}

#[test]
fn threads_behind_a_proxy_that_is_killed_get_no_value_of_another_key() {
    let Some(mut proxy) = Proxy::start() else {
        return;
    };
    let client = patient(proxy.client().pool(3));
    let [hits, failures] = [(); 2].map(|()| AtomicU64::new(0));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (client, hits, failures, is_over) = (&client, &hits, &failures, &is_over);
            scope.spawn(move || {
                let keys: Vec<String> = (0..8).map(|key| format!("{thread}:{key}")).collect();
                let asked: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
                while !is_over.load(Ordering::Relaxed) {
                    for key in &asked {
                        let _ = client.set(key, key, PLAIN);
                    }
                    for (key, found) in asked.iter().zip(client.get_many(&asked)) {
                        match found {
                            Ok(Some(value)) => {
                                assert_eq!(value.data, *key);
                                hits.fetch_add(1, Ordering::Relaxed);
                            }
                            Ok(None) => {}
                            Err(_) => {
                                failures.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
        for _ in 0..4 {
            let before = hits.load(Ordering::Relaxed);
            wait_until("values are found", || {
                hits.load(Ordering::Relaxed) > before + 200
            });
            proxy.stop();
            proxy.restart();
        }
        let before = hits.load(Ordering::Relaxed);
        wait_until("the proxy is used again", || {
            hits.load(Ordering::Relaxed) > before + 200
        });
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(failures.into_inner() > 0);
}
