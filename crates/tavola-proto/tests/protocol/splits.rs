//! However the bytes of a connection arrive, the same is found in them.

use crate::numbers::Numbers;
use tavola_proto::{Decoder, Limits, Step};

const LIMITS: Limits = Limits {
    value_bytes: 40,
    swallow_bytes: 100,
    line_bytes: 120,
    keys_line_bytes: 200,
};
const STREAMS: u64 = 3000;

/// Steps that find something, with where they begin; and where the last one ends.
type Found = (Vec<(usize, String)>, usize);

/// What is found when `sent` arrives in chunks of the sizes that `next` returns.
fn found(sent: &[u8], mut next: impl FnMut() -> usize) -> Found {
    let mut decoder = Decoder::new(LIMITS);
    let (mut steps, mut at, mut end) = (Vec::new(), 0, 0);
    while end < sent.len() {
        end = sent.len().min(end + next());
        loop {
            let step = decoder.step(&sent[at..end]);
            let shown = format!("{step:?}");
            match step {
                Step::More { needed } => {
                    assert!(needed > end - at, "{needed} are there");
                    break;
                }
                // Their number is that of the chunks.
                Step::Swallowed { used } => {
                    assert!(used > 0);
                    at += used;
                }
                Step::Request { used, .. } | Step::TooLarge { used, .. } => {
                    assert!(used > 0);
                    steps.push((at, shown));
                    at += used;
                }
                // All that it took may have been swallowed before.
                Step::Refused { refusal, used } => {
                    steps.push((at, shown));
                    at += used;
                    if refusal.closes() {
                        return (steps, at);
                    }
                }
            }
        }
    }
    (steps, at)
}

const WORDS: [&[u8]; 52] = [
    b"get",
    b"gets",
    b"gat",
    b"gats",
    b"set",
    b"add",
    b"replace",
    b"append",
    b"prepend",
    b"cas",
    b"incr",
    b"decr",
    b"touch",
    b"delete",
    b"flush_all",
    b"version",
    b"verbosity",
    b"stats",
    b"shutdown",
    b"cache_memlimit",
    b"lru_crawler",
    b"watch",
    b"slabs",
    b"lru",
    b"mn",
    b"me",
    b"mg",
    b"ms",
    b"md",
    b"ma",
    b"noreply",
    b"0",
    b"1",
    b"3",
    b"-1",
    b"41",
    b"x",
    b"key",
    b"Zm9v",
    b"b",
    b"k",
    b"q",
    b"v",
    b"T5",
    b"Oop",
    b"MA",
    b"N0",
    b"C7",
    b"F",
    b"graceful",
    b"mutations",
    b"detail",
];
const ENDS: [&[u8]; 4] = [b"\r\n", b"\n", b"\r\nabc\r\n", b"\r\n\r\n"];

fn text(numbers: &mut Numbers) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..numbers.below(8) {
        match numbers.below(6) {
            // A request that is right, so that values are read as such.
            0 => out.extend_from_slice(b"set key 0 0 3\r\nabc\r\n"),
            1 => out.extend_from_slice(b"ms key 3 T5 q\r\nabc\r\n"),
            2 => out.extend_from_slice(&[b"set key 0 0 41\r\n", &[b'v'; 43][..]].concat()),
            _ => {
                let line = (0..=numbers.below(9)).map(|_| numbers.pick(&WORDS));
                out.extend_from_slice(&line.collect::<Vec<_>>().join(&b' '));
                out.extend_from_slice(numbers.pick(&ENDS));
            }
        }
    }
    out.resize(out.len() + numbers.below(2) * numbers.below(220), b'x');
    out
}

fn binary(numbers: &mut Numbers) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=numbers.below(6) {
        let opcode = numbers.below(0x28) as u8;
        let key = numbers.below(5);
        let extras = [0, 4, 8, 20][numbers.below(4)];
        let value = [0, 0, 3, 41][numbers.below(4)];
        let body = (extras + key + value).saturating_sub(numbers.below(8) / 7);
        out.extend_from_slice(&[0x80, opcode, 0, key as u8, extras as u8, 0, 0, 0]);
        out.extend_from_slice(&(body as u32).to_be_bytes());
        out.resize(out.len() + 12 + body, 1);
    }
    out
}

#[test]
fn the_same_is_found_however_the_bytes_arrive() {
    let (mut requests, mut refusals) = (0, 0);
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let sent = if numbers.below(3) == 0 {
            binary(&mut numbers)
        } else {
            text(&mut numbers)
        };
        let whole = found(&sent, || sent.len().max(1));
        let shown = sent.escape_ascii();
        assert_eq!(found(&sent, || 1), whole, "one by one: {shown}");
        for most in [2, 7, 30] {
            let split = found(&sent, || 1 + numbers.below(most));
            assert_eq!(split, whole, "up to {most}: {shown}");
        }
        let is_request = |step: &&(usize, String)| step.1.starts_with("Request");
        let count = whole.0.iter().filter(is_request).count();
        requests += count;
        refusals += whole.0.len() - count;
    }
    // The streams have enough of both.
    assert!(requests > 2000 && refusals > 2000, "{requests}, {refusals}");
}
