//! A fork, and the end of the server, before each system call of a client.

#![allow(unsafe_code)]

use super::counts::start;
use crate::batch::StoreOptions;
use crate::client::Client;
use crate::conn::{calls, interrupt_before};
use std::cell::Cell;
use std::rc::Rc;

const KEYS: usize = 20;

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

/// The system calls of [`call`].
fn count(client: &Client) -> u32 {
    let before = calls();
    call(client);
    calls() - before
}

#[test]
fn a_fork_before_any_system_call_confuses_neither_process() {
    let (server, client) = start();
    fill(&client);
    let count = count(&client);
    let mut forks = 0;
    for later in 0..count {
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
            let next = call(&client);
            let is_right = results.missing == 0 && next.right == KEYS + 1 && next.failed == 0;
            // SAFETY: it ends the process, and nothing of the parent's is run.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
        }
        if child.get() == -1 {
            // This time the answers came in fewer parts.
            continue;
        }
        forks += 1;
        let mut status = 0;
        // SAFETY: the status is a local variable.
        let ended = unsafe { libc::waitpid(child.get(), &raw mut status, 0) };
        assert_eq!(ended, child.get());
        assert_eq!(status, 0, "the child is right, forked before call {later}");
        assert_eq!(
            (results.right, results.failed),
            (KEYS + 1, 0),
            "{later}: {results:?}"
        );
    }
    assert!(forks >= 6, "{forks} of {count}");
    server.stop();
}

#[test]
fn the_end_of_the_server_before_any_system_call_is_no_miss() {
    let (server, client) = start();
    fill(&client);
    let count = count(&client);
    server.stop();
    let (mut failed, mut ends) = (0, 0);
    for later in 0..count {
        let (server, client) = start();
        fill(&client);
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
    assert!(ends >= 6 && failed > KEYS, "{ends} ends, {failed} failures");
}
