//! The jobs of memcached's crawler: dumps of the keys, and the search for expired ones.
//!
//! A dump is a scan of the table that continues whenever its client has fetched the lines written
//! so far. Between two steps it holds a chunk of the table and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, UNIX_EPOCH};

use tavola::{Cursor, Expiry, Result};
use tavola_proto::text::answer::{self, Item};
use tavola_proto::{is_word, meta};

use super::exptime;
use super::marks::{self, FETCHED};
use super::work::Work;
use crate::net::Output;

/// The most dumps that are under way at once.
const MOST: usize = 4;
/// The number of keys that one step reads.
const STEP: usize = 512;
/// The number of classes, which is above the number of each, as in memcached.
pub(super) const CLASSES: u32 = 64;
/// The most bytes of a line beside its key, which may be three times as long in it.
const LINE_BYTES: usize = 256;

/// The state of the crawler.
#[derive(Debug)]
pub(super) struct Crawler {
    is_on: AtomicBool,
    pub(super) sleep_us: AtomicU32,
    pub(super) to_crawl: AtomicU32,
    starts: AtomicU64,
    running: AtomicUsize,
}

impl Default for Crawler {
    fn default() -> Self {
        Self {
            is_on: AtomicBool::new(true),
            sleep_us: AtomicU32::new(100),
            to_crawl: AtomicU32::new(0),
            starts: AtomicU64::new(0),
            running: AtomicUsize::new(0),
        }
    }
}

/// The right to one of the few dumps that may be under way. Dropping it gives it back.
#[derive(Debug)]
struct Turn(Arc<Crawler>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Relaxed);
    }
}

impl Crawler {
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    /// Turns the crawler on or off. Returns whether that was a change.
    pub(super) fn turn(&self, is_on: bool) -> bool {
        self.is_on.swap(is_on, Relaxed) != is_on
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.load(Relaxed) > 0
    }

    pub(super) fn starts(&self) -> u64 {
        self.starts.load(Relaxed)
    }

    /// Counts one more search for expired keys.
    pub(super) fn start(&self) {
        self.starts.fetch_add(1, Relaxed);
    }

    fn begin(self: &Arc<Self>) -> Option<Turn> {
        if self.running.fetch_add(1, Relaxed) >= MOST {
            self.running.fetch_sub(1, Relaxed);
            return None;
        }
        self.start();
        Some(Turn(Arc::clone(self)))
    }
}

/// Some of the size classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Classes(u64);

impl Classes {
    pub(super) const ALL: Self = Self(u64::MAX);

    pub(super) fn one(number: u32) -> Self {
        Self(1 << number)
    }

    /// Reads numbers with commas between them. Returns `None` if one of them is invalid.
    pub(super) fn read(words: &[u8]) -> Option<Self> {
        let mut classes = 0;
        for word in words.split(|byte| *byte == b',') {
            if word.is_empty() {
                continue;
            }
            let number: u32 = str::from_utf8(word).ok()?.parse().ok()?;
            if !(1..CLASSES).contains(&number) {
                return None;
            }
            classes |= 1 << number;
        }
        Some(Self(classes))
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, number: u32) -> bool {
        number < CLASSES && self.0 & 1 << number != 0
    }
}

/// The form in which keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `lru_crawler metadump`.
    Meta,
    /// `lru_crawler mgdump`.
    Mg,
    /// `stats cachedump`.
    Cache,
}

/// A dump under way.
#[derive(Debug)]
pub(super) struct Dump {
    cursor: Cursor,
    form: Form,
    classes: Classes,
    /// The number of keys that are still wanted.
    left: u64,
    _turn: Turn,
}

impl Dump {
    /// Begins a dump. Returns `None` if too many dumps are under way.
    pub(super) fn begin(
        crawler: &Arc<Crawler>,
        form: Form,
        classes: Classes,
        limit: u64,
    ) -> Option<Box<Self>> {
        Some(Box::new(Self {
            _turn: crawler.begin()?,
            cursor: Cursor::default(),
            form,
            classes,
            left: limit,
        }))
    }

