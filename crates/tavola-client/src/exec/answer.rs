//! Which request an answer belongs to, and what it says. Rule 1 is here: an answer that is not
//! certain to be that of a request ends the connection.
//!
//! Servers answer in the order of the requests. A quiet get is answered only if the key is there, a
//! silent request never; so an answer belongs to the first request that must be answered, or to a
//! quiet one before it. An answer of meta or binary returns the opaque number of its request, which
//! no other request on the connection ever had, and the key if it can. A text answer to a get has
//! the key; so has each answer to a line of gets, which come in the order of its keys, and then an
//! end.

use super::ask::{is_with_cas, wire_opaque};
use super::names::Names;
#[cfg(test)]
use super::{Neglect, neglected};
use crate::batch::{Action, AskTtl, Outcome, Request, Verb};
use crate::cause::{FailureCause, ServerFailure};
use crate::conn::{Broken, shown};
use crate::waiting::{ReplyKind, Waiting};
use std::collections::VecDeque;
use tavola_proto::binary;
use tavola_proto::meta::{self, Expected, ExpectedAnswer, ItemAnswer, Ttl, answer::Status};
use tavola_proto::{Answer, KeyRoom, text};

/// What an answer says.
#[derive(Debug)]
pub(super) struct Verdict {
    /// The request's place among those that wait.
    pub(super) place: usize,
    pub(super) finding: Finding,
}

#[derive(Debug)]
pub(super) enum Finding {
    /// A value follows. For text its request has one more answer.
    Value {
        flags: u32,
        cas: Option<u64>,
        ttl: Option<Ttl>,
    },
    /// The new number follows as a value.
    Number,
    Outcome(Outcome),
    /// The end of a get by text.
    End,
    Fence,
    LineEnd,
}

/// Finds out what an answer means for the requests that wait.
pub(super) struct Judge<'j, 'b> {
    pub(super) server: usize,
    pub(super) waiting: &'j VecDeque<Waiting>,
    pub(super) requests: &'j [Request<'b>],
    pub(super) names: &'j Names<'j>,
}

