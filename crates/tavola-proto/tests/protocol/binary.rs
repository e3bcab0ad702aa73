//! What binary requests are answered, byte for byte as memcached 1.6.45 does.

use crate::empty_server::{CLOSED, OPEN, ask};
use tavola_proto::binary::{Command, Count, Get, Store, StoreVerb};
use tavola_proto::{Decoder, Limits, Request, Sasl, Step};

const OPAQUE: [u8; 4] = [0xde, 0xad, 0xbe, 0xef];
const CAS: u64 = 9;

fn request(opcode: u8, extras: &[u8], key: &[u8], value: &[u8]) -> Vec<u8> {
    let body = extras.len() + key.len() + value.len();
    let mut out = vec![0x80, opcode];
    out.extend_from_slice(&(key.len() as u16).to_be_bytes());
    out.extend_from_slice(&[extras.len() as u8, 0, 0, 0]);
    out.extend_from_slice(&(body as u32).to_be_bytes());
    out.extend_from_slice(&OPAQUE);
    out.extend_from_slice(&CAS.to_be_bytes());
    [&out, extras, key, value].concat()
}

/// An answer without extras.
fn answer(opcode: u8, status: u16, key: &[u8], text: &str) -> Vec<u8> {
    let body = key.len() + text.len();
    let mut out = vec![0x81, opcode];
    out.extend_from_slice(&(key.len() as u16).to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&status.to_be_bytes());
    out.extend_from_slice(&(body as u32).to_be_bytes());
    out.extend_from_slice(&OPAQUE);
    out.extend_from_slice(&[0; 8]);
    [&out, key, text.as_bytes()].concat()
}

fn noop() -> Vec<u8> {
    request(0x0a, &[], &[], &[])
}

/// Sends `sent` and a no-op; the answer to the latter comes unless the connection is closed.
fn check(sasl: Sasl, sent: &[u8], expected: &[u8], is_closed: bool) {
    let sent = [sent, &noop()].concat();
    let mut expected = expected.to_vec();
    if !is_closed {
        expected.extend_from_slice(&answer(0x0a, 0, &[], ""));
    }
    for chunk in [sent.len(), 1] {
        let mut decoder = Decoder::new(LIMITS);
        decoder.set_sasl(sasl);
        let found = ask(decoder, &sent, chunk);
        assert_eq!(
            found,
            (expected.clone(), is_closed),
            "to {}",
            sent.escape_ascii()
        );
    }
}

const LIMITS: Limits = Limits {
    value_bytes: 100,
    swallow_bytes: 1 << 20,
    line_bytes: 2048,
    keys_line_bytes: 4096,
};
const INVALID: (u16, &str) = (4, "Invalid arguments");
const UNKNOWN: (u16, &str) = (0x81, "Unknown command");
const NOT_FOUND: (u16, &str) = (1, "Not found");

#[test]
fn requests_of_the_right_shape_are_answered() {
    let time = [0; 4];
    let count = [[0; 16].as_slice(), &[0xff; 4]].concat();
    for (opcode, extras, key, value, (status, text)) in [
        (0x0b, &[][..], "", "", (0, "1.6.45")),
        (0x00, &[], "k", "", NOT_FOUND),
        (0x04, &[], "k", "", NOT_FOUND),
        (0x14, &[], "k", "", NOT_FOUND),
        (0x05, &count, "k", "", NOT_FOUND),
        (0x15, &count, "k", "", NOT_FOUND),
        (0x03, &[0; 8], "k", "v", NOT_FOUND),
        (0x13, &[0; 8], "k", "v", NOT_FOUND),
        (0x0e, &[], "k", "v", (5, "Not stored.")),
        (0x0f, &[], "k", "", (5, "Not stored.")),
        (0x1c, &time, "k", "", NOT_FOUND),
        (0x1d, &time, "k", "", NOT_FOUND),
        (0x08, &[], "", "", (0, "")),
        (0x08, &time, "", "", (0, "")),
        (0x10, &[], "zz", "", NOT_FOUND),
        (0x10, &[], "reset", "", (0, "")),
        (0x20, &[], "", "", UNKNOWN),
        (0x21, &[], "PLAIN", "\0u\0p", UNKNOWN),
        (0x22, &[], "PLAIN", "\0u\0p", UNKNOWN),
        (0x1b, &[], "", "", UNKNOWN),
        (0x50, &[], "", "", UNKNOWN),
    ] {
        let sent = request(opcode, extras, key.as_bytes(), value.as_bytes());
        check(Sasl::Off, &sent, &answer(opcode, status, &[], text), OPEN);
    }
    for opcode in [0x0c, 0x23] {
        let extras = if opcode == 0x23 { &time[..] } else { &[] };
        let expected = answer(opcode, 1, b"nk", "");
        check(
            Sasl::Off,
            &request(opcode, extras, b"nk", &[]),
            &expected,
            OPEN,
        );
    }
}

