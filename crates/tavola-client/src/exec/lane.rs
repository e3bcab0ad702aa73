//! The part of a batch that goes to one server: written, sent, received, reported.

use super::Indices;
use super::answer::{Finding, Judge};
use super::ask;
use super::call::Call;
use super::value::{Target, read_number, receive_value};
use crate::batch::Outcome;
use crate::conn::{Broken, Conn, ROOM, Speaks, Wait};
use crate::pool::Lease;
use crate::waiting::{ReplyKind, Waiting};
use std::collections::VecDeque;
use std::mem;
use tavola_proto::AnswerHead;

/// Requests are written while less than this waits to be sent.
const MOST_OUTPUT: usize = 128 << 10;

/// A free connection keeps memory for so many requests.
const MOST_IDLE_WAITING: usize = 128;

/// A line of gets ends behind this many bytes of keys.
const LINE_OF_GETS: usize = 4096;

/// What follows a value of meta.
const META_END: &[u8] = b"\r\n";

/// The requests to one server, and the connection they go through.
pub(super) struct Lane<'p> {
    pub(super) server: usize,
    pub(super) lease: Lease<'p>,
    /// Indices of the requests, in their order.
    pub(super) requests: Indices,
    /// How many of them are written.
    pub(super) written: usize,
    /// Whether all that is written is answered in any case, or is before something that is.
    is_last_loud: bool,
    /// Whether misses are not to be answered: it is enough that all is carried out.
    is_quiet: bool,
    /// Whether gets may be in a line of several.
    may_share_lines: bool,
    pub(super) waiting: VecDeque<Waiting>,
    /// Requests that need no answer any more once a later one is answered.
    pub(super) passed: Vec<Waiting>,
    /// The value of a text get whose end has not come.
    hit: Option<Outcome>,
    /// The bytes without which nothing is to be done.
    needed: usize,
    /// Where in the stream the lane begins, and behind what was held for its thread.
    pub(super) start: u64,
    pub(super) held_end: u64,
}

/// An answer at the front of the buffer.
enum ReceivedAnswer {
    /// An answer without a value.
    Plain(Finding),
    /// An answer whose value has so many bytes.
    Value {
        finding: Finding,
        head: usize,
        size: usize,
        end: &'static [u8],
    },
}

impl<'p> Lane<'p> {
    pub(super) fn new(server: usize, lease: Lease<'p>, requests: Indices) -> Self {
        Self {
            server,
            lease,
            requests,
            written: 0,
            is_last_loud: true,
            is_quiet: false,
            may_share_lines: false,
            waiting: VecDeque::new(),
            passed: Vec::new(),
            hit: None,
            needed: 1,
            start: 0,
            held_end: 0,
        }
    }

    /// Begins on a connection: what the thread holds for the server comes first.
    pub(super) fn begin(&mut self, conn: &mut Conn, call: &Call<'_, '_>) {
        self.waiting = mem::take(&mut conn.waiting);
        self.start = conn.end_of_output();
        call.local().sites[self.server].held.take(&mut conn.output);
        self.held_end = conn.end_of_output();
        if self.held_end > self.start {
            self.push_unnumbered(ReplyKind::Held, self.start);
        }
        let gets = |index: &&usize| call.requests[**index].is_read();
        self.is_quiet =
            conn.speaks == Speaks::Meta && self.requests.iter().filter(gets).nth(1).is_some();
        self.may_share_lines = self.is_quiet && call.fleet.settings.has_multi_key_gets;
    }

    /// Sends and receives as far as that goes without waiting, except by the first receive.
    /// Returns whether all is answered.
    pub(super) fn work(
        &mut self,
        conn: &mut Conn,
        call: &mut Call<'_, '_>,
        mut wait: Option<Wait>,
    ) -> Result<bool, Broken> {
        loop {
            self.write_requests(conn, call);
            conn.send()?;
            if self.read_answers(conn, call)? {
                return Ok(true);
            }
            let is_blocked = conn.unsent() > 0;
            if !is_blocked && self.written < self.requests.len() {
                // More can be written, and what is sent so far may have no answers to wait for.
                continue;
            }
            let Some(first) = wait else {
                return Ok(false);
            };
            let first = if is_blocked { Wait::No } else { first };
            let has_come = conn.receive(first)?;
            // A server that sends a little all the time does not extend the call.
            let continues = has_come && !call.is_overdue();
            wait = continues.then_some(Wait::No);
        }
    }

