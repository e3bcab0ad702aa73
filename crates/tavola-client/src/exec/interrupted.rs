//! A fork, the end of the client, and the end or a stop of the server, before each system call of
//! a client, from the one that connects on.

#![allow(unsafe_code)]

use super::apart::{Apart, wait_until};
use super::counts::{name_of, start, start_on};
use crate::batch::{Batch, CountOptions, Outcome, Sink, StoreOptions};
use crate::client::Client;
use crate::conn::{calls, interrupt_before};
use crate::error::Error;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tavola_server::Listen;

const KEYS: usize = 20;

/// How long a client waits for a server that is stopped.
const SHORT: Duration = Duration::from_millis(60);
const LONG: Duration = Duration::from_secs(60);

/// What a call returned.
#[derive(Debug, Default)]
struct Results {
    right: usize,
    missing: usize,
    failed: usize,
}

fn key(number: usize) -> Vec<u8> {
    format!("key:{number}").into_bytes()
}

/// Values of some sizes, one larger than a connection's buffer.
fn value(number: usize) -> Vec<u8> {
    let size = if number == 7 { 60_000 } else { number * 10 };
    [&key(number)[..], &vec![b'v'; size]].concat()
}

/// A client without a connection.
fn client_of(name: &str, patience: Duration) -> Client {
    let builder = Client::builder().server(name, 1.0).max_failures(u32::MAX);
    let builder = builder.io_timeout(patience).connect_timeout(patience);
    builder.build().expect("a client")
}

fn fill(client: &Client) {
    for number in 0..KEYS {
        let stored = client.set(&key(number), &value(number), StoreOptions::default());
        stored.expect("stored");
    }
}

/// Makes calls of several kinds. A value of another key is a panic.
fn call(client: &Client) -> Results {
    let mut results = Results::default();
    let options = StoreOptions::default();
    let stored = client.set(&key(3), &value(3), options);
    results.failed += usize::from(stored.is_err());
    let queued = client.set(&key(4), &value(4), options.without_reply());
    results.failed += usize::from(queued.is_err());
    let keys: Vec<Vec<u8>> = (0..KEYS).map(key).collect();
    let asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let found = client.get_many(&asked).into_iter().enumerate();
    for (number, found) in found.chain([(5, client.get(&key(5)))]) {
        match found {
            Ok(Some(found)) => {
                assert!(found.data == value(number), "a foreign value");
                results.right += 1;
            }
            Ok(None) => results.missing += 1,
            Err(_) => results.failed += 1,
        }
    }
    results
}

/// Whether all that was asked is answered, and right.
fn is_right(results: &Results) -> bool {
    results.right == KEYS + 1 && results.missing + results.failed == 0
}

/// The system calls of [`call`] and of connecting.
fn count(name: &str) -> u32 {
    let client = client_of(name, LONG);
    let before = calls();
    call(&client);
    calls() - before
}

/// Waits for a child of this process. Returns its status.
fn status_of(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: the status is a local variable.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(ended, child);
    status
}

#[test]
fn a_fork_before_any_system_call_confuses_neither_process() {
    let (server, filler) = start();
    fill(&filler);
    let name = name_of(&server);
    let count = count(&name);
    let mut forks = 0;
    for later in 0..count {
        let client = client_of(&name, LONG);
        let child = Rc::new(Cell::new(-1));
        let forked = Rc::clone(&child);
        interrupt_before(
            later,
            // SAFETY: the child ends below, and takes no lock that a thread of the parent can hold
            // except the allocator's, which glibc hands over.
            Box::new(move || forked.set(unsafe { libc::fork() })),
        );
        let results = call(&client);
        if child.get() == 0 {
            // Nothing was confused, and the next calls are right.
            let is_right = results.missing == 0 && is_right(&call(&client));
            // SAFETY: it ends the process, and nothing of the parent's is run.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
        }
        if child.get() == -1 {
            // This time the answers came in fewer parts.
            continue;
        }
        forks += 1;
        let status = status_of(child.get());
        assert_eq!(status, 0, "the child is right, forked before call {later}");
        assert!(is_right(&results), "{later}: {results:?}");
    }
    assert!(forks >= 9, "{forks} of {count}");
    server.stop();
}

#[test]
fn the_end_of_the_server_before_any_system_call_is_no_miss() {
    let (server, filler) = start();
    fill(&filler);
    let count = count(&name_of(&server));
    server.stop();
    let (mut failed, mut ends) = (0, 0);
    for later in 0..count {
        let (server, filler) = start();
        fill(&filler);
        let client = client_of(&name_of(&server), LONG);
        let is_over = Rc::new(Cell::new(false));
        let ended = Rc::clone(&is_over);
        let end = move || {
            server.stop();
            ended.set(true);
        };
        interrupt_before(later, Box::new(end));
        let results = call(&client);
        ends += u32::from(is_over.get());
        assert_eq!(results.missing, 0, "{later}: {results:?}");
        failed += results.failed;
    }
    assert!(ends >= 9 && failed > KEYS, "{ends} ends, {failed} failures");
}

/// How often a counter was counted up, as far as a client knows.
#[derive(Debug, Default)]
struct Counted {
    surely: u64,
    perhaps: u64,
}

