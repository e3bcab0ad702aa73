//! Random lines: classic and meta commands.

use super::random::Random;
use super::{NEWEST, OLDEST, Style, wrong};

const KEYS: [&str; 7] = ["a", "b", "key", "n", "Zm9v", "foo", "x:y"];
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "9",
    "10",
    "99",
    "100",
    "007",
    "12 ",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    " 5",
];
/// Never so short that a second matters.
const TIMES: [&str; 7] = ["0", "100", "5000", "2592000", "-1", "2592001", "2000000000"];
/// Not what an item has for its unique number, unless a client has chosen it.
const CAS: [&str; 4] = [
    "4611686018427387904",
    "9223372036854775809",
    "18446744073709551614",
    "18446744073709551615",
];
/// Times that have passed: what is left of them is answered as a number without a meaning.
const PASSED: [&str; 2] = ["-1", "2592001"];
const LONGEST_KEY: usize = 250;
pub const STORES: [&str; 5] = ["set", "add", "replace", "append", "prepend"];

/// One request, with its data.
pub fn request(random: &mut Random, style: Style) -> Vec<u8> {
    loop {
        let fits = |request: &[u8]| fits(request, style);
        let request = if random.once_in(4) {
            wrong::request(random, style.patch, fits)
        } else {
            Some(right(random)).filter(|request| fits(request))
        };
        if let Some(request) = request {
            return request;
        }
    }
}

/// Reads all keys.
pub fn read() -> Vec<u8> {
    format!("gets {}\r\n", KEYS.join(" ")).into_bytes()
}

/// Whether it has the largest number. Older ones look for a sign in numbers from 2^63 on, and
/// beyond the end of what is stored, so that it is chance what they answer.
pub fn has_largest(request: &[u8]) -> bool {
    let largest = b"18446744073709551615";
    request.windows(largest.len()).any(|bytes| bytes == largest)
}

/// Whether a value is spaces alone. To count with it memcached looks for a number behind them,
/// where what was stored before may still stand.
pub fn is_blank(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| b"\t\n\x0b\x0c\r ".contains(byte))
}

