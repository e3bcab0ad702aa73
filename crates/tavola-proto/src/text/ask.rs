//! Classic commands, appended to what is to be sent. Of one that memcached would not take for what
//! it is nothing is written.

use super::admin::EVENTS;
use super::items::MOST_BYTES;
use super::request::{Count, Detail, LruCrawler, Stats, Store, StoreVerb, Tuned, Watched};
use crate::error::Error;
use crate::key::{self, is_word};
use crate::limits::{KEYS_LINE_BYTES, LINE_BYTES};
use crate::number;

/// Asks for the server's version.
pub const VERSION: &[u8] = b"version\r\n";
/// Ends the connection.
pub const QUIT: &[u8] = b"quit\r\n";

const END: &[u8] = b"\r\n";
const NOREPLY: &[u8] = b" noreply";

/// `get KEY...`, or `gets` that returns the unique numbers.
///
/// # Errors
/// If a key is invalid, or there is no key, or more than a line takes.
pub fn get<K: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    keys: impl IntoIterator<Item = K>,
    with_cas: bool,
) -> Result<(), Error> {
    let name: &[u8] = if with_cas { b"gets" } else { b"get" };
    whole(out, |out, start| {
        out.extend_from_slice(name);
        write_keys(out, start, keys, KEYS_LINE_BYTES)
    })
}

/// `gat EXPTIME KEY...`, or `gats`: a get that gives what it finds a new expiry time. memcached
/// takes lines of 2048 bytes here, unlike those of get.
///
/// # Errors
/// As [`get`].
pub fn get_and_touch<K: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    exptime: i32,
    keys: impl IntoIterator<Item = K>,
    with_cas: bool,
) -> Result<(), Error> {
    let name: &[u8] = if with_cas { b"gats " } else { b"gat " };
    whole(out, |out, start| {
        out.extend_from_slice(name);
        number::write(out, exptime);
        write_keys(out, start, keys, LINE_BYTES)
    })
}

/// The keys and the end of a line that begins at `start`.
fn write_keys<K: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    start: usize,
    keys: impl IntoIterator<Item = K>,
    longest: usize,
) -> Result<(), Error> {
    let before = out.len();
    write_words(out, start, keys, longest, key::check_plain)?;
    if out.len() == before {
        return Err(Error::NoKey);
    }
    end(out, false);
    Ok(())
}

/// `set` and its kin, with the data.
///
/// # Errors
/// If the key is invalid, or the data is too long.
pub fn store(out: &mut Vec<u8>, store: &Store<'_>) -> Result<(), Error> {
    key::check_plain(store.key)?;
    if store.data.len() > MOST_BYTES as usize {
        return Err(Error::LongValue);
    }
    let name: &[u8] = match store.verb {
        StoreVerb::Set => b"set ",
        StoreVerb::Add => b"add ",
        StoreVerb::Replace => b"replace ",
        StoreVerb::Append => b"append ",
        StoreVerb::Prepend => b"prepend ",
        StoreVerb::Cas(_) => b"cas ",
    };
    out.extend_from_slice(name);
    out.extend_from_slice(store.key);
    argument(out, store.flags);
    argument(out, store.exptime);
    argument(out, store.data.len());
    if let StoreVerb::Cas(cas) = store.verb {
        argument(out, cas);
    }
    end(out, store.noreply);
    out.extend_from_slice(store.data);
    out.extend_from_slice(END);
    Ok(())
}

/// `incr` and `decr`.
///
/// # Errors
/// If the key is invalid.
pub fn count(out: &mut Vec<u8>, count: &Count<'_>) -> Result<(), Error> {
    let name: &[u8] = if count.down { b"decr " } else { b"incr " };
    of_key(out, name, count.key)?;
    argument(out, count.delta);
    end(out, count.noreply);
    Ok(())
}

/// `touch`: a new expiry time.
///
/// # Errors
/// If the key is invalid.
pub fn touch(out: &mut Vec<u8>, key: &[u8], exptime: i32, noreply: bool) -> Result<(), Error> {
    of_key(out, b"touch ", key)?;
    argument(out, exptime);
    end(out, noreply);
    Ok(())
}

/// `delete`.
///
/// # Errors
/// If the key is invalid.
pub fn delete(out: &mut Vec<u8>, key: &[u8], noreply: bool) -> Result<(), Error> {
    of_key(out, b"delete ", key)?;
    if key == b"noreply" && !noreply {
        // As the last word it would ask for no answer.
        argument(out, 0);
    }
    end(out, noreply);
    Ok(())
}

/// `flush_all`: all expires, at once for 0.
pub fn flush_all(out: &mut Vec<u8>, delay: i32, noreply: bool) {
    out.extend_from_slice(b"flush_all");
    if delay != 0 {
        argument(out, delay);
    }
    end(out, noreply);
}

/// `verbosity`.
pub fn verbosity(out: &mut Vec<u8>, level: u32, noreply: bool) {
    out.extend_from_slice(b"verbosity");
    argument(out, level);
    end(out, noreply);
}

/// `refresh_certs`.
pub const REFRESH_CERTS: &[u8] = b"refresh_certs\r\n";

/// `stats`, of the topic that is asked for.
///
/// # Errors
/// Where a topic of another name is no word.
pub fn stats(out: &mut Vec<u8>, stats: Stats<'_>) -> Result<(), Error> {
    let topic: &[u8] = match stats {
        Stats::General => b"",
        Stats::Reset => b" reset",
        Stats::Detail(Detail::On) => b" detail on",
        Stats::Detail(Detail::Off) => b" detail off",
        Stats::Detail(Detail::Dump) => b" detail dump",
        Stats::Settings => b" settings",
        Stats::Cachedump { .. } => b" cachedump",
        Stats::Connections => b" conns",
        Stats::Items => b" items",
        Stats::Slabs => b" slabs",
        Stats::Sizes => b" sizes",
        Stats::Other(topic) => return line_of_words(out, b"stats", [topic], false),
    };
    out.extend_from_slice(b"stats");
    out.extend_from_slice(topic);
    if let Stats::Cachedump { class, limit } = stats {
        argument(out, class);
        argument(out, limit);
    }
    end(out, false);
    Ok(())
}

