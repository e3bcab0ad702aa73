//! Calls of a near cache.

use crate::daemon::{Daemon, open, signal, table};
use crate::server::Server;
use crate::wait_until;
use rustix::process::Signal;
use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tavola_near::{DaemonOptions, Near, NearError, NearEvent};

/// Runs a daemon in this process while the test looks at its cache.
fn with_daemon(server: &Server, options: DaemonOptions, look: impl FnOnce(&Near)) {
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near");
    let (table, stop) = (table(&path), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let daemon = scope.spawn(|| options.run(&table, &stop, &mut |_| ()));
        // However this thread ends, the daemon ends, too.
        let _stops = Stops(&stop);
        look(&open(&path));
        stop.store(true, Ordering::Relaxed);
        daemon.join().expect("no panic").expect("no error");
    });
    assert!(!directory.path().join(".near.near").exists());
    drop(server.client());
}

struct Stops<'s>(&'s AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn options(server: &Server) -> DaemonOptions {
    DaemonOptions::new(&server.address()).expect("an address")
}

/// Waits until the table has the value, and reads it there.
fn cached(near: &Near, key: &str) -> Vec<u8> {
    let mut value = Vec::new();
    wait_until("the value is in the table", || {
        near.get(key).expect("an answer");
        near.peek_into(key, &mut value).expect("a table")
    });
    value
}

#[test]
fn values_come_from_the_server_once_and_follow_its_changes() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut client = server.client();
    client.set("a", b"1");
    let large: Vec<u8> = (0..1_000_000u32).map(|number| number as u8).collect();
    client.set("large", &large);
    client.set("empty", b"");
    with_daemon(&server, options(&server), |near| {
        assert_eq!(cached(near, "a"), b"1");
        assert_eq!(cached(near, "large"), large);
        assert_eq!(cached(near, "empty"), b"");
        let fills = near.status().fills;
        for _ in 0..100 {
            assert_eq!(near.get("a").expect("a value").as_deref(), Some(&b"1"[..]));
        }
        // Fetched again only when the machine was too slow for a beat a second.
        assert!(near.status().fills < fills + 90);
        client.set("a", b"2");
        wait_until("the change is seen", || {
            near.get("a").expect("a value").as_deref() == Some(b"2")
        });
        client.call(&[b"DEL", b"a"]).expect("a reply");
        wait_until("the removal is seen", || {
            near.get("a").expect("an answer").is_none()
        });
        // A miss is not kept.
        client.set("a", b"3");
        assert_eq!(near.get("a").expect("a value").as_deref(), Some(&b"3"[..]));
        assert_eq!(cached(near, "a"), b"3");
        client.call(&[b"FLUSHALL"]).expect("a reply");
        wait_until("the flush is seen", || {
            near.get("large").expect("an answer").is_none()
        });
        client.call(&[b"LPUSH", b"list", b"1"]).expect("a reply");
        let wrong = near.get("list").expect_err("no string");
        assert!(wrong.to_string().contains("WRONGTYPE"), "{wrong}");
        let long = near.get(vec![b'k'; (1 << 20) + 1]);
        assert!(matches!(long, Err(NearError::KeyTooLong { .. })));
    });
}

#[test]
fn a_value_does_not_outlive_its_time_on_the_server_or_here() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut client = server.client();
    client.set("kept", b"1");
    let set = client.call(&[b"SET", b"short", b"1", b"PX", b"300"]);
    assert_eq!(set.expect("a reply"), "OK");
    let options = options(&server).ttl(Duration::from_millis(100));
    with_daemon(&server, options, |near| {
        assert_eq!(cached(near, "kept"), b"1");
        let mut value = Vec::new();
        wait_until("it leaves the table", || {
            !near.peek_into("kept", &mut value).expect("a table")
        });
        assert_eq!(
            near.get("kept").expect("a value").as_deref(),
            Some(&b"1"[..])
        );
        wait_until("it expires", || {
            near.get("short").expect("an answer").is_none()
        });
    });
}

#[test]
fn keys_with_other_prefixes_pass_through() {
    let Some(server) = Server::start(&["--requirepass", "secret"]) else {
        return;
    };
    let mut client = server.client();
    let login = client.call(&[b"AUTH", b"secret"]).expect("a reply");
    assert_eq!(login, "OK");
    let select = client.call(&[b"SELECT", b"3"]).expect("a reply");
    assert_eq!(select, "OK");
    client.set("app:a", b"1");
    client.set("other", b"1");
    let address = format!("redis://:secret@127.0.0.1:{}/3", server.port);
    let options = DaemonOptions::new(&address).expect("an address");
    with_daemon(&server, options.prefix("app:").prefix("web:"), |near| {
        assert_eq!(cached(near, "app:a"), b"1");
        assert_eq!(
            near.get("other").expect("a value").as_deref(),
            Some(&b"1"[..])
        );
        client.set("app:a", b"2");
        client.set("other", b"2");
        assert_eq!(
            near.get("other").expect("a value").as_deref(),
            Some(&b"2"[..])
        );
        wait_until("the change is seen", || {
            near.get("app:a").expect("a value").as_deref() == Some(b"2")
        });
        let mut value = Vec::new();
        assert!(!near.peek_into("other", &mut value).expect("a table"));
    });
}

