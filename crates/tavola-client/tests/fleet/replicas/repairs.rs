//! Gets that repair copies, beside stores and deletes.

use super::{FLAGGED, Fleet, PLAIN, key_of, left_s};
use crate::batches::Taken;
use crate::servers::{Ours, patient, wait_until};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use tavola_client::{
    Batch, Client, FailureCause, GetOptions, Outcome, Protocol, ServerFailure, StoreOptions,
};

#[test]
fn a_get_finds_the_next_copy_and_repairs_those_that_missed_it() {
    let fleet = Fleet::of(4);
    let client = fleet.client(2);
    let key = key_of(&client, 1);
    client.set(&key, b"value", FLAGGED).expect("stored");
    for server in [1, 2] {
        assert_eq!(fleet.alone[server].delete(&key), Ok(true));
    }
    let left = left_s(&client, &key).expect("the copy's");
    assert!((400..=500).contains(&left), "{left}");
    for server in [1, 2] {
        assert_eq!(fleet.alone[server].delete(&key), Ok(true));
    }
    let found = client.get(&key).expect("an answer").expect("a value");
    assert_eq!((&found.data[..], found.flags), (&b"value"[..], 7));
    assert_eq!(found.cas, None, "a number of another server is of no use");
    assert_eq!(fleet.has(&key), [false, true, true, true]);
    for server in [1, 2] {
        let copy = fleet.alone[server].get(&key).expect("an answer");
        assert_eq!(copy.expect("repaired").flags, 7);
        let left = left_s(&fleet.alone[server], &key).expect("it expires");
        assert!((400..=500).contains(&left), "{left}");
    }
    // One that does not expire, and one with more time than seconds can say.
    for exptime in [0, i32::MAX] {
        let options = StoreOptions { exptime, ..FLAGGED };
        client.set(&key, b"value", options).expect("stored");
        let left = left_s(&fleet.alone[1], &key);
        assert_eq!(fleet.alone[1].delete(&key), Ok(true));
        client.get(&key).expect("an answer").expect("a value");
        let repaired = left_s(&fleet.alone[1], &key);
        let difference = left.unwrap_or(0).abs_diff(repaired.unwrap_or(0));
        assert!(left.is_some() == repaired.is_some() && difference < 60);
    }
    // In these protocols nobody knows the time that is left, so nothing is repaired.
    for protocol in [Protocol::Text, Protocol::Binary] {
        let client = patient(fleet.builder(2).protocol(protocol));
        assert_eq!(fleet.alone[1].delete(&key), Ok(true));
        let found = client.get(&key).expect("an answer").expect("a value");
        assert_eq!((&found.data[..], found.flags), (&b"value"[..], 7));
        assert_eq!(fleet.has(&key), [false, false, true, true]);
        fleet.alone[1].set(&key, b"value", PLAIN).expect("stored");
    }
}

#[test]
fn a_repair_never_replaces_a_value_and_copies_that_differ_are_read_as_is_chosen() {
    let fleet = Fleet::of(2);
    let client = fleet.client(1);
    let key = key_of(&client, 0);
    fleet.alone[0].set(&key, b"new", PLAIN).expect("stored");
    fleet.alone[1].set(&key, b"old", PLAIN).expect("stored");
    let any = patient(fleet.builder(1).read_any(true));
    let mut seen = [0; 2];
    for _ in 0..100 {
        let own = client.get(&key).expect("an answer").expect("a value");
        assert_eq!(own.data, b"new", "the key's server is first");
        let found = any.get(&key).expect("an answer").expect("a value").data;
        seen[usize::from(found == b"old")] += 1;
    }
    // One of both is missing after 100 attempts once in 2^99.
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    let both = [Some(b"new".to_vec()), Some(b"old".to_vec())];
    assert_eq!(fleet.copies(&key), both);
    // A random reader repairs, too.
    assert_eq!(fleet.alone[1].delete(&key), Ok(true));
    wait_until("repaired", || {
        any.get(&key).expect("an answer").expect("a value").data == b"new" && fleet.has(&key)[1]
    });
}

/// A server of the meta commands whose answers to gets, `None` for a miss, are given one by one,
/// each after a call. Returns its name and what it was asked.
fn scripted(
    gets: Vec<Option<(&'static str, u64)>>,
    before_answer: impl Fn() + Send + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        let mut gets = gets.into_iter();
        let (mut stream, _) = listener.accept().expect("a client");
        let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        for line in lines.map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            let opaque = words.iter().find(|word| word.starts_with('O'));
            let tail = format!("k{} {}", words.get(1).unwrap_or(&""), opaque.unwrap_or(&""));
            let answer = match words[0] {
                "mn" => "MN\r\n".to_string(),
                "mg" => match gets.next().inspect(|_| before_answer()).expect("a get") {
                    None => format!("EN {tail}\r\n"),
                    Some((value, cas)) => {
                        let size = value.len();
                        format!("VA {size} f7 c{cas} t-1 {tail}\r\n{value}\r\n")
                    }
                },
                _ => format!("HD {tail}\r\n"),
            };
            // The check after a repair does not ask for the time that is left.
            let answer = match words.contains(&"t") {
                true => answer,
                false => answer.replace(" t-1", ""),
            };
            seen.lock().expect("a list").push(line);
            stream.write_all(answer.as_bytes()).expect("sent");
        }
    });
    (name, asked)
}

