//! Wrong lines, a kind at a time: the newest memcached refuses some otherwise than older ones do.

use super::random::Random;
use super::text::{STORES, right};
use super::{NEWEST, OLDEST};

/// A kind of wrong requests.
struct Kind {
    /// The first memcached 1.6 that answers them as this server does.
    since: u32,
    /// One of them.
    make: fn(&mut Random) -> Vec<u8>,
}

const KINDS: [Kind; 13] = [
    kind(OLDEST, unknown),
    kind(OLDEST, long_key),
    kind(OLDEST, no_number),
    kind(OLDEST, wrong_flags),
    kind(OLDEST, longer_data),
    kind(OLDEST, administration),
    // Older ones refuse too few words and too many, and read the data of what is refused as lines.
    kind(NEWEST, any_words),
    kind(NEWEST, any_words),
    kind(NEWEST, other_size),
    kind(NEWEST, long_key_with_data),
    kind(NEWEST, other_byte),
    kind(NEWEST, missing_byte),
    kind(NEWEST, byte_twice),
];

const fn kind(since: u32, make: fn(&mut Random) -> Vec<u8>) -> Kind {
    Kind { since, make }
}

/// A wrong request, where the memcached beside this server answers its kind alike. What the newest
/// alone answers so may also be right by chance, and has to fit.
pub fn request(random: &mut Random, patch: u32, fits: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let kind = &KINDS[random.below(KINDS.len() as u64) as usize];
    if kind.since > patch {
        return None;
    }
    let request = (kind.make)(random);
    (kind.since < NEWEST || fits(&request)).then_some(request)
}

/// Commands that there are not.
fn unknown(random: &mut Random) -> Vec<u8> {
    let name = random.of(&[
        "foo", "GET", "Set", "getx", "mz", "abc", "mgx", "get\ta", "\x7f\0x",
    ]);
    let count = random.below(4);
    let words: Vec<&str> = (0..count)
        .map(|_| random.of(&["a", "0", "", "v"]))
        .collect();
    format!("{name} {}\r\n", words.join(" ")).into_bytes()
}

/// Keys that are too long, or nearly so.
fn long_key(random: &mut Random) -> Vec<u8> {
    let key = "k".repeat(249 + random.below(4) as usize);
    let noreply = if random.once_in(6) { " noreply" } else { "" };
    match random.below(7) {
        0 => format!("delete {key}{noreply}\r\n"),
        1 => format!("incr {key} 1{noreply}\r\n"),
        2 => format!("decr {key} x{noreply}\r\n"),
        3 => format!("touch {key} 0{noreply}\r\n"),
        4 => format!("mg {key} v k\r\n"),
        5 => format!("md {key} q\r\n"),
        // What it returns of an item is not the same.
        _ => format!("me kk{key}\r\n"),
    }
    .into_bytes()
}

/// Other words where a number is to be.
fn no_number(random: &mut Random) -> Vec<u8> {
    let word = random.of(&["x", "1x", "x1", "0x1", "1.5", "18446744073709551616"]);
    let noreply = if random.once_in(6) { " noreply" } else { "" };
    match random.below(6) {
        0 => format!("incr n {word}{noreply}\r\n"),
        1 => format!("decr n -1{noreply}\r\n"),
        2 => format!("touch a {word}{noreply}\r\n"),
        3 => format!("{} {word} a b\r\n", random.of(&["gat", "gats"])),
        4 => format!("verbosity {word}{noreply}\r\n"),
        _ => format!("flush_all {word}{noreply}\r\n"),
    }
    .into_bytes()
}

/// Meta commands with one wrong flag. Those of `md` are distinguished by the newest alone.
fn wrong_flags(random: &mut Random) -> Vec<u8> {
    let (head, data) = random.of(&[&("mg a", ""), &("ms a 2", "12\r\n"), &("ma a", "")]);
    let long = format!("O{}", "o".repeat(40));
    let wrong = match random.below(6) {
        0 => random.of(&["A", "H", "Z1", "d", "e", "z", "0", "9x"]),
        1 => random.of(&["k v k", "c c", "O1 O2", "q t q", "T0 v T0"]),
        2 => random.of(&["C", "Cx", "C1x", "D", "Dx", "J-1", "J18446744073709551616"]),
        3 => random.of(&[
            "T",
            "Tx",
            "N1x",
            "N",
            "R",
            "Rx",
            "R18446744073709551616",
            "F",
            "Fx",
        ]),
        4 => "b",
        // These are known to one of them, or found too long when it has counted.
        _ if *head == "mg a" => &long,
        _ => "MX",
    };
    let right = random.of(&["", "s ", "f s "]);
    format!("{head} {right}{wrong}\r\n{data}").into_bytes()
}

