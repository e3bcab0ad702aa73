//! Random binary requests.

use super::random::Random;
use super::text::{has_largest, is_blank};
use super::{NEWEST, OLDEST, Style};

/// What a request begins with.
const MAGIC: u8 = 0x80;
const KEYS: [&str; 4] = ["a", "b", "key", "n"];
const TIMES: [u32; 5] = [0, 100, 2_592_000, 2_592_001, 4_102_444_800];
const VALUES: [&str; 8] = [
    "",
    "0",
    "9",
    "10",
    "99",
    "12 ",
    "18446744073709551615",
    "text",
];

struct Parts {
    opcode: u8,
    extras: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
    cas: u64,
    /// What the header has besides: the first byte, a type of data and a bucket that mean nothing,
    /// and how many bytes of the body it does not count.
    magic: u8,
    ignored: [u8; 3],
    missing: usize,
}

impl Parts {
    fn has_largest(&self) -> bool {
        let (numbers, _) = self.extras.as_chunks::<8>();
        has_largest(&self.value) || numbers.contains(&[0xff; 8])
    }
}

/// With touch, which holds on to an item as well.
const GETS: [u8; 9] = [0x00, 0x09, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x23, 0x24];
const COUNTS: [u8; 4] = [0x05, 0x06, 0x15, 0x16];

/// One request.
pub fn request(random: &mut Random, style: Style) -> Vec<u8> {
    let others: &[u8] = if style.counts { &GETS } else { &COUNTS };
    let mut parts = right(random);
    while others.contains(&parts.opcode)
        || is_blank(&parts.value)
        || style.patch < NEWEST && parts.has_largest()
    {
        parts = right(random);
    }
    if style.patch >= OLDEST && random.once_in(8) {
        spoil(random, &mut parts, style.patch);
    }
    written(random, &parts)
}

/// Makes it a wrong one, of the kinds that memcached of this version answers as this server does.
fn spoil(random: &mut Random, parts: &mut Parts, patch: u32) {
    // A stream that begins so is one of lines, which older ones refuse otherwise.
    let kinds = if patch >= NEWEST { 9 } else { 8 };
    match random.below(kinds) {
        // Unknown ones, of which memcached takes a shape for granted.
        0 => {
            parts.opcode = [0x1b, 0x25, 0x30, 0x40, 0xff][random.below(5) as usize];
            parts.extras.clear();
            parts.key.clear();
        }
        1 => {
            let count = random.below(24);
            parts.extras = random.bytes(count);
        }
        2 => parts.key.clear(),
        3 => parts.key = vec![b'k'; 249 + random.below(4) as usize],
        // Without the largest, see `has_largest`.
        4 => parts.value = VALUES[random.below(6) as usize].into(),
        5 | 6 => parts.ignored = [1, random.next() as u8, 0xff],
        7 => parts.missing = parts.value.len() + 1,
        _ => parts.magic = [0, 0x81, 0xff][random.below(3) as usize],
    }
}

/// Reads all keys.
pub fn read() -> Vec<u8> {
    let get = |key: &&str| Parts {
        opcode: GETS[2],
        extras: Vec::new(),
        key: key.as_bytes().to_vec(),
        value: Vec::new(),
        cas: 0,
        magic: MAGIC,
        ignored: [0; 3],
        missing: 0,
    };
    let mut random = Random::new(0);
    let gets = KEYS.iter().map(get);
    gets.flat_map(|parts| written(&mut random, &parts))
        .collect()
}

fn written(random: &mut Random, parts: &Parts) -> Vec<u8> {
    let body = parts.extras.len() + parts.key.len() + parts.value.len();
    let body = body.saturating_sub(parts.missing);
    let mut out = vec![parts.magic, parts.opcode];
    out.extend_from_slice(&(parts.key.len() as u16).to_be_bytes());
    out.extend_from_slice(&[parts.extras.len() as u8]);
    out.extend_from_slice(&parts.ignored);
    out.extend_from_slice(&(body as u32).to_be_bytes());
    out.extend_from_slice(&(random.next() as u32).to_be_bytes());
    out.extend_from_slice(&parts.cas.to_be_bytes());
    out.extend_from_slice(&parts.extras);
    out.extend_from_slice(&parts.key);
    out.extend_from_slice(&parts.value);
    out
}

fn right(random: &mut Random) -> Parts {
    let time = TIMES[random.below(5) as usize].to_be_bytes();
    let mut parts = Parts {
        opcode: 0x0a,
        extras: Vec::new(),
        key: random.of(&KEYS).into(),
        value: Vec::new(),
        // Not what an item may have.
        cas: if random.once_in(8) { u64::MAX } else { 0 },
        magic: MAGIC,
        ignored: [0; 3],
        missing: 0,
    };
    match random.below(14) {
        0..=2 => parts.opcode = [0x00, 0x09, 0x0c, 0x0d][random.below(4) as usize],
        3..=5 => {
            parts.opcode = [0x01, 0x02, 0x03, 0x11, 0x12, 0x13][random.below(6) as usize];
            parts.extras = [&[0, 0, 0, 7], &time[..]].concat();
            parts.value = value(random);
        }
        6 => {
            parts.opcode = [0x0e, 0x0f, 0x19, 0x1a][random.below(4) as usize];
            parts.value = value(random);
        }
        7 => parts.opcode = [0x04, 0x14][random.below(2) as usize],
        8 | 9 => {
            parts.opcode = [0x05, 0x06, 0x15, 0x16][random.below(4) as usize];
            let delta = [0_u64, 1, 5, 90, u64::MAX][random.below(5) as usize];
            let initial = [0_u64, 7, u64::MAX][random.below(3) as usize];
            let time = if random.once_in(2) { [0xff; 4] } else { time };
            parts.extras = [&delta.to_be_bytes()[..], &initial.to_be_bytes(), &time].concat();
        }
        10 => {
            parts.opcode = [0x1c, 0x1d, 0x1e, 0x23, 0x24][random.below(5) as usize];
            parts.extras = time.to_vec();
        }
        11 if random.once_in(3) => {
            parts.opcode = [0x08, 0x18][random.below(2) as usize];
            parts.extras = if random.once_in(2) {
                vec![0; 4]
            } else {
                Vec::new()
            };
            parts.key.clear();
        }
        12 if random.once_in(10) => {
            parts.opcode = [0x07, 0x17][random.below(2) as usize];
            parts.key.clear();
        }
        _ => {
            parts.opcode = [0x0a, 0x0b][random.below(2) as usize];
            parts.key.clear();
        }
    }
    parts
}

fn value(random: &mut Random) -> Vec<u8> {
    if random.once_in(6) {
        let count = random.below(2000);
        return random.bytes(count);
    }
    random.of(&VALUES).into()
}
