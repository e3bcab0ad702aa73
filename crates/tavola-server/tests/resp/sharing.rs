//! Clients of memcached and of Redis, and local programs, with one table.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tavola::Table;
use tavola_server::memcached::Memcached;
use tavola_server::resp::Resp;
use tavola_server::{Address, Listen, Options, Server, Split};

use crate::script::{Seat, answer};

struct Pair {
    table: Arc<Table>,
    memcached: TcpStream,
    redis: TcpStream,
    server: Server,
}

impl Pair {
    fn start(most: usize) -> Self {
        let options = Table::options().max_size(64 << 20).versions(true);
        let table = Arc::new(options.private().expect("a table"));
        let any = || Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
        let options = Options::new()
            .listen(any())
            .refuse_with(b"ERROR Too many open connections\r\n")
            .listen(any())
            .refuse_there_with(b"-ERR max number of clients reached\r\n")
            .max_connections(most)
            .threads(2);
        let memcached = Memcached::new(Arc::clone(&table));
        let redis = Resp::new(Arc::clone(&table));
        let server = options.start(Split::new(memcached, redis, &[1]));
        let server = server.expect("a server");
        let [memcached, redis] = [0, 1].map(|number| connect(&server, number));
        Self {
            table,
            memcached,
            redis,
            server,
        }
    }

    fn memcached(&mut self, request: &str, answer: &str) {
        ask(&mut self.memcached, request, answer);
    }

    fn redis(&mut self, request: &str, answer: &str) {
        ask(&mut self.redis, request, answer);
    }
}

fn connect(server: &Server, number: usize) -> TcpStream {
    let Address::Tcp(address) = server.addresses()[number] else {
        panic!("it listens on TCP");
    };
    let stream = TcpStream::connect(address).expect("connected");
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).expect("set");
    stream
}

fn ask(stream: &mut TcpStream, request: &str, answer: &str) {
    stream
        .write_all(format!("{request}\r\n").as_bytes())
        .expect("sent");
    let mut found = vec![0; answer.len()];
    stream.read_exact(&mut found).expect("an answer");
    assert_eq!(String::from_utf8_lossy(&found), answer, "{request}");
}

/// Asks for seconds that are left, of which some may have passed.
fn about(stream: &mut TcpStream, request: &str, before: &str, most: u64) {
    ask(stream, request, before);
    let (mut text, mut byte) = (Vec::new(), [0]);
    while byte != *b"\n" {
        stream.read_exact(&mut byte).expect("a line");
        text.push(byte[0]);
    }
    let number = String::from_utf8_lossy(&text).trim().parse();
    let number: u64 = number.expect("a number");
    assert!((most - 100..=most).contains(&number), "{request}: {number}");
}

#[test]
fn both_see_the_same_values() {
    let mut pair = Pair::start(100);
    pair.redis("set a one", "+OK\r\n");
    pair.memcached("get a", "VALUE a 0 3\r\none\r\nEND\r\n");
    pair.memcached("set b 7 0 3\r\ntwo", "STORED\r\n");
    pair.redis("get b", "$3\r\ntwo\r\n");
    pair.redis("append b !", ":4\r\n");
    pair.memcached("get b", "VALUE b 7 4\r\ntwo!\r\nEND\r\n");
    pair.redis("set b new", "+OK\r\n");
    pair.memcached("get b", "VALUE b 0 3\r\nnew\r\nEND\r\n");
    pair.memcached("mg b f t v", "VA 3 f0 t-1\r\nnew\r\n");
    pair.redis("expire b 1000", ":1\r\n");
    about(&mut pair.memcached, "mg b t", "HD t", 1000);
    pair.memcached("touch b 500", "TOUCHED\r\n");
    about(&mut pair.redis, "ttl b", ":", 500);
    pair.memcached("delete b", "DELETED\r\n");
    pair.redis("exists b", ":0\r\n");
    assert_eq!(
        pair.table.get("a").expect("read").as_deref(),
        Some(&b"one"[..])
    );
    pair.server.stop();
}

