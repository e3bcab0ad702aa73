//! The keys of a server, one after the other.
//!
//! `lru_crawler mgdump` lists keys as they can be asked for. Servers that do not know it have
//! `lru_crawler metadump`, whose lines begin with the key; it is asked for second. memcached makes
//! one list at a time, and none while it looks for expired items by itself, which takes it some
//! milliseconds: it is asked again until the time for an answer is over.

use crate::conn::{Broken, Conn, Speaks, Wait, shown};
use crate::control::converse;
use crate::error::Error;
use crate::fleet::Fleet;
use std::thread;
use std::time::{Duration, Instant};
use tavola_proto::meta::{self, answer::Status};
use tavola_proto::text::{self, LruCrawler};
use tavola_proto::{Answer, AnswerHead, KeyRoom};

/// How keys are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Mgdump,
    Metadump,
}

/// What a line says.
enum Line {
    /// Nothing of use.
    Skipped,
    Key,
    Last,
    Refused(String),
    /// Another list or the server's own look for expired items is under way.
    Busy(String),
    /// The server does not know the command.
    Unknown,
}

/// What came of a command.
enum Listed {
    Whole,
    /// No key was listed, for the reason given.
    Busy(String),
    /// The server does not know the command.
    Unknown,
}

/// How long a busy server is left alone before it is asked again.
const PAUSE: Duration = Duration::from_millis(10);

/// Calls `each` for every key of a server that is in the namespace, without the namespace.
pub(crate) fn keys(fleet: &Fleet, server: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let namespace = &fleet.settings.namespace;
    let mut inner = |key: &[u8]| {
        if let Some(key) = key.strip_prefix(&namespace[..]) {
            each(key);
        }
    };
    let give_up = Instant::now() + fleet.settings.io_timeout;
    for form in [Form::Mgdump, Form::Metadump] {
        loop {
            let listed = converse(fleet, server, true, |conn, deadline| {
                list(conn, form, deadline, fleet, &mut inner)
            })?;
            match listed {
                Listed::Whole => return Ok(()),
                Listed::Unknown => break,
                Listed::Busy(why) if Instant::now() >= give_up => return Err(Error::Refused(why)),
                Listed::Busy(_) => thread::sleep(PAUSE),
            }
        }
    }
    Err(Error::Refused(
        "the server cannot list its keys; memcached can from 1.4.31 on, without -X".to_string(),
    ))
}

/// Lists the keys by one command.
fn list(
    conn: &mut Conn,
    form: Form,
    mut deadline: Instant,
    fleet: &Fleet,
    each: &mut dyn FnMut(&[u8]),
) -> Result<Result<Listed, Error>, Broken> {
    if conn.speaks == Speaks::Binary {
        return Ok(Err(Error::Refused(
            "the binary protocol cannot list keys, and SASL needs it; log in as with -Y"
                .to_string(),
        )));
    }
    let command = match form {
        Form::Mgdump => LruCrawler::Mgdump(b"all"),
        Form::Metadump => LruCrawler::Metadump(b"all"),
    };
    let written = text::ask::lru_crawler(&mut conn.output, command);
    written.map_err(|error| Broken::unexpected(error.to_string()))?;
    let mut key = Vec::new();
    loop {
        conn.send()?;
        let (line, used) = match conn.decoder.head(conn.input.bytes())? {
            AnswerHead::More { .. } => {
                if !conn.receive(Wait::No)? {
                    conn.wait(deadline)?;
                }
                // A list of many keys may take its time, but not between two of them.
                deadline = Instant::now() + fleet.settings.io_timeout;
                continue;
            }
            AnswerHead::Head { answer, used, .. } => {
                let line = read(form, &answer, &mut key).ok_or_else(|| {
                    let answer = shown(&answer);
                    Broken::unexpected(format!("it sent what was not asked for: {answer}"))
                })?;
                (line, used)
            }
        };
        conn.input.consume(used);
        match line {
            Line::Skipped => {}
            Line::Key => each(&key),
            Line::Last => return Ok(Ok(Listed::Whole)),
            Line::Unknown => return Ok(Ok(Listed::Unknown)),
            Line::Busy(why) => return Ok(Ok(Listed::Busy(why))),
            Line::Refused(why) => return Ok(Err(Error::Refused(why))),
        }
    }
}

/// Reads a line and puts its key into `key`; `None` if it does not belong to a list of keys.
fn read(form: Form, answer: &Answer<'_>, key: &mut Vec<u8>) -> Option<Line> {
    let words = |why: &[u8]| String::from_utf8_lossy(why).into_owned();
    let refused = |why: &[u8]| Line::Refused(words(why));
    Some(match (form, answer) {
        (_, Answer::Text(text::Answer::Ok)) => Line::Skipped,
        (Form::Mgdump, Answer::Text(text::Answer::Key(found))) => {
            let mut room = KeyRoom::default();
            key.clear();
            key.extend_from_slice(found.bytes(&mut room));
            Line::Key
        }
        (Form::Mgdump, Answer::Meta(meta::Answer::Item(item))) => {
            (item.status == Status::Miss).then_some(Line::Last)?
        }
        (Form::Metadump, Answer::Text(text::Answer::Crawled(line))) => {
            read_crawled(line, key)?;
            Line::Key
        }
        (Form::Metadump, Answer::Text(text::Answer::End)) => Line::Last,
        (_, Answer::Text(text::Answer::Unable(why))) if why.starts_with(b"BUSY") => {
            Line::Busy(words(why))
        }
        (_, Answer::Text(text::Answer::Unable(why))) => refused(why),
        (_, Answer::Text(text::Answer::Error(b"") | text::Answer::ClientError(_))) => Line::Unknown,
        (_, Answer::Text(text::Answer::Error(why) | text::Answer::ServerError(why))) => {
            refused(why)
        }
        _ => return None,
    })
}

/// Reads the key at the beginning of a line of metadump, in which `%` and two digits are a byte.
fn read_crawled(line: &[u8], key: &mut Vec<u8>) -> Option<()> {
    let line = line.strip_prefix(b"key=").unwrap_or(line);
    let mut letters = line.split(|byte| *byte == b' ').next()?.iter();
    key.clear();
    while let Some(letter) = letters.next() {
        key.push(match letter {
            b'%' => {
                let mut digit = || char::from(*letters.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            other => *other,
        });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_metadump_has_its_key_in_front() {
        let mut key = Vec::new();
        assert!(read_crawled(b"key=a%20b%FF exp=-1 la=1 ", &mut key).is_some());
        assert_eq!(key, b"a b\xFF");
        assert!(read_crawled(b"key=a%2", &mut key).is_none());
        assert!(read_crawled(b"key=a%zz exp=1", &mut key).is_none());
    }
}
