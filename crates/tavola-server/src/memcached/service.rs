//! The service: decodes the requests that arrive and carries them out in their order.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use tavola::{Error, Result, Table};
use tavola_proto::text::{Request as Text, answer};
use tavola_proto::{Decoder, Limits, Refusal, Request, Step};

use super::batch::Batch;
use super::connections::{Connections, ListedConnection};
use super::crawler::Dump;
use super::failure;
use super::flush::Flush;
use super::marks::Kept;
use super::prefixes::Prefixes;
use super::rules::Rules;
use super::tally::{Event, Tallies};
use super::text::{self, Left, Wave};
use super::watch::Subscription;
use super::work::{After, Shared, Work};
use super::{auth, binary, exptime, meta, store};
use crate::net::{Gone, Next, Output, Peer, Served, Service, Thread, Waker, Worker};

const TOO_MANY_WATCHERS: &[u8] = b"WATCHER_TOO_MANY log watcher limit reached\r\n";

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

/// The worker that serves the connections of one thread.
#[derive(Debug)]
pub struct MemcachedWorker {
    work: Work,
    limits: Limits,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Session {
    decoder: Decoder,
    /// Whether its first byte has not come, after which the client is asked for a password.
    is_new: bool,
    /// Set when the get at the front of the input is answered in part.
    answered: Option<Left>,
    mode: SessionMode,
    /// Set when the connection is closed for something that failed.
    has_failed: bool,
    wrong_passwords: u32,
    listed: ListedConnection,
    waker: Waker,
}

/// The mode in which a connection is served.
#[derive(Debug)]
enum SessionMode {
    /// It gets answers to its requests.
    Requests,
    /// It gets the rest of a dump; its requests wait.
    Dump(Box<Dump>),
    /// It gets lines about events. Requests that it sends are dropped.
    Watch(Subscription),
}

impl Memcached {
    /// Serves `table`, values of 1 MiB at most, as memcached does.
    pub fn new(table: Arc<Table>) -> Self {
        Self::with_rules(table, Rules::default())
    }

    /// Serves `table` to clients that may do what `rules` say.
    pub fn with_rules(table: Arc<Table>, rules: Rules) -> Self {
        let stats = table.stats().ok();
        let kept = match stats.filter(|stats| stats.fixed.is_none()) {
            Some(stats) if stats.has_versions => Kept::All,
            Some(_) => Kept::Flags,
            None => Kept::Nothing,
        };
        Self {
            shared: Arc::new(Shared {
                verbosity: AtomicU32::new(rules.verbosity),
                table,
                prefixes: Prefixes::new(rules.prefixes),
                rules,
                kept,
                flush: Flush::default(),
                tallies: Tallies::default(),
                watchers: Arc::default(),
                connections: Arc::new(Connections::new()),
                crawler: Arc::default(),
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
                value_bytes: self.shared.rules.value_bytes,
                ..Limits::default()
            },
        }
    }
}

impl Worker for MemcachedWorker {
    type Session = Session;

    fn open(&mut self, peer: &Peer) -> Session {
        let listed = self.work.shared.connections.join(peer);
        self.work.shared.watchers.came(listed.client());
        Session {
            decoder: self.work.shared.rules.decoder(self.limits),
            is_new: true,
            answered: None,
            mode: SessionMode::Requests,
            has_failed: false,
            wrong_passwords: 0,
            listed,
            waker: peer.waker(),
        }
    }

    fn serve(&mut self, session: &mut Session, input: &[u8], output: &mut Output) -> Served {
        session.listed.served();
        self.work.descriptor = session.listed.client().descriptor;
        self.work.now_s = exptime::now_s();
        match &mut session.mode {
            SessionMode::Requests => {}
            SessionMode::Dump(dump) => match dump.write_part(&self.work, output) {
                Ok(true) => session.mode = SessionMode::Requests,
                Ok(false) => {
                    return Served {
                        consumed: 0,
                        next: Next::Again,
                    };
                }
                Err(error) => return session.fail(&error, input, output),
            },
            SessionMode::Watch(subscription) => {
                let is_all = subscription.send(output);
                return Served {
                    consumed: input.len(),
                    next: if is_all {
                        Next::Read { at_least: 0 }
                    } else {
                        Next::Again
                    },
                };
            }
        }
        if let Err(error) = self.work.shared.flush.clear_if_due(self.work.table()) {
            return session.fail(&error, input, output);
        }
        if let Some(first) = input.first()
            && std::mem::take(&mut session.is_new)
            && self.work.shared.rules.users.is_some()
        {
            auth::ask(&mut session.decoder, *first);
        }
        let mut uncarried = Uncarried {
            gets: None,
            others: Batch::new(),
        };
        let mut served = self.serve_requests(session, input, &mut uncarried, output);
        let decoder = &mut session.decoder;
        let nothing = |_: &mut Work, _: &mut Decoder, _: &mut Output| Ok(After::NextRequest);
        if let After::Close = self.carry_out_after(&mut uncarried, decoder, output, nothing) {
            session.has_failed = true;
            served.next = Next::Close;
        }
        if let SessionMode::Requests = session.mode {
            session.listed.waits_for(session.decoder.awaits());
        }
        // The next request finds this error as well, and its client gets it.
        let _ = self.work.report_evictions();
        served
    }

