//! Forks, threads, and sinks that panic.

use super::servers::{Ours, patient, with_each};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tavola_client::{
    Batch, Client, FailureCause, GetOptions, Outcome, ServerFailure, Sink, StoreOptions,
};

const PLAIN: StoreOptions = StoreOptions {
    flags: 0,
    exptime: 0,
    reply: tavola_client::Reply::Wait,
};

/// Runs a closure in a forked child. Returns what it returned there.
pub fn in_child(run: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs the closure, which takes no lock that a thread of the parent can
    // hold except the allocator's, which glibc hands over, and ends without running anything else.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => {
            let is_right = catch_unwind(AssertUnwindSafe(run)).unwrap_or(false);
            // SAFETY: it ends the process, and nothing of the parent's is run.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is a local variable.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status == 0
        }
    }
}

/// Calls of parent and child, which would read each other's answers over one connection.
#[test]
fn a_forked_child_has_connections_of_its_own() {
    let ours = Ours::start();
    let client = patient(ours.client());
    let is_over = AtomicBool::new(false);
    for key in [&b"parent"[..], b"child"] {
        client.set(key, key, PLAIN).expect("stored");
    }
    let is_right = |key: &[u8]| {
        let found = client.get(key);
        found.is_ok_and(|found| found.is_some_and(|found| found.data == key))
    };
    thread::scope(|scope| {
        // Threads of the parent hold connections and locks at any moment of the fork.
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!(is_right(b"parent"));
                }
            });
        }
        for _ in 0..20 {
            assert!(in_child(|| (0..50).all(|_| is_right(b"child"))));
            assert!(is_right(b"parent"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_a_parent_holds_is_not_sent_by_its_child() {
    let ours = Ours::start();
    let [client, reader] = [(); 2].map(|()| patient(ours.client()));
    client.set(b"count", b"0", PLAIN).expect("stored");
    let silent = PLAIN.without_reply();
    client.set(b"held", b"1", silent).expect("queued");
    assert!(in_child(|| {
        let is_read = client.get(b"count").is_ok_and(|found| found.is_some());
        drop(client.clone());
        is_read && client.flush().is_ok()
    }));
    assert_eq!(reader.get(b"held"), Ok(None));
    client.flush().expect("flushed");
    assert!(reader.get(b"held").expect("an answer").is_some());
}

/// Forks in the middle of a batch.
struct Forking {
    is_child: bool,
    outcomes: Vec<Outcome>,
}

impl Sink for Forking {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        if self.outcomes.is_empty() {
            // SAFETY: as in `in_child`.
            self.is_child = unsafe { libc::fork() } == 0;
        }
        self.outcomes.push(outcome);
    }
}

#[test]
fn a_child_that_is_forked_during_a_batch_leaves_the_connection_alone() {
    let ours = Ours::start();
    let client = patient(ours.client());
    let value = vec![b'v'; 100_000];
    client.set(b"key", &value, PLAIN).expect("stored");
    let mut batch = Batch::new();
    for _ in 0..20 {
        batch.get(b"key", GetOptions::default());
    }
    let mut forking = Forking {
        is_child: false,
        outcomes: Vec::new(),
    };
    client.execute(&mut batch, &mut forking);
    if forking.is_child {
        // The rest is unknown here, and the client works again.
        let forked = ServerFailure {
            server: 0,
            cause: FailureCause::Local,
        };
        let rest = &forking.outcomes[1..];
        let is_right = forking.outcomes.len() == 20
            && rest.contains(&Outcome::Unknown(forked))
            && client.get(b"key").is_ok_and(|found| found.is_some());
        // SAFETY: it ends the process, and nothing of the parent's is run.
        unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
    }
    let mut status = 0;
    // SAFETY: the status is a local variable.
    assert!(unsafe { libc::wait(&raw mut status) } > 0);
    assert_eq!(status, 0, "the child is right");
    let is_hit = |outcome: &Outcome| matches!(outcome, Outcome::Hit { .. });
    assert!(forking.outcomes.len() == 20 && forking.outcomes.iter().all(is_hit));
}

/// Panics at the given call.
struct Panicking {
    left: usize,
    memory: Vec<u8>,
}

impl Panicking {
    fn count(&mut self) {
        match self.left {
            // Without a message.
            0 => resume_unwind(Box::new("the sink panics")),
            _ => self.left -= 1,
        }
    }
}

impl Sink for Panicking {
    fn room(&mut self, _index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        self.count();
        self.memory = vec![0; len];
        Some(&mut self.memory)
    }

    fn done(&mut self, _index: usize, _outcome: Outcome) {
        self.count();
    }
}

#[test]
fn a_sink_that_panics_leaves_no_answer_behind() {
    with_each(|name, client, _| {
        let keys: Vec<String> = (0..8).map(|number| format!("key:{number}")).collect();
        for key in &keys {
            client
                .set(key.as_bytes(), key.as_bytes(), PLAIN)
                .expect(name);
        }
        let mut panics = 0;
        for left in 0..16 {
            let mut batch = Batch::new();
            for key in &keys {
                batch.get(key.as_bytes(), GetOptions::default());
            }
            let mut sink = Panicking {
                left,
                memory: Vec::new(),
            };
            let run = || client.execute(&mut batch, &mut sink);
            panics += usize::from(catch_unwind(AssertUnwindSafe(run)).is_err());
            for key in &keys {
                let found = client.get(key.as_bytes()).expect(name).expect(name);
                assert_eq!(found.data, key.as_bytes(), "{name}");
            }
        }
        assert_eq!(panics, 16, "{name}");
    });
}

#[test]
fn threads_never_get_each_others_values() {
    let ours = Ours::start();
    let client = patient(ours.client().pool(3));
    thread::scope(|scope| {
        for thread in 0..8_u32 {
            let client: &Client = &client;
            scope.spawn(move || {
                let keys: Vec<String> = (0..10).map(|key| format!("{thread}:{key}")).collect();
                for key in &keys {
                    let options = PLAIN.without_reply();
                    client
                        .set(key.as_bytes(), key.as_bytes(), options)
                        .expect("queued");
                }
                let asked: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
                for _ in 0..100 {
                    for (key, found) in asked.iter().zip(client.get_many(&asked)) {
                        assert_eq!(found.expect("an answer").expect("a value").data, *key);
                    }
                }
            });
        }
    });
}
