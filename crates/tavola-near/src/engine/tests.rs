//! What the engine makes of replies that a server gives seldom.

use super::{Answer, Engine, Settings, Side, Stop};
use crate::owner::Owner;
use crate::read::{Pace, Reader};
use crate::shared::{Shared, Trust};
use std::sync::Arc;
use tavola::Table;

/// What a server says to the greeting, to CLIENT TRACKING, and to ROLE.
const GREETING: &[u8] = b"%1\r\n+proto\r\n:3\r\n+OK\r\n";
const MASTER: &[u8] = b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const L_MS: u64 = 1000;

struct At(u64);

impl Pace for At {
    fn now_ms(&mut self) -> u64 {
        self.0
    }
}

/// An engine whose server is played by the test.
struct Played {
    engine: Engine,
    reader: Reader,
}

impl Played {
    fn new(prefixes: &[&str], ttl_ms: Option<u64>) -> Self {
        let table = Table::options().max_size(8 << 20).private();
        let table = Arc::new(table.expect("a table"));
        let shared = Shared::create(&table, 1).expect("the words");
        let seen = Trust::of(0);
        let owner = Owner::take_over(Arc::clone(&table), shared.clone(), seen, L_MS);
        let settings = Settings {
            max_stale_ms: L_MS,
            ttl_ms,
            prefixes: prefixes
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .collect(),
            login: None,
            database: 0,
        };
        let mut engine = Engine::new(owner.expect("the first"), settings);
        engine.connected(0);
        Self {
            engine,
            reader: Reader::new(table, shared),
        }
    }

    /// Brings it to where values are served from 1 ms on.
    fn trusted(prefixes: &[&str], ttl_ms: Option<u64>) -> Self {
        let mut played = Self::new(prefixes, ttl_ms);
        let greeting = [GREETING, MASTER].concat();
        played
            .hear(Side::Tracking, &greeting, 0)
            .expect("confirmed");
        played.hear(Side::Tracking, MASTER, 1).expect("a beat");
        played.hear(Side::Values, b"%0\r\n", 1).expect("a greeting");
        played
    }

    fn hear(&mut self, side: Side, bytes: &[u8], now_ms: u64) -> Result<(), Stop> {
        self.engine.receive(side, bytes, now_ms)
    }

    /// Asks for a key, and returns the answer to what the server says.
    fn ask(&mut self, key: &str, replies: &[u8], now_ms: u64) -> Answer {
        self.engine.ask(7, key.as_bytes(), now_ms);
        let heard = self.hear(Side::Values, replies, now_ms);
        heard.expect("replies");
        let [answered] = &self.engine.take_answers()[..] else {
            panic!("not one answer");
        };
        assert_eq!((answered.asker, answered.deadline_ms), (7, now_ms + L_MS));
        answered.answer.clone()
    }

    fn is_cached(&self, key: &str, now_ms: u64) -> bool {
        let mut value = Vec::new();
        let found = self
            .reader
            .find(key.as_bytes(), &mut value, &mut At(now_ms));
        found.expect("a table")
    }
}

fn value(text: &str) -> Answer {
    Answer::Value(text.as_bytes().into())
}

#[test]
fn a_value_is_served_until_trust_ends_or_all_is_flushed() {
    let mut played = Played::trusted(&[], None);
    assert_eq!(played.ask("k", b":-1\r\n$1\r\nv\r\n", 1), value("v"));
    assert!(played.is_cached("k", L_MS - 1));
    assert!(!played.is_cached("k", L_MS));
    let flush = b">2\r\n$10\r\ninvalidate\r\n_\r\n";
    played.hear(Side::Tracking, flush, 2).expect("a push");
    assert!(!played.is_cached("k", 3));
}

#[test]
fn what_was_pushed_while_a_value_was_fetched_is_answered_and_not_kept() {
    let mut played = Played::trusted(&[], None);
    played.engine.ask(1, b"k", 1);
    let push = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
    played.hear(Side::Tracking, push, 1).expect("a push");
    // It does not join the request that the push has overtaken.
    played.engine.ask(2, b"k", 1);
    played.engine.ask(3, b"k", 1);
    let replies = b":-1\r\n$1\r\na\r\n:-1\r\n$1\r\nb\r\n";
    played
        .hear(Side::Values, &replies[..12], 1)
        .expect("replies");
    assert!(!played.is_cached("k", 2));
    played
        .hear(Side::Values, &replies[12..], 1)
        .expect("replies");
    assert!(played.is_cached("k", 2));
    let answers = played.engine.take_answers();
    let shown: Vec<_> = answers
        .into_iter()
        .map(|one| (one.asker, one.answer))
        .collect();
    assert_eq!(shown, [(1, value("a")), (2, value("b")), (3, value("b"))]);
}