    fn write_requests(&mut self, conn: &mut Conn, call: &mut Call<'_, '_>) {
        while self.written < self.requests.len() && conn.unsent() < MOST_OUTPUT {
            if self.may_share_lines && self.write_line(conn, call) {
                continue;
            }
            let index = self.requests[self.written];
            self.written += 1;
            let requests = call.requests;
            let request = &requests[index];
            let is_silent = call.names.is_silent(request);
            if !is_silent && !request.is_read() && !self.is_last_loud {
                // A refusal does not say what it refuses; so nothing else may be in question.
                self.write_fence(conn);
            }
            let start = conn.end_of_output();
            let is_quiet = self.is_quiet && request.is_read();
            let opaque = conn.new_opaque();
            let written = match is_silent {
                true => ask::write_silent(&mut conn.output, request, &mut call.names),
                false => {
                    let form = ask::Form { opaque, is_quiet };
                    ask::write(conn, request, &mut call.names, form)
                }
            };
            if let Err(refused) = written {
                call.finish(index, Outcome::Refused(refused.to_string()));
                continue;
            }
            let kind = match (is_silent, is_quiet) {
                (true, _) => ReplyKind::Silent,
                (false, true) => ReplyKind::Quiet,
                (false, false) => ReplyKind::Loud,
            };
            self.is_last_loud = kind == ReplyKind::Loud;
            self.waiting.push_back(Waiting {
                index,
                kind,
                opaque,
                start,
            });
        }
        if self.written == self.requests.len() && !self.is_last_loud {
            self.write_fence(conn);
        }
    }

    /// Writes the gets that come next as one line, if there are several. Returns whether it did.
    fn write_line(&mut self, conn: &mut Conn, call: &Call<'_, '_>) -> bool {
        let requests = call.requests;
        let next = |place: usize| self.requests.get(place).map(|index| &requests[*index]);
        let fits = |place: usize, with_cas: bool| {
            next(place).is_some_and(|request| {
                ask::may_share_line(request, &call.names) && ask::is_with_cas(request) == with_cas
            })
        };
        let with_cas = next(self.written).is_some_and(ask::is_with_cas);
        if !fits(self.written, with_cas) || !fits(self.written + 1, with_cas) {
            return false;
        }
        let start = conn.end_of_output();
        while conn.end_of_output() - start < LINE_OF_GETS as u64 && fits(self.written, with_cas) {
            let index = self.requests[self.written];
            let is_first = conn.end_of_output() == start;
            ask::write_in_line(&mut conn.output, &call.names, &requests[index], is_first);
            self.written += 1;
            self.waiting.push_back(Waiting {
                index,
                kind: ReplyKind::InLine,
                opaque: 0,
                start,
            });
        }
        ask::write_line_end(&mut conn.output);
        self.push_unnumbered(ReplyKind::LineEnd, start);
        true
    }

    /// Asks for an answer once all before is carried out.
    fn write_fence(&mut self, conn: &mut Conn) {
        let start = conn.end_of_output();
        ask::write_fence(&mut conn.output, conn.speaks);
        self.push_unnumbered(ReplyKind::Fence, start);
    }

    /// Adds something that waits and is no request of the batch.
    fn push_unnumbered(&mut self, kind: ReplyKind, start: u64) {
        self.is_last_loud = kind.is_end();
        self.waiting.push_back(Waiting {
            index: usize::MAX,
            kind,
            opaque: 0,
            start,
        });
    }

    /// Takes the answers that are here. Returns whether there are no more to come.
    fn read_answers(&mut self, conn: &mut Conn, call: &mut Call<'_, '_>) -> Result<bool, Broken> {
        while !self.waiting.is_empty() {
            if conn.input.bytes().len() < self.needed {
                return Ok(false);
            }
            let Some((place, found)) = self.find(conn, call)? else {
                return Ok(false);
            };
            let finding = match found {
                ReceivedAnswer::Plain(finding) => finding,
                ReceivedAnswer::Value {
                    finding: Finding::Number,
                    head,
                    size,
                    end,
                } => {
                    let number = read_number(conn, head, size, end)?;
                    Finding::Outcome(Outcome::Count(number))
                }
                ReceivedAnswer::Value {
                    finding,
                    head,
                    size,
                    end,
                } => {
                    let Finding::Value { flags, cas, ttl } = finding else {
                        return Err(Broken::unexpected(
                            "it sent a value that belongs to nothing",
                        ));
                    };
                    let waiting = self.waiting[place];
                    if let Some(ttl) = ttl {
                        call.take_ttl(waiting.index, ttl);
                    }
                    let target = Target {
                        index: waiting.index,
                        flags,
                        size,
                    };
                    receive_value(conn, call, &target, head, end)?;
                    let outcome = Outcome::Hit { flags, cas };
                    if conn.speaks == Speaks::Text {
                        // The end of the get follows.
                        self.hit = Some(outcome);
                        continue;
                    }
                    Finding::Outcome(outcome)
                }
            };
            self.take(place, finding, call)?;
        }
        let is_done = self.written == self.requests.len();
        if is_done && !conn.input.is_empty() {
            return Err(Broken::unexpected("it sent more than it was asked for"));
        }
        if is_done {
            conn.waiting = mem::take(&mut self.waiting);
            conn.waiting.shrink_to(MOST_IDLE_WAITING);
        }
        Ok(is_done)
    }