/// `stats` about a topic of any words, as those of later servers are.
///
/// # Errors
/// If one is no word.
pub fn stats_of<W: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    topic: impl IntoIterator<Item = W>,
) -> Result<(), Error> {
    line_of_words(out, b"stats", topic, false)
}

/// `shutdown`, at once or `is_graceful`. Only a refusal is answered.
pub fn shutdown(out: &mut Vec<u8>, is_graceful: bool) {
    let line: &[u8] = if is_graceful {
        b"shutdown graceful\r\n"
    } else {
        b"shutdown\r\n"
    };
    out.extend_from_slice(line);
}

/// `cache_memlimit`.
pub fn cache_memlimit(out: &mut Vec<u8>, mebibytes: u32, noreply: bool) {
    out.extend_from_slice(b"cache_memlimit");
    argument(out, mebibytes);
    end(out, noreply);
}

/// `lru_crawler`.
///
/// # Errors
/// Where the classes are no word.
pub fn lru_crawler(out: &mut Vec<u8>, command: LruCrawler<'_>) -> Result<(), Error> {
    let name = b"lru_crawler";
    let mut buffer = itoa::Buffer::new();
    let (verb, word): (&[u8], &[u8]) = match command {
        LruCrawler::Crawl(classes) => (b"crawl", classes),
        LruCrawler::Metadump(classes) => (b"metadump", classes),
        LruCrawler::Mgdump(classes) => (b"mgdump", classes),
        LruCrawler::Tocrawl(count) => (b"tocrawl", buffer.format(count).as_bytes()),
        LruCrawler::Sleep(rest) => (b"sleep", buffer.format(rest).as_bytes()),
        LruCrawler::Enable => return line_of_words(out, name, [b"enable"], false),
        LruCrawler::Disable => return line_of_words(out, name, [b"disable"], false),
    };
    line_of_words(out, name, [verb, word], false)
}

/// `watch`: events of these kinds, of gets for none. After `OK` the connection sends them and takes
/// no more requests.
pub fn watch(out: &mut Vec<u8>, watched: Watched) {
    out.extend_from_slice(b"watch");
    for (name, _) in EVENTS.iter().filter(|(_, event)| watched.has(*event)) {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
    }
    out.extend_from_slice(END);
}

/// `slabs` and `lru`, with their words.
///
/// # Errors
/// Where one of them is no word, or they are too many for a line.
pub fn tune<W: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    command: Tuned,
    arguments: impl IntoIterator<Item = W>,
    noreply: bool,
) -> Result<(), Error> {
    let name: &[u8] = match command {
        Tuned::Slabs => b"slabs",
        Tuned::Lru => b"lru",
    };
    line_of_words(out, name, arguments, noreply)
}

/// The first request to a server that asks for a name and a password, which `STORED` answers.
///
/// # Errors
/// Where the name is no word, or both are too long.
pub fn authenticate(out: &mut Vec<u8>, name: &[u8], password: &[u8]) -> Result<(), Error> {
    check_word(name)?;
    let data = [name, b" ", password];
    let size = data.iter().map(|part| part.len()).sum::<usize>();
    if size > super::auth::LONGEST_DATA as usize {
        return Err(Error::LongValue);
    }
    out.extend_from_slice(b"set auth 0 0");
    argument(out, size);
    end(out, false);
    data.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(END);
    Ok(())
}

/// All that `write` appends, or nothing. `write` gets the place where that begins.
fn whole(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = out.len();
    let written = write(out, start);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn of_key(out: &mut Vec<u8>, name: &[u8], key: &[u8]) -> Result<(), Error> {
    key::check_plain(key)?;
    out.extend_from_slice(name);
    out.extend_from_slice(key);
    Ok(())
}

fn line_of_words<W: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    name: &[u8],
    words: impl IntoIterator<Item = W>,
    noreply: bool,
) -> Result<(), Error> {
    whole(out, |out, start| {
        out.extend_from_slice(name);
        write_words(
            out,
            start,
            words,
            LINE_BYTES - NOREPLY.len(),
            check_argument,
        )?;
        end(out, noreply);
        Ok(())
    })
}

/// Words with a space before each, in a line that begins at `start` and has `longest` bytes at most
/// before its end.
fn write_words<W: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    start: usize,
    words: impl IntoIterator<Item = W>,
    longest: usize,
    check: fn(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    for word in words {
        let word = word.as_ref();
        check(word)?;
        out.push(b' ');
        out.extend_from_slice(word);
        // The carriage return counts.
        if out.len() - start >= longest {
            return Err(Error::LongLine);
        }
    }
    Ok(())
}

fn check_word(word: &[u8]) -> Result<(), Error> {
    if word.is_empty() || !is_word(word) {
        return Err(Error::Word);
    }
    Ok(())
}

fn check_argument(word: &[u8]) -> Result<(), Error> {
    if word == NOREPLY.trim_ascii_start() {
        return Err(Error::Word);
    }
    check_word(word)
}

fn argument(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.push(b' ');
    number::write(out, value);
}

fn end(out: &mut Vec<u8>, noreply: bool) {
    if noreply {
        out.extend_from_slice(NOREPLY);
    }
    out.extend_from_slice(END);
}
