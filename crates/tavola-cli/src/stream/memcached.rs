//! The text of `memcached-tool HOST dump`: commands of memcached's protocol that store.
//!
//! ```text
//! add KEY FLAGS EXPIRY LENGTH     then \r\n, LENGTH bytes and \r\n; `set` is read as well
//! ```
//!
//! The expiry is in seconds since 1970, 0 for none; to load, also seconds from now, 30 days of them
//! at most, as in the protocol. Keys have 1 to 250 bytes, without spaces and control bytes. Tags
//! are left out.

use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{BadInput, Batch, Beside, Sink, Source, read_exactly, read_line};

const LONGEST_KEY: usize = 250;
/// What is not more than these seconds counts from now.
const LONGEST_RELATIVE: i64 = 30 * 24 * 3600;

/// Writes `add`.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        Writer { out }
    }
}

fn is_key(key: &[u8]) -> bool {
    let is_part = |byte: &u8| *byte > b' ' && *byte != 0x7f;
    (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(is_part)
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], beside: &Beside) -> io::Result<()> {
        if !is_key(key) {
            let why = format!(
                "memcached has no key as \"{}\": 1 to {LONGEST_KEY} bytes without spaces and \
                control bytes; use another format",
                key.escape_ascii()
            );
            return Err(io::Error::other(why));
        }
        // A value lives a little longer rather than shorter.
        let expiry = beside.expires.map_or(0, |time| time.div_ceil(1000));
        self.out.write_all(b"add ")?;
        self.out.write_all(key)?;
        write!(self.out, " {} {expiry} {}\r\n", beside.flags, value.len())?;
        self.out.write_all(value)?;
        self.out.write_all(b"\r\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads `add` and `set`.
pub struct Reader<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
    value: Vec<u8>,
    /// Seconds since 1970.
    now: i64,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Reader {
            input,
            number: 0,
            line: Vec::new(),
            value: Vec::new(),
            now: now.map_or(0, |now| now.as_secs() as i64),
        }
    }

    fn bad(&self, why: &str) -> BadInput {
        BadInput::Document {
            why: format!("command {}: {why}", self.number),
        }
    }

    /// Returns when a key with that expiry expires, in seconds since 1970, or `None` if never.
    fn expires(&self, expiry: i64) -> Option<i64> {
        match expiry {
            0 => None,
            ..0 => Some(0),
            1..=LONGEST_RELATIVE => Some(self.now + expiry),
            time => Some(time),
        }
    }
}

/// Key, flags, expiry and length of a command.
fn parse(line: &[u8]) -> Option<(&[u8], u32, i64, u64)> {
    let mut words = line.split(|byte| *byte == b' ');
    let verb = words.next()?;
    let key = words.next().filter(|key| is_key(key))?;
    let mut text = || std::str::from_utf8(words.next()?).ok();
    let (flags, expiry) = (text()?.parse().ok()?, text()?.parse().ok()?);
    let length: u32 = text()?.parse().ok()?;
    let is_whole = matches!(verb, b"add" | b"set") && words.next().is_none();
    is_whole.then_some((key, flags, expiry, u64::from(length)))
}

/// Returns whether text begins as a dump does.
pub fn is_meant(first: &[u8]) -> bool {
    let line = first
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    parse(line.strip_suffix(b"\r").unwrap_or(line)).is_some()
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        loop {
            self.number += 1;
            if !read_line(&mut self.input, &mut self.line)? {
                return Ok(false);
            }
            let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            let Some((key, flags, expiry, length)) = parse(line) else {
                return Err(self.bad("not as in add KEY FLAGS EXPIRY LENGTH"));
            };
            let expires = self.expires(expiry);
            let mut end = Vec::new();
            if !read_exactly(&mut self.input, length, &mut self.value)?
                || !read_line(&mut self.input, &mut end)?
            {
                return Err(self.bad("the value is cut short; fetch or make the dump again"));
            }
            if !matches!(&end[..], b"\r" | b"") {
                return Err(self.bad("the value is longer than the length says"));
            }
            // What has expired already is not stored.
            if expires.is_none_or(|time| time > self.now) {
                let beside = Beside {
                    expires: expires.map(|time| time as u64 * 1000),
                    flags,
                    tags: Vec::new(),
                };
                batch.push(key, &self.value, beside);
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{read, written};
    use super::*;
    use tavola::Expiry;

    #[test]
    fn commands_are_as_documented_and_come_back() {
        let entries = [
            (b"odd".to_vec(), b"1\r\n2".to_vec()),
            (b"even".to_vec(), Vec::new()),
        ];
        let text = written(Format::Memcached, &entries);
        let expected = b"add odd 0 4795000001 4\r\n1\r\n2\r\nadd even 1 0 0\r\n\r\n";
        assert_eq!(text, expected);
        let (read, error) = read(Format::Memcached, &text);
        assert!(error.is_none(), "{error:?}");
        assert_eq!((&read[0].0, &read[0].1), (&entries[0].0, &entries[0].1));
        assert_eq!(read[1].2.flags, 1);
        assert_eq!(read[1].2.expiry, Expiry::Default);
    }

    #[test]
    fn times_are_as_in_the_protocol() {
        let text = b"set a 0 -1 1\r\nx\r\nset b 0 1000000000 1\r\nx\r\nset c 7 60 1\nx\n";
        let (entries, error) = read(Format::Memcached, text);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0].0[..], entries[0].2.flags), (&b"c"[..], 7));
        let Expiry::At(time) = entries[0].2.expiry else {
            panic!("{:?}", entries[0].2)
        };
        let left = time.duration_since(SystemTime::now()).unwrap().as_secs();
        assert!((50..=60).contains(&left), "{left}");
    }

    #[test]
    fn what_is_no_command_is_refused() {
        let cases: [&[u8]; 7] = [
            b"add a 0 0\r\n",
            b"get a\r\n",
            b"add a 0 0 5\r\nabc\r\n",
            b"add a 0 0 1\r\nabc\r\n",
            b"add a 0 0 -1\r\n\r\n",
            b"add  0 0 0\r\n\r\n",
            b"END\r\n",
        ];
        for text in cases {
            assert!(read(Format::Memcached, text).1.is_some(), "{text:?}");
        }
    }

    #[test]
    fn a_key_that_memcached_has_not_is_refused() {
        let mut sink = Writer::new(Vec::new());
        for key in [&b"a b"[..], b"", &[b'k'; 251], b"\x7f"] {
            assert!(sink.entry(key, b"", &Beside::default()).is_err());
        }
        assert!(sink.entry(&[b'k'; 250], b"", &Beside::default()).is_ok());
    }
}