/// Data that continues behind its end, as a command that there is not.
fn longer_data(random: &mut Random) -> Vec<u8> {
    let (verb, size) = (random.of(&STORES), random.below(5));
    let noreply = if random.once_in(6) { " noreply" } else { "" };
    match random.below(4) {
        0 => format!("ms a {size} c\r\nabcdefghijkl\r\n"),
        1 => format!("cas a 0 0 {size} 1{noreply}\r\nabcdefghijkl\r\n"),
        _ => format!("{verb} a 0 0 {size}{noreply}\r\nabcdefghijkl\r\n"),
    }
    .into_bytes()
}

/// Commands about the server, of which it has no such form.
fn administration(random: &mut Random) -> Vec<u8> {
    let line = random.of(&[
        "stats x",
        "stats noreply",
        "stats detail",
        "stats detail x",
        "stats cachedump",
        "stats cachedump 1",
        "stats cachedump x 1",
        "stats cachedump 99 1",
        "lru_crawler",
        "lru_crawler x",
        "lru_crawler sleep",
        "lru_crawler sleep x",
        "lru_crawler sleep 9999999",
        "lru_crawler tocrawl -1",
        "lru_crawler crawl x",
        "lru_crawler enable x",
        "lru",
        "lru mode x",
        "lru tune 1 2",
        "slabs",
        "slabs x",
        "slabs reassign 1",
        "slabs automove x",
        "cache_memlimit",
        "cache_memlimit x",
        "misbehave",
    ]);
    format!("{line}\r\n").into_bytes()
}

/// Words of any command in any order.
fn any_words(random: &mut Random) -> Vec<u8> {
    let count = random.below(8);
    let words: Vec<&str> = (0..count).map(|_| word(random)).collect();
    format!("{}\r\n", words.join(" ")).into_bytes()
}

/// A length that is not that of the data.
fn other_size(random: &mut Random) -> Vec<u8> {
    let size = random.of(&["0", "1", "2", "5", "-1", "x"]);
    format!("{} a 0 0 {size}\r\nabc\r\n", random.of(&STORES)).into_bytes()
}

fn long_key_with_data(random: &mut Random) -> Vec<u8> {
    let key = "k".repeat(249 + random.below(4) as usize);
    match random.below(4) {
        0 => format!("set {key} 0 0 1\r\nx\r\n"),
        1 => format!("ms {key} 1\r\nx\r\n"),
        2 => format!("cas {key} 0 0 1 1\r\nx\r\n"),
        _ => format!("ma {key}\r\n"),
    }
    .into_bytes()
}

/// One that is to become wrong. Of an `ms` whose data is wrong memcached gives the number of its
/// flag `E` to what the connection stores next.
fn nearly_right(random: &mut Random) -> Vec<u8> {
    loop {
        let request = right(random);
        let has_number = |pair: &[u8]| pair == b" E";
        if !request.starts_with(b"ms ") || !request.windows(2).any(has_number) {
            return request;
        }
    }
}

fn other_byte(random: &mut Random) -> Vec<u8> {
    let mut request = nearly_right(random);
    let at = random.below(request.len() as u64) as usize;
    request[at] = match random.below(4) {
        0 => b' ',
        1 => b'0',
        2 => random.next() as u8 & 0x7f,
        _ => b'x',
    };
    request
}

fn missing_byte(random: &mut Random) -> Vec<u8> {
    let mut request = nearly_right(random);
    let at = random.below(request.len() as u64) as usize;
    request.remove(at);
    request
}

fn byte_twice(random: &mut Random) -> Vec<u8> {
    let mut request = nearly_right(random);
    let at = random.below(request.len() as u64) as usize;
    request.insert(at, request[at]);
    request
}

/// Those whose answers say what kind of memory there is stand in other tests.
fn word(random: &mut Random) -> &'static str {
    random.of(&[
        "get",
        "gets",
        "gat",
        "set",
        "add",
        "cas",
        "incr",
        "decr",
        "touch",
        "delete",
        "mg",
        "ms",
        "md",
        "ma",
        "mn",
        "version",
        "verbosity",
        "flush_all",
        "lru_crawler sleep",
        "lru_crawler tocrawl",
        "slabs",
        "lru",
        "mode",
        "stats x",
        "stats detail",
        "stats cachedump",
        "a",
        "b",
        "0",
        "1",
        "-1",
        "7",
        "100",
        "noreply",
        "v",
        "k",
        "q",
        "h",
        "I",
        "N30",
        "R30",
        "E7",
        "b",
        "T100",
        "F7",
        "O1",
        "99999999999",
        "18446744073709551616",
        "x",
        "",
        "xyz",
    ])
}