    fn close(&mut self, session: Session, gone: Gone) {
        let watchers = &self.work.shared.watchers;
        watchers.went(session.listed.client(), gone, session.has_failed);
        let was_watching = matches!(session.mode, SessionMode::Watch(_));
        drop(session);
        if was_watching {
            self.work.update_eviction_watch();
        }
    }
}

/// Requests that were decoded and are not carried out yet. One of the two has none.
struct Uncarried<'a> {
    /// `None` if no get had to wait in this turn: a single get is read at once.
    gets: Option<Wave<'a>>,
    others: Batch<'a>,
}

impl Uncarried<'_> {
    /// Returns whether no request had to wait in this turn.
    fn is_unused(&self) -> bool {
        self.gets.is_none() && self.others.is_empty()
    }

    /// Reads the keys of the gets, and writes their answers.
    fn read_gets(&mut self, work: &mut Work, output: &mut Output) -> Result<()> {
        match &mut self.gets {
            Some(wave) => wave.read(work, output),
            None => Ok(()),
        }
    }
}

impl MemcachedWorker {
    /// Carries out the requests of the input; some may be left in `uncarried`.
    fn serve_requests<'a>(
        &mut self,
        session: &mut Session,
        input: &'a [u8],
        uncarried: &mut Uncarried<'a>,
        output: &mut Output,
    ) -> Served {
        let mut consumed = 0;
        for _ in 0..self.work.shared.rules.requests.max(1) {
            if output.is_full() {
                let next = Next::Again;
                return Served { consumed, next };
            }
            let next = match session.decoder.step(&input[consumed..]) {
                Step::More { needed } => Some(Next::Read { at_least: needed }),
                Step::Swallowed { used } => {
                    consumed += used;
                    None
                }
                Step::TooLarge { value, used } => {
                    consumed += used;
                    let decoder = &mut session.decoder;
                    let after = self.carry_out_after(uncarried, decoder, output, |work, _, _| {
                        store::refused(work, &value).map(|()| After::NextRequest)
                    });
                    session.end_request(&mut self.work, after, output)
                }
                Step::Refused { refusal, used } => {
                    consumed += used;
                    let decoder = &mut session.decoder;
                    let refuse = |work: &mut Work, _: &mut Decoder, output: &mut Output| {
                        Ok(refuse(work, &refusal, output))
                    };
                    let after = self.carry_out_after(uncarried, decoder, output, refuse);
                    session.end_request(&mut self.work, after, output)
                }
                Step::Request { request, used } => {
                    let is_last = consumed + used == input.len();
                    let next = self.serve_request(session, request, is_last, uncarried, output);
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
        self.work.count(Event::Yield);
        Served {
            consumed,
            next: Next::Again,
        }
    }

    /// Carries out one request or puts it into `uncarried`; `is_last` if no other has come after
    /// it. Returns `None` if the next request can follow.
    fn serve_request<'a>(
        &mut self,
        session: &mut Session,
        request: Request<'a>,
        is_last: bool,
        uncarried: &mut Uncarried<'a>,
        output: &mut Output,
    ) -> Option<Next> {
        let answered = session.answered.take().unwrap_or(0);
        let decoder = &mut session.decoder;
        let Request::Text(Text::Get(get)) = &request else {
            let after = self.batch_or_carry_out(decoder, request, is_last, uncarried, output);
            return session.end_request(&mut self.work, after, output);
        };
        let taken = match get.touch {
            None if is_last
                && uncarried.is_unused()
                && let Some(key) = get.only_key() =>
            {
                text::get_alone(&mut self.work, key, get.with_cas, output).map(|()| None)
            }
            None => self
                .carry_out_batch(uncarried, decoder, output)
                .and_then(|_| {
                    let wave = uncarried.gets.get_or_insert_with(Wave::new);
                    wave.take(&mut self.work, get, answered, output)
                }),
            Some(exptime) => self
                .carry_out_waiting(uncarried, decoder, output)
                .and_then(|_| text::get_and_touch(&mut self.work, get, answered, exptime, output)),
        };
        match taken {
            Ok(None) => None,
            Ok(Some(answered)) => {
                session.answered = Some(answered);
                Some(Next::Again)
            }
            Err(error) => {
                failure::line(output, &error);
                session.end_request(&mut self.work, After::Close, output)
            }
        }
    }

    /// Carries out a request that is not a get of the classic protocol, or adds it to the batch.
    fn batch_or_carry_out<'a>(
        &mut self,
        decoder: &mut Decoder,
        request: Request<'a>,
        is_last: bool,
        uncarried: &mut Uncarried<'a>,
        output: &mut Output,
    ) -> After {
        let is_alone = is_last && uncarried.others.is_empty();
        let can_wait = !is_alone && self.work.shared.rules.users.is_none();
        if !can_wait || !Batch::can_have(&request) {
            return self.carry_out_after(uncarried, decoder, output, |work, decoder, output| {
                carry_out(work, decoder, &request, output)
            });
        }
        if let Err(error) = uncarried.read_gets(&mut self.work, output) {
            failure::last(decoder, output, &error);
            return After::Close;
        }
        if !uncarried.others.push(request, &self.work) {
            return After::NextRequest;
        }
        self.carry_out_after(uncarried, decoder, output, |_, _, _| Ok(After::NextRequest))
    }

    /// Carries out the waiting requests, and then ends the request after them.
    fn carry_out_after(
        &mut self,
        uncarried: &mut Uncarried<'_>,
        decoder: &mut Decoder,
        output: &mut Output,
        last: impl FnOnce(&mut Work, &mut Decoder, &mut Output) -> Result<After>,
    ) -> After {
        let after = match self.carry_out_waiting(uncarried, decoder, output) {
            Ok(After::NextRequest) => last(&mut self.work, decoder, output),
            ended => ended,
        };
        after.unwrap_or_else(|error| {
            // The values written so far may be only a part of an answer.
            failure::last(decoder, output, &error);
            After::Close
        })
    }

    fn carry_out_waiting(
        &mut self,
        uncarried: &mut Uncarried<'_>,
        decoder: &mut Decoder,
        output: &mut Output,
    ) -> Result<After> {
        uncarried.read_gets(&mut self.work, output)?;
        self.carry_out_batch(uncarried, decoder, output)
    }

    fn carry_out_batch(
        &mut self,
        uncarried: &mut Uncarried<'_>,
        decoder: &mut Decoder,
        output: &mut Output,
    ) -> Result<After> {
        let carry_out_one = |work: &mut Work, request: &Request<'_>, output: &mut Output| {
            carry_out(work, decoder, request, output)
        };
        uncarried
            .others
            .carry_out(&mut self.work, output, carry_out_one)
    }
}

