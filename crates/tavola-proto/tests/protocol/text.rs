//! Limits of the classic commands, and what their words mean.

use crate::empty_server::ask;
use tavola_proto::text::{Event, Request, Store, StoreVerb, Watched};
use tavola_proto::{Decoder, KeyRoom, Limits, Refusal, Step};

/// `front`, a key of `length` bytes, `end`.
fn with_key(front: &str, length: usize, end: &str) -> Vec<u8> {
    [front.as_bytes(), &vec![b'k'; length], end.as_bytes()].concat()
}

fn answer(sent: &[u8]) -> (Vec<u8>, bool) {
    ask(Decoder::new(Limits::default()), sent, sent.len())
}

#[test]
fn keys_have_250_bytes_at_most() {
    for (front, end, fine) in [
        ("get ", "\r\nmn\r\n", "END\r\nMN\r\n"),
        ("get a ", " b\r\nmn\r\n", "END\r\nMN\r\n"),
        ("get ", " noreply\r\nmn\r\n", "END\r\nMN\r\n"),
        ("gat 0 ", "\r\nmn\r\n", "END\r\nMN\r\n"),
        ("set ", " 0 0 2\r\nab\r\nmn\r\n", "STORED\r\nMN\r\n"),
        ("incr ", " 1\r\nmn\r\n", "NOT_FOUND\r\nMN\r\n"),
        ("touch ", " 0\r\nmn\r\n", "NOT_FOUND\r\nMN\r\n"),
        ("delete ", "\r\nmn\r\n", "NOT_FOUND\r\nMN\r\n"),
        ("mg ", "\r\nmn\r\n", "EN\r\nMN\r\n"),
        ("me ", "\r\nmn\r\n", "EN\r\nMN\r\n"),
        ("ms ", " 2\r\nab\r\nmn\r\n", "HD\r\nMN\r\n"),
    ] {
        let long = b"CLIENT_ERROR bad command line format\r\nMN\r\n";
        assert_eq!(
            answer(&with_key(front, 250, end)).0,
            fine.as_bytes(),
            "{front}"
        );
        assert_eq!(answer(&with_key(front, 251, end)).0, long, "{front}");
    }
    // No reply means none to this either.
    for (front, end) in [
        ("set ", " 0 0 2 noreply\r\nab\r\nmn\r\n"),
        ("incr ", " 1 noreply\r\nmn\r\n"),
        ("delete ", " noreply\r\nmn\r\n"),
    ] {
        assert_eq!(answer(&with_key(front, 251, end)).0, b"MN\r\n", "{front}");
    }
}

#[test]
fn values_that_are_too_large_are_swallowed_and_the_old_ones_forgotten() {
    let limits = Limits {
        value_bytes: 4,
        ..Limits::default()
    };
    let too_large = b"SERVER_ERROR object too large for cache\r\nMN\r\n";
    for (line, answer, verb, forgets) in [
        ("set a 0 0 5", &too_large[..], Some("set"), true),
        ("set a 0 0 5 noreply", b"MN\r\n", Some("set"), true),
        ("add a 0 0 5", too_large, Some("add"), false),
        ("cas a 0 0 5 1", too_large, Some("cas"), false),
        ("ms a 5 q", too_large, Some("set"), true),
        ("ms YQ== 5 b ME", too_large, Some("add"), true),
        ("ms a 5 C1 MR", too_large, Some("cas"), true),
        ("ms a 5 MA", too_large, Some("append"), true),
        // Other faults come first.
        (
            "ms a 5 Tx",
            b"CLIENT_ERROR bad token in command line format\r\nMN\r\n",
            None,
            false,
        ),
        (
            "set a x 0 5",
            b"CLIENT_ERROR bad command line format\r\nMN\r\n",
            None,
            false,
        ),
    ] {
        let sent = format!("{line}\r\nmn\r\n.\r\nmn\r\n");
        for chunk in [1, 3, 1000] {
            let found = ask(Decoder::new(limits), sent.as_bytes(), chunk);
            assert_eq!(found, (answer.to_vec(), false), "{line}");
        }
        let mut decoder = Decoder::new(limits);
        // The old value goes before the data comes.
        let line_alone = format!("{line}\r\n");
        let too_large = match decoder.step(line_alone.as_bytes()) {
            Step::TooLarge { value, .. } => Some(value),
            Step::Swallowed { .. } => None,
            step => panic!("{line}: {step:?}"),
        };
        let mut room = KeyRoom::default();
        let forgotten = too_large.filter(|too_large| too_large.forgets);
        let forgotten = forgotten.map(|too_large| too_large.key.bytes(&mut room).to_vec());
        assert_eq!(forgotten, forgets.then(|| b"a".to_vec()), "{line}");
        assert_eq!(too_large.map(|too_large| too_large.verb), verb, "{line}");
    }
}

