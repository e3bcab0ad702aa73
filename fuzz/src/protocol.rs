//! Bytes of a connection, of any of memcached's protocols: however they are split, the same is
//! found in them, each step makes progress, and what is found can be answered. Half of the inputs
//! are what a client receives.

use crate::answers;
use tavola_proto::{Decoder, KeyRoom, Limits, Protocol, Request, Sasl, Step, meta, text};

/// Small, so that inputs reach them.
const LIMITS: Limits = Limits {
    value_bytes: 64,
    swallow_bytes: 200,
    line_bytes: 256,
    keys_line_bytes: 600,
};
/// The bytes at the front of an input that say how the rest is read.
const SETTINGS: usize = 5;
/// From this setting on the bytes are those that a client receives.
const ANSWERS: u8 = 0x80;

/// Decodes the input at once, byte by byte and in chunks that it chooses.
///
/// # Panics
/// Where the splitting makes a difference, or a step does not go on.
pub fn run(input: &[u8]) {
    let Some((settings, sent)) = input.split_first_chunk::<SETTINGS>() else {
        return;
    };
    if settings[0] >= ANSWERS {
        let protocol = match settings[0] % 2 {
            0 => Protocol::Binary,
            _ => Protocol::Text,
        };
        return answers::run(protocol, &settings[1..], sent);
    }
    let decoder = decoder(settings[0]);
    let whole = found(decoder.clone(), sent, |_| sent.len());
    let single = found(decoder.clone(), sent, |_| 1);
    assert_eq!(single, whole, "one by one");
    let chunks = &settings[1..];
    let split = found(decoder, sent, |count| {
        usize::from(chunks[count % chunks.len()]).max(1)
    });
    assert_eq!(split, whole, "in chunks of {chunks:?}");
}

fn decoder(setting: u8) -> Decoder {
    let mut decoder = match setting % 4 {
        0 => Decoder::of(Protocol::Binary, LIMITS),
        1 => Decoder::of(Protocol::Text, LIMITS),
        _ => Decoder::new(LIMITS),
    };
    decoder.set_sasl(match setting / 4 % 3 {
        0 => Sasl::Off,
        1 => Sasl::Required,
        _ => Sasl::Done,
    });
    decoder.set_locked(setting / 12 % 4 == 1);
    decoder
}

/// Steps that find something, with where they begin; and where the last one ends.
type Found = (Vec<(usize, String)>, usize);

fn found(mut decoder: Decoder, sent: &[u8], next: impl Fn(usize) -> usize) -> Found {
    let (mut steps, mut at, mut end, mut chunks) = (Vec::new(), 0, 0, 0);
    // Whether the latest step that took bytes threw them away, or announced that it will be done.
    let mut was_swallowed = false;
    while end < sent.len() {
        end = sent.len().min(end + next(chunks));
        chunks += 1;
        loop {
            let step = decoder.step(&sent[at..end]);
            let shown = format!("{step:?}");
            let is_announced = matches!(step, Step::TooLarge { .. });
            let (used, closes) = match step {
                Step::More { needed } => {
                    assert!(needed > end - at, "{needed} bytes are there");
                    break;
                }
                Step::Swallowed { used } => {
                    at += forward(used);
                    was_swallowed = true;
                    continue;
                }
                Step::Request { request, used } => {
                    read_request(&request);
                    (forward(used), false)
                }
                Step::TooLarge { value, used } => {
                    assert!(
                        is_key(value.key.bytes(&mut KeyRoom::default())),
                        "an invalid key"
                    );
                    (forward(used), false)
                }
                Step::Refused { refusal, used } => {
                    refusal.write(&mut Vec::new());
                    assert!(used > 0 || was_swallowed, "a step that takes nothing");
                    (used, refusal.closes())
                }
            };
            was_swallowed = is_announced;
            steps.push((at, shown));
            at += used;
            if closes {
                return (steps, at);
            }
        }
    }
    (steps, at)
}

fn forward(used: usize) -> usize {
    assert!(used > 0, "a step that takes nothing");
    used
}

/// Uses what a server would use of a request.
fn read_request(request: &Request<'_>) {
    match request {
        Request::Text(text::Request::Get(get)) => {
            assert!(get.keys.clone().count() > 0, "a get of no key");
            assert!(get.keys.clone().all(is_key), "an invalid key");
        }
        Request::Meta(request) => {
            let Some(item) = request.item() else { return };
            assert!(
                is_key(item.key.bytes(&mut KeyRoom::default())),
                "an invalid key"
            );
            let mut out = Vec::new();
            meta::answer::bare(&mut out, meta::Status::NotFound, item);
            assert!(out.ends_with(b"\r\n"), "an answer without an end");
            let ends = out.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(ends, 1, "an answer of more than one line");
        }
        Request::Text(_) | Request::Binary(_) => {}
    }
}

fn is_key(key: &[u8]) -> bool {
    (1..=tavola_proto::KEY_BYTES).contains(&key.len())
}
