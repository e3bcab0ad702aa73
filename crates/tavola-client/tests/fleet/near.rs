//! A local table in front of the fleet: what processes see that share it.

use crate::process::in_child;
use crate::servers::{Ours, patient};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use tavola::{LeaseOptions, Leased, Table};
use tavola_client::{Batch, Client, GetOptions, Outcome, Sink, StoreOptions};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const PLAIN: StoreOptions = StoreOptions {
    flags: 7,
    exptime: 0,
    reply: tavola_client::Reply::Wait,
};

/// A server, and a directory for the table in front of it.
struct Place {
    directory: tempfile::TempDir,
    server: Ours,
}

impl Place {
    fn new() -> Place {
        Place {
            directory: tempfile::tempdir_in("/dev/shm").expect("a directory"),
            server: Ours::start(),
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("near")
    }

    /// A client with the table in front of the server.
    fn near(&self, ttl: Duration) -> Client {
        let path = self.path().display().to_string();
        patient(self.server.client().near(&path, ttl))
    }

    /// A client of the server alone.
    fn far(&self) -> Client {
        patient(self.server.client())
    }

    fn table(&self) -> Table {
        Table::options()
            .open_existing(self.path())
            .expect("it is there")
    }

    /// How many gets the server has had.
    fn gets(&self) -> u64 {
        let figures = self.far().stats("").remove(0).expect("figures");
        let figure = figures
            .iter()
            .find(|[name, _]| name == b"cmd_get")
            .expect("gets");
        String::from_utf8_lossy(&figure[1])
            .parse()
            .expect("a number")
    }
}

fn number(client: &Client, key: &[u8]) -> Option<u64> {
    let value = client.get(key).expect("an answer")?;
    Some(
        String::from_utf8_lossy(&value.data)
            .parse()
            .expect("a number"),
    )
}

fn set(client: &Client, key: &[u8], number: u64) {
    let set = client.set(key, number.to_string().as_bytes(), PLAIN);
    set.expect("stored");
}

#[test]
fn values_are_fetched_once_until_their_time_is_over() {
    let place = Place::new();
    let (near, far) = (place.near(Duration::from_millis(1500)), place.far());
    set(&far, b"k", 1);
    let before = place.gets();
    for _ in 0..50 {
        let found = near.get(b"k").expect("an answer").expect("there");
        assert_eq!((&found.data[..], found.flags), (&b"1"[..], 7));
    }
    assert_eq!(place.gets(), before + 1);
    // Written by somebody who does not know the table: seen when the time is over.
    set(&far, b"k", 2);
    let start = Instant::now();
    while number(&near, b"k") != Some(2) {
        assert!(start.elapsed() < MINUTE, "never seen");
        sleep(Duration::from_millis(10));
    }
    assert!(far.delete(b"k").expect("an answer"));
    sleep(Duration::from_millis(1600));
    assert_eq!(number(&near, b"k"), None);
}

#[test]
fn many_keys_come_from_both() {
    let place = Place::new();
    let (near, far) = (place.near(HOUR), place.far());
    let keys: Vec<Vec<u8>> = (0..300).map(|n| format!("k{n}").into_bytes()).collect();
    for (n, key) in (0..).zip(&keys).filter(|(n, _)| n % 3 != 0) {
        set(&far, key, n);
        if n % 2 == 0 {
            assert_eq!(number(&near, key), Some(n));
        }
    }
    // The last one is there twice.
    let mut asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    asked.push(asked[299 - 1]);
    for _ in 0..2 {
        let found = near.get_many(&asked);
        for (n, one) in (0..300).chain([298]).zip(found) {
            let one = one.expect("an answer").map(|value| value.data);
            let expected = (n % 3 != 0).then(|| n.to_string().into_bytes());
            assert_eq!(one, expected, "{n}");
        }
    }
}

#[test]
fn one_asks_for_all() {
    let place = Place::new();
    let (near, far) = (place.near(HOUR), place.far());
    for round in 0..20_u64 {
        let key = format!("k{round}").into_bytes();
        set(&far, &key, round);
        let before = place.gets();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(number(&near, &key), Some(round)));
            }
        });
        assert_eq!(place.gets(), before + 1);
    }
}