impl Session {
    /// Ends the connection because the table failed.
    fn fail(&mut self, error: &Error, input: &[u8], output: &mut Output) -> Served {
        failure::last(&self.decoder, output, error);
        self.has_failed = true;
        Served {
            consumed: input.len(),
            next: Next::Close,
        }
    }

    /// Ends a request. Returns `None` if the next one can follow.
    fn end_request(&mut self, work: &mut Work, after: After, output: &mut Output) -> Option<Next> {
        match after {
            After::NextRequest => None,
            After::Quit => Some(Next::Close),
            After::Close => {
                self.has_failed = true;
                Some(Next::Close)
            }
            After::WrongPassword => {
                self.wrong_passwords += 1;
                if self.wrong_passwords < auth::MOST_WRONG {
                    return None;
                }
                self.has_failed = true;
                work.count(Event::AuthClosed);
                if let Some(report) = &work.shared.rules.on_guessing {
                    report(self.listed.address());
                }
                Some(Next::CloseAfter(auth::PAUSE))
            }
            After::Dump(dump) => {
                self.mode = SessionMode::Dump(dump);
                Some(Next::Again)
            }
            After::Watch(watched) => {
                let watchers = &work.shared.watchers;
                let Some(subscription) = watchers.join(watched, self.waker.clone()) else {
                    output.extend(TOO_MANY_WATCHERS);
                    return None;
                };
                work.update_eviction_watch();
                output.extend(answer::OK);
                self.listed.watches();
                self.mode = SessionMode::Watch(subscription);
                Some(Next::Again)
            }
        }
    }
}

fn carry_out(
    work: &mut Work,
    decoder: &mut Decoder,
    request: &Request<'_>,
    output: &mut Output,
) -> Result<After> {
    if let Some(after) = auth::answer(work, decoder, request, output) {
        return Ok(after);
    }
    if work.shared.rules.answer(request, output) {
        return Ok(After::NextRequest);
    }
    Ok(match request {
        Request::Text(request) => text::carry_out(work, request, output),
        Request::Meta(request) => meta::carry_out(work, request, output),
        Request::Binary(request) => binary::carry_out(work, request, output),
    })
}

/// Answers a request that is not carried out.
fn refuse(work: &Work, refusal: &Refusal, output: &mut Output) -> After {
    let rules = &work.shared.rules;
    match refusal.restricted().and_then(|command| rules.off(command)) {
        Some(line) => output.extend(line),
        None => refusal.write(output.room(64)),
    }
    if refusal.closes() {
        After::Close
    } else {
        After::NextRequest
    }
}