/// Data of a refused request arrives one byte at a time.
fn swallow(decoder: &mut Decoder, bytes: usize) -> Refusal {
    for number in 0..bytes {
        assert_eq!(decoder.step(b""), Step::More { needed: 1 }, "{number}");
        assert_eq!(decoder.step(b"x"), Step::Swallowed { used: 1 }, "{number}");
    }
    let Step::Refused { refusal, used: 0 } = decoder.step(b"") else {
        panic!("the data is swallowed");
    };
    assert_eq!(decoder.step(b""), Step::More { needed: 1 });
    refusal
}

#[test]
fn a_refusal_waits_for_the_data_of_its_request() {
    let limits = Limits {
        value_bytes: 4,
        ..Limits::default()
    };
    let mut decoder = Decoder::new(limits);
    for (line, answer) in [
        ("set a 0 0 9", "SERVER_ERROR object too large for cache"),
        ("ms a 9", "SERVER_ERROR object too large for cache"),
        ("ms a 9 Tx", "CLIENT_ERROR bad token in command line format"),
        ("cas a 0 0 9 x", "CLIENT_ERROR bad command line format"),
    ] {
        let sent = format!("{line}\r\n");
        match decoder.step(sent.as_bytes()) {
            Step::TooLarge { used, .. } | Step::Swallowed { used } => assert_eq!(used, sent.len()),
            step => panic!("{line}: {step:?}"),
        }
        let refusal = swallow(&mut decoder, 9 + 2);
        let mut out = Vec::new();
        refusal.write(&mut out);
        assert_eq!(out, format!("{answer}\r\n").as_bytes(), "{line}");
        assert!(!refusal.closes());
    }
}

#[test]
fn a_connection_that_announces_too_much_refused_data_is_closed() {
    let limits = Limits {
        value_bytes: 4,
        swallow_bytes: 30,
        ..Limits::default()
    };
    let refused = |sent: &[u8], closes| {
        let count = sent.windows(6).filter(|at| at == b"set a ").count();
        let answer = b"SERVER_ERROR object too large for cache\r\n".repeat(count);
        for chunk in [1, sent.len()] {
            let found = ask(Decoder::new(limits), sent, chunk);
            assert_eq!(found, (answer.clone(), closes), "{}", sent.escape_ascii());
        }
    };
    let most = [b"set a 0 0 28\r\n", &[b'x'; 30][..]].concat();
    refused(&most, false);
    refused(b"set a 0 0 29\r\n", true);
    refused(b"set a 0 0 2147483645\r\n", true);
    refused(&[&most[..], b"set a 0 0 5\r\n"].concat(), true);
    // A request that is carried out begins a new count.
    let good = b"set b 0 0 4 noreply\r\nabcd\r\n";
    refused(&[&most[..], good, &most, good, &most].concat(), false);
}

#[test]
fn lines_of_keys_may_be_long_and_others_not() {
    let line = |name: &str| [name.as_bytes(), &b"a ".repeat(2000), b"\r\nmn\r\n"].concat();
    for name in ["get ", "gets ", "gat 0 ", "gats 0 "] {
        assert_eq!(answer(&line(name)), (b"END\r\nMN\r\n".to_vec(), false));
    }
    for name in ["touch ", "x", " get "] {
        assert_eq!(answer(&line(name)), (Vec::new(), true));
    }
    let just = [&[b'x'; 2048][..], b"\r\n"].concat();
    assert_eq!(answer(&just[..2048]), (Vec::new(), false));
    assert_eq!(answer(&just), (Vec::new(), true));
    let just = [&[b'x'; 2047][..], b"\r\nmn\r\n"].concat();
    assert_eq!(answer(&just), (b"ERROR\r\nMN\r\n".to_vec(), false));
    let endless = [&b"get "[..], &b"a ".repeat(1 << 19)].concat();
    let too_long = b"CLIENT_ERROR line too long\r\n";
    assert_eq!(answer(&endless), (too_long.to_vec(), true));
}