#[test]
fn every_change_is_seen_by_all_processes_at_once() {
    let place = Place::new();
    let near = place.near(HOUR);
    for n in 1..20 {
        set(&near, b"k", n);
        assert_eq!(number(&near, b"k"), Some(n));
        assert!(in_child(|| number(&near, b"k") == Some(n)));
        assert!(in_child(|| {
            near.incr(b"k", tavola_client::CountOptions::by(100)) == Ok(Some(n + 100))
        }));
        assert_eq!(number(&near, b"k"), Some(n + 100));
        near.append(b"k", b"0").expect("appended");
        assert_eq!(number(&near, b"k"), Some((n + 100) * 10));
        assert!(in_child(|| near.delete(b"k") == Ok(true)));
        assert_eq!(number(&near, b"k"), None);
        assert!(near.add(b"k", b"5", PLAIN).expect("an answer"));
        assert_eq!(number(&near, b"k"), Some(5));
        near.set(b"k", b"6", PLAIN.without_reply()).expect("stored");
        assert_eq!(number(&near, b"k"), Some(6));
        let first = near.flush_all(0).remove(0);
        first.expect("flushed");
        assert_eq!(number(&near, b"k"), None);
    }
}

/// The writer notes each number when its write has returned; a reader that knows the note never
/// gets an older number, although values stay in the table for an hour.
#[test]
fn after_a_write_no_process_reads_an_older_value() {
    let place = Place::new();
    let near = place.near(HOUR);
    let notes = Table::options()
        .open(place.directory.path().join("notes"))
        .expect("a table");
    set(&near, b"k", 0);
    notes.set("last", 0_u64.to_le_bytes()).expect("noted");
    let note = || {
        let bytes = notes.get("last").expect("read").expect("noted");
        u64::from_le_bytes(bytes.try_into().expect("a number"))
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reads = 0;
                while note() < 1500 {
                    let least = note();
                    let found = number(&near, b"k").expect("there");
                    assert!(found >= least, "{found} after {least}");
                    reads += 1;
                }
                assert!(reads > 0);
            });
        }
        assert!(in_child(|| {
            for n in 1..=1500_u64 {
                set(&near, b"k", n);
                notes.set("last", n.to_le_bytes()).expect("noted");
            }
            true
        }));
    });
}

/// Starts a child that runs until it is killed.
fn child(run: impl FnOnce()) -> i32 {
    // SAFETY: as in `process::in_child`.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => {
            let _ = catch_unwind(AssertUnwindSafe(run));
            // SAFETY: it ends the process, and nothing of the parent's is run.
            unsafe { libc::_exit(1) }
        }
        child => child,
    }
}

fn kill(child: i32) {
    let mut status = 0;
    // SAFETY: a child of this process that was not waited for; the status is a local variable.
    unsafe {
        assert_eq!(libc::kill(child, libc::SIGKILL), 0);
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
    }
    assert!(libc::WIFSIGNALED(status), "it ended by itself: {status}");
}