    /// Finds an answer in the buffer, and whose it is. One without a value, or with one that is
    /// too large for the buffer, is there; any other waits until it is whole.
    fn find(
        &mut self,
        conn: &mut Conn,
        call: &Call<'_, '_>,
    ) -> Result<Option<(usize, ReceivedAnswer)>, Broken> {
        let judge = Judge {
            server: self.server,
            waiting: &self.waiting,
            requests: call.requests,
            names: &call.names,
        };
        let is_meta = conn.speaks == Speaks::Meta;
        let bytes = conn.input.bytes();
        let expected = if is_meta { judge.expected() } else { None };
        #[cfg(test)]
        let expected = expected.map(|expected| super::answer::neglecting(expected, bytes));
        let expected = expected.and_then(|expected| conn.decoder.expected(bytes, &expected));
        let usual = expected.and_then(|(answer, used)| Some((judge.judge_expected(answer)?, used)));
        let (verdict, used, value_bytes, end) = match usual {
            Some(((verdict, value_bytes), used)) => (verdict, used, value_bytes, META_END),
            None => match conn.decoder.head(bytes)? {
                AnswerHead::More { needed } => {
                    self.needed = needed;
                    return Ok(None);
                }
                AnswerHead::Head {
                    answer,
                    used,
                    value_bytes,
                    end,
                } => (judge.judge(&answer, is_meta)?, used, value_bytes, end),
            },
        };
        let has_value = matches!(verdict.finding, Finding::Value { .. } | Finding::Number);
        if has_value != value_bytes.is_some() {
            return Err(Broken::unexpected("it sent an answer without its value"));
        }
        if has_value && self.hit.is_some() {
            return Err(Broken::unexpected("it sent two values for one key"));
        }
        self.needed = 1;
        let Some(size) = value_bytes else {
            conn.input.consume(used);
            return Ok(Some((
                verdict.place,
                ReceivedAnswer::Plain(verdict.finding),
            )));
        };
        let total = used.saturating_add(size).saturating_add(end.len());
        if bytes.len() < total && total <= ROOM {
            self.needed = total;
            return Ok(None);
        }
        let found = ReceivedAnswer::Value {
            finding: verdict.finding,
            head: used,
            size,
            end,
        };
        Ok(Some((verdict.place, found)))
    }

    /// Reports what an answer says about its request and those before it.
    fn take(
        &mut self,
        place: usize,
        finding: Finding,
        call: &mut Call<'_, '_>,
    ) -> Result<(), Broken> {
        let outcome = match (finding, self.hit.take()) {
            (Finding::End, hit) => Some(hit.unwrap_or(Outcome::Miss)),
            (_, Some(_)) => return Err(Broken::unexpected("it did not end what it sent")),
            (Finding::Fence | Finding::LineEnd, None) => None,
            (Finding::Outcome(outcome), None) => Some(outcome),
            (Finding::Value { .. } | Finding::Number, None) => {
                return Err(Broken::unexpected("it sent an answer without its value"));
            }
        };
        if place > 0 {
            self.passed.extend(self.waiting.drain(..place));
        }
        let Some(answered) = self.waiting.pop_front() else {
            return Ok(());
        };
        // Only a hit answers a quiet one, which says nothing yet of those before it: if the server
        // mixes up the order, their answers may come.
        if !answered.kind.is_quiet() {
            for passed in self.passed.drain(..) {
                match passed.kind {
                    ReplyKind::Quiet | ReplyKind::InLine => {
                        call.finish(passed.index, Outcome::Miss);
                    }
                    ReplyKind::Silent => call.finish(passed.index, Outcome::Queued),
                    ReplyKind::Held | ReplyKind::Loud | ReplyKind::Fence | ReplyKind::LineEnd => {}
                }
            }
        }
        if let Some(outcome) = outcome {
            call.finish(answered.index, outcome);
        }
        Ok(())
    }
}
