//! The service: requests out of what arrives, each carried out in its turn.

use std::sync::Arc;
use std::time::Instant;

use tavola::{Result, Table};
use tavola_proto::text::Request as Text;
use tavola_proto::{Decoder, KeyRoom, Limits, Refusal, Request, Step};

use super::failure;
use super::flush::Flush;
use super::tally::Tallies;
use super::text::{self, Left, Wave};
use super::work::{After, Shared, Work};
use super::{binary, meta};
use crate::net::{Next, Output, Peer, Served, Service, Thread, Worker};

/// Requests that one call serves at most, so that other connections have their turn.
const REQUESTS: usize = 256;

/// Serves a table to clients of memcached.
///
/// ```
/// use std::sync::Arc;
/// use tavola_server::memcached::Memcached;
/// use tavola_server::{Listen, Options};
///
/// let table = tavola::Table::options().max_size(1 << 20).private()?;
/// let listen = Listen::Tcp("127.0.0.1:0".parse()?);
/// let options = Options::new().listen(listen).threads(1);
/// let server = options.start(Memcached::new(Arc::new(table)))?;
/// println!("listens on {}", server.addresses()[0]);
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Memcached {
    shared: Arc<Shared>,
}

/// What serves the connections of one thread.
#[derive(Debug)]
pub struct MemcachedWorker {
    work: Work,
    limits: Limits,
}

/// What is known of one connection.
#[derive(Debug)]
pub struct Session {
    decoder: Decoder,
    /// Set when the get at the front of the input is answered in part.
    answered: Option<Left>,
}

impl Memcached {
    /// Serves `table`, values of 1 MiB at most, as memcached does.
    pub fn new(table: Arc<Table>) -> Self {
        Self::with_value_bytes(table, Limits::default().value_bytes)
    }

    /// Serves `table`, values of `value_bytes` at most.
    pub fn with_value_bytes(table: Arc<Table>, value_bytes: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                table,
                value_bytes,
                flush: Flush::default(),
                tallies: Tallies::default(),
                started: Instant::now(),
            }),
        }
    }
}

impl Service for Memcached {
    type Worker = MemcachedWorker;

    fn worker(&self, thread: &Thread) -> MemcachedWorker {
        MemcachedWorker {
            work: Work::new(Arc::clone(&self.shared), thread.meter.clone()),
            limits: Limits {
                value_bytes: self.shared.value_bytes,
                ..Limits::default()
            },
        }
    }
}

impl Worker for MemcachedWorker {
    type Session = Session;

    fn open(&mut self, _peer: &Peer) -> Session {
        Session {
            decoder: Decoder::new(self.limits),
            answered: None,
        }
    }

    fn serve(&mut self, session: &mut Session, input: &[u8], output: &mut Output) -> Served {
        if let Err(error) = self.work.shared.flush.look(self.work.table()) {
            failure::line(output, &error);
            return Served {
                consumed: input.len(),
                next: Next::Close,
            };
        }
        let mut wave = Wave::new();
        let mut served = self.requests(session, input, &mut wave, output);
        if let Err(error) = wave.read(&mut self.work, output) {
            // The values told so far are no whole answer.
            failure::line(output, &error);
            served.next = Next::Close;
        }
        served
    }
}

impl MemcachedWorker {
    /// Carries out requests; keys of gets may be left in the wave.
    fn requests<'a>(
        &mut self,
        session: &mut Session,
        input: &'a [u8],
        wave: &mut Wave<'a>,
        output: &mut Output,
    ) -> Served {
        let mut consumed = 0;
        for _ in 0..REQUESTS {
            if output.is_full() {
                break;
            }
            let next = match session.decoder.step(&input[consumed..]) {
                Step::More { needed } => Some(Next::Read { at_least: needed }),
                Step::Swallowed { used } => {
                    consumed += used;
                    None
                }
                Step::Refused { refusal, used } => {
                    consumed += used;
                    self.told(wave, output, |work, output| refuse(work, &refusal, output))
                }
                Step::Request { request, used } => {
                    let next = self.request(session, &request, wave, output);
                    if session.answered.is_none() {
                        consumed += used;
                    }
                    next
                }
            };
            if let Some(next) = next {
                return Served { consumed, next };
            }
        }
        Served {
            consumed,
            next: Next::Again,
        }
    }

    /// Carries out one request; `None`: go on with the next.
    fn request<'a>(
        &mut self,
        session: &mut Session,
        request: &Request<'a>,
        wave: &mut Wave<'a>,
        output: &mut Output,
    ) -> Option<Next> {
        let answered = session.answered.take().unwrap_or(0);
        let taken = match request {
            Request::Text(Text::Get(get)) => match get.touch {
                None => wave.take(&mut self.work, get, answered, output),
                Some(exptime) => wave.read(&mut self.work, output).and_then(|()| {
                    text::get_and_touch(&mut self.work, get, answered, exptime, output)
                }),
            },
            other => {
                return self.told(wave, output, |work, output| carry_out(work, other, output));
            }
        };
        match taken {
            Ok(None) => None,
            Ok(Some(answered)) => {
                session.answered = Some(answered);
                Some(Next::Again)
            }
            Err(error) => {
                failure::line(output, &error);
                Some(Next::Close)
            }
        }
    }

    /// Answers what is in the wave, then does what comes after it.
    fn told(
        &mut self,
        wave: &mut Wave<'_>,
        output: &mut Output,
        answer: impl FnOnce(&mut Work, &mut Output) -> Result<After>,
    ) -> Option<Next> {
        let after = wave
            .read(&mut self.work, output)
            .and_then(|()| answer(&mut self.work, output));
        match after {
            Ok(After::GoOn) => None,
            Ok(After::Close) => Some(Next::Close),
            Err(error) => {
                failure::line(output, &error);
                Some(Next::Close)
            }
        }
    }
}

fn carry_out(work: &mut Work, request: &Request<'_>, output: &mut Output) -> Result<After> {
    Ok(match request {
        Request::Text(request) => text::carry_out(work, request, output),
        Request::Meta(request) => meta::carry_out(work, request, output),
        Request::Binary(request) => binary::carry_out(work, request, output),
    })
}

/// Answers a request that is not carried out.
fn refuse(work: &mut Work, refusal: &Refusal<'_>, output: &mut Output) -> Result<After> {
    if let Some(key) = refusal.forgets() {
        work.table().remove(key.bytes(&mut KeyRoom::default()))?;
    }
    refusal.write(output.room(64));
    Ok(if refusal.closes() {
        After::Close
    } else {
        After::GoOn
    })
}