impl Counted {
    fn count(&mut self, client: &Client) {
        match client.incr(b"count", CountOptions::by(1)) {
            Ok(Some(_)) => self.surely += 1,
            Err(Error::Unsent { .. }) => {}
            Err(Error::Unknown { .. }) => self.perhaps += 1,
            other => panic!("it is there: {other:?}"),
        }
    }
}

/// Waits until a server has carried out all that others have sent: it has no connections except
/// that of this client.
fn wait_until_alone(client: &Client) {
    let is_alone = || {
        let figures = client.stats("").remove(0).expect("figures");
        let count = { figures.iter() }.find(|figure| figure[0] == b"curr_connections");
        count.expect("a figure")[1] == b"1"
    };
    wait_until("the others are gone", is_alone);
}

#[test]
fn a_stop_of_the_server_before_any_system_call_is_neither_a_miss_nor_a_wrong_success() {
    let server = Rc::new(Apart::start());
    let filler = client_of(&server.name, LONG);
    fill(&filler);
    let count = count(&server.name);
    let (mut failed, mut stops) = (0, 0);
    for later in 0..count {
        let zero = filler.set(b"count", b"0", StoreOptions::default());
        zero.expect("stored");
        let client = client_of(&server.name, SHORT);
        let is_stopped = Rc::new(Cell::new(false));
        let (stopped, stopping) = (Rc::clone(&is_stopped), Rc::clone(&server));
        let stop = move || {
            stopping.stop();
            stopped.set(true);
        };
        interrupt_before(later, Box::new(stop));
        let mut counted = Counted::default();
        counted.count(&client);
        let results = call(&client);
        counted.count(&client);
        stops += u32::from(is_stopped.get());
        assert_eq!(results.missing, 0, "{later}: {results:?}");
        failed += results.failed;
        server.resume();
        wait_until("it answers again, and right", || is_right(&call(&client)));
        drop(client);
        wait_until_alone(&filler);
        let found = filler.get(b"count").expect("an answer").expect("a value");
        let found: u64 = { std::str::from_utf8(&found.data) }
            .expect("text")
            .parse()
            .expect("a number");
        let possible = counted.surely..=counted.surely + counted.perhaps;
        assert!(possible.contains(&found), "{later}: {found}, {counted:?}");
    }
    assert!(
        stops >= 9 && failed > KEYS,
        "{stops} stops, {failed} failures"
    );
}

/// What the calls of a round store: other values than any other round's. Some are more than a Unix
/// socket takes at once, so that they are sent in parts.
fn value_of_round(number: usize, round: u32) -> Vec<u8> {
    let size = match number % 3 {
        1 => 600_000,
        _ => number * 10,
    };
    [&key(number)[..], &round.to_le_bytes(), &vec![b'v'; size]].concat()
}

struct Nothing;

impl Sink for Nothing {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn done(&mut self, _index: usize, _outcome: Outcome) {}
}

/// Stores all keys: the even ones by one batch, the others by one without answers.
fn store_all(client: &Client, round: u32) {
    let all: Vec<[Vec<u8>; 2]> = (0..KEYS)
        .map(|number| [key(number), value_of_round(number, round)])
        .collect();
    let options = StoreOptions::default();
    let mut batch = Batch::new();
    for [key, value] in all.iter().step_by(2) {
        batch.set(key, value, options);
    }
    client.execute(&mut batch, &mut Nothing);
    batch.clear();
    for [key, value] in all.iter().skip(1).step_by(2) {
        batch.set(key, value, options.without_reply());
    }
    client.execute(&mut batch, &mut Nothing);
}

#[test]
fn a_client_that_is_killed_before_any_system_call_leaves_whole_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let (server, filler) = start_on(Listen::Unix { path, mode: 0o700 });
    let name = name_of(&server);
    let mut kills = 0;
    let [mut old, mut new] = [0; 2];
    let mut has_whole_values = |round: u32| {
        for number in 0..KEYS {
            let found = filler
                .get(&key(number))
                .expect("an answer")
                .expect("a value");
            let is_of = |round| found.data == value_of_round(number, round);
            match [is_of(round), is_of(round + 1)] {
                [true, false] => old += 1,
                [false, true] => new += 1,
                _ => panic!("key {number} has neither value of round {round}"),
            }
        }
    };
    for round in (0..).step_by(2) {
        store_all(&filler, round);
        // SAFETY: the child takes no lock that a thread of the parent can hold except the
        // allocator's, which glibc hands over, and ends without running anything else.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let kill = || {
                // SAFETY: it ends the process.
                unsafe { libc::raise(libc::SIGKILL) };
            };
            interrupt_before(round / 2, Box::new(kill));
            store_all(&client_of(&name, LONG), round + 1);
            // SAFETY: as above.
            unsafe { libc::_exit(0) }
        }
        let status = status_of(child);
        // Before the server has read all that was sent, and after.
        has_whole_values(round);
        wait_until_alone(&filler);
        has_whole_values(round);
        if status == 0 {
            break;
        }
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL);
        kills += 1;
    }
    println!("{kills} kills, {old} old values, {new} new ones");
    assert!(kills >= 9, "{kills} kills");
    assert!(old > KEYS && new > KEYS, "{old} old values, {new} new ones");
    server.stop();
}
