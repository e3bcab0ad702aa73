//! Servers that are killed, stopped, slow, silent, full, or back again.

use super::batches::Taken;
use super::servers::{Ours, Theirs, free_port, patient, wait_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tavola_client::{
    Batch, Client, Error, FailureCause, GetOptions, OnDown, Outcome, Placement, ServerFailure,
    StoreOptions,
};

const PLAIN: StoreOptions = StoreOptions {
    flags: 0,
    exptime: 0,
    reply: tavola_client::Reply::Wait,
};

const MINUTE: Duration = Duration::from_secs(60);
/// A pause between attempts that no test waits for.
const LONG: Duration = Duration::from_secs(600);

/// A client that does not wait long.
fn quick(name: &str) -> tavola_client::Builder {
    Client::builder()
        .server(name, 1.0)
        .io_timeout(Duration::from_millis(150))
        .connect_timeout(Duration::from_millis(100))
}

fn is_unsent<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Unsent { .. }))
}

/// Calls until the server answers again. If a client waited for the pause of a silent server, or
/// for another attempt, that would take ten times as long as this waits.
fn recover(client: &Client) {
    let start = Instant::now();
    wait_until("the server is used again", || {
        thread::sleep(Duration::from_millis(2));
        client.get(b"key").is_ok()
    });
    println!("used after {:?}", start.elapsed());
}

/// Returns how many connections a server has accepted, with that of the question.
fn connections(name: &str) -> u64 {
    let mut stream = TcpStream::connect(name).expect("connects");
    stream.write_all(b"stats\r\nquit\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("figures");
    let mut lines = text.lines();
    let total = lines.find_map(|line| line.strip_prefix("STAT total_connections "));
    total.expect("a figure").parse().expect("a number")
}

/// The pauses before each attempt are short, as a unit test of the client holds: a server that
/// refuses connections is asked each 100 ms.
#[test]
fn a_server_that_was_killed_is_used_by_the_first_attempt_after_its_return() {
    // One thread counts connections in their order.
    let one_thread = ["-t", "1"];
    let Some(first) = Theirs::start(&one_thread) else {
        return;
    };
    let port = first.port();
    let name = first.name.clone();
    let client = patient(Client::builder().server(&name, 1.0).retry(LONG));
    let mut server = Some(first);
    for _ in 0..4 {
        client.set(b"key", b"value", PLAIN).expect("stored");
        drop(server.take());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(600) {
            let result = client.get(b"key");
            assert!(
                is_unsent(&result),
                "a get that failed changed nothing: {result:?}"
            );
            assert!(client.set(b"key", b"x", PLAIN).is_err());
        }
        server = Theirs::on(port, &one_thread);
        let before = connections(&name);
        recover(&client);
        assert_eq!(client.get(b"key"), Ok(None));
        let of_client = connections(&name) - before - 1;
        assert_eq!(of_client, 1, "attempts");
    }
}

#[test]
fn a_server_that_was_stopped_is_used_as_soon_as_it_answers() {
    let Some(server) = Theirs::start(&[]) else {
        return;
    };
    let client = quick(&server.name).retry(LONG).build().expect("a client");
    for _ in 0..4 {
        wait_until("stored", || client.set(b"key", b"value", PLAIN).is_ok());
        server.signal("STOP");
        let result = client.get(b"key");
        assert!(matches!(result, Err(Error::Unknown { .. })), "{result:?}");
        let start = Instant::now();
        let mut calls = 0;
        while calls < 1000 || start.elapsed() < Duration::from_millis(1500) {
            assert!(client.get(b"key").is_err());
            calls += 1;
        }
        // If each took its 150 ms, that would be more than two minutes.
        let took = start.elapsed();
        assert!(
            took < MINUTE,
            "calls fail at once while it is down: {took:?}"
        );
        server.signal("CONT");
        recover(&client);
    }
    wait_until("the value is there", || {
        let found = client.get(b"key");
        found.is_ok_and(|found| found.expect("a value").data == b"value")
    });
}

/// Whatever happens to the server, a value is that of its key, and a set that is stored is there.
#[test]
fn threads_survive_a_server_that_is_killed_and_stopped_again_and_again() {
    let Some(first) = Theirs::start(&[]) else {
        return;
    };
    let port = first.port();
    let builder = quick(&first.name).io_timeout(Duration::from_millis(40));
    let client = builder.pool(3).build().expect("a client");
    let is_over = AtomicBool::new(false);
    let [hits, failures] = [(); 2].map(|()| AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (client, is_over, hits, failures) = (&client, &is_over, &hits, &failures);
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
        let mut server = Some(first);
        for round in 0..12_u64 {
            thread::sleep(Duration::from_millis(40 + round * 7));
            if round % 2 == 0 {
                drop(server.take());
                server = Theirs::on(port, &[]);
            } else if let Some(server) = &server {
                server.signal("STOP");
                thread::sleep(Duration::from_millis(60 + round * 5));
                server.signal("CONT");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let [hits, failures] = [hits, failures].map(AtomicU64::into_inner);
    assert!(
        hits > 100 && failures > 10,
        "{hits} hits, {failures} failures"
    );
}

#[test]
fn an_idle_connection_that_was_closed_costs_no_error() {
    let ours = Ours::start();
    let address = ours.name.clone();
    let client = patient(ours.client());
    client.set(b"key", b"value", PLAIN).expect("stored");
    drop(ours);
    let again = Ours::on(&address);
    assert_eq!(client.get(b"key"), Ok(None), "the get is repeated");
    drop(again);
}

#[test]
fn a_server_that_never_answers_costs_its_time_and_no_more() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = silent.local_addr().expect("an address").to_string();
    let client = quick(&name).build().expect("a client");
    let start = Instant::now();
    for _ in 0..2 {
        let result = client.get(b"key");
        assert!(is_unsent(&result), "{result:?}");
        let why = result.expect_err("an error").to_string();
        assert!(why.contains("in time"), "{why}");
    }
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(150), "{waited:?}");
    let start = Instant::now();
    let calls = (0..1000).filter(|_| is_unsent(&client.get(b"key"))).count();
    assert_eq!(calls, 1000);
    // If each took its 150 ms, that would be more than two minutes.
    let took = start.elapsed();
    assert!(took < MINUTE, "down: {took:?}");
}

#[test]
fn a_full_server_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("full");
    let listener = UnixListener::bind(&path).expect("a socket");
    // Fill its queue.
    let mut waiting = Vec::new();
    rustix::net::listen(&listener, 0).expect("a queue of one");
    let fill = || {
        let (family, kind) = (
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
        );
        let flags = rustix::net::SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, kind, flags, None).expect("a socket");
        let address = rustix::net::SocketAddrUnix::new(&path).expect("an address");
        rustix::net::connect(&socket, &address).map(|()| socket)
    };
    while let Ok(socket) = fill() {
        waiting.push(socket);
        assert!(waiting.len() < 100);
    }
    let client = quick(&format!("unix:{}", path.display()))
        .build()
        .expect("a client");
    let error = client.get(b"key").expect_err("full").to_string();
    assert!(error.contains("too many connections"), "{error}");
}