impl<'b> Judge<'_, 'b> {
    pub(super) fn judge(&self, answer: &Answer<'_>, is_meta: bool) -> Result<Verdict, Broken> {
        let verdict = match answer {
            Answer::Meta(meta::Answer::Item(item)) if is_meta => self.judge_item(item),
            Answer::Meta(meta::Answer::Noop) if is_meta => self.fence(),
            Answer::Text(text::Answer::Value(value)) if is_meta => self.judge_in_line(value),
            Answer::Text(text::Answer::End) if is_meta => self.line_end(),
            Answer::Binary(answer) => self.judge_binary(answer),
            Answer::Text(
                text::Answer::Error(_)
                | text::Answer::ClientError(_)
                | text::Answer::ServerError(_),
            ) => self.refusal(answer, is_meta),
            Answer::Text(answer) if !is_meta => self.judge_text(answer),
            _ => None,
        };
        verdict.ok_or_else(|| {
            Broken::unexpected(format!("it sent what was not asked for: {}", shown(answer)))
        })
    }

    fn request(&self, place: usize) -> Option<&Request<'b>> {
        self.requests.get(self.waiting.get(place)?.index)
    }

    /// The first request that must be answered.
    fn first_loud(&self) -> Option<usize> {
        self.waiting
            .iter()
            .position(|waiting| waiting.kind.is_certain())
    }

    fn fence(&self) -> Option<Verdict> {
        let place = self.first_loud()?;
        let finding = Finding::Fence;
        (self.waiting[place].kind == ReplyKind::Fence).then_some(Verdict { place, finding })
    }

    fn line_end(&self) -> Option<Verdict> {
        let place = self.first_loud()?;
        let finding = Finding::LineEnd;
        (self.waiting[place].kind == ReplyKind::LineEnd).then_some(Verdict { place, finding })
    }

    /// A value of a line of gets: that of the first of its keys that is not passed over.
    fn judge_in_line(&self, value: &text::Value<'_>) -> Option<Verdict> {
        let is_its = |waiting: &Waiting| {
            let request = self.requests.get(waiting.index);
            waiting.kind == ReplyKind::InLine
                && request.is_some_and(|request| {
                    is_order_enough() || self.names.is(value.key, request.key)
                })
        };
        let place = self
            .waiting
            .iter()
            .position(|waiting| is_its(waiting) || waiting.kind.is_certain())?;
        is_its(&self.waiting[place]).then_some(())?;
        let has_cas = is_with_cas(self.request(place)?) == value.cas.is_some();
        let finding = Finding::Value {
            flags: value.flags,
            cas: value.cas,
            ttl: None,
        };
        has_cas.then_some(Verdict { place, finding })
    }

    /// A line that says what is wrong, and not with which request. It is that of the first, if that
    /// must be answered; else it may be about a quiet or silent one.
    fn refusal(&self, answer: &Answer<'_>, is_meta: bool) -> Option<Verdict> {
        let is_loud = self.waiting.front()?.kind == ReplyKind::Loud;
        let (word, why) = match answer {
            Answer::Text(text::Answer::Error(why)) => ("ERROR", why),
            Answer::Text(text::Answer::ClientError(why)) => ("CLIENT_ERROR", why),
            Answer::Text(text::Answer::ServerError(why)) => ("SERVER_ERROR", why),
            _ => return None,
        };
        let text = format!("{word} {}", String::from_utf8_lossy(why));
        let is_lost = !is_meta && word == "SERVER_ERROR" && !is_own_error(why);
        let outcome = match self.request(0) {
            // A proxy lost its server: the request may have been carried out.
            Some(request) if is_lost && !request.is_read() => Outcome::Unknown(ServerFailure {
                server: self.server,
                cause: FailureCause::Proxy,
            }),
            _ => Outcome::Refused(text.trim_end().to_string()),
        };
        let finding = Finding::Outcome(outcome);
        is_loud.then_some(Verdict { place: 0, finding })
    }

    /// The request that has this opaque, if this is its turn. The requests that are passed over do
    /// not wait any more afterwards, so all searches together take as long as one.
    fn place_of(&self, is_its: impl Fn(u64) -> bool) -> Option<usize> {
        let is_answered = |waiting: &Waiting| {
            let may_be = matches!(waiting.kind, ReplyKind::Loud | ReplyKind::Quiet);
            may_be && is_its(waiting.opaque)
        };
        // Most often it is the first.
        if self.waiting.front().is_some_and(is_answered) {
            return Some(0);
        }
        for (place, waiting) in self.waiting.iter().enumerate() {
            if is_answered(waiting) {
                return Some(place);
            }
            if waiting.kind.is_certain() {
                return None;
            }
        }
        None
    }

    /// The answer that the first request gets most often, by its key and its opaque.
    pub(super) fn expected(&self) -> Option<Expected<'_>> {
        if is_order_enough() {
            return None;
        }
        let waiting = self.waiting.front()?;
        matches!(waiting.kind, ReplyKind::Loud | ReplyKind::Quiet).then_some(())?;
        let request = self.requests.get(waiting.index)?;
        Some(Expected {
            key: self.names.parts(request.key),
            opaque: waiting.opaque,
        })
    }

    /// What that answer says, and the bytes of its value; `None` if it lacks what was asked for.
    pub(super) fn judge_expected(
        &self,
        answer: ExpectedAnswer,
    ) -> Option<(Verdict, Option<usize>)> {
        let action = &self.request(0)?.action;
        let (finding, size) = match (action, answer) {
            (
                Action::Get {
                    with_cas: false,
                    ttl: AskTtl::No,
                    ..
                },
                ExpectedAnswer::Value { flags, size },
            ) => {
                let (cas, ttl) = (None, None);
                (Finding::Value { flags, cas, ttl }, Some(size))
            }
            (Action::Store { .. }, ExpectedAnswer::Done) => {
                (Finding::Outcome(Outcome::Stored), None)
            }
            (Action::Delete, ExpectedAnswer::Done) => (Finding::Outcome(Outcome::Deleted), None),
            (Action::Touch { .. }, ExpectedAnswer::Done) => {
                (Finding::Outcome(Outcome::Touched), None)
            }
            _ => return None,
        };
        Some((Verdict { place: 0, finding }, size))
    }

    fn judge_item(&self, item: &ItemAnswer<'_>) -> Option<Verdict> {
        #[cfg(test)]
        if is_order_enough() {
            return self.guess(item);
        }
        let number = item.facts.opaque_number()?;
        let place = self.place_of(|opaque| opaque == number)?;
        let request = self.request(place)?;
        self.has_key(item, request).then_some(())?;
        let finding = find_in_item(item, &request.action)?;
        Some(Verdict { place, finding })
    }

    /// Whether the answer has the key of the request, or does not have to.
    fn has_key(&self, item: &ItemAnswer<'_>, request: &Request<'_>) -> bool {
        match item.facts.key {
            Some(key) => match key.as_plain() {
                Some(plain) => self.names.is(plain, request.key),
                None => {
                    let mut room = KeyRoom::default();
                    self.names.is(key.bytes(&mut room), request.key)
                }
            },
            None => {
                let is_get = matches!(request.action, Action::Get { .. } | Action::Touch { .. });
                is_get && !self.names.is_word(request.key)
            }
        }
    }

    /// What a client does that trusts in the order of answers alone.
    #[cfg(test)]
    fn guess(&self, item: &ItemAnswer<'_>) -> Option<Verdict> {
        (0..=self.first_loud()?).find_map(|place| {
            let request = self.request(place)?;
            let finding = find_in_item(item, &request.action)?;
            Some(Verdict { place, finding })
        })
    }

    fn judge_text(&self, answer: &text::Answer<'_>) -> Option<Verdict> {
        if let text::Answer::Version(_) = answer {
            return self.fence();
        }
        let place = self.first_loud()?;
        if self.waiting[place].kind == ReplyKind::Fence {
            return None;
        }
        let request = self.request(place)?;
        let finding = match (&request.action, answer) {
            (Action::Get { with_cas, .. }, text::Answer::Value(value)) => {
                let is_its = self.names.is(value.key, request.key);
                (is_its && *with_cas == value.cas.is_some()).then_some(())?;
                Finding::Value {
                    flags: value.flags,
                    cas: value.cas,
                    ttl: None,
                }
            }
            (Action::Get { .. }, text::Answer::End) => Finding::End,
            (Action::Store { .. }, text::Answer::Stored) => Finding::Outcome(Outcome::Stored),
            (Action::Store { verb, .. }, answer) => {
                let outcome = match (verb, answer) {
                    (Verb::Cas(_), text::Answer::Exists) => Outcome::Exists,
                    (Verb::Cas(_), text::Answer::NotFound) => Outcome::Miss,
                    (Verb::Set | Verb::Cas(_), _) => return None,
                    (_, text::Answer::NotStored) => Outcome::NotStored,
                    _ => return None,
                };
                Finding::Outcome(outcome)
            }
            (Action::Delete, text::Answer::Deleted) => Finding::Outcome(Outcome::Deleted),
            (Action::Touch { .. }, text::Answer::Touched) => Finding::Outcome(Outcome::Touched),
            (Action::Count { .. }, text::Answer::Count(count)) => {
                Finding::Outcome(Outcome::Count(*count))
            }
            (
                Action::Delete | Action::Touch { .. } | Action::Count { .. },
                text::Answer::NotFound,
            ) => Finding::Outcome(Outcome::Miss),
            _ => return None,
        };
        Some(Verdict { place, finding })
    }

    fn judge_binary(&self, answer: &binary::Answer<'_>) -> Option<Verdict> {
        let place = self.place_of(|opaque| wire_opaque(opaque) == answer.header.opaque)?;
        let request = self.request(place)?;
        (answer.header.opcode == opcode(&request.action)).then_some(())?;
        let finding = find_in_binary(answer, &request.action)?;
        let has_key = match finding {
            Finding::Value { .. } => true,
            // A miss of a get returns the key as well; other answers have none.
            _ => !answer.key.is_empty(),
        };
        if has_key && !self.names.is(answer.key, request.key) {
            return None;
        }
        Some(Verdict { place, finding })
    }
}