/// Whether a request is of this style, and of a kind that is answered alike.
fn fits(request: &[u8], style: Style) -> bool {
    if style.patch < NEWEST && has_largest(request) {
        return false;
    }
    let end = request.iter().position(|byte| *byte == b'\n');
    let (line, data) = request.split_at(end.unwrap_or(request.len()));
    let data = data.strip_prefix(b"\n").unwrap_or(data);
    if is_blank(data.strip_suffix(b"\r\n").unwrap_or(data)) {
        return false;
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let is_of_style = match words[0] {
        // One key that is too long is answered by one line here, by another empty one there.
        b"get" | b"gets" | b"gat" | b"gats" => {
            let is_whole = request.ends_with(b"\r\n");
            !style.counts && is_whole && words.iter().all(|word| word.len() <= LONGEST_KEY)
        }
        b"mg" => !style.counts,
        // More words are refused here, among them those of the next line where this has no end.
        b"delete" => words.len() <= 5 && request.ends_with(b"\n"),
        // It flushes this second there.
        b"flush_all" => words.get(1).is_none_or(|delay| !delay.ends_with(b"1")),
        b"incr" | b"decr" | b"ma" => style.counts,
        _ => true,
    };
    is_of_style && is_known(&words, style.patch)
}

/// Whether memcached of this version knows the flags of a meta command, and takes them so.
fn is_known(words: &[&[u8]], patch: u32) -> bool {
    let flags = words.get(2..).unwrap_or_default();
    let has = |letters: &[u8]| {
        let letter = |word: &&[u8]| word.first().is_some_and(|letter| letters.contains(letter));
        flags.iter().any(letter)
    };
    // A number that becomes longer is a new item there, which forgets the time that is given.
    let forgets = flags.iter().any(|word| is_over(word));
    match (words[0], patch) {
        (b"me", _) => false,
        (b"ma", NEWEST..) => !has(b"E") && !forgets,
        (_, NEWEST..) => true,
        (b"mg" | b"ms" | b"md" | b"ma", ..OLDEST) => false,
        (b"mg", _) => !has(b"CuE"),
        (b"ms", _) => !has(b"sEN"),
        (b"md", _) => !has(b"bxTFE"),
        (b"ma", _) => !has(b"qE") && !forgets,
        _ => true,
    }
}

/// Whether this is the flag `T` with a time that has passed, or may have.
fn is_over(word: &[u8]) -> bool {
    let Some(digits) = word.strip_prefix(b"T") else {
        return false;
    };
    let digits = str::from_utf8(digits).unwrap_or_default();
    digits.starts_with('-') || digits.len() > 6 && !digits.starts_with("20")
}

/// One that is as it should be.
pub fn right(random: &mut Random) -> Vec<u8> {
    let key = random.of(&KEYS);
    let noreply = if random.once_in(6) { " noreply" } else { "" };
    match random.below(16) {
        0 | 1 => {
            let verb = random.of(&["get", "gets"]);
            let more = (0..random.below(4)).map(|_| format!(" {}", random.of(&KEYS)));
            format!("{verb} {key}{}\r\n", more.collect::<String>()).into_bytes()
        }
        2 => {
            let verb = random.of(&["gat", "gats"]);
            let other = random.of(&KEYS);
            format!("{verb} {} {key} {other}\r\n", random.of(&TIMES)).into_bytes()
        }
        3..=6 => {
            let (verb, time, value) = (random.of(&STORES), random.of(&TIMES), value(random));
            let head = format!(
                "{verb} {key} {} {time} {}{noreply}",
                flags(random),
                value.len()
            );
            block(&head, &value)
        }
        7 => {
            let (cas, value) = (random.of(&CAS), value(random));
            let head = format!(
                "cas {key} {} 0 {} {cas}{noreply}",
                flags(random),
                value.len()
            );
            block(&head, &value)
        }
        8 | 9 => {
            let verb = random.of(&["incr", "decr"]);
            let delta = random.of(&["0", "1", "5", "90", "18446744073709551615"]);
            format!("{verb} {key} {delta}{noreply}\r\n").into_bytes()
        }
        10 => format!("touch {key} {}{noreply}\r\n", random.of(&TIMES)).into_bytes(),
        11 => format!("delete {key}{noreply}\r\n").into_bytes(),
        12 => {
            let line = random.of(&["version", "verbosity 0", "flush_all", "flush_all 0", "mn"]);
            format!(
                "{line}{}\r\n",
                if line == "verbosity 0" { noreply } else { "" }
            )
            .into_bytes()
        }
        _ => meta(random, key),
    }
}

fn flags(random: &mut Random) -> u32 {
    [0, 7, u32::MAX][random.below(3) as usize]
}

fn block(head: &str, data: &[u8]) -> Vec<u8> {
    [head.as_bytes(), b"\r\n", data, b"\r\n"].concat()
}

fn value(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0..=3 => random.of(&NUMBERS).as_bytes().to_vec(),
        4 => b"\r\nset a 0 0 1\r\n".to_vec(),
        5 => {
            let count = random.below(3000);
            random.bytes(count)
        }
        _ => {
            let count = random.below(12);
            random.bytes(count)
        }
    }
}

/// The flags of facts and of requests for any of them, each letter once.
fn meta(random: &mut Random, key: &str) -> Vec<u8> {
    let verb = random.of(&["mg", "mg", "ms", "ms", "md", "ma", "ma"]);
    let letters = match verb {
        "mg" => "bcfhklqstuvTNRCEO",
        "ms" => "bckqsFTCEIMNOv",
        "md" => "bkqCEIOxTF",
        _ => "bckqtvTCDEJMNO",
    };
    let mut words = Vec::new();
    for letter in letters.chars() {
        if random.once_in(3) {
            words.push(format!(" {letter}{}", argument(random, verb, letter)));
        }
    }
    // They work in their order, and are answered in it.
    let passes = |word: &String| PASSED.contains(&&word[2..]);
    if !words.iter().any(passes) {
        for at in 1..words.len() {
            words.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
    let words = words.concat();
    if verb == "ms" {
        let value = value(random);
        return block(&format!("ms {key} {}{words}", value.len()), &value);
    }
    format!("{verb} {key}{words}\r\n").into_bytes()
}

fn argument(random: &mut Random, verb: &str, letter: char) -> &'static str {
    match (verb, letter) {
        (_, 'T' | 'N' | 'R') => random.of(&TIMES),
        (_, 'C') => random.of(&CAS),
        (_, 'E') => random.of(&CAS[..3]),
        (_, 'F') => random.of(&["0", "7", "4294967295"]),
        (_, 'D' | 'J') => random.of(&["0", "1", "12", "18446744073709551615"]),
        ("ms", 'M') => random.of(&["S", "E", "R", "A", "P", "s", "e", "r", "a", "p"]),
        (_, 'M') => random.of(&["I", "D", "i", "d", "+", "-"]),
        (_, 'O') => random.of(&["123", "abc", "c9", "t5"]),
        _ => "",
    }
}
