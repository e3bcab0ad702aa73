//! The binary requests.

use super::script::{Client, Ours, Theirs};

/// A request; `extras` and `value` may be empty.
fn request(opcode: u8, extras: &[u8], key: &[u8], value: &[u8], cas: u64) -> Vec<u8> {
    packet(0x80, opcode, 0, extras, key, value, cas)
}

fn packet(
    magic: u8,
    opcode: u8,
    status: u16,
    extras: &[u8],
    key: &[u8],
    value: &[u8],
    cas: u64,
) -> Vec<u8> {
    let body = extras.len() + key.len() + value.len();
    let mut bytes = vec![magic, opcode];
    bytes.extend((key.len() as u16).to_be_bytes());
    bytes.extend([extras.len() as u8, 0]);
    bytes.extend(status.to_be_bytes());
    bytes.extend((body as u32).to_be_bytes());
    bytes.extend(b"opaq");
    bytes.extend(cas.to_be_bytes());
    [&bytes, extras, key, value].concat()
}

/// An answer with a unique number of 0, as [`Wire::ask`] gives them.
fn answer(opcode: u8, status: u16, extras: &[u8], key: &[u8], value: &[u8]) -> Vec<u8> {
    packet(0x81, opcode, status, extras, key, value, 0)
}

/// Flags and expiry time of a request to store.
fn extras(flags: u32, exptime: u32) -> Vec<u8> {
    [flags.to_be_bytes(), exptime.to_be_bytes()].concat()
}

/// Delta, initial number and expiry time of a request to count.
fn counting(delta: u64, initial: u64, exptime: u32) -> Vec<u8> {
    [
        &delta.to_be_bytes()[..],
        &initial.to_be_bytes(),
        &exptime.to_be_bytes(),
    ]
    .concat()
}

struct Wire {
    client: Client,
    /// The last unique number that was returned.
    cas: u64,
}

impl Wire {
    /// Sends requests, and gives all answers, without their unique numbers.
    fn ask(&mut self, requests: &[Vec<u8>]) -> Vec<u8> {
        const NOOP: u8 = 0x0a;
        let mut bytes = requests.concat();
        bytes.extend(request(NOOP, &[], &[], &[], 0));
        self.client.send(&bytes);
        let mut all = Vec::new();
        loop {
            let mut head = self.client.ask(&[], 24);
            let body = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
            if head[1] == NOOP {
                return all;
            }
            let mut cas = [0; 8];
            cas.copy_from_slice(&head[16..24]);
            if cas != [0; 8] {
                self.cas = u64::from_be_bytes(cas);
            }
            head[16..24].fill(0);
            all.extend(head);
            all.extend(self.client.ask(&[], body as usize));
        }
    }