/// Answers the first request of each connection, then as the closure says.
fn scripted(script: impl Fn(&mut std::net::TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"MN\r\n");
            let _ = stream.read(&mut request);
            script(&mut stream);
        }
    });
    name
}

#[test]
fn what_trickles_in_ends_with_the_deadline() {
    // By pauses and without; a large value, and one that is waited for until it is whole.
    for (size, pause) in [(60_000, 5000), (10_000_000, 0), (16_000, 0), (16_000, 5000)] {
        let name = scripted(move |stream| {
            let _ = stream.set_nodelay(true);
            let _ = write!(stream, "VA {size} f0 kkey O1\r\n");
            while stream.write_all(b"x").is_ok() {
                // The client closes; a sleep of nothing would still be a long one.
                if pause > 0 {
                    thread::sleep(Duration::from_micros(pause));
                } else {
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(20) {}
                }
            }
        });
        let client = quick(&name).build().expect("a client");
        let start = Instant::now();
        let mut batch = Batch::new();
        batch.get(b"key", GetOptions::default());
        let outcomes = Taken::of(&client, &mut batch).outcomes();
        let time = start.elapsed();
        let late = Outcome::Unknown(ServerFailure {
            server: 0,
            cause: FailureCause::TimedOut,
        });
        assert_eq!(outcomes, [late], "{size}, {pause}, {time:?}");
        let bounds = Duration::from_millis(140)..Duration::from_secs(3);
        assert!(bounds.contains(&time), "{size}, {pause}, {time:?}");
    }
}