#[test]
fn what_is_needed_of_a_value_is_known_from_its_line() {
    let mut decoder = Decoder::new(Limits::default());
    assert_eq!(decoder.step(b""), Step::More { needed: 1 });
    assert_eq!(decoder.step(b"set a 0 0 100"), Step::More { needed: 14 });
    let line = b"set a 0 0 100\r\n";
    assert_eq!(decoder.step(line), Step::More { needed: 117 });
    let sent = [&line[..], &[b'x'; 100], b"\r\n"].concat();
    assert_eq!(decoder.step(&sent[..116]), Step::More { needed: 117 });
    let Step::Request { used, .. } = decoder.step(&sent) else {
        panic!("the whole request is there");
    };
    assert_eq!(used, 117);
}

fn decoded(sent: &[u8], check: impl FnOnce(Request<'_>)) {
    match Decoder::new(Limits::default()).step(sent) {
        Step::Request {
            request: tavola_proto::Request::Text(request),
            used,
        } => {
            assert_eq!(used, sent.len());
            check(request);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_are_handed_on_as_they_came() {
    let store = |exptime, flags, verb| {
        Request::Store(Store {
            verb,
            key: b"a",
            flags,
            exptime,
            data: b"x\ny",
            noreply: false,
        })
    };
    decoded(b"set a 1 -1 3\r\nx\ny\r\n", |request| {
        assert_eq!(request, store(-1, 1, StoreVerb::Set));
    });
    // As C does it: signs, white space, and what is more than 32 bits cut off.
    decoded(b"set a +4294967297\t 4294967298 3\r\nx\ny\r\n", |request| {
        assert_eq!(request, store(2, 1, StoreVerb::Set));
    });
    decoded(b"cas a 0 0 3 18446744073709551615\r\nx\ny\r\n", |request| {
        assert_eq!(request, store(0, 0, StoreVerb::Cas(u64::MAX)));
    });
    decoded(b"gats -5 a  b\n", |request| {
        let Request::Get(get) = request else {
            panic!("{request:?}");
        };
        assert_eq!((get.touch, get.with_cas), (Some(-5), true));
        assert_eq!(get.keys.collect::<Vec<_>>(), [b"a", b"b"]);
    });
    decoded(b"touch a -\r\n", |request| {
        let noreply = false;
        assert_eq!(
            request,
            Request::Touch {
                key: b"a",
                exptime: 0,
                noreply
            }
        );
    });
    decoded(b"flush_all -1 noreply\r\n", |request| {
        assert_eq!(
            request,
            Request::FlushAll {
                delay: -1,
                noreply: true
            }
        );
    });
}

#[test]
fn events_are_recognised_by_prefixes_of_their_names() {
    let watched = |sent: &[u8]| {
        let mut found = Watched::default();
        decoded(sent, |request| match request {
            Request::Watch(watched) => found = watched,
            other => panic!("{other:?}"),
        });
        found
    };
    let default = watched(b"watch\r\n");
    assert!(default.has(Event::Fetchers) && !default.has(Event::Mutations));
    let two = watched(b"watch mut deletions\r\n");
    assert!(two.has(Event::Mutations) && two.has(Event::Deletions));
    assert!(!two.has(Event::Fetchers));
    assert!(watched(b"watch proxy\r\n").has(Event::Proxyreqs));
}

#[test]
fn a_delete_with_words_of_no_client_is_refused() {
    let usage = b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\nMN\r\n";
    for (line, expected) in [
        ("delete a b c d", &b"NOT_FOUND\r\nMN\r\n"[..]),
        ("delete a b c noreply", b"MN\r\n"),
        ("delete a b c d e", usage),
        ("delete a b c d noreply", b"MN\r\n"),
    ] {
        let sent = format!("{line}\r\nmn\r\n");
        assert_eq!(answer(sent.as_bytes()).0, expected, "{line}");
    }
}