/// Whether a client of a test trusts in the order of answers alone.
#[cfg(test)]
fn is_order_enough() -> bool {
    neglected() == Neglect::AllMarks
}

/// Never, except in tests.
#[cfg(not(test))]
const fn is_order_enough() -> bool {
    false
}

/// What the answer at the front is to be like for a client of a test that does not compare all of
/// it: as it is.
#[cfg(test)]
pub(super) fn neglecting<'e>(expected: Expected<'e>, bytes: &'e [u8]) -> Expected<'e> {
    let line = bytes
        .split(|byte| *byte == b'\r')
        .next()
        .unwrap_or_default();
    let word = |mark| {
        let mut words = line.split(|byte| *byte == b' ');
        words.find_map(|word| word.strip_prefix(mark))
    };
    let (key, opaque) = (word(b"k"), word(b"O"));
    let number = |text| std::str::from_utf8(text).ok()?.parse().ok();
    match neglected() {
        Neglect::ExpectedKey => Expected {
            key: key.map_or(expected.key, |key| [key, b""]),
            ..expected
        },
        Neglect::ExpectedNumber => Expected {
            opaque: opaque.and_then(number).unwrap_or(expected.opaque),
            ..expected
        },
        Neglect::Nothing | Neglect::AllMarks => expected,
    }
}