#[test]
fn quiet_requests_are_not_answered() {
    for (opcode, extras, key, value) in [
        (0x09, &[][..], "k", ""),
        (0x0d, &[], "k", ""),
        (0x1e, &[0; 4], "k", ""),
        (0x24, &[0; 4], "k", ""),
        (0x11, &[0; 8], "k", "v"),
        (0x12, &[0; 8], "k", "v"),
        (0x18, &[], "", ""),
    ] {
        let sent = request(opcode, extras, key.as_bytes(), value.as_bytes());
        check(Sasl::Off, &sent, &[], OPEN);
    }
    check(Sasl::Off, &request(0x17, &[], &[], &[]), &[], CLOSED);
    check(
        Sasl::Off,
        &request(0x07, &[], &[], &[]),
        &answer(7, 0, &[], ""),
        CLOSED,
    );
}

#[test]
fn requests_of_another_shape_end_the_connection() {
    let long = "k".repeat(251);
    for (opcode, extras, key, value) in [
        (0x0b, &[][..], "x", ""),
        (0x0a, &[], "x", ""),
        (0x00, &[], "", ""),
        (0x00, &[0; 4], "k", ""),
        (0x00, &[], "k", "v"),
        (0x00, &[], &long, ""),
        (0x50, &[], &long, ""),
        (0x01, &[0; 4], "k", "v"),
        (0x01, &[0; 8], "", "v"),
        (0x0e, &[0; 4], "k", "v"),
        (0x04, &[], "nk", "x"),
        (0x05, &[0; 19], "nk", ""),
        (0x05, &[0; 20], "nk", "x"),
        (0x07, &[], "x", ""),
        (0x08, &[0; 5], "", ""),
        (0x10, &[0], "", ""),
        (0x1c, &[], "k", ""),
        (0x20, &[], "x", ""),
        (0x21, &[], "", ""),
    ] {
        let sent = request(opcode, extras, key.as_bytes(), value.as_bytes());
        let expected = answer(opcode, INVALID.0, &[], INVALID.1);
        check(Sasl::Off, &sent, &expected, CLOSED);
    }
}

#[test]
fn lengths_that_do_not_add_up_end_the_connection() {
    let mut short = request(0x00, &[], b"k", &[]);
    short[11] = 0;
    check(
        Sasl::Off,
        &short,
        &answer(0, UNKNOWN.0, &[], UNKNOWN.1),
        CLOSED,
    );
    let mut huge = request(0x01, &[0; 8], b"k", b"v");
    huge[8..12].copy_from_slice(&0x4000_0001u32.to_be_bytes());
    check(
        Sasl::Off,
        &huge,
        &answer(1, INVALID.0, &[], INVALID.1),
        CLOSED,
    );
    // What is not counted is read as the next request, which has no magic.
    let touch = request(0x1d, &[0; 4], b"k", b"zzzz");
    check(
        Sasl::Off,
        &touch,
        &answer(0x1d, NOT_FOUND.0, &[], NOT_FOUND.1),
        CLOSED,
    );
    check(
        Sasl::Off,
        &[&noop()[..], b"\x81"].concat(),
        &answer(10, 0, &[], ""),
        CLOSED,
    );
}

#[test]
fn bodies_of_refused_requests_are_swallowed() {
    let value = [b'v'; 101];
    for (opcode, extras) in [(0x01, &[0; 8][..]), (0x11, &[0; 8]), (0x0e, &[])] {
        let expected = answer(opcode, 3, &[], "Too large.");
        check(
            Sasl::Off,
            &request(opcode, extras, b"k", &value),
            &expected,
            OPEN,
        );
    }
    let expected = answer(0x50, UNKNOWN.0, &[], UNKNOWN.1);
    check(
        Sasl::Off,
        &request(0x50, &[0; 3], b"key", b"value"),
        &expected,
        OPEN,
    );
}