#[test]
fn an_answer_to_another_request_is_no_answer() {
    for answer in [
        "VA 1 f0 kkey O2\r\nx\r\n",
        "VA 1 f0 kyek O1\r\nx\r\n",
        "VA 1 f0 O1\r\nx\r\n",
        "VA 1 kkey O1\r\nx\r\n",
        "VA 1 f0 kkey\r\nx\r\n",
        "VA 1 f0 kkey O1\r\nxyz",
        "HD kkey O1\r\n",
        "EN kkey O7\r\n",
        "EN\r\n",
        "NF kkey O1\r\n",
        "MN\r\n",
        "STORED\r\n",
        "END\r\n",
        "VALUE key 0 1\r\nx\r\nEND\r\n",
        "VA 1 f0 kkey O1\r\nx\r\nEN kkey O1\r\n",
        "hello\r\n",
        "VA 99999999999 f0 kkey O1\r\n",
    ] {
        let name = scripted(move |stream| {
            let _ = stream.write_all(answer.as_bytes());
        });
        let client = quick(&name).build().expect("a client");
        let result = client.get(b"key");
        let is_extra = answer.starts_with("VA 1 f0 kkey O1\r\nx\r\n");
        match (result, is_extra) {
            (Err(Error::Unknown { .. }), false) => {}
            // The value came, and what follows ends the connection.
            (Ok(Some(value)), true) => assert_eq!(value.data, b"x"),
            (result, _) => panic!("{answer:?}: {result:?}"),
        }
    }
}

#[test]
fn keys_of_a_server_that_is_down_fail_or_go_elsewhere_as_is_chosen() {
    let up = [Ours::start(), Ours::start()];
    let down = format!("127.0.0.1:{}", free_port());
    let fleet = |on_down| {
        Client::builder()
            .server(&up[0].name, 1.0)
            .server(&down, 1.0)
            .server(&up[1].name, 1.0)
            .placement(Placement::Ketama)
            .on_down(on_down)
    };
    let keys: Vec<String> = (0..60).map(|number| format!("key:{number}")).collect();
    let asked: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();

    let client = patient(fleet(OnDown::Fail));
    let is_of_down = |key: &&[u8]| client.server_of(key) == 1;
    assert!({ asked.iter() }.filter(|key| is_of_down(key)).count() > 5);
    for (key, result) in asked.iter().zip(client.get_many(&asked)) {
        assert_eq!(is_unsent(&result), is_of_down(key), "{result:?}");
    }

    let client = patient(fleet(OnDown::Next));
    for result in client.get_many(&asked) {
        assert_eq!(result, Ok(None));
    }
    for key in &asked {
        let result = client.set(key, b"value", PLAIN);
        assert_eq!(is_unsent(&result), is_of_down(key), "{result:?}");
    }

    let client = patient(fleet(OnDown::Eject));
    for key in &asked {
        client.set(key, key, PLAIN).expect("stored elsewhere");
    }
    for (key, result) in asked.iter().zip(client.get_many(&asked)) {
        assert_eq!(result.expect("an answer").expect("a value").data, *key);
    }
    // Where other clients look without the server.
    let without = Client::builder()
        .server(&up[0].name, 1.0)
        .server(&up[1].name, 1.0);
    let without = patient(without);
    for key in &asked {
        assert!(without.get(key).expect("an answer").is_some());
    }
}

#[test]
fn a_pool_that_is_empty_is_waited_for() {
    let ours = Ours::start();
    let client = patient(ours.client().pool(2));
    thread::scope(|scope| {
        for thread in 0..16_u32 {
            let client = &client;
            scope.spawn(move || {
                let key = format!("key:{thread}");
                for round in 0..200_u32 {
                    let value = format!("{thread}:{round}");
                    client
                        .set(key.as_bytes(), value.as_bytes(), PLAIN)
                        .expect("stored");
                    let found = client.get(key.as_bytes()).expect("an answer");
                    assert_eq!(found.expect("a value").data, value.as_bytes());
                }
            });
        }
    });
    let stats = client.stats("").remove(0).expect("figures");
    let figure = |name: &[u8]| {
        let found = stats.iter().find(|stat| stat[0] == name).expect("a figure");
        String::from_utf8_lossy(&found[1])
            .parse::<u64>()
            .expect("a number")
    };
    assert!(
        figure(b"total_connections") <= 2,
        "{}",
        figure(b"total_connections")
    );
}