/// Whether a server error is one by which memcached itself says that nothing was stored.
fn is_own_error(why: &[u8]) -> bool {
    let own: [&[u8]; 3] = [b"out of memory", b"object too large", b"temporary failure"];
    own.iter().any(|begin| why.starts_with(begin))
}

fn find_in_item(item: &ItemAnswer<'_>, action: &Action<'_>) -> Option<Finding> {
    let facts = &item.facts;
    let outcome = match (action, item.status, item.value.is_some()) {
        (
            Action::Get {
                with_cas,
                ttl: asked_ttl,
                ..
            },
            Status::Done,
            true,
        ) => {
            let is_whole = *with_cas == facts.cas.is_some()
                && (*asked_ttl != AskTtl::No) == facts.ttl.is_some();
            is_whole.then_some(())?;
            return Some(Finding::Value {
                flags: facts.client_flags?,
                cas: facts.cas,
                ttl: facts.ttl,
            });
        }
        (Action::Count { .. }, Status::Done, true) => return Some(Finding::Number),
        (_, _, true) => return None,
        (Action::Get { .. } | Action::Touch { .. }, Status::Miss, _) => Outcome::Miss,
        (Action::Touch { .. }, Status::Done, _) => Outcome::Touched,
        (Action::Store { .. }, Status::Done, _) => Outcome::Stored,
        (Action::Store { verb, .. }, status, _) => match (verb, status) {
            (Verb::Cas(_), Status::Exists) => Outcome::Exists,
            (Verb::Cas(_), Status::NotFound) => Outcome::Miss,
            (Verb::Set | Verb::Cas(_), _) => return None,
            (_, Status::NotStored) => Outcome::NotStored,
            _ => return None,
        },
        (Action::Delete, Status::Done, _) => Outcome::Deleted,
        (Action::Delete | Action::Count { .. }, Status::NotFound, _) => Outcome::Miss,
        _ => return None,
    };
    Some(Finding::Outcome(outcome))
}

fn find_in_binary(answer: &binary::Answer<'_>, action: &Action<'_>) -> Option<Finding> {
    use binary::Outcome::{Done, Failed};
    use binary::Status as Failure;
    let outcome = match (action, answer.outcome) {
        (Action::Get { with_cas, .. }, Done) => {
            return Some(Finding::Value {
                flags: answer.flags,
                cas: with_cas.then_some(answer.cas),
                ttl: None,
            });
        }
        (Action::Store { .. }, Done) => Outcome::Stored,
        (Action::Delete, Done) => Outcome::Deleted,
        (Action::Touch { .. }, Done) => Outcome::Touched,
        (Action::Count { .. }, Done) => Outcome::Count(answer.count()?),
        (Action::Store { verb, .. }, Failed(Failure::NotFound | Failure::NotStored)) => {
            match verb {
                Verb::Cas(_) => Outcome::Miss,
                _ => Outcome::NotStored,
            }
        }
        (Action::Store { verb, .. }, Failed(Failure::Exists)) => match verb {
            Verb::Cas(_) => Outcome::Exists,
            _ => Outcome::NotStored,
        },
        (_, Failed(Failure::NotFound)) => Outcome::Miss,
        _ => {
            let text = String::from_utf8_lossy(answer.value);
            Outcome::Refused(format!("{text} ({:?})", answer.outcome))
        }
    };
    Some(Finding::Outcome(outcome))
}

/// The opcode of a request, which its answer repeats.
fn opcode(action: &Action<'_>) -> u8 {
    match action {
        Action::Get { touch: None, .. } => 0x0c,
        Action::Get { touch: Some(_), .. } => 0x23,
        Action::Store { verb, .. } => match verb {
            Verb::Set | Verb::Cas(_) => 0x01,
            Verb::Add => 0x02,
            Verb::Replace => 0x03,
            Verb::Append => 0x0e,
            Verb::Prepend => 0x0f,
        },
        Action::Delete => 0x04,
        Action::Count { is_down: false, .. } => 0x05,
        Action::Count { is_down: true, .. } => 0x06,
        Action::Touch { .. } => 0x1c,
    }
}
