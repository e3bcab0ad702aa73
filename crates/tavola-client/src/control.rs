//! Calls about servers, not keys: each is sent to every server, one after the other.

use crate::cause::FailureCause;
use crate::conn::{Broken, Conn, Opening, Speaks, Wait};
use crate::error::Error;
use crate::failure::Access;
use crate::fleet::Fleet;
use crate::pool::Link;
use std::mem;
use std::sync::PoisonError;
use std::time::Instant;
use tavola_proto::binary::{self, Command};
use tavola_proto::{Answer, AnswerHead, meta, text};

/// The opaque of these requests in the binary protocol. No request about a key has it.
const OPAQUE: [u8; 4] = *b"ctrl";

/// A request about a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question<'q> {
    FlushAll {
        delay_s: u32,
    },
    Version,
    Stats {
        topic: &'q [u8],
    },
    /// Carry out these requests, which are not answered.
    Held(&'q [u8]),
}

/// A figure of a server.
pub(crate) type Figure = [Vec<u8>; 2];

/// What a server answers.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    pub(crate) version: Vec<u8>,
    pub(crate) figures: Vec<Figure>,
}

/// Sends what all threads hold for all servers, and waits until it is carried out.
pub(crate) fn flush(fleet: &Fleet) -> Result<(), Error> {
    let mut result = Ok(());
    for (server, site) in fleet.local().sites.iter().enumerate() {
        for entry in site.held.all() {
            // The lock keeps the next request of that thread back until this is carried out.
            let mut held = entry.lock().unwrap_or_else(PoisonError::into_inner);
            if held.is_empty() {
                continue;
            }
            let asked = ask(fleet, server, Question::Held(&held));
            if !matches!(asked, Err(Error::Unsent { .. })) {
                held.clear();
            }
            result = result.and(asked.map(|_| ()));
        }
    }
    result
}

/// Sends a request to a server and waits for its answer.
pub(crate) fn ask(fleet: &Fleet, server: usize, question: Question<'_>) -> Result<Reported, Error> {
    let sends_held = !matches!(question, Question::Held(_));
    converse(fleet, server, sends_held, |conn, deadline| {
        talk(conn, question, deadline)
    })
}

/// Has a conversation on a connection to a server. What is held for the server goes before it, if
/// `sends_held`. The inner error of `talk` is a refusal, after which the connection can be used.
pub(crate) fn converse<T>(
    fleet: &Fleet,
    server: usize,
    sends_held: bool,
    talk: impl FnOnce(&mut Conn, Instant) -> Result<Result<T, Error>, Broken>,
) -> Result<T, Error> {
    let began = Instant::now();
    let failed = |broken: &Broken, is_sent: bool| {
        let server = fleet.servers[server].name().to_string();
        let (cause, why) = (broken.cause, broken.to_string());
        match is_sent {
            true => Error::Unknown { server, cause, why },
            false => Error::Unsent { server, cause, why },
        }
    };
    let site = &fleet.local().sites[server];
    match site
        .failures
        .access(&fleet.servers[server], &fleet.settings)
    {
        Access::Up => {}
        Access::Back(conn) => site.pool.add(conn),
        Access::Down => {
            let cause = site.failures.cause();
            let last = site.failures.last();
            let why = last.map_or_else(|| cause.to_string(), |last| last.to_string());
            let broken = Broken::of(cause, format!("it is down: {why}"));
            return Err(failed(&broken, false));
        }
    }
    let deadline = began + fleet.settings.io_timeout;
    let Some(mut lease) = site.pool.take(Instant::now(), deadline) else {
        let cause = FailureCause::Busy;
        return Err(failed(&Broken::of(cause, cause.to_string()), false));
    };
    let opened = match mem::replace(&mut lease.held, Link::None) {
        Link::Open(conn) => Ok(conn),
        _ => open(fleet, server, deadline),
    };
    let mut conn = opened.map_err(|broken| {
        fleet.note_failure(server, &broken, began);
        failed(&broken, false)
    })?;
    let start = conn.sent();
    if sends_held {
        site.held.take(&mut conn.output);
    }
    match talk(&mut conn, deadline) {
        Ok(reported) => {
            site.failures.note_success();
            lease.held = Link::Open(conn);
            lease.give_back(Instant::now());
            reported
        }
        Err(broken) => {
            fleet.note_failure(server, &broken, began);
            Err(failed(&broken, conn.sent() > start))
        }
    }
}

fn open(fleet: &Fleet, server: usize, deadline: Instant) -> Result<Box<Conn>, Broken> {
    let deadline = deadline.min(Instant::now() + fleet.settings.connect_timeout);
    let server = &fleet.servers[server];
    Opening::begin(server, &fleet.settings)?.finish(server, &fleet.settings, deadline)
}