#[test]
fn a_repair_is_taken_back_if_its_source_has_changed_meanwhile() {
    let value = Some(("value", 5));
    for (then, stays) in [(value, true), (Some(("newer", 6)), false), (None, false)] {
        let own = Ours::start();
        let (copy, _) = scripted(vec![value, then], || ());
        let builder = Client::builder().server(&own.name, 1.0).server(&copy, 1.0);
        let client = patient(builder.replicas(1));
        let key = key_of(&client, 0);
        let found = client.get(&key).expect("an answer").expect("a value");
        assert_eq!(found.data, b"value");
        let repaired = patient(own.client()).get(&key).expect("an answer");
        assert_eq!(repaired.is_some(), stays, "{then:?}");
    }
    // A server that counts no changes cannot say whether there was one.
    let own = Ours::start();
    let (copy, asked) = scripted(vec![Some(("value", 0)); 2], || ());
    let builder = Client::builder().server(&own.name, 1.0).server(&copy, 1.0);
    let client = patient(builder.replicas(1));
    let key = key_of(&client, 0);
    assert!(client.get(&key).expect("an answer").is_some());
    assert_eq!(patient(own.client()).get(&key), Ok(None));
    assert_eq!(asked.lock().expect("a list").len(), 2);
}

#[test]
fn a_value_that_was_stored_before_the_repair_stays() {
    let own = Ours::start();
    let writer = patient(own.client());
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let key = Arc::clone(&written);
    let write = move || {
        // Before the first answer; the second is that to the check.
        if let key @ [_, ..] = &std::mem::take(&mut *key.lock().expect("a key"))[..] {
            writer.set(key, b"newer", PLAIN).expect("stored");
        }
    };
    let value = Some(("value", 5));
    let (copy, _) = scripted(vec![value, value], write);
    let builder = Client::builder().server(&own.name, 1.0).server(&copy, 1.0);
    let client = patient(builder.replicas(1));
    let key = key_of(&client, 0);
    written.lock().expect("a key").clone_from(&key);
    let found = client.get(&key).expect("an answer").expect("a value");
    assert_eq!(found.data, b"value", "it was read before");
    let stays = patient(own.client()).get(&key).expect("an answer");
    assert_eq!(stays.expect("a value").data, b"newer");
}

/// The caller gave memory for the value, and cannot be asked for it again.
#[test]
fn a_value_that_breaks_off_in_the_memory_of_the_caller_is_not_replaced_by_a_copy() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let broken = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            for line in lines.map_while(Result::ok) {
                let words: Vec<&str> = line.split(' ').collect();
                let answer = match words[..] {
                    ["mg", key, .., opaque, _] | ["mg", key, .., opaque]
                        if opaque.starts_with('O') =>
                    {
                        let half = "x".repeat(50_000);
                        format!("VA 100000 f0 k{key} {opaque}\r\n{half}")
                    }
                    _ => "MN\r\n".to_string(),
                };
                let _ = stream.write_all(answer.as_bytes());
                if answer.starts_with("VA") {
                    break;
                }
            }
        }
    });
    let copy = Ours::start();
    let builder = Client::builder()
        .server(&broken, 1.0)
        .server(&copy.name, 1.0);
    let client = patient(builder.replicas(1));
    let key = key_of(&client, 0);
    let alone = patient(copy.client());
    alone.set(&key, b"value", PLAIN).expect("stored");
    let mut batch = Batch::new();
    batch.get(&key, GetOptions::default());
    let taken = Taken::of(&client, &mut batch);
    let cut = ServerFailure {
        server: 0,
        cause: FailureCause::Closed,
    };
    assert_eq!(taken.outcomes(), [Outcome::Unknown(cut)]);
    assert_eq!(taken.values[0].len(), 100_000);
}

#[test]
fn a_delete_goes_to_each_copy_twice_because_of_repairs() {
    let own = Ours::start();
    let (copy, asked) = scripted(Vec::new(), || ());
    let builder = Client::builder().server(&own.name, 1.0).server(&copy, 1.0);
    let client = patient(builder.replicas(1));
    let key = key_of(&client, 0);
    assert_eq!(client.delete(&key), Ok(true), "the copy had it");
    let asked = asked.lock().expect("a list");
    let deletes = asked.iter().filter(|line| line.starts_with("md ")).count();
    assert_eq!(deletes, 2, "{asked:?}");
}

/// Deletes race with gets that repair. Once a delete has returned and no repair is under way, no
/// copy has the value.
#[test]
fn deletes_are_not_undone_by_repairs() {
    let fleet = Fleet::of(2);
    let client = fleet.client(1);
    let key = key_of(&client, 0);
    let (repairs, start) = (AtomicU32::new(0), Barrier::new(3));
    // On a busy machine the gets often come after the delete.
    let are_early = || repairs.load(Ordering::Relaxed) > 10;
    let rounds = (0..20_000_u32).take_while(|round| *round < 300 || !are_early());
    for round in rounds {
        client.set(&key, b"value", PLAIN).expect("stored");
        assert_eq!(fleet.alone[0].delete(&key), Ok(true));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    let found = client.get(&key).expect("an answer");
                    repairs.fetch_add(u32::from(found.is_some()), Ordering::Relaxed);
                });
            }
            start.wait();
            // At another moment each time.
            let spins = round % 30 * 200;
            (0..spins).for_each(|_| std::hint::spin_loop());
            client.delete(&key).expect("deleted");
        });
        assert_eq!(fleet.has(&key), [false; 2], "round {round}");
    }
    assert!(are_early(), "the gets are early enough now and then");
}
