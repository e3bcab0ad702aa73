//! `get`, `gets`, `gat`, `gats`.
//!
//! Keys of one get, and of gets that arrived together, are read in waves, so that their cache
//! misses overlap. An answer with many values is written in parts: if the output is full, the rest
//! waits until the client has fetched some, and the request stays in the input until then.

use tavola::{Details, Result};
use tavola_proto::text::{Get, answer};

use crate::memcached::exptime;
use crate::memcached::tally::Event;
use crate::memcached::work::{WAVE, Work};
use crate::net::Output;

/// The most bytes of an item's line beside its key and value.
const LINE_BYTES: usize = 64;

/// The keys that are read together.
pub(in crate::memcached) struct Wave<'a> {
    keys: [&'a [u8]; WAVE],
    asked: [Asked; WAVE],
    count: usize,
}

/// The options of the get that a key belongs to.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    with_cas: bool,
    /// Whether the key is the last one of its request.
    ends: bool,
}

/// The number of answered keys of a request whose answer is not complete.
pub(in crate::memcached) type Left = usize;

impl<'a> Wave<'a> {
    pub(in crate::memcached) fn new() -> Self {
        Self {
            keys: [&[]; WAVE],
            asked: [Asked::default(); WAVE],
            count: 0,
        }
    }

    /// Takes the keys of a request after the first `answered`, and reads those that fill a wave.
    /// Returns the number of answered keys if the output is full before the end.
    pub(in crate::memcached) fn take(
        &mut self,
        work: &mut Work,
        get: &Get<'a>,
        answered: Left,
        output: &mut Output,
    ) -> Result<Option<Left>> {
        let mut keys = get.keys.clone().enumerate().skip(answered).peekable();
        while let Some((number, key)) = keys.next() {
            if self.count >= work.wave {
                self.read(work, output)?;
                if output.is_full() {
                    return Ok(Some(number));
                }
            }
            self.keys[self.count] = key;
            self.asked[self.count] = Asked {
                with_cas: get.with_cas,
                ends: keys.peek().is_none(),
            };
            self.count += 1;
        }
        Ok(None)
    }

    /// Reads the keys and writes their answers.
    pub(in crate::memcached) fn read(
        &mut self,
        work: &mut Work,
        output: &mut Output,
    ) -> Result<()> {
        let count = std::mem::take(&mut self.count);
        let before = output.len();
        match count {
            0 => return Ok(()),
            1 => read_one(work, self.keys[0], self.asked[0], output)?,
            _ => {
                let mut written = Ok(());
                let keys = &self.keys[..count];
                work.table().get_many_entries(keys, |at, entry| {
                    if written.is_ok() {
                        written = write_answer(work, output, keys[at], self.asked[at], entry);
                    }
                })?;
                written?;
            }
        }
        work.fit_wave(count, output.len() - before);
        Ok(())
    }
}

/// Reads the only key of a request that nothing else waits for.
pub(in crate::memcached) fn get_alone(
    work: &mut Work,
    key: &[u8],
    with_cas: bool,
    output: &mut Output,
) -> Result<()> {
    let asked = Asked {
        with_cas,
        ends: true,
    };
    let before = output.len();
    read_one(work, key, asked, output)?;
    work.fit_wave(1, output.len() - before);
    Ok(())
}

fn read_one(work: &mut Work, key: &[u8], asked: Asked, output: &mut Output) -> Result<()> {
    let mut value = work.borrow_value();
    let found = work.table().get_entry_into(key, &mut value);
    let written = found.and_then(|found| {
        let entry = found.map(|had| (&value[..], had));
        write_answer(work, output, key, asked, entry)
    });
    work.give_back(value);
    written
}

/// Writes the value if one was found, and the end of the answer after the last key.
fn write_answer(
    work: &Work,
    output: &mut Output,
    key: &[u8],
    asked: Asked,
    entry: Option<(&[u8], Details)>,
) -> Result<()> {
    match entry {
        Some((value, details)) => {
            work.count(Event::GetHit);
            work.fetched(key, Some(value.len()));
            work.used(key, &details);
            item(work, output, key, asked.with_cas, value, details)?;
        }
        None => {
            work.count(Event::GetMiss);
            work.fetched(key, None);
        }
    }
    if asked.ends {
        output.extend(answer::END);
    }
    Ok(())
}

fn item(
    work: &Work,
    output: &mut Output,
    key: &[u8],
    with_cas: bool,
    value: &[u8],
    details: Details,
) -> Result<()> {
    let cas = if with_cas {
        Some(work.cas_of(&details, value)?)
    } else {
        None
    };
    let out = output.room(key.len() + value.len() + LINE_BYTES);
    answer::value(out, key, details.attributes.flags, value, cas);
    Ok(())
}

/// Reads the keys one by one and gives them another expiry time; returns the same as
/// [`Wave::take`].
pub(in crate::memcached) fn get_and_touch(
    work: &mut Work,
    get: &Get<'_>,
    answered: Left,
    exptime: i32,
    output: &mut Output,
) -> Result<Option<Left>> {
    let expiry = exptime::signed(exptime);
    let mut value = work.borrow_value();
    for (number, key) in get.keys.clone().enumerate().skip(answered) {
        if output.is_full() {
            work.give_back(value);
            return Ok(Some(number));
        }
        match work.table().get_and_touch_into(key, expiry, &mut value)? {
            Some(details) => {
                work.count(Event::TouchHit);
                work.fetched(key, Some(value.len()));
                work.used(key, &details);
                item(work, output, key, get.with_cas, &value, details)?;
            }
            None => {
                work.count(Event::TouchMiss);
                work.fetched(key, None);
            }
        }
    }
    work.give_back(value);
    output.extend(answer::END);
    Ok(None)
}