#[test]
fn servers_that_cannot_be_cached_are_refused() {
    let Some(server) = Server::start(&["--requirepass", "secret"]) else {
        return;
    };
    let Some(replica) = Server::start(&["--replicaof", "127.0.0.1 1"]) else {
        return;
    };
    let Some(node) = Server::start(&["--cluster-enabled", "yes"]) else {
        return;
    };
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let refusal = |name: &str, address: &str| {
        let table = table(&directory.path().join(name));
        let options = DaemonOptions::new(address).expect("an address");
        let never = AtomicBool::new(false);
        let ended = options.run(&table, &never, &mut |_| ());
        ended.expect_err("refused").to_string()
    };
    let of_password = refusal("password", &server.address());
    assert!(of_password.contains("NOAUTH"), "{of_password}");
    let of_replica = refusal("replica", &replica.address());
    assert!(of_replica.contains("it is a replica"), "{of_replica}");
    table(&directory.path().join("keys"))
        .set("a", "1")
        .expect("a set");
    let of_keys = refusal("keys", &server.address());
    assert!(of_keys.contains("not of a near cache"), "{of_keys}");
    let of_node = refusal("node", &node.address());
    assert!(of_node.contains("a node of a cluster"), "{of_node}");
    let mut client = server.client();
    client.call(&[b"AUTH", b"secret"]).expect("a reply");
    let user = client.call(&[
        b"ACL",
        b"SETUSER",
        b"u",
        b"on",
        b">p",
        b"~*",
        b"+@all",
        b"-client|tracking",
    ]);
    assert_eq!(user.expect("a reply"), "OK");
    let upstream = format!("redis://u@127.0.0.1:{}", server.port);
    let options = DaemonOptions::new(&upstream).expect("an address");
    let rights = table(&directory.path().join("rights"));
    let never = AtomicBool::new(false);
    let ended = options.password("p").run(&rights, &never, &mut |_| ());
    let of_rights = ended.expect_err("refused").to_string();
    assert!(of_rights.contains("NOPERM"), "{of_rights}");
    // The table is that of another server.
    let of_other = refusal("rights", &replica.address());
    assert!(of_other.contains("another server"), "{of_other}");
}

#[test]
fn a_standby_takes_over_from_one_that_dies_or_stops() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut client = server.client();
    client.set("a", b"0");
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near");
    let upstream = format!("unix:{}", server.socket());
    let first = Daemon::start(&path, &upstream);
    let near = open(&path);
    let second = Daemon::start(&path, &upstream);
    assert_eq!(cached(&near, "a"), b"0");
    drop(first);
    wait_until("the second one takes over", || near.status().owners > 1);
    wait_until("it answers", || near.get("a").is_ok());
    signal(second.pid(), Signal::STOP);
    client.set("a", b"1");
    let third = Daemon::start(&path, &upstream);
    wait_until("the third one takes over", || near.status().owners > 2);
    wait_until("it answers", || near.get("a").is_ok());
    assert_eq!(cached(&near, "a"), b"1");
    // The second one does no harm when it continues.
    signal(second.pid(), Signal::CONT);
    client.set("a", b"2");
    wait_until("the change is seen", || {
        near.get("a").ok().flatten().as_deref() == Some(b"2")
    });
    let owners = near.status().owners;
    drop(third);
    wait_until("the second one is a standby", || {
        near.status().owners > owners
    });
    drop(second);
    wait_until("trust ends", || !near.status().is_trusted);
    assert!(matches!(near.get("a"), Err(NearError::NoDaemon { .. })));
}

#[test]
fn a_daemon_waits_for_its_server_and_says_so() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near");
    let (table, stop) = (table(&path), AtomicBool::new(false));
    let options = options(&server);
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let _stops = Stops(&stop);
        let mut report = |event| tell.send(event).expect("the test listens");
        let (options, table, stop) = (&options, &table, &stop);
        scope.spawn(move || options.run(table, stop, &mut report));
        let next = || {
            told.recv_timeout(Duration::from_secs(60))
                .expect("an event")
        };
        assert_eq!(next(), NearEvent::TookOver);
        // A machine that is slow loses the server by itself.
        while next() != NearEvent::Connected {}
        server.restart();
        while !matches!(next(), NearEvent::Lost(_)) {}
        while next() != NearEvent::Connected {}
        let near = Near::open(&path).expect("a cache");
        server.client().set("a", b"1");
        assert_eq!(cached(&near, "a"), b"1");
        assert!(near.status().losses >= 1);
    });
}

#[test]
fn a_reader_that_takes_no_answers_is_not_read_without_end() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near");
    let _daemon = Daemon::start(&path, &server.address());
    let near = open(&path);
    let mut reader = UnixStream::connect(directory.path().join(".near.near")).expect("a daemon");
    reader.set_nonblocking(true).expect("an option");
    // The length of a key, and the key.
    let requests = [&1000_u32.to_le_bytes()[..], &[b'k'; 1000]]
        .concat()
        .repeat(64);
    let (mut written, mut pauses, mut at) = (0, 0, 0);
    while pauses < 200 && written < 64 << 20 {
        match reader.write(&requests[at..]) {
            Ok(len) => (written, at, pauses) = (written + len, (at + len) % requests.len(), 0),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock, "{written} bytes");
                pauses += 1;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    assert!(written < 32 << 20, "{written} bytes were read");
    // Others are served meanwhile.
    assert_eq!(near.get("none").expect("an answer"), None);
}