    fn check(&mut self, requests: &[Vec<u8>], expected: &[Vec<u8>]) {
        let found = self.ask(requests);
        let expected = expected.concat();
        assert_eq!(
            found.escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
    }
}

fn run(script: impl Fn(&mut Wire)) {
    let ours = Ours::start();
    let client = ours.connect();
    script(&mut Wire { client, cas: 0 });
    if let Some(theirs) = Theirs::start() {
        let client = Client::connect(theirs.address);
        script(&mut Wire { client, cas: 0 });
    }
}

const NOT_FOUND: &[u8] = b"Not found";
const EXISTS: &[u8] = b"Data exists for key.";

#[test]
fn values_are_stored_and_returned() {
    run(|wire| {
        let flags = 7u32.to_be_bytes();
        wire.check(
            &[
                request(0x00, &[], b"a", &[], 0),
                request(0x0c, &[], b"a", &[], 0),
                // Quiet ones of what is not there.
                request(0x09, &[], b"a", &[], 0),
                request(0x0d, &[], b"a", &[], 0),
                request(0x01, &extras(7, 0), b"a", b"one", 0),
                // A quiet set.
                request(0x11, &extras(7, 0), b"b", b"two", 0),
                request(0x00, &[], b"a", &[], 0),
                request(0x0d, &[], b"b", &[], 0),
            ],
            &[
                answer(0x00, 1, &[], &[], NOT_FOUND),
                answer(0x0c, 1, &[], b"a", &[]),
                answer(0x01, 0, &[], &[], &[]),
                answer(0x00, 0, &flags, &[], b"one"),
                answer(0x0d, 0, &flags, b"b", b"two"),
            ],
        );
    });
}

#[test]
fn conditions_are_kept() {
    run(|wire| {
        wire.check(
            &[
                request(0x03, &extras(0, 0), b"a", b"x", 0),
                request(0x0e, &[], b"a", b"x", 0),
                request(0x02, &extras(0, 0), b"a", b"m", 0),
                request(0x02, &extras(0, 0), b"a", b"m", 0),
                request(0x12, &extras(0, 0), b"a", b"m", 0),
                request(0x19, &[], b"a", b"n", 0),
                request(0x0f, &[], b"a", b"l", 0),
                request(0x00, &[], b"a", &[], 0),
            ],
            &[
                answer(0x03, 1, &[], &[], NOT_FOUND),
                answer(0x0e, 5, &[], &[], b"Not stored."),
                answer(0x02, 0, &[], &[], &[]),
                answer(0x02, 2, &[], &[], EXISTS),
                answer(0x12, 2, &[], &[], EXISTS),
                answer(0x0f, 0, &[], &[], &[]),
                answer(0x00, 0, &[0; 4], &[], b"lmn"),
            ],
        );
    });
}

#[test]
fn a_unique_number_guards_a_value() {
    run(|wire| {
        wire.check(
            &[request(0x01, &extras(0, 0), b"a", b"x", 5)],
            &[answer(0x01, 1, &[], &[], NOT_FOUND)],
        );
        wire.check(
            &[request(0x01, &extras(0, 0), b"a", b"x", 0)],
            &[answer(0x01, 0, &[], &[], &[])],
        );
        let cas = wire.cas;
        wire.check(
            &[
                request(0x01, &extras(0, 0), b"a", b"y", cas),
                request(0x01, &extras(0, 0), b"a", b"z", cas),
                request(0x0e, &[], b"a", b"z", cas),
                request(0x04, &[], b"a", &[], cas),
                request(0x00, &[], b"a", &[], 0),
            ],
            &[
                answer(0x01, 0, &[], &[], &[]),
                answer(0x01, 2, &[], &[], EXISTS),
                answer(0x0e, 2, &[], &[], EXISTS),
                answer(0x04, 2, &[], &[], EXISTS),
                answer(0x00, 0, &[0; 4], &[], b"y"),
            ],
        );
        let cas = wire.cas;
        wire.check(
            &[
                request(0x04, &[], b"a", &[], cas),
                request(0x04, &[], b"a", &[], 0),
                request(0x14, &[], b"a", &[], 0),
            ],
            &[
                answer(0x04, 0, &[], &[], &[]),
                answer(0x04, 1, &[], &[], NOT_FOUND),
                answer(0x14, 1, &[], &[], NOT_FOUND),
            ],
        );
    });
}

#[test]
fn numbers_are_counted() {
    run(|wire| {
        let number = |number: u64| number.to_be_bytes();
        wire.check(
            &[
                request(0x05, &counting(1, 10, u32::MAX), b"n", &[], 0),
                request(0x05, &counting(1, 10, 0), b"n", &[], 0),
                request(0x05, &counting(5, 10, 0), b"n", &[], 0),
                request(0x15, &counting(5, 10, 0), b"n", &[], 0),
                request(0x06, &counting(100, 10, 0), b"n", &[], 0),
                request(0x01, &extras(0, 0), b"n", b"x", 0),
                request(0x16, &counting(1, 10, 0), b"n", &[], 0),
            ],
            &[
                answer(0x05, 1, &[], &[], NOT_FOUND),
                answer(0x05, 0, &[], &[], &number(10)),
                answer(0x05, 0, &[], &[], &number(15)),
                answer(0x06, 0, &[], &[], &number(0)),
                answer(0x01, 0, &[], &[], &[]),
                answer(
                    0x16,
                    6,
                    &[],
                    &[],
                    b"Non-numeric server-side value for incr or decr",
                ),
            ],
        );
    });
}

#[test]
fn times_are_changed() {
    run(|wire| {
        let never = 0u32.to_be_bytes();
        let past = 1_000_000_000u32.to_be_bytes();
        wire.check(
            &[
                request(0x1c, &never, b"a", &[], 0),
                request(0x1d, &never, b"a", &[], 0),
                request(0x24, &never, b"a", &[], 0),
                request(0x01, &extras(3, 100), b"a", b"x", 0),
                request(0x1c, &never, b"a", &[], 0),
                request(0x23, &never, b"a", &[], 0),
                request(0x1d, &past, b"a", &[], 0),
                request(0x00, &[], b"a", &[], 0),
                request(0x01, &extras(3, 0), b"a", b"x", 0),
                request(0x18, &[], &[], &[], 0),
            ],
            &[
                answer(0x1c, 1, &[], &[], NOT_FOUND),
                answer(0x1d, 1, &[], &[], NOT_FOUND),
                answer(0x01, 0, &[], &[], &[]),
                answer(0x1c, 0, &3u32.to_be_bytes(), &[], &[]),
                answer(0x23, 0, &3u32.to_be_bytes(), b"a", b"x"),
                answer(0x1d, 0, &3u32.to_be_bytes(), &[], b"x"),
                answer(0x00, 1, &[], &[], NOT_FOUND),
                answer(0x01, 0, &[], &[], &[]),
            ],
        );
    });
}

#[test]
fn figures_end_with_an_empty_one() {
    run(|wire| {
        let figures = wire.ask(&[request(0x10, &[], &[], &[], 0)]);
        let pid = figures.windows(3).position(|part| part == b"pid");
        assert_eq!(pid, Some(24));
        assert!(figures.ends_with(&answer(0x10, 0, &[], &[], &[])));
        wire.check(
            &[request(0x10, &[], b"reset", &[], 0)],
            &[answer(0x10, 0, &[], &[], &[])],
        );
        wire.check(
            &[request(0x10, &[], b"nonsense", &[], 0)],
            &[answer(0x10, 1, &[], &[], NOT_FOUND)],
        );
    });
}

#[test]
fn quit_is_answered_unless_it_is_quiet() {
    let ours = Ours::start();
    let quit = request(0x07, &[], &[], &[], 0);
    let mut client = ours.connect();
    client.send(&quit);
    assert_eq!(client.rest(), answer(0x07, 0, &[], &[], &[]));
    let mut client = ours.connect();
    client.send(&request(0x17, &[], &[], &[], 0));
    assert!(client.rest().is_empty());
}