#[test]
fn only_what_has_time_and_a_prefix_is_kept() {
    let mut played = Played::trusted(&["app:"], Some(500));
    for (key, left, is_kept) in [
        ("app:a", "-1", true),
        ("app:b", "300", true),
        // The key came between PTTL and GET, or ends now.
        ("app:c", "-2", false),
        ("app:d", "0", false),
        ("web:a", "-1", false),
    ] {
        let replies = format!(":{left}\r\n$1\r\nv\r\n");
        assert_eq!(played.ask(key, replies.as_bytes(), 1), value("v"));
        assert_eq!(played.is_cached(key, 2), is_kept, "{key}");
    }
    assert_eq!(played.ask("app:e", b":-2\r\n_\r\n", 1), Answer::Missing);
    let wrong = played.ask("app:f", b":-1\r\n-WRONGTYPE no\r\n", 1);
    assert_eq!(wrong, Answer::Failed("WRONGTYPE no".into()));
}

#[test]
fn a_value_that_is_late_has_less_time() {
    let mut played = Played::trusted(&[], None);
    played.engine.ask(1, b"k", 1);
    // It has 300 ms from the request on, of which none is left.
    let heard = played.hear(Side::Values, b":300\r\n$1\r\nv\r\n", 301);
    heard.expect("replies");
    assert!(!played.is_cached("k", 301));
}

#[test]
fn servers_that_do_not_fit_are_refused() {
    let refusal = |bytes: &[u8]| match Played::new(&[], None).hear(Side::Tracking, bytes, 0) {
        Err(Stop::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    let hello = b"-ERR unknown command 'HELLO'\r\n";
    assert!(refusal(hello).contains("HELLO"));
    let tracking = b"%0\r\n-NOPERM no\r\n";
    assert!(refusal(tracking).contains("NOPERM"));
    let node = b"%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nmode\r\n$7\r\ncluster\r\n";
    assert!(refusal(node).contains("cluster"));
    let replica = b"*5\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n$7\r\nconnect\r\n:-1\r\n";
    assert!(refusal(&[GREETING, replica].concat()).contains("replica"));
    // A master that becomes a replica is found out by the next beat.
    let mut played = Played::trusted(&[], None);
    played.engine.tick(300).expect("a beat is due");
    let heard = played.hear(Side::Tracking, replica, 301);
    assert!(matches!(heard, Err(Stop::Refused(_))), "{heard:?}");
}

#[test]
fn a_silent_server_is_lost_and_all_askers_hear_of_it() {
    let mut played = Played::trusted(&[], None);
    played.ask("kept", b":-1\r\n$1\r\nv\r\n", 1);
    played.engine.ask(1, b"k", 1);
    played.engine.tick(L_MS + 1).expect("in time");
    let ended = played.engine.tick(L_MS + 2);
    assert!(matches!(ended, Err(Stop::Lost(_))), "{ended:?}");
    played.engine.lose("gone").expect("still the owner");
    played.engine.ask(2, b"k", L_MS + 2);
    let answers = played.engine.take_answers();
    let failed = answers
        .iter()
        .all(|one| matches!(one.answer, Answer::Failed(_)));
    assert!(failed && answers.len() == 2, "{answers:?}");
    assert!(!played.is_cached("kept", 2));
}

#[test]
fn what_nobody_asked_for_ends_the_connections() {
    for side in [Side::Tracking, Side::Values] {
        let mut played = Played::trusted(&[], None);
        // The second beat was answered; the third is not due.
        let heard = played.hear(side, b"+OK\r\n", 2);
        assert!(matches!(heard, Err(Stop::Lost(_))), "{side:?}: {heard:?}");
        let heard = Played::trusted(&[], None).hear(side, b"?\r\n", 2);
        assert!(matches!(heard, Err(Stop::Lost(_))), "{side:?}: {heard:?}");
    }
}