/// memcached fills a shorter number up with spaces, which is no number to Redis.
#[test]
fn counters_are_decimal_text_for_both() {
    let mut pair = Pair::start(100);
    pair.redis("incrby n 9", ":9\r\n");
    pair.memcached("incr n 1", "10\r\n");
    pair.redis("incr n", ":11\r\n");
    pair.memcached("decr n 2", "9\r\n");
    pair.redis("get n", "$2\r\n9 \r\n");
    pair.redis("incr n", "-ERR value is not an integer or out of range\r\n");
    pair.redis("set n -1", "+OK\r\n");
    let refused = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
    pair.memcached("incr n 1", refused);
    pair.server.stop();
}

/// What one client compares with has changed when another one stored the same value.
#[test]
fn a_store_of_a_redis_client_changes_the_unique_number() {
    let mut pair = Pair::start(100);
    pair.redis("set a x", "+OK\r\n");
    let number = |pair: &mut Pair| {
        let mut answer = [0; 512];
        pair.memcached.write_all(b"mg a c\r\n").expect("sent");
        let count = pair.memcached.read(&mut answer).expect("an answer");
        let text = String::from_utf8_lossy(&answer[..count]).into_owned();
        text.trim()
            .strip_prefix("HD c")
            .expect("a number")
            .to_string()
    };
    let before = number(&mut pair);
    pair.redis("set a x", "+OK\r\n");
    pair.memcached(&format!("cas a 0 0 1 {before}\r\ny"), "EXISTS\r\n");
    assert_ne!(number(&mut pair), before);
    pair.redis("get a", "$1\r\nx\r\n");
    pair.server.stop();
}

#[test]
fn each_protocol_refuses_connections_in_its_words() {
    let pair = Pair::start(2);
    // Both connections are there when they are answered.
    let mut pair = pair;
    pair.redis("ping", "+PONG\r\n");
    pair.memcached("mn", "MN\r\n");
    for (number, words) in [
        (0, "ERROR Too many open connections\r\n"),
        (1, "-ERR max number of clients reached\r\n"),
    ] {
        let mut text = String::new();
        let mut refused = connect(&pair.server, number);
        refused.read_to_string(&mut text).expect("an answer");
        assert_eq!(text, words);
    }
    pair.server.stop();
}

/// Increments of many clients and of this process, at the same time, are all counted.
#[test]
fn changes_by_both_sides_at_once_are_not_lost() {
    const ROUNDS: usize = 100;
    const EACH: usize = 200;
    let seat = Seat::new();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let mut line = seat.inside.connect();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let replies = answer(&mut line, &b"incr n\r\n".repeat(EACH));
                    assert_eq!(replies.matches(':').count(), EACH);
                }
            });
        }
        for _ in 0..ROUNDS * EACH {
            seat.table.add_number("n", 1).expect("added");
        }
    });
    let sum = (4 * ROUNDS * EACH).to_string();
    assert_eq!(seat.table.get("n").expect("read"), Some(sum.into_bytes()));
}

/// MGET sees all that an MSET has set, or nothing of it, although it reads many keys in between.
#[test]
fn several_keys_are_read_and_set_at_one_moment() {
    const TIMES: usize = 3000;
    let seat = Seat::new();
    let (mut writer, mut reader) = (seat.inside.connect(), seat.inside.connect());
    answer(&mut writer, b"mset a 0 b 0 c 0\r\n");
    let between = " none".repeat(200);
    let mget = format!("mget a{between} b{between} c\r\n");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=TIMES {
                let set = format!("mset a {number} b {number} c {number}\r\n");
                assert_eq!(answer(&mut writer, set.as_bytes()), "+OK\\r\\n");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        while !is_done.load(Ordering::Relaxed) {
            let found = answer(&mut reader, mget.as_bytes());
            let found = found.replace("$-1\\r\\n", "");
            let parts: Vec<_> = found.split("\\r\\n").collect();
            assert!(parts[2] == parts[4] && parts[4] == parts[6], "{found}");
        }
    });
    let found = answer(&mut reader, b"mget a\r\n");
    assert!(found.contains(&TIMES.to_string()), "{found}");
}