#[test]
fn a_value_that_is_too_large_forgets_the_old_one_where_it_would_replace_it() {
    for (opcode, verb, forgets) in [
        (0x01, "set", true),
        (0x11, "set", true),
        (0x02, "add", false),
        (0x03, "replace", false),
    ] {
        let sent = request(opcode, &[0; 8], b"k", &[b'v'; 101]);
        let mut decoder = Decoder::new(LIMITS);
        let Step::TooLarge { value, used } = decoder.step(&sent) else {
            panic!("too large");
        };
        assert_eq!(used, 24 + 8 + 1);
        assert_eq!((value.verb, value.forgets), (verb, forgets));
        let data = &sent[used..];
        assert_eq!(decoder.step(&data[..100]), Step::Swallowed { used: 100 });
        assert_eq!(decoder.step(b""), Step::More { needed: 1 });
        assert_eq!(decoder.step(&data[100..]), Step::Swallowed { used: 1 });
        let Step::Refused { refusal, used: 0 } = decoder.step(b"") else {
            panic!("refused");
        };
        assert!(!refusal.closes());
    }
}

#[test]
fn a_client_that_has_not_authenticated_may_do_little() {
    let refused = |opcode| answer(opcode, 0x20, &[], "Auth failure.");
    for opcode in [0x00, 0x0a, 0x50] {
        let sent = request(opcode, &[], b"k", &[]);
        check(Sasl::Required, &sent, &refused(opcode), CLOSED);
    }
    let version = [request(0x0b, &[], &[], &[]), noop()].concat();
    let expected = [answer(0x0b, 0, &[], "1.6.45"), refused(0x0a)].concat();
    check(Sasl::Required, &version, &expected, CLOSED);
    let long = request(0x21, &[], &[b'M'; 33], b"\0u\0p");
    check(
        Sasl::Done,
        &long,
        &answer(0x21, INVALID.0, &[], INVALID.1),
        OPEN,
    );
    let large = request(0x21, &[], b"PLAIN", &[0; (16 << 10) + 1]);
    check(
        Sasl::Done,
        &large,
        &answer(0x21, 0x82, &[], "Out of memory"),
        OPEN,
    );
}

fn decoded(sent: &[u8], expected: &Command<'_>, is_quiet: bool) {
    let mut decoder = Decoder::new(LIMITS);
    decoder.set_sasl(Sasl::Required);
    if !matches!(
        expected,
        Command::SaslAuth { .. } | Command::SaslStep { .. }
    ) {
        decoder.set_sasl(Sasl::Done);
    }
    let Step::Request {
        request: Request::Binary(request),
        used,
    } = decoder.step(sent)
    else {
        panic!("{} is whole", sent.escape_ascii());
    };
    assert_eq!(used, sent.len());
    assert_eq!((&request.command, request.quiet), (expected, is_quiet));
    assert_eq!(
        (request.header.opcode, request.header.opaque),
        (sent[1], OPAQUE)
    );
}

#[test]
fn fields_are_read_in_their_order() {
    let store = Command::Store(Store {
        verb: StoreVerb::Add,
        key: b"k",
        flags: 5,
        exptime: 6,
        cas: CAS,
        data: b"v",
    });
    let extras = [0, 0, 0, 5, 0, 0, 0, 6];
    decoded(&request(0x12, &extras, b"k", b"v"), &store, true);
    let mut extras = [0; 20];
    (extras[7], extras[15], extras[19]) = (1, 2, 3);
    let count = Command::Count(Count {
        key: b"k",
        delta: 1,
        down: true,
        initial: 2,
        exptime: 3,
        cas: CAS,
    });
    decoded(&request(0x06, &extras, b"k", &[]), &count, false);
    let get = Command::Get(Get {
        key: b"k",
        with_key: true,
        touch: Some(258),
    });
    decoded(&request(0x24, &[0, 0, 1, 2], b"k", &[]), &get, true);
    let delay = 7;
    decoded(
        &request(0x08, &[0, 0, 0, 7], &[], &[]),
        &Command::Flush { delay },
        false,
    );
    let (mechanism, data) = (&b"PLAIN"[..], &b"\0u\0p"[..]);
    let auth = Command::SaslAuth { mechanism, data };
    decoded(&request(0x21, &[], mechanism, data), &auth, false);
    let step = Command::SaslStep { mechanism, data };
    decoded(&request(0x22, &[], mechanism, data), &step, false);
}