    /// Writes as many lines as there is room for and other connections can wait for. Returns
    /// whether the dump is complete.
    pub(super) fn write_part(&mut self, work: &Work, output: &mut Output) -> Result<bool> {
        let now_s = exptime::now_s();
        let mut entries = work.table().resume(std::mem::take(&mut self.cursor));
        for _ in 0..STEP {
            if output.is_full() {
                break;
            }
            let next = if self.left > 0 {
                entries.next_with_class()?
            } else {
                None
            };
            let Some(((key, value, attributes), class)) = next else {
                output.extend(match self.form {
                    Form::Mg => meta::answer::MISS,
                    Form::Meta | Form::Cache => answer::END,
                });
                return Ok(true);
            };
            if !self.classes.has(class) {
                continue;
            }
            let (cas, marks) = match self.form {
                Form::Meta => beside(work, key)?,
                Form::Mg | Form::Cache => (0, 0),
            };
            let item = Item {
                key,
                size_bytes: value.len(),
                expires_s: expires_s(attributes.expiry, now_s),
                flags: attributes.flags,
                class,
                cas,
                used_s: marks::used_s(marks, now_s),
                is_fetched: marks & FETCHED != 0,
            };
            self.left -= u64::from(write_line(self.form, &item, output));
        }
        self.cursor = entries.pause();
        Ok(false)
    }
}

/// Returns the unique number of a key and its marks, which a scan does not return. Returns 0 for
/// both if the key is missing by now.
fn beside(work: &Work, key: &[u8]) -> Result<(u64, u32)> {
    let found = work.table().get_entry_to_slice(key, &mut [])?;
    if let Some((_, details)) = found.filter(|(_, details)| details.version != 0) {
        return Ok((details.version, details.marks));
    }
    // Without versions the unique number is a hash of the value.
    let mut value = Vec::new();
    match work.table().get_entry_into(key, &mut value)? {
        Some(details) => Ok((work.cas_of(&details, &value)?, details.marks)),
        None => Ok((0, 0)),
    }
}

/// Writes a line if a client could ask for the key. Returns whether it did.
fn write_line(form: Form, item: &Item<'_>, output: &mut Output) -> bool {
    let out = output.room(3 * item.key.len() + LINE_BYTES);
    match form {
        Form::Meta => answer::metadump(out, item),
        Form::Mg => return meta::ask::get(out, item.key, &meta::ask::Flags::default()).is_ok(),
        Form::Cache if is_word(item.key) => {
            let expires_s = item.expires_s.unwrap_or(0);
            answer::dumped(out, item.key, item.size_bytes, expires_s);
        }
        Form::Cache => return false,
    }
    true
}

/// Returns the second since 1970 in which a key expires, or `None` if it does not.
fn expires_s(expiry: Expiry, now_s: u64) -> Option<u64> {
    match expiry {
        Expiry::After(left) => {
            let left = left.saturating_add(Duration::from_millis(500));
            Some(now_s.saturating_add(left.as_secs()))
        }
        Expiry::At(time) => {
            let time = time.duration_since(UNIX_EPOCH);
            Some(time.map_or(0, |time| time.as_secs()))
        }
        Expiry::Default | Expiry::Never => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_numbers_with_commas() {
        assert_eq!(Classes::read(b"1,,63"), Some(Classes(1 << 1 | 1 << 63)));
        assert!(Classes::read(b",").is_some_and(Classes::is_empty));
        for wrong in [&b"0"[..], b"64", b"1,x", b"-1", b"99999999999", b"all"] {
            assert_eq!(Classes::read(wrong), None, "{wrong:?}");
        }
        assert!(Classes::ALL.has(1) && Classes::ALL.has(63) && !Classes::ALL.has(64));
    }

    #[test]
    fn only_a_few_dumps_run_at_once() {
        let crawler = Arc::<Crawler>::default();
        let begin = || Dump::begin(&crawler, Form::Meta, Classes::ALL, u64::MAX);
        let dumps: Vec<_> = (0..MOST).map(|_| begin().expect("begun")).collect();
        assert!(begin().is_none());
        drop(dumps);
        assert!(!crawler.is_running());
        assert!(begin().is_some());
        assert_eq!(crawler.starts(), MOST as u64 + 1);
    }
}