/// Sends and receives. The inner error is a refusal, after which the connection can be used.
fn talk(
    conn: &mut Conn,
    question: Question<'_>,
    deadline: Instant,
) -> Result<Result<Reported, Error>, Broken> {
    if let Err(error) = question.write(&mut conn.output, conn.speaks) {
        // What was held is before it: the connection is of no use, and what was held goes with it.
        return match conn.output.is_empty() {
            true => Ok(Err(Error::Refused(error.to_string()))),
            false => Err(Broken::unexpected(error.to_string())),
        };
    }
    let mut reported = Reported::default();
    loop {
        conn.send()?;
        let (step, used) = match conn.decoder.head(conn.input.bytes())? {
            AnswerHead::More { .. } => {
                if !conn.receive(Wait::No)? {
                    conn.wait(deadline)?;
                }
                continue;
            }
            AnswerHead::Head { answer, used, .. } => {
                let step = question.read(&answer, &mut reported);
                let step = step.ok_or_else(|| {
                    let answer = crate::conn::shown(&answer);
                    Broken::unexpected(format!("it sent what was not asked for: {answer}"))
                })?;
                (step, used)
            }
        };
        conn.input.consume(used);
        match step {
            AnswerStep::More => {}
            AnswerStep::Done => return Ok(Ok(reported)),
            AnswerStep::Refused(why) => return Ok(Err(Error::Refused(why))),
        }
    }
}

/// The meaning of one answer to a question.
enum AnswerStep {
    More,
    Done,
    Refused(String),
}

impl Question<'_> {
    fn write(&self, out: &mut Vec<u8>, speaks: Speaks) -> Result<(), tavola_proto::Error> {
        if speaks == Speaks::Binary {
            let command = match self {
                Self::FlushAll { delay_s } => Command::Flush { delay: *delay_s },
                Self::Version => Command::Version,
                Self::Stats { topic } => Command::Stat { topic },
                Self::Held(_) => Command::Noop,
            };
            return binary::ask::request(out, OPAQUE, &command, false);
        }
        match self {
            Self::FlushAll { delay_s } => {
                let delay = i32::try_from(*delay_s).unwrap_or(i32::MAX);
                text::ask::flush_all(out, delay, false);
            }
            Self::Version => out.extend_from_slice(text::ask::VERSION),
            Self::Stats { topic } => {
                let words = topic.split(|byte| *byte == b' ');
                return text::ask::stats_of(out, words.filter(|word| !word.is_empty()));
            }
            Self::Held(requests) => {
                out.extend_from_slice(requests);
                out.extend_from_slice(match speaks {
                    Speaks::Text => text::ask::VERSION,
                    Speaks::Meta | Speaks::Binary => meta::ask::NOOP,
                });
            }
        }
        Ok(())
    }

    /// Reads an answer; `None` if it is not one to this request.
    fn read(&self, answer: &Answer<'_>, reported: &mut Reported) -> Option<AnswerStep> {
        match (self, answer) {
            (_, Answer::Binary(answer)) => return self.read_binary(answer, reported),
            (Self::FlushAll { .. } | Self::Stats { .. }, Answer::Text(text::Answer::Ok))
            | (Self::Held(_), Answer::Meta(meta::Answer::Noop))
            | (Self::Held(_), Answer::Text(text::Answer::Version(_)))
            | (Self::Stats { .. }, Answer::Text(text::Answer::End | text::Answer::Reset)) => {}
            (Self::Version, Answer::Text(text::Answer::Version(version))) => {
                reported.version = version.to_vec();
            }
            (Self::Stats { .. }, Answer::Text(text::Answer::Stat { name, value })) => {
                reported.figures.push([name.to_vec(), value.to_vec()]);
                return Some(AnswerStep::More);
            }
            (Self::Stats { .. }, Answer::Text(text::Answer::Prefix(line))) => {
                let mut words = line.splitn(2, |byte| *byte == b' ');
                let [name, value] = [(); 2].map(|()| words.next().unwrap_or_default().to_vec());
                reported.figures.push([name, value]);
                return Some(AnswerStep::More);
            }
            (
                Self::Stats { .. },
                Answer::Text(text::Answer::Dumped {
                    key,
                    size_bytes,
                    expires,
                }),
            ) => {
                let value = format!("{size_bytes} b; {expires} s");
                reported.figures.push([key.to_vec(), value.into_bytes()]);
                return Some(AnswerStep::More);
            }
            (
                Self::FlushAll { .. } | Self::Version | Self::Stats { .. },
                Answer::Text(
                    text::Answer::Error(why)
                    | text::Answer::ClientError(why)
                    | text::Answer::ServerError(why),
                ),
            ) => {
                let why = String::from_utf8_lossy(why);
                return Some(AnswerStep::Refused(match why.is_empty() {
                    true => "the server does not know the command".to_string(),
                    false => why.into_owned(),
                }));
            }
            _ => return None,
        }
        Some(AnswerStep::Done)
    }

    fn read_binary(
        &self,
        answer: &binary::Answer<'_>,
        reported: &mut Reported,
    ) -> Option<AnswerStep> {
        if answer.header.opaque != OPAQUE {
            return None;
        }
        if answer.outcome != binary::Outcome::Done {
            return Some(AnswerStep::Refused(
                String::from_utf8_lossy(answer.value).into_owned(),
            ));
        }
        match self {
            Self::Version => reported.version = answer.value.to_vec(),
            Self::Stats { .. } if !answer.is_last() => {
                let figure = [answer.key.to_vec(), answer.value.to_vec()];
                reported.figures.push(figure);
                return Some(AnswerStep::More);
            }
            _ => {}
        }
        Some(AnswerStep::Done)
    }
}