#[test]
fn a_writer_that_is_killed_leaves_an_older_value_for_the_ttl_at_most() {
    let place = Place::new();
    let ttl = Duration::from_millis(200);
    let (near, far) = (place.near(ttl), place.far());
    for round in 0..12_u64 {
        let writer = child(|| {
            for n in round * 1_000_000..u64::MAX {
                set(&near, b"k", n);
            }
        });
        let start = Instant::now();
        while number(&far, b"k") < Some(round * 1_000_000) {
            assert!(start.elapsed() < MINUTE, "it writes nothing");
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(3 + round) {
            let _ = number(&near, b"k");
        }
        kill(writer);
        sleep(ttl + Duration::from_millis(50));
        assert_eq!(number(&near, b"k"), number(&far, b"k"));
    }
}

#[test]
fn a_reader_that_is_killed_does_not_hold_others_up() {
    let place = Place::new();
    let path = place.path().display().to_string();
    let near = place.server.client().near(&path, HOUR);
    // A get that waits for the dead reader's lease in vain takes twice as long as it may.
    let near = near.io_timeout(2 * MINUTE).build().expect("a client");
    set(&place.far(), b"k", 5);
    let reader = child(|| {
        let lease = place.table().get_or_lease(b"k", LeaseOptions::new(HOUR));
        assert!(matches!(lease, Ok(Leased::Won(_))));
        sleep(HOUR);
    });
    let table = place.table();
    let start = Instant::now();
    // As long as it lives, others wait for it.
    while !matches!(
        table.get_or_lease(b"k", LeaseOptions::new(HOUR)),
        Ok(Leased::Wait(_))
    ) {
        assert!(start.elapsed() < MINUTE, "no lease");
        sleep(Duration::from_millis(5));
    }
    kill(reader);
    let start = Instant::now();
    assert_eq!(number(&near, b"k"), Some(5));
    let took = start.elapsed();
    assert!(took < MINUTE, "{took:?}");
    assert_eq!(table.get(b"k").expect("read").expect("filled"), b"5");
}

/// A server that closes the connection instead of answering a store, and has what was stored.
fn forgetful() -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let value = Arc::new(AtomicU32::new(1));
    let stored = Arc::clone(&value);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            let mut input = BufReader::new(stream.try_clone().expect("a copy"));
            let mut output = stream;
            let mut line = String::new();
            while input.read_line(&mut line).is_ok_and(|count| count > 0) {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                let answer = match words[0] {
                    "mn" => "MN\r\n".to_string(),
                    "mg" => {
                        let number = words.iter().find(|word| word.starts_with('O'));
                        let number = number.expect("a number");
                        let digits = stored.load(Ordering::SeqCst).to_string();
                        let size = digits.len();
                        format!("VA {size} f0 {number} k{}\r\n{digits}\r\n", words[1])
                    }
                    _ => {
                        let mut value = vec![0; words[2].parse::<usize>().expect("a size") + 2];
                        input.read_exact(&mut value).expect("the value");
                        let text = String::from_utf8_lossy(&value[..value.len() - 2]).into_owned();
                        stored.store(text.parse().expect("a number"), Ordering::SeqCst);
                        break;
                    }
                };
                output.write_all(answer.as_bytes()).expect("sent");
                line.clear();
            }
        }
    });
    (address, value)
}

#[test]
fn an_unknown_outcome_removes_the_local_value() {
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near").display().to_string();
    let (address, value) = forgetful();
    let builder = Client::builder().server(&address, 1.0).max_failures(1000);
    let near = patient(builder.near(&path, HOUR));
    for n in 2..10 {
        let _ = number(&near, b"k");
        let outcome = near.set(b"k", n.to_string().as_bytes(), PLAIN);
        assert!(
            matches!(outcome, Err(tavola_client::Error::Unknown { .. })),
            "{outcome:?}"
        );
        assert_eq!(number(&near, b"k"), Some(n));
        // The value is in the table, and nothing else removes it.
        value.store(1000, Ordering::SeqCst);
        assert_eq!(number(&near, b"k"), Some(n));
    }
}

/// Panics when it is asked for room.
struct Panicking;

impl Sink for Panicking {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        panic!("no room");
    }

    fn done(&mut self, _index: usize, _outcome: Outcome) {}
}

#[test]
fn a_panic_in_the_middle_of_a_batch_removes_what_may_have_changed() {
    let place = Place::new();
    let near = place.near(HOUR);
    set(&near, b"a", 1);
    set(&near, b"k", 1);
    assert_eq!(number(&near, b"k"), Some(1));
    let mut batch = Batch::new();
    batch.get(b"a", GetOptions::default());
    batch.set(b"k", b"2", PLAIN);
    let run = AssertUnwindSafe(|| near.execute(&mut batch, &mut Panicking));
    assert!(catch_unwind(run).is_err());
    assert_eq!(place.table().get(b"k").expect("read"), None);
}

#[test]
fn a_table_that_cannot_be_used_is_refused_when_the_client_is_made() {
    let builder = Client::builder().server("a", 1.0);
    let error = builder.clone().near("/nowhere/at/all", HOUR).build();
    let error = error.expect_err("no table").to_string();
    assert!(error.contains("/nowhere/at/all"), "{error}");
    let error = builder
        .near("near", Duration::ZERO)
        .build()
        .expect_err("no time");
    assert!(error.to_string().contains("near"), "{error}");
}
